//===- FormsTest.cpp - Distances stay within the bounds of their forms ----===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A search for counter-examples as PropertiesTest.cpp, of whole distances: random updates summed up
// over dimensions, in one part and in several, against the form in 113 bits. 2,000 updates;
// ANNUDF_FORMULAS=100000 in the long run.
//
//===----------------------------------------------------------------------===//

#include "ClaimValues.h"
#include "RandomMetrics.h"

#include "annudf/Analysis/Forms.h"

#include "gtest/gtest.h"

#include <cfloat>
#include <cmath>
#include <map>

using namespace annudf;
using namespace annudf::test;

namespace {

/// What a search sees: captures of all dimensions are one, but for w and q.
enum class Kind { Any, Usual, FarFromOrigin, Small, Duplicates, Huge, kCount };

class Forms : public RandomMetrics {
protected:
  int made = 0, ofDifference = 0, distances = 0, guarded = 0, fused = 0, split = 0;
  std::map<std::string, int> refused;

  static std::vector<Inputs> vectors(Kind kind, RandomValues &values) {
    static constexpr int kDims[] = {1, 2, 3, 7, 33, 130};
    const auto between = [&](float bound) {
      return bound * (static_cast<float>(values.random(1 << 20)) / (1 << 19) - 1);
    };
    std::vector<Inputs> all(kDims[values.random(6)]);
    for (Inputs &in : all) {
      in = values.inputs();
      if (kind == Kind::Any)
        continue;
      const float scale = kind == Kind::Small ? 0x1p-70f : kind == Kind::Huge ? 1e18f : 4.0f;
      in.x = between(scale), in.y = between(scale);
      if (kind == Kind::FarFromOrigin)
        in.x += 1e4f, in.y += 1e4f;
      if (kind == Kind::Duplicates)
        in.y = values.random(4) ? in.x : std::nextafter(in.x, 1e38f);
      if (kind != Kind::Small || values.random(2))
        in.w = between(2), in.q = between(2), in.s = between(2);
    }
    for (Inputs &in : all)
      in.s = all[0].s, in.n = all[0].n, in.u = all[0].u;
    return all;
  }

  /// Dimensions in parts that begin with 0, joined in any order.
  static float sum(RandomFormula &formula, const std::vector<Inputs> &vectors, bool fused,
                   size_t parts, RandomValues &values) {
    std::vector<float> fields(parts, 0.0f);
    for (const Inputs &in : vectors) {
      if (fields.size() > 1 && values.random(16) == 0) {
        const float last = fields.back();
        fields.pop_back();
        fields[values.random(static_cast<int>(fields.size()))] += last;
      }
      float &field = fields[values.random(static_cast<int>(fields.size()))];
      formula.compute(in, fused);
      field = formula.update(field, fused);
    }
    for (; fields.size() > 1; fields.pop_back())
      fields[fields.size() - 2] += fields.back();
    return fields[0];
  }

