//===- BoundFormTest.cpp - Bounds of what hooks compute hold --------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random updates and their forms, made by the rules of docs/spec/numerics.md with code of its own,
// are computed in float as hooks compute them and compared with the bound in 113 bits. 1,000 of
// them; ANNUDF_BOUNDS=100000 for a long run.
//
//===----------------------------------------------------------------------===//

#include "FormTesting.h"

#include "annudf/runtime/engine/BoundForm.h"
#include "gtest/gtest.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>
#include <random>

namespace annudf::runtime {
namespace {

using namespace test;

/// The bound in 113 bits, from the numbers that a scan gets.
struct Wide {
  Quad value, error, largest;
  Wide(const BoundForm &f, const std::vector<float> &x, const std::vector<float> &y)
      : value(f.constant), error(f.error), largest(f.largest) {
    using F = BoundForm;
    for (size_t d = 0; d < x.size(); ++d) {
      const auto of = [&](F::Term term) { return Quad(f.of(term)[d]); };
      const Quad X = Quad(x[d]) - of(F::Shift), Y = Quad(y[d]) - of(F::Shift);
      value +=
          of(F::X1) * X + of(F::X2) * X * X + of(F::XY) * X * Y + of(F::Y1) * Y + of(F::Y2) * Y * Y;
      error += of(F::ErrorX1) * absolute(X) + of(F::ErrorX2) * X * X +
               of(F::ErrorY1) * absolute(Y) + of(F::ErrorY2) * Y * Y;
      largest += of(F::LargestX1) * absolute(X) + of(F::LargestX2) * X * X +
                 of(F::LargestY1) * absolute(Y) + of(F::LargestY2) * Y * Y;
      cross += of(F::XY) * X * Y;
    }
  }
  Quad cross = 0;
};

std::optional<int> askedFor() {
  const char *asked = std::getenv("ANNUDF_BOUNDS");
  return asked ? std::optional(int(std::strtol(asked, nullptr, 10))) : std::nullopt;
}

TEST(BoundForm, HoldsForRandomFormulas) {
  const std::optional<int> asked = askedFor();
  const int formulas = asked.value_or(1000);
  int bound = 0, checked = 0, pairs = 0, tight = 0;
  for (int f = 0; f < formulas; ++f) {
    std::mt19937 random(uint32_t(f) + 7);
    const Formula formula(uint32_t(f) + 1);
    constexpr std::array<size_t, 6> sizes = {1, 2, 3, 16, 33, 128};
    const size_t dims = sizes[random() % sizes.size()];
    const Captures captures(vectorOf(random, dims, random() % 10),
                            vectorOf(random, dims, random() % 10),
                            vectorOf(random, 1, random() % 10)[0]);
    const unsigned kind = random() % 10;
    const std::vector<float> shift =
        random() % 3 ? vectorOf(random, dims, random() % 2 ? kind : random() % 10)
                     : std::vector<float>();
    const annudf_order order = random() % 2 ? ANNUDF_ORDER_MIN : ANNUDF_ORDER_MAX;
    const std::optional<BoundForm> form =
        bindForm(formula.form, captures.bound, int32_t(dims), shift, order, nullptr);
    if (!form)
      continue; // Divided by 0.
    ++bound;
    for (int pair = 0; pair < 6; ++pair, ++pairs) {
      const std::vector<float> x = vectorOf(random, dims, pair == 5 ? 9 : kind);
      const std::vector<float> y = pair == 4 ? x : vectorOf(random, dims, kind);
      const Wide wide(*form, x, y);
      const BoundPart query = queryPart(*form, x), row = rowPart(*form, y);
      const double cross = double(wide.cross);
      const double least = lowerBound(*form, query, row, cross, std::abs(cross) * 0x1p-50);
      if (wide.largest > Quad(form->limit) * (1 + Quad(0x1p-30))) {
        ASSERT_EQ(least, -std::numeric_limits<double>::infinity()) << f;
        continue;
      }
      ++checked;
      const float computed = formula.computed(captures, x, y);
      ASSERT_TRUE(std::isfinite(computed)) << f;
      const Quad off = absolute(Quad(form->sign) * computed - wide.value);
      ASSERT_LE(off, wide.error) << "formula " << f << ", pair " << pair << ": " << double(off)
                                 << " of " << double(wide.error);
      ASSERT_LE(absolute(Quad(form->sign) * formula.real(captures, x, y) - wide.value), wide.error)
          << f;
      ASSERT_LE(least, form->sign * double(computed)) << f;
      tight += off * 100 > wide.error;
    }
  }
  EXPECT_GT(bound, formulas / 2);
  EXPECT_GT(checked, pairs / 2);
  EXPECT_GT(tight, checked / 20);
  RecordProperty("checked", checked);
  if (asked)
    std::printf("%d of %d formulas bound, %d of %d pairs checked, %d within 100 of the bound\n",
                bound, formulas, checked, pairs, tight);
}

/// What hooks lose hides what coefficients and sums in double do; alone it is seen.
TEST(BoundForm, HoldsForRealNumbersWithWhatDoublesLoseAlone) {
  const std::optional<int> asked = askedFor();
  int checked = 0, inexact = 0;
  for (int f = 0; f < asked.value_or(3000); ++f) {
    std::mt19937 random(uint32_t(f) + 7);
    const Formula formula(uint32_t(f) + 1);
    QuadraticForm lossless = formula.form;
    lossless.size = lossless.small = {};
    lossless.initial = 0;
    const size_t dims = 1 + random() % 3;
    const auto any = [&](size_t count) { return vectorOf(random, count, random() % 7); };
    const Captures captures(any(dims), any(dims), any(1)[0]);
    const std::vector<float> shift = any(dims);
    const std::optional<BoundForm> form =
        bindForm(lossless, captures.bound, int32_t(dims), shift, ANNUDF_ORDER_MIN, nullptr);
    if (!form)
      continue;
    for (int pair = 0; pair < 4; ++pair) {
      const std::vector<float> x = any(dims), y = any(dims);
      const Wide wide(*form, x, y);
      const Quad real = formula.real(captures, x, y) - Quad(formula.form.initial);
      const Quad slack = wide.largest * 0x1p-100; // In 113 bits.
      ASSERT_LE(absolute(real - wide.value), wide.error + slack) << f;
      const auto cross = double(wide.cross);
      const double least = lowerBound(*form, queryPart(*form, x), rowPart(*form, y), cross,
                                      double(absolute(wide.cross - cross)));
      ASSERT_LE(Quad(least), real + slack) << f;
      ++checked;
      inexact += wide.error > 0;
    }
  }
  EXPECT_GT(inexact, checked / 4);
}

std::vector<double> termOf(const BoundForm &form, BoundForm::Term term) {
  return {form.of(term), form.of(term) + form.dims};
}

TEST(BoundForm, ATranslationLeavesAFunctionOfTheDifferenceAsItIs) {
  const Captures captures({0.1f, -3, 1e-20f}, {1, 1, 1}, 1);
  const std::vector<float> shift = {10000.1f, -3e7f, 1e-3f};
  const std::optional<BoundForm> form =
      bindForm(weightedL2(), captures.bound, 3, shift, ANNUDF_ORDER_MIN, nullptr);
  ASSERT_TRUE(form);
  using F = BoundForm;
  const std::vector<double> w = {double(0.1f), -3, double(1e-20f)}, zero = {0, 0, 0};
  EXPECT_EQ(form->constant, 0);
  EXPECT_EQ(form->sign, 1);
  EXPECT_EQ(termOf(*form, F::X1), zero);
  EXPECT_EQ(termOf(*form, F::Y1), zero);
  EXPECT_EQ(termOf(*form, F::X2), w);
  EXPECT_EQ(termOf(*form, F::Y2), w);
  EXPECT_EQ(termOf(*form, F::XY), (std::vector<double>{-2 * w[0], 6, -2 * w[2]}));
  // E - 1 of 3 roundings, 3 dims and 2 more, times 2 |w|.
  for (size_t d = 0; d < 3; ++d)
    EXPECT_NEAR(form->of(F::ErrorX2)[d] / (2 * std::abs(w[d])), 8 * 0x1p-24, 1e-12);
  EXPECT_EQ(termOf(*form, F::ErrorX2), termOf(*form, F::ErrorY2));
}

TEST(BoundForm, ALowerBoundIsOfWhatIsBetterWhenItIsSmaller) {
  const Captures captures({1}, {1}, 1);
  const auto of = [&](annudf_order order, QuadraticForm::Finalize finalize) {
    QuadraticForm form = innerProduct();
    form.finalize = finalize, form.initial = 0.5;
    const std::optional<BoundForm> bound =
        bindForm(form, captures.bound, 1, std::vector<float>{2}, order, nullptr);
    return std::array{bound->sign, bound->constant, bound->of(BoundForm::X1)[0],
                      bound->of(BoundForm::XY)[0], bound->of(BoundForm::Y1)[0]};
  };
  using enum QuadraticForm::Finalize;
  const std::array<double, 5> up = {1, 4.5, 2, 1, 2}, down = {-1, -4.5, -2, -1, -2};
  EXPECT_EQ(of(ANNUDF_ORDER_MIN, Identity), up);
  EXPECT_EQ(of(ANNUDF_ORDER_MAX, Identity), down);
  EXPECT_EQ(of(ANNUDF_ORDER_MIN, Rises), up);
  EXPECT_EQ(of(ANNUDF_ORDER_MIN, Falls), down);
  EXPECT_EQ(of(ANNUDF_ORDER_MAX, Falls), up);
}

TEST(BoundForm, ErrorsOfCoordinatesBecomeThoseOfShiftedOnes) {
  const Captures captures({1}, {1}, 1);
  QuadraticForm form = innerProduct();
  Nodes nodes(form.nodes);
  form.size.of[Quadratic::X] = nodes.number(8);
  const std::optional<BoundForm> bound =
      bindForm(form, captures.bound, 1, std::vector<float>{-2}, ANNUDF_ORDER_MIN, nullptr);
  using F = BoundForm;
  // E - 1 times |x| |y| + 8 |x| <= x² / 2 + y² / 2 + 8 |x|, where |x| <= |X| + 2.
  const double lost = bound->of(F::ErrorX2)[0] * 2;
  EXPECT_NEAR(lost, 4 * 0x1p-24, 1e-12);
  EXPECT_NEAR(bound->of(F::ErrorX1)[0], lost * 10, 1e-12);
  EXPECT_NEAR(bound->of(F::ErrorY2)[0], lost / 2, 1e-12);
  EXPECT_NEAR(bound->of(F::ErrorY1)[0], lost * 2, 1e-12);
  EXPECT_NEAR(bound->error, lost * (16 + 2 + 2), 1e-12);
  EXPECT_NEAR(bound->of(F::LargestX1)[0], 2, 1e-12);
  EXPECT_EQ(bound->of(F::LargestX2)[0], std::nextafter(0.5, 1));
  EXPECT_NEAR(bound->largest, 4, 1e-12);
}

TEST(BoundForm, IsTightForUsualData) {
  std::mt19937 random(3);
  constexpr size_t kDims = 128;
  const auto normal = [&](float offset) {
    std::vector<float> v = vectorOf(random, kDims, 0);
    for (float &value : v)
      value += offset;
    return v;
  };
  std::vector<float> w = normal(0);
  for (float &value : w)
    value = std::abs(value);
  const Captures captures(w, w, 1);
  for (const float offset : {0.0f, 1e4f}) {
    const std::vector<float> shift(kDims, offset), x = normal(offset), y = normal(offset);
    const std::optional<BoundForm> form =
        bindForm(weightedL2(), captures.bound, kDims, shift, ANNUDF_ORDER_MIN, nullptr);
    const Wide wide(*form, x, y);
    EXPECT_GT(double(wide.value), 100);
    EXPECT_LT(double(wide.error / wide.value), 2.5e-5) << offset; // 133 roundings and twice X² + Y²
    const double cross = double(wide.cross);
    EXPECT_GT(lowerBound(*form, queryPart(*form, x), rowPart(*form, y), cross, 0),
              double(wide.value) * (1 - 3e-5));
  }
}

TEST(BoundForm, SaysWhyThereIsNone) {
  const float inf = std::numeric_limits<float>::infinity();
  const Captures captures({1, 2}, {0, 3}, 1);
  const auto whyNot = [&](const QuadraticForm &form, const Captures &with,
                          std::vector<float> shift = {}) {
    std::string why = "bound";
    const bool bound = bindForm(form, with.bound, 2, shift, ANNUDF_ORDER_MIN, &why).has_value();
    EXPECT_EQ(bound, why == "bound");
    EXPECT_EQ(bindForm(form, with.bound, 2, shift, ANNUDF_ORDER_MIN, nullptr).has_value(),
              why == "bound");
    return why;
  };
  const QuadraticForm l2 = weightedL2();
  EXPECT_EQ(whyNot(l2, captures), "bound");
  EXPECT_EQ(whyNot(l2, captures, {1, inf}), "the shift is not finite in dimension 1");
  EXPECT_EQ(whyNot(l2, captures, {1}), "the shift has 1 dims, not 2");
  EXPECT_EQ(whyNot(l2, Captures({1, inf}, {0, 3}, 1)), "an entry of capture 'w' is not finite");
  std::string why;
  EXPECT_FALSE(bindForm(l2, captures.bound, 0, {}, ANNUDF_ORDER_MIN, &why));
  EXPECT_EQ(why, "dims is 0; it must be above 0");
  EXPECT_FALSE(bindForm(l2, captures.bound, 3, {}, ANNUDF_ORDER_MIN, &why));
  EXPECT_EQ(why, "it reads entry 2 of capture 'w', which has 2");
  EXPECT_FALSE(bindForm(innerProduct(), captures.bound, 1 << 24, {}, ANNUDF_ORDER_MIN, &why));
  EXPECT_EQ(why, "rounding over 16777216 dims may be as large as the distance");
  // Each term that a dimension adds is rounded once more.
  QuadraticForm terms = innerProduct();
  terms.accumulations = 4096;
  EXPECT_TRUE(bindForm(terms, captures.bound, 2040, {}, ANNUDF_ORDER_MIN, &why));
  EXPECT_FALSE(bindForm(terms, captures.bound, 2049, {}, ANNUDF_ORDER_MIN, &why));
  EXPECT_EQ(why, "rounding over 2049 dims may be as large as the distance");

  const auto changed = [&](const auto &change) {
    QuadraticForm form = l2;
    change(form);
    return whyNot(form, captures);
  };
  const auto entry = [&](const char *capture, std::vector<EntryIndex> indices) {
    return changed([&](QuadraticForm &form) {
      form.nodes[1].capture = capture, form.nodes[1].indices = std::move(indices);
    });
  };
  EXPECT_EQ(entry("w", {{EntryIndex::Kind::Query}}), "capture 'w' has one entry a query");
  EXPECT_EQ(entry("w", {{EntryIndex::Kind::Number, 1}}), "bound");
  EXPECT_EQ(entry("w", {{EntryIndex::Kind::Number, 2}}),
            "it reads entry 2 of capture 'w', which has 2");
  EXPECT_EQ(entry("w", {{EntryIndex::Kind::Number, -1}}),
            "it reads entry -1 of capture 'w', which has 2");
  EXPECT_EQ(entry("w", {}), "it reads capture 'w' with 0 indices, it has 1 extents");
  EXPECT_EQ(entry("s", {}), "bound");
  EXPECT_EQ(entry("q", {}), "it reads capture 'q', which the metric does not have");
  EXPECT_EQ(changed([](QuadraticForm &form) { form.nodes[2].a = 2; }),
            "node 2 of the artifact's form refers to a later node");
  EXPECT_EQ(changed([](QuadraticForm &form) { form.nodes[4].b = 4; }),
            "node 4 of the artifact's form refers to a later node");
  EXPECT_EQ(changed([](QuadraticForm &form) { form.nodes[2].kind = static_cast<Node::Kind>(99); }),
            "node 2 of the artifact's form has a kind that this annudf does not know");
  EXPECT_EQ(changed([](QuadraticForm &form) { form.largest.of[3] = 77; }),
            "the artifact's form has no node 77");
  EXPECT_EQ(changed([](QuadraticForm &form) { form.size.of[0] = 4; }),
            "the artifact's form has a size below 0 in dimension 0");
  EXPECT_EQ(changed([](QuadraticForm &form) { form.small.of[4] = 1; }),
            "the artifact's form has a small with terms beside |x - y| in dimension 0");
  EXPECT_EQ(changed([](QuadraticForm &form) { form.eta = -1; }),
            "the artifact's form has an underflow of -1.000000");
  EXPECT_EQ(changed([](QuadraticForm &form) { form.initial = std::nan(""); }),
            "initial is not a finite number");
  // w / v, where v is 0 in dimension 0.
  EXPECT_EQ(changed([](QuadraticForm &form) {
              Nodes nodes(form.nodes);
              form.exact.of[0] = nodes.quotient(1, nodes.entry("v", {kDim}));
            }),
            "a coefficient is not finite in dimension 0");
  EXPECT_EQ(changed([](QuadraticForm &form) {
              form.nodes[3].number = 1e308, form.nodes[1].kind = Node::Kind::Number,
              form.nodes[1].number = 1e10;
            }),
            "a coefficient is not finite in dimension 0");
}

/// Every element that a capture may have is read.
TEST(BoundForm, ReadsCapturesOfEveryElement) {
#define ANNUDF_X(NAME, VALUE, SPELLING, BITS, KIND, SINCE) ANNUDF_CAPTURE_##NAME,
  for (const annudf_capture_element element : {ANNUDF_CAPTURE_ELEMENTS(ANNUDF_X)}) {
#undef ANNUDF_X
    Manifest manifest;
    manifest.name = "m";
    manifest.captures = {{"w", element, {{ANNUDF_EXTENT_CONSTANT, 2}, {ANNUDF_EXTENT_DIM, 0}}}};
    const std::array<uint8_t, 6> values = {0, 0, 0, 1, 0, 1};
    const BoundCaptures captures =
        BoundCaptures::bindViews(manifest, 3, {{"w", given("u8", {2, 3}, values.data(), 6)}});
    QuadraticForm form = weightedL2();
    form.nodes[1].indices = {{EntryIndex::Kind::Number, 1}, kDim};
    std::string why;
    const std::optional<BoundForm> bound = bindForm(form, captures, 3, {}, ANNUDF_ORDER_MIN, &why);
    ASSERT_TRUE(bound) << toString(element) << why;
    EXPECT_EQ(termOf(*bound, BoundForm::X2), (std::vector<double>{1, 0, 1})) << toString(element);
  }
}

/// What a double cannot hold of a capture, or of a product of captures, counts as an error.
TEST(BoundForm, CoefficientsMayBeRounded) {
  Manifest manifest;
  manifest.name = "m";
  manifest.captures = {{"w", ANNUDF_CAPTURE_I64, {}}};
  const int64_t large = (int64_t(1) << 53) + 1;
  const BoundCaptures captures =
      BoundCaptures::bindViews(manifest, 1, {{"w", given("i64", {}, &large, 1)}});
  QuadraticForm form;
  Nodes nodes(form.nodes);
  form.exact.of[Quadratic::X] = nodes.entry("w", {});
  const std::optional<BoundForm> one = bindForm(form, captures, 1, {}, ANNUDF_ORDER_MIN, nullptr);
  EXPECT_EQ(one->of(BoundForm::X1)[0], 0x1p53);
  EXPECT_EQ(one->of(BoundForm::ErrorX1)[0], 1);
  form.exact.of[Quadratic::XY] = nodes.quotient(nodes.number(1), nodes.number(3));
  const std::optional<BoundForm> two = bindForm(form, captures, 1, {}, ANNUDF_ORDER_MIN, nullptr);
  const Quad third = Quad(1) / 3, off = absolute(third - two->of(BoundForm::XY)[0]);
  EXPECT_GE(Quad(two->of(BoundForm::ErrorX2)[0]), off / 2);
  EXPECT_LE(Quad(two->of(BoundForm::ErrorX2)[0]), off);
  form.exact.of[Quadratic::XY] = nodes.quotient(nodes.number(1), form.exact.of[Quadratic::X]);
  const std::optional<BoundForm> by = bindForm(form, captures, 1, {}, ANNUDF_ORDER_MIN, nullptr);
  EXPECT_EQ(by->of(BoundForm::XY)[0], 0x1p-53);
  EXPECT_NEAR(by->of(BoundForm::ErrorX2)[0], 0x1p-107, 0x1p-150);
  // A product and a quotient that are no doubles.
  form.exact = {};
  form.exact.of[Quadratic::X] = nodes.product(nodes.number(3e-170), nodes.number(3e-170));
  form.exact.of[Quadratic::Y] = nodes.quotient(nodes.number(3e-170), nodes.number(3e170));
  const std::optional<BoundForm> tiny = bindForm(form, captures, 1, {}, ANNUDF_ORDER_MIN, nullptr);
  EXPECT_EQ(tiny->of(BoundForm::X1)[0], 0);
  EXPECT_GT(tiny->of(BoundForm::ErrorX1)[0], 0);
  EXPECT_GT(tiny->of(BoundForm::ErrorY1)[0], 0);
}

} // namespace
} // namespace annudf::runtime
