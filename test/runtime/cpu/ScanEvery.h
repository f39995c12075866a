//===- ScanEvery.h - Distances of all rows of a list, of one kernel -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_RUNTIME_CPU_SCANEVERY_H
#define ANNUDF_TEST_RUNTIME_CPU_SCANEVERY_H

#include "TestMetrics.h"
#include "cpu/jit/Jit.h"
#include "cpu/search/Queries.h"
#include "kernels/cpu/ScanArgs.h"

#include <limits>
#include <vector>

namespace annudf::test {

/// Distances of one list as a scan reports them when nothing is worse than the limit.
struct Collected {
  std::vector<std::vector<float>> distances; ///< By query and row; -1: none.
  float limit;
  static float push(void *sink, int32_t i, const int64_t *ids, const float *distances,
                    uint32_t mask) {
    const auto &self = *static_cast<Collected *>(sink);
    auto &all = static_cast<Collected *>(sink)->distances[size_t(i)];
    for (int r = 0; r < runtime::kGroupRows; ++r)
      if (mask >> r & 1)
        all.at(size_t(ids[r])) = distances[r];
    return self.limit;
  }
};

/// What `kernel` computes of every row of an index of one list.
inline std::vector<std::vector<float>> scanEvery(const runtime::cpu::ScanKernel &kernel,
                                                 const runtime::RowStore &index,
                                                 const runtime::Metric &metric,
                                                 const runtime::MatrixView &queries) {
  const auto captures = bind(metric, index.dims());
  const auto count = static_cast<size_t>(queries.rows);
  const annudf::Manifest &manifest = metric.artifact.manifest;
  Collected collected;
  collected.distances.assign(count, std::vector<float>(size_t(index.size()), -1));
  collected.limit = manifest.order == ANNUDF_ORDER_MAX ? -std::numeric_limits<float>::infinity()
                                                       : std::numeric_limits<float>::infinity();
  const runtime::cpu::QueryCoordinates coordinates(queries, manifest.compute);
  std::vector<const void *> x;
  std::vector<const uint32_t *> integers;
  std::vector<int32_t> numbers;
  for (int32_t q = 0; q < int32_t(count); ++q) {
    x.push_back(coordinates.row(q));
    integers.push_back(coordinates.integers(q));
    numbers.push_back(q);
  }
  uint64_t slots[ANNUDF_MAX_CAPTURES] = {};
  for (size_t i = 0; i < captures.size(); ++i)
    slots[i] = captures.slot(i);
  std::vector<float> limits(count, collected.limit);
  annudf_cpu_scan scan{};
  scan.rows = index.list(0).words.data();
  scan.ahead = scan.rows;
  scan.ids = scan.numbers = index.list(0).ids.data();
  scan.size = index.size();
  scan.words = index.words();
  scan.dims = index.dims();
  scan.queries = int32_t(count);
  scan.x = x.data();
  scan.integers = integers.data();
  scan.query = numbers.data();
  scan.slots = slots;
  scan.limit = limits.data();
  scan.push = Collected::push;
  scan.sink = &collected;
  kernel.run(scan);
  return collected.distances;
}

} // namespace annudf::test

#endif // ANNUDF_TEST_RUNTIME_CPU_SCANEVERY_H
