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

#endif // ANNUDF_KERNELS_CUDA_SEARCH_MERGE_CUH
