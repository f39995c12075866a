//===- TargetAbi.h - The ABIs that code is made for --------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Beside annudf.accumulator.v1 a metric can be lowered to the ABI of the proof of concept
// of Python metrics in cuVS (docs/use/device-udf.md), if it needs no more than that has.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_ABI_TARGETABI_H
#define ANNUDF_ABI_TARGETABI_H

#include "annudf/ABI/annudf_abi.h"

#include <cstdint>
#include <string>
#include <string_view>

#define ANNUDF_CUVS_METRIC_ABI_ID "rapids.cuvs.ivf_flat.metric.v1"

namespace annudf {

/// All ids, for messages.
inline constexpr const char *kTargetAbis = ANNUDF_ABI_ID ", " ANNUDF_CUVS_METRIC_ABI_ID;

/// The function of ANNUDF_CUVS_METRIC_ABI_ID: gives the accumulator after one coordinate. It
/// begins with 0, and what the last call gives is the distance.
using CuvsMetric = float(float x, float y, float acc);
/// Signature of a metric with a capture: its address, and the index of the coordinate.
using CuvsMetricOfCapture = float(float x, float y, float acc, const float *capture, int64_t dim);

/// Whose functions a metric becomes.
struct CodeTarget {
  std::string abi = ANNUDF_ABI_ID;
  /// Name of the function of ANNUDF_CUVS_METRIC_ABI_ID; empty: defaultSymbol().
  std::string symbol;
  /// Whether the code is for a descriptor with the form that is proved of the metric.
  bool form = true;

  bool isCuvsMetric() const { return abi == ANNUDF_CUVS_METRIC_ABI_ID; }
  bool isKnown() const { return abi == ANNUDF_ABI_ID || isCuvsMetric(); }
};

/// Whether NVVM IR of a metric has the function with a capture.
inline bool takesCapture(std::string_view ir, const std::string &symbol) {
  const size_t begin = ir.find("@" + symbol + "(");
  return begin != std::string_view::npos &&
         ir.substr(begin, ir.find(')', begin) - begin).find('*') != std::string_view::npos;
}

inline std::string defaultSymbol(std::string_view metric) {
  return "annudf_metric_" + std::string(metric);
}

} // namespace annudf

#endif // ANNUDF_ABI_TARGETABI_H
