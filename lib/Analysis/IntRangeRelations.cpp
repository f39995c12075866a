//===- IntRangeRelations.cpp - What comparisons tell of ranges -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Analysis/IntRange.h"

#include <algorithm>

using namespace annudf::ranges;

static void atLeast(Wide &bound, Wide value) { bound = std::max(bound, value); }
static void atMost(Wide &bound, Wide value) { bound = std::min(bound, value); }

Predicate annudf::ranges::inverse(Predicate predicate) {
  switch (predicate) {
  case Predicate::Eq:
    return Predicate::Ne;
  case Predicate::Ne:
    return Predicate::Eq;
  case Predicate::Slt:
    return Predicate::Sge;
  case Predicate::Sle:
    return Predicate::Sgt;
  case Predicate::Sgt:
    return Predicate::Sle;
  case Predicate::Sge:
    return Predicate::Slt;
  case Predicate::Ult:
    return Predicate::Uge;
  case Predicate::Ule:
    return Predicate::Ugt;
  case Predicate::Ugt:
    return Predicate::Ule;
  case Predicate::Uge:
    return Predicate::Ult;
  }
  __builtin_unreachable();
}

static bool isAlwaysLess(const IntRange &a, const IntRange &b, bool isSigned) {
  if (isSigned || (a.isNonNegative() && b.isNonNegative()))
    return a.smax < b.smin || a.dmax < b.dmin;
  return a.umax < b.umin;
}

static bool isAlwaysAtMost(const IntRange &a, const IntRange &b, bool isSigned) {
  if (isSigned || (a.isNonNegative() && b.isNonNegative()))
    return a.smax <= b.smin || a.dmax <= b.dmin;
  return a.umax <= b.umin;
}

static bool isAlways(Predicate predicate, const IntRange &a, const IntRange &b) {
  switch (predicate) {
  case Predicate::Eq:
    return (a.isConstant() && b.isConstant() && a.umin == b.umin) ||
           (a.dmin == a.dmax && b.dmin == b.dmax && a.dmin == b.dmin);
  case Predicate::Ne:
    return isAlwaysLess(a, b, true) || isAlwaysLess(b, a, true) || isAlwaysLess(a, b, false) ||
           isAlwaysLess(b, a, false);
  case Predicate::Slt:
    return isAlwaysLess(a, b, true);
  case Predicate::Sle:
    return isAlwaysAtMost(a, b, true);
  case Predicate::Sgt:
    return isAlwaysLess(b, a, true);
  case Predicate::Sge:
    return isAlwaysAtMost(b, a, true);
  case Predicate::Ult:
    return isAlwaysLess(a, b, false);
  case Predicate::Ule:
    return isAlwaysAtMost(a, b, false);
  case Predicate::Ugt:
    return isAlwaysLess(b, a, false);
  case Predicate::Uge:
    return isAlwaysAtMost(b, a, false);
  }
  __builtin_unreachable();
}

IntRange IntRangeDomain::compare(Predicate predicate, const IntRange &a, const IntRange &b) const {
  if (isAlways(predicate, a, b))
    return constant(1, 1);
  if (isAlways(inverse(predicate), a, b))
    return constant(1, 0);
  return any(1);
}

/// Takes `value` off the ends of the range.
static void exclude(IntRange &range, const IntRange &value) {
  if (value.smin == value.smax) {
    range.smin += range.smin == value.smin;
    range.smax -= range.smax == value.smin;
  }
  if (value.isConstant()) {
    range.umin += range.umin == value.umin;
    range.umax -= range.umax == value.umin;
  }
  if (value.dmin == value.dmax) {
    range.dmin += range.dmin == value.dmin;
    range.dmax -= range.dmax == value.dmin;
  }
}

/// a < b, or a <= b without `strict`.
static void order(IntRange &a, IntRange &b, bool isSigned, bool strict) {
  const IntRange below = a, above = b;
  if (!isSigned) {
    atMost(a.umax, above.umax - strict);
    atLeast(b.umin, below.umin + strict);
    // Then `a`, below it, is not negative either; and where `b` is, this says nothing.
    if (!above.isNonNegative())
      return;
    atLeast(a.smin, 0);
  }
  atMost(a.smax, above.smax - strict);
  atMost(a.dmax, above.dmax - strict);
  if (isSigned || below.isNonNegative()) {
    atLeast(b.smin, below.smin + strict);
    atLeast(b.dmin, below.dmin + strict);
  }
}

std::optional<std::pair<IntRange, IntRange>>
IntRangeDomain::assume(Predicate predicate, const IntRange &a, const IntRange &b) const {
  IntRange left = a, right = b;
  switch (predicate) {
  case Predicate::Eq:
    if (std::optional<IntRange> both = intersect(a, b))
      left = right = *both;
    else
      return std::nullopt;
    break;
  case Predicate::Ne:
    exclude(left, b);
    exclude(right, a);
    break;
  case Predicate::Slt:
  case Predicate::Sle:
    order(left, right, true, predicate == Predicate::Slt);
    break;
  case Predicate::Ult:
  case Predicate::Ule:
    order(left, right, false, predicate == Predicate::Ult);
    break;
  case Predicate::Sgt:
  case Predicate::Sge:
    order(right, left, true, predicate == Predicate::Sgt);
    break;
  case Predicate::Ugt:
  case Predicate::Uge:
    order(right, left, false, predicate == Predicate::Ugt);
    break;
  }
  if (!tighten(left) || !tighten(right))
    return std::nullopt;
  return std::pair(left, right);
}
