//===- IntRange.cpp - What an integer may be -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every function collects facts that hold for all operands, each in the interval where it
// is easiest to say, and leaves it to `tighten` to carry them over to the others.
//
//===----------------------------------------------------------------------===//

#include "annudf/Analysis/IntRange.h"

#include <algorithm>
#include <bit>

using namespace annudf::ranges;

/// Beyond every difference that can occur: no bound.
static constexpr Wide kFar = Wide(1) << 70;

static Wide modulus(unsigned width) { return Wide(1) << width; }
static Wide signedMin(unsigned width) { return -(Wide(1) << (width - 1)); }
static Wide signedMax(unsigned width) { return (Wide(1) << (width - 1)) - 1; }
static Wide unsignedMax(unsigned width) { return (Wide(1) << width) - 1; }

static void atLeast(Wide &bound, Wide value) { bound = std::max(bound, value); }
static void atMost(Wide &bound, Wide value) { bound = std::min(bound, value); }

/// Bits that any value up to `value` may have.
static Wide bitsUpTo(Wide value) { return modulus(std::bit_width(uint64_t(value))) - 1; }

//===----------------------------------------------------------------------===//
// The intervals together
//===----------------------------------------------------------------------===//

/// Carries what one interval says over to the others. False if they contradict each other.
bool IntRangeDomain::tighten(IntRange &r) const {
  const Wide wrap = modulus(r.width), top = signedMax(r.width);
  // What the second round learns, the first does not need.
  for (int round = 0; round < 2; ++round) {
    if (r.umin > 0 && r.smin == 0)
      r.smin = 1;
    if (r.umin > 0 && r.smax == 0)
      r.smax = -1;
    if (r.smin >= 0 || r.smax < 0) {
      const Wide offset = r.smin >= 0 ? 0 : wrap;
      atLeast(r.umin, r.smin + offset);
      atMost(r.umax, r.smax + offset);
    }
    if (r.umax <= top || r.umin > top) {
      const Wide offset = r.umax <= top ? 0 : wrap;
      atLeast(r.smin, r.umin - offset);
      atMost(r.smax, r.umax - offset);
    }
    atLeast(r.smin, r.dmin + dimsMin);
    atMost(r.smax, r.dmax + dimsMax);
    atLeast(r.dmin, r.smin - dimsMax);
    atMost(r.dmax, r.smax - dimsMin);
    if (r.smin > r.smax || r.umin > r.umax || r.dmin > r.dmax)
      return false;
  }
  return true;
}

IntRange IntRangeDomain::make(IntRange range) const {
  return tighten(range) ? range : any(range.width);
}

IntRange IntRangeDomain::any(unsigned width) const {
  IntRange range{width, signedMin(width), signedMax(width), 0, unsignedMax(width), -kFar, kFar};
  tighten(range);
  return range;
}

IntRange IntRangeDomain::constant(unsigned width, uint64_t bits) const {
  const Wide value = Wide(bits) & unsignedMax(width);
  return unsignedBetween(width, value, value);
}

IntRange IntRangeDomain::between(unsigned width, int64_t low, int64_t high) const {
  IntRange range = any(width);
  atLeast(range.smin, low);
  atMost(range.smax, high);
  return make(range);
}

IntRange IntRangeDomain::unsignedBetween(unsigned width, Wide low, Wide high) const {
  IntRange range = any(width);
  atLeast(range.umin, low);
  atMost(range.umax, high);
  return make(range);
}

IntRange IntRangeDomain::dims(unsigned width) const {
  IntRange range = any(width);
  // In a type too narrow for it, dims wraps around and nothing is known.
  if (dimsMax > signedMax(width))
    return range;
  range.dmin = range.dmax = 0;
  return make(range);
}

IntRange IntRangeDomain::dim(unsigned width) const {
  IntRange range = any(width);
  if (dimsMax > signedMax(width))
    return range;
  range.smin = 0;
  range.dmax = -1;
  return make(range);
}

IntRange IntRangeDomain::unite(const IntRange &a, const IntRange &b) const {
  return {a.width,
          std::min(a.smin, b.smin),
          std::max(a.smax, b.smax),
          std::min(a.umin, b.umin),
          std::max(a.umax, b.umax),
          std::min(a.dmin, b.dmin),
          std::max(a.dmax, b.dmax)};
}

