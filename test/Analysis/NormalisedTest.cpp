//===- NormalisedTest.cpp - Ratios stay within what is said of them -------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A search for counter-examples as FormsTest.cpp, of metrics of three fields: random updates and
// finalizes, which are computed op by op from their text, against the form in 113 bits. 2,000
// metrics; ANNUDF_FORMULAS=100000 in the long run.
//
//===----------------------------------------------------------------------===//

#include "ClaimValues.h"
#include "ComputedBody.h"
#include "RandomMetrics.h"

#include "annudf/Analysis/Forms.h"

#include "gtest/gtest.h"

#include <cfloat>
#include <cmath>
#include <map>
#include <random>
#include <string_view>

using namespace annudf;
using namespace annudf::test;
using namespace mlir;

namespace {

/// Random metrics, as text; most are of a normalised form, and what is not is nearly one.
class Writer {
public:
  explicit Writer(uint32_t seed) : generator(seed) {}

  std::string metric(const std::string &name) {
    const int product = random(3), query = (product + 1 + random(2)) % 3;
    std::string text = "annudf.metric @" + name + R"( order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0, %0, %0 : f32, f32, f32
  }
  annudf.update (%f0: f32, %f1: f32, %f2: f32, %x: f32, %y: f32) {
    %i = annudf.index dim
    %wi = annudf.load %w[%i] : !annudf.capture<dim x f32>
    %two = arith.constant 2.0 : f32
)";
    std::string ends[3];
    const bool isWeighted = random(2) != 0;
    for (int field = 0; field < 3; ++field) {
      const char *a = field == query || field == product ? "%x" : "%y";
      const char *b = field == query ? "%x" : "%y";
      ends[field] = added("%f" + std::to_string(field), a, b, isWeighted);
    }
    text += body + "    annudf.yield " + ends[0] + ", " + ends[1] + ", " + ends[2] +
            " : f32, f32, f32\n  }\n  annudf.finalize (%f0: f32, %f1: f32, %f2: f32) {\n";
    body = "    %zero = arith.constant 0.0 : f32\n    %one = arith.constant 1.0 : f32\n    %one6 = "
           "arith.constant 1.0 : f64\n    %eps = arith.constant 9.99999993E-9 : f32\n";
    const std::string end = finalized("%f" + std::to_string(product), "%f" + std::to_string(query),
                                      "%f" + std::to_string(3 - product - query));
    return text + body + "    annudf.yield " + end + " : f32\n  }\n}\n";
  }

private:
  int random(int below) { return static_cast<int>(generator() % static_cast<uint32_t>(below)); }
  static std::string joined(std::initializer_list<std::string_view> parts) {
    std::string text;
    for (const std::string_view part : parts)
      text += part;
    return text;
  }
  std::string op(const std::string &text) {
    const std::string name = "%v" + std::to_string(count++);
    body += "    " + name + " = " + text + "\n";
    return name;
  }
  std::string of(const char *name, const std::string &a, const std::string &b,
                 const char *type = "f32") {
    return op(std::string("arith.") + name + " " + a + ", " + b + " : " + type);
  }
  std::string math(const char *name, const std::string &a, const char *type = "f32") {
    return op(std::string("math.") + name + " " + a + " : " + type);
  }

  /// The field, and w a b added once or twice; rarely something else.
  std::string added(std::string field, const char *a, const char *b, bool isWeighted) {
    for (int times = random(4) ? 1 : 2; times > 0; --times) {
      if (random(40) == 0)
        b = "%two";
      std::string left = a;
      if (isWeighted)
        left = random(2) ? of("mulf", left, "%wi") : of("mulf", "%wi", left);
      if (random(40) == 0)
        left = of("addf", left, "%two");
      const int kind = random(4);
      if (kind == 0) {
        field = op(joined({"math.fma ", left, ", ", b, ", ", field, " : f32"}));
      } else if (kind == 1) {
        const std::string p = op("arith.extf " + left + " : f32 to f64"),
                          q = op(std::string("arith.extf ") + b + " : f32 to f64");
        const std::string both = of("mulf", p, q, "f64");
        field = of("addf", field, op(joined({"arith.truncf ", both, " : f64 to f32"})));
      } else {
        field = of("addf", of("mulf", left, b), field);
      }
    }
    return field;
  }

  std::string length(const std::string &square) {
    std::string root = math("sqrt", square);
    const int kind = random(8);
    if (kind == 0)
      return of("maximumf", root, "%eps");
    if (kind == 1)
      return of("maxnumf", "%eps", root);
    if (kind == 2)
      return op("arith.select " + op("arith.cmpf ogt, %eps, " + root + " : f32") + ", %eps, " +
                root + " : f32");
    return root;
  }

