//===- FirstWrong.h - The first candidate that is none ----------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_ENGINE_FIRSTWRONG_H
#define ANNUDF_RUNTIME_LIB_ENGINE_FIRSTWRONG_H

#include "annudf/runtime/support/Parallel.h"

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace annudf::runtime {

/// The first of `count` numbers that is wrong, or `count`. A thread leaves a piece at the first
/// that is wrong there.
/// \param isWrong  of a number; called by several threads.
template <class IsWrong> int64_t firstWrong(int64_t count, int threads, IsWrong isWrong) {
  constexpr int64_t kPiece = 1 << 14;
  std::atomic<int64_t> first{count};
  parallelFor(threads, (count + kPiece - 1) / kPiece, [&](int64_t task, int) {
    for (int64_t i = task * kPiece; i < std::min((task + 1) * kPiece, count); ++i)
      if (isWrong(i)) {
        int64_t known = first.load();
        while (i < known && !first.compare_exchange_weak(known, i)) {
        }
        return;
      }
  });
  return first.load();
}

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_LIB_ENGINE_FIRSTWRONG_H