std::optional<IntRange> IntRangeDomain::intersect(const IntRange &a, const IntRange &b) const {
  IntRange both{a.width,
                std::max(a.smin, b.smin),
                std::min(a.smax, b.smax),
                std::max(a.umin, b.umin),
                std::min(a.umax, b.umax),
                std::max(a.dmin, b.dmin),
                std::min(a.dmax, b.dmax)};
  return tighten(both) ? std::optional(both) : std::nullopt;
}

IntRange IntRangeDomain::widen(const IntRange &before, const IntRange &after) const {
  const IntRange all = any(before.width);
  return {before.width,
          after.smin < before.smin ? all.smin : before.smin,
          after.smax > before.smax ? all.smax : before.smax,
          after.umin < before.umin ? all.umin : before.umin,
          after.umax > before.umax ? all.umax : before.umax,
          after.dmin < before.dmin ? all.dmin : before.dmin,
          after.dmax > before.dmax ? all.dmax : before.dmax};
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// The range of a value that modulo 2^width is in each of three intervals of exact results:
/// signed, unsigned, and signed minus dims. Those that may wrap around in part say nothing.
IntRange IntRangeDomain::wrapped(unsigned width, Wide slow, Wide shigh, Wide ulow, Wide uhigh,
                                 Wide dlow, Wide dhigh) const {
  IntRange range = any(width);
  atLeast(slow, dlow + dimsMin);
  atMost(shigh, dhigh + dimsMax);
  if (slow >= signedMin(width) && shigh <= signedMax(width)) {
    range.smin = slow;
    range.smax = shigh;
    range.dmin = dlow;
    range.dmax = dhigh;
  }
  const Wide offset = uhigh < 0 ? modulus(width) : ulow > unsignedMax(width) ? -modulus(width) : 0;
  if (ulow + offset >= 0 && uhigh + offset <= unsignedMax(width)) {
    range.umin = ulow + offset;
    range.umax = uhigh + offset;
  }
  return make(range);
}

IntRange IntRangeDomain::add(const IntRange &a, const IntRange &b) const {
  return wrapped(a.width, a.smin + b.smin, a.smax + b.smax, a.umin + b.umin, a.umax + b.umax,
                 std::max(a.dmin + b.smin, a.smin + b.dmin),
                 std::min(a.dmax + b.smax, a.smax + b.dmax));
}

IntRange IntRangeDomain::sub(const IntRange &a, const IntRange &b) const {
  // dims cancels: (a - dims) - (b - dims).
  return wrapped(a.width, std::max(a.smin - b.smax, a.dmin - b.dmax),
                 std::min(a.smax - b.smin, a.dmax - b.dmin), a.umin - b.umax, a.umax - b.umin,
                 a.dmin - b.smax, a.dmax - b.smin);
}

IntRange IntRangeDomain::mul(const IntRange &a, const IntRange &b) const {
  if (a.isSigned(1))
    return b;
  if (b.isSigned(1))
    return a;
  auto [low, high] =
      std::minmax({a.smin * b.smin, a.smin * b.smax, a.smax * b.smin, a.smax * b.smax});
  IntRange range = any(a.width);
  if (low >= signedMin(a.width) && high <= signedMax(a.width)) {
    range.smin = low;
    range.smax = high;
  }
  // The product of two unsigned 64-bit numbers would not fit.
  if (b.umax == 0 || a.umax <= unsignedMax(a.width) / b.umax) {
    range.umin = a.umin * b.umin;
    range.umax = a.umax * b.umax;
  }
  return make(range);
}

/// Whether quotients are smaller than the dividend, as dims / 2 is smaller than dims.
static bool isSmaller(Wide dividend, Wide divisor) { return dividend >= 1 && divisor >= 2; }

IntRange IntRangeDomain::divSigned(const IntRange &a, const IntRange &b) const {
  IntRange range = any(a.width);
  const bool overflows = a.smin == signedMin(a.width) && b.mayBeSigned(-1);
  if (!b.mayBeUnsigned(0) && !overflows) {
    range.smin = kFar;
    range.smax = -kFar;
    // Quotients are largest and smallest at the ends of the divisor's range and around 0.
    for (Wide divisor : {b.smin, Wide(-1), Wide(1), b.smax}) {
      if (divisor == 0 || !b.mayBeSigned(divisor))
        continue;
      for (Wide dividend : {a.smin, a.smax}) {
        atMost(range.smin, dividend / divisor);
        atLeast(range.smax, dividend / divisor);
      }
    }
    if (a.isNonNegative() && b.isNonNegative())
      atMost(range.dmax, a.dmax - isSmaller(a.smin, b.smin));
  }
  return make(range);
}

IntRange IntRangeDomain::divUnsigned(const IntRange &a, const IntRange &b) const {
  if (b.umin == 0)
    return any(a.width);
  IntRange range = unsignedBetween(a.width, a.umin / b.umax, a.umax / b.umin);
  if (a.isNonNegative())
    atMost(range.dmax, a.dmax - isSmaller(a.smin, b.umin));
  return make(range);
}

IntRange IntRangeDomain::remSigned(const IntRange &a, const IntRange &b) const {
  IntRange range = any(a.width);
  const bool overflows = a.smin == signedMin(a.width) && b.mayBeSigned(-1);
  if (b.mayBeUnsigned(0) || overflows)
    return range;
  const Wide largest = std::max(b.smax, -b.smin) - 1; // The remainder's, without its sign.
  range.smin = a.isNonNegative() ? 0 : std::max(a.smin, -largest);
  range.smax = a.smax <= 0 ? 0 : std::min(a.smax, largest);
  if (a.isNonNegative())
    atMost(range.dmax, a.dmax);
  if (b.isNonNegative())
    atMost(range.dmax, b.dmax - 1);
  // A dividend smaller than every divisor stays as it is.
  if (a.isNonNegative() && b.isNonNegative() && (a.smax < b.smin || a.dmax < b.dmin))
    return a;
  return make(range);
}

IntRange IntRangeDomain::remUnsigned(const IntRange &a, const IntRange &b) const {
  if (b.umin == 0)
    return any(a.width);
  if (a.umax < b.umin)
    return a;
  IntRange range = unsignedBetween(a.width, 0, std::min(a.umax, b.umax - 1));
  if (a.isNonNegative())
    atMost(range.dmax, a.dmax);
  if (b.isNonNegative())
    atMost(range.dmax, b.dmax - 1);
  return make(range);
}

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

/// Numbers that sign extension from k bits gives are closed under and, or and xor.
IntRange IntRangeDomain::bitwise(const IntRange &a, const IntRange &b) const {
  IntRange range = any(a.width);
  Wide limit = std::max({a.smax, b.smax, -1 - a.smin, -1 - b.smin});
  limit = bitsUpTo(limit);
  range.smin = -1 - limit;
  range.smax = limit;
  return range;
}

/// For results that as unsigned numbers are at most either operand: below one that is not
/// negative they are not negative either.
static void boundByNonNegative(IntRange &range, const IntRange &a, const IntRange &b) {
  for (const IntRange *operand : {&a, &b})
    if (operand->isNonNegative()) {
      atLeast(range.smin, 0);
      atMost(range.smax, operand->smax);
      atMost(range.dmax, operand->dmax);
    }
}

IntRange IntRangeDomain::bitAnd(const IntRange &a, const IntRange &b) const {
  IntRange range = bitwise(a, b);
  range.umax = std::min(a.umax, b.umax);
  boundByNonNegative(range, a, b);
  return make(range);
}

IntRange IntRangeDomain::bitOr(const IntRange &a, const IntRange &b) const {
  IntRange range = bitwise(a, b);
  range.umin = std::max(a.umin, b.umin);
  range.umax = bitsUpTo(a.umax | b.umax);
  if (a.isNonNegative() && b.isNonNegative())
    range.dmin = std::max(a.dmin, b.dmin);
  return make(range);
}

IntRange IntRangeDomain::bitXor(const IntRange &a, const IntRange &b) const {
  // ~a is -1 - a.
  if (a.isSigned(-1))
    return sub(a, b);
  if (b.isSigned(-1))
    return sub(b, a);
  IntRange range = bitwise(a, b);
  range.umax = bitsUpTo(a.umax | b.umax);
  return make(range);
}

IntRange IntRangeDomain::shiftLeft(const IntRange &a, const IntRange &amount) const {
  if (amount.umax >= a.width)
    return any(a.width);
  const Wide low = Wide(1) << int(amount.umin), high = Wide(1) << int(amount.umax);
  const auto [smin, smax] = std::minmax({a.smin * low, a.smin * high, a.smax * low, a.smax * high});
  IntRange range = any(a.width);
  if (smin >= signedMin(a.width) && smax <= signedMax(a.width)) {
    range.smin = smin;
    range.smax = smax;
  }
  if (a.umax * high <= unsignedMax(a.width)) {
    range.umin = a.umin * low;
    range.umax = a.umax * high;
  }
  return make(range);
}

IntRange IntRangeDomain::shiftRightSigned(const IntRange &a, const IntRange &amount) const {
  if (amount.umax >= a.width)
    return any(a.width);
  const int low = int(amount.umin), high = int(amount.umax);
  IntRange range = any(a.width);
  range.smin = std::min(a.smin >> low, a.smin >> high);
  range.smax = std::max(a.smax >> low, a.smax >> high);
  if (a.isNonNegative())
    atMost(range.dmax, a.dmax);
  return make(range);
}

IntRange IntRangeDomain::shiftRightUnsigned(const IntRange &a, const IntRange &amount) const {
  if (amount.umax >= a.width)
    return any(a.width);
  IntRange range = unsignedBetween(a.width, a.umin >> int(amount.umax), a.umax >> int(amount.umin));
  if (a.isNonNegative())
    atMost(range.dmax, a.dmax);
  return make(range);
}

IntRange IntRangeDomain::countLeadingZeros(const IntRange &a) const {
  auto zeros = [&](Wide value) { return Wide(a.width) - std::bit_width(uint64_t(value)); };
  return unsignedBetween(a.width, zeros(a.umax), zeros(a.umin));
}

IntRange IntRangeDomain::countTrailingZeros(const IntRange &a) const {
  if (a.isConstant())
    return constant(a.width, a.umin == 0 ? a.width : std::countr_zero(uint64_t(a.umin)));
  const Wide largest = a.umin == 0 ? Wide(a.width) : Wide(std::bit_width(uint64_t(a.umax)) - 1);
  return unsignedBetween(a.width, 0, largest);
}

IntRange IntRangeDomain::countOnes(const IntRange &a) const {
  if (a.isConstant())
    return constant(a.width, std::popcount(uint64_t(a.umin)));
  return unsignedBetween(a.width, a.umin > 0, std::bit_width(uint64_t(a.umax)));
}

//===----------------------------------------------------------------------===//
// Extremes
//===----------------------------------------------------------------------===//

IntRange IntRangeDomain::minSigned(const IntRange &a, const IntRange &b) const {
  IntRange range = unite(a, b);
  range.smax = std::min(a.smax, b.smax);
  range.dmax = std::min(a.dmax, b.dmax);
  return make(range);
}

IntRange IntRangeDomain::maxSigned(const IntRange &a, const IntRange &b) const {
  IntRange range = unite(a, b);
  range.smin = std::max(a.smin, b.smin);
  range.dmin = std::max(a.dmin, b.dmin);
  return make(range);
}

IntRange IntRangeDomain::minUnsigned(const IntRange &a, const IntRange &b) const {
  if (a.isNonNegative() && b.isNonNegative())
    return minSigned(a, b);
  IntRange range = unite(a, b);
  range.umax = std::min(a.umax, b.umax);
  // As unsigned numbers the negative ones are the largest.
  boundByNonNegative(range, a, b);
  return make(range);
}

IntRange IntRangeDomain::maxUnsigned(const IntRange &a, const IntRange &b) const {
  if (a.isNonNegative() && b.isNonNegative())
    return maxSigned(a, b);
  IntRange range = unite(a, b);
  range.umin = std::max(a.umin, b.umin);
  return make(range);
}

IntRange IntRangeDomain::abs(const IntRange &a) const {
  if (a.isNonNegative())
    return a;
  // The smallest integer stays as it is: as an unsigned number that is its absolute value.
  const Wide low = a.smax < 0 ? -a.smax : 0;
  IntRange range = unsignedBetween(a.width, low, std::max(-a.smin, a.smax));
  if (a.umin > 0)
    atLeast(range.umin, 1);
  return make(range);
}

//===----------------------------------------------------------------------===//
// Other widths
//===----------------------------------------------------------------------===//

IntRange IntRangeDomain::extendSigned(const IntRange &a, unsigned width) const {
  IntRange range = any(width);
  range.smin = a.smin;
  range.smax = a.smax;
  range.dmin = a.dmin;
  range.dmax = a.dmax;
  return make(range);
}

IntRange IntRangeDomain::extendUnsigned(const IntRange &a, unsigned width) const {
  if (a.isNonNegative())
    return extendSigned(a, width);
  return unsignedBetween(width, a.umin, a.umax);
}

IntRange IntRangeDomain::truncate(const IntRange &a, unsigned width) const {
  IntRange range = any(width);
  if (a.smin >= signedMin(width) && a.smax <= signedMax(width)) {
    range.smin = a.smin;
    range.smax = a.smax;
    range.dmin = a.dmin;
    range.dmax = a.dmax;
  }
  if (a.umax <= unsignedMax(width)) {
    range.umin = a.umin;
    range.umax = a.umax;
  }
  return make(range);
}
