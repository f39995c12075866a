//===- Explain.cpp - The hooks, one dimension at a time -------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/engine/Explain.h"

#include "cpu/jit/Jit.h"
#include "cpu/jit/Processor.h"
#include "cpu/search/Queries.h"
#include "kernels/cpu/ScanArgs.h"
#include "support/FloatModes.h"

#include "annudf/Support/Fork.h"
#include "annudf/runtime/rows/RowStore.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

namespace annudf::runtime {

namespace {

/// \throws Error as a search of such a row with such a query does.
void check(const MetricView &metric, const BoundCaptures &captures, const MatrixView &query,
           const MatrixView &row, const PairNumbers &pair) {
  const Manifest &manifest = metric.artifact.manifest;
  auto usage = [](const std::string &what) { throw Error(ErrorKind::Usage, what); };
  checkRole(metric);
  if (manifest.isPairwise())
    throw Error(ErrorKind::Usage, "metric '" + manifest.name +
                                      "' is a distance of whole vectors, which has no accumulator "
                                      "to show; compute the distance of the pair instead");
  checkElements(metric, {row.element, query.element});
  if (query.rows != 1 || row.rows != 1 || !query.data || !row.data)
    usage("explain takes one query and one row");
  if (query.dims != row.dims)
    usage("the query has " + std::to_string(query.dims) + " dims, the row has " +
          std::to_string(row.dims));
  if (manifest.dims != 0 && manifest.dims != row.dims)
    usage("metric '" + manifest.name + "' was compiled for " + std::to_string(manifest.dims) +
          " dims, the row has " + std::to_string(row.dims));
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (pair.row < 0 || pair.query < 0 || pair.query > kMost || pair.list < 0 || pair.list > kMost)
    usage("the numbers of query, row and list must be 0 or more");
  const bool ofQueries = manifest.hasQueryCaptures();
  const int64_t rows = pair.row == std::numeric_limits<int64_t>::max() ? pair.row : pair.row + 1;
  checkCaptures(metric, captures, {row.dims, rows, captures.extents().queries});
  checkNoColumns(captures);
  if (ofQueries && pair.query >= captures.extents().queries)
    usage("query " + std::to_string(pair.query) + ": captures of metric '" + manifest.name +
          "' were bound for " + std::to_string(captures.extents().queries) + " queries");
}

KernelCache<const cpu::ScanKernel> &kernelCache() {
  const NoFork untilMade;
  static auto &kernels = *new KernelCache<const cpu::ScanKernel>; // Threads outlive statics.
  return kernels;
}

} // namespace

Explanation explain(const MetricView &metric, const BoundCaptures &captures,
                    const MatrixView &query, const MatrixView &row, const PairNumbers &pair) {
  check(metric, captures, query, row, pair);
  const FloatModes modes;
  const Manifest &manifest = metric.artifact.manifest;
  const ScanElements elements(row.element, query.element);
  const cpu::ScanTarget host{.cpu = cpu::askedProcessor(), .explains = true};
  bool linked = false;
  const auto kernel = kernelCache().get(
      metric, elements, host.cpu, [&] { return cpu::scanKey(metric, elements, host); },
      [&](const std::string &) { return cpu::compileScan(metric, elements, host); }, linked);

  const int32_t words = wordsPerRow(row.element, row.dims);
  std::vector<uint32_t> one(static_cast<size_t>(words));
  std::memcpy(one.data(), row.data, static_cast<size_t>(bytesOfRow(row.element, row.dims)));
  std::vector<uint32_t> group;
  group.reserve(one.size() * kGroupRows);
  for (uint32_t word : one)
    group.insert(group.end(), kGroupRows, word);
  std::array<int64_t, kGroupRows> ids{};
  ids.fill(pair.row);
  std::array<uint64_t, ANNUDF_MAX_CAPTURES> slots{};
  for (size_t i = 0; i < captures.size(); ++i) {
    if (captures.space(i) != MemorySpace::Host)
      throw Error(ErrorKind::Usage,
                  "capture '" + captures.declared()[i].name +
                      "' is in GPU memory; explain reads host memory, so bind a host array");
    slots[i] = captures.slot(i);
  }
  const cpu::QueryCoordinates coordinates(query, manifest.compute);
  const void *const x = coordinates.row(0);
  const uint32_t *const integers = coordinates.integers(0);
  const auto number = static_cast<int32_t>(pair.query);

  Explanation told;
  const bool isStruct = !manifest.fields.empty();
  told.fields = isStruct ? manifest.fields : std::vector<annudf_accumulator>{manifest.accumulator};
  const size_t steps = static_cast<size_t>(row.dims) + 1,
               wordsOfStep = isStruct ? ANNUDF_MAX_FIELDS : 1,
               bytes = static_cast<size_t>(manifest.accumulatorWidth()) / 8;
  std::vector<std::byte> seen(steps * wordsOfStep * bytes);

  annudf_cpu_scan scan{};
  scan.rows = scan.ahead = group.data();
  scan.ids = scan.numbers = ids.data();
  scan.size = 1;
  scan.words = words;
  scan.dims = row.dims;
  scan.list = static_cast<int32_t>(pair.list);
  scan.queries = 1;
  scan.x = &x;
  scan.integers = &integers;
  scan.query = &number;
  scan.slots = slots.data();
  scan.limit = &told.distance;
  scan.sink = seen.data();
  kernel->run(scan);

  for (size_t step = 0; step < steps; ++step)
    for (size_t field = 0; field < told.fields.size(); ++field) {
      uint64_t word = 0;
      std::memcpy(&word, &seen[(step * wordsOfStep + field) * bytes], bytes);
      told.bits.push_back(word);
    }
  return told;
}

} // namespace annudf::runtime
