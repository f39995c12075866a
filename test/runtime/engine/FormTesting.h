//===- FormTesting.h - Random updates, their forms and bad vectors -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_RUNTIME_ENGINE_FORMTESTING_H
#define ANNUDF_TEST_RUNTIME_ENGINE_FORMTESTING_H

#include "KnownForms.h"

#include "annudf/runtime/captures/Captures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace annudf::runtime::test {

__extension__ using Quad = __float128;

inline Quad absolute(Quad a) { return a < 0 ? -a : a; }

/// An array as it is given to bind: of no shape, a number.
template <class T>
CaptureValue given(const char *dtype, std::vector<int64_t> shape, const T *data, size_t count) {
  CaptureValue value;
  value.dtype = dtype, value.shape = std::move(shape);
  value.data = data, value.bytes = count * sizeof(T), value.origin = "a test";
  return value;
}

/// Captures "w" and "v" a dimension and "s", a number.
struct Captures {
  std::vector<float> w, v;
  float s = 1;
  BoundCaptures bound;

  Captures(std::vector<float> first, std::vector<float> second, float number)
      : w(std::move(first)), v(std::move(second)), s(number) {
    Manifest manifest;
    manifest.name = "m";
    manifest.captures = {{"w", ANNUDF_CAPTURE_F32, {{ANNUDF_EXTENT_DIM, 0}}},
                         {"v", ANNUDF_CAPTURE_F32, {{ANNUDF_EXTENT_DIM, 0}}},
                         {"s", ANNUDF_CAPTURE_F32, {}}};
    const auto dims = int64_t(w.size());
    bound = BoundCaptures::bindViews(manifest, int32_t(dims),
                                     {{"w", given("f32", {dims}, w.data(), w.size())},
                                      {"v", given("f32", {dims}, v.data(), v.size())},
                                      {"s", given("f32", {}, &s, 1)}},
                                     true);
  }
};

/// A random update acc + term, and the form that the rules of the table give it.
class Formula {
public:
  QuadraticForm form;

  explicit Formula(uint32_t seed) : random_(seed), nodes_(form.nodes) {
    form.ofDifference = chance(3);
    form.eta = 0x1p-150;
    leaves();
    for (int i = 0; i < 12; ++i)
      grow();
    // The last that depends on a row.
    term_ = int(ops_.size()) - 1;
    while (ops_[size_t(term_)].degree == 0)
      --term_;
    const Op &term = ops_[size_t(term_)];
    form.exact = term.exact, form.size = term.size, form.small = term.small;
    for (const Op &op : ops_)
      form.largest = sum(form.largest, op.size);
    form.largest = sum(form.largest, sum(term.small, term.small));
    // Fused with the sum, a product is not rounded; the form says how many there are at most.
    form.roundings.f32 = term.roundings;
    form.initial = chance(2) ? 0 : double(float(normal_(random_)));
    isFused_ = term.kind == Kind::Product && chance(2);
  }

  float computed(const Captures &captures, const std::vector<float> &x,
                 const std::vector<float> &y) const {
    auto acc = float(form.initial);
    for (size_t d = 0; d < x.size(); ++d) {
      const std::vector<float> values = all<float>(captures, x, y, d);
      const Op &term = ops_[size_t(term_)];
      acc = isFused_ ? std::fma(values[size_t(term.a)], values[size_t(term.b)], acc)
                     : acc + values[size_t(term_)];
    }
    return acc;
  }

private:
  enum class Kind {
    X,
    Y,
    Difference,
    W,
    V,
    S,
    Number,
    Negated,
    Sum,
    Minus,
    Product,
    Fma,
    Quotient
  };
  struct Op {
    Kind kind;
    int a = 0, b = 0, c = 0;
    float number = 0;
    int degree = 0;
    uint32_t roundings = 0;
    Quadratic exact = {}, size = {}, small = {};
  };

