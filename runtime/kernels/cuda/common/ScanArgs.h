//===- ScanArgs.h - What the host passes to the search kernels ----*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Read by the host compiler and by nvcc, so only fixed-width fields. All pointers
// are device addresses. Shapes: Q queries of a batch, P probes a query, L lists, G
// groups of 32 rows in the index, S groups reserved for a query in the workspace.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CUDA_COMMON_SCANARGS_H
#define ANNUDF_KERNELS_CUDA_COMMON_SCANARGS_H

#include "annudf/ABI/annudf_abi.h"

/// Most queries of annudf_coarse_few; queries and centers of its block.
#define ANNUDF_FEW_QUERIES 256
#define ANNUDF_FEW_TILE_QUERIES 8
#define ANNUDF_FEW_TILE_CENTERS 32
/// Queries and centers of a block of annudf_coarse_many.
#define ANNUDF_MANY_TILE_QUERIES 128
#define ANNUDF_MANY_TILE_CENTERS 64
/// Most lists of annudf_tile_sort, and its threads.
#define ANNUDF_SORT_MOST_LISTS 4096
#define ANNUDF_SORT_THREADS 1024
/// Whether a warp chooses the lists of a query (Probes.cuh), and not a block.
#define ANNUDF_CHOSEN_BY_WARP(LISTS, PROBES)                                                       \
  ((LISTS) <= 1024 || ((LISTS) <= 4096 && (PROBES) <= 32))
/// Warps of a block of annudf_select_probes_by_warp.
#define ANNUDF_WARPS_THAT_CHOOSE 8
/// Queries that the tiled scan serves with one read of a row.
#define ANNUDF_TILE_QUERIES 8
/// Chunks of 16 bytes a lane that a warp of a tile has in shared memory: batches of so many, of
/// which all but one are on their way.
#define ANNUDF_RING_BATCH 4
#define ANNUDF_RING_BATCHES 3
/// Places between two chunks of a row in a batch of Candidates.cuh, so that no two of the rows that
/// a warp writes at once share banks; and what its block has in shared memory.
#define ANNUDF_CANDIDATE_STRIDE 34
#define ANNUDF_CANDIDATE_BYTES                                                                     \
  (ANNUDF_SCAN_THREADS / 32 * 16 * ANNUDF_CANDIDATE_STRIDE * ANNUDF_RING_BATCH *                   \
   ANNUDF_RING_BATCHES)
#define ANNUDF_RING_BYTES (ANNUDF_SCAN_THREADS * 16 * ANNUDF_RING_BATCH * ANNUDF_RING_BATCHES)
/// Threads of a scan block: 4 warps, each on its own group of 32 rows.
#define ANNUDF_SCAN_THREADS 128
/// Places between the words of two warps that write a predicate's, so that the words that a warp
/// writes at once, of each warp eight, are in 32 banks; and what the block has in shared memory.
#define ANNUDF_PREDICATE_STRIDE 40
#define ANNUDF_PREDICATE_SHARED_BYTES (ANNUDF_SCAN_THREADS / 32 * ANNUDF_PREDICATE_STRIDE * 4)
/// Accumulators of the parts of a group's rows, in a block's shared memory behind the query: of
/// all warps but one, 48 bytes each at most.
#define ANNUDF_PARTS_BYTES ((ANNUDF_SCAN_THREADS - 32) * 48)
/// Threads of a block of Staged.cu, and of its packed form, and those that a processor has
/// registers for.
#define ANNUDF_STAGED_THREADS 128
#define ANNUDF_PACKED_THREADS 256
#define ANNUDF_STAGED_PROCESSOR_THREADS 512
/// Groups of rows of a warp of Staged.cu.
#define ANNUDF_STAGED_WARP_GROUPS 4
/// Queries of a thread of Staged.cu, by the form ('a' or 's') and the bits of the accumulator.
#define ANNUDF_STAGED_TILE_QUERIES(FORM, BITS) (8 / ((BITS) / 32 * ((FORM) == 's' ? 2 : 1)))
/// Most queries of an item of Staged.cu, of which a thread has TILE.
#define ANNUDF_STAGED_QUERIES(THREADS, TILE) ((THREADS) / 32 * (TILE))
/// Stages of rows and queries, and the words of rows in each: 128 rows of 32 dimensions.
#define ANNUDF_STAGED_STAGES 2
#define ANNUDF_PACKED_STAGES 3
#define ANNUDF_STAGE_ROW_WORDS 4096
/// Shared memory of Staged.cu: stages of rows, and of queries; 16 bytes a query, 16 a thread, and
/// 16.
#define ANNUDF_STAGES_BYTES(STAGES, THREADS, TILE)                                                 \
  ((STAGES) * (ANNUDF_STAGE_ROW_WORDS + ANNUDF_STAGED_QUERIES(THREADS, TILE) * 32) * 4 +           \
   ANNUDF_STAGED_QUERIES(THREADS, TILE) * 16 + (THREADS) * 16 + 16)
