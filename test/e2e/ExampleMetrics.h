//===- ExampleMetrics.h - What the example metrics mean, in float64 -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The formulas of docs/examples/metrics, written once more in plain C++ on
// decoded coordinates. They share no code with compiler, kernels or runtime.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_E2E_EXAMPLEMETRICS_H
#define ANNUDF_TEST_E2E_EXAMPLEMETRICS_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace annudf::test {

using Vector = std::vector<double>;

/// A distance and the sum of its terms' magnitudes: what rounding errors scale with.
struct Distance {
  double value = 0;
  double magnitude = 0;
};

struct ExampleMetric {
  std::string name; ///< The file's in docs/examples/metrics or lib/Metrics.
  bool largestFirst = false;
  bool bytesOnly = false; ///< Accepts u8 and bits alone.
  bool inParts = false;   ///< Has combine.
  bool takesBfloat = true;
  bool takesBits = false;
  /// On 8-bit vectors every intermediate value is an integer below 2^24.
  bool exactOnIntegers = true;
  int leastDims = 1;
  bool needsWeights = false;
  bool needsOrder = false;        ///< Minkowski's p.
  bool needsAges = false;         ///< One a row: its weights are that age, p is the half-life.
  bool needsQueryWeights = false; ///< Its weights are those of the query.
  bool missingValues = false;     ///< A coordinate may be NaN, and so may a distance.
  std::function<Distance(const Vector &query, const Vector &row, const Vector &weights, double p)>
      distance;
};

const std::vector<ExampleMetric> &exampleMetrics();

/// An IEEE half from its bits.
double decodeHalf(uint16_t bits);

} // namespace annudf::test

#endif // ANNUDF_TEST_E2E_EXAMPLEMETRICS_H
