//===- MetricTest.cpp - Traced metrics, run -------------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpp/trace/Run.h"

#include <random>

namespace annudf::test {
namespace {

/// Small whole numbers: sums and products of them have no rounding, fused or not.
template <class T> Rows<T> wholeNumbers(int64_t rows, int64_t dims, unsigned seed) {
  std::mt19937 random(seed);
  Rows<T> out{{}, dims};
  for (int64_t i = 0; i < rows * dims; ++i)
    out.values.push_back(T(int(random() % 100) - (std::is_unsigned_v<T> ? 0 : 50)));
  return out;
}

TEST(TraceMetric, ComputesWhatTheLambdaDoes) {
  const auto hook = [w = capture<float>("w", dim)](auto x, auto y, auto acc, auto ctx) {
    auto d = x - y;
    return acc + w[ctx.dim] * d * d;
  };
  const Rows<float> x = wholeNumbers<float>(5, 7, 1);
  const Rows<float> y = wholeNumbers<float>(9, 7, 2);
  const std::vector<float> weights = {1, 2, 3, 4, 5, 6, 7};
  const plain::values<float> w("w", weights);
  std::vector<float> expected;
  for (int64_t i = 0; i < x.rows(); ++i)
    for (int64_t j = 0; j < y.rows(); ++j) {
      float acc = 0;
      for (int64_t d = 0; d < x.dims; ++d)
        acc = hook(x.row(i)[d], y.row(j)[d], acc, plain::context{.dim = d, .dims = x.dims});
      expected.push_back(acc);
    }
  Compiled metric(trace_metric("weighted_l2", hook));
  EXPECT_EQ(metric.distances(x, y, {bound<float>("w", weights, {7})}), expected);
}

} // namespace
} // namespace annudf::test
