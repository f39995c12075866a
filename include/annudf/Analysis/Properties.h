//===- Properties.h - What is proved of a metric's formula -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each field of the accumulator that an update joins with terms (Joins.h), what the terms are
// as functions of the two coordinates. docs/spec/numerics.md says what each claim means and why it
// holds. An op that the tables do not know proves nothing. The module must have been verified.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_ANALYSIS_PROPERTIES_H
#define ANNUDF_ANALYSIS_PROPERTIES_H

#include "annudf/Analysis/Joins.h"
#include "annudf/Artifact/Form.h"
#include "annudf/Dialect/IR/Annudf.h"

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace annudf {

//===----------------------------------------------------------------------===//
// Coefficients
//===----------------------------------------------------------------------===//

/// Expressions that share nodes: equal ones are one node, so that equal numbers prove equal values.
/// Operands stand before what uses them. Constants are folded only where the double is exact.
class Coefficients {
public:
  static constexpr size_t kMost = 4096;

  Coefficients();
  static constexpr uint32_t kZero = 0, kOne = 1;

  uint32_t number(double value);
  uint32_t entry(std::string capture, std::vector<EntryIndex> indices);
  uint32_t negated(uint32_t a);
  uint32_t sum(uint32_t a, uint32_t b);
  uint32_t product(uint32_t a, uint32_t b);
  uint32_t quotient(uint32_t a, uint32_t b);
  uint32_t absolute(uint32_t a);

  const std::vector<Coefficient> &nodes() const & { return all; }
  bool isFull() const { return all.size() > kMost; }

private:
  using Key = std::tuple<Coefficient::Kind, uint64_t, uint32_t, uint32_t, std::string,
                         std::vector<EntryIndex>>;
  uint32_t make(Coefficient node);
  std::optional<double> valueOf(uint32_t node) const;

  std::vector<Coefficient> all;
  std::map<Key, uint32_t> known;
};

//===----------------------------------------------------------------------===//
// Polynomials
//===----------------------------------------------------------------------===//

/// A value that is a polynomial in real numbers, and how far from it a finite computed one may be:
/// |computed - exact| <= (E - 1) size(|x|, |y|) + E η small(|x|, |y|),
/// E = (1 + 2^-11)^f16 (1 + 2^-24)^f32 (1 + 2^-53)^f64.
struct PolynomialForm {
  Quadratic exact;
  Quadratic size;  ///< The same computed of absolute values, all signs positive.
  Quadratic small; ///< What products and quotients below the normal range may lose, in η.
  Roundings roundings;
  double eta = 0; ///< Half the smallest number of the widest step among the formats; 0: none.
};

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

/// How a claim holds.
enum class Claim : uint8_t {
  No,
  Real, ///< For the formula in real numbers; computed values may differ by rounding.
  Exact ///< For computed values too, whatever is fused; +0 and -0 are equal, and so are NaNs.
};

/// What a claim asks of every entry of a capture; NaN satisfies all.
struct Condition {
  enum class Kind : uint8_t { NonNegative, NonPositive, Positive };
  std::string capture;
  Kind kind = Kind::NonNegative;
  auto operator<=>(const Condition &) const = default;
};
/// ">= 0"
const char *relationOf(Condition::Kind kind);

enum class Sign : uint8_t { Unknown, NonNegative, NonPositive };
/// Grows: update gives no smaller a field than it was given, in the order of numbers in which NaN
/// is the largest. Falls: no larger, where NaN is the smallest. Either way NaN is last.
enum class Monotone : uint8_t { Unknown, Grows, Falls };
/// ">= 0" and "never falls"; "" of Unknown.
const char *wordsOf(Sign sign);
const char *wordsOf(Monotone monotone);

enum class Property : uint8_t { Canonical, Polynomial, Symmetric, Difference, Sign, Monotone };
inline constexpr Property kProperties[] = {Property::Canonical, Property::Polynomial,
                                           Property::Symmetric, Property::Difference,
                                           Property::Sign,      Property::Monotone};
/// "to be symmetric", for messages.
const char *phraseOf(Property property);

struct Unproved {
  Property property;
  mlir::Operation *at; ///< Where it was lost.
  std::string why;
};

struct FieldProperties {
  std::optional<JoinedField> joined;
  std::optional<PolynomialForm> polynomial; ///< The sum of the terms.
  Claim symmetric = Claim::No;
  Claim difference = Claim::No; ///< Whether the terms are a function of x - y only.
  Sign sign = Sign::Unknown;    ///< Each term has it, or is NaN.
  std::vector<Condition> signIf;
  Monotone monotone = Monotone::Unknown;
  std::vector<Condition> monotoneIf;
  std::vector<Unproved> unproved;
};

struct MetricProperties {
  Coefficients coefficients;
  std::vector<FieldProperties> fields;
};

MetricProperties inferProperties(ir::MetricOp metric);

/// What is proved of one field, "symmetric but for rounding"; "" where it is not, and of Canonical,
/// which goes without saying where there is more.
std::string spell(const FieldProperties &field, Property property,
                  const Coefficients &coefficients);

/// All that is proved of one field, for remarks.
std::string spell(const FieldProperties &field, const Coefficients &coefficients);

} // namespace annudf

#endif // ANNUDF_ANALYSIS_PROPERTIES_H
