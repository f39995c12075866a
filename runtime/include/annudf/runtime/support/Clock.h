//===- Clock.h - What took how long --------------------------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_SUPPORT_CLOCK_H
#define ANNUDF_RUNTIME_SUPPORT_CLOCK_H

#include <chrono>

namespace annudf::runtime {

inline double msBetween(std::chrono::steady_clock::time_point start,
                        std::chrono::steady_clock::time_point end) {
  return std::chrono::duration<double, std::milli>(end - start).count();
}
inline double msSince(std::chrono::steady_clock::time_point start) {
  return msBetween(start, std::chrono::steady_clock::now());
}

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_SUPPORT_CLOCK_H
