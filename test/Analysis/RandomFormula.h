//===- RandomFormula.h - Random updates and what they compute -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A formula is written as an update of the dialect and computed by itself, op by op, each rounded
// to its type. It shares no code with what is tested. Products may be fused with sums that use
// them, as a compiler may: at sites of the formula's own choice.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_ANALYSIS_RANDOMFORMULA_H
#define ANNUDF_TEST_ANALYSIS_RANDOMFORMULA_H

#include <cstdint>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace annudf::test {

__extension__ using Quad = __float128;

/// Captures: w[dim], q[query][dim], s of f32, n of i8, u of ui8.
struct Inputs {
  float x, y;
  double w, q, s, n, u;
  double of(char capture) const {
    switch (capture) {
    case 'w':
      return w;
    case 'q':
      return q;
    case 's':
      return s;
    case 'n':
      return n;
    case 'u':
      return u;
    }
    std::abort(); // No such capture.
  }
};

class RandomFormula {
public:
  explicit RandomFormula(uint32_t seed);

  enum class Join { Add, Subtract, Fma, Maximum, Minimum, MaxNum, MinNum };
  struct Step {
    Join join;
    bool fieldFirst;
    int a, b = -1; ///< Fma: both factors.
  };

  /// The metric, in text of the dialect; helpers() stand beside it, once a module.
  std::string metric(const std::string &name) const;
  static const char *helpers();

  /// Computes all values; at sites, products are fused with their sum.
  void compute(const Inputs &inputs, bool fused);
  /// What the step adds, exactly of what it computes: no rounding of the join.
  Quad term(const Step &step) const;
  /// The field after all steps.
  float update(float acc, bool fused) const;

  const std::vector<Step> &steps() const { return allSteps; }
  bool extendsCoordinates() const { return extends; }
  bool beginsAsNan() const { return nanInitial; }

private:
  enum class Op {
    X,
    Y,
    Number,
    Capture,
    FromInteger,
    Neg,
    Add,
    Sub,
    Mul,
    Fma,
    Div,
    Abs,
    Sqrt,
    Exp,
    Floor,
    Maximum,
    Minimum,
    MaxNum,
    MinNum,
    Extend,
    Truncate,
    Select,
    If,
    Square,
    Apart
  };
  struct Node {
    Op op;
    int bits;                           ///< Its type's.
    int a = -1, b = -1, c = -1, d = -1; ///< Select: a < or = b ? c : d.
    double number = 0;
    char capture = 0;
    const char *predicate = nullptr;
    int site = 0; ///< For a sum: 1 fuses its first operand where that is a product, 2 its second.
  };

  int random(int below) { return static_cast<int>(generator() % static_cast<uint32_t>(below)); }
  int add(Node node);
  int unary(Op op, int a) { return add({op, nodes[a].bits, a}); }
  int binary(Op op, int a, int b) { return add({op, nodes[a].bits, a, b}); }
  int number(double value, int bits);
  int leaf(int bits);
  int expression(int depth, int bits);
  int structured(int depth, int bits);
  int choice(int depth, int bits);
  int exchanged(int node, std::map<int, int> &done);
  int exchanged(int node) {
    std::map<int, int> done;
    return exchanged(node, done);
  }
  bool asProduct(int node, double &p, double &q) const;
  double sum(const Node &node, bool fused) const;
  double valueOf(const Node &node, const Inputs &inputs, bool fused) const;
  void writeChoice(int node, std::string &text, std::map<int, std::string> &names) const;
  void write(int node, std::string &text, std::map<int, std::string> &names) const;

  std::mt19937 generator;
  std::vector<Node> nodes;
  std::vector<double> values;
  std::vector<Step> allSteps;
  bool extends = false, nanInitial = false;
};

} // namespace annudf::test

#endif // ANNUDF_TEST_ANALYSIS_RANDOMFORMULA_H