#define ANNUDF_STAGED_SHARED_BYTES(TILE)                                                           \
  ANNUDF_STAGES_BYTES(ANNUDF_STAGED_STAGES, ANNUDF_STAGED_THREADS, TILE)
/// The queries of an item of its packed form. A query is 16 bytes longer in each stage there and
/// has a number more, and so has each of the 256 rows of a stage.
#define ANNUDF_PACKED_QUERIES                                                                      \
  ANNUDF_STAGED_QUERIES(ANNUDF_PACKED_THREADS, ANNUDF_STAGED_TILE_QUERIES('a', 32))
#define ANNUDF_PACKED_SHARED_BYTES                                                                 \
  (ANNUDF_STAGES_BYTES(ANNUDF_PACKED_STAGES, ANNUDF_PACKED_THREADS,                                \
                       ANNUDF_STAGED_TILE_QUERIES('a', 32)) +                                      \
   ANNUDF_PACKED_QUERIES * (ANNUDF_PACKED_STAGES * 16 + 4) + 256 * 4)
/// Coordinates of a query are padded to this many in the workspace.
#define ANNUDF_STAGED_DIMS 32
/// Takes the place of a compute type in annudf_query_words: words of the elements, unconverted.
#define ANNUDF_QUERY_AS_IT_IS (-1)
/// Most results of a query that annudf_finish collects in shared memory; else annudf_finish_many.
#define ANNUDF_FINISH_MOST_K 1024
/// Lists without rows after those of an index: they stand for lists that another device scans, and
/// are several, as pairs of one list are counted one after the other.
#define ANNUDF_SPARE_LISTS 64
/// Partial results of a query that a warp of annudf_merge_few merges at most, and warps of a block.
#define ANNUDF_MERGED_FEW 128
#define ANNUDF_MERGE_FEW_WARPS 4
/// Chunks of a row that a warp of Scan.cu has in flight.
#define ANNUDF_MOST_AHEAD 4
/// Chunks that a scan may load past the end of the lists: of Scan.cu the next ones, of Staged.cu
/// those of a stage of 32 dimensions.
#define ANNUDF_PAST_END 8
/// Order-preserving key of "no row here": padding, NaN. Sorts after every distance.
#define ANNUDF_KEY_NONE 0xFFFFFFFFu

/// How the rows of an index lie.
#define ANNUDF_ROWS_IN_GROUPS 0
#define ANNUDF_ROWS_BY_ID 1   ///< The chunks of the row with id i from i * chunks on.
#define ANNUDF_ROWS_BY_SLOT 2 ///< The same by the place of its id.
/// In groups of other lists, where `numbers` says.
#define ANNUDF_ROWS_BY_NUMBER 3

/// The lists on the device. Rows are stored as chunks of 16 bytes: chunk c of row r
/// of group g is uint4 number (g * chunks + c) * 32 + r, so that a warp, one lane a
/// row, reads 512 consecutive bytes.
struct annudf_device_index {
  uint64_t rows;      ///< const uint4 *, (G * chunks + ANNUDF_PAST_END) * 32.
  uint64_t ids;       ///< const int64_t *, G * 32; -1 in padding.
  uint64_t listGroup; ///< const uint32_t *, L + 1: first group of each list; then spare ones.
  uint64_t listSize;  ///< const uint32_t *, L: rows; then of spare ones 0.
  uint64_t centers;   ///< const float *, L * centerStride, zero-padded; 0: lists are not ranked.
  uint64_t norms;     ///< const float *, L: |center|; 0: as centers.
  uint64_t numbers;   ///< const uint32_t *, G * 32: of rows by number, slots of the lists that have
                      ///< them; else not read.
  uint32_t nLists, chunks, dims, centerStride;
  uint32_t layout; ///< ANNUDF_ROWS_*; all but the scan of candidates read rows in groups.
};

