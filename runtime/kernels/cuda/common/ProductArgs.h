//===- ProductArgs.h - What the host passes to Products.cu and Survivors.cu -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As ScanArgs.h. A tile is 128 rows of one list, four groups; a panel 64 dimensions of its rows or
// of queries in half precision, 128 bytes each; a granule 8 rows of a group, side by side (their
// chunks are whole lines of memory), which have one bound.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CUDA_COMMON_PRODUCTARGS_H
#define ANNUDF_KERNELS_CUDA_COMMON_PRODUCTARGS_H

#include "ScanArgs.h"

#include "../../FormTerms.h"

#define ANNUDF_MATRIX_THREADS 256
/// Rows of a tile, and most queries of an item.
#define ANNUDF_MATRIX_ROWS 128
#define ANNUDF_MATRIX_QUERIES 128
#define ANNUDF_MATRIX_PANEL_DIMS 64
#define ANNUDF_MATRIX_PANEL_BYTES 16384
/// Granules of a group, and rows of a granule.
#define ANNUDF_GRANULES 4
#define ANNUDF_GRANULE_ROWS 8
/// Panels of queries that stay in shared memory for all tiles of an item; of longer vectors they
/// are brought anew for every tile.
#define ANNUDF_MATRIX_RESIDENT_PANELS 2
/// What a block of annudf_matrix_scan has for panels of rows and queries, and the most stages that
/// an item makes of it.
#define ANNUDF_MATRIX_STAGE_BYTES (5 * (ANNUDF_MATRIX_PANEL_BYTES + 32 * 128))
#define ANNUDF_MATRIX_MOST_STAGES 5
/// What annudf_matrix_terms leaves of a tile: a number a row and one a granule, floats. For a
/// normalised form annudf_matrix_ratio_terms leaves as many.
#define ANNUDF_MATRIX_TERMS (ANNUDF_MATRIX_ROWS + ANNUDF_MATRIX_ROWS / ANNUDF_GRANULE_ROWS)
/// Shared memory of annudf_matrix_scan: panels, which end 1,024 bytes, the terms of four tiles,
/// five numbers a query, barriers and a ticket.
#define ANNUDF_MATRIX_SHARED_BYTES                                                                 \
  (ANNUDF_MATRIX_STAGE_BYTES + 4 * ANNUDF_MATRIX_TERMS * 4 + ANNUDF_MATRIX_QUERIES * 6 * 4 +       \
   8 * 8 + 1024)
/// The same of annudf_matrix_scan_mma: two blocks have room beside each other on sm_80, one has on
/// sm_86, sm_89 and sm_120.
#define ANNUDF_MATRIX_MMA_STAGE_BYTES (72 * 1024)
#define ANNUDF_MATRIX_MMA_SHARED_BYTES                                                             \
  (ANNUDF_MATRIX_SHARED_BYTES - ANNUDF_MATRIX_STAGE_BYTES + ANNUDF_MATRIX_MMA_STAGE_BYTES)
/// Bounds of ratios are no lower, but for those that are -FLT_MAX. No ratio of a form is larger.
#define ANNUDF_MATRIX_MOST_RATIO 16.0f
/// Threads of a block of annudf_finish_exact, and the most k for each.
#define ANNUDF_SURVIVORS_THREADS 128
#define ANNUDF_SURVIVORS_MANY_THREADS 256
#define ANNUDF_SURVIVORS_MOST_K 256
/// Shared memory of annudf_finish_exact behind the query, whose coordinates fill whole words of 16
/// bytes.
#define ANNUDF_SURVIVORS_SHARED_BYTES 29768

/// Numbers of a dimension, in double; see BoundForm. X and Y are coordinates less `shift`.
struct annudf_matrix_dim {
  double shift;
  double query1, query2; ///< Coefficients of X and X² in what depends on the query alone.
  double row1, row2;     ///< Coefficients of Y and Y² in what depends on the row alone.
  double product;        ///< Coefficient of X Y.
  double queryError1, queryError2, rowError1, rowError2;         ///< Coefficients of these.
  double queryLargest1, queryLargest2, rowLargest1, rowLargest2; ///< The same.
};

/// The part of a metric's form that is the same for all searches with a binding and an index.
struct annudf_matrix_form {
  uint64_t dims;                   ///< const annudf_matrix_dim *, of every dimension.
  double constant, error, largest; ///< What hangs on no coordinate; counted to the query.
  double most;                     ///< The largest value by a query, or by a row.
};

