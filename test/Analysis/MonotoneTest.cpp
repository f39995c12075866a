//===- MonotoneTest.cpp - Whether a distance only gets worse --------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How field, finalize and order come together. More of what a field alone does is in
// PropertiesTest.cpp, of how finalize goes in FormsTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "ClaimValues.h"
#include "RandomMetrics.h"

#include "annudf/Analysis/Monotone.h"
#include "annudf/Analysis/Properties.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>
#include <vector>

using namespace annudf;
using namespace annudf::test;

namespace {

class MonotoneDistances : public RandomMetrics {};

struct Case {
  const char *term, *joined, *finalize, *expected;
  const char *order = "min";
};

#define ANNUDF_ABS "%t = math.absf %d : f32\n"
#define ANNUDF_SQUARE "%t = arith.mulf %d, %d : f32\n"
#define ANNUDF_SUM "%n = arith.addf %acc, %t : f32\n"
#define ANNUDF_CHOICE(OF, SIDES)                                                                   \
  "%is = arith.cmpf " OF " : f32\n%n = arith.select %is, " SIDES " : f32\n"
#define ANNUDF_WORSE "worse with each dimension"
#define ANNUDF_EXTREME ANNUDF_WORSE ", an extreme"

const Case kCases[] = {
    {ANNUDF_ABS, ANNUDF_SUM, "", ANNUDF_WORSE},
    {ANNUDF_ABS, "%n = arith.maximumf %acc, %t : f32\n", "", ANNUDF_EXTREME},
    {ANNUDF_ABS, ANNUDF_CHOICE("ogt, %t, %acc", "%t, %acc"), "", ANNUDF_EXTREME},
    {ANNUDF_ABS, ANNUDF_CHOICE("olt, %t, %acc", "%t, %acc"), "", ANNUDF_EXTREME, "max"},
    {ANNUDF_ABS, ANNUDF_CHOICE("ogt, %acc, %t", "%acc, %t"), "",
     "no: the field may be NaN and become a number again; a choice that keeps it, as max(acc, v) "
     "in Python, is monotone"},
    {ANNUDF_ABS, ANNUDF_CHOICE("ogt, %t, %acc", "%t, %x"), "",
     "no: 'arith.select' does not join the field with a term by +, *, min, max, and, or, xor"},
    {ANNUDF_ABS,
     "%is = arith.cmpf ogt, %t, %acc fastmath<nnan> : f32\n%n = arith.select %is, %t, %acc : f32\n",
     "", "no: 'arith.select' does not join the field with a term by +, *, min, max, and, or, xor"},
    {ANNUDF_ABS, ANNUDF_CHOICE("one, %t, %acc", "%t, %acc"), "",
     "no: 'arith.select' does not join the field with a term by +, *, min, max, and, or, xor"},
    {"%s = arith.mulf %d, %d : f32\n%t = arith.mulf %wi, %s : f32\n", ANNUDF_SUM, "",
     ANNUDF_WORSE " where w >= 0"},
    {ANNUDF_SQUARE, ANNUDF_SUM, "%o = math.sqrt %a : f32\n", ANNUDF_WORSE},
    {ANNUDF_SQUARE, ANNUDF_SUM, "%s = math.sqrt %a : f32\n%o = arith.subf %one, %s : f32\n",
     ANNUDF_WORSE, "max"},
    {ANNUDF_ABS, "%n = arith.subf %acc, %t : f32\n", "", ANNUDF_WORSE, "max"},
    {ANNUDF_ABS, "%n = arith.subf %acc, %t : f32\n", "%o = arith.negf %a : f32\n", ANNUDF_WORSE},
    {ANNUDF_ABS, "%n = arith.minimumf %acc, %t : f32\n", "", ANNUDF_EXTREME, "max"},
    // The wrong way, or none.
    {ANNUDF_ABS, ANNUDF_SUM, "",
     "no: the distance gets better from dimension to dimension, not worse", "max"},
    {ANNUDF_ABS, ANNUDF_SUM, "%o = arith.negf %a : f32\n",
     "no: the distance gets better from dimension to dimension, not worse"},
    {"%t = arith.mulf %x, %y : f32\n", ANNUDF_SUM, "", "no: 'arith.mulf' may give either sign",
     "max"},
    {ANNUDF_ABS, "%n = math.absf %acc : f32\n", "",
     "no: 'math.absf' does not join the field with a term by +, *, min, max, and, or, xor"},
    {ANNUDF_ABS, "%n = arith.mulf %acc, %t : f32\n", "",
     "no: 'arith.mulf' is neither a sum nor the largest or least of what the field counts"},
    {ANNUDF_ABS, ANNUDF_SUM, "%o = math.sin %a : f32\n",
     "no: 'math.sin' is not known to rise or fall with the accumulator"},
    // The field may be NaN, the worst; a number made of it would not be.
    {ANNUDF_SQUARE, ANNUDF_SUM, "%o = arith.maxnumf %a, %one : f32\n",
     "no: 'arith.maxnumf' turns NaN into a number"},
    {ANNUDF_SQUARE, ANNUDF_SUM, "%o = arith.minnumf %a, %one : f32\n",
     "no: 'arith.minnumf' turns NaN into a number"},
    {ANNUDF_SQUARE, ANNUDF_SUM, "%o = arith.maximumf %a, %one : f32\n", ANNUDF_WORSE},
    {ANNUDF_SQUARE, ANNUDF_SUM,
     "%is = arith.cmpf olt, %a, %one : f32\n%o = arith.select %is, %one, %a : f32\n", ANNUDF_WORSE},
    // A choice of two that both go with the accumulator.
    {ANNUDF_SQUARE, ANNUDF_SUM,
     "%u = arith.negf %a : f32\n%is = arith.cmpf ugt, %a, %u : f32\n"
     "%o = arith.select %is, %a, %u : f32\n",
     "no: 'arith.select' is not known to rise or fall with the accumulator"},
};

TEST_F(MonotoneDistances, AreSaidExactly) {
  for (const Case &one : kCases) {
    const std::string finalize = one.finalize;
    const std::string text =
        std::string("annudf.metric @m order(") + one.order + R"() coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %i = annudf.index dim
    %wi = annudf.load %w[%i] : !annudf.capture<dim x f32>
    %d = arith.subf %x, %y : f32
)" + one.term +
        one.joined + "annudf.yield %n : f32\n}\n" +
        (finalize.empty() ? ""
                          : "annudf.finalize (%a: f32) {\n%one = arith.constant 1.0 : f32\n" +
                                finalize + "annudf.yield %o : f32\n}\n") +
        "}\n";
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    ASSERT_TRUE(module) << text;
    const MonotoneProof proof = proveMonotone(*module->getOps<ir::MetricOp>().begin());
    EXPECT_EQ(proof.monotone ? monotoneText(proof.monotone) : "no: " + proof.why, one.expected)
        << text;
    EXPECT_EQ(proof.at == nullptr, proof.monotone.has_value());
  }
}