  void check(const QuadraticForm &form, RandomFormula &formula, Kind kind, RandomValues &values) {
    const std::vector<Inputs> all = vectors(kind, values);
    Quad exact = form.initial, size = absolute(form.initial), small = 0, largest = size;
    for (const Inputs &in : all) {
      const std::vector<Quad> c = evaluate(form.nodes, in);
      for (Quad one : c)
        if (!isFinite(one))
          return;
      const Quad x = form.ofDifference ? absolute(static_cast<Quad>(in.x) - in.y) : absolute(in.x);
      const Quad y = form.ofDifference ? 0 : absolute(in.y);
      exact += at(form.exact, c, in.x, in.y);
      size += at(form.size, c, x, y);
      small += at(form.small, c, x, y);
      largest += at(form.largest, c, x, y);
    }
    Quad growths = growth(form.roundings);
    for (size_t i = 0; i < form.accumulations * all.size(); ++i)
      growths *= 1 + static_cast<Quad>(0x1p-24);
    if (!(growths * largest < FLT_MAX)) {
      ++guarded;
      return;
    }
    const Quad bound = (growths - 1) * size + growths * form.eta * small;
    for (bool isFused : {false, true})
      for (size_t parts : {1, 4}) {
        const float computed = sum(formula, all, isFused, parts, values);
        ++distances, fused += isFused, split += parts > 1;
        ASSERT_TRUE(std::isfinite(computed)) << formText(form);
        // The last summand is for what Quad itself rounds.
        ASSERT_LE(static_cast<double>(absolute(computed - exact)),
                  static_cast<double>(bound + largest * static_cast<Quad>(0x1p-90)))
            << formText(form) << " of " << all.size() << " dims, fused " << isFused << ", parts "
            << parts;
      }
  }
};

TEST_F(Forms, BoundDistances) {
  const int count = countOr(2000);
  forEach(count, [&](ir::MetricOp metric, RandomFormula &formula, uint32_t seed) {
    const FormProof proof = proveForm(metric);
    if (!proof.form) {
      ASSERT_TRUE(proof.at);
      ++refused[proof.why];
      return;
    }
    ++made, ofDifference += proof.form->ofDifference;
    RandomValues values(seed);
    for (int i = 0; i < 24 && !HasFailure(); ++i)
      check(*proof.form, formula, static_cast<Kind>(i % static_cast<int>(Kind::kCount)), values);
  });
  std::printf("%d of %d have a form, %d of x - y; %d distances (%d fused, %d in parts), %d sets of "
              "vectors may overflow\n",
              made, count, ofDifference, distances, fused, split, guarded);
  EXPECT_GT(made * 12, count);
  EXPECT_GT(ofDifference * 50, count);
  EXPECT_GT(distances, made * 20);
  EXPECT_GT(guarded, made);
  for (const char *why : {"init yields no finite constant",
                          "a side of a branch is no finite number", "the field is no sum of floats",
                          "a value is neither f32 nor f64, and may be too large for its format"})
    EXPECT_GT(refused[why], 0) << why;
}

/// All that a form says, or why there is none.
std::string spelled(const FormProof &proof) {
  if (!proof.form)
    return "no: " + proof.why;
  const QuadraticForm &f = *proof.form;
  std::string text = formText(f);
  for (const Quadratic *one : {&f.size, &f.small, &f.largest})
    text += " | " + polynomialText(f.nodes, *one);
  return text + " | f32 " + std::to_string(f.roundings.f32) + ", f64 " +
         std::to_string(f.roundings.f64) + ", adds " + std::to_string(f.accumulations) + ", eta " +
         std::to_string(f.eta == 0 ? 0 : std::ilogb(f.eta));
}

struct Case {
  const char *update, *expected;
  const char *init = "0.0", *more = "", *attributes = "";
};

/// As the analysis says it; each was read once by a person.
const Case kCases[] = {
    {"%r = math.fma %d, %d, %acc : f32", "x^2 - 2 x y + y^2, of x - y | x^2 | 1 | 2 x^2 + x + "
                                         "7.006492321624085e-46 | f32 2, f64 0, adds 1, eta -150"},
    {"%p = arith.mulf %d, %d : f32\n%q = arith.mulf %wi, %p : f32\n%r = arith.addf %acc, %q : f32",
     "w[dim] x^2 - 2 w[dim] x y + w[dim] y^2, of x - y | |w[dim]| x^2 | (1 + |w[dim]|) | (1 + 2 "
     "|w[dim]|) x^2 + x + (|w[dim]| + 7.006492321624085e-46 (1 + 2 (1 + |w[dim]|))) | f32 4, f64 "
     "0, adds 1, eta -150"},
    {"%e = arith.subf %y, %x : f32\n%q = arith.mulf %wi, %e : f32\n%r = arith.subf %acc, %q : f32",
     "w[dim] x - w[dim] y, of x - y | |w[dim]| x | 1 | (1 + |w[dim]| + 2 |w[dim]|) x + (|w[dim]| + "
     "2.1019476964872256e-45) | f32 2, f64 0, adds 1, eta -150"},
    {"%x6 = arith.extf %x : f32 to f64\n%y6 = arith.extf %y : f32 to f64\n%e = arith.subf %x6, %y6 "
     ": f64\n%p = arith.mulf %e, %e : f64\n%q = arith.truncf %p : f64 to f32\n%r = arith.addf "
     "%acc, %q : f32",
     "x^2 - 2 x y + y^2, of x - y | x^2 | 2 | 3 x^2 + x + 3.5032461608120427e-45 | f32 1, f64 3, "
     "adds 1, eta -150"},
    {"%p = arith.mulf %x, %y : f32\n%r = arith.subf %acc, %p : f32",
     "-x y | x y | 1 | 3 x y + x + y + 2.1019476964872256e-45 | f32 1, f64 0, adds 1, eta -150"},
    {"%p = arith.mulf %x, %x : f32\n%a = arith.addf %acc, %p : f32\n%q = arith.mulf %y, %y : "
     "f32\n%r = arith.addf %a, %q : f32",
     "x^2 + y^2, begins with 0.5 | x^2 + y^2 | 2 | 2 x^2 + 2 y^2 + x + y + 2.802596928649634e-45 | "
     "f32 1, f64 0, adds 2, eta -150",
     "0.5", "", ""},
    {"%p = arith.mulf %x, %y : f32\n%a = arith.addf %acc, %p : f32\n%r = math.fma %d, %d, %a : f32",
     "x^2 - x y + y^2 | x^2 + 3 x y + y^2 | 2 | 2 x^2 + 6 x y + 2 y^2 + 2 x + 2 y + "
     "2.1019476964872256e-45 | f32 2, f64 0, adds 2, eta -150"},
    {"%q = arith.divf %d, %wi : f32\n%r = arith.addf %acc, %q : f32",
     "(1 / w[dim]) x - (1 / w[dim]) y, of x - y | (1 / |w[dim]|) x | 1 | (1 + 2 / |w[dim]|) x + "
     "(|w[dim]| + 1.401298464324817e-45) | f32 2, f64 0, adds 1, eta -150"},
    {"%q = arith.divf %zero, %wi : f32\n%r = arith.addf %acc, %q : f32",
     "0, of x - y | 0 | 1 | (|w[dim]| + |1 / w[dim]| + 1.401298464324817e-45) | f32 1, f64 0, adds "
     "1, eta -150"},
    {"%q = arith.divf %d, %wi : f32\n%s = arith.mulf %q, %zero : f32\n%r = arith.addf %acc, %s : "
     "f32",
     "0, of x - y | 0 | 1 | (1 + 1 / |w[dim]|) x + (|w[dim]| + 2.1019476964872256e-45) | f32 3, "
     "f64 0, adds 1, eta -150"},
    {"%g = arith.extf %hi : f16 to f32\n%r = math.fma %g, %d, %acc : f32",
     "h[dim] x - h[dim] y, of x - y | |h[dim]| x | 1 | (1 + 2 |h[dim]|) x + (2 |h[dim]| + "
     "7.006492321624085e-46) | f32 1, f64 0, adds 1, eta -150"},
    {"%two = arith.constant 2 : index\n%g = annudf.load %t[%two] : !annudf.capture<3 x f32>\n%r = "
     "math.fma %g, %d, %acc : f32",
     "t[2] x - t[2] y, of x - y | |t[2]| x | 1 | (1 + 2 |t[2]|) x + (|t[2]| + "
     "7.006492321624085e-46) | f32 1, f64 0, adds 1, eta -150"},
    {"%g = arith.mulf %hi, %hi : f16\n%k = arith.extf %g : f16 to f32\n%r = math.fma %k, %d, %acc "
     ": f32",
     "no: a value is neither f32 nor f64, and may be too large for its format"},
    {"%nan = arith.constant 0x7FC00000 : f32\n%o = arith.cmpf ord, %x, %y : f32\n%s = arith.select "
     "%o, %d, %nan : f32\n%r = arith.addf %acc, %s : f32",
     "no: a side of a branch is no finite number"},
    {"%g = annudf.load %b[%row] : !annudf.capture<row x f32>\n%r = math.fma %g, %d, %acc : f32",
     "no: it loads \"b\" at an index that is not dim, query or a constant"},
    {"%r = arith.maximumf %acc, %d : f32", "no: the field is no sum of floats"},
    {"%s = math.absf %d : f32\n%r = arith.addf %acc, %s : f32",
     "no: 'math.absf' of x and y is no polynomial"},
    {"%s = math.absf %acc : f32\n%r = arith.addf %s, %d : f32",
     "no: 'math.absf' does not join the field with a term by +, *, min, max, and, or, xor"},
    {"%r = arith.addf %acc, %d : f32", "no: init yields no finite constant", "0x7F800000", "", ""},
    {"%r = arith.addf %acc, %d : f32",
     "no: it takes missing values, so not every coordinate counts", "0.0", "", "missing_values"},
    {"%r = arith.addf %acc, %d : f32",
     "x - y, of x - y | x | 0 | 2 x | f32 1, f64 0, adds 1, eta 0", "0.0",
     "  annudf.combine (%a: f32, %c: f32) {\n    %s = arith.addf %c, %a : f32\n    annudf.yield %s "
     ": f32\n  }\n",
     "numerics(reassociate)"},
    {"%r = arith.addf %acc, %d : f32", "no: combine is not the sum of two parts that begin with 0",
     "1.0",
     "  annudf.combine (%a: f32, %c: f32) {\n    %s = arith.addf %c, %a : f32\n    annudf.yield %s "
     ": f32\n  }\n",
     "numerics(reassociate)"},
    {"%r = arith.addf %acc, %d : f32", "no: combine is not the sum of two parts that begin with 0",
     "0.0",
     "  annudf.combine (%a: f32, %c: f32) {\n    %s = arith.addf %c, %c : f32\n    annudf.yield %s "
     ": f32\n  }\n",
     "numerics(reassociate)"},
    {"%r = arith.addf %acc, %d : f32", "no: combine is not the sum of two parts that begin with 0",
     "0.0",
     "  annudf.combine (%a: f32, %c: f32) {\n    %s = arith.addf %a, %c fastmath<nsz> : f32\n    "
     "annudf.yield %s : f32\n  }\n",
     "numerics(reassociate)"},
    {"%r = arith.addf %acc, %d : f32",
     "x - y, of x - y, finalize rises | x | 0 | 2 x | f32 1, f64 0, adds 1, eta 0", "0.0",
     "  annudf.finalize (%a: f32) {\n    %z = arith.constant 0.0 : f32\n    %m = arith.maximumf "
     "%a, %z : f32\n    %s = math.sqrt %m : f32\n    %o = arith.maxnumf %s, %z : f32\n    "
     "annudf.yield %o : f32\n  }\n",
     ""},
    {"%r = arith.addf %acc, %d : f32",
     "no: 'arith.maxnumf' is not known to rise or fall with the accumulator", "0.0",
     "  annudf.finalize (%a: f32) {\n    %z = arith.constant 0.0 : f32\n    %s = math.sqrt %a : "
     "f32\n    %o = arith.maxnumf %s, %z : f32\n    annudf.yield %o : f32\n  }\n",
     ""},
    {"%r = arith.addf %acc, %d : f32",
     "no: 'arith.subf' has flags that let devices give different results", "0.0",
     "  annudf.finalize (%a: f32) {\n    %z = arith.constant 1.0 : f32\n    %s = arith.subf %z, %a "
     "fastmath<nnan> : f32\n    annudf.yield %s : f32\n  }\n",
     ""},
    {"%r = arith.addf %acc, %d : f32",
     "no: 'arith.constant' is not known to rise or fall with the accumulator", "0.0",
     "  annudf.finalize (%a: f32) {\n    %z = arith.constant 1.0 : f32\n    annudf.yield %z : "
     "f32\n  }\n",
     ""},
    {"%r = arith.addf %acc, %d : f32",
     "no: 'math.exp' is not known to rise or fall with the accumulator", "0.0",
     "  annudf.finalize (%a: f32) {\n    %s = math.exp %a : f32\n    annudf.yield %s : f32\n  }\n",
     ""},
    // A choice of two that both go with the accumulator.
    {"%r = arith.addf %acc, %d : f32",
     "no: 'arith.select' is not known to rise or fall with the accumulator", "0.0",
     "  annudf.finalize (%a: f32) {\n    %u = arith.negf %a : f32\n    %is = arith.cmpf ugt, %a, "
     "%u : "
     "f32\n    %s = arith.select %is, %a, %u : f32\n    annudf.yield %s : f32\n  }\n"},
    {"%r = arith.addf %acc, %d : f32",
     "no: 'arith.maxnumf' is not known to rise or fall with the accumulator", "0.0",
     "  annudf.finalize (%a: f32) {\n    %z = arith.constant 0.0 : f32\n    %one = arith.constant "
     "1.0 : f32\n    %n = arith.constant -1.0 : f32\n    %m = arith.maximumf %a, %z : f32\n    %v "
     "= arith.negf %m : f32\n    %s = math.sqrt %v : f32\n    %o = arith.maxnumf %s, %z : f32\n    "
     "annudf.yield %o : f32\n  }\n",
     ""},
    {"%r = arith.addf %acc, %d : f32",
     "no: 'arith.maxnumf' is not known to rise or fall with the accumulator", "0.0",
     "  annudf.finalize (%a: f32) {\n    %z = arith.constant 0.0 : f32\n    %one = arith.constant "
     "1.0 : f32\n    %n = arith.constant -1.0 : f32\n    %m = arith.maximumf %a, %z : f32\n    %v "
     "= arith.addf %m, %n : f32\n    %s = math.sqrt %v : f32\n    %o = arith.maxnumf %s, %z : "
     "f32\n    annudf.yield %o : f32\n  }\n",
     ""},
    {"%r = arith.addf %acc, %d : f32",
     "no: 'arith.maxnumf' is not known to rise or fall with the accumulator", "0.0",
     "  annudf.finalize (%a: f32) {\n    %z = arith.constant 0.0 : f32\n    %one = arith.constant "
     "1.0 : f32\n    %n = arith.constant -1.0 : f32\n    %m = arith.maximumf %a, %z : f32\n    %v "
     "= arith.subf %m, %one : f32\n    %s = math.sqrt %v : f32\n    %o = arith.maxnumf %s, %z : "
     "f32\n    annudf.yield %o : f32\n  }\n",
     ""},
    {"%r = arith.addf %acc, %d : f32",
     "no: 'arith.maxnumf' is not known to rise or fall with the accumulator", "0.0",
     "  annudf.finalize (%a: f32) {\n    %z = arith.constant 0.0 : f32\n    %one = arith.constant "
     "1.0 : f32\n    %n = arith.constant -1.0 : f32\n    %m = arith.maximumf %a, %z : f32\n    %v "
     "= math.fma %one, %n, %m : f32\n    %s = math.sqrt %v : f32\n    %o = arith.maxnumf %s, %z : "
     "f32\n    annudf.yield %o : f32\n  }\n",
     ""},
    {"%r = arith.addf %acc, %d : f32",
     "no: 'arith.maxnumf' is not known to rise or fall with the accumulator", "0.0",
     "  annudf.finalize (%a: f32) {\n    %z = arith.constant 0.0 : f32\n    %one = arith.constant "
     "1.0 : f32\n    %n = arith.constant -1.0 : f32\n    %m = arith.maximumf %a, %z : f32\n    %v "
     "= math.fma %m, %one, %n : f32\n    %s = math.sqrt %v : f32\n    %o = arith.maxnumf %s, %z : "
     "f32\n    annudf.yield %o : f32\n  }\n",
     ""},
    {"%r = arith.addf %acc, %d : f32",
     "no: 'arith.maxnumf' is not known to rise or fall with the accumulator", "0.0",
     "  annudf.finalize (%a: f32) {\n    %z = arith.constant 0.0 : f32\n    %one = arith.constant "
     "1.0 : f32\n    %n = arith.constant -1.0 : f32\n    %m = arith.maximumf %a, %z : f32\n    %v "
     "= arith.minimumf %m, %n : f32\n    %s = math.sqrt %v : f32\n    %o = arith.maxnumf %s, %z : "
     "f32\n    annudf.yield %o : f32\n  }\n",
     ""},
    {"%r = arith.addf %acc, %d : f32",
     "no: 'arith.maxnumf' is not known to rise or fall with the accumulator", "0.0",
     "  annudf.finalize (%a: f32) {\n    %z = arith.constant 0.0 : f32\n    %one = arith.constant "
     "1.0 : f32\n    %n = arith.constant -1.0 : f32\n    %v = arith.maximumf %a, %n : f32\n    %s "
     "= math.sqrt %v : f32\n    %o = arith.maxnumf %s, %z : f32\n    annudf.yield %o : f32\n  }\n",
     ""},
    {"%r = arith.addf %acc, %d : f32",
     "x - y, of x - y, finalize rises | x | 0 | 2 x | f32 1, f64 0, adds 1, eta 0", "0.0",
     "  annudf.finalize (%a: f32) {\n    %z = arith.constant 0.0 : f32\n    %one = arith.constant "
     "1.0 : f32\n    %n = arith.constant -1.0 : f32\n    %m = arith.maximumf %a, %z : f32\n    %v "
     "= math.fma %one, %one, %m : f32\n    %s = math.sqrt %v : f32\n    %o = arith.maxnumf %s, %z "
     ": f32\n    annudf.yield %o : f32\n  }\n",
     ""},
    {"%r = arith.addf %acc, %d : f32",
     "no: 'arith.addf' is not known to rise or fall with the accumulator", "0.0",
     "  annudf.finalize (%a: f32) {\n    %z = arith.constant 0.0 : f32\n    %one = arith.constant "
     "1.0 : f32\n    %n = arith.constant -1.0 : f32\n    %s = math.sqrt %a : f32\n    %g = "
     "arith.negf %a : f32\n    %o = arith.addf %s, %g : f32\n    annudf.yield %o : f32\n  }\n",
     ""},
};

TEST_F(Forms, SayExactly) {
  for (const Case &one : kCases) {
    const std::string text = std::string(R"(
annudf.metric @m order(min) coarse(l2) elements(f32) )") +
                             one.attributes + R"( {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %h = annudf.capture "h" : !annudf.capture<dim x f16>
  %t = annudf.capture "t" : !annudf.capture<3 x f32>
  %b = annudf.capture "b" : !annudf.capture<row x f32>
  annudf.init {
    %0 = arith.constant )" + one.init +
                             R"( : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %i = annudf.index dim
    %row = annudf.index row
    %wi = annudf.load %w[%i] : !annudf.capture<dim x f32>
    %hi = annudf.load %h[%i] : !annudf.capture<dim x f16>
    %d = arith.subf %x, %y : f32
    %zero = arith.constant 0.0 : f32
)" + one.update + R"(
    annudf.yield %r : f32
  }
)" + one.more + "}\n";
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    ASSERT_TRUE(module) << text;
    EXPECT_EQ(spelled(proveForm(*module->getOps<ir::MetricOp>().begin())), one.expected)
        << one.update << one.more;
  }
}

