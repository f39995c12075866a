//===- Builtin.cpp - The metrics that annudf has by itself ----------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Metrics/Builtin.h"

namespace annudf {

static constexpr BuiltinMetric kMetrics[] = {
#include "Texts.inc"
};

/// What cuVS, SciPy and scikit-learn call one that has another name here.
static constexpr struct {
  std::string_view other, name;
} kOtherNames[] = {
    {"sqeuclidean", "l2"}, {"cityblock", "l1"}, {"manhattan", "l1"}, {"lp", "minkowski"}};

std::span<const BuiltinMetric> builtinMetrics() { return kMetrics; }

const BuiltinMetric *findBuiltinMetric(std::string_view name) {
  for (const auto &[other, own] : kOtherNames)
    if (name == other)
      name = own;
  for (const BuiltinMetric &metric : kMetrics)
    if (metric.name == name)
      return &metric;
  return nullptr;
}

std::string builtinMetricNames() {
  std::string names;
  for (const BuiltinMetric &metric : kMetrics)
    names += (names.empty() ? "" : ", ") + std::string(metric.name);
  for (const auto &[other, own] : kOtherNames)
    names += ", " + std::string(other) + " (" + std::string(own) + ")";
  return names;
}

} // namespace annudf
