//===- BuildSort.cuh - Rows sorted by their lists ---------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A radix sort of (list, row), eight bits a pass, each row behind those before it. Of Build.cu.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CUDA_BUILD_BUILDSORT_CUH
#define ANNUDF_KERNELS_CUDA_BUILD_BUILDSORT_CUH

#include "BuildGrid.cuh"

/// How often each digit is in a block's items: counts[digit * blocks + block].
extern "C" __global__ void __launch_bounds__(256)
    annudf_build_count(const uint32_t *keys, uint32_t count, uint32_t shift, uint32_t *counts) {
  __shared__ uint32_t seen[256];
  seen[threadIdx.x] = 0;
  __syncthreads();
  const uint64_t first = static_cast<uint64_t>(blockIdx.x) * ANNUDF_BUILD_SORT_ITEMS;
  for (uint32_t i = threadIdx.x; i < ANNUDF_BUILD_SORT_ITEMS; i += 256)
    if (first + i < count)
      atomicAdd(&seen[keys[first + i] >> shift & 255], 1u);
  __syncthreads();
  counts[static_cast<uint64_t>(threadIdx.x) * gridDim.x + blockIdx.x] = seen[threadIdx.x];
}

/// Sums of what is before each, in place; one block of 1024 threads.
extern "C" __global__ void __launch_bounds__(1024)
    annudf_build_prefix(uint32_t *counts, uint64_t count) {
  __shared__ uint32_t ofWarp[32];
  const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x / 32;
  uint32_t before = 0;
  for (uint64_t first = 0; first < count; first += 4096) {
    const uint64_t at = first + threadIdx.x * 4;
    uint32_t own[4], sum = 0;
    for (uint32_t i = 0; i < 4; ++i) {
      own[i] = sum;
      sum += at + i < count ? counts[at + i] : 0;
    }
    uint32_t scanned = sum;
    for (uint32_t step = 1; step < 32; step *= 2) {
      const uint32_t left = __shfl_up_sync(0xFFFFFFFFu, scanned, step);
      scanned += lane >= step ? left : 0;
    }
    if (lane == 31)
      ofWarp[warp] = scanned;
    __syncthreads();
    if (warp == 0) {
      uint32_t all = ofWarp[lane];
      for (uint32_t step = 1; step < 32; step *= 2) {
        const uint32_t left = __shfl_up_sync(0xFFFFFFFFu, all, step);
        all += lane >= step ? left : 0;
      }
      ofWarp[lane] = all;
    }
    __syncthreads();
    const uint32_t base = before + (warp ? ofWarp[warp - 1] : 0) + scanned - sum;
    for (uint32_t i = 0; i < 4; ++i)
      if (at + i < count)
        counts[at + i] = base + own[i];
    before += ofWarp[31];
    __syncthreads();
  }
}

/// Moves keys, and the rows that have them, to their places.
/// \param rows     null: 0, 1, ...
/// \param offsets  annudf_build_count's, after annudf_build_prefix.
extern "C" __global__ void __launch_bounds__(256)
    annudf_build_scatter(const uint32_t *keys, const uint32_t *rows, uint32_t count, uint32_t shift,
                         const uint32_t *offsets, uint32_t *outKeys, uint32_t *outRows) {
  constexpr uint32_t kWarps = 8, kRounds = ANNUDF_BUILD_SORT_ITEMS / 256;
  __shared__ uint32_t places[kWarps][256];
  const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x / 32;
  for (uint32_t w = 0; w < kWarps; ++w)
    places[w][threadIdx.x] = 0;
  __syncthreads();
  // A warp has neighbours, in their order: equal digits before an item are those of earlier warps,
  // earlier rounds and lower lanes.
  const uint64_t first = static_cast<uint64_t>(blockIdx.x) * ANNUDF_BUILD_SORT_ITEMS +
                         static_cast<uint64_t>(warp) * (kRounds * 32) + lane;
  uint32_t ranks[kRounds], own[kRounds];
#pragma unroll
  for (uint32_t i = 0; i < kRounds; ++i) {
    const bool is = first + i * 32 < count;
    own[i] = is ? keys[first + i * 32] : 0;
    const uint32_t digit = own[i] >> shift & 255;
    const uint32_t equal = __match_any_sync(0xFFFFFFFFu, is ? digit : 256u);
    ranks[i] = __popc(equal & ((1u << lane) - 1));
    uint32_t before = 0;
    if (is)
      before = places[warp][digit];
    __syncwarp();
    if (is && ranks[i] == 0)
      places[warp][digit] = before + __popc(equal);
    __syncwarp();
    ranks[i] += before;
  }
  __syncthreads();
  uint32_t place = offsets[static_cast<uint64_t>(threadIdx.x) * gridDim.x + blockIdx.x];
  for (uint32_t w = 0; w < kWarps; ++w) {
    const uint32_t has = places[w][threadIdx.x];
    places[w][threadIdx.x] = place;
    place += has;
  }
  __syncthreads();
#pragma unroll
  for (uint32_t i = 0; i < kRounds; ++i)
    if (first + i * 32 < count) {
      const uint32_t to = places[warp][own[i] >> shift & 255] + ranks[i];
      outKeys[to] = own[i];
      outRows[to] = rows ? rows[first + i * 32] : static_cast<uint32_t>(first + i * 32);
    }
}

/// Where each list begins among the sorted rows, and where the last one ends.
extern "C" __global__ void annudf_build_bounds(const uint32_t *keys, uint32_t count, uint32_t lists,
                                               uint32_t *starts) {
  for (uint64_t i = threadOfGrid(); i <= count; i += threadsOfGrid()) {
    const uint32_t end = i < count ? keys[i] : lists;
    for (uint32_t l = i ? keys[i - 1] + 1 : 0; l <= end; ++l)
      starts[l] = static_cast<uint32_t>(i);
  }
}

//===----------------------------------------------------------------------===//
// Means of lists
//===----------------------------------------------------------------------===//

#endif // ANNUDF_KERNELS_CUDA_BUILD_BUILDSORT_CUH