/// Numbers of a dimension of a normalised form, in double; see BoundRatio. Y is a coordinate less
/// `shift`, but in squares; x and y are less the means of their vectors where the form is of these.
struct annudf_matrix_ratio_dim {
  double shift;
  double product;                  ///< Coefficient of x Y.
  double query, row;               ///< Coefficients of x² and y² in the squares of lengths.
  double queryLargest, rowLargest; ///< Largest squares of coordinates as they are.
};

/// The part of it that is the same for all searches with a binding and an index.
struct annudf_matrix_ratio {
  uint64_t dims;            ///< const annudf_matrix_ratio_dim *, of every dimension.
  double largest, most;     ///< What hangs on no coordinate, half of it; of a query, or of a row.
  double least, mostSquare; ///< Bounds of squares of lengths.
  double perDim;            ///< 1 / dims where vectors are taken less their means, else 0.
  double leastShare;        ///< That squares of lengths are of those with their means, else 0.
  double lengthError;       ///< What a query's factor of lengths is more.
  float error;              ///< Every ratio's.
};

/// The part of a form that is the same for all searches whose coefficients are computed for each
/// query: of captures that have entries by query, or are in a device's memory. With V = (Y, square
/// Y²), twice the dims, a row's part of a distance is the product of V and of what a query makes of
/// its coefficients.
struct annudf_matrix_own {
  uint64_t nodes; ///< const FormNode *.
  annudf_kernels::FormPolynomials polynomials;
  double sign, initial; ///< The accumulators'; what they begin with, times that.
  double limit;         ///< The largest value by a query and a row together.
  double square;        ///< A power of two, by which squares are about as large as coordinates.
  double mostLength;    ///< The longest V; nothing is said of longer ones.
  uint32_t nNodes;
};
/// Most nodes of such a form: a thread has 16 bytes for each.
#define ANNUDF_MATRIX_OWN_NODES 128
/// Threads of annudf_matrix_own_queries, and its shared memory: nodes and floats of Z, and, known
/// when it is compiled, what its warps exchange.
#define ANNUDF_MATRIX_OWN_STATIC_BYTES 1024
#define ANNUDF_MATRIX_OWN_THREADS(NODES) ((NODES) <= 24 ? 128 : (NODES) <= 48 ? 64 : 32)
#define ANNUDF_MATRIX_OWN_SHARED_BYTES(NODES, DIMS)                                                \
  (uint64_t(NODES) * ANNUDF_MATRIX_OWN_THREADS(NODES) * 16 + uint64_t(DIMS) * 2 * 4)
/// Both together.
#define ANNUDF_MATRIX_OWN_ALL_BYTES(NODES, DIMS)                                                   \
  (ANNUDF_MATRIX_OWN_SHARED_BYTES(NODES, DIMS) + ANNUDF_MATRIX_OWN_STATIC_BYTES)

struct annudf_matrix_args {
  annudf_scan_args scan; ///< In work, minima are the queries' numbers, float4 each; coordinates
                         ///< their panels; keys the bounds, float, Q * S * ANNUDF_GRANULES.
  annudf_matrix_form form;
  annudf_matrix_ratio ratio; ///< In its place, for the kernels of normalised forms.
  annudf_matrix_own own;     ///< In its place but for shifts, where each query has coefficients.
  uint64_t panels;           ///< uint4 *, tiles * panels a row * 1024.
  uint64_t tileStart;        ///< const uint32_t *, L: first tile of each list.
  uint64_t listScale;        ///< float *, L: power of two of what is in its panels.
  uint64_t terms;            ///< float *, tiles * ANNUDF_MATRIX_TERMS: of the index, but for a scan
                             ///< with a filter, whose are scan.work.terms.
  uint32_t nPanels;          ///< A row's.
  uint32_t element;          ///< enum annudf_element, of the rows.
};

struct annudf_survivors_args {
  annudf_scan_args scan;
  uint64_t outIds;       ///< int64_t *, Q * k.
  uint64_t outDistances; ///< float *, Q * k.
  uint64_t evaluated;    ///< unsigned long long *: granules that were evaluated; 0: not wanted.
  uint32_t k;
  float sign; ///< Bounds are of accumulators times this, 1 or -1.
  /// With several fields, bounds are of `product`, and the others 1, but 0 where bits of `zeros`
  /// are set.
  uint32_t product, zeros;
};

#endif // ANNUDF_KERNELS_CUDA_COMMON_PRODUCTARGS_H
