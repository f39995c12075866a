//===- PredicateScan.h - Which rows of a scan each query may find --*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A predicate is computed for the groups of a task and the queries that probe them, by the thread
// that scans the task next: its words are then in the cache. Code runs as a scan of its own, so
// rows are the lanes of vectors.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CPU_PREDICATESCAN_H
#define ANNUDF_RUNTIME_LIB_CPU_PREDICATESCAN_H

#include "cpu/jit/ScanCache.h"
#include "cpu/search/Batch.h"
#include "cpu/search/SlotColumns.h"

#include "annudf/runtime/engine/Columns.h"
#include "annudf/runtime/engine/Predicate.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace annudf::runtime::cpu {

class PredicateScan {
public:
  /// Links the predicate's code. \param filter  rows that pass beside the predicate; null: all.
  PredicateScan(const RowStore &index, const Predicate &predicate, const RowFilter *filter,
                ScanCache &kernels);

  /// Memory of one thread.
  struct Workspace {
    std::vector<uint32_t> pass, words; ///< The latter are the stack of results.
    std::vector<int32_t> chosen;
    std::vector<float> limits;
    std::vector<int64_t> numbers;
  };
  /// Sets what the rows of a scan pass, its queries being set. \param work  for as long as the
  /// scan.
  void mark(annudf_cpu_scan &scan, const Task &task, Workspace &work) const;

  /// The share of pairs that pass, of some groups that are spread over the index and some of the
  /// queries. For the planner, which asks before there are lists to probe.
  double sampledShare(const SearchParams &params, int64_t queries) const;

  double linkMs() const { return linkMs_; } ///< The constructor's links took it.
  int links() const { return links_; }

private:
  /// One of the predicate's artifacts.
  struct Code {
    StoreCaptures captures;
    SlotColumns columns;
    ScanCache::Kernel kernel;
    Code(const RowStore &index, const Predicate::Code &code)
        : captures(index, code.filter->artifact.manifest, *code.captures), columns(captures) {}
  };
  void run(const Code &code, const annudf_cpu_scan &scan, const Task &task, uint32_t *words,
           Workspace &work) const;

  const RowStore &index_;
  const Predicate &predicate_;
  const RowFilter *filter_;
  std::vector<std::unique_ptr<const Code>> code_; ///< In the order of the steps.
  double linkMs_ = 0;
  int links_ = 0;
};

} // namespace annudf::runtime::cpu

#endif // ANNUDF_RUNTIME_LIB_CPU_PREDICATESCAN_H