  std::string ratio(const std::string &p, const std::string &x, const std::string &y) {
    switch (random(12)) {
    case 0:
      return of("divf", p, math("sqrt", of("mulf", x, y)));
    case 1:
      return of("divf", of("divf", p, length(x)), length(y));
    case 2:
      return of("mulf", p, of("divf", "%one", of("mulf", length(y), length(x))));
    case 3:
      return of("mulf", of("mulf", math("rsqrt", x), p), math("rsqrt", y));
    case 4:
      return of("mulf", p, math("rsqrt", of("mulf", x, y)));
    case 5: {
      const std::string x6 = op("arith.extf " + x + " : f32 to f64"),
                        y6 = op("arith.extf " + y + " : f32 to f64"),
                        p6 = op("arith.extf " + p + " : f32 to f64");
      const std::string d = math("sqrt", of("mulf", x6, y6, "f64"), "f64");
      return op("arith.truncf " + of("divf", p6, d, "f64") + " : f64 to f32");
    }
    case 6: // Wrong.
      return of("divf", p, random(2) ? x : math("sqrt", x));
    case 7:
      return of("divf", math("sqrt", of("mulf", p, p)), of("mulf", length(x), length(y)));
    case 8:
      return of("divf", of("mulf", p, p), of("mulf", x, y));
    case 9:
      return of("mulf", p, of("divf", length(x), length(y)));
    default:
      return of("divf", p, of("mulf", length(x), length(y)));
    }
  }

  /// A value, but in cases that lengths of a usual size exclude another.
  std::string guarded(const std::string &value, const std::string &p, const std::string &x,
                      const std::string &y) {
    const std::string d = random(2) ? of("mulf", x, y) : math("sqrt", x);
    switch (random(9)) {
    case 0:
      return op("arith.select " + op("arith.cmpf oeq, " + d + ", %zero : f32") + ", %one, " +
                value + " : f32");
    case 1:
      return op("arith.select " + op("arith.cmpf une, " + d + ", %zero : f32") + ", " + value +
                ", %zero : f32");
    case 2: {
      const std::string a = op("arith.cmpf oeq, " + x + ", %zero : f32"),
                        b = op("arith.cmpf ole, " + y + ", %eps : f32");
      return op("arith.select " + op("arith.ori " + a + ", " + b + " : i1") + ", %one, " + value +
                " : f32");
    }
    case 3: {
      const std::string a = op("arith.cmpf olt, %eps, " + x + " : f32"),
                        b = op("arith.cmpf ugt, " + y + ", %zero : f32");
      const std::string both = op("arith.andi " + a + ", " + b + " : i1");
      const std::string name = "%v" + std::to_string(count++);
      body += "    " + name + " = scf.if " + both + " -> (f32) {\n      scf.yield " + value +
              " : f32\n    } else {\n      scf.yield %zero : f32\n    }\n";
      return name;
    }
    case 4: // The product's is not known.
      return random(4) ? value
                       : op("arith.select " + op("arith.cmpf ogt, " + p + ", %zero : f32") + ", " +
                            value + ", %zero : f32");
    case 5: // Nor of lengths above a number.
      return random(4) ? value
                       : op("arith.select " + op("arith.cmpf ogt, " + d + ", %one : f32") + ", " +
                            value + ", %zero : f32");
    default:
      return value;
    }
  }

  std::string finalized(const std::string &p, const std::string &x, const std::string &y) {
    std::string value = guarded(ratio(p, x, y), p, x, y);
    for (int steps = random(4); steps > 0; --steps)
      switch (random(7)) {
      case 0:
      case 1:
        value = of("subf", "%one", value);
        break;
      case 2:
        value = op(joined({"arith.negf ", value, " : f32"}));
        break;
      case 3:
        value = of("maximumf", value, "%zero");
        break;
      case 4: {
        const bool isFirst = random(2) != 0, isLess = random(2) != 0;
        const std::string is =
            op(joined({"arith.cmpf ", isLess ? "olt" : "uge", isFirst ? ", %zero, " : ", ", value,
                       isFirst ? " : f32" : ", %zero : f32"}));
        value = op(joined({"arith.select ", is, ", ", isLess ? "%zero, " : "", value,
                           isLess ? "" : ", %zero", " : f32"}));
        break;
      }
      case 5:
        value = of("mulf", value, random(2) ? "%eps" : "%one");
        break;
      default: // 6.
        value = of("addf", value, "%one");
        break;
      }
    return guarded(value, p, x, y);
  }

