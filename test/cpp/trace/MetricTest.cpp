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

template <class T> Rows<T> fractions(int64_t rows, int64_t dims, unsigned seed) {
  std::mt19937 random(seed);
  Rows<T> out{{}, dims};
  for (int64_t i = 0; i < rows * dims; ++i)
    out.values.push_back(T(int(random() % 20001) - 10000) / T(512));
  return out;
}

/// The hooks on plain numbers, by no code of ours but the hooks themselves.
template <class T, class Distance>
std::vector<float> all(const Rows<T> &x, const Rows<T> &y, const Distance &distance) {
  std::vector<float> out;
  for (int64_t i = 0; i < x.rows(); ++i)
    for (int64_t j = 0; j < y.rows(); ++j)
      out.push_back(distance(i, j, x.row(i), y.row(j)));
  return out;
}

template <class T> struct Sums {
  T xy, xx, yy;
};
template <class F, class N> struct Counted {
  F sum;
  N count;
};

TEST(TraceMetric, ComputesWhatTheLambdaDoes) {
  const auto hook = [w = capture<float>("w", dim)](auto x, auto y, auto acc, auto ctx) {
    auto d = x - y;
    return acc + w[ctx.dim] * d * d;
  };
  const auto x = wholeNumbers<float>(5, 7, 1);
  const auto y = wholeNumbers<float>(9, 7, 2);
  const std::vector<float> weights = {1, 2, 3, 4, 5, 6, 7};
  const plain::values<float> w("w", weights);
  const std::vector<float> expected =
      all(x, y, [&](int64_t, int64_t, const float *a, const float *b) {
        float acc = 0;
        for (int64_t d = 0; d < 7; ++d)
          acc = hook(a[d], b[d], acc, plain::context{.dim = d, .dims = 7});
        return acc;
      });
  EXPECT_EQ(Compiled(trace_metric("weighted_l2", hook)).distances(x, y, {bound("w", weights, {7})}),
            expected);
}

TEST(TraceMetric, SumsInSeveralFields) {
  const auto cosine =
      hooks{.initial = Sums<float>{},
            .update = [](auto x, auto y,
                         auto acc) { return Sums{acc.xy + x * y, acc.xx + x * x, acc.yy + y * y}; },
            .finalize = [](auto acc) { return 1 - acc.xy / annudf::sqrt(acc.xx * acc.yy); }};
  const auto x = wholeNumbers<float>(6, 5, 3);
  const auto y = wholeNumbers<float>(8, 5, 4);
  const std::vector<float> expected =
      all(x, y, [&](int64_t, int64_t, const float *a, const float *b) {
        Sums<float> acc{};
        for (int d = 0; d < 5; ++d)
          acc = cosine.update(a[d], b[d], acc);
        return cosine.finalize(acc);
      });
  EXPECT_EQ(Compiled(trace_metric("cosine", cosine)).distances(x, y), expected);
  EXPECT_EQ(all(x, y,
                [&](int64_t, int64_t, const float *a, const float *b) {
                  return plain::distance(cosine, std::vector(a, a + 5), std::vector(b, b + 5));
                }),
            expected);
}

/// Pearson's: five fields. Five dims, of whole numbers whose sums of squares are below 2^24 / 5.
template <class T> struct Moments {
  T x, y, xx, yy, xy;
};

TEST(TraceMetric, FiveSumsOfACorrelation) {
  const auto correlation = hooks{
      .initial = Moments<float>{},
      .update =
          [](auto x, auto y, auto acc) {
            return Moments{acc.x + x, acc.y + y, acc.xx + x * x, acc.yy + y * y, acc.xy + x * y};
          },
      .finalize =
          [](auto acc) {
            return 1 - (5 * acc.xy - acc.x * acc.y) / annudf::sqrt((5 * acc.xx - acc.x * acc.x) *
                                                                   (5 * acc.yy - acc.y * acc.y));
          }};
  const auto x = wholeNumbers<float>(6, 5, 3);
  const auto y = wholeNumbers<float>(8, 5, 4);
  const auto expected = all(x, y, [&](int64_t, int64_t, const float *a, const float *b) {
    return plain::distance(correlation, std::vector(a, a + 5), std::vector(b, b + 5));
  });
  EXPECT_EQ(Compiled(trace_metric("correlation", correlation)).distances(x, y), expected);
}

