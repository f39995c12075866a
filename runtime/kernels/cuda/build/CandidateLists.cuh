//===- CandidateLists.cuh - Candidates of queries as lists ------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Row numbers that callers give for each query, or ids of an index, each once, in lists as
// ScanArgs.h has them. Of Build.cu.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CUDA_BUILD_CANDIDATELISTS_CUH
#define ANNUDF_KERNELS_CUDA_BUILD_CANDIDATELISTS_CUH

#include "BuildLists.cuh"

namespace {

__device__ __forceinline__ uint32_t slotOf(const annudf_id_slots &rows, int64_t id) {
  uint64_t at = 0;
  if (rows.ids != 0) {
    const auto *ids = reinterpret_cast<const long long *>(rows.ids);
    for (uint64_t end = rows.count; at < end;) {
      const uint64_t middle = at + (end - at) / 2;
      if (__ldg(ids + middle) < id)
        at = middle + 1;
      else
        end = middle;
    }
    if (at == rows.count || __ldg(ids + at) != id)
      return ANNUDF_NO_SLOT;
  } else {
    at = static_cast<uint64_t>(id) - static_cast<uint64_t>(rows.first);
    if (id < rows.first || at >= rows.count)
      return ANNUDF_NO_SLOT;
  }
  return rows.slots == 0 ? static_cast<uint32_t>(at)
                         : __ldg(reinterpret_cast<const uint32_t *>(rows.slots) + at);
}

/// \param table  of `slots` numbers in shared memory.
__device__ __forceinline__ void listCandidates(const int64_t *candidates, uint32_t columns,
                                               const annudf_id_slots &rows, uint32_t groups,
                                               uint32_t slots, uint32_t *table, int64_t *ids,
                                               uint32_t *numbers, uint32_t *listGroup,
                                               uint32_t *listSize, unsigned long long *wrong) {
  constexpr uint32_t kNone = ANNUDF_NO_SLOT;
  __shared__ uint32_t count;
  const uint64_t query = blockIdx.x, first = query * columns;
  const uint64_t out = query * groups * 32;
  for (uint32_t i = threadIdx.x; i < slots; i += blockDim.x)
    table[i] = kNone;
  if (threadIdx.x == 0)
    count = 0;
  __syncthreads();
  for (uint32_t c = threadIdx.x; c < columns; c += blockDim.x) {
    const int64_t id = candidates[first + c];
    if (id == -1)
      continue;
    const uint32_t number = slotOf(rows, id);
    if (number == kNone) {
      atomicMin(wrong, static_cast<unsigned long long>(first + c));
      continue;
    }
    // Fibonacci hashing: neighbours in the data set are candidates together.
    uint32_t at = (number * 2654435769u >> 7) & (slots - 1);
    uint32_t before = atomicCAS(table + at, kNone, number);
    while (before != kNone && before != number) {
      at = (at + 1) & (slots - 1);
      before = atomicCAS(table + at, kNone, number);
    }
    if (before == kNone) {
      const uint32_t place = atomicAdd(&count, 1u);
      ids[out + place] = id;
      if (numbers)
        numbers[out + place] = number;
    }
  }
  __syncthreads();
  for (uint32_t place = count + threadIdx.x; place < groups * 32; place += blockDim.x)
    ids[out + place] = -1;
  if (threadIdx.x == 0) {
    listSize[query] = count;
    listGroup[query] = static_cast<uint32_t>(query) * groups;
    if (query + 1 == gridDim.x)
      listGroup[query + 1] = static_cast<uint32_t>(query + 1) * groups;
  }
}

} // namespace

/// A block for each query, whose list begins at group query * groups. A number that is no row is
/// left out. The order within a list is any.
/// \param columns    of the candidates, at most ANNUDF_BUILD_CANDIDATES; -1: none.
/// \param numbers    the slot of each row, nothing in padding; null: nobody asks.
/// \param slots      of the table that finds what was there before: a power of two, at least twice
///                   the columns.
/// \param listGroup  one more than there are queries.
/// \param wrong      as large as may be before: the place of the first number that is no row.
extern "C" __global__ void __launch_bounds__(ANNUDF_BUILD_CANDIDATE_THREADS)
    annudf_build_candidates(const int64_t *candidates, uint32_t columns, annudf_id_slots rows,
                            uint32_t groups, uint32_t slots, int64_t *ids, uint32_t *numbers,
                            uint32_t *listGroup, uint32_t *listSize, unsigned long long *wrong) {
  __shared__ uint32_t table[2 * ANNUDF_BUILD_CANDIDATES];
  listCandidates(candidates, columns, rows, groups, slots, table, ids, numbers, listGroup, listSize,
                 wrong);
}

/// The same of at most ANNUDF_BUILD_FEW_CANDIDATES: with less shared memory more blocks run at
/// once.
extern "C" __global__ void __launch_bounds__(ANNUDF_BUILD_CANDIDATE_THREADS)
    annudf_build_few_candidates(const int64_t *candidates, uint32_t columns, annudf_id_slots rows,
                                uint32_t groups, uint32_t slots, int64_t *ids, uint32_t *numbers,
                                uint32_t *listGroup, uint32_t *listSize,
                                unsigned long long *wrong) {
  __shared__ uint32_t table[2 * ANNUDF_BUILD_FEW_CANDIDATES];
  listCandidates(candidates, columns, rows, groups, slots, table, ids, numbers, listGroup, listSize,
                 wrong);
}

namespace {

template <int alignment>
__device__ void gatherRows(const unsigned char *base, uint32_t bytes, const int64_t *ids,
                           uint64_t places, uint32_t chunks, uint4 *rows) {
  for (uint64_t i = threadOfGrid(); i < places * chunks; i += threadsOfGrid()) {
    const int64_t id = ids[i / chunks];
    rows[i] = id < 0 ? make_uint4(0, 0, 0, 0)
                     : chunkOf<alignment>(base + static_cast<uint64_t>(id) * bytes,
                                          static_cast<uint32_t>(i % chunks) * 16, bytes);
  }
}

} // namespace

/// The rows with these ids one after the other, each padded to whole chunks; zeros for -1.
/// \param alignment  as of annudf_build_pack.
extern "C" __global__ void annudf_build_gather(const unsigned char *base, uint32_t bytes,
                                               int alignment, const int64_t *ids, uint64_t places,
                                               uint32_t chunks, uint4 *rows) {
  if (alignment == 16)
    gatherRows<16>(base, bytes, ids, places, chunks, rows);
  else if (alignment == 4)
    gatherRows<4>(base, bytes, ids, places, chunks, rows);
  else
    gatherRows<1>(base, bytes, ids, places, chunks, rows);
}

#endif // ANNUDF_KERNELS_CUDA_BUILD_CANDIDATELISTS_CUH
