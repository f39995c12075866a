//===- Candidates.cuh - The scan of rows that lie anywhere ------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The family "candidates": each query has a list of its own, whose rows are those of a caller's
// matrix, or copies of them, and not in groups; or those of an index, in the groups of its lists. A
// lane owns a row as in Scan.cu. Were each lane to load its own row, every load of a warp would
// touch 32 lines; so four lanes ask for 64 adjacent bytes of a row, and shared memory hands them to
// its owner. Chunks of rows in groups are not adjacent: four lanes then touch four lines at once.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CUDA_SCAN_CANDIDATES_CUH
#define ANNUDF_KERNELS_CUDA_SCAN_CANDIDATES_CUH

#include "ScanList.cuh"

namespace {

/// Chunks of a group's rows on their way to shared memory, where those of a batch lie by chunk and
/// row. All lanes of the warp call together.
struct RowsAhead {
  static constexpr int kBatch = ANNUDF_RING_BATCH, kBatches = ANNUDF_RING_BATCHES;
  static constexpr int kStride = ANNUDF_CANDIDATE_STRIDE, kEach = 32 / kBatch;
  static_assert(kBatch * kEach == 32, "a lane asks for as many rows as a batch has chunks");
  uint4 *ring;               ///< The warp's.
  const uint4 *from[kBatch]; ///< The rows that the lane asks for a chunk of.
  int chunks, stride;        ///< A row's that are asked for, and from one to the next.
  int slot = 0, inUse = 0;   ///< The ring's.

  /// \param own  the lane's row.
  __device__ __forceinline__ RowsAhead(uint4 *ring, const uint4 *own, int chunks, int stride)
      : ring(ring), chunks(chunks), stride(stride) {
    const int row = (threadIdx.x & 31) / kBatch;
#pragma unroll
    for (int i = 0; i < kBatch; ++i)
      from[i] = reinterpret_cast<const uint4 *>(
          __shfl_sync(0xFFFFFFFFu, reinterpret_cast<unsigned long long>(own), row + i * kEach));
  }
  __device__ __forceinline__ void ask(int batch) {
    const int lane = threadIdx.x & 31, part = lane % kBatch, chunk = batch * kBatch + part;
    uint4 *to = ring + (slot * kBatch + part) * kStride + lane / kBatch;
    if (chunk < chunks)
#pragma unroll
      for (int i = 0; i < kBatch; ++i)
        annudf_copy_ahead(to + i * kEach, from[i] + chunk * stride);
    annudf_end_copies();
    slot = slot + 1 == kBatches ? 0 : slot + 1;
  }
  /// Waits for the batch that was asked for first. \returns the first chunk of the lane's row.
  __device__ __forceinline__ const uint4 *take() {
    annudf_wait_for_copies();
    __syncwarp(); // Other lanes have asked for it.
    const uint4 *first = ring + inUse * (kBatch * kStride) + (threadIdx.x & 31);
    inUse = inUse + 1 == kBatches ? 0 : inUse + 1;
    return first;
  }
};

/// The row in the place `slot` of all lists, with that id.
__device__ __forceinline__ const uint4 *rowAt(const annudf_device_index &index, uint64_t slot,
                                              int64_t id) {
  const auto *rows = reinterpret_cast<const uint4 *>(index.rows);
  if (index.layout == ANNUDF_ROWS_BY_NUMBER) {
    const uint32_t number = __ldg(reinterpret_cast<const uint32_t *>(index.numbers) + slot);
    return rows + static_cast<uint64_t>(number / 32) * index.chunks * 32 + number % 32;
  }
  const uint64_t number = index.layout == ANNUDF_ROWS_BY_ID ? static_cast<uint64_t>(id) : slot;
  return rows + number * index.chunks;
}

__device__ __forceinline__ void scanCandidates(const annudf_scan_args &args, uint32_t list,
                                               const uint32_t (&pair)[1]) {
  Block block = blockOf(args, list);
  block.list = 0; // To hooks all rows are one list.
  const int lane = threadIdx.x & 31;
  const uint32_t warp = threadIdx.x / 32;
  uint4 *const ring = tileWords + Staged<1>::chunks(block.dims) +
                      warp * (RowsAhead::kBatches * RowsAhead::kBatch * RowsAhead::kStride);
  int query[1];
  uint64_t out[1];
  placesOf(args, pair, query, out);
  const ListRows rows(args, list);
  for (uint32_t g = blockIdx.y * (ANNUDF_SCAN_THREADS / 32) + warp; g < rows.groups;
       g += rows.step) {
    bool found;
    const int64_t row = rows.number(g, found);
    if (!isWanted<1>(args, out, g, found)) {
      skipGroup<1>(args, g, lane, 1, out);
      continue;
    }
    const uint64_t first = (static_cast<uint64_t>(rows.firstGroup) + g) * 32;
    const uint64_t slot = first + (g * 32 + lane < rows.size ? lane : 0); // As number() has it.
    const uint4 *own = rowAt(args.index, slot, row);
    RowsAhead ahead(ring, own, block.fullChunks, block.chunkStride);
    __syncwarp(); // All lanes are done with the group before.
#pragma unroll
    for (int batch = 0; batch < RowsAhead::kBatches - 1; ++batch)
      ahead.ask(batch);
    Acc acc[1] = {};
    init(acc[0], block.dims, query[0], block.list, block.slots);
#pragma unroll 1
    for (int c = 0, batch = RowsAhead::kBatches - 1; c < block.fullChunks; ++batch) {
      __syncwarp(); // All lanes are done with what the next batch takes the place of.
      ahead.ask(batch);
      const uint4 *chunk = ahead.take();
      const int end = min(c + RowsAhead::kBatch, block.fullChunks);
#pragma unroll 1
      for (; c < end; ++c, chunk += RowsAhead::kStride) {
        uint4 y = *chunk;
        updateChunk<1>(block, y, c, 1, row, query, acc);
      }
    }
    finishGroup<1>(args, block, own, g, lane, 1, found, row, query, out, acc);
  }
}

} // namespace

/// Block (pair, segment), as annudf_scan_pair.
extern "C" __global__ void __launch_bounds__(ANNUDF_SCAN_THREADS)
    annudf_scan_candidates(const __grid_constant__ annudf_scan_args args) {
  const uint32_t pair[1] = {blockIdx.x};
  begin(args, pair);
  scanCandidates(args, reinterpret_cast<const uint32_t *>(args.work.probes)[blockIdx.x], pair);
}

#endif // ANNUDF_KERNELS_CUDA_SCAN_CANDIDATES_CUH
