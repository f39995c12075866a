//===- IntRangeTest.cpp - Every operand of small widths -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loads are proved to be safe with this domain, so each of its functions is compared with
// what integers of 3 and 4 bits really do, for every pair of ranges, every pair of values
// in them and every number of dimensions.
//
//===----------------------------------------------------------------------===//

#include "IntRangeTesting.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

using namespace annudf::ranges;
using namespace annudf::test;

namespace {

std::vector<uint64_t> valuesOf(const IntRange &range, int64_t dims) {
  std::vector<uint64_t> values;
  for (uint64_t bits = 0; bits <= maskOf(range.width); ++bits)
    if (holds(range, bits, dims))
      values.push_back(bits);
  return values;
}

bool evaluate(Predicate predicate, uint64_t a, uint64_t b, unsigned w) {
  const int64_t s = toSigned(a, w), t = toSigned(b, w);
  switch (predicate) {
  case Predicate::Eq:
    return a == b;
  case Predicate::Ne:
    return a != b;
  case Predicate::Slt:
    return s < t;
  case Predicate::Sle:
    return s <= t;
  case Predicate::Sgt:
    return s > t;
  case Predicate::Sge:
    return s >= t;
  case Predicate::Ult:
    return a < b;
  case Predicate::Ule:
    return a <= b;
  case Predicate::Ugt:
    return a > b;
  case Predicate::Uge:
    return a >= b;
  }
  return false;
}

constexpr Predicate kPredicates[] = {Predicate::Eq,  Predicate::Ne,  Predicate::Slt, Predicate::Sle,
                                     Predicate::Sgt, Predicate::Sge, Predicate::Ult, Predicate::Ule,
                                     Predicate::Ugt, Predicate::Uge};

/// A width and the numbers of dimensions that an index of it can have.
struct Small {
  unsigned width;
  int64_t dimsMin, dimsMax;
  IntRangeDomain domain{dimsMin, dimsMax};

