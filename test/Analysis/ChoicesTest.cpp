//===- ChoicesTest.cpp - A field that is chosen by a comparison -----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomMetrics.h"

#include "annudf/Analysis/Properties.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <string>

using namespace annudf;
using namespace annudf::test;

namespace {

class Choices : public RandomMetrics {
protected:
  /// What is claimed of the field that `choice` makes of %acc and %t.
  FieldProperties fieldOf(const std::string &choice) {
    const std::string text = R"(annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %t = arith.mulf %x, %y : f32
)" + choice + "annudf.yield %n : f32\n}\n}\n";
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module) << text;
    return inferProperties(*module->getOps<ir::MetricOp>().begin()).fields[0];
  }
};

/// Every way to choose by a comparison, on all pairs of some numbers: what is claimed holds, and
/// the eight ways that keep a NaN are claimed, the larger and the smaller.
TEST_F(Choices, ClaimWhatHolds) {
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
        const std::string text =
            "%is = arith.cmpf " + mlir::arith::stringifyCmpFPredicate(predicate).str() +
            (accFirst ? ", %acc, %t" : ", %t, %acc") + " : f32\n%n = arith.select %is, " +
            (accTrue ? "%acc, %t" : "%t, %acc") + " : f32\n";
        const Monotone claimed = fieldOf(text).monotone;
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

/// A third value, and a comparison that may take NaN for any number.
TEST_F(Choices, OfAnotherKindAreNone) {
  for (const char *choice : {
           "%is = arith.cmpf ogt, %t, %acc : f32\n%n = arith.select %is, %t, %x : f32\n",
           "%is = arith.cmpf ogt, %t, %acc fastmath<nnan> : f32\n"
           "%n = arith.select %is, %t, %acc : f32\n",
       }) {
    const FieldProperties field = fieldOf(choice);
    EXPECT_EQ(field.monotone, Monotone::Unknown);
    EXPECT_FALSE(field.joined);
    ASSERT_FALSE(field.unproved.empty());
    EXPECT_EQ(field.unproved[0].why, "'arith.select' does not join the field with a term by +, *, "
                                     "min, max, and, or, xor");
  }
}

} // namespace
