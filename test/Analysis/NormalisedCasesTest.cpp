//===- NormalisedCasesTest.cpp - What is said of normalised forms ---------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomMetrics.h"

#include "annudf/Analysis/Forms.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace annudf;
using namespace annudf::test;

namespace {

class NormalisedCases : public RandomMetrics {};

/// What a form says of finalize, or all of it; or why there is none.
std::string spelled(const FormProof &proof, bool isWhole) {
  if (!proof.form)
    return "no: " + proof.why;
  const QuadraticForm &f = *proof.form;
  const auto of = [](const Roundings &roundings, uint32_t accumulations, double eta) {
    return " | f32 " + std::to_string(roundings.f32) + ", f64 " + std::to_string(roundings.f64) +
           ", adds " + std::to_string(accumulations) + ", eta " +
           std::to_string(eta == 0 ? 0 : std::ilogb(eta));
  };
  std::string ends = formText(f) + " | field " + std::to_string(f.lengths->product) + " by " +
                     std::to_string(f.lengths->ratio.f32) + ", " +
                     std::to_string(f.lengths->ratio.f64) + " from 2^" +
                     std::to_string(f.lengths->least);
  if (!isWhole)
    return ends;
  std::string text = ends;
  for (const Quadratic *one : {&f.size, &f.small, &f.largest})
    text += " | " + polynomialText(f.nodes, *one);
  text += of(f.roundings, f.accumulations, f.eta);
  for (const Quadratic *one : {&f.lengths->exact, &f.lengths->size, &f.lengths->small})
    text += " | " + polynomialText(f.nodes, *one);
  return text + of(f.lengths->roundings, f.lengths->accumulations, f.lengths->eta);
}

struct Case {
  const char *finalize, *expected;
  const char *xy = "%a = math.fma %x, %y, %p : f32", *xx = "%b = math.fma %x, %x, %q : f32",
             *yy = "%c = math.fma %y, %y, %r : f32";
  const char *init = "%0, %0, %0", *more = "", *attributes = "";
  bool isWhole = false;
};

#define ANNUDF_ROOTS                                                                               \
  "%m = math.sqrt %q : f32\n%n = math.sqrt %r : f32\n%d = arith.mulf %m, %n : f32\n"

/// As the analysis says it; each was read once by a person.
const Case kCases[] = {
    {.finalize =
         ANNUDF_ROOTS "%t = arith.divf %p, %d : f32\n%u = arith.subf %one, %t : f32\n%is = "
                      "arith.cmpf olt, %u, %small : f32\n%o = arith.select %is, %zero, %u : f32",
     .expected = "no: 'arith.select' is not known to rise or fall with the accumulator"},
    {.finalize =
         ANNUDF_ROOTS "%t = arith.divf %p, %d : f32\n%u = arith.subf %one, %t : f32\n%is = "
                      "arith.cmpf ogt, %small, %u : f32\n%o = arith.select %is, %zero, %u : f32",
     .expected = "no: 'arith.select' is not known to rise or fall with the accumulator"},
    {.finalize = ANNUDF_ROOTS "%t = arith.divf %p, %d : f32\n%u = arith.subf %one, %t : f32\n%is = "
                              "arith.cmpf ogt, %zero, %u : f32\n%v = arith.select %is, %zero, %u : "
                              "f32\n%s = math.sqrt %v : f32\n%o = arith.maxnumf %s, %zero : f32",
     .expected = "normalised: x y / sqrt(x^2 * y^2), finalize falls | field 0 by 4, 0 from 2^-60"},
    {.finalize = ANNUDF_ROOTS "%t = arith.divf %p, %d : f32\n%u = arith.subf %one, %t : f32\n%is = "
                              "arith.cmpf olt, %zero, %u : f32\n%v = arith.select %is, %zero, %u : "
                              "f32\n%s = math.sqrt %v : f32\n%o = arith.maxnumf %s, %zero : f32",
     .expected = "no: 'arith.maxnumf' is not known to rise or fall with the accumulator"},
    {.finalize = ANNUDF_ROOTS
     "%t = arith.divf %p, %d : f32\n%is = arith.cmpf une, %m, %zero : f32\n%k = arith.cmpf oeq, "
     "%n, %zero : f32\n%j = arith.andi %is, %k : i1\n%o = arith.select %j, %one, %t : f32",
     .expected = "normalised: x y / sqrt(x^2 * y^2) | field 0 by 4, 0 from 2^-60"},
    {.finalize = ANNUDF_ROOTS
     "%t = arith.divf %p, %d : f32\n%is = arith.cmpf une, %m, %zero : f32\n%k = arith.cmpf oeq, "
     "%n, %zero : f32\n%j = arith.ori %is, %k : i1\n%o = arith.select %j, %t, %one : f32",
     .expected = "normalised: x y / sqrt(x^2 * y^2) | field 0 by 4, 0 from 2^-60"},
    {.finalize = ANNUDF_ROOTS "%t = arith.divf %p, %d : f32\n%is = arith.cmpf olt, %zero, %m : "
                              "f32\n%o = arith.select %is, %t, %one : f32",
     .expected = "normalised: x y / sqrt(x^2 * y^2) | field 0 by 4, 0 from 2^-60"},
    {.finalize =
         ANNUDF_ROOTS "%t = arith.divf %p, %d : f32\n%u = arith.divf %q, %n : f32\n%is = "
                      "arith.cmpf ogt, %u, %small : f32\n%o = arith.select %is, %t, %one : f32",
     .expected = "no: 'arith.select' is not known to rise or fall with the accumulator"},
    {.finalize = ANNUDF_ROOTS "%o = arith.divf %p, %d : f32",
     .expected = "normalised: x y / sqrt(x^2 * w[dim] y^2) | field 0 by 4, 0 from 2^-60 | x y | 1 "
                 "| 2 x^2 + 2 x y + 2 |w[dim]| y^2 + x + (1 + |w[dim]| + 1.401298464324817e-45) y "
                 "+ (|w[dim]| + 3.5032461608120427e-45) | f32 0, f64 0, adds 1, eta -150 | x^2 + "
                 "w[dim] y^2 | x^2 + |w[dim]| y^2 | y + 2 | f32 2, f64 0, adds 1, eta -150",
     .yy = "%s = arith.mulf %wi, %y : f32\n%u = arith.mulf %s, %y : f32\n%c = arith.addf %r, %u : "
           "f32",
     .isWhole = true},
    {.finalize = ANNUDF_ROOTS "%o = arith.divf %p, %d : f32",
     .expected = "normalised: x y / sqrt(x^2 * y^2) | field 0 by 4, 0 from 2^-60"},
    {.finalize = ANNUDF_ROOTS "%t = arith.divf %p, %d : f32\n%o = arith.subf %one, %t : f32",
     .expected = "normalised: x y / sqrt(x^2 * y^2), finalize falls | field 0 by 4, 0 from 2^-60"},
    {.finalize = ANNUDF_ROOTS "%t = arith.negf %p : f32\n%o = arith.divf %t, %d : f32",
     .expected = "normalised: x y / sqrt(x^2 * y^2), finalize falls | field 0 by 4, 0 from 2^-60"},
    {.finalize = "%m = math.rsqrt %q : f32\n%n = math.rsqrt %r : f32\n%d = arith.mulf %m, %p : "
                 "f32\n%o = arith.mulf %d, %n : f32",
     .expected = "normalised: x y / sqrt(x^2 * y^2) | field 0 by 6, 0 from 2^-60"},
    {.finalize = "%m = arith.extf %q : f32 to f64\n%n = arith.extf %r : f32 to f64\n%k = "
                 "arith.mulf %m, %n : f64\n%d = math.sqrt %k : f64\n%e = arith.extf %p : f32 to "
                 "f64\n%t = arith.divf %e, %d : f64\n%o = arith.truncf %t : f64 to f32",
     .expected = "normalised: x y / sqrt(x^2 * y^2) | field 0 by 1, 3 from 2^-60"},
    {.finalize = ANNUDF_ROOTS "%t = arith.divf %p, %d : f32\n%is = arith.cmpf oeq, %d, %zero : "
                              "f32\n%o = arith.select %is, %one, %t : f32",
     .expected = "normalised: x y / sqrt(x^2 * y^2) | field 0 by 4, 0 from 2^-60"},
    {.finalize = ANNUDF_ROOTS "%t = arith.divf %p, %d : f32\n%is = arith.cmpf ole, %d, %small : "
                              "f32\n%o = arith.select %is, %one, %t : f32",
     .expected = "normalised: x y / sqrt(x^2 * y^2) | field 0 by 4, 0 from 2^-4"},
    {.finalize = ANNUDF_ROOTS "%t = arith.divf %p, %d : f32\n%is = arith.cmpf ugt, %small, %q : "
                              "f32\n%o = arith.select %is, %one, %t : f32",
     .expected = "normalised: x y / sqrt(x^2 * y^2) | field 0 by 4, 0 from 2^-4"},
    {.finalize = ANNUDF_ROOTS "%t = arith.divf %p, %d : f32\n%is = arith.cmpf ole, %d, %one : "
                              "f32\n%o = arith.select %is, %one, %t : f32",
     .expected = "no: 'arith.select' is not known to rise or fall with the accumulator"},
    {.finalize = ANNUDF_ROOTS "%t = arith.divf %p, %d : f32\n%is = arith.cmpf olt, %p, %zero : "
                              "f32\n%o = arith.select %is, %one, %t : f32",
     .expected = "no: 'arith.select' is not known to rise or fall with the accumulator"},
    {.finalize =
         ANNUDF_ROOTS "%g = arith.negf %d : f32\n%t = arith.divf %p, %d : f32\n%is = arith.cmpf "
                      "ogt, %g, %zero : f32\n%o = arith.select %is, %t, %one : f32",
     .expected = "no: 'arith.select' is not known to rise or fall with the accumulator"},
    {.finalize =
         ANNUDF_ROOTS "%t = arith.divf %p, %d : f32\n%u = arith.divf %m, %n : f32\n%is = "
                      "arith.cmpf ogt, %u, %small : f32\n%o = arith.select %is, %t, %one : f32",
     .expected = "no: 'arith.select' is not known to rise or fall with the accumulator"},
    {.finalize = ANNUDF_ROOTS
     "%t = arith.divf %p, %d : f32\n%u = arith.divf %m, %n : f32\n%is = arith.cmpf une, %u, %zero "
     ": f32\n%k = arith.cmpf ord, %zero, %q : f32\n%j = arith.andi %is, %k : i1\n%o = scf.if %j -> "
     "(f32) {\nscf.yield %t : f32\n} else {\nscf.yield %one : f32\n}",
     .expected = "normalised: x y / sqrt(x^2 * y^2) | field 0 by 4, 0 from 2^-60"},
    {.finalize = ANNUDF_ROOTS
     "%t = arith.divf %p, %d : f32\n%is = arith.cmpf une, %m, %zero : f32\n%k = arith.cmpf ogt, "
     "%p, %q : f32\n%j = arith.andi %is, %k : i1\n%o = arith.select %j, %t, %one : f32",
     .expected = "no: 'arith.select' is not known to rise or fall with the accumulator"},
    {.finalize = ANNUDF_ROOTS
     "%t = arith.divf %p, %d : f32\n%is = arith.cmpf ueq, %m, %zero : f32\n%true = arith.constant "
     "true\n%j = arith.xori %is, %true : i1\n%o = arith.select %j, %t, %one : f32",
     .expected = "normalised: x y / sqrt(x^2 * y^2) | field 0 by 4, 0 from 2^-60"},
    {.finalize = "%m = math.sqrt %q : f32\n%n = math.sqrt %r : f32\n%k = arith.maximumf %m, %small "
                 ": f32\n%l = arith.maxnumf %small, %n : f32\n%d = arith.mulf %k, %l : f32\n%o = "
                 "arith.divf %p, %d : f32",
     .expected = "normalised: x y / sqrt(x^2 * y^2) | field 0 by 4, 0 from 2^-8"},
    {.finalize = "%m = math.sqrt %q : f32\n%n = math.sqrt %r : f32\n%k = arith.maximumf %m, %one : "
                 "f32\n%d = arith.mulf %k, %n : f32\n%o = arith.divf %p, %d : f32",
     .expected = "no: 'arith.divf' is not known to rise or fall with the accumulator"},
    {.finalize = ANNUDF_ROOTS
     "%s = arith.mulf %p, %p : f32\n%t = math.sqrt %s : f32\n%o = arith.divf %t, %d : f32",
     .expected = "no: 'arith.divf' is not known to rise or fall with the accumulator"},
    {.finalize = ANNUDF_ROOTS "%o = arith.divf %d, %p : f32",
     .expected = "no: 'arith.divf' is not known to rise or fall with the accumulator"},
    {.finalize = "%m = math.sqrt %q : f32\n%o = arith.divf %p, %m : f32",
     .expected = "no: finalize does not divide the product by both lengths"},
    {.finalize = "%m = math.sqrt %q : f32\n%n = math.sqrt %m : f32\n%k = math.sqrt %n : f32\n%o = "
                 "arith.divf %p, %k : f32",
     .expected = "no: 'arith.divf' is not known to rise or fall with the accumulator"},
    {.finalize =
         "%s = arith.mulf %q, %q : f32\n%t = arith.mulf %r, %r : f32\n%u = arith.mulf %s, %t : "
         "f32\n%v = math.sqrt %u : f32\n%d = math.sqrt %v : f32\n%o = arith.divf %p, %d : f32",
     .expected = "no: 'arith.divf' is not known to rise or fall with the accumulator"},
    {.finalize = "%s = arith.mulf %q, %q : f32\n%k = math.sqrt %s : f32\n%d = arith.mulf %k, %r : "
                 "f32\n%e = math.sqrt %d : f32\n%o = arith.divf %p, %e : f32",
     .expected = "normalised: x y / sqrt(x^2 * y^2) | field 0 by 5, 0 from 2^-60"},
    {.finalize =
         ANNUDF_ROOTS "%t = arith.divf %p, %d fastmath<arcp> : f32\n%o = arith.subf %one, %t : f32",
     .expected = "no: 'arith.divf' has flags that let devices give different results"},
    {.finalize =
         ANNUDF_ROOTS "%t = arith.divf %p, %d : f32\n%u = arith.subf %one, %t : f32\n%is = "
                      "arith.cmpf ogt, %zero, %u : f32\n%o = arith.select %is, %zero, %u : f32",
     .expected = "normalised: x y / sqrt(x^2 * y^2), finalize falls | field 0 by 4, 0 from 2^-60"},
    {.finalize =
         ANNUDF_ROOTS "%t = arith.divf %p, %d : f32\n%u = arith.subf %one, %t : f32\n%is = "
                      "arith.cmpf ugt, %zero, %u : f32\n%o = arith.select %is, %zero, %u : f32",
     .expected = "no: 'arith.select' is not known to rise or fall with the accumulator"},
    {.finalize = ANNUDF_ROOTS
     "%t = arith.divf %p, %d : f32\n%u = arith.addf %t, %q : f32\n%o = arith.subf %one, %u : f32",
     .expected = "no: 'arith.addf' is not known to rise or fall with the accumulator"},
    {.finalize = "%o = arith.addf %one, %zero : f32",
     .expected = "no: 'arith.addf' is not known to rise or fall with the accumulator"},
    {.finalize = ANNUDF_ROOTS "%t = arith.divf %small, %d : f32\n%o = arith.mulf %t, %p : f32",
     .expected = "no: 'arith.mulf' is not known to rise or fall with the accumulator"},
    {.finalize = ANNUDF_ROOTS "%o = arith.divf %p, %d : f32",
     .expected =
         "normalised: w[dim] x y / sqrt(w[dim] x^2 * w[dim] y^2) | field 0 by 4, 0 from 2^-60 | "
         "|w[dim]| x y | y + 1 | 2 |w[dim]| x^2 + 2 |w[dim]| x y + (1 + 2 |w[dim]|) y^2 + (1 + "
         "|w[dim]| + 1.401298464324817e-45) x + (1 + 1.401298464324817e-45) y + (|w[dim]| + "
         "7.006492321624085e-46 (1 + 1 + |w[dim]| + 1 + 1 + 1 + 1 + 1 + 1 + |w[dim]|)) | f32 2, "
         "f64 0, adds 1, eta -150 | w[dim] x^2 + w[dim] y^2 | |w[dim]| x^2 + |w[dim]| y^2 | x + (1 "
         "+ 1 + |w[dim]|) | f32 2, f64 0, adds 1, eta -150",
     .xy = "%k = arith.mulf %wi, %x : f32\n%l = arith.mulf %k, %y : f32\n%a = arith.addf %p, %l : "
           "f32",
     .xx = "%g = arith.mulf %k, %x : f32\n%b = arith.addf %q, %g : f32",
     .yy = "%s = arith.mulf %y, %y : f32\n%t = arith.mulf %wi, %s : f32\n%c = arith.addf %r, %t : "
           "f32",
     .isWhole = true},
    {.finalize = ANNUDF_ROOTS "%o = arith.divf %p, %d : f32",
     .expected = "no: its fields are not a sum of x y, one of x^2 and one of y^2",
     .xx = "%b = math.fma %y, %y, %q : f32",
     .isWhole = true},
    {.finalize = ANNUDF_ROOTS "%o = arith.divf %p, %d : f32",
     .expected = "no: its fields are not a sum of x y, one of x^2 and one of y^2",
     .xx = "%s = arith.addf %x, %wi : f32\n%b = math.fma %s, %s, %q : f32",
     .isWhole = true},
    {.finalize = ANNUDF_ROOTS "%o = arith.divf %p, %d : f32",
     .expected = "no: its fields are not a sum of x y, one of x^2 and one of y^2",
     .xx = "%s = arith.mulf %x, %x : f32\n%t = arith.addf %s, %y : f32\n%u = arith.subf %t, %y : "
           "f32\n%b = arith.addf %q, %u : f32",
     .isWhole = true},
    {.finalize = ANNUDF_ROOTS "%o = arith.divf %p, %d : f32",
     .expected = "no: its fields are not a sum of x y, one of x^2 and one of y^2",
     .xy = "%s = arith.addf %y, %wi : f32\n%t = arith.mulf %x, %s : f32\n%u = arith.mulf %x, %wi : "
           "f32\n%v = arith.subf %t, %u : f32\n%a = arith.addf %p, %v : f32",
     .isWhole = true},
    {.finalize = ANNUDF_ROOTS "%o = arith.divf %p, %d : f32",
     .expected = "no: 'math.absf' of x and y is no polynomial",
     .yy = "%s = math.absf %y : f32\n%c = arith.addf %r, %s : f32",
     .isWhole = true},
    {.finalize = ANNUDF_ROOTS "%o = arith.divf %p, %d : f32",
     .expected = "normalised: x y / sqrt(x^2 * 2 y^2) | field 0 by 4, 0 from 2^-60 | x y | 1 | 2 "
                 "x^2 + 2 x y + 3 y^2 + x + y + 2.802596928649634e-45 | f32 0, f64 0, adds 1, eta "
                 "-150 | x^2 + 2 y^2 | x^2 + 2 y^2 | 3 | f32 0, f64 0, adds 2, eta -150",
     .yy = "%s = math.fma %y, %y, %r : f32\n%c = math.fma %y, %y, %s : f32",
     .isWhole = true},
    {.finalize = ANNUDF_ROOTS "%o = arith.divf %p, %d : f32",
     .expected = "no: a field does not begin with 0, as each of several must",
     .init = "%0, %1, %0",
     .isWhole = true},
    {.finalize = ANNUDF_ROOTS "%o = arith.divf %p, %d : f32",
     .expected = "normalised: x y / sqrt(x^2 * y^2) | field 0 by 4, 0 from 2^-60 | x y | 1 | 2 x^2 "
                 "+ 2 x y + 2 y^2 + x + y + 2.1019476964872256e-45 | f32 0, f64 0, adds 1, eta "
                 "-150 | x^2 + y^2 | x^2 + y^2 | 2 | f32 0, f64 0, adds 1, eta -150",
     .more = "  annudf.combine (%a: f32, %b: f32, %c: f32, %d: f32, %e: f32, %f: f32) {\n    %s = "
             "arith.addf %a, %d : f32\n    %t = arith.addf %e, %b : f32\n    %u = arith.addf %c, "
             "%f : f32\n    annudf.yield %s, %t, %u : f32, f32, f32\n  }\n",
     .attributes = "numerics(reassociate)",
     .isWhole = true},
    {.finalize = ANNUDF_ROOTS "%o = arith.divf %p, %d : f32",
     .expected = "no: combine is not the sum of two parts that begin with 0",
     .more = "  annudf.combine (%a: f32, %b: f32, %c: f32, %d: f32, %e: f32, %f: f32) {\n    %s = "
             "arith.addf %a, %d : f32\n    %t = arith.addf %e, %a : f32\n    %u = arith.addf %c, "
             "%f : f32\n    annudf.yield %s, %t, %u : f32, f32, f32\n  }\n",
     .attributes = "numerics(reassociate)",
     .isWhole = true},
    {.finalize = ANNUDF_ROOTS "%o = arith.divf %p, %d : f32",
     .expected = "no: combine is not the sum of two parts that begin with 0",
     .more = "  annudf.combine (%a: f32, %b: f32, %c: f32, %d: f32, %e: f32, %f: f32) {\n    %s = "
             "arith.addf %a, %d : f32\n    %t = arith.addf %e, %b : f32\n    %u = arith.addf %c, "
             "%e : f32\n    annudf.yield %s, %t, %u : f32, f32, f32\n  }\n",
     .attributes = "numerics(reassociate)",
     .isWhole = true},
    {.finalize = ANNUDF_ROOTS "%o = arith.divf %p, %d : f32",
     .expected = "no: it takes missing values, so not every coordinate counts",
     .attributes = "missing_values",
     .isWhole = true},
    {.finalize = "%m = math.sqrt %p : f32\n%n = math.sqrt %r : f32\n%d = arith.mulf %m, %n : "
                 "f32\n%o = arith.divf %q, %d : f32",
     .expected = "normalised: x y / sqrt(x^2 * y^2) | field 1 by 4, 0 from 2^-60 | x y | 1 | 2 x^2 "
                 "+ 2 x y + 2 y^2 + x + y + 2.1019476964872256e-45 | f32 0, f64 0, adds 1, eta "
                 "-150 | x^2 + y^2 | x^2 + y^2 | 2 | f32 0, f64 0, adds 1, eta -150",
     .xy = "%a = math.fma %y, %y, %p : f32",
     .xx = "%b = math.fma %x, %y, %q : f32",
     .yy = "%c = math.fma %x, %x, %r : f32",
     .isWhole = true},
};

TEST_F(NormalisedCases, AreSaidExactly) {
  for (const Case &one : kCases) {
    const std::string text = std::string("annudf.metric @m order(min) coarse(l2) elements(f32) ") +
                             one.attributes +
                             R"( {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    %1 = arith.constant 1.0 : f32
    annudf.yield )" + one.init +
                             R"( : f32, f32, f32
  }
  annudf.update (%p: f32, %q: f32, %r: f32, %x: f32, %y: f32) {
    %i = annudf.index dim
    %wi = annudf.load %w[%i] : !annudf.capture<dim x f32>
)" + one.xy + "\n" + one.xx + "\n" +
                             one.yy + R"(
    annudf.yield %a, %b, %c : f32, f32, f32
  }
)" + one.more + R"(
  annudf.finalize (%p: f32, %q: f32, %r: f32) {
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %small = arith.constant 0.015625 : f32
)" + one.finalize + R"(
    annudf.yield %o : f32
  }
}
)";
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    ASSERT_TRUE(module) << text;
    EXPECT_EQ(spelled(proveForm(*module->getOps<ir::MetricOp>().begin()), one.isWhole),
              one.expected)
        << one.finalize << one.xy << one.xx << one.yy << one.more;
  }
}

} // namespace