  std::mt19937 generator;
  std::string body;
  int count = 0;
};

class Normalised : public RandomMetrics {
protected:
  using Lengths = QuadraticForm::Lengths;
  int made = 0, falls = 0, narrowed = 0, sums = 0, ratios = 0, beyond = 0;
  std::map<std::string, int> refused;

  static Inputs inputs(RandomValues &values, int kind) {
    const auto between = [&](float bound) {
      return bound * (static_cast<float>(values.random(1 << 20)) / (1 << 19) - 1);
    };
    Inputs in = values.inputs();
    if (kind == 0)
      return in;
    const float scale = kind == 1 ? 0x1p-70f : kind == 2 ? 1e9f : 4.0f;
    in.x = between(scale), in.y = between(scale);
    if (kind == 3)
      in.x += 1e4f, in.y += 1e4f;
    in.w = values.random(8) ? between(2) : 0;
    return in;
  }

  static Quad accumulated(const Roundings &roundings, uint32_t accumulations, size_t dims) {
    Quad all = growth(roundings);
    for (size_t i = 0; i < accumulations * dims; ++i)
      all *= 1 + static_cast<Quad>(0x1p-24);
    return all;
  }

  /// The three sums, and what is said of them.
  void checkSums(ir::MetricOp metric, const QuadraticForm &form, RandomValues &values, int kind) {
    static constexpr int kDims[] = {1, 2, 7, 130};
    const size_t dims = static_cast<size_t>(kDims[values.random(4)]);
    const Lengths &lengths = *form.lengths;
    std::vector<Inputs> all(dims);
    Quad product = 0, size = 0, small = 0, largest = 0, squares[2] = {0, 0},
         squaresSize[2] = {0, 0}, lost = 0;
    for (Inputs &in : all) {
      in = inputs(values, kind);
      const std::vector<Quad> c = evaluate(form.nodes, in);
      if (c[lengths.exact.of[Quadratic::XX]] < 0 || c[lengths.exact.of[Quadratic::YY]] < 0)
        return;
      const Quad x = absolute(in.x), y = absolute(in.y);
      product += at(form.exact, c, in.x, in.y);
      size += at(form.size, c, x, y);
      small += at(form.small, c, x, y);
      largest += at(form.largest, c, x, y);
      lost += at(lengths.small, c, x, y);
      for (int side = 0; side < 2; ++side) {
        squares[side] += at(lengths.exact, c, side ? 0 : in.x, side ? in.y : 0);
        squaresSize[side] += at(lengths.size, c, side ? 0 : in.x, side ? in.y : 0);
      }
    }
    const Quad growths = accumulated(form.roundings, form.accumulations, dims),
               ofLengths = accumulated(lengths.roundings, lengths.accumulations, dims);
    if (!((growths > ofLengths ? growths : ofLengths) * largest < FLT_MAX)) {
      ++beyond;
      return;
    }
    for (bool fused : {false, true}) {
      std::vector<float> fields(3);
      for (const Inputs &in : all) {
        std::vector<float> arguments = fields;
        arguments.insert(arguments.end(), {in.x, in.y});
        fields = ComputedBody(metric.getUpdate().getBody().front(), arguments, in.w, fused).yielded;
      }
      ++sums;
      const auto isNear = [&](float computed, Quad exact, Quad bound) {
        ASSERT_TRUE(std::isfinite(computed)) << formText(form);
        ASSERT_LE(static_cast<double>(absolute(computed - exact)),
                  static_cast<double>(bound + largest * static_cast<Quad>(0x1p-90)))
            << formText(form) << " of " << dims << " dims, fused " << fused;
      };
      isNear(fields[lengths.product], product, (growths - 1) * size + growths * form.eta * small);
      // Which of the others is of x the form does not say, as nobody asks: here it is found out.
      float others[2];
      for (unsigned i = 0, n = 0; i < 3; ++i)
        if (i != lengths.product)
          others[n++] = fields[i];
      const Quad apart = absolute(others[0] - squares[0]) + absolute(others[1] - squares[1]),
                 swapped = absolute(others[1] - squares[0]) + absolute(others[0] - squares[1]);
      for (int side = 0; side < 2; ++side)
        isNear(others[(swapped < apart) != (side == 1)], squares[side],
               (ofLengths - 1) * squaresSize[side] + ofLengths * lengths.eta * lost);
    }
  }

