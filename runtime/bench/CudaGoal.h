//===- CudaGoal.h - Searches on a GPU that widen ----------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_BENCH_CUDAGOAL_H
#define ANNUDF_BENCH_CUDAGOAL_H

#include "annudf/runtime/cuda/Cuda.h"
#include "annudf/runtime/engine/Goal.h"

#include <cstring>
#include <vector>

namespace annudf::bench {

/// A search with max_probes as the C API makes it for arrays on a device: what each search finds is
/// read, and all is written there in the end.
inline void searchToGoal(runtime::CudaBackend &backend, const runtime::RowStore &index,
                         const runtime::MetricView &metric, const runtime::BoundCaptures &captures,
                         const runtime::MatrixView &queries, int k,
                         const runtime::SearchParams &params, int64_t maxProbes, int64_t *ids,
                         float *distances, void *stream, runtime::SearchStats &stats) {
  using namespace runtime;
  const auto results = static_cast<size_t>(queries.rows) * static_cast<size_t>(k);
  std::vector<int64_t> foundIds(results);
  std::vector<float> foundDistances(results);
  const auto part = [&](const QueryPart &some, int kept, const SearchParams &how, int64_t *toIds,
                        float *toDistances, SearchStats *cost) {
    const uint64_t count = uint64_t(some.count) * uint64_t(kept);
    const auto idsThere = backend.allocate(count * sizeof(int64_t), stream),
               distancesThere = backend.allocate(count * sizeof(float), stream);
    backend.searchDevice(index, metric, captures, partOf(queries, some), kept, how,
                         reinterpret_cast<int64_t *>(idsThere->address()),
                         reinterpret_cast<float *>(distancesThere->address()), stream, cost);
    const auto read = [&](const DeviceMemory &from, void *to, size_t alignment) {
      const auto bytes = backend.read(reinterpret_cast<const void *>(from.address()), from.size(),
                                      alignment, stream, "results");
      std::memcpy(to, bytes.data(), bytes.size());
    };
    read(*idsThere, toIds, sizeof(int64_t)), read(*distancesThere, toDistances, sizeof(float));
  };
  runtime::searchToGoal(goalSearchOf(backend, index, metric, queries.rows), k, params,
                        {.maxProbes = maxProbes}, part, foundIds.data(), foundDistances.data(),
                        &stats);
  backend.copy(reinterpret_cast<uint64_t>(ids), reinterpret_cast<uint64_t>(foundIds.data()),
               results * sizeof(int64_t), stream);
  backend.copy(reinterpret_cast<uint64_t>(distances),
               reinterpret_cast<uint64_t>(foundDistances.data()), results * sizeof(float), stream);
  backend.synchronize(stream);
}

} // namespace annudf::bench

#endif // ANNUDF_BENCH_CUDAGOAL_H