  bool chance(unsigned of) { return random_() % of == 0; }
  static Quadratic only(Quadratic::Power power, uint32_t node) {
    Quadratic poly;
    poly.of[power] = node;
    return poly;
  }
  Quadratic sum(const Quadratic &a, const Quadratic &b) {
    Quadratic poly;
    for (size_t i = 0; i < 6; ++i)
      poly.of[i] = nodes_.sum(a.of[i], b.of[i]);
    return poly;
  }
  Quadratic negated(const Quadratic &a) {
    Quadratic poly;
    for (size_t i = 0; i < 6; ++i)
      poly.of[i] = nodes_.one(Node::Kind::Negated, a.of[i]);
    return poly;
  }
  Quadratic product(const Quadratic &a, const Quadratic &b) {
    using Q = Quadratic;
    constexpr std::array<std::array<int, 2>, 6> powers = {
        {{2, 0}, {1, 1}, {0, 2}, {1, 0}, {0, 1}, {0, 0}}};
    Quadratic poly;
    for (size_t i = 0; i < 6; ++i)
      for (size_t j = 0; j < 6; ++j)
        for (size_t k = 0; k < 6; ++k)
          if (powers[i][0] + powers[j][0] == powers[k][0] &&
              powers[i][1] + powers[j][1] == powers[k][1])
            poly.of[k] = nodes_.sum(poly.of[k], nodes_.product(a.of[i], b.of[j]));
    static_assert(Q::One == 5);
    return poly;
  }
  Quadratic quotient(const Quadratic &a, uint32_t by) {
    Quadratic poly;
    for (size_t i = 0; i < 6; ++i)
      poly.of[i] = nodes_.quotient(a.of[i], by);
    return poly;
  }

  void leaves() {
    using Q = Quadratic;
    const uint32_t one = nodes_.number(1);
    if (form.ofDifference) {
      Op d{.kind = Kind::Difference, .degree = 1, .roundings = 1, .size = only(Q::X, one)};
      d.exact = sum(only(Q::X, one), only(Q::Y, nodes_.number(-1)));
      ops_.push_back(d);
    } else {
      for (auto [kind, power] : {std::pair(Kind::X, Q::X), std::pair(Kind::Y, Q::Y)})
        ops_.push_back(
            {.kind = kind, .degree = 1, .exact = only(power, one), .size = only(power, one)});
    }
    const auto capture = [&](Kind kind, const char *name, std::vector<EntryIndex> indices) {
      const uint32_t node = nodes_.entry(name, std::move(indices));
      ops_.push_back({.kind = kind,
                      .exact = only(Q::One, node),
                      .size = only(Q::One, nodes_.one(Node::Kind::Absolute, node))});
    };
    capture(Kind::W, "w", {kDim});
    capture(Kind::V, "v", {kDim});
    capture(Kind::S, "s", {});
    const auto number = float(normal_(random_));
    ops_.push_back({.kind = Kind::Number,
                    .number = number,
                    .exact = only(Q::One, nodes_.number(double(number))),
                    .size = only(Q::One, nodes_.number(std::abs(double(number))))});
  }

  void grow() {
    const int a = pick(), b = pick(), c = pick();
    const Op x = ops_[size_t(a)], y = ops_[size_t(b)], z = ops_[size_t(c)];
    Op op{.kind = Kind::Negated, .a = a, .b = b, .c = c};
    const Quadratic unit = only(Quadratic::One, nodes_.number(1));
    // S of a product but for its own rounding's 1.
    const auto lost = [&] {
      const Quadratic both = product(x.small, y.small);
      return sum(sum(product(x.small, y.size), product(y.small, x.size)), both);
    };
    switch (random_() % 6) {
    case 0:
      op.degree = x.degree, op.roundings = x.roundings, op.exact = negated(x.exact),
      op.size = x.size, op.small = x.small;
      break;
    case 1:
    case 2: {
      const bool minus = chance(2);
      op.kind = minus ? Kind::Minus : Kind::Sum;
      op.degree = std::max(x.degree, y.degree),
      op.roundings = std::max(x.roundings, y.roundings) + 1;
      op.exact = sum(x.exact, minus ? negated(y.exact) : y.exact);
      op.size = sum(x.size, y.size), op.small = sum(x.small, y.small);
      break;
    }
    case 3:
      op.kind = Kind::Product, op.degree = x.degree + y.degree,
      op.roundings = x.roundings + y.roundings + 1;
      if (op.degree > 2)
        return;
      op.exact = product(x.exact, y.exact), op.size = product(x.size, y.size),
      op.small = sum(lost(), unit);
      break;
    case 4:
      op.kind = Kind::Fma, op.degree = std::max(x.degree + y.degree, z.degree);
      op.roundings = std::max(x.roundings + y.roundings, z.roundings) + 1;
      if (x.degree + y.degree > 2)
        return;
      op.exact = sum(product(x.exact, y.exact), z.exact),
      op.size = sum(product(x.size, y.size), z.size);
      op.small = sum(sum(lost(), unit), z.small);
      break;
    case 5: {
      const bool byV = chance(2); // A capture, or the number.
      op.b = byV ? divisor(Kind::V) : divisor(Kind::Number);
      const Op &z2 = ops_[size_t(op.b)];
      op.kind = Kind::Quotient, op.degree = x.degree, op.roundings = x.roundings + 1;
      op.exact = quotient(x.exact, z2.exact.of[Quadratic::One]);
      op.size = quotient(x.size, z2.size.of[Quadratic::One]);
      op.small = sum(quotient(x.small, z2.size.of[Quadratic::One]), unit);
      break;
    }
    }
    ops_.push_back(op);
  }
  int pick() { return int(random_() % ops_.size()); }
  int divisor(Kind kind) const {
    return int(
        std::find_if(ops_.begin(), ops_.end(), [&](const Op &op) { return op.kind == kind; }) -
        ops_.begin());
  }