  IntRange raw(Wide smin, Wide smax, Wide umin, Wide umax, Wide dmin, Wide dmax) const {
    return domain.intersect(domain.any(width), {width, smin, smax, umin, umax, dmin, dmax})
        .value_or(domain.any(width));
  }
};

bool isLess(const IntRange &a, const IntRange &b) {
  return std::tie(a.smin, a.smax, a.umin, a.umax, a.dmin, a.dmax) <
         std::tie(b.smin, b.smax, b.umin, b.umax, b.dmin, b.dmax);
}

/// Every range whose intervals are [low, high], signed, unsigned and, with `symbolic`,
/// minus dims, that holds a value.
std::vector<IntRange> everyRange(const Small &small, bool symbolic) {
  const Wide half = Wide(1) << (small.width - 1), far = 1000;
  std::set<IntRange, decltype(&isLess)> ranges(isLess);
  auto add = [&](const IntRange &range) {
    for (int64_t dims = small.dimsMin; dims <= small.dimsMax; ++dims)
      if (!valuesOf(range, dims).empty()) {
        ranges.insert(range);
        return;
      }
  };
  for (Wide slow = -half; slow < half; ++slow)
    for (Wide shigh = slow; shigh < half; ++shigh)
      if (symbolic) {
        for (Wide dlow = -half - small.dimsMax; dlow < half - small.dimsMin; ++dlow)
          for (Wide dhigh = dlow; dhigh < half - small.dimsMin; ++dhigh)
            add(small.raw(slow, shigh, 0, 2 * half - 1, dlow, dhigh));
      } else {
        for (Wide ulow = 0; ulow < 2 * half; ++ulow)
          for (Wide uhigh = ulow; uhigh < 2 * half; ++uhigh)
            add(small.raw(slow, shigh, ulow, uhigh, -far, far));
      }
  return {ranges.begin(), ranges.end()};
}

/// The signed values that an operation gives for every pair of values.
struct Hull {
  int64_t low = INT64_MAX, high = INT64_MIN;
  void add(int64_t value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

/// Compares an operation with every pair of values of two ranges.
void check(const Small &small, const Operation &op, const IntRange &a, const IntRange &b) {
  const IntRange result = (small.domain.*op.transfer)(a, b);
  ASSERT_EQ(result.width, small.width);
  for (int64_t dims = small.dimsMin; dims <= small.dimsMax; ++dims)
    for (uint64_t x : valuesOf(a, dims))
      for (uint64_t y : valuesOf(b, dims))
        if (std::optional<uint64_t> value = op.evaluate(x, y, small.width))
          ASSERT_TRUE(holds(result, *value, dims))
              << op.name << " of " << spell(a) << " and " << spell(b) << " is " << spell(result)
              << ", but for " << x << " and " << y << " it is " << *value << " with " << dims
              << " dims";
}

TEST(IntRange, EveryPairOfIntervalsOfThreeBits) {
  const Small small{3, 1, 3};
  const std::vector<IntRange> ranges = everyRange(small, false);
  ASSERT_GT(ranges.size(), 60u);
  for (const Operation &op : kOperations)
    for (const IntRange &a : ranges)
      for (const IntRange &b : ranges)
        ASSERT_NO_FATAL_FAILURE(check(small, op, a, b));
}

TEST(IntRange, ManyPairsWithSymbolicBounds) {
  std::mt19937 random(1);
  for (const Small &small : {Small{3, 1, 3}, Small{4, 1, 7}, Small{4, 2, 5}, Small{4, 6, 6}}) {
    const std::vector<IntRange> ranges = everyRange(small, true);
    for (const Operation &op : kOperations)
      for (int i = 0; i < 4000; ++i)
        ASSERT_NO_FATAL_FAILURE(
            check(small, op, ranges[random() % ranges.size()], ranges[random() % ranges.size()]));
  }
}

TEST(IntRange, EveryUnaryOperation) {
  struct Unary {
    const char *name;
    IntRange (IntRangeDomain::*transfer)(const IntRange &) const;
    std::function<uint64_t(uint64_t, unsigned)> evaluate;
  };
  const Unary operations[] = {
      {"abs", &IntRangeDomain::abs,
       [](uint64_t a, unsigned w) { return uint64_t(std::abs(toSigned(a, w))) & maskOf(w); }},
      {"ctlz", &IntRangeDomain::countLeadingZeros,
       [](uint64_t a, unsigned w) { return uint64_t(w - std::bit_width(a)); }},
      {"cttz", &IntRangeDomain::countTrailingZeros,
       [](uint64_t a, unsigned w) { return a == 0 ? w : uint64_t(std::countr_zero(a)); }},
      {"ctpop", &IntRangeDomain::countOnes,
       [](uint64_t a, unsigned) { return uint64_t(std::popcount(a)); }},
  };
  for (const Small &small : {Small{3, 1, 3}, Small{4, 1, 7}})
    for (bool symbolic : {false, true})
      for (const IntRange &a : everyRange(small, symbolic))
        for (const Unary &op : operations) {
          const IntRange result = (small.domain.*op.transfer)(a);
          for (int64_t dims = small.dimsMin; dims <= small.dimsMax; ++dims)
            for (uint64_t x : valuesOf(a, dims))
              ASSERT_TRUE(holds(result, op.evaluate(x, small.width), dims))
                  << op.name << " of " << spell(a) << " is " << spell(result) << ", but not for "
                  << x;
        }
}

TEST(IntRange, EveryCast) {
  for (const Small &small : {Small{3, 1, 3}, Small{4, 1, 7}})
    for (bool symbolic : {false, true})
      for (const IntRange &a : everyRange(small, symbolic))
        for (unsigned width = 1; width <= 6; ++width) {
          const bool wider = width > small.width;
          if (width == small.width)
            continue;
          const IntRange s =
              wider ? small.domain.extendSigned(a, width) : small.domain.truncate(a, width);
          const IntRange u = wider ? small.domain.extendUnsigned(a, width) : s;
          ASSERT_EQ(s.width, width);
          for (int64_t dims = small.dimsMin; dims <= small.dimsMax; ++dims)
            for (uint64_t x : valuesOf(a, dims)) {
              ASSERT_TRUE(holds(s, uint64_t(toSigned(x, small.width)) & maskOf(width), dims))
                  << spell(a) << " to " << spell(s);
              ASSERT_TRUE(holds(u, x & maskOf(width), dims)) << spell(a) << " to " << spell(u);
            }
        }
}

/// compare and assume, and what joins ranges.
void checkRelations(const Small &small, const IntRange &a, const IntRange &b) {
  const IntRange united = small.domain.unite(a, b);
  const std::optional<IntRange> both = small.domain.intersect(a, b);
  const IntRange wider = small.domain.widen(a, united);
  for (Predicate predicate : kPredicates) {
    const IntRange result = small.domain.compare(predicate, a, b);
    const auto facts = small.domain.assume(predicate, a, b);
    for (int64_t dims = small.dimsMin; dims <= small.dimsMax; ++dims)
      for (uint64_t x : valuesOf(a, dims))
        for (uint64_t y : valuesOf(b, dims)) {
          const bool is = evaluate(predicate, x, y, small.width);
          ASSERT_TRUE(holds(result, is, dims)) << spell(a) << " " << spell(b);
          ASSERT_NE(is, evaluate(inverse(predicate), x, y, small.width));
          if (is)
            ASSERT_TRUE(facts && holds(facts->first, x, dims) && holds(facts->second, y, dims))
                << int(predicate) << " of " << spell(a) << " and " << spell(b) << " leaves "
                << (facts ? spell(facts->first) + " and " + spell(facts->second) : "nothing")
                << ", but not " << x << " and " << y;
        }
  }
  for (int64_t dims = small.dimsMin; dims <= small.dimsMax; ++dims)
    for (uint64_t x = 0; x <= maskOf(small.width); ++x) {
      const bool inA = holds(a, x, dims), inB = holds(b, x, dims);
      ASSERT_LE(inA || inB, holds(united, x, dims));
      ASSERT_LE(inA || inB, holds(wider, x, dims));
      ASSERT_LE(inA && inB, both && holds(*both, x, dims));
    }
}

TEST(IntRange, EveryRelationOfThreeBits) {
  const Small small{3, 1, 3};
  const std::vector<IntRange> ranges = everyRange(small, false);
  for (const IntRange &a : ranges)
    for (const IntRange &b : ranges)
      ASSERT_NO_FATAL_FAILURE(checkRelations(small, a, b));
}

TEST(IntRange, ManyRelationsWithSymbolicBounds) {
  std::mt19937 random(2);
  for (const Small &small : {Small{3, 1, 3}, Small{4, 1, 7}, Small{4, 6, 6}}) {
    const std::vector<IntRange> ranges = everyRange(small, true);
    for (int i = 0; i < 8000; ++i)
      ASSERT_NO_FATAL_FAILURE(checkRelations(small, ranges[random() % ranges.size()],
                                             ranges[random() % ranges.size()]));
  }
}

// Sound is not enough: a domain that says nothing is sound. Where nothing wraps around,
// these operations on plain intervals have no smaller result than this.
TEST(IntRange, IntervalsAreAsSmallAsTheyCanBe) {
  const Small small{4, 1, 7};
  int compared = 0;
  for (const Operation &op : kOperations) {
    const std::string name = op.name;
    if (name == "and" || name == "or" || name == "xor" || name.starts_with("rem"))
      continue;
    for (int low = -8; low < 8; low += 3)
      for (int high = low; high < 8; ++high)
        for (int from = 0; from < 8; ++from)
          for (int to = from; to < 8; to += 2) {
            const IntRange a = small.domain.between(4, low, high);
            const IntRange b = small.domain.between(4, from, to);
            Hull hull;
            bool isExact = true;
            for (int x = low; x <= high; ++x)
              for (int y = from; y <= to; ++y) {
                std::optional<uint64_t> value = op.evaluate(x & 15, y & 15, 4);
                int exact = name == "add"         ? x + y
                            : name == "sub"       ? x - y
                            : name == "mul"       ? x * y
                            : name == "shiftLeft" ? x * (1 << y)
                                                  : 0;
                isExact &= value && exact >= -8 && exact < 8;
                isExact &= x >= 0 || !name.ends_with("Unsigned");
                if (value)
                  hull.add(toSigned(*value, 4));
              }
            if (!isExact)
              continue;
            const IntRange result = (small.domain.*op.transfer)(a, b);
            EXPECT_TRUE(result.smin == hull.low && result.smax == hull.high)
                << op.name << " of " << spell(a) << " and " << spell(b) << " is " << spell(result)
                << ", not from " << hull.low << " to " << hull.high;
            ++compared;
          }
  }
  EXPECT_GT(compared, 5000);
}

TEST(IntRange, RemaindersAndMasksAreSmall) {
  const IntRangeDomain domain(1, 1 << 20);
  const IntRange x = domain.any(32);
  auto is = [](const IntRange &range, int64_t low, int64_t high) {
    return range.smin == low && range.smax == high;
  };
  EXPECT_TRUE(is(domain.bitAnd(x, domain.constant(32, 7)), 0, 7));
  EXPECT_TRUE(is(domain.remUnsigned(x, domain.constant(32, 10)), 0, 9));
  EXPECT_TRUE(is(domain.remSigned(x, domain.constant(32, 10)), -9, 9));
  EXPECT_TRUE(is(domain.bitXor(domain.between(32, 0, 5), domain.constant(32, 7)), 0, 7));
  EXPECT_TRUE(is(domain.bitXor(domain.between(32, 0, 5), domain.constant(32, ~0u)), -6, -1));
  EXPECT_TRUE(is(domain.bitOr(domain.between(32, 8, 9), domain.between(32, 0, 3)), 8, 15));
  EXPECT_TRUE(is(domain.maxSigned(x, domain.constant(32, 1)), 1, INT32_MAX));
}

TEST(IntRange, DimsCancel) {
  const IntRangeDomain domain(1, 1 << 20);
  const IntRange dims = domain.dims(64), dim = domain.dim(64), one = domain.constant(64, 1);
  auto isInside = [](const IntRange &index) { return index.smin >= 0 && index.dmax < 0; };
  EXPECT_TRUE(isInside(dim));
  EXPECT_FALSE(isInside(dims));
  const IntRange last = domain.sub(dims, one), next = domain.add(dim, one);
  EXPECT_TRUE(isInside(last));
  EXPECT_FALSE(isInside(next));
  EXPECT_EQ(next.dmax, 0);
  EXPECT_TRUE(isInside(domain.sub(last, dim)));
  EXPECT_FALSE(isInside(domain.sub(dims, dim)));
  EXPECT_TRUE(isInside(domain.minSigned(next, last)));
  EXPECT_TRUE(isInside(domain.minUnsigned(next, last)));
  EXPECT_TRUE(isInside(domain.remSigned(next, dims)));
  EXPECT_TRUE(isInside(domain.remUnsigned(next, dims)));
  EXPECT_TRUE(isInside(domain.remUnsigned(domain.any(64), dims)));
  EXPECT_FALSE(isInside(domain.remSigned(domain.any(64), dims)));
  EXPECT_TRUE(isInside(domain.maxSigned(domain.sub(dim, one), domain.constant(64, 0))));
  EXPECT_TRUE(isInside(domain.divSigned(dim, domain.constant(64, 2))));
  EXPECT_TRUE(isInside(domain.bitAnd(dim, domain.any(64))));
  EXPECT_TRUE(isInside(domain.shiftRightUnsigned(dim, domain.between(64, 0, 3))));
  EXPECT_TRUE(isInside(domain.assume(Predicate::Slt, next, dims)->first));
  EXPECT_TRUE(isInside(domain.assume(Predicate::Ult, domain.any(64), dims)->first));
  // An i32 holds every dims, an i16 does not.
  EXPECT_TRUE(isInside(domain.extendSigned(domain.truncate(dim, 32), 64)));
  EXPECT_FALSE(isInside(domain.extendSigned(domain.truncate(dim, 16), 64)));
  EXPECT_EQ(domain.dims(16), domain.any(16));
}

} // namespace
