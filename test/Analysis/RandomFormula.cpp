//===- RandomFormula.cpp - Random updates and what they compute -----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomFormula.h"

#include <cmath>
#include <cstdio>
#include <iterator>
#include <limits>

using namespace annudf::test;

static double rounded(double value, int bits) {
  if (bits == 16)
    return static_cast<double>(static_cast<_Float16>(value));
  return bits == 32 ? static_cast<double>(static_cast<float>(value)) : value;
}

/// f16 by way of f32, f32 by way of f64: each has more than twice the digits.
static double fusedTo(double a, double b, double c, int bits) {
  if (bits == 64)
    return std::fma(a, b, c);
  if (bits == 32)
    return std::fmaf(static_cast<float>(a), static_cast<float>(b), static_cast<float>(c));
  return rounded(static_cast<double>(static_cast<Quad>(a) * b + c), 16);
}

//===----------------------------------------------------------------------===//
// Making one
//===----------------------------------------------------------------------===//

int RandomFormula::add(Node node) {
  if (node.op == Op::Add || node.op == Op::Sub)
    node.site = random(3);
  nodes.push_back(node);
  return static_cast<int>(nodes.size()) - 1;
}

int RandomFormula::number(double value, int bits) {
  Node node{Op::Number, bits};
  node.number = value;
  return add(node);
}

int RandomFormula::leaf(int bits) {
  if (bits != 32) {
    const int narrow = leaf(32);
    if (bits == 64) {
      extends |= nodes[narrow].op == Op::X || nodes[narrow].op == Op::Y;
      return add({Op::Extend, 64, narrow});
    }
    return add({Op::Truncate, 16, narrow});
  }
  switch (random(9)) {
  case 0:
  case 1:
    return add({Op::X, 32});
  case 2:
  case 3:
    return add({Op::Y, 32});
  case 4: {
    constexpr double kNumbers[] = {0.0, -0.0, 1.0, -1.0, 2.0, 0.5, -3.0, 1e-30, 1e10, 0.25};
    return number(rounded(kNumbers[random(std::size(kNumbers))], 32), 32);
  }
  case 5: {
    Node node{Op::FromInteger, 32};
    node.capture = random(2) ? 'n' : 'u';
    return add(node);
  }
  default: {
    Node node{Op::Capture, 32};
    node.capture = "wwqs"[random(4)];
    return add(node);
  }
  }
}

int RandomFormula::choice(int depth, int bits) {
  static const char *const kPredicates[] = {"oeq", "ogt", "oge", "olt", "ole", "one", "ord",
                                            "ueq", "ugt", "uge", "ult", "ule", "une", "uno"};
  Node node{random(2) ? Op::Select : Op::If, bits};
  node.a = expression(depth - 1, 32);
  node.b = random(3) ? number(0, 32) : random(2) ? exchanged(node.a) : expression(depth - 1, 32);
  node.predicate = kPredicates[random(std::size(kPredicates))];
  node.c = expression(depth - 1, bits);
  switch (random(4)) {
  case 0: // The same another way.
    if (random(2)) {
      const int other = leaf(bits);
      node.d = binary(Op::Sub, binary(Op::Add, node.c, other), other);
      if (random(2))
        std::swap(node.c, node.d);
    } else if (nodes[node.c].op == Op::Sub)
      node.d = binary(Op::Add, unary(Op::Neg, nodes[node.c].b), nodes[node.c].a);
    else
      node.d = unary(Op::Neg, unary(Op::Neg, node.c));
    break;
  case 1:
    node.d = unary(Op::Neg, node.c);
    break;
  case 2:
    node.d = number(random(3) ? 0.0 : std::numeric_limits<double>::quiet_NaN(), bits);
    break;
  default:
    node.d = expression(depth - 1, bits);
  }
  return add(node);
}

/// Shapes that metrics have and chance would not give.
int RandomFormula::structured(int depth, int bits) {
  switch (random(8)) {
  case 7: { // |d| by a branch, or nearly.
    static const char *const kPredicates[] = {"olt", "ole", "ugt", "oge", "ult", "ueq"};
    Node node{random(2) ? Op::Select : Op::If, bits};
    node.a = expression(depth - 1, bits);
    node.b = number(random(6) ? 0.0 : 1.0, bits);
    node.predicate = kPredicates[random(std::size(kPredicates))];
    node.c = unary(Op::Neg, node.a), node.d = node.a;
    if ((node.predicate[1] == 'g') != (random(8) == 0))
      std::swap(node.c, node.d);
    return add(node);
  }
  case 0: {
    const int of = expression(depth - 1, bits);
    return binary(Op::Mul, of, of);
  }
  case 1: {
    static constexpr Op kOps[] = {Op::Add, Op::Sub, Op::Mul, Op::Maximum, Op::MinNum, Op::MaxNum};
    const int of = expression(depth - 1, bits);
    return binary(kOps[random(std::size(kOps))], of, exchanged(of));
  }
  case 2: {
    const int of = expression(depth - 1, bits);
    return binary(random(2) ? Op::Maximum : Op::MaxNum, of, unary(Op::Neg, of));
  }
  case 3: { // x^2 - 2xy + y^2
    const int x = expression(0, bits), y = expression(0, bits);
    const int xx = binary(Op::Mul, x, x), yy = binary(Op::Mul, y, y), xy = binary(Op::Mul, x, y);
    return binary(Op::Add, binary(Op::Sub, xx, binary(Op::Mul, number(2, bits), xy)), yy);
  }
  case 4:
    if (bits == 32)
      return unary(Op::Square, expression(depth - 1, bits));
    [[fallthrough]];
  case 5:
    if (bits == 32) {
      const int of = expression(depth - 1, bits);
      return binary(Op::Apart, of, random(2) ? exchanged(of) : expression(depth - 1, bits));
    }
    [[fallthrough]];
  default:
    return choice(depth, bits);
  }
}

