//===- Abandon.h - Rows that are left before their last dimension -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where a distance is proved to get only worse from dimension to dimension, a row whose distance
// of some dimensions is worse than the query's limit is left (docs/develop/cpu-backend.md).
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CPU_SEARCH_ABANDON_H
#define ANNUDF_RUNTIME_LIB_CPU_SEARCH_ABANDON_H

#include "annudf/Artifact/Descriptor.h"
#include "annudf/runtime/support/Settings.h"
#include "kernels/cpu/ScanArgs.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <vector>

namespace annudf::runtime::cpu {

/// Whether a metric's scan is linked to leave rows; whether it does is up to each search. For sums
/// only where ANNUDF_ABANDON is `all`: they gain little, and lose some (docs/results/reasons.md,
/// "Leaving rows early").
inline bool mayAbandon(const MetricDescriptor &metric) {
  const std::string_view asked = settingOf("ANNUDF_ABANDON", {"0", "1", "all"});
  return metric.monotone && asked != "0" && (metric.monotone->isExtreme || asked == "all");
}

/// Finds for one search whether looking for rows to leave pays. That hangs on the data, on what a
/// term costs and on the machine, so some tasks are timed, every other with looks, and tell for the
/// rest.
class Abandon {
public:
  using Clock = std::chrono::steady_clock;
  static constexpr size_t kSamples = 8; ///< Tasks of each kind; if there are fewer, none is timed.

  /// \param isAllowed  whether rows may be left.
  /// \param element    of the rows: blocks are whole words of it.
  Abandon(bool isAllowed, int32_t dims, annudf_element element)
      : block_(isAllowed ? std::max(kBlock, 32 / bitsOf(element)) : 0) {
    if (dims <= block_)
      block_ = 0;
  }

  /// One task of a batch.
  class Task {
  public:
    /// \param all  null: no row is left.
    /// \param index, tasks  which of how many, in the order in which they begin.
    Task(Abandon *all, int64_t index, int64_t tasks)
        : all_(all), isTimed_(all && all->isTimed(index, tasks)),
          block_(all ? all->blockOf(index, tasks) : 0),
          begun_(isTimed_ ? Clock::now() : Clock::time_point()) {}
    /// Dims between two looks; 0: none.
    int32_t block() const { return block_; }
    int64_t left = 0; ///< Coordinates of rows that were not computed.
    /// \param work  how much it was, for what it took to be compared with others.
    void done(double work) const {
      if (left != 0)
        all_->left_ += left;
      if (isTimed_)
        all_->add(block_ != 0, std::chrono::duration<double>(Clock::now() - begun_).count() / work);
    }

  private:
    Abandon *const all_;
    const bool isTimed_;
    const int32_t block_;
    const Clock::time_point begun_;
  };

  /// What a task with looks took, or one without, for the same work.
  void add(bool withLooks, double seconds) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<double> &took = withLooks ? with_ : without_;
    took.push_back(seconds);
    if (with_.size() < kSamples || without_.size() < kSamples)
      return;
    pays_ = median(with_) <= kMost * median(without_);
  }

  /// At first limits are far away: nothing is looked for. Then tasks are timed, if they are enough.
  int32_t blockOf(int64_t index, int64_t tasks) const {
    if (index < tasks / kTried)
      return 0;
    return (isTimed(index, tasks) ? index % 2 == 0 : pays_.load()) ? block_ : 0;
  }

  /// Coordinates of rows that were not computed.
  int64_t left() const { return left_; }

private:
  static constexpr int32_t kBlock = 16;
  static constexpr int64_t kTried = 16, kJudged = 8; ///< Parts of all tasks.

  /// The share of the time of whole rows: lists that come first are large, and more of their rows
  /// are left.
  static constexpr double kMost = 0.85;

  bool isTimed(int64_t index, int64_t tasks) const {
    const int64_t from = tasks / kTried, to = tasks / kJudged;
    return block_ != 0 && to - from >= int64_t(2 * kSamples) && index >= from && index < to;
  }
  static double median(std::vector<double> &took) {
    const auto middle = took.begin() + int64_t(took.size() / 2);
    std::nth_element(took.begin(), middle, took.end());
    return *middle;
  }

  int32_t block_;
  std::atomic<int64_t> left_ = 0;
  std::atomic<bool> pays_ = true;
  std::mutex mutex_;
  std::vector<double> with_, without_; ///< For all batches.
};

} // namespace annudf::runtime::cpu

#endif // ANNUDF_RUNTIME_LIB_CPU_SEARCH_ABANDON_H
