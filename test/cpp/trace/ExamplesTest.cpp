//===- ExamplesTest.cpp - One formula from text and from C++ --------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// docs/examples/metrics, written as lambdas: equal to the bit.
//
//===----------------------------------------------------------------------===//

#include "cpp/trace/Run.h"

#include <fstream>
#include <random>
#include <sstream>

namespace annudf::test {
namespace {

template <class T> struct Sums {
  T xy, xx, yy;
};
template <class T> struct Known {
  T sum, known;
};

std::string example(const std::string &name) {
  std::ifstream file(ANNUDF_TEST_EXAMPLES "/" + name + ".mlir");
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_NE(text.str(), "") << name;
  return text.str();
}

constexpr int64_t kDims = 19, kRows = 23, kQueries = 11;

template <class T> Rows<T> someRows(int64_t rows, unsigned seed, bool missing) {
  std::mt19937 random(seed);
  Rows<T> out{{}, kDims};
  for (int64_t i = 0; i < rows * kDims; ++i) {
    const int number = int(random() % 2001) - 1000;
    out.values.push_back(std::is_integral_v<T> ? T(number) : T(number) / T(7));
    if constexpr (std::is_floating_point_v<T>)
      if (missing && random() % 5 == 0)
        out.values.back() = std::numeric_limits<T>::quiet_NaN();
  }
  return out;
}

template <class T = float>
void compare(const std::string &name, const std::string &traced,
             const std::vector<Bound> &values = {}, bool missing = false) {
  const auto x = someRows<T>(kQueries, 1, missing);
  const auto y = someRows<T>(kRows, 2, missing);
  const auto bits = [](const std::vector<float> &from) {
    std::vector<uint32_t> out(from.size());
    for (size_t i = 0; i < from.size(); ++i)
      out[i] = std::bit_cast<uint32_t>(from[i]);
    return out;
  };
  EXPECT_EQ(bits(Compiled(traced).distances(x, y, values)),
            bits(Compiled(example(name)).distances(x, y, values)))
      << name << '\n'
      << traced;
}

std::vector<float> numbers(int64_t count) {
  std::vector<float> out(static_cast<size_t>(count));
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = 0.25F + float((i * 5) % 9) / 3;
  return out;
}

const auto kZeros = Sums<float>{};

TEST(TraceExamples, OfOneSum) {
  compare("l2",
          trace_metric("l2", [](auto x, auto y, auto acc) { return fma(x - y, x - y, acc); }));
  compare("l1", trace_metric("l1", [](auto x, auto y, auto acc) { return acc + abs(x - y); }));
  compare("inner_product",
          trace_metric("inner_product", [](auto x, auto y, auto acc) { return fma(x, y, acc); },
                       {.order = order::max, .coarse = coarse::inner_product}));
  compare("chebyshev",
          trace_metric("chebyshev", hooks{.initial = -std::numeric_limits<float>::infinity(),
                                          .update = [](auto x, auto y, auto acc) {
                                            return annudf::maximum(acc, abs(x - y));
                                          }}));
  compare<uint8_t>("bitwise_hamming",
                   trace_metric("bitwise_hamming", hooks{.compute = annudf::compute<int>,
                                                         .initial = 0U,
                                                         .update = [](auto x, auto y, auto acc) {
                                                           return acc + popcount(x ^ y);
                                                         }}));
}

TEST(TraceExamples, WithCaptures) {
  compare("weighted_l2",
          trace_metric("weighted_l2",
                       [w = capture<float>("w", dim)](auto x, auto y, auto acc, auto ctx) {
                         auto d = x - y;
                         return fma(w[ctx.dim], d * d, acc);
                       }),
          {bound("w", numbers(kDims), {kDims})});
  compare("personal_l2",
          trace_metric("personal_l2",
                       [w = capture<float>("w", query, dim)](auto x, auto y, auto acc, auto ctx) {
                         auto d = x - y;
                         return fma(w(ctx.query, ctx.dim), d * d, acc);
                       }),
          {bound("w", numbers(kQueries * kDims), {kQueries, kDims})});
  const auto p = capture<float>("p");
  compare("minkowski",
          trace_metric(
              "minkowski",
              hooks{.update = [p](auto x, auto y, auto acc) { return acc + pow(abs(x - y), p); },
                    .finalize = [p](auto acc, auto ctx) { return pow(acc, 1.0F / ctx(p)); }}),
          {bound("p", std::vector<float>{3.0F}, {})});
}

TEST(TraceExamples, WithFinalize) {
  const auto update = [](auto x, auto y, auto acc) {
    return Sums{fma(x, y, acc.xy), fma(x, x, acc.xx), fma(y, y, acc.yy)};
  };
  compare(
      "cosine",
      trace_metric("cosine", hooks{.initial = kZeros, .update = update, .finalize = [](auto acc) {
                                     return 1 - acc.xy / sqrt(acc.xx * acc.yy);
                                   }}));
  compare("long_cosine",
          trace_metric(
              "long_cosine",
              hooks{.initial = kZeros,
                    .update = update,
                    .finalize = [](auto acc) { return 1 - acc.xy / (sqrt(acc.xx) * sqrt(acc.yy)); },
                    .combine = [](auto a,
                                  auto b) { return Sums{a.xy + b.xy, a.xx + b.xx, a.yy + b.yy}; }},
              {.numerics = numerics::reassociate}));
  compare(
      "time_decay",
      trace_metric(
          "time_decay",
          hooks{.update = [](auto x, auto y, auto acc) { return fma(x - y, x - y, acc); },
                .finalize =
                    [age = capture<float>("age", row), half_life = capture<float>("half_life")](
                        auto acc, auto ctx) { return acc * exp2(age[ctx.row] / half_life); }}),
      {bound("age", numbers(kRows), {kRows}), bound("half_life", std::vector<float>{2.5F}, {})});
  compare("nan_euclidean",
          trace_metric(
              "nan_euclidean",
              hooks{.initial = Known<float>{},
                    .update =
                        [](auto x, auto y, auto acc) {
                          auto d = x - y;
                          return annudf::select(isnan(d), acc,
                                                Known{fma(d, d, acc.sum), acc.known + 1});
                        },
                    .finalize =
                        [](auto acc, auto ctx) {
                          return sqrt(acc.sum / acc.known * annudf::cast<int>(ctx.dims));
                        }},
              {.elements = {element::f32, element::f16, element::bf16}, .missing_values = true}),
          {}, true);
}

} // namespace
} // namespace annudf::test
