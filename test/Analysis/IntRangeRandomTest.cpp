//===- IntRangeRandomTest.cpp - Expressions of ranges and wide integers -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What IntRangeTest.cpp cannot try exhaustively: operations on the results of operations,
// and integers of 64 bits.
//
//===----------------------------------------------------------------------===//

#include "IntRangeTesting.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <random>
#include <vector>

using namespace annudf::ranges;
using namespace annudf::test;

namespace {

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
