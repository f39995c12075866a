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

std::span<const BuiltinMetric> builtinMetrics() { return kMetrics; }

const BuiltinMetric *findBuiltinMetric(std::string_view name) {
  for (const BuiltinMetric &metric : kMetrics)
    if (metric.name == name)
      return &metric;
  return nullptr;
}

std::string builtinMetricNames() {
  std::string names;
  for (const BuiltinMetric &metric : kMetrics)
    names += (names.empty() ? "" : ", ") + std::string(metric.name);
  return names;
}

} // namespace annudf
