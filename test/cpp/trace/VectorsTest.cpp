//===- VectorsTest.cpp - Traced functions of two vectors ------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpp/trace/Run.h"

namespace annudf::test {
namespace {

/// The function on plain numbers.
template <class T, class Hooks>
std::vector<float> plainDistances(const Hooks &hooks, const Rows<T> &x, const Rows<T> &y) {
  std::vector<float> out;
  for (int64_t i = 0; i < x.rows(); ++i)
    for (int64_t j = 0; j < y.rows(); ++j)
      out.push_back(plain::distance(hooks, std::vector<T>(x.row(i), x.row(i) + x.dims),
                                    std::vector<T>(y.row(j), y.row(j) + y.dims),
                                    {.row = j, .query = i}));
  return out;
}

template <class T, class Hooks>
void expectAsPlain(const Hooks &hooks, int64_t dims, const metric_options &options = {}) {
  const auto x = wholeNumbers<T>(5, dims, 1), y = wholeNumbers<T>(9, dims, 2);
  const std::string text = trace_metric("m", hooks, options);
  EXPECT_EQ(Compiled(text).distances(x, y), plainDistances(hooks, x, y)) << text;
}

std::string thrownBy(const auto &hooks) {
  try {
    (void)trace_metric("m", hooks);
  } catch (const std::logic_error &error) {
    return error.what();
  }
  return "nothing was thrown";
}

constexpr auto kManhattan = pairwise{
    [](auto a, auto b) { return sum(a.size(), [&](auto i) { return annudf::abs(a[i] - b[i]); }); }};

TEST(TraceVectors, WritesALoop) {
  const std::string text = trace_metric("manhattan", kManhattan, {}, std::source_location());
  std::string bare;
  for (size_t from = 0, at; from < text.size(); from = at + 1) {
    at = text.find('\n', from);
    bare += text.substr(from, std::min(text.find(" loc(", from), at) - from) + '\n';
  }
  EXPECT_EQ(
      bare,
      R"(annudf.pairwise @manhattan order(min) coarse(l2) elements(f32, f16, i8, u8, bf16, bits) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %0 = arith.constant 0 : i64
    %dims.index = annudf.index dims
    %1 = arith.index_cast %dims.index : index to i64
    %2 = arith.constant 1 : i64
    %3 = arith.constant 0.0 : f32
    %4 = scf.for %5 = %0 to %1 step %2 iter_args(%6 = %3) -> (f32) : i64 {
    %7 = arith.index_cast %5 : i64 to index
    %8 = annudf.at %x[%7] : !annudf.vector<f32>
    %9 = arith.index_cast %5 : i64 to index
    %10 = annudf.at %y[%9] : !annudf.vector<f32>
    %11 = arith.subf %8, %10 : f32
    %12 = math.absf %11 : f32
    %13 = arith.addf %6, %12 : f32
    scf.yield %13 : f32
    }
    annudf.yield %4 : f32
  }
}
)");
}

TEST(TraceVectors, IsTheMetricOfOneCoordinate) {
  const auto x = wholeNumbers<float>(5, 7, 1), y = wholeNumbers<float>(9, 7, 2);
  const auto hook = [](auto a, auto b, auto acc) { return acc + annudf::abs(a - b); };
  EXPECT_EQ(Compiled(trace_metric("m", kManhattan)).distances(x, y),
            Compiled(trace_metric("m", hook)).distances(x, y));
}

template <class T> struct Sums {
  T xy, xx, yy;
};

TEST(TraceVectors, ComputesWhatTheFunctionDoes) {
  expectAsPlain<float>(kManhattan, 7);
  expectAsPlain<float>(pairwise{[](auto a, auto b) {
                         const auto s = fold(a.size(), Sums<float>{}, [&](auto i, auto t) {
                           return Sums{t.xy + a[i] * b[i], t.xx + a[i] * a[i], t.yy + b[i] * b[i]};
                         });
                         return 1 - s.xy / annudf::sqrt(s.xx * s.yy);
                       }},
                       5);
  // Loops over whole numbers, with a state of theirs.
  expectAsPlain<int8_t>(pairwise{.distance =
                                     [](auto a, auto b) {
                                       return fold(a.size(), std::int32_t(3),
                                                   [&](auto i, auto most) {
                                                     return annudf::max(most, a[i] * b[i]);
                                                   }) +
                                              a.size();
                                     },
                                 .compute = compute<std::int32_t>},
                        6);
  // Coordinates of fixed numbers need no loop of the metric.
  expectAsPlain<float>(pairwise{[](auto a, auto b) {
                         const auto first = fold(2, 0.0f, [&](auto i, auto total) {
                           return total + (a[i] - b[i]) * float(i + 1);
                         });
                         return annudf::abs(first);
                       }},
                       2, {.dims = 2});
  expectAsPlain<int8_t>(kManhattan, 33);
}

TEST(TraceVectors, ReadsCapturesAndPlaces) {
  const auto hooks = pairwise{[w = capture<float>("w", dim), age = capture<float>("age", row),
                               scale = capture<float>("scale")](auto a, auto b, auto ctx) {
    auto total =
        sum(a.size(), [&](auto i) { return w[i] * (a[i] - b[i]) * (a[i] - b[i]) * scale; });
    return total + age[ctx.row] + annudf::cast<float>(ctx.query);
  }};
  const auto x = wholeNumbers<float>(4, 3, 1), y = wholeNumbers<float>(2, 3, 2);
  const plain::values<float> w("w", {1, 2, 4}), age("age", {8, 16}), scale("scale", 2.0F);
  EXPECT_EQ(Compiled(trace_metric("m", hooks))
                .distances(x, y,
                           {bound<float>("w", {1, 2, 4}, {3}), bound<float>("age", {8, 16}, {2}),
                            bound<float>("scale", {2}, {})}),
            plainDistances(hooks, x, y));
}

TEST(TraceVectors, RefusesWhatLeavesALoopOrAVector) {
  EXPECT_EQ(thrownBy(pairwise{[](auto a, auto b) {
              auto kept = a[0];
              auto total = sum(a.size(), [&](auto i) { return kept = a[i], kept * b[i]; });
              return total + kept;
            }}),
            "a value of a loop's function is used after the loop; return it from the function");
  EXPECT_EQ(thrownBy(pairwise{[](auto a, auto b) {
              try {
                (void)sum(a.size(), [](auto i) -> decltype(i) { throw 1; });
              } catch (int) {
              }
              return a[0] * b[0];
            }}),
            "the function of a loop threw and the metric's went on; let it throw");
  annudf_artifact *artifact = nullptr;
  const auto beyond = pairwise{
      [](auto a, auto b) { return sum(a.size(), [&](auto i) { return a[i + 1] * b[i]; }); }};
  const std::string line = std::to_string(__LINE__ - 1);
  const std::string refused = compileTraced(trace_metric("m", beyond), &artifact);
  EXPECT_NE(refused.find("VectorsTest.cpp:" + line + ": "), std::string::npos) << refused;
  EXPECT_THROW((void)plain::distance(pairwise{[](auto a, auto b) { return a[2] * b[0]; }},
                                     std::vector{1.0F, 2.0F}, std::vector{1.0F, 2.0F}),
               std::out_of_range);
  EXPECT_THROW((void)plain::distance(kManhattan, std::vector{1.0F}, std::vector{1.0F, 2.0F}),
               std::invalid_argument);
}

} // namespace
} // namespace annudf::test
