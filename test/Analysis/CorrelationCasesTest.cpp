//===- CorrelationCasesTest.cpp - What is said of sums less their means ---===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomMetrics.h"

#include "annudf/Analysis/Forms.h"

#include "gtest/gtest.h"

using namespace annudf;
using namespace annudf::test;

namespace {

class CorrelationCases : public RandomMetrics {};

std::string spelled(const FormProof &proof) {
  if (!proof.form)
    return "no: " + proof.why;
  const QuadraticForm::Lengths &l = *proof.form->lengths;
  if (!l.means)
    return "no means";
  const auto of = [](const Roundings &n) {
    return std::to_string(n.f32) + ", " + std::to_string(n.f64);
  };
  return formText(proof.form) + " | fields " + std::to_string(l.product) + ", " +
         std::to_string(l.means->x) + ", " + std::to_string(l.means->y) + " by " + of(l.ratio) +
         " and " + of(l.means->roundings) + " from 2^" + std::to_string(l.least);
}

/// The five sums %sx, %sy, %xx, %yy and %xy, with n as %n, less their means as %p, %q and %r.
#define ANNUDF_N                                                                                   \
  "%nd = annudf.index dims\n%ni = arith.index_cast %nd : index to i32\n%n = arith.sitofp %ni : "   \
  "i32 to f32\n"
#define ANNUDF_LESS(OF, SUM, A, B)                                                                 \
  "%m" OF " = arith.mulf " A ", " B " : f32\n%d" OF " = arith.divf %m" OF ", %n : f32\n%" OF       \
  " = arith.subf " SUM ", %d" OF " : f32\n"
#define ANNUDF_P ANNUDF_LESS("p", "%xy", "%sx", "%sy")
#define ANNUDF_Q ANNUDF_LESS("q", "%xx", "%sx", "%sx")
#define ANNUDF_R ANNUDF_LESS("r", "%yy", "%sy", "%sy")
#define ANNUDF_RATIO                                                                               \
  "%l = arith.mulf %q, %r : f32\n%s = math.sqrt %l : f32\n%t = arith.divf %p, %s : f32\n"
#define ANNUDF_ENDS "%o = arith.subf %one, %t : f32"
#define ANNUDF_USUAL ANNUDF_N ANNUDF_P ANNUDF_Q ANNUDF_R ANNUDF_RATIO ANNUDF_ENDS
#define ANNUDF_FORM(COUNT) "normalised: x y / sqrt(x^2 * y^2), less their means of " COUNT

constexpr const char *kUnknown =
    "no: 'arith.divf' is not known to rise or fall with the accumulator";
/// Where none of the sums is less its mean.
constexpr const char *kNoMeans =
    "no: 'arith.divf' is not known to rise or fall with the accumulator; if it is a correlation, "
    "write xy - x * y / n, not n * xy - x * y";
constexpr const char *kNotSums =
    "no: its fields are not the sums of x, of y, of x^2, of y^2 and of x y";

struct Case {
  const char *finalize, *expected;
  const char *x = "%a = arith.addf %sx, %x : f32", *y = "%b = arith.addf %sy, %y : f32",
             *xx = "%c = math.fma %x, %x, %xx : f32", *yy = "%d = math.fma %y, %y, %yy : f32",
             *xy = "%e = math.fma %x, %y, %xy : f32";
};

/// As the analysis says it; each was read once by a person.
const Case kCases[] = {
    {ANNUDF_USUAL,
     ANNUDF_FORM("dims") ", finalize falls | fields 4, 0, 1 by 3, 0 and 3, 0 from 2^-60"},
    // By a capture, a number, and in other orders.
    {"%n = annudf.load %w[] : !annudf.capture<f32>\n" ANNUDF_P ANNUDF_Q ANNUDF_R ANNUDF_RATIO
         ANNUDF_ENDS,
     ANNUDF_FORM("w") ", finalize falls | fields 4, 0, 1 by 3, 0 and 3, 0 from 2^-60"},
    {"%n = arith.constant 128.0 : f32\n" ANNUDF_P ANNUDF_Q ANNUDF_R ANNUDF_RATIO ANNUDF_ENDS,
     ANNUDF_FORM("128") ", finalize falls | fields 4, 0, 1 by 3, 0 and 3, 0 from 2^-60"},
    {ANNUDF_N
     "%mx = arith.divf %sx, %n : f32\n%my = arith.divf %sy, %n : f32\n"
     "%pp = arith.mulf %sy, %mx : f32\n%p = arith.subf %xy, %pp : f32\n"
     "%qq = arith.mulf %sx, %mx : f32\n%q = arith.subf %xx, %qq : f32\n"
     "%rr = arith.mulf %sy, %my : f32\n%r = arith.subf %yy, %rr : f32\n" ANNUDF_RATIO ANNUDF_ENDS,
     ANNUDF_FORM("dims") ", finalize falls | fields 4, 0, 1 by 3, 0 and 3, 0 from 2^-60"},
    {ANNUDF_N ANNUDF_P ANNUDF_Q ANNUDF_R
     "%i = arith.constant 1.0e-6 : f32\n%l = arith.mulf %q, %r : f32\n%s = math.sqrt %l : f32\n"
     "%z = arith.maximumf %s, %i : f32\n%o = arith.divf %p, %z : f32",
     ANNUDF_FORM("dims") " | fields 4, 0, 1 by 3, 0 and 3, 0 from 2^-18"},
    {ANNUDF_N "%u = arith.extf %sx : f32 to f64\n%w2 = arith.extf %sy : f32 to f64\n"
              "%n64 = arith.sitofp %ni : i32 to f64\n%f = arith.extf %xy : f32 to f64\n"
              "%g = arith.divf %w2, %n64 : f64\n%h = arith.mulf %u, %g : f64\n"
              "%j = arith.subf %f, %h : f64\n%p = arith.truncf %j : f64 to f32\n" ANNUDF_Q ANNUDF_R
                  ANNUDF_RATIO ANNUDF_ENDS,
     ANNUDF_FORM("dims") ", finalize falls | fields 4, 0, 1 by 4, 0 and 3, 3 from 2^-60"},
    {ANNUDF_N "%u = arith.extf %sx : f32 to f64\n%w2 = arith.extf %sy : f32 to f64\n"
              "%n64 = arith.extf %n : f32 to f64\n%g = arith.divf %u, %n64 : f64\n"
              "%h = arith.mulf %g, %w2 : f64\n%j = arith.truncf %h : f64 to f32\n"
              "%k = arith.subf %xy, %j : f32\n%p = arith.negf %k : f32\n"
              "%q2 = arith.mulf %u, %u : f64\n%q3 = arith.divf %q2, %n64 : f64\n"
              "%q4 = arith.truncf %q3 : f64 to f32\n%q = arith.subf %xx, %q4 : f32\n"
              "%r2 = arith.mulf %w2, %w2 : f64\n%r3 = arith.divf %r2, %n64 : f64\n"
              "%r4 = arith.truncf %r3 : f64 to f32\n%r = arith.subf %yy, %r4 : f32\n" ANNUDF_RATIO
                  ANNUDF_ENDS,
     ANNUDF_FORM("dims") ", finalize rises | fields 4, 0, 1 by 3, 0 and 2, 2 from 2^-60"},
    // What finalize does not do.
    {ANNUDF_N "%np = arith.mulf %n, %xy : f32\n%mp = arith.mulf %sx, %sy : f32\n"
              "%p = arith.subf %np, %mp : f32\n"
              "%nq = arith.mulf %n, %xx : f32\n%mq = arith.mulf %sx, %sx : f32\n"
              "%q = arith.subf %nq, %mq : f32\n"
              "%nr = arith.mulf %n, %yy : f32\n%mr = arith.mulf %sy, %sy : f32\n"
              "%r = arith.subf %nr, %mr : f32\n" ANNUDF_RATIO ANNUDF_ENDS,
     kNoMeans},
    {ANNUDF_N ANNUDF_Q ANNUDF_R ANNUDF_LESS("p", "%xy", "%sx", "%sx") ANNUDF_RATIO ANNUDF_ENDS,
     kNoMeans},
    {ANNUDF_N ANNUDF_P ANNUDF_LESS("q", "%xx", "%sx", "%sy") ANNUDF_R ANNUDF_RATIO ANNUDF_ENDS,
     kUnknown},
    {ANNUDF_N ANNUDF_P ANNUDF_Q ANNUDF_LESS("r", "%xx", "%sx", "%sx") ANNUDF_RATIO ANNUDF_ENDS,
     "no: finalize does not divide the product by both lengths"},
    {ANNUDF_N ANNUDF_P ANNUDF_Q ANNUDF_LESS("r", "%xy", "%sy", "%sy") ANNUDF_RATIO ANNUDF_ENDS,
     kUnknown},
    {ANNUDF_N ANNUDF_P ANNUDF_Q "%r = arith.addf %yy, %zero : f32\n" ANNUDF_RATIO ANNUDF_ENDS,
     kUnknown},
    {ANNUDF_N ANNUDF_Q ANNUDF_R "%l = arith.mulf %q, %r : f32\n%s = math.sqrt %l : f32\n"
                                "%t = arith.divf %xy, %s : f32\n" ANNUDF_ENDS,
     kNoMeans},
    {ANNUDF_N ANNUDF_P "%l = arith.mulf %xx, %yy : f32\n%s = math.sqrt %l : f32\n"
                       "%t = arith.divf %p, %s : f32\n" ANNUDF_ENDS,
     kUnknown},
    {ANNUDF_N "%mp = arith.mulf %sx, %sy : f32\n%dp = arith.divf %mp, %n : f32\n"
              "%p = arith.addf %xy, %dp : f32\n" ANNUDF_Q ANNUDF_R ANNUDF_RATIO ANNUDF_ENDS,
     kNoMeans},
    {ANNUDF_N "%mp = arith.mulf %sx, %sy : f32\n%p = arith.subf %xy, %mp : f32\n" ANNUDF_Q ANNUDF_R
         ANNUDF_RATIO ANNUDF_ENDS,
     kNoMeans},
    {ANNUDF_N "%mp = arith.mulf %sx, %sy : f32\n%dp = arith.divf %mp, %n : f32\n"
              "%p = arith.subf %dp, %xy : f32\n" ANNUDF_Q ANNUDF_R ANNUDF_RATIO ANNUDF_ENDS,
     kNoMeans},
    {ANNUDF_N "%dp = arith.divf %sx, %sy : f32\n%p = arith.subf %xy, %dp : f32\n" ANNUDF_Q ANNUDF_R
         ANNUDF_RATIO ANNUDF_ENDS,
     kNoMeans},
    {ANNUDF_N "%dp = arith.divf %sx, %sy : f32\n%ep = arith.divf %dp, %n : f32\n"
              "%p = arith.subf %xy, %ep : f32\n" ANNUDF_Q ANNUDF_R ANNUDF_RATIO ANNUDF_ENDS,
     kNoMeans},
    {ANNUDF_N "%nn = arith.mulf %n, %n : f32\n%mp = arith.mulf %sx, %sy : f32\n"
              "%dp = arith.divf %mp, %nn : f32\n%ep = arith.mulf %dp, %n : f32\n"
              "%p = arith.subf %xy, %ep : f32\n" ANNUDF_Q ANNUDF_R ANNUDF_RATIO ANNUDF_ENDS,
     kNoMeans},
    {ANNUDF_N ANNUDF_P "%l = arith.mulf %sx, %xx : f32\n%s = math.sqrt %l : f32\n"
                       "%t = arith.divf %p, %s : f32\n" ANNUDF_ENDS,
     kUnknown},
    {ANNUDF_N ANNUDF_P ANNUDF_Q
     "%mr = arith.mulf %sy, %sy : f32\n%dr = arith.divf %mr, %n : f32\n"
     "%r = arith.subf %yy, %dr fastmath<nnan> : f32\n" ANNUDF_RATIO ANNUDF_ENDS,
     kUnknown},
    {"%iq = annudf.index query\n%n = annudf.load %v[%iq] : !annudf.capture<query x f32>\n" ANNUDF_P
         ANNUDF_Q ANNUDF_R ANNUDF_RATIO ANNUDF_ENDS,
     kNoMeans},
    // Two that are n.
    {ANNUDF_N ANNUDF_P ANNUDF_Q "%k = annudf.load %w[] : !annudf.capture<f32>\n"
                                "%mr = arith.mulf %sy, %sy : f32\n%dr = arith.divf %mr, %k : f32\n"
                                "%r = arith.subf %yy, %dr : f32\n" ANNUDF_RATIO ANNUDF_ENDS,
     kUnknown},
    // What depends on the row, and flags.
    {"%nd = annudf.index query\n%ni = arith.index_cast %nd : index to i32\n"
     "%n = arith.sitofp %ni : i32 to f32\n" ANNUDF_P ANNUDF_Q ANNUDF_R ANNUDF_RATIO ANNUDF_ENDS,
     kNoMeans},
    {ANNUDF_N ANNUDF_P ANNUDF_Q
     "%mr = arith.mulf %sy, %sy fastmath<reassoc> : f32\n"
     "%dr = arith.divf %mr, %n : f32\n%r = arith.subf %yy, %dr : f32\n" ANNUDF_RATIO ANNUDF_ENDS,
     kUnknown},
    {"%nd = annudf.index dims\n%nb = arith.index_cast %nd : index to i8\n"
     "%n = arith.sitofp %nb : i8 to f32\n" ANNUDF_P ANNUDF_Q ANNUDF_R ANNUDF_RATIO ANNUDF_ENDS,
     kNoMeans},
    {"%nd = annudf.index dims\n%ni = arith.index_cast %nd : index to i32\n"
     "%nh = arith.sitofp %ni : i32 to f16\n%n = arith.extf %nh : f16 to f32\n" ANNUDF_P ANNUDF_Q
         ANNUDF_R ANNUDF_RATIO ANNUDF_ENDS,
     kNoMeans},
    // What update does not do.
    {.finalize = ANNUDF_USUAL, .expected = kNotSums, .x = "%a = arith.addf %sx, %y : f32"},
    {.finalize = ANNUDF_USUAL,
     .expected = kNotSums,
     .x = "%k = arith.addf %x, %x : f32\n%a = arith.addf %sx, %k : f32"},
    {.finalize = ANNUDF_USUAL,
     .expected = kNotSums,
     .x = "%k = arith.addf %x, %one : f32\n%a = arith.addf %sx, %k : f32"},
    {.finalize = ANNUDF_USUAL, .expected = kNotSums, .x = "%a = arith.subf %sx, %x : f32"},
    {.finalize = ANNUDF_USUAL,
     .expected = kNotSums,
     .xx = "%k = arith.addf %x, %x : f32\n%c = math.fma %k, %x, %xx : f32"},
    {.finalize = ANNUDF_USUAL,
     .expected = kNotSums,
     .xx = "%k = arith.addf %x, %x : f32\n%j = arith.subf %k, %x : f32\n"
           "%c = math.fma %j, %x, %xx : f32"},
    {.finalize = ANNUDF_USUAL,
     .expected = kNotSums,
     .y = "%k2 = arith.mulf %y, %one : f32\n%b = arith.addf %sy, %k2 : f32"},
    {.finalize = ANNUDF_USUAL, .expected = kNotSums, .xy = "%e = math.fma %x, %x, %xy : f32"},
    {.finalize = ANNUDF_USUAL,
     .expected = kNotSums,
     .xy = "%k = arith.negf %x : f32\n%e = math.fma %k, %y, %xy : f32"},
    {.finalize = ANNUDF_USUAL,
     .expected = "no: 'math.absf' of x and y is no polynomial",
     .x = "%k = math.absf %x : f32\n%a = arith.addf %sx, %k : f32"},
};

TEST_F(CorrelationCases, AreSaidExactly) {
  for (const Case &one : kCases) {
    const std::string text = std::string(R"(
annudf.metric @m order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<f32>
  %v = annudf.capture "v" : !annudf.capture<query x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0, %0, %0, %0, %0 : f32, f32, f32, f32, f32
  }
  annudf.update (%sx: f32, %sy: f32, %xx: f32, %yy: f32, %xy: f32, %x: f32, %y: f32) {
    %one = arith.constant 1.0 : f32
)") + one.x + "\n" + one.y + "\n" +
                             one.xx + "\n" + one.yy + "\n" + one.xy + R"(
    annudf.yield %a, %b, %c, %d, %e : f32, f32, f32, f32, f32
  }
  annudf.finalize (%sx: f32, %sy: f32, %xx: f32, %yy: f32, %xy: f32) {
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
)" + one.finalize + R"(
    annudf.yield %o : f32
  }
}
)";
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    ASSERT_TRUE(module) << text;
    EXPECT_EQ(spelled(proveForm(*module->getOps<ir::MetricOp>().begin())), one.expected)
        << one.finalize << one.x << one.xx << one.xy;
  }
}

} // namespace
