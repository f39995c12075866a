//===- Coefficients.cpp - Expressions over captures -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Analysis/Properties.h"

#include <algorithm>
#include <bit>
#include <cmath>

using namespace annudf;
using Kind = Coefficient::Kind;

Coefficients::Coefficients() {
  make({Kind::Number, 0.0, 0, 0, {}, {}});
  make({Kind::Number, 1.0, 0, 0, {}, {}});
}

uint32_t Coefficients::make(Coefficient node) {
  Key key{node.kind,   std::bit_cast<uint64_t>(node.number), node.a, node.b, node.capture,
          node.indices};
  auto [place, isNew] = known.try_emplace(std::move(key), static_cast<uint32_t>(all.size()));
  if (isNew)
    all.push_back(std::move(node));
  return place->second;
}

std::optional<double> Coefficients::valueOf(uint32_t node) const {
  if (all[node].kind != Kind::Number)
    return std::nullopt;
  return all[node].number;
}

uint32_t Coefficients::number(double value) {
  return make({Kind::Number, value + 0.0, 0, 0, {}, {}}); // -0 is 0.
}

uint32_t Coefficients::entry(std::string capture, std::vector<EntryIndex> indices) {
  return make({Kind::Entry, 0, 0, 0, std::move(capture), std::move(indices)});
}

uint32_t Coefficients::negated(uint32_t a) {
  if (auto value = valueOf(a))
    return number(-*value);
  if (all[a].kind == Kind::Negated)
    return all[a].a;
  return make({Kind::Negated, 0, a, 0, {}, {}});
}

/// Whether a + b is the double `sum`: what TwoSum says is lost.
static bool isExactSum(double a, double b, double sum) {
  const double part = sum - a;
  return std::isfinite(sum) && (a - (sum - part)) + (b - part) == 0;
}

uint32_t Coefficients::sum(uint32_t a, uint32_t b) {
  if (a == kZero || b == kZero)
    return a == kZero ? b : a;
  if (const auto x = valueOf(a), y = valueOf(b); x && y && isExactSum(*x, *y, *x + *y))
    return number(*x + *y);
  if (a == b)
    return product(number(2), a);
  if (negated(a) == b)
    return kZero;
  // The sum of two negated ones is negated: w and -w meet where they are compared.
  if (all[a].kind == Kind::Negated && all[b].kind == Kind::Negated)
    return negated(sum(all[a].a, all[b].a));
  return make({Kind::Sum, 0, std::min(a, b), std::max(a, b), {}, {}});
}

uint32_t Coefficients::product(uint32_t a, uint32_t b) {
  if (a == kZero || b == kZero)
    return kZero;
  if (a == kOne || b == kOne)
    return a == kOne ? b : a;
  const auto x = valueOf(a), y = valueOf(b);
  if (x && y) {
    const double both = *x * *y;
    // Far from where fma itself would lose what is lost.
    if (std::fma(*x, *y, -both) == 0 && std::abs(both) > 1e-200 && std::abs(both) < 1e200)
      return number(both);
  }
  for (auto [value, one, other] : {std::tuple(x, a, b), std::tuple(y, b, a)}) {
    if (value && *value < 0)
      return negated(product(number(-*value), other));
    if (all[one].kind == Kind::Negated)
      return negated(product(all[one].a, other));
    // 2 (3 w) is 6 w.
    if (value && all[other].kind == Kind::Product)
      if (auto inner = valueOf(all[other].a)) {
        const uint32_t factor = product(one, all[other].a);
        if (all[factor].kind == Kind::Number)
          return product(factor, all[other].b);
      }
    // 2 (1 / w) is 2 / w.
    if (value && all[other].kind == Kind::Quotient && valueOf(all[other].a)) {
      const uint32_t factor = product(one, all[other].a);
      if (all[factor].kind == Kind::Number)
        return quotient(factor, all[other].b);
    }
  }
  // A number stands first.
  if (y || (!x && b < a))
    std::swap(a, b);
  return make({Kind::Product, 0, a, b, {}, {}});
}

uint32_t Coefficients::quotient(uint32_t a, uint32_t b) {
  if (b == kOne)
    return a;
  if (all[a].kind == Kind::Negated)
    return negated(quotient(all[a].a, b));
  if (all[b].kind == Kind::Negated)
    return negated(quotient(a, all[b].a));
  if (auto value = valueOf(a); value && *value < 0)
    return negated(quotient(number(-*value), b));
  return make({Kind::Quotient, 0, a, b, {}, {}}); // 0 / w too: w may be 0.
}

uint32_t Coefficients::absolute(uint32_t a) {
  if (auto value = valueOf(a))
    return number(std::abs(*value));
  if (all[a].kind == Kind::Negated)
    return absolute(all[a].a);
  if (all[a].kind == Kind::Absolute)
    return a;
  return make({Kind::Absolute, 0, a, 0, {}, {}});
}