/// Mean of squares, with a count: fields of two types, of a class with members.
struct MeanSquare {
  captured<uint8_t, 1> mask = capture<uint8_t>("mask", dim);

  auto init(auto) const { return Counted{0.0, 0U}; }
  auto update(auto x, auto y, auto acc, auto ctx) const {
    auto used = mask[ctx.dim] != 0;
    acc.sum += annudf::select(used, (x - y) * (x - y), 0);
    acc.count += used;
    return acc;
  }
  auto finalize(auto acc) const { return acc.sum / acc.count; }
};

TEST(TraceMetric, IsAClassWithMembers) {
  const MeanSquare metric;
  const auto x = wholeNumbers<int8_t>(6, 5, 5);
  const auto y = wholeNumbers<int8_t>(8, 5, 6);
  const std::vector<uint8_t> mask = {1, 0, 255, 7, 0};
  const plain::values<uint8_t> bits("mask", mask);
  const std::string text = trace_metric("mean_square", metric);
  EXPECT_NE(text.find("accumulator(f64, u32)"), std::string::npos) << text;
  EXPECT_EQ(Compiled(text).distances(x, y, {bound("mask", mask, {5})}),
            all(x, y, [&](int64_t, int64_t, const int8_t *a, const int8_t *b) {
              return plain::distance(metric, std::vector(a, a + 5), std::vector(b, b + 5));
            }));
}

TEST(TraceMetric, KeepsArraysAndTuples) {
  const auto extremes = hooks{.initial = std::array<float, 2>{-1e30F, 1e30F},
                              .update =
                                  [](auto x, auto y, auto acc) {
                                    acc[0] = annudf::max(acc[0], x - y);
                                    acc[1] = annudf::min(acc[1], x - y);
                                    return acc;
                                  },
                              .finalize = [](auto acc) { return acc[0] - acc[1]; }};
  const auto mixed =
      hooks{.compute = annudf::compute<double>,
            .initial = std::tuple<int64_t, double>{3, 0.0},
            .update =
                [](auto x, auto y, auto acc, auto ctx) {
                  auto [n, sum] = acc;
                  return std::tuple{n + ctx.dim * 2, sum + x * y};
                },
            .finalize = [](auto acc) { return std::get<1>(acc) * std::get<0>(acc); }};
  const auto x = wholeNumbers<float>(6, 5, 7);
  const auto y = wholeNumbers<float>(8, 5, 8);
  const auto by = [&](const auto &metric) {
    return all(x, y, [&](int64_t, int64_t, const float *a, const float *b) {
      return plain::distance(metric, std::vector(a, a + 5), std::vector(b, b + 5));
    });
  };
  EXPECT_EQ(Compiled(trace_metric("extremes", extremes)).distances(x, y), by(extremes));
  EXPECT_EQ(Compiled(trace_metric("mixed", mixed)).distances(x, y), by(mixed));
}

TEST(TraceMetric, JoinsParts) {
  const auto metric =
      hooks{.initial = 0.0F,
            .update = [](auto x, auto y, auto acc) { return acc + annudf::abs(x - y); },
            .combine = [](auto acc, auto other) { return acc + other; }};
  const auto x = wholeNumbers<float>(3, 5, 9);
  const std::string text = trace_metric("long_l1", metric, {.numerics = numerics::reassociate});
  EXPECT_NE(text.find("annudf.combine (%acc: f32, %other: f32)"), std::string::npos) << text;
  EXPECT_EQ(Compiled(text).distances(x, x),
            all(x, x, [&](int64_t, int64_t, const float *a, const float *b) {
              return plain::distance(metric, std::vector(a, a + 5), std::vector(b, b + 5));
            }));
}

