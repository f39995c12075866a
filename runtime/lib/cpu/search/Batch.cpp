//===- Batch.cpp - Queries that are searched together ---------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch.h"

#include "annudf/runtime/rows/RowStore.h"

#include <algorithm>
#include <numeric>

namespace annudf::runtime::cpu {

static_assert(kGroupRows == ANNUDF_CPU_GROUP_ROWS, "the scan's groups are the index's");

namespace {

/// Tasks for each thread, so that none waits long for the last.
constexpr int64_t kTasksPerThread = 16;
/// Coordinates times queries of a task, after which the caller is asked whether to go on: some 10
/// ms of a plain metric, a tenth of a second or two of one with logarithms.
constexpr int64_t kMostCoordinates = int64_t(1) << 26;

} // namespace

void Batch::sortByList(uint32_t nLists, const std::vector<uint32_t> &probes, uint32_t nProbes,
                       uint32_t from, uint32_t to) {
  before = double(from) / nProbes, share = double(to - from) / nProbes;
  listBegin.assign(nLists + 1, 0);
  for (int64_t q = 0; q < size; ++q)
    for (uint32_t i = from; i < to; ++i)
      ++listBegin[probes[q * nProbes + i] + 1];
  std::partial_sum(listBegin.begin(), listBegin.end(), listBegin.begin());
  std::vector<int64_t> next(listBegin.begin(), listBegin.end() - 1);
  pairs.resize(size_t(size) * (to - from));
  for (int64_t q = 0; q < size; ++q)
    for (uint32_t i = from; i < to; ++i)
      pairs[next[probes[q * nProbes + i]]++] = int32_t(q);
}

std::vector<Task> tasksOf(const RowStore &index, const Batch &batch, int threads, int64_t steps) {
  std::vector<Task> tasks;
  int64_t total = 0;
  for (uint32_t list = 0; list < index.nLists(); ++list)
    total += index.list(list).groups() * (batch.listBegin[list + 1] - batch.listBegin[list]);
  const int64_t most = kMostCoordinates / (steps * int64_t(index.dims()) * kGroupRows);
  const int64_t even = threads == 1 ? total : total / (threads * kTasksPerThread);
  const int64_t share = std::max<int64_t>(1, std::min(even, most));
  for (uint32_t list = 0; list < index.nLists(); ++list) {
    const int64_t groups = index.list(list).groups();
    const int64_t pairs = batch.listBegin[list + 1] - batch.listBegin[list];
    if (groups == 0 || pairs == 0)
      continue;
    const int64_t pieces = std::min(groups, (groups * pairs + share - 1) / share);
    for (int64_t i = 0; i < pieces; ++i) {
      const int64_t begin = groups * i / pieces, end = groups * (i + 1) / pieces;
      tasks.push_back({list, begin, end - begin, (end - begin) * pairs});
    }
  }
  std::sort(tasks.begin(), tasks.end(),
            [](const Task &a, const Task &b) { return a.cost > b.cost; });
  return tasks;
}

void markPassing(const RowFilter &filter, const annudf_cpu_scan &scan,
                 std::vector<uint32_t> &pass) {
  pass.assign(static_cast<size_t>(groupsOf(scan.size)), 0);
  for (int64_t row = 0; row < scan.size; ++row)
    pass[static_cast<size_t>(row / kGroupRows)] |= uint32_t(filter.passes(scan.ids[row]))
                                                   << (row % kGroupRows);
}

annudf_cpu_scan scanOf(const RowStore &index, const Task &task) {
  const List &list = index.list(task.list);
  annudf_cpu_scan scan{};
  scan.rows = list.words.data() + task.firstGroup * index.words() * kGroupRows;
  scan.ids = scan.numbers = list.ids.data() + task.firstGroup * kGroupRows;
  scan.size = std::min(task.groups * kGroupRows, list.size - task.firstGroup * kGroupRows);
  scan.words = index.words();
  scan.dims = index.dims();
  scan.list = index.listNumber(task.list);
  return scan;
}

} // namespace annudf::runtime::cpu