TEST_F(MonotoneDistances, AreOfOneField) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(R"(
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0, %0 : f32, f32
  }
  annudf.update (%a: f32, %b: f32, %x: f32, %y: f32) {
    %d = arith.subf %x, %y : f32
    %t = math.absf %d : f32
    %n = arith.addf %a, %t : f32
    annudf.yield %n, %b : f32, f32
  }
  annudf.finalize (%a: f32, %b: f32) {
    annudf.yield %a : f32
  }
}
)",
                                                        &context);
  ASSERT_TRUE(module);
  EXPECT_EQ(proveMonotone(*module->getOps<ir::MetricOp>().begin()).why,
            "its accumulator has several fields");
}

/// Every way to choose by a comparison, on all pairs of some numbers: what is claimed holds, and
/// the eight ways that keep a NaN are claimed, the larger and the smaller.
TEST_F(MonotoneDistances, OfChoices) {
  using P = mlir::arith::CmpFPredicate;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNumbers[] = {-kInfinity, -1, -0.0f,     0,
                                1,          2,  kInfinity, std::numeric_limits<float>::quiet_NaN()};
  const auto holds = [](P predicate, float a, float b) {
    // Less, greater and equal are bits; after the ordered ones come the same for NaNs too.
    const auto number = static_cast<uint64_t>(predicate);
    if (std::isnan(a) || std::isnan(b))
      return number > 7;
    const uint64_t bits = number <= 7                  ? number
                          : predicate == P::UNO        ? 0
                          : predicate == P::AlwaysTrue ? 7
                                                       : number - 7;
    return (bits & (a < b ? 4u : a > b ? 2u : 1u)) != 0;
  };
  int grow = 0, fall = 0;
  for (uint64_t number = 0; number <= mlir::arith::getMaxEnumValForCmpFPredicate(); ++number)
    for (const bool accFirst : {false, true})
      for (const bool accTrue : {false, true}) {
        const auto predicate = static_cast<P>(number);
        const std::string text = R"(annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %t = arith.mulf %x, %y : f32
    %is = arith.cmpf )" + mlir::arith::stringifyCmpFPredicate(predicate).str() +
                                 (accFirst ? ", %acc, %t" : ", %t, %acc") +
                                 " : f32\n%n = arith.select %is, " +
                                 (accTrue ? "%acc, %t" : "%t, %acc") +
                                 " : f32\nannudf.yield %n : f32\n}\n}\n";
        auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
        ASSERT_TRUE(module) << text;
        const Monotone claimed =
            inferProperties(*module->getOps<ir::MetricOp>().begin()).fields[0].monotone;
        grow += claimed == Monotone::Grows, fall += claimed == Monotone::Falls;
        for (float acc : kNumbers)
          for (float t : kNumbers) {
            const bool is = accFirst ? holds(predicate, acc, t) : holds(predicate, t, acc);
            const float next = is == accTrue ? acc : t;
            const bool isLast = std::isnan(next);
            if (claimed != Monotone::Unknown)
              EXPECT_TRUE(isLast || (!std::isnan(acc) &&
                                     (claimed == Monotone::Grows ? next >= acc : next <= acc)))
                  << acc << " and " << t << " give " << next << "\n"
                  << text;
          }
      }
  EXPECT_EQ(grow, 8);
  EXPECT_EQ(fall, 8);
}