/// Reads entries of one element type along every extent, by every spelling of an index.
template <class T, class Element = T>
void readsEveryExtent(const std::string &dtype, const std::vector<T> &someValues) {
  const auto hook = [one = capture<Element>("one"), d = capture<Element>("d", dim),
                     r = capture<Element>("r", row), q = capture<Element>("q", query, dim),
                     t = capture<Element>("t", 2, 3)](auto x, auto, auto acc, auto ctx) {
    for (int i = 0; i < 2; ++i)
      for (unsigned j = 0; j < 3; ++j)
        acc += t[i][j] * x * (i + 1) + ctx(t)[i][j] * ctx(one);
    auto last = d(ctx.dims - 1 - ctx.dim);
    return acc + x * one + d[ctx.dim] + r[ctx.row] * x + q[ctx.query][ctx.dim] +
           q(ctx.query, ctx.dim) * last;
  };
  const auto metric = hooks{.initial = 0.0, .update = hook};
  const auto x = wholeNumbers<float>(3, 4, 10);
  const auto y = wholeNumbers<float>(5, 4, 11);
  const auto take = [&](size_t count, size_t first) {
    std::vector<T> out(count);
    for (size_t i = 0; i < count; ++i)
      out[i] = someValues[(first + i * i) % someValues.size()];
    return out;
  };
  const std::vector<T> d = take(4, 1), r = take(5, 2), q = take(12, 0), t = take(6, 3),
                       one = take(1, 1);
  const plain::values<T> ones("one", one), ds("d", d), rs("r", r), qs("q", q, {3, 4}),
      ts("t", t, {2, 3});
  std::vector<Bound> values = {bound("one", one, {}), bound("d", d, {4}), bound("r", r, {5}),
                               bound("q", q, {3, 4}), bound("t", t, {2, 3})};
  if (!dtype.empty()) // 16 bits: by the runtime, from the f32 that holds them exactly.
    for (Bound &value : values)
      value.dtype = "f32";
  const auto expected = all(x, y, [&](int64_t i, int64_t j, const float *a, const float *b) {
    return plain::distance(metric, std::vector(a, a + 4), std::vector(b, b + 4),
                           {.row = j, .query = i});
  });
  EXPECT_EQ(Compiled(trace_metric("extents", metric)).distances(x, y, values), expected);
}

TEST(TraceMetric, ReadsCapturesOfEveryElementAndExtent) {
  readsEveryExtent<float>("", {1, -2, 3, 0.5F});
  readsEveryExtent<double>("", {1, -2, 3, 0.5});
  readsEveryExtent<bool>("", {true, false, true});
  readsEveryExtent<int8_t>("", {1, -128, 127, 5});
  readsEveryExtent<uint8_t>("", {1, 255, 128});
  readsEveryExtent<int16_t>("", {1, -1000, 20000});
  readsEveryExtent<uint16_t>("", {1, 40000, 7}); // Whose products an int holds.
  readsEveryExtent<int32_t>("", {1, -40000, 3});
  readsEveryExtent<uint32_t>("", {1, 70000, 3});
  readsEveryExtent<int64_t>("", {1, -70000, 3});
  readsEveryExtent<uint64_t>("", {1, 70000, 3});
  readsEveryExtent<float, float16>("f16", {1, -2, 0.5F});
  readsEveryExtent<float, bfloat16>("bf16", {1, -2, 0.5F});
}

TEST(TraceMetric, LooksUpAByte) {
  const auto metric = hooks{.compute = annudf::compute<int>,
                            .initial = 0,
                            .update = [t = capture<int>("t", 256)](auto x, auto y, auto acc) {
                              return acc + t[annudf::cast<uint8_t>(x ^ y)];
                            }};
  std::vector<int> table(256);
  for (int i = 0; i < 256; ++i)
    table[size_t(i)] = (i * 37) % 101;
  const plain::values<int> values("t", table);
  const auto x = wholeNumbers<uint8_t>(4, 6, 12);
  EXPECT_EQ(Compiled(trace_metric("lookup", metric)).distances(x, x, {bound("t", table, {256})}),
            all(x, x, [&](int64_t, int64_t, const uint8_t *a, const uint8_t *b) {
              return plain::distance(metric, std::vector(a, a + 6), std::vector(b, b + 6));
            }));
}

