//===- StageTimer.h - Times of a search's stages ------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CPU_SEARCH_STAGETIMER_H
#define ANNUDF_RUNTIME_LIB_CPU_SEARCH_STAGETIMER_H

#include "annudf/runtime/engine/Search.h"
#include "annudf/runtime/support/Clock.h"

#include <chrono>
#include <utility>
#include <vector>

namespace annudf::runtime::cpu {

/// How long the stages of a search take, where somebody asks.
class StageTimer {
public:
  explicit StageTimer(bool isAsked) : isAsked_(isAsked) {}
  /// Ends a stage, and begins the next.
  void operator()(const char *name) {
    if (!isAsked_)
      return;
    const auto now = std::chrono::steady_clock::now();
    addStage(stages_, name, msBetween(begun_, now));
    begun_ = now;
  }
  std::vector<StageTime> takeTimes() { return std::move(stages_); }

private:
  const bool isAsked_;
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  std::vector<StageTime> stages_;
};

} // namespace annudf::runtime::cpu

#endif // ANNUDF_RUNTIME_LIB_CPU_SEARCH_STAGETIMER_H
