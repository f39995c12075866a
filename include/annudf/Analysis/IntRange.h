//===- IntRange.h - What an integer may be -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An integer of `width` bits is described by three intervals that all hold: of its
// signed value, of its unsigned value, and of its signed value minus dims, the number
// of dimensions, which is not known when a metric is compiled. The third is what proves
// `dims - 1 - dim < dims`.
//
// Memory safety hangs on this file, so it knows nothing of MLIR and works for every
// width from 1 to 64: test/Analysis enumerates small ones.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_ANALYSIS_INTRANGE_H
#define ANNUDF_ANALYSIS_INTRANGE_H

#include <cstdint>
#include <optional>
#include <utility>

namespace annudf::ranges {

/// Holds every sum, difference and signed product of two 64-bit integers.
__extension__ using Wide = __int128;

struct IntRange {
  unsigned width;
  Wide smin, smax; ///< Signed value.
  Wide umin, umax; ///< Unsigned value.
  Wide dmin, dmax; ///< Signed value minus dims.

  bool isSigned(Wide value) const { return smin == value && smax == value; }
  bool isUnsigned(Wide value) const { return umin == value && umax == value; }
  bool isConstant() const { return umin == umax; }
  bool isNonNegative() const { return smin >= 0; }
  bool mayBeUnsigned(Wide value) const { return umin <= value && value <= umax; }
  bool mayBeSigned(Wide value) const { return smin <= value && value <= smax; }
  /// The smallest integer of its width, whose absolute value has no place in it.
  bool mayBeSmallest() const { return smin == -(Wide(1) << (width - 1)); }
  bool operator==(const IntRange &) const = default;
};

enum class Predicate { Eq, Ne, Slt, Sle, Sgt, Sge, Ult, Ule, Ugt, Uge };
Predicate inverse(Predicate predicate);

/// The operations, for dims from `dimsMin` to `dimsMax`. Each result holds every value that
/// the operation gives for operands in the given ranges; where it has none (a division by 0,
/// a shift by the width), the result says nothing.
class IntRangeDomain {
public:
  /// 1 <= dimsMin <= dimsMax < 2^31.
  IntRangeDomain(int64_t dimsMin, int64_t dimsMax) : dimsMin(dimsMin), dimsMax(dimsMax) {}

  IntRange any(unsigned width) const;
  /// `bits` are taken modulo 2^width.
  IntRange constant(unsigned width, uint64_t bits) const;
  /// Signed values from `low` to `high`.
  IntRange between(unsigned width, int64_t low, int64_t high) const;
  /// The number of dimensions, and one of them: 0 to dims - 1.
  IntRange dims(unsigned width) const;
  IntRange dim(unsigned width) const;

  IntRange unite(const IntRange &a, const IntRange &b) const;
  /// What both say; nothing if they contradict each other.
  std::optional<IntRange> intersect(const IntRange &a, const IntRange &b) const;
  /// Holds `before` and `after`; bounds that moved become unknown, so that repeating it ends.
  IntRange widen(const IntRange &before, const IntRange &after) const;

  IntRange add(const IntRange &a, const IntRange &b) const;
  IntRange sub(const IntRange &a, const IntRange &b) const;
  IntRange mul(const IntRange &a, const IntRange &b) const;
  IntRange divSigned(const IntRange &a, const IntRange &b) const;
  IntRange divUnsigned(const IntRange &a, const IntRange &b) const;
  IntRange remSigned(const IntRange &a, const IntRange &b) const;
  IntRange remUnsigned(const IntRange &a, const IntRange &b) const;
  IntRange bitAnd(const IntRange &a, const IntRange &b) const;
  IntRange bitOr(const IntRange &a, const IntRange &b) const;
  IntRange bitXor(const IntRange &a, const IntRange &b) const;
  IntRange shiftLeft(const IntRange &a, const IntRange &amount) const;
  IntRange shiftRightSigned(const IntRange &a, const IntRange &amount) const;
  IntRange shiftRightUnsigned(const IntRange &a, const IntRange &amount) const;
  IntRange minSigned(const IntRange &a, const IntRange &b) const;
  IntRange maxSigned(const IntRange &a, const IntRange &b) const;
  IntRange minUnsigned(const IntRange &a, const IntRange &b) const;
  IntRange maxUnsigned(const IntRange &a, const IntRange &b) const;

  IntRange abs(const IntRange &a) const;
  IntRange countLeadingZeros(const IntRange &a) const;
  IntRange countTrailingZeros(const IntRange &a) const;
  IntRange countOnes(const IntRange &a) const;

  IntRange extendSigned(const IntRange &a, unsigned width) const;
  IntRange extendUnsigned(const IntRange &a, unsigned width) const;
  IntRange truncate(const IntRange &a, unsigned width) const;

  /// One bit: whether the predicate holds.
  IntRange compare(Predicate predicate, const IntRange &a, const IntRange &b) const;
  /// The operands, where the predicate holds; nothing if it never does.
  std::optional<std::pair<IntRange, IntRange>> assume(Predicate predicate, const IntRange &a,
                                                      const IntRange &b) const;

private:
  bool tighten(IntRange &range) const;
  IntRange make(IntRange range) const;
  IntRange unsignedBetween(unsigned width, Wide low, Wide high) const;
  IntRange wrapped(unsigned width, Wide slow, Wide shigh, Wide ulow, Wide uhigh, Wide dlow,
                   Wide dhigh) const;
  IntRange bitwise(const IntRange &a, const IntRange &b) const;

  Wide dimsMin, dimsMax;
};

} // namespace annudf::ranges

#endif // ANNUDF_ANALYSIS_INTRANGE_H