  /// What finalize is of any product and squares in their range.
  void checkRatio(ir::MetricOp metric, const QuadraticForm &form, RandomValues &values) {
    const Lengths &lengths = *form.lengths;
    const auto square = [&] {
      if (values.random(8) == 0)
        return values.random(2) ? std::ldexp(1.0f, lengths.least) : 0x1p60f;
      const int exponent = lengths.least + values.random(Lengths::kMost - lengths.least);
      return std::ldexp(1 + static_cast<float>(values.random(1 << 23)) * 0x1p-23f, exponent);
    };
    const float x = square(), y = square();
    const Quad d = static_cast<Quad>(std::sqrt(static_cast<long double>(x) * y));
    float share = 4 * (static_cast<float>(values.random(1 << 20)) * 0x1p-19f - 1);
    if (values.random(4) == 0)
      share = std::ldexp(share, -values.random(100));
    if (values.random(16) == 0)
      share = 0;
    const auto p = static_cast<float>(share * d);
    Block &block = metric.getFinalize().getBody().front();
    const auto finalize = [&](float product, float first, float second) {
      std::vector<float> fields(3);
      for (unsigned i = 0; i < 3; ++i)
        fields[i] = i == lengths.product ? product : std::exchange(first, second);
      return ComputedBody(block, fields, 1, false).yielded[0];
    };
    const Quad t = p / d;
    const double n = lengths.ratio.f32 * 0x1p-24 + lengths.ratio.f64 * 0x1p-53 + 0x1p-60;
    // The last is for d; what a product loses below the normal range is that at most.
    const Quad off = absolute(t) * static_cast<Quad>(n / (1 - n) + 0x1p-58) +
                     static_cast<Quad>(lengths.ratio.f32 * 0x1p-29);
    const auto below = [](Quad value) {
      const auto rounded = static_cast<float>(value);
      return rounded > value ? std::nextafter(rounded, -INFINITY) : rounded;
    };
    const float computed = finalize(p, x, y);
    const float low = finalize(below(t - off), 1, 1), high = finalize(-below(-t - off), 1, 1);
    ++ratios;
    const bool isDown = form.finalize == QuadraticForm::Finalize::Falls;
    EXPECT_TRUE(isDown ? high <= computed && computed <= low : low <= computed && computed <= high)
        << formText(form) << ": finalize of " << p << ", " << x << ", " << y << " is " << computed
        << ", not between " << low << " and " << high;
    if (form.finalize == QuadraticForm::Finalize::Identity)
      EXPECT_EQ(finalize(share, 1, 1), share);
  }
};

TEST_F(Normalised, StaysWithinItsForm) {
  const int count = countOr(2000);
  for (int seed = 0; seed < count && !HasFailure(); ++seed) {
    const std::string text = Writer(static_cast<uint32_t>(seed)).metric("m");
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    ASSERT_TRUE(module) << text;
    ir::MetricOp metric = *module->getOps<ir::MetricOp>().begin();
    const FormProof proof = proveForm(metric);
    if (!proof.form) {
      ASSERT_TRUE(proof.at);
      ++refused[proof.why];
      continue;
    }
    ASSERT_TRUE(proof.form->lengths);
    ++made, falls += proof.form->finalize == QuadraticForm::Finalize::Falls;
    narrowed += proof.form->lengths->least != Lengths::kLeast;
    RandomValues values(static_cast<uint32_t>(seed));
    for (int i = 0; i < 10 && !HasFailure(); ++i)
      checkSums(metric, *proof.form, values, i % 5);
    for (int i = 0; i < 100 && !HasFailure(); ++i)
      checkRatio(metric, *proof.form, values);
    ASSERT_FALSE(HasFailure()) << "seed " << seed << ": " << text;
  }
  std::printf("%d of %d have a form, %d fall, %d of lengths above a number; %d sums (%d sets of "
              "vectors may overflow), %d ratios\n",
              made, count, falls, narrowed, sums, beyond, ratios);
  for (const auto &[why, times] : refused)
    std::printf("  %d: %s\n", times, why.c_str());
  EXPECT_GT(made * 3, count);
  EXPECT_GT(falls * 10, count);
  EXPECT_GT(narrowed * 50, count);
  EXPECT_GT(sums, made * 4);
  EXPECT_GT(beyond, 0);
  for (const char *why : {"its fields are not a sum of x y, one of x^2 and one of y^2",
                          "finalize does not divide the product by both lengths"})
    EXPECT_GT(refused[why], 0) << why;
}

} // namespace