TEST(TraceMetric, FunctionsOfTheCLibraryAreClose) {
  const auto metric = hooks{.update = [which = capture<int>("which")](auto x, auto y, auto acc) {
    using annudf::select;
    auto a = annudf::abs(x) / 64 + 0.0625F, b = y / 64;
    auto w = which * (a == a);
    auto f = select(w == 0, annudf::exp(b), acc);
    const auto next = [&](int number, auto result) { f = select(w == number, result, f); };
    next(1, annudf::exp2(b)), next(2, annudf::expm1(b)), next(3, annudf::log(a)),
        next(4, annudf::log2(a));
    next(5, annudf::log10(a)), next(6, annudf::log1p(a)), next(7, annudf::sin(b)),
        next(8, annudf::cos(b));
    next(9, annudf::tan(b)), next(10, annudf::asin(b)), next(11, annudf::acos(b)),
        next(12, annudf::atan(b));
    next(13, annudf::sinh(b)), next(14, annudf::cosh(b)), next(15, annudf::tanh(b)),
        next(16, annudf::asinh(b));
    next(17, annudf::acosh(a + 1)), next(18, annudf::atanh(b)), next(19, annudf::erf(b)),
        next(20, annudf::erfc(b));
    next(21, annudf::cbrt(b)), next(22, annudf::rsqrt(a)), next(23, annudf::pow(a, b)),
        next(24, annudf::atan2(a, b));
    next(25, annudf::pow(a, 2)), next(26, annudf::fma(a, b, a)),
        next(27, annudf::clamp(b, -0.25F, 0.25));
    return f;
  }};
  Compiled compiled(trace_metric("functions", metric));
  const auto x = fractions<float>(9, 1, 13);
  const auto y = fractions<float>(11, 1, 14);
  for (int which = 0; which < 28; ++which) {
    const plain::values<int> chosen("which", which);
    const auto expected = all(x, y, [&](int64_t, int64_t, const float *a, const float *b) {
      return plain::distance(metric, std::vector(a, a + 1), std::vector(b, b + 1));
    });
    const auto found = compiled.distances(x, y, {bound("which", std::vector<int>{which}, {})});
    for (size_t i = 0; i < found.size(); ++i) {
      if (std::isnan(expected[i]) || std::isnan(found[i]))
        EXPECT_EQ(std::isnan(expected[i]), std::isnan(found[i])) << which;
      else
        EXPECT_NEAR(found[i], expected[i], std::fabs(expected[i]) * 1e-6F) << which;
    }
  }
}

TEST(TraceFilter, KeepsWhatTheLambdaKeeps) {
  const auto keep = [price = capture<float>("price", row), most = capture<float>("most"),
                     banned = capture<bool>("banned", row)](auto ctx) {
    return (price[ctx.row] <= most && !banned[ctx.row]) || ctx.row % 7 == 3;
  };
  const std::string text = trace_filter("affordable", keep);
  OwnedArtifact filter;
  ASSERT_EQ(compileTraced(text, &filter), "") << text;
  const int64_t rows = 100;
  std::vector<float> prices;
  std::vector<bool> never;
  for (int64_t i = 0; i < rows; ++i)
    prices.push_back(float((i * 13) % 40)), never.push_back(i % 3 == 0);
  const auto x = wholeNumbers<float>(rows, 4, 15);
  const annudf_vectors vectors = vectorsOf(x);
  Owner<annudf_ivf_flat_index, annudf_ivf_flat_destroy> index;
  ASSERT_EQ(outcome(annudf_ivf_flat_build(nullptr, &vectors, 4, nullptr, &index, nullptr)), "ok");
  const std::vector<Bound> values = {bound("price", prices, {rows}),
                                     bound("most", std::vector{20.0F}, {}),
                                     bound("banned", never, {rows})};
  const annudf_extents extents = {sizeof extents, 4, rows, 1};
  OwnedCaptures captures;
  ASSERT_EQ(bindValues(filter, extents, values, &captures), "ok");
  Owner<annudf_filter, annudf_filter_destroy> bits;
  ASSERT_EQ(outcome(annudf_ivf_flat_filter(cpu(), index, filter, captures, 0, nullptr, &bits)),
            "ok");
  const plain::values<float> price("price", prices), most("most", 20.0F);
  const plain::values<bool> banned("banned", never);
  int64_t kept = 0;
  for (int64_t i = 0; i < rows; ++i)
    kept += keep(plain::context{.row = i}) ? 1 : 0;
  EXPECT_EQ(annudf_filter_get(bits)->count, kept);
  EXPECT_GT(kept, 0);
  EXPECT_LT(kept, rows);
}

} // namespace
} // namespace annudf::test
