//===- Builtin.h - The metrics that annudf has by itself --------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_METRICS_BUILTIN_H
#define ANNUDF_METRICS_BUILTIN_H

#include <span>
#include <string>
#include <string_view>

namespace annudf {

/// Text of the dialect, to be compiled as a user's is. Both end in a null character.
struct BuiltinMetric {
  std::string_view name; ///< The metric's, its file's in lib/Metrics, and what users write.
  std::string_view text;

  /// What places in diagnostics call the text: "<built-in metric l2>".
  std::string origin() const { return "<built-in metric " + std::string(name) + ">"; }
};

/// All of them, by name.
std::span<const BuiltinMetric> builtinMetrics();

/// Null if there is none.
const BuiltinMetric *findBuiltinMetric(std::string_view name);

/// "chebyshev, euclidean, ...", for messages.
std::string builtinMetricNames();

} // namespace annudf

#endif // ANNUDF_METRICS_BUILTIN_H