/// Random chains of ops, computed for floats in rising order.
TEST_F(Forms, SayHowFinalizeGoes) {
  using Finalize = QuadraticForm::Finalize;
  struct Op {
    const char *text;
    float (*of)(float, float);
    bool hasConstant = true;
  };
  static constexpr Op kOps[] = {
      {"math.sqrt %a : f32", [](float a, float) { return std::sqrt(a); }, false},
      {"arith.negf %a : f32", [](float a, float) { return -a; }, false},
      {"math.absf %a : f32", [](float a, float) { return std::abs(a); }, false},
      {"arith.addf %a, %c : f32", [](float a, float c) { return a + c; }},
      {"arith.addf %c, %a : f32", [](float a, float c) { return a + c; }},
      {"arith.subf %a, %c : f32", [](float a, float c) { return a - c; }},
      {"arith.subf %c, %a : f32", [](float a, float c) { return c - a; }},
      {"arith.mulf %a, %c : f32", [](float a, float c) { return a * c; }},
      {"arith.mulf %a, %a : f32", [](float a, float) { return a * a; }, false},
      {"arith.divf %a, %c : f32", [](float a, float c) { return a / c; }},
      {"arith.divf %c, %a : f32", [](float a, float c) { return c / a; }},
      {"arith.maximumf %a, %c : f32",
       [](float a, float c) { return std::isnan(a) ? a : std::max(a, c); }},
      {"arith.minimumf %a, %c : f32",
       [](float a, float c) { return std::isnan(a) ? a : std::min(a, c); }},
      {"arith.maxnumf %a, %c : f32", [](float a, float c) { return std::fmax(a, c); }},
      {"arith.minnumf %c, %a : f32", [](float a, float c) { return std::fmin(a, c); }},
      {"math.fma %a, %c, %c : f32", [](float a, float c) { return std::fma(a, c, c); }},
      {"math.fma %c, %c, %a : f32", [](float a, float c) { return std::fma(c, c, a); }},
  };
  static constexpr float kNumbers[] = {0.0f, 1.0f, -1.0f, 2.0f, -0.5f, 1e30f, -1e-30f, 3.0f, -0.0f};
  int known[3] = {}, unknown = 0;
  for (uint32_t seed = 0; seed < 3000 && !HasFailure(); ++seed) {
    RandomValues values(seed);
    std::vector<std::pair<const Op *, float>> chain(values.random(5));
    std::string body, name = "%acc";
    for (size_t i = 0; i < chain.size(); ++i) {
      auto &[op, constant] = chain[i];
      op = &kOps[values.random(std::size(kOps))];
      constant = kNumbers[values.random(std::size(kNumbers))];
      const std::string c = "%c" + std::to_string(i), next = "%v" + std::to_string(i);
      char number[40];
      std::snprintf(number, sizeof(number), "%.9e", constant);
      body.append("    ").append(c).append(" = arith.constant ").append(number);
      body.append(" : f32\n    ").append(next).append(" = ");
      for (const char *at = op->text; *at; ++at)
        if (*at == '%')
          body += *++at == 'a' ? name : c;
        else
          body += *at;
      body += "\n";
      name = next;
    }
    std::string text = R"(annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = arith.subf %x, %y : f32
    %r = math.fma %d, %d, %acc : f32
    annudf.yield %r : f32
  }
  annudf.finalize (%acc: f32) {
)";
    text.append(body).append("    annudf.yield ").append(name).append(" : f32\n  }\n}\n");
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    ASSERT_TRUE(module) << text;
    const FormProof proof = proveForm(*module->getOps<ir::MetricOp>().begin());
    if (!proof.form) {
      ++unknown;
      EXPECT_NE(proof.why.find(" is not known to rise or fall with the accumulator"),
                std::string::npos)
          << proof.why;
      continue;
    }
    const Finalize how = proof.form->finalize;
    ++known[static_cast<int>(how)];
    EXPECT_EQ(how == Finalize::Identity, chain.empty());
    std::vector<float> sorted = {-INFINITY, INFINITY, -0.0f, 0.0f};
    for (int i = 0; i < 200; ++i)
      sorted.push_back(values.number());
    std::sort(sorted.begin(), sorted.end());
    std::optional<float> last;
    for (float a : sorted) {
      float value = a;
      for (auto [op, constant] : chain)
        value = op->of(value, constant);
      if (std::isnan(value))
        continue;
      if (last)
        EXPECT_TRUE(how == Finalize::Falls ? value <= *last : value >= *last)
            << a << " gives " << value << " after " << *last << "\n"
            << text;
      last = value;
    }
  }
  std::printf("finalize: %d identities, %d rise, %d fall, %d not known\n", known[0], known[1],
              known[2], unknown);
  for (int count : {known[0], known[1], known[2], unknown})
    EXPECT_GT(count, 200);
}

} // namespace
