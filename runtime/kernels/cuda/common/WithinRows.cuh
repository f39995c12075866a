//===- WithinRows.cuh - The rows that a block has found within a radius -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CUDA_COMMON_WITHINROWS_CUH
#define ANNUDF_KERNELS_CUDA_COMMON_WITHINROWS_CUH

#include "Keys.cuh"
#include "RadiusArgs.h"

namespace {

/// In shared memory.
struct WithinScratch {
  int64_t id[ANNUDF_WITHIN_ROWS];
  uint32_t key[ANNUDF_WITHIN_ROWS];
  unsigned long long start; ///< The place of the segment that is written.
  uint32_t found;
  uint32_t written; ///< Segments before.
};

/// The rows of a block's query that are within the radius. All threads call together, but for
/// add().
class WithinRows {
public:
  /// Ends without a barrier.
  __device__ WithinRows(const annudf_within &to, WithinScratch &scratch, uint32_t query,
                        uint32_t order)
      : to(to), scratch(scratch), query(query), order(order) {
    if (threadIdx.x == 0)
      scratch.found = 0, scratch.written = 0;
  }
  /// Keys of rows within the radius are not above it; a number's key is below ANNUDF_KEY_NONE.
  __device__ __forceinline__ uint32_t limit() const {
    return annudfKeyOf(to.radius, static_cast<int>(order));
  }
  /// Makes room for a row of each thread. Begins and ends with a barrier.
  __device__ __forceinline__ void makeRoom() {
    __syncthreads();
    const bool isFull = scratch.found + blockDim.x > ANNUDF_WITHIN_ROWS;
    __syncthreads();
    if (isFull)
      write();
  }
  __device__ __forceinline__ void add(uint32_t key, int64_t id) {
    const uint32_t place = atomicAdd(&scratch.found, 1u);
    scratch.key[place] = key, scratch.id[place] = id;
  }
  /// Writes what is left.
  __device__ __forceinline__ void end() {
    __syncthreads();
    write();
  }

private:
  /// How many of the rows come before row `i`. Rows of one key and one id are told apart by their
  /// places.
  __device__ __forceinline__ uint32_t rankOf(uint32_t i, uint32_t count) const {
    const uint32_t key = scratch.key[i];
    const int64_t id = scratch.id[i];
    uint32_t rank = 0;
#pragma unroll 4
    for (uint32_t o = 0; o < count; ++o) {
      const uint32_t other = scratch.key[o];
      rank += other < key;
      if (other == key && o != i)
        rank += scratch.id[o] < id || (scratch.id[o] == id && o < i);
    }
    return rank;
  }

  /// Begins and ends with a barrier passed.
  __device__ __forceinline__ void write() {
    const uint32_t count = scratch.found;
    if (count == 0)
      return;
    if (threadIdx.x == 0) {
      auto &found = *reinterpret_cast<annudf_within_found *>(to.found);
      scratch.start = atomicAdd(&found.results, static_cast<unsigned long long>(count));
      atomicAdd(reinterpret_cast<uint32_t *>(to.counts) + query, count);
      if (scratch.start + count <= to.room)
        reinterpret_cast<annudf_within_segment *>(to.segments)[atomicAdd(&found.segments, 1u)] = {
            scratch.start, query, count};
    }
    __syncthreads();
    const uint64_t start = scratch.start;
    // The host sorts the results of a query that has several segments.
    const bool inOrder = gridDim.y == 1 && scratch.written == 0;
    if (start + count <= to.room)
      for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
        const uint64_t out = start + (inOrder ? rankOf(i, count) : i);
        reinterpret_cast<int64_t *>(to.ids)[out] = scratch.id[i];
        reinterpret_cast<float *>(to.distances)[out] =
            annudfDistanceOf(scratch.key[i], static_cast<int>(order));
      }
    __syncthreads();
    if (threadIdx.x == 0)
      scratch.found = 0, ++scratch.written;
    __syncthreads();
  }

  const annudf_within &to;
  WithinScratch &scratch;
  const uint32_t query, order;
};

} // namespace

#endif // ANNUDF_KERNELS_CUDA_COMMON_WITHINROWS_CUH
