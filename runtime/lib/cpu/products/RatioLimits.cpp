//===- RatioLimits.cpp - Which ratios a distance allows -------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RatioLimits.h"

#include "ProductRows.h"
#include "kernels/Orders.h"
#include "kernels/cpu/ScanArgs.h"

#include <bit>
#include <cmath>

namespace annudf::runtime::cpu {

namespace {

/// Floats in their order as integers.
int32_t placeOf(float value) {
  const auto bits = std::bit_cast<int32_t>(value);
  return bits < 0 ? std::numeric_limits<int32_t>::min() - bits : bits;
}
float atPlace(int64_t place) {
  const auto bits = int32_t(place);
  return std::bit_cast<float>(bits < 0 ? std::numeric_limits<int32_t>::min() - bits : bits);
}

} // namespace

RatioLimits::RatioLimits(const ScanKernel &kernel, const BoundRatio &ratio, annudf_order order,
                         const uint64_t *slots, int32_t query)
    : kernel_(&kernel), sign_(float(ratio.sign)), most_(roundedUp(ratio.most)),
      product_(ratio.product), means_(ratio.means), dims_(ratio.dims), query_(query),
      largestIsBest_(annudf_kernels::isLargestBest(order)), slots_(slots) {}

float RatioLimits::distanceOf(float ratio) const {
  std::array<uint32_t, ANNUDF_MAX_FIELDS> words;
  words.fill(std::bit_cast<uint32_t>(1.0f));
  if (means_)
    for (uint32_t field : *means_)
      words[field] = 0;
  words[product_] = std::bit_cast<uint32_t>(sign_ * ratio);
  const int64_t row = 0;
  float distance = 0;
  annudf_cpu_scan scan{};
  scan.rows = words.data();
  scan.ids = &row;
  scan.dims = dims_;
  scan.query = &query_;
  scan.slots = slots_;
  scan.limit = &distance;
  kernel_->run(scan);
  return distance;
}

bool RatioLimits::isNoWorse(float ratio, float distance) const {
  const float of = distanceOf(ratio);
  return largestIsBest_ ? of >= distance : of <= distance;
}

bool RatioLimits::areNumbers() const {
  // What finalize takes to numbers is an interval.
  return !std::isnan(distanceOf(most_)) && !std::isnan(distanceOf(-most_));
}

float RatioLimits::ofDistance(float distance) const {
  if (isNoWorse(most_, distance))
    return kInfinity;
  if (!isNoWorse(-most_, distance))
    return -kInfinity;
  int64_t good = placeOf(-most_), bad = placeOf(most_);
  while (bad - good > 1) {
    const int64_t middle = (good + bad) >> 1;
    (isNoWorse(atPlace(middle), distance) ? good : bad) = middle;
  }
  return atPlace(good);
}

float RatioLimits::ofRatio(float ratio) const {
  if (!(ratio <= most_))
    return kInfinity;
  return ofDistance(distanceOf(std::max(ratio, -most_)));
}

} // namespace annudf::runtime::cpu
