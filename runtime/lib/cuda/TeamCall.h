//===- TeamCall.h - The arguments of a search by several devices -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CUDA_TEAMCALL_H
#define ANNUDF_RUNTIME_LIB_CUDA_TEAMCALL_H

#include "DeviceTeam.h"

#include <algorithm>

namespace annudf::runtime::cuda {

template <class T> T *pointer(uint64_t address) { return reinterpret_cast<T *>(address); }
inline uint64_t addressOf(const void *memory) { return reinterpret_cast<uint64_t>(memory); }

/// Queries whose results of all devices are merged at once, which take so many bytes at most.
inline int64_t queriesMerged(int devices, int k) {
  constexpr int64_t kMergedBytes = int64_t(256) << 20;
  constexpr int64_t kResultBytes = sizeof(int64_t) + sizeof(float);
  return std::max<int64_t>(1, kMergedBytes / (int64_t(devices) * k * kResultBytes));
}

struct DeviceTeam::Call {
  const RowStore &index;
  const MetricView &metric;
  const BoundCaptures &captures;
  const MatrixView &queries;
  int k;
  const SearchParams &params;
  int64_t *ids;
  float *distances;
  CUstream stream;

  size_t queryBytes() const {
    return size_t(queries.rows) * size_t(bytesOfRow(queries.element, queries.dims));
  }
  size_t results() const { return size_t(queries.rows) * size_t(k); }
  /// Where a device finds the queries.
  uint64_t queriesOf(int number, const Lane &lane) const {
    return number == 0 ? addressOf(queries.data) : lane.queries.at();
  }
};

} // namespace annudf::runtime::cuda

#endif // ANNUDF_RUNTIME_LIB_CUDA_TEAMCALL_H