/// A finalize, and what it computes.
struct Finalize {
  const char *text; ///< "": there is none.
  float (*of)(float);
};
constexpr Finalize kFinalizes[] = {
    {"", [](float a) { return a; }},
    {"%o = math.sqrt %a : f32\n", [](float a) { return std::sqrt(a); }},
    {"%o = arith.negf %a : f32\n", [](float a) { return -a; }},
    {"%o = arith.subf %c, %a : f32\n", [](float a) { return 2 - a; }},
    {"%v = arith.subf %c, %a : f32\n%o = math.sqrt %v : f32\n",
     [](float a) { return std::sqrt(2 - a); }},
    {"%o = arith.maximumf %a, %c : f32\n",
     [](float a) { return std::isnan(a) ? a : std::max(a, 2.0f); }},
    {"%o = arith.maxnumf %a, %c : f32\n", [](float a) { return std::fmax(a, 2.0f); }},
    {"%v = arith.maxnumf %a, %c : f32\n%o = arith.negf %v : f32\n",
     [](float a) { return -std::fmax(a, 2.0f); }},
    {"%v = math.sqrt %a : f32\n%o = arith.minnumf %v, %c : f32\n",
     [](float a) { return std::fmin(std::sqrt(a), 2.0f); }},
    {"%o = arith.divf %c, %a : f32\n", [](float a) { return 2 / a; }},
    {"%o = arith.mulf %a, %a : f32\n", [](float a) { return a * a; }},
};

class RandomDistances : public RandomMetrics {
protected:
  struct Choice {
    const Finalize &finalize;
    bool isMax;
  };
  static Choice choiceOf(uint32_t seed) {
    std::mt19937 random(seed);
    const bool isMax = random() % 2;
    return {kFinalizes[random() % std::size(kFinalizes)], isMax};
  }
  static std::string change(std::string text, uint32_t seed) {
    const Choice choice = choiceOf(seed);
    if (choice.isMax)
      text.replace(text.find("order(min)"), 10, "order(max)");
    const std::string body = choice.finalize.text;
    if (!body.empty())
      text.insert(text.rfind('}'), "annudf.finalize (%a: f32) {\n%c = arith.constant 2.0 : f32\n" +
                                       body + "annudf.yield %o : f32\n}\n");
    return text;
  }

  /// Rows of some dims: no distance on the way is worse than that of the whole.
  void check(const MonotoneDistance &monotone, RandomFormula &formula, uint32_t seed) {
    const Choice choice = choiceOf(seed);
    constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
    RandomValues values(seed);
    for (int row = 0; row < 12; ++row) {
      std::vector<float> onTheWay;
      float acc = formula.beginsAsNan() ? kNaN : 0;
      for (int dim = 0; dim < 6; ++dim) {
        const Inputs in = values.inputs();
        if (!holds(monotone.where, in))
          continue;
        formula.compute(in, row % 2);
        acc = formula.update(acc, row % 2);
        const float distance = choice.finalize.of(acc);
        for (float before : onTheWay) {
          ++checked;
          EXPECT_TRUE(std::isnan(before) || std::isnan(distance) ||
                      (choice.isMax ? distance <= before : distance >= before))
              << before << " becomes " << distance << " at " << in.x << ", " << in.y
              << ", finalize " << choice.finalize.text;
        }
        onTheWay.push_back(distance);
      }
    }
  }

  int64_t made = 0, conditional = 0, checked = 0;
};

TEST_F(RandomDistances, NeverGetBetterWhereItIsClaimed) {
  forEach(
      countOr(20000),
      [&](ir::MetricOp metric, RandomFormula &formula, uint32_t seed) {
        const MonotoneProof proof = proveMonotone(metric);
        if (!proof.monotone)
          return;
        ++made, conditional += !proof.monotone->where.empty();
        check(*proof.monotone, formula, seed);
      },
      change);
  std::printf("monotone distances: %lld, %lld with conditions, %lld comparisons\n",
              static_cast<long long>(made), static_cast<long long>(conditional),
              static_cast<long long>(checked));
  EXPECT_GT(conditional, 5);
  EXPECT_GT(checked, 1000);
}

} // namespace
