//===- Merge.cuh - The k best of several partial results ----------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CUDA_SEARCH_MERGE_CUH
#define ANNUDF_KERNELS_CUDA_SEARCH_MERGE_CUH

#include "Finish.cuh"

/// A block for each query: the k best of what `parts` searches have found, by distance and then by
/// id. A NaN and an id below 0 are no result.
/// \param distances, ids  parts x queries x found, `found` results a query in any order.
/// \param translations    a number a part, added to its ids; null: ids are as they are.
/// \param k               at most 2^30; parts x found is below 2^32.
extern "C" __global__ void annudf_merge(const float *distances, const int64_t *ids,
                                        const int64_t *translations, uint32_t parts, uint32_t found,
                                        int order, uint32_t k, int64_t *outIds,
                                        float *outDistances) {
  __shared__ ManyScratch scratch;
  const uint64_t query = blockIdx.x, queries = gridDim.x;
  auto placeOf = [&](uint32_t i) { return (i / found * queries + query) * found + i % found; };
  selectMany(
      scratch, parts * found, k,
      [&](uint32_t i) {
        const uint64_t place = placeOf(i);
        return ids[place] < 0 ? ANNUDF_KEY_NONE : annudfKeyOf(distances[place], order);
      },
      [&](uint32_t i) {
        return ids[placeOf(i)] + (translations ? translations[i / found] : int64_t(0));
      },
      {outIds + query * k, outDistances + query * k}, order);
}

/// The same by a warp for each of `queries` queries, each result counting those before it.
/// \param parts, found  at most ANNUDF_MERGED_FEW together.
extern "C" __global__ void annudf_merge_few(const float *distances, const int64_t *ids,
                                            const int64_t *translations, uint32_t parts,
                                            uint32_t found, int order, uint32_t k, int64_t *outIds,
                                            float *outDistances, uint32_t queries) {
  __shared__ uint32_t allKeys[ANNUDF_MERGE_FEW_WARPS][ANNUDF_MERGED_FEW];
  __shared__ int64_t allIds[ANNUDF_MERGE_FEW_WARPS][ANNUDF_MERGED_FEW];
  const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32, n = parts * found;
  const uint64_t query = uint64_t(blockIdx.x) * ANNUDF_MERGE_FEW_WARPS + warp;
  if (query >= queries)
    return;
  uint32_t *const keys = allKeys[warp];
  int64_t *const at = allIds[warp];
  for (uint32_t i = lane; i < n; i += 32) {
    const uint64_t place = (uint64_t(i / found) * queries + query) * found + i % found;
    const int64_t id = ids[place];
    keys[i] = id < 0 ? ANNUDF_KEY_NONE : annudfKeyOf(distances[place], order);
    at[i] = id + (translations ? translations[i / found] : int64_t(0));
  }
  __syncwarp();
  uint32_t results = 0;
  for (uint32_t j = 0; j < n; ++j)
    results += keys[j] != ANNUDF_KEY_NONE;
  for (uint32_t i = lane; i < n; i += 32) {
    const uint32_t key = keys[i];
    const int64_t id = at[i];
    uint32_t rank = 0;
    for (uint32_t j = 0; j < n; ++j)
      rank += keys[j] < key || (keys[j] == key && (at[j] < id || (at[j] == id && j < i)));
    if (key != ANNUDF_KEY_NONE && rank < k) {
      outIds[query * k + rank] = id;
      outDistances[query * k + rank] = annudfDistanceOf(key, order);
    }
  }
  for (uint64_t i = results + lane; i < k; i += 32) {
    outIds[query * k + i] = -1;
    outDistances[query * k + i] = annudfDistanceOf(ANNUDF_KEY_NONE, order);
  }
}

#endif // ANNUDF_KERNELS_CUDA_SEARCH_MERGE_CUH
