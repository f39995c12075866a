//===- Reporter.h - How far a search on the host is -------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CPU_SEARCH_REPORTER_H
#define ANNUDF_RUNTIME_LIB_CPU_SEARCH_REPORTER_H

#include "annudf/runtime/support/Progress.h"

#include <chrono>
#include <thread>

namespace annudf::runtime::cpu {

/// Asks the caller now and then, on his own thread, whether to go on.
class Reporter {
public:
  Reporter(const Progress &progress, double total) : progress_(progress), total_(total) {
    report(progress_, "search", 0);
  }
  /// \param done  of `total`. May be called by any thread.
  void now(double done) {
    if (!progress_ || std::this_thread::get_id() != caller_)
      return;
    constexpr std::chrono::milliseconds kPause(50);
    const auto time = std::chrono::steady_clock::now();
    if (time - last_ < kPause)
      return;
    last_ = time;
    report(progress_, "search", done / total_);
  }
  void finish() const { report(progress_, "search", 1); }

private:
  const Progress &progress_;
  const double total_;
  const std::thread::id caller_ = std::this_thread::get_id();
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

} // namespace annudf::runtime::cpu

#endif // ANNUDF_RUNTIME_LIB_CPU_SEARCH_REPORTER_H