/// Buffers of one batch. Keys are order-preserving: smaller is better, whatever the
/// metric's order.
struct annudf_workspace {
  uint64_t coarse;      ///< uint32_t *, Q * L: keys of the coarse stage.
  uint64_t probes;      ///< uint32_t *, Q * P: lists to scan.
  uint64_t probeGroup;  ///< uint32_t *, Q * P: where a probe's groups start in S.
  uint64_t groupCount;  ///< uint32_t *, Q: groups of a query's probes together.
  uint64_t rank;        ///< uint32_t *, Q * P: place of a pair among its list's pairs; 0: no tiles.
  uint64_t listPairs;   ///< uint32_t *, L: pairs of a list; zero between searches.
  uint64_t arrived;     ///< uint32_t *: blocks of annudf_coarse_few that are done, of each tile of
                        ///< queries; zero between searches. 0: another kernel chooses after it.
  uint64_t sorted;      ///< uint32_t *: blocks of annudf_tile_sort that have read listPairs; zero
                        ///< between searches.
  uint64_t pairStart;   ///< uint32_t *, L + 1: prefix sum of listPairs.
  uint64_t tileStart;   ///< uint32_t *, L + 1: prefix sum of tiles; the last entry counts them.
  uint64_t pairs;       ///< uint32_t *, Q * P: pairs (query * P + probe) sorted by list.
  uint64_t tiles;       ///< uint4 *: list, first entry of `pairs`, number of entries, first group.
  uint64_t keys;        ///< uint32_t *, Q * S * 32: key of every row scanned; or of `granules`.
  uint64_t minima;      ///< uint32_t *, Q * S: best key of every group; 0 of `granules`.
  uint64_t passing;     ///< uint32_t *, Q * S: a bit for each row of a group, set where the query
                        ///< may find it; 0: `filter` alone says so.
  uint64_t coordinates; ///< uint32_t *, Q * coordinateStride: queries in the compute type, or as
                        ///< they are, for Staged.cu.
  uint64_t terms;       ///< float *: of rows that pass (ProductPassing.cuh), as those of the index;
                        ///< 0: no filter, or no family of products.
  uint64_t ticket;      ///< uint32_t *: tiles that its blocks took, beyond the first of each.
  uint32_t coordinateStride;
  uint32_t stride;        ///< S.
  uint32_t nProbes;       ///< P.
  uint32_t tileQueries;   ///< Most entries of a tile.
  uint32_t segmentGroups; ///< Most groups of a tile.
  uint32_t granules; ///< Whether keys are of granules (ProductArgs.h), Q * S * ANNUDF_GRANULES.
};

struct annudf_queries {
  uint64_t data;     ///< Q rows of dims elements, contiguous, each element aligned.
  uint32_t rowBytes; ///< Bytes of a row.
  uint32_t count;    ///< Q.
  uint32_t element;  ///< enum annudf_element.
  int32_t base;      ///< Index of the first query in the caller's batch.
};

/// A pair of a query and a row whose distance is NaN; in pinned host memory.
struct annudf_nan_example {
  int64_t query; ///< Index in the caller's batch.
  int64_t row;   ///< Its id.
  int64_t found; ///< Not 0: the others are set.
};

/// The pairs whose distance is NaN, which are found by no search.
struct annudf_nan {
  unsigned long long count;
  uint64_t example; ///< annudf_nan_example *, set by the pair that is counted first.
};

struct annudf_scan_args {
  annudf_device_index index;
  annudf_workspace work;
  annudf_queries queries;
  annudf_slots slots;
  uint64_t filter; ///< const uint32_t *: a bit for each id, set where the row may be found; 0: all.
  uint64_t nan;    ///< annudf_nan *; 0: nobody counts.
  uint32_t order;  ///< enum annudf_order.
  uint32_t packedNegated; ///< Whether a packed sum is subtracted.
  uint32_t rowsAreSlots; ///< Whether hooks get a row's place among `ids` as its number, not its id.
};

/// A filter whose bits are computed for the rows of the probed lists (Predicate.cuh).
struct annudf_predicate_args {
  annudf_device_index index;
  annudf_workspace work;
  annudf_slots slots;    ///< Captures of the filter's code.
  uint64_t words;        ///< uint32_t *, Q * S: what is written, as annudf_workspace::passing.
  uint64_t bits;         ///< const uint32_t *: without code, a bit for each id.
  uint64_t bitsOfQuery;  ///< Bits from a query to the next; 0: the same for all queries.
  int32_t base;          ///< Index of the first query in the caller's batch.
  uint32_t rowsAreSlots; ///< As in annudf_scan_args.
  uint32_t negated;      ///< Whether rows are found that the filter does not let pass.
};

struct annudf_finish_args {
  annudf_device_index index;
  annudf_workspace work;
  uint64_t outIds;       ///< int64_t *, Q * k.
  uint64_t outDistances; ///< float *, Q * k.
  uint32_t k;
  uint32_t order; ///< enum annudf_order.
};

#endif // ANNUDF_KERNELS_CUDA_COMMON_SCANARGS_H
