//===- RandomRatio.h - Random cosines and correlations ----------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Metrics of three and of five fields whose distance is made of a ratio, as people may write them:
// docs/spec/numerics.md, "Normalised" and "Less their means", says what is proved of them, which is
// all of these.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_E2E_RANDOMRATIO_H
#define ANNUDF_TEST_E2E_RANDOMRATIO_H

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace annudf::test {

class RandomRatio {
public:
  explicit RandomRatio(uint32_t seed) : random(seed), ofSums(one(2)), wide(ofSums && one(4)) {
    fields = {"xx", "yy", "xy"};
    if (ofSums)
      fields.insert(fields.end(), {"sx", "sy"});
    std::shuffle(fields.begin(), fields.end(), random);
    weighted = !ofSums && one(2);
  }

  /// The metric, in text of the dialect.
  std::string metric(const std::string &name) {
    const std::string update = this->update(), finalize = this->finalize();
    std::string text = "annudf.metric @" + name + " order(" + (largest ? "max" : "min") +
                       ") coarse(l2) elements(f32) {\n";
    if (weighted)
      text += "  %w = annudf.capture \"w\" : !annudf.capture<dim x f32>\n";
    return text + "  annudf.init {\n    %z = arith.constant 0.0 : f32\n    annudf.yield " +
           zeros() + types() + "\n  }\n" + update + finalize + "}\n";
  }

private:
  bool one(unsigned of) { return random() % of == 0; }

  std::string zeros() const {
    std::string text = "%z";
    for (size_t i = 1; i < fields.size(); ++i)
      text += ", %z";
    return text;
  }
  std::string types() const {
    std::string text = " : f32";
    for (size_t i = 1; i < fields.size(); ++i)
      text += ", f32";
    return text;
  }
  std::string declared() const {
    std::string text;
    for (const std::string &field : fields)
      text += "%" + field + ": f32, ";
    return text;
  }

  /// A line that computes; the name of its result. \param type  of it.
  std::string op(const std::string &what, const std::string &type) {
    const std::string result = "%v" + std::to_string(values++);
    lines += "    " + result + " = " + what + " : " + type + "\n";
    return result;
  }
  std::string binary(const char *name, std::string a, std::string b, const std::string &type) {
    if (name != std::string("subf") && name != std::string("divf") && one(2))
      std::swap(a, b);
    return op("arith." + std::string(name) + " " + a + ", " + b, type);
  }

  /// What a field becomes with `a` times `b` more.
  std::string withProduct(const std::string &field, const std::string &a, const std::string &b) {
    std::string left = a;
    if (weighted)
      left = binary("mulf", a, "%ww", "f32");
    if (one(2))
      return op("math.fma " + left + ", " + b + ", %" + field, "f32");
    return binary("addf", "%" + field, binary("mulf", left, b, "f32"), "f32");
  }

  std::string update() {
    lines.clear();
    std::string text = "  annudf.update (" + declared() + "%x: f32, %y: f32) {\n";
    if (weighted)
      text += "    %d = annudf.index dim\n    %e = annudf.load %w[%d] : !annudf.capture<dim x "
              "f32>\n    %ww = arith.mulf %e, %e : f32\n";
    std::string results;
    for (const std::string &field : fields) {
      const std::string a(1, field[0] == 's' ? field[1] : field[0]), b(1, field[1]);
      results += (results.empty() ? "" : ", ") + (field[0] == 's'
                                                      ? binary("addf", "%" + field, "%" + a, "f32")
                                                      : withProduct(field, "%" + a, "%" + b));
    }
    return text + lines + "    annudf.yield " + results + types() + "\n  }\n";
  }

  /// A field less the product of two sums by the number of dims.
  std::string lessMean(const std::string &field, const std::string &a, const std::string &b) {
    const std::string type = wide ? "f64" : "f32";
    std::string mean;
    if (one(2))
      mean = binary("divf", binary("mulf", a, b, type), "%n", type);
    else
      mean = binary("mulf", binary("divf", a, "%n", type), b, type);
    return binary("subf", field, mean, type);
  }

  /// The ratio of a product and two squares, with or without a guard for 0.
  std::string ratio(const std::string &p, const std::string &x, const std::string &y,
                    const std::string &type) {
    const auto root = [&](const std::string &of) { return op("math.sqrt " + of, type); };
    switch (random() % 4) {
    case 0:
      return binary("divf", p, root(binary("mulf", x, y, type)), type);
    case 1:
      return binary("divf", binary("divf", p, root(x), type), root(y), type);
    case 2:
      return binary("mulf", p, op("math.rsqrt " + binary("mulf", x, y, type), type), type);
    case 3:
      break;
    }
    const std::string both = binary("mulf", root(x), root(y), type);
    lines += "    %none = arith.constant 0.0 : " + type + "\n";
    lines += "    %empty = arith.cmpf oeq, " + both + ", %none : " + type + "\n";
    return op("arith.select %empty, %none, " + binary("divf", p, both, type), type);
  }

  std::string finalize() {
    lines.clear();
    const std::string type = wide ? "f64" : "f32";
    std::string text = "  annudf.finalize (" + declared();
    text.resize(text.size() - 2);
    text += ") {\n";
    std::string p = "%xy", x = "%xx", y = "%yy";
    if (ofSums) {
      lines += "    %dims = annudf.index dims\n    %whole = arith.index_cast %dims : index to i32\n"
               "    %n = arith.sitofp %whole : i32 to " +
               type + "\n";
      const auto widened = [&](const std::string &of) {
        return wide ? op("arith.extf " + of, "f32 to f64") : of;
      };
      const std::string sx = widened("%sx"), sy = widened("%sy");
      p = lessMean(widened(p), sx, sy), x = lessMean(widened(x), sx, sx),
      y = lessMean(widened(y), sy, sy);
    }
    std::string r = ratio(p, x, y, type);
    if (wide)
      r = op("arith.truncf " + r, "f64 to f32");
    lines += "    %one = arith.constant 1.0 : f32\n";
    switch (random() % 4) {
    case 0:
      largest = true;
      break;
    case 1:
      r = op("arith.negf " + r, "f32");
      break;
    case 2:
      lines += "    %zero = arith.constant 0.0 : f32\n";
      r = op("math.sqrt " +
                 op("arith.maximumf " + binary("subf", "%one", r, "f32") + ", %zero", "f32"),
             "f32");
      break;
    case 3:
      r = binary("subf", "%one", r, "f32");
    }
    return text + lines + "    annudf.yield " + r + " : f32\n  }\n";
  }

  std::mt19937 random;
  const bool ofSums; ///< Whether means are taken off, by two sums more.
  const bool wide;   ///< Whether `finalize` computes in f64.
  bool weighted = false, largest = false;
  std::vector<std::string> fields; ///< In the order of the accumulator.
  std::string lines;
  int values = 0;
};

} // namespace annudf::test

#endif // ANNUDF_TEST_E2E_RANDOMRATIO_H
