//===- Granules.cuh - The rows of granules, as a query finds them --*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shared by Survivors.cuh and Within.cuh.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CUDA_SCAN_GRANULES_CUH
#define ANNUDF_KERNELS_CUDA_SCAN_GRANULES_CUH

#include "../common/Passes.cuh"
#include "../common/ProductArgs.h"
#include "../common/Starts.cuh"

#include <cfloat>
#include <cmath>

namespace {

/// What bounds are: of accumulators, or of ratios.
struct FormBounds {
  using Bound = float;
  using Four = float4;
  static constexpr Bound kNone = INFINITY, kBeforeAll = -INFINITY;
  static __device__ __forceinline__ Bound less(Bound a, Bound b) { return fminf(a, b); }
};

/// The same: keys.
struct KeyBounds {
  using Bound = uint32_t;
  using Four = uint4;
  static constexpr Bound kNone = ANNUDF_KEY_NONE, kBeforeAll = 0; // No number's key.
  static __device__ __forceinline__ Bound less(Bound a, Bound b) { return min(a, b); }
};

/// Bound `i` of four, where it is not worth four copies of what follows.
template <class Four>
__device__ __forceinline__ auto boundOf(const Four &four, uint32_t i) -> decltype(four.x) {
  return i == 0 ? four.x : i == 1 ? four.y : i == 2 ? four.z : four.w;
}

/// The probes of a query in shared memory, where they are as many as there is room for.
struct SurvivorProbes {
  static constexpr uint32_t kMost = 128;
  uint32_t start[kMost]; ///< First group in the workspace.
  uint32_t list[kMost];
  uint32_t group[kMost]; ///< Its first in the index.
  uint32_t size[kMost];  ///< Its rows.
};

/// The rows of one query's granules. Metric is as of SurvivorQuery.
template <class Metric> class GranuleRows {
public:
  /// \param query  of the batch.
  __device__ GranuleRows(const annudf_scan_args &scan, const Metric &metric, SurvivorProbes &probes,
                         uint32_t query)
      : scan(scan), metric(metric), probes(probes),
        groups(reinterpret_cast<const uint32_t *>(scan.work.groupCount)[query]),
        start(uint64_t(query) * scan.work.stride), pairs(uint64_t(query) * scan.work.nProbes) {}

  /// What evaluate() asks of the probes, so that it does not wait for memory, time and again.
  __device__ __forceinline__ void bringProbes() {
    const annudf_device_index &index = scan.index;
    const annudf_workspace &work = scan.work;
    if (work.nProbes > SurvivorProbes::kMost)
      return;
    for (uint32_t p = threadIdx.x; p < work.nProbes; p += blockDim.x) {
      const uint32_t list = reinterpret_cast<const uint32_t *>(work.probes)[pairs + p];
      probes.start[p] = reinterpret_cast<const uint32_t *>(work.probeGroup)[pairs + p];
      probes.list[p] = list;
      probes.group[p] = reinterpret_cast<const uint32_t *>(index.listGroup)[list];
      probes.size[p] = reinterpret_cast<const uint32_t *>(index.listSize)[list];
    }
  }

  /// Row `r` of a granule: its key, and its id.
  __device__ __forceinline__ uint32_t evaluate(uint32_t granule, uint32_t r, int64_t &row) const {
    const annudf_device_index &index = scan.index;
    const annudf_workspace &work = scan.work;
    const uint32_t *probeGroup = reinterpret_cast<const uint32_t *>(work.probeGroup) + pairs;
    const uint32_t group = granule / ANNUDF_GRANULES;
    uint32_t list, before, first, size;
    if (work.nProbes <= SurvivorProbes::kMost) {
      const uint32_t low = lastStartUpTo(probes.start, work.nProbes, group);
      list = probes.list[low], before = probes.start[low];
      first = probes.group[low], size = probes.size[low];
    } else {
      const uint32_t low = lastStartUpTo(probeGroup, work.nProbes, group);
      list = reinterpret_cast<const uint32_t *>(work.probes)[pairs + low], before = probeGroup[low];
      first = reinterpret_cast<const uint32_t *>(index.listGroup)[list];
      size = reinterpret_cast<const uint32_t *>(index.listSize)[list];
    }
    const uint32_t place = granule % ANNUDF_GRANULES * ANNUDF_GRANULE_ROWS + r,
                   inList = (group - before) * 32 + place;
    if (inList >= size || !isFor(work, start + group, place))
      return ANNUDF_KEY_NONE;
    return metric.evaluate(list, first + inList / 32, place, row);
  }

  const annudf_scan_args &scan;
  const Metric &metric;
  SurvivorProbes &probes;
  const uint32_t groups; ///< The query's, of 32 rows each.
  const uint64_t start;  ///< The query's first in the workspace.
  const uint64_t pairs;  ///< The query's first.
};

} // namespace

#endif // ANNUDF_KERNELS_CUDA_SCAN_GRANULES_CUH