int RandomFormula::expression(int depth, int bits) {
  if (depth <= 0) {
    if (random(2))
      return leaf(bits);
    int x = add({Op::X, 32}), y = add({Op::Y, 32});
    if (random(3) == 0)
      std::swap(x, y);
    if (bits == 64)
      x = add({Op::Extend, 64, x}), y = add({Op::Extend, 64, y}), extends = true;
    if (bits == 16)
      return add({Op::Truncate, 16, binary(Op::Sub, x, y)});
    return binary(Op::Sub, x, y);
  }
  const int next = depth - 1 - random(2);
  switch (random(16)) {
  case 0:
    return unary(Op::Neg, expression(next, bits));
  case 1:
    return binary(Op::Add, expression(next, bits), expression(next, bits));
  case 2:
    return binary(Op::Sub, expression(next, bits), expression(next, bits));
  case 3:
  case 4:
  case 5:
    return binary(Op::Mul, expression(next, bits), random(2) ? leaf(bits) : expression(next, bits));
  case 6:
    if (bits != 16)
      return add(
          {Op::Fma, bits, expression(next, bits), expression(next, bits), expression(next, bits)});
    [[fallthrough]];
  case 7:
    return binary(Op::Div, expression(next, bits),
                  random(3) == 0   ? expression(next, bits)
                  : random(4) == 0 ? unary(Op::Neg, leaf(bits))
                                   : leaf(bits));
  case 8:
    return unary(Op::Abs, expression(next, bits));
  case 9: {
    static constexpr Op kOps[] = {Op::Sqrt, Op::Exp, Op::Floor};
    return bits == 16 ? leaf(bits) : unary(kOps[random(3)], expression(next, bits));
  }
  case 10: {
    static constexpr Op kOps[] = {Op::Maximum, Op::Minimum, Op::MaxNum, Op::MinNum};
    return binary(kOps[random(4)], expression(next, bits), expression(next, bits));
  }
  case 11:
    if (bits == 32)
      return random(2) ? add({Op::Truncate, 32, expression(next, 64)})
                       : add({Op::Extend, 32, expression(next, 16)});
    [[fallthrough]];
  default:
    return structured(depth, bits);
  }
}

int RandomFormula::exchanged(int node, std::map<int, int> &done) {
  if (const auto known = done.find(node); known != done.end())
    return known->second;
  Node copy = nodes[node];
  if (copy.op == Op::X || copy.op == Op::Y)
    copy.op = copy.op == Op::X ? Op::Y : Op::X;
  for (int *operand : {&copy.a, &copy.b, &copy.c, &copy.d})
    if (*operand >= 0)
      *operand = exchanged(*operand, done);
  return done[node] = add(copy);
}

RandomFormula::RandomFormula(uint32_t seed) : generator(seed) {
  const int count = 1 + (random(5) == 0);
  static constexpr Join kJoins[] = {Join::Add,     Join::Add,     Join::Subtract, Join::Fma,
                                    Join::Maximum, Join::Minimum, Join::MaxNum,   Join::MinNum};
  int which = random(12);
  for (int i = 0; i < count; ++i) {
    // Steps of one field are joined alike.
    Step step{which < 8 ? kJoins[which] : Join::Add, random(2) == 0, 0};
    if (which < 4 || which >= 8)
      step.join = kJoins[random(4)];
    step.fieldFirst |= step.join == Join::Subtract;
    step.a = expression(1 + random(3), 32);
    if (step.join == Join::Fma)
      step.b = random(2) ? step.a : expression(1 + random(2), 32);
    allSteps.push_back(step);
  }
  nanInitial = random(8) == 0;
}

//===----------------------------------------------------------------------===//
// Computing it
//===----------------------------------------------------------------------===//

