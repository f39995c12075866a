//===- Within.cuh - The rows within a radius, found by bounds ------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluates the granules whose bound allows for a row within the radius: results are those of a
// scan of all rows, whatever the bounds. Apart from Survivors.cu so that WithinTest can run it
// where there is no GPU.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CUDA_SCAN_WITHIN_CUH
#define ANNUDF_KERNELS_CUDA_SCAN_WITHIN_CUH

#include "../common/WithinRows.cuh"
#include "Granules.cuh"

namespace {

struct GranulesScratch {
  WithinScratch rows;
  SurvivorProbes probes;
  uint32_t waiting[ANNUDF_WITHIN_WAITING]; ///< Granules.
  uint32_t waits;
};

/// One query. Metric is as of SurvivorQuery, but for mostOf().
template <class Metric> class WithinQuery {
  using Bounds = typename Metric::Bounds;
  using Four = typename Bounds::Four;
  static constexpr uint32_t kAhead = ANNUDF_WITHIN_AHEAD;
  static constexpr uint32_t kMostOfPiece =
      ANNUDF_WITHIN_THREADS * ANNUDF_WITHIN_AHEAD * ANNUDF_GRANULES;

public:
  /// \param query  of the batch.
  __device__ WithinQuery(const annudf_within_args &args, const Metric &metric,
                         GranulesScratch &scratch, uint32_t query)
      : args(args), metric(metric), scratch(scratch),
        granules(args.survivors.scan, metric, scratch.probes, query),
        rows(args.to, scratch.rows, query, args.survivors.scan.order), limit(rows.limit()),
        bounds(reinterpret_cast<const Four *>(args.survivors.scan.work.keys) + granules.start) {
    if (threadIdx.x == 0)
      scratch.waits = 0;
  }

  /// Block rows share the query's groups. One place evaluates, as in SurvivorQuery.
  __device__ __forceinline__ void run() {
    constexpr uint32_t kGroups = ANNUDF_WITHIN_THREADS * kAhead;
    granules.bringProbes();
    __syncthreads();
#pragma unroll 1
    for (uint32_t first = blockIdx.y * kGroups; first < granules.groups;) {
      collect(first);
      first += gridDim.y * kGroups;
      __syncthreads();
      const uint32_t waits = scratch.waits;
      if (first >= granules.groups || waits + kMostOfPiece > ANNUDF_WITHIN_WAITING) {
        evaluate(waits);
        __syncthreads();
        if (threadIdx.x == 0)
          scratch.waits = 0;
      }
      __syncthreads();
    }
    rows.end();
  }

private:
  /// Has the granules of a piece of groups wait that may have a row within.
  __device__ __forceinline__ void collect(uint32_t first) {
    Four four[kAhead];
#pragma unroll
    for (uint32_t i = 0; i < kAhead; ++i)
      if (const uint32_t g = first + i * ANNUDF_WITHIN_THREADS + threadIdx.x; g < granules.groups)
        four[i] = __ldcg(bounds + g);
      else
        four[i] = {Bounds::kNone, Bounds::kNone, Bounds::kNone, Bounds::kNone};
#pragma unroll
    for (uint32_t i = 0; i < kAhead; ++i)
#pragma unroll 1
      for (uint32_t j = 0; j < ANNUDF_GRANULES; ++j)
        if (const auto bound = boundOf(four[i], j);
            bound < Bounds::kNone && metric.keyOf(bound) <= limit)
          scratch.waiting[atomicAdd(&scratch.waits, 1u)] =
              (first + i * ANNUDF_WITHIN_THREADS + threadIdx.x) * ANNUDF_GRANULES + j;
  }

  /// A thread for each row of the granules that wait. Begins after a barrier.
  __device__ __forceinline__ void evaluate(uint32_t waits) {
    if (threadIdx.x == 0 && waits != 0 && args.survivors.evaluated)
      atomicAdd(reinterpret_cast<unsigned long long *>(args.survivors.evaluated), waits);
#pragma unroll 1
    for (uint32_t i = threadIdx.x; i - threadIdx.x < waits * ANNUDF_GRANULE_ROWS;
         i += ANNUDF_WITHIN_THREADS) {
      rows.makeRoom();
      if (i >= waits * ANNUDF_GRANULE_ROWS)
        continue;
      int64_t id;
      const uint32_t key =
          granules.evaluate(scratch.waiting[i / ANNUDF_GRANULE_ROWS], i % ANNUDF_GRANULE_ROWS, id);
      if (key <= limit)
        rows.add(key, id);
    }
  }

  const annudf_within_args &args;
  const Metric &metric;
  GranulesScratch &scratch;
  GranuleRows<Metric> granules;
  WithinRows rows;
  const uint32_t limit;
  const Four *const bounds;
};

} // namespace

#endif // ANNUDF_KERNELS_CUDA_SCAN_WITHIN_CUH
