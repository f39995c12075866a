//===- BoundRatioTest.cpp - Bounds of ratios hold --------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Cosines and weighted cosines of random vectors, computed in float as hooks compute them, against
// the bound in 113 bits. 2,000 of them; ANNUDF_BOUNDS=100000 for a long run.
//
//===----------------------------------------------------------------------===//

#include "FormTesting.h"

#include "annudf/runtime/engine/BoundForm.h"
#include "annudf/runtime/engine/BoundRatio.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace annudf::runtime {
namespace {

using namespace test;

struct Fields {
  float product = 0, first = 0, second = 0;
};

float add(float acc, float a, float b, bool fused) {
  if (fused)
    return std::fma(a, b, acc);
  volatile float product = a * b;
  return acc + product;
}

Fields computed(const std::vector<float> &w, const std::vector<float> &x,
                const std::vector<float> &y, bool fused) {
  Fields sums;
  for (size_t d = 0; d < x.size(); ++d) {
    volatile float wx = w[d] * x[d], wy = w[d] * y[d];
    sums.product = add(sums.product, wx, y[d], fused);
    sums.first = add(sums.first, wx, x[d], fused);
    sums.second = add(sums.second, wy, y[d], fused);
  }
  return sums;
}

float ratioOf(const Fields &sums, unsigned how) {
  const float x = std::sqrt(sums.first), y = std::sqrt(sums.second);
  switch (how) {
  case 0:
    return sums.product / (x * y);
  case 1:
    return sums.product / x / y;
  case 2:
    return sums.product / std::sqrt(sums.first * sums.second);
  default:
    return sums.product * (1 / (x * y));
  }
}

Quad rootOf(Quad value) {
  auto root = Quad(std::sqrt(double(value)));
  for (int i = 0; i < 3; ++i)
    root = (root + value / root) / 2;
  return root;
}

TEST(BoundRatio, HoldsForRandomVectors) {
  const char *asked = std::getenv("ANNUDF_BOUNDS");
  const int count = asked ? int(std::strtol(asked, nullptr, 10)) : 2000;
  int bound = 0, checked = 0, beyond = 0, tight = 0;
  for (int f = 0; f < count; ++f) {
    std::mt19937 random(uint32_t(f) + 3);
    constexpr std::array<size_t, 6> sizes = {1, 2, 3, 16, 33, 128};
    const size_t dims = sizes[random() % sizes.size()];
    std::vector<float> w = vectorOf(random, dims, random() % 10);
    for (float &one : w)
      one = std::abs(one);
    const bool isWeighted = random() % 3 != 0;
    const Captures captures(w, w, 1);
    if (!isWeighted)
      std::fill(w.begin(), w.end(), 1.0f);
    const QuadraticForm form = isWeighted ? weightedCosine() : plainCosine();
    const annudf_order order = random() % 2 ? ANNUDF_ORDER_MIN : ANNUDF_ORDER_MAX;
    std::string why;
    const auto ratio = bindRatio(form, captures.bound, int32_t(dims), order, &why);
    if (!ratio)
      continue;
    ++bound;
    EXPECT_EQ(ratio->sign, order == ANNUDF_ORDER_MIN ? -1 : 1);
    for (int pair = 0; pair < 5; ++pair) {
      const unsigned kind = random() % 10;
      const std::vector<float> x = vectorOf(random, dims, kind),
                               y = random() % 4
                                       ? vectorOf(random, dims, random() % 2 ? kind : random() % 10)
                                       : x;
      if (!queryPart(*ratio, x).holds || !rowPart(*ratio, y).holds) {
        ++beyond;
        continue;
      }
      Quad p = 0, xx = 0, yy = 0;
      for (size_t d = 0; d < dims; ++d) {
        p += Quad(ratio->of(BoundRatio::XY)[d]) * x[d] * y[d];
        xx += Quad(w[d]) * x[d] * x[d];
        yy += Quad(w[d]) * y[d] * y[d];
      }
      const Quad t = p / (rootOf(xx) * rootOf(yy));
      for (unsigned how = 0; how < 8; ++how) {
        const float r = ratioOf(computed(w, x, y, how < 4), how % 4);
        const Quad off = absolute(ratio->sign * Quad(r) - t);
        ++checked;
        tight += off * 1000 > ratio->error;
        ASSERT_LE(double(off), ratio->error)
            << "formula " << f << " of " << dims << " dims, " << how;
        ASSERT_LE(std::abs(r), ratio->most);
      }
    }
  }
  std::printf(
      "%d of %d bound, %d ratios (%d within a factor of 1000 of the bound), %d pairs beyond\n",
      bound, count, checked, tight, beyond);
  EXPECT_GT(bound * 2, count);
  EXPECT_GT(checked, count);
  EXPECT_GT(tight * 20, checked);
  EXPECT_GT(beyond, count / 10);
}

struct Moments {
  float x = 0, y = 0, xx = 0, yy = 0, xy = 0;
};

/// A sum less what means make, as finalize may have it.
float lessMeans(float sum, float a, float b, float n, unsigned how) {
  volatile float product = how % 2 ? a / n : a * b;
  volatile float part = how % 2 ? product * b : product / n;
  return how % 4 == 3 ? std::fma(-(a / n), b, sum) : sum - part;
}

float correlationOf(const Moments &m, size_t dims, unsigned how) {
  const auto n = float(dims);
  const float p = lessMeans(m.xy, m.x, m.y, n, how), xx = lessMeans(m.xx, m.x, m.x, n, how),
              yy = lessMeans(m.yy, m.y, m.y, n, how);
  return how < 4 ? p / std::sqrt(xx * yy) : p / std::sqrt(xx) / std::sqrt(yy);
}

/// Coordinates are far from 0 for how much they differ, or not.
std::vector<float> shiftedVector(std::mt19937 &random, size_t dims) {
  std::vector<float> values = vectorOf(random, dims, random() % 4 ? 0 : random() % 10);
  constexpr float kMeans[] = {0, 0, 0.5, 1, 2, 4, 5, -5.5, 6, 100, 1e4f};
  const float mean = kMeans[random() % std::size(kMeans)], scale = random() % 3 ? 1 : 1e-5f;
  for (float &value : values)
    value = (value + mean) * scale;
  return values;
}

TEST(BoundRatio, HoldsOfWhatIsLessItsMean) {
  const char *asked = std::getenv("ANNUDF_BOUNDS");
  const int count = asked ? int(std::strtol(asked, nullptr, 10)) : 2000;
  int checked = 0, beyond = 0, tight = 0;
  const std::vector<float> none = {1};
  const Captures captures(none, none, 1);
  for (int f = 0; f < count; ++f) {
    std::mt19937 random(uint32_t(f) + 7);
    constexpr std::array<size_t, 7> sizes = {1, 2, 3, 16, 33, 128, 1000};
    const size_t dims = sizes[random() % sizes.size()];
    const auto ratio = bindRatio(correlation(double(dims)), captures.bound, int32_t(dims),
                                 ANNUDF_ORDER_MAX, nullptr);
    ASSERT_TRUE(ratio);
    const std::vector<float> x = shiftedVector(random, dims),
                             y = random() % 4 ? shiftedVector(random, dims) : x;
    if (!queryPart(*ratio, x).holds || !rowPart(*ratio, y).holds) {
      ++beyond;
      continue;
    }
    Quad sx = 0, sy = 0, xx = 0, yy = 0, xy = 0;
    for (size_t d = 0; d < dims; ++d) {
      sx += x[d], sy += y[d];
      xx += Quad(x[d]) * x[d], yy += Quad(y[d]) * y[d], xy += Quad(x[d]) * y[d];
    }
    const Quad n = Quad(dims),
               t = (xy - sx * sy / n) / (rootOf(xx - sx * sx / n) * rootOf(yy - sy * sy / n));
    for (const bool fused : {false, true}) {
      Moments m;
      for (size_t d = 0; d < dims; ++d) {
        m.x += x[d], m.y += y[d];
        m.xx = add(m.xx, x[d], x[d], fused), m.yy = add(m.yy, y[d], y[d], fused);
        m.xy = add(m.xy, x[d], y[d], fused);
      }
      for (unsigned how = 0; how < 8; ++how) {
        const float r = correlationOf(m, dims, how);
        const Quad off = absolute(Quad(r) - t);
        ++checked;
        tight += off * 10000 > ratio->error;
        ASSERT_LE(double(off), ratio->error)
            << "vectors " << f << " of " << dims << " dims, " << how;
        ASSERT_LE(std::abs(r), ratio->most);
      }
    }
  }
  std::printf("%d correlations (%d within a factor of 10000 of the bound), %d pairs beyond\n",
              checked, tight, beyond);
  EXPECT_GT(checked, count);
  EXPECT_GT(tight * 20, checked);
  EXPECT_GT(beyond, count / 10);
}

TEST(BoundRatio, SaysWhyNotOfMeans) {
  const std::vector<float> w = {1, 1};
  const Captures captures(w, w, 1);
  const auto why = [&](auto change) {
    QuadraticForm form = correlation(2);
    change(form);
    std::string text;
    EXPECT_FALSE(bindRatio(form, captures.bound, 2, ANNUDF_ORDER_MIN, &text));
    return text;
  };
  EXPECT_EQ(why([](auto &form) { form = correlation(3); }),
            "finalize divides by 3, but there are 2 dims");
  EXPECT_EQ(why([](auto &form) { form.lengths->means->count = 99; }),
            "the artifact's form has no node 99");
  EXPECT_EQ(why([](auto &form) { form.lengths->product = 5; }),
            "the artifact's form has a field 5 of 5");
  EXPECT_EQ(why([](auto &form) { form.lengths->means->y = 0; }),
            "the artifact's form has means of fields 0 and 0 of 5");
  EXPECT_EQ(why([](auto &form) { form.lengths->means->x = 4; }),
            "the artifact's form has means of fields 4 and 1 of 5");
  EXPECT_EQ(why([](auto &form) { form.lengths->means->roundings.f32 = 65; }),
            "its means have more roundings than a bound allows for");
  EXPECT_EQ(why([](auto &form) {
              form.lengths->exact.of[Quadratic::XX] = form.lengths->size.of[Quadratic::XX] = 2;
            }),
            "its means are sums with coefficients other than 1 in dimension 0");
}

TEST(BoundRatio, IsAsItIsDerived) {
  const std::vector<float> w = {1, 4, 0};
  const Captures captures(w, w, 1);
  const auto ratio = bindRatio(weightedCosine(), captures.bound, 3, ANNUDF_ORDER_MIN, nullptr);
  ASSERT_TRUE(ratio);
  using R = BoundRatio;
  const auto of = [&](R::Term term) { return std::vector(ratio->of(term), ratio->of(term) + 3); };
  EXPECT_EQ(of(R::XY), (std::vector<double>{-1, -4, -0.0}));
  EXPECT_EQ(of(R::XX), (std::vector<double>{1, 4, 0}));
  EXPECT_EQ(of(R::YY), of(R::XX));
  // Twice 3 / 2 and once 1 / 2 of 2 w + 1, and halves of what is lost.
  EXPECT_NEAR(of(R::LargestX)[0], 2 * 3 + 0.5, 1e-9);
  EXPECT_NEAR(of(R::LargestY)[1], 2 * 9 + 1, 1e-9);
  EXPECT_EQ(ratio->least, 0x1p-40);
  EXPECT_EQ(ratio->mostSquare, 0x1p59);
  // 3 dims and 2, and 2 of each term, of 2^-24: of the product, and half of each square; 4 of the
  // ratio.
  EXPECT_NEAR(ratio->error, (7 + 7 + 4) * 0x1p-24 + 4 * 0x1p-29, 0x1p-28);
  EXPECT_NEAR(ratio->most, 1 + ratio->error, 1e-12);
}

TEST(BoundRatio, SaysWhyNot) {
  const std::vector<float> w = {1, -1}, v = {1, 0};
  const auto why = [&](auto change, const std::vector<float> &weights) {
    const Captures captures(weights, v, 1);
    QuadraticForm form = weightedCosine();
    change(form);
    std::string text;
    EXPECT_FALSE(bindRatio(form, captures.bound, 2, ANNUDF_ORDER_MIN, &text));
    return text;
  };
  EXPECT_EQ(why([](auto &) {}, w),
            "the square of a length has a negative factor of x^2 in dimension 1");
  EXPECT_EQ(why([](auto &form) { form.lengths.reset(); }, v), "the accumulator has one field");
  EXPECT_EQ(why(
                [](QuadraticForm &form) {
                  Nodes nodes(form.nodes);
                  form.exact.of[Quadratic::XY] = nodes.number(1);
                },
                v),
            "the product uses a coordinate that a length leaves out in dimension 1");
  EXPECT_EQ(why(
                [](QuadraticForm &form) {
                  Nodes nodes(form.nodes);
                  form.exact.of[Quadratic::XY] = nodes.number(100);
                },
                {1, 1}),
            "the ratio may be more than 16");
  EXPECT_EQ(why(
                [](QuadraticForm &form) {
                  Nodes nodes(form.nodes);
                  form.lengths->size.of[Quadratic::YY] = nodes.number(1e7);
                },
                {1, 1}),
            "rounding may change the square of a length by more than a quarter");
  EXPECT_EQ(why([](auto &form) { form.lengths->size.of[Quadratic::YY] = 2; }, v),
            "the terms of a length cancel in dimension 1");
  EXPECT_EQ(why([](auto &form) { form.exact.of[0] = 2; }, v),
            "the artifact's form has a product with terms beside x * y in dimension 0");
  EXPECT_EQ(why([](auto &form) { form.lengths->exact.of[1] = 2; }, v),
            "the artifact's form has lengths with terms beside x^2 and y^2 in dimension 0");
  EXPECT_EQ(why([](auto &form) { form.lengths->least = 0; }, v),
            "the artifact's form bounds squares of lengths by 2^0");
  EXPECT_EQ(why([](auto &form) { form.lengths->product = 3; }, v),
            "the artifact's form has a field 3 of 3");
  EXPECT_EQ(why([](auto &form) { form.lengths->ratio.f32 = 65; }, v),
            "its ratio has more roundings than a bound allows for");
  EXPECT_EQ(why([](auto &form) { form.lengths->eta = -1; }, v),
            "the artifact's form has an underflow of -1.000000");
  EXPECT_EQ(why([](auto &) {}, {1e30f, 1}),
            "its coefficients or the rows' mean are too large for a bound");
  // The bound of one field says nothing of such a form.
  const Captures captures(v, v, 1);
  std::string text;
  EXPECT_FALSE(bindForm(weightedCosine(), captures.bound, 2, {}, ANNUDF_ORDER_MIN, &text));
  EXPECT_EQ(text, "the accumulator has several fields");
}

TEST(BoundRatio, LeavesOutWhatItSaysNothingOf) {
  const std::vector<float> w = {1, 0};
  const Captures captures(w, w, 1);
  const auto ratio = bindRatio(weightedCosine(), captures.bound, 2, ANNUDF_ORDER_MIN, nullptr);
  ASSERT_TRUE(ratio);
  const auto holds = [&](float x, float y) {
    const std::vector<float> vector = {x, y};
    EXPECT_EQ(queryPart(*ratio, vector).holds, rowPart(*ratio, vector).holds);
    return rowPart(*ratio, vector).holds;
  };
  EXPECT_TRUE(holds(1, 1));
  EXPECT_TRUE(holds(0x1.1p-20f, 0) && !holds(0x1p-21f, 0));
  EXPECT_TRUE(holds(0x1p29f, 0) && !holds(0x1p30f, 0));
  // The other has no weight, but is multiplied all the same.
  EXPECT_TRUE(holds(1, 0x1p38f) && !holds(1, 0x1p40f));
  EXPECT_FALSE(holds(0, 0) || holds(INFINITY, 0) || holds(NAN, 1) || holds(1, NAN));
  const std::vector<float> vector = {3, 4};
  EXPECT_EQ(rowPart(*ratio, vector).square, 9);
}

} // namespace
} // namespace annudf::runtime