/// Whether a compiler may take the value for a product of two that are there.
bool RandomFormula::asProduct(int node, double &p, double &q) const {
  const Node &of = nodes[node];
  switch (of.op) {
  case Op::Mul:
    p = values[of.a], q = values[of.b];
    return true;
  case Op::Square:
    p = q = values[of.a];
    return true;
  case Op::Neg:
    if (!asProduct(of.a, p, q))
      return false;
    p = -p;
    return true;
  case Op::Add:
    p = 2, q = values[of.a];
    return of.a == of.b;
  case Op::Div: {
    int exponent;
    const double by = values[of.b];
    if (nodes[of.b].op != Op::Number || std::abs(std::frexp(by, &exponent)) != 0.5)
      return false;
    p = values[of.a], q = 1 / by;
    return true;
  }
  default:
    return false;
  }
}

double RandomFormula::sum(const Node &node, bool fused) const {
  const double a = values[node.a], sign = node.op == Op::Sub ? -1 : 1, b = sign * values[node.b];
  double p, q;
  if (fused && node.site == 1 && asProduct(node.a, p, q))
    return fusedTo(p, q, b, node.bits);
  if (fused && node.site == 2 && asProduct(node.b, p, q))
    return fusedTo(sign * p, q, a, node.bits);
  return rounded(a + b, node.bits);
}

static double largest(double a, double b, bool isMax, bool forgetsNan) {
  if (std::isnan(a) || std::isnan(b))
    return !forgetsNan ? std::numeric_limits<double>::quiet_NaN() : std::isnan(a) ? b : a;
  return isMax == (a < b) ? b : a;
}

static bool compare(const char *predicate, double a, double b) {
  const std::string p = predicate;
  const bool unordered = std::isnan(a) || std::isnan(b);
  if (p == "ord" || p == "uno")
    return unordered == (p == "uno");
  if (unordered)
    return p[0] == 'u';
  const std::string relation = p.substr(1);
  return relation == "eq"   ? a == b
         : relation == "ne" ? a != b
         : relation == "gt" ? a > b
         : relation == "ge" ? a >= b
         : relation == "lt" ? a < b
                            : a <= b;
}

double RandomFormula::valueOf(const Node &node, const Inputs &inputs, bool fused) const {
  const auto at = [&](int operand) { return operand < 0 ? 0.0 : values[operand]; };
  const double a = at(node.a), b = at(node.b), c = at(node.c);
  switch (node.op) {
  case Op::X:
    return inputs.x;
  case Op::Y:
    return inputs.y;
  case Op::Number:
    return node.number;
  case Op::Capture:
  case Op::FromInteger:
    return inputs.of(node.capture);
  case Op::Neg:
    return -a;
  case Op::Add:
  case Op::Sub:
    return sum(node, fused);
  case Op::Mul:
  case Op::Square:
    return rounded(node.op == Op::Mul ? a * b : a * a, node.bits);
  case Op::Fma:
    return fusedTo(a, b, c, node.bits);
  case Op::Div:
    return rounded(a / b, node.bits);
  case Op::Abs:
    return std::abs(a);
  case Op::Apart:
    return std::abs(rounded(a - b, node.bits));
  case Op::Sqrt:
    return rounded(std::sqrt(a), node.bits);
  case Op::Exp:
    return rounded(std::exp(a), node.bits);
  case Op::Floor:
    return std::floor(a);
  case Op::Maximum:
  case Op::Minimum:
    return largest(a, b, node.op == Op::Maximum, false);
  case Op::MaxNum:
  case Op::MinNum:
    return largest(a, b, node.op == Op::MaxNum, true);
  case Op::Extend:
    return a;
  case Op::Truncate:
    return rounded(a, node.bits);
  case Op::Select:
  case Op::If:
    return compare(node.predicate, a, b) ? c : at(node.d);
  }
  return 0;
}

void RandomFormula::compute(const Inputs &inputs, bool fused) {
  values.resize(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i)
    values[i] = valueOf(nodes[i], inputs, fused);
}

Quad RandomFormula::term(const Step &step) const {
  if (step.join == Join::Fma)
    return static_cast<Quad>(values[step.a]) * values[step.b];
  return step.join == Join::Subtract ? -values[step.a] : values[step.a];
}

float RandomFormula::update(float acc, bool fused) const {
  double field = acc;
  for (const Step &step : allSteps) {
    const double a = values[step.a];
    double p, q;
    switch (step.join) {
    case Join::Add:
    case Join::Subtract: {
      const double sign = step.join == Join::Subtract ? -1 : 1;
      if (fused && asProduct(step.a, p, q))
        field = fusedTo(sign * p, q, field, 32);
      else
        field = rounded(field + sign * a, 32);
      break;
    }
    case Join::Fma:
      field = fusedTo(a, values[step.b], field, 32);
      break;
    case Join::Maximum:
    case Join::Minimum:
      field = largest(field, a, step.join == Join::Maximum, false);
      break;
    case Join::MaxNum:
    case Join::MinNum:
      field = largest(field, a, step.join == Join::MaxNum, true);
      break;
    }
  }
  return static_cast<float>(field);
}
