//===- ProductPassing.cuh - Terms of rows that pass a filter -------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A search with a filter has terms of its own, in its workspace, so that scans know nothing of
// filters: a bound is then of the rows of its granule that pass, and infinite where none does.
// Part of Products.cu.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CUDA_PRODUCTS_PRODUCTPASSING_CUH
#define ANNUDF_KERNELS_CUDA_PRODUCTS_PRODUCTPASSING_CUH

#include "../common/Overlap.cuh"
#include "../common/Passes.cuh"
#include "ProductRows.cuh"

namespace {

/// A block for each tile, a thread a row: the terms of all rows, to those of the search.
template <bool kRatio>
__device__ __forceinline__ void writePassing(const annudf_matrix_args &args) {
  __shared__ bool found[kRows];
  const TileRow row(args);
  const int column = columnOf(row.row);
  const float *all = pointer<const float>(args.terms) + row.tile * kTerms;
  float *terms = pointer<float>(args.scan.work.terms) + row.tile * kTerms;
  letNextBegin();
  const bool passing =
      row.isOfRows &&
      passes(args.scan, true, __ldg(pointer<const long long>(args.scan.index.ids) + row.place));
  // In a ratio a row gives a factor, and infinity times a product may be anything: 0 makes
  // it as good as a row at a right angle, which is worse than what is looked for.
  const float term = passing ? all[column] : kRatio ? 0 : INFINITY;
  found[row.row] = passing;
  __syncthreads();
  waitForLast(); // The search before may still read its terms.
  terms[column] = term;
  if (row.row >= kRows / ANNUDF_GRANULE_ROWS)
    return;
  bool any = false;
  for (int r = 0; r < ANNUDF_GRANULE_ROWS; ++r)
    any |= found[row.row * ANNUDF_GRANULE_ROWS + r];
  // A form's terms are infinite already, and a length of infinity times 0 would be no number.
  terms[kRows + row.row] = kRatio && !any ? -INFINITY : all[kRows + row.row];
}

} // namespace

extern "C" __global__ void annudf_matrix_passing(const __grid_constant__ annudf_matrix_args args) {
  writePassing<false>(args);
}

/// The same of a normalised form.
extern "C" __global__ void
annudf_matrix_ratio_passing(const __grid_constant__ annudf_matrix_args args) {
  writePassing<true>(args);
}

#endif // ANNUDF_KERNELS_CUDA_PRODUCTS_PRODUCTPASSING_CUH
