//===- RatioLimits.h - Which ratios a distance allows --------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bounds of a normalised form are of its ratio, limits of a search are distances. The metric's own
// finalize makes the one of the other; it is monotone, so that limits of ratios are found by
// halving.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CPU_PRODUCTS_RATIOLIMITS_H
#define ANNUDF_RUNTIME_LIB_CPU_PRODUCTS_RATIOLIMITS_H

#include "cpu/jit/Jit.h"

#include "annudf/runtime/engine/BoundRatio.h"

#include <array>
#include <cstdint>

namespace annudf::runtime::cpu {

class RatioLimits {
public:
  /// \param slots  of the captures.
  RatioLimits(const ScanKernel &kernel, const BoundRatio &ratio, annudf_order order,
              const uint64_t *slots, int32_t query);

  /// Whether every ratio that there may be has a distance that is a number.
  bool areNumbers() const;

  /// The largest ratio, with the sign by which the least is best, whose distance is no worse:
  /// equal ones count, as ids decide between rows. Infinity where all are, -infinity where none is.
  float ofDistance(float distance) const;
  /// The same of the distance of a ratio: no less than it.
  float ofRatio(float ratio) const;

private:
  /// \param ratio  with the sign.
  float distanceOf(float ratio) const;
  bool isNoWorse(float ratio, float distance) const;

  const ScanKernel *kernel_;
  const float sign_, most_;
  const uint32_t product_;
  const std::optional<std::array<uint32_t, 2>> means_;
  const int32_t dims_, query_;
  const bool largestIsBest_;
  const uint64_t *slots_;
};

} // namespace annudf::runtime::cpu

#endif // ANNUDF_RUNTIME_LIB_CPU_PRODUCTS_RATIOLIMITS_H