  template <class T> static T fused(T a, T b, T c) {
    if constexpr (std::is_same_v<T, float>)
      return std::fma(a, b, c);
    else
      return a * b + c;
  }
  template <class T>
  std::vector<T> all(const Captures &captures, const std::vector<float> &x,
                     const std::vector<float> &y, size_t d) const {
    std::vector<T> v;
    for (const Op &op : ops_) {
      const auto at = [&](int i) { return v[size_t(i)]; };
      switch (op.kind) {
      case Kind::X:
        v.push_back(x[d]);
        break;
      case Kind::Y:
        v.push_back(y[d]);
        break;
      case Kind::Difference:
        v.push_back(T(x[d]) - T(y[d]));
        break;
      case Kind::W:
        v.push_back(captures.w[d]);
        break;
      case Kind::V:
        v.push_back(captures.v[d]);
        break;
      case Kind::S:
        v.push_back(captures.s);
        break;
      case Kind::Number:
        v.push_back(op.number);
        break;
      case Kind::Negated:
        v.push_back(-at(op.a));
        break;
      case Kind::Sum:
        v.push_back(at(op.a) + at(op.b));
        break;
      case Kind::Minus:
        v.push_back(at(op.a) - at(op.b));
        break;
      case Kind::Product:
        v.push_back(at(op.a) * at(op.b));
        break;
      case Kind::Fma:
        v.push_back(fused(at(op.a), at(op.b), at(op.c)));
        break;
      case Kind::Quotient:
        v.push_back(at(op.a) / at(op.b));
        break;
      }
    }
    return v;
  }

public:
  /// The same sum in 113 bits.
  Quad real(const Captures &captures, const std::vector<float> &x,
            const std::vector<float> &y) const {
    Quad sum = form.initial;
    for (size_t d = 0; d < x.size(); ++d)
      sum += all<Quad>(captures, x, y, d)[size_t(term_)];
    return sum;
  }

private:
  std::mt19937 random_;
  std::normal_distribution<double> normal_;
  Nodes nodes_;
  std::vector<Op> ops_;
  int term_ = 0;
  bool isFused_ = false;
};

/// Vectors of one kind out of several, most of them bad.
inline std::vector<float> vectorOf(std::mt19937 &random, size_t dims, unsigned kind) {
  std::normal_distribution<float> normal;
  std::vector<float> values(dims);
  for (float &value : values) {
    const float v = normal(random);
    const unsigned one = kind == 9 ? random() % 9 : kind;
    switch (one) {
    case 0:
    case 1:
      value = v;
      break;
    case 2:
      value = v + 1e4f;
      break;
    case 3:
      value = v - 1e4f;
      break;
    case 4:
      value = random() % 2 ? 0.0f : -0.0f;
      break;
    case 5:
      value = v * 1e-40f;
      break;
    case 6:
      value = v * 1e-22f;
      break;
    case 7:
      value = v * 1e8f;
      break;
    case 8:
      value = v * 1e17f;
      break;
    }
  }
  return values;
}

} // namespace annudf::runtime::test

#endif // ANNUDF_TEST_RUNTIME_ENGINE_FORMTESTING_H
