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

#include "annudf/Analysis/IntRange.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <optional>
#include <random>
#include <set>
#include <tuple>
#include <vector>

using namespace annudf::ranges;

namespace {

uint64_t maskOf(unsigned width) { return width == 64 ? ~uint64_t(0) : (uint64_t(1) << width) - 1; }

int64_t toSigned(uint64_t bits, unsigned width) {
  const uint64_t sign = uint64_t(1) << (width - 1);
  return int64_t((bits ^ sign) - sign);
}

/// Whether `range` holds the value `bits` when there are `dims` dimensions.
bool holds(const IntRange &range, uint64_t bits, int64_t dims) {
  const Wide s = toSigned(bits, range.width), u = bits, d = s - dims;
  return range.smin <= s && s <= range.smax && range.umin <= u && u <= range.umax &&
         range.dmin <= d && d <= range.dmax;
}

std::vector<uint64_t> valuesOf(const IntRange &range, int64_t dims) {
  std::vector<uint64_t> values;
  for (uint64_t bits = 0; bits <= maskOf(range.width); ++bits)
    if (holds(range, bits, dims))
      values.push_back(bits);
  return values;
}

std::string spell(const IntRange &r) {
  auto text = [](Wide low, Wide high) {
    return "[" + std::to_string(int64_t(low)) + ", " + std::to_string(int64_t(high)) + "]";
  };
  return "i" + std::to_string(r.width) + " s" + text(r.smin, r.smax) + " u" + text(r.umin, r.umax) +
         " d" + text(r.dmin, r.dmax);
}

/// What the operation gives; nothing where it has no value.
using Evaluate = std::optional<uint64_t> (*)(uint64_t a, uint64_t b, unsigned width);
using Transfer = IntRange (IntRangeDomain::*)(const IntRange &, const IntRange &) const;

struct Operation {
  const char *name;
  Transfer transfer;
  Evaluate evaluate;
};

bool overflows(uint64_t a, uint64_t b, unsigned w) {
  return a == uint64_t(1) << (w - 1) && b == maskOf(w);
}

const Operation kOperations[] = {
    {"add", &IntRangeDomain::add,
     [](uint64_t a, uint64_t b, unsigned w) -> std::optional<uint64_t> {
       return (a + b) & maskOf(w);
     }},
    {"sub", &IntRangeDomain::sub,
     [](uint64_t a, uint64_t b, unsigned w) -> std::optional<uint64_t> {
       return (a - b) & maskOf(w);
     }},
    {"mul", &IntRangeDomain::mul,
     [](uint64_t a, uint64_t b, unsigned w) -> std::optional<uint64_t> {
       return (a * b) & maskOf(w);
     }},
    {"divSigned", &IntRangeDomain::divSigned,
     [](uint64_t a, uint64_t b, unsigned w) -> std::optional<uint64_t> {
       if (b == 0 || overflows(a, b, w))
         return std::nullopt;
       return uint64_t(toSigned(a, w) / toSigned(b, w)) & maskOf(w);
     }},
    {"divUnsigned", &IntRangeDomain::divUnsigned,
     [](uint64_t a, uint64_t b, unsigned) -> std::optional<uint64_t> {
       return b == 0 ? std::nullopt : std::optional<uint64_t>(a / b);
     }},
    {"remSigned", &IntRangeDomain::remSigned,
     [](uint64_t a, uint64_t b, unsigned w) -> std::optional<uint64_t> {
       if (b == 0 || overflows(a, b, w))
         return std::nullopt;
       return uint64_t(toSigned(a, w) % toSigned(b, w)) & maskOf(w);
     }},
    {"remUnsigned", &IntRangeDomain::remUnsigned,
     [](uint64_t a, uint64_t b, unsigned) -> std::optional<uint64_t> {
       return b == 0 ? std::nullopt : std::optional<uint64_t>(a % b);
     }},
    {"and", &IntRangeDomain::bitAnd,
     [](uint64_t a, uint64_t b, unsigned) -> std::optional<uint64_t> { return a & b; }},
    {"or", &IntRangeDomain::bitOr,
     [](uint64_t a, uint64_t b, unsigned) -> std::optional<uint64_t> { return a | b; }},
    {"xor", &IntRangeDomain::bitXor,
     [](uint64_t a, uint64_t b, unsigned) -> std::optional<uint64_t> { return a ^ b; }},
    {"shiftLeft", &IntRangeDomain::shiftLeft,
     [](uint64_t a, uint64_t b, unsigned w) -> std::optional<uint64_t> {
       return b >= w ? std::nullopt : std::optional<uint64_t>((a << b) & maskOf(w));
     }},
    {"shiftRightSigned", &IntRangeDomain::shiftRightSigned,
     [](uint64_t a, uint64_t b, unsigned w) -> std::optional<uint64_t> {
       return b >= w ? std::nullopt
                     : std::optional<uint64_t>(uint64_t(toSigned(a, w) >> b) & maskOf(w));
     }},
    {"shiftRightUnsigned", &IntRangeDomain::shiftRightUnsigned,
     [](uint64_t a, uint64_t b, unsigned w) -> std::optional<uint64_t> {
       return b >= w ? std::nullopt : std::optional<uint64_t>(a >> b);
     }},
    {"minSigned", &IntRangeDomain::minSigned,
     [](uint64_t a, uint64_t b, unsigned w) -> std::optional<uint64_t> {
       return toSigned(a, w) < toSigned(b, w) ? a : b;
     }},
    {"maxSigned", &IntRangeDomain::maxSigned,
     [](uint64_t a, uint64_t b, unsigned w) -> std::optional<uint64_t> {
       return toSigned(a, w) > toSigned(b, w) ? a : b;
     }},
    {"minUnsigned", &IntRangeDomain::minUnsigned,
     [](uint64_t a, uint64_t b, unsigned) -> std::optional<uint64_t> { return std::min(a, b); }},
    {"maxUnsigned", &IntRangeDomain::maxUnsigned,
     [](uint64_t a, uint64_t b, unsigned) -> std::optional<uint64_t> { return std::max(a, b); }},
};

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

/// A random expression over dim, dims, a coordinate and constants.
struct Tree {
  const Operation *op = nullptr; ///< Null for a leaf.
  int leaf = 0;
  std::vector<Tree> operands;

  static Tree grow(std::mt19937 &random, int depth) {
    Tree tree;
    tree.leaf = int(random() % 8);
    if (depth > 0 && random() % 8) {
      tree.op = &kOperations[random() % std::size(kOperations)];
      tree.operands = {grow(random, depth - 1), grow(random, depth - 1)};
    }
    return tree;
  }

  IntRange range(const IntRangeDomain &domain, unsigned width, const IntRange &x) const {
    if (op)
      return (domain.*op->transfer)(operands[0].range(domain, width, x),
                                    operands[1].range(domain, width, x));
    if (leaf == 0)
      return domain.dims(width);
    if (leaf <= 2)
      return domain.dim(width);
    return leaf <= 5 ? x : domain.constant(width, uint64_t(leaf * 5 - 29));
  }

  std::optional<uint64_t> value(unsigned width, uint64_t dims, uint64_t dim, uint64_t x) const {
    if (op) {
      std::optional<uint64_t> a = operands[0].value(width, dims, dim, x);
      std::optional<uint64_t> b = operands[1].value(width, dims, dim, x);
      return a && b ? op->evaluate(*a, *b, width) : std::nullopt;
    }
    if (leaf == 0)
      return dims;
    if (leaf <= 2)
      return dim;
    return leaf <= 5 ? x : uint64_t(leaf * 5 - 29) & maskOf(width);
  }
};

TEST(IntRange, RandomExpressionsHoldEveryValue) {
  std::mt19937 random(3);
  int proved = 0;
  for (int i = 0; i < 6000; ++i) {
    const unsigned width = 4 + random() % 5;
    const int64_t largest = (int64_t(1) << (width - 1)) - 1;
    const int64_t dimsMax = 1 + int64_t(random()) % std::min<int64_t>(largest, 20);
    const int64_t dimsMin = 1 + int64_t(random()) % dimsMax;
    const IntRangeDomain domain(dimsMin, dimsMax);
    const int64_t low = -int64_t(random() % (largest + 2)),
                  high = int64_t(random() % (largest + 1));
    const Tree tree = Tree::grow(random, 3);
    const IntRange range = tree.range(domain, width, domain.between(width, low, high));
    proved += range.smin >= 0 && range.dmax < 0;
    for (int64_t dims = dimsMin; dims <= dimsMax; ++dims)
      for (int64_t dim = 0; dim < dims; ++dim)
        for (int64_t x = low; x <= high; ++x)
          if (auto value = tree.value(width, dims, dim, uint64_t(x) & maskOf(width)))
            ASSERT_TRUE(holds(range, *value, dims))
                << "expression " << i << " is " << spell(range) << ", but " << *value << " for dim "
                << dim << " of " << dims << " and x = " << x;
  }
  EXPECT_GT(proved, 300); // Enough of them could be indices.
}

// Width 64 has no room for slips in 128-bit arithmetic.
TEST(IntRange, EdgesOfSixtyFourBits) {
  std::mt19937_64 random(4);
  const IntRangeDomain domain(1, 1 << 20);
  const uint64_t edges[] = {0,
                            1,
                            2,
                            63,
                            64,
                            INT64_MAX - 1,
                            INT64_MAX,
                            uint64_t(INT64_MIN),
                            uint64_t(INT64_MIN) + 1,
                            UINT64_MAX - 1,
                            UINT64_MAX,
                            1u << 20};
  auto pick = [&] { return edges[random() % std::size(edges)]; };
  for (const Operation &op : kOperations)
    for (int i = 0; i < 20000; ++i) {
      auto range = [&](uint64_t a, uint64_t b) {
        if (random() % 2)
          return domain.between(64, std::min(int64_t(a), int64_t(b)),
                                std::max(int64_t(a), int64_t(b)));
        return domain.unite(domain.constant(64, a), domain.constant(64, b));
      };
      const uint64_t a = pick(), b = pick(), c = pick(), d = pick();
      const IntRange result = (domain.*op.transfer)(range(a, b), range(c, d));
      for (uint64_t x : {a, b})
        for (uint64_t y : {c, d})
          if (auto value = op.evaluate(x, y, 64))
            ASSERT_TRUE(holds(result, *value, 1) && holds(result, *value, 1 << 20))
                << op.name << " of " << x << " and " << y << " is " << *value << ", not "
                << spell(result);
    }
}

} // namespace
