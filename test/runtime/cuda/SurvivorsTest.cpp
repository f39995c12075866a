//===- SurvivorsTest.cpp - The k best rows by bounds, run on the host -----===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostCuda.h"

#include "kernels/cuda/common/ProductArgs.h"
#include "kernels/cuda/scan/Survivors.cuh"
#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <set>

using namespace annudf::test;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// What finalize makes of an accumulator.
enum class Finalize { Identity, Root, Negative };

float finalized(Finalize how, float accumulator) {
  return how == Finalize::Identity ? accumulator
         : how == Finalize::Root   ? std::sqrt(accumulator)
                                   : -accumulator;
}

struct Row {
  float accumulator;
  int64_t id;
};

/// An index whose rows have accumulators chosen by the test, and one query of some probes.
class Case {
public:
  Case(std::vector<std::vector<Row>> lists, std::vector<uint32_t> probes, annudf_order order,
       Finalize how)
      : lists(std::move(lists)), probes(std::move(probes)), order(order), how(how),
        sign((order == ANNUDF_ORDER_MIN) == (how != Finalize::Negative) ? 1.0F : -1.0F) {
    listGroup.push_back(0);
    for (const auto &list : this->lists) {
      listSize.push_back(uint32_t(list.size()));
      listGroup.push_back(listGroup.back() + uint32_t((list.size() + 31) / 32));
    }
    for (const uint32_t probe : this->probes) {
      probeGroup.push_back(groupCount);
      groupCount += listGroup[probe + 1] - listGroup[probe];
    }
  }

  /// Bounds as low as `lowered(tight)` makes them.
  template <class Lowered> Case &bound(Lowered lowered) {
    bounds.clear();
    for (const uint32_t probe : probes)
      for (uint32_t g = 0; g < listGroup[probe + 1] - listGroup[probe]; ++g)
        for (uint32_t i = 0; i < ANNUDF_GRANULES; ++i) {
          float tight = kInfinity; // Without a row.
          for (uint32_t r = 0; r < ANNUDF_GRANULE_ROWS; ++r)
            if (const uint32_t row = g * 32 + placeOf(i, r); row < lists[probe].size())
              if (const float value = sign * lists[probe][row].accumulator; !(value >= tight))
                tight = std::isnan(value) ? -FLT_MAX : value;
          bounds.push_back(tight == kInfinity ? tight : lowered(tight));
        }
    return *this;
  }

  /// \param threads  of the block; no fewer than k.
  void check(uint32_t k, unsigned threads = kLanes) {
    std::vector<std::pair<float, int64_t>> expected;
    for (const uint32_t probe : probes)
      for (const Row &row : lists[probe])
        if (const float distance = finalized(how, row.accumulator); !std::isnan(distance))
          expected.emplace_back(order == ANNUDF_ORDER_MIN ? distance : -distance, row.id);
    std::sort(expected.begin(), expected.end());
    expected.resize(std::min<size_t>(expected.size(), k));
    const size_t found = expected.size();

    std::vector<int64_t> outIds(k, -7);
    std::vector<float> outDistances(k, -7);
    std::vector<float> aligned(bounds.size() + 4);
    const auto start = (reinterpret_cast<uintptr_t>(aligned.data()) + 15) / 16 * 16;
    std::copy(bounds.begin(), bounds.end(), reinterpret_cast<float *>(start));
    annudf_survivors_args args = {};
    args.scan.index.listGroup = address(listGroup), args.scan.index.listSize = address(listSize);
    args.scan.work.probes = address(probes), args.scan.work.probeGroup = address(probeGroup);
    args.scan.work.groupCount = reinterpret_cast<uint64_t>(&groupCount);
    args.scan.work.keys = start, args.scan.work.stride = groupCount;
    args.scan.work.nProbes = uint32_t(probes.size()), args.scan.order = order;
    args.outIds = address(outIds), args.outDistances = address(outDistances);
    args.evaluated = reinterpret_cast<uint64_t>(&evaluated);
    args.k = k, args.sign = sign;
    evaluated = 0, seen.clear(), seenGranules.clear();
    static SurvivorScratch<float> scratch;
    std::memset(&scratch, 0x5A, sizeof scratch); // As shared memory begins.
    Block::run(threads, [&] {
      SurvivorQuery<Case> query(args, *this, scratch);
      __syncthreads();
      query.run();
    });
    dropped = scratch.dropped;
    ASSERT_EQ(evaluated, seenGranules.size()); // What searches are told was computed.
    for (size_t i = 0; i < k; ++i) {
      ASSERT_EQ(outIds[i], i < found ? expected[i].second : -1) << "place " << i << " of " << k;
      const float worst = order == ANNUDF_ORDER_MIN ? kInfinity : -kInfinity;
      const float distance = order == ANNUDF_ORDER_MIN || i >= found ? 1.0F : -1.0F;
      ASSERT_EQ(outDistances[i], i < found ? distance * expected[i].first : worst)
          << "place " << i << " of " << k;
    }
    if (found == k)
      expectEvaluated(annudfKeyOf(outDistances[k - 1], order));
  }
  uint64_t granulesEvaluated() const { return evaluated; }
  /// How many of those that waited at first.
  uint64_t granulesDropped() const { return dropped; }
  uint64_t granules() const { return bounds.size(); }

  // As SurvivorQuery wants of a metric.
  using Bounds = FormBounds;
  uint32_t mostOf(float) const { return ANNUDF_KEY_NONE; }
  uint32_t keyOf(float bound) const {
    if (bound == -FLT_MAX)
      return 0;
    const float distance = finalized(how, bound * sign);
    return std::isnan(distance) ? 0 : annudfKeyOf(distance, order);
  }
  uint32_t evaluate(uint32_t list, uint64_t group, uint32_t place, int64_t &row) const {
    const uint64_t in = (group - listGroup[list]) * 32 + place;
    EXPECT_LT(in, lists[list].size());
    row = lists[list][in].id;
    EXPECT_TRUE(seen.insert({list, in}).second) << "row " << row << " is evaluated twice";
    seenGranules.insert({group, place / ANNUDF_GRANULE_ROWS});
    return annudfKeyOf(finalized(how, lists[list][in].accumulator), order);
  }

private:
  /// Whatever rows they have, as chance may hide what is left out: all granules whose bound allows
  /// for a row up to the last result's key. Roots of what is below 0 are no results.
  void expectEvaluated(uint32_t last) const {
    for (size_t p = 0; p < probes.size(); ++p) {
      const uint32_t first = listGroup[probes[p]], count = listGroup[probes[p] + 1] - first;
      for (uint32_t i = 0; i < count * ANNUDF_GRANULES; ++i)
        if (const float bound = bounds[size_t(probeGroup[p]) * ANNUDF_GRANULES + i];
            bound < kInfinity && keyOf(bound) <= last &&
            (bound == -FLT_MAX || !std::isnan(finalized(how, bound * sign))))
          ASSERT_TRUE(seenGranules.contains({first + i / ANNUDF_GRANULES, i % ANNUDF_GRANULES}))
              << "granule " << i << " of list " << probes[p] << " is left out";
    }
  }
  static uint32_t placeOf(uint32_t granule, uint32_t r) {
    return granule * ANNUDF_GRANULE_ROWS + r;
  }
  template <class T> static uint64_t address(const std::vector<T> &values) {
    return reinterpret_cast<uint64_t>(values.data());
  }
  std::vector<std::vector<Row>> lists;
  std::vector<uint32_t> probes, listGroup, listSize, probeGroup;
  std::vector<float> bounds;
  uint32_t groupCount = 0;
  annudf_order order;
  Finalize how;
  float sign;
  unsigned long long evaluated = 0;
  uint32_t dropped = 0;
  mutable std::set<std::pair<uint32_t, uint64_t>> seen;
  mutable std::set<std::pair<uint64_t, uint32_t>> seenGranules;
};

/// All of `rows` in lists of about `size`, all of which are probed.
/// \param sharing  rows that share an id, as repeated ids have it.
Case caseOf(const std::vector<float> &accumulators, size_t size, annudf_order order, Finalize how,
            size_t sharing = 1) {
  std::vector<std::vector<Row>> lists;
  std::vector<uint32_t> probes;
  for (size_t i = 0; i < accumulators.size(); ++i) {
    if (i % size == 0)
      probes.push_back(uint32_t(lists.size())), lists.emplace_back();
    lists.back().push_back({accumulators[i], int64_t(i / sharing)});
  }
  return {lists, probes, order, how};
}

std::vector<float> randomNumbers(std::mt19937 &random, size_t count, int values) {
  std::vector<float> numbers(count);
  const int lowest = values / 8; // Some are below 0.
  for (float &number : numbers)
    number = float(int(random() % unsigned(values)) - lowest);
  return numbers;
}

} // namespace

TEST(CudaSurvivors, FindsWhatAScanOfAllFindsWhateverTheBoundsAreWorth) {
  std::mt19937 random(5);
  for (int i = 0; i < 300; ++i) {
    const auto order = random() % 2 ? ANNUDF_ORDER_MIN : ANNUDF_ORDER_MAX;
    const auto how = Finalize(random() % 3);
    const int values = random() % 3 == 0 ? 5 : 100000; // Ties, or hardly any.
    std::vector<float> numbers = randomNumbers(random, random() % 3000, values);
    for (float &number : numbers)
      if (random() % 50 == 0)
        number = random() % 2 ? kInfinity : std::nanf("");
    Case one = caseOf(numbers, 1 + random() % 700, order, how);
    const float slack = float(random() % 4) * float(values) / 20;
    one.bound([&](float tight) {
      if (random() % 40 == 0)
        return -FLT_MAX;
      return tight - (slack == 0 ? 0 : float(random() % 1000) * slack / 1000);
    });
    SCOPED_TRACE("case " + std::to_string(i));
    for (const uint32_t k : {1u, 10u, 32u})
      one.check(k);
    if (HasFatalFailure())
      return;
  }
}

/// Rows of one key and one id are several results.
TEST(CudaSurvivors, RowsThatShareAnIdAndADistanceAreAllFound) {
  std::mt19937 random(11);
  for (const size_t sharing : {2, 7, 1000})
    for (int i = 0; i < 20; ++i) {
      SCOPED_TRACE(std::to_string(sharing) + " rows an id, case " + std::to_string(i));
      const std::vector<float> numbers = randomNumbers(random, 100 + random() % 900, 5);
      Case one = caseOf(numbers, 1 + random() % 300, ANNUDF_ORDER_MIN, Finalize::Identity, sharing);
      const float slack = i % 2 ? 3 : 0; // Some come in order, some do not.
      one.bound([&](float tight) { return tight - slack * float(random() % 10); });
      for (const uint32_t k : {1u, 10u, 32u})
        one.check(k);
      if (HasFatalFailure())
        return;
    }
}

TEST(CudaSurvivors, EvaluatesWhatBoundsLeaveAndNoMore) {
  std::mt19937 random(7);
  std::vector<float> numbers(20000);
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = float(i);
  std::shuffle(numbers.begin(), numbers.end(), random);
  Case one = caseOf(numbers, 700, ANNUDF_ORDER_MIN, Finalize::Identity);
  one.bound([](float tight) { return tight; }).check(10);
  EXPECT_LE(one.granulesEvaluated(), 10u);
  one.bound([](float tight) { return tight - 20; }).check(10);
  EXPECT_LE(one.granulesEvaluated(), 40u); // Those with a row up to the tenth and 20 more.
}

/// More than wait at once: all alike, all unknown, and too many at first for any to be dropped.
TEST(CudaSurvivors, ManyGranulesAreEvaluatedInPieces) {
  std::mt19937 random(9);
  const std::vector<float> numbers = randomNumbers(random, 24000, 1000000);
  for (const auto order : {ANNUDF_ORDER_MIN, ANNUDF_ORDER_MAX}) {
    Case one = caseOf(numbers, 1000, order, Finalize::Identity);
    one.bound([](float) { return -FLT_MAX; }).check(10);
    EXPECT_EQ(one.granulesEvaluated(),
              one.granules() - 72); // 1,000 rows end in 8 of 32: three granules a list have none.
    one.bound([](float) { return -2e6F; }).check(32);
  }
  // Nearly all are below the 32nd of the threads' least, as thread 31 has high ones only, and none
  // can be left out.
  for (const size_t rows : {15000, 16300}) {
    std::vector<float> some(rows);
    for (size_t i = 0; i < rows; ++i)
      some[i] = (i / 32 % 32 == 31 ? 5000.0F : 1000.0F) + float(random() % 100);
    Case one = caseOf(some, rows, ANNUDF_ORDER_MIN, Finalize::Identity);
    float falling = 0;
    one.bound([&](float tight) { return tight >= 5000 ? tight - 4500 : (falling += 0.125F); });
    for (const uint32_t k : {31u, 32u})
      one.check(k);
  }
}

namespace {

/// Granules of eight rows far above most bounds: `first` wait at first, as they are low and in
/// fewer than k buckets, and `more` are above the threshold, but below any k-th row.
struct Loose {
  uint32_t k, first, more;
  uint32_t values; ///< That the bounds of the first have, or as many as there are.
  annudf_order order = ANNUDF_ORDER_MIN;
  Finalize how = Finalize::Identity;
  /// As the host has it (Pipeline.cpp).
  unsigned threads() const {
    return k <= 100 ? ANNUDF_SURVIVORS_THREADS : ANNUDF_SURVIVORS_MANY_THREADS;
  }
};

Case caseOf(const Loose &of, uint32_t seed) {
  std::mt19937 random(seed);
  uint32_t buckets = 32; // As findThreshold() has them: group by group, around and around.
  while (buckets < 2 * of.threads() && buckets < 2 * of.k)
    buckets *= 2;
  const uint32_t low = std::max(of.k - 1, 1u), rounds = (of.first + 4 * low - 1) / (4 * low);
  const uint32_t needed = (of.more / 4 + buckets - low) / (buckets - low);
  const uint32_t groups = std::max(rounds, needed) * buckets + 5;
  std::vector<float> rows(groups * size_t(32)), bounds(groups * size_t(ANNUDF_GRANULES), 0);
  const float sign = (of.order == ANNUDF_ORDER_MIN) == (of.how != Finalize::Negative) ? 1 : -1;
  for (float &row : rows)
    row = sign * (1000 + float(random() % 64000) / 64);
  std::vector<uint32_t> order(of.first);
  std::iota(order.begin(), order.end(), 0u);
  std::shuffle(order.begin(), order.end(), random);
  uint32_t first = of.first, more = of.more;
  for (uint32_t i = 0; i < ANNUDF_GRANULES; ++i) // All of these buckets have one.
    for (uint32_t g = 0; g < rounds * buckets; ++g)
      if (g % buckets < low && first > 0)
        bounds[g * ANNUDF_GRANULES + i] = 1 + float(order[--first] % of.values) / 1024;
  for (uint32_t g = 0; g < groups; ++g)
    for (uint32_t i = 0; i < ANNUDF_GRANULES; ++i)
      if (g % buckets >= low && more > 0)
        bounds[g * ANNUDF_GRANULES + i] = 200 + float(more--) / 64;
  Case one = caseOf(rows, 960, of.order, of.how);
  size_t granule = 0;
  one.bound([&](float tight) {
    const float bound = bounds[granule++];
    return bound > 0 ? bound : tight;
  });
  return one;
}

void checkPieces(uint32_t k, uint32_t first, uint32_t more, uint32_t seed) {
  const bool hasTies = seed % 3 == 0;
  Loose of = {.k = k, .first = first, .more = more, .values = hasTies ? 4u : first};
  of.how = Finalize(seed / 2 % 3);
  if (seed % 2 && of.how != Finalize::Root) // A root of numbers below 0.
    of.order = ANNUDF_ORDER_MAX;
  if (k == 1) // The first are the best one, and those as good.
    of.values = 1;
  SCOPED_TRACE("k " + std::to_string(k) + ", " + std::to_string(first) + " first and " +
               std::to_string(more) + " more, seed " + std::to_string(seed));
  Case one = caseOf(of, seed);
  one.check(k, of.threads());
  EXPECT_GE(one.granulesEvaluated(), first + more);
  // And the next above the first k - 1 buckets'.
  if (first >= kMostWaiting / 2 || k == 1)
    EXPECT_EQ(one.granulesDropped(), 0u);
  else if (hasTies)
    EXPECT_LE(one.granulesDropped(), first + 1 - k);
  else
    EXPECT_EQ(one.granulesDropped(), first + 1 - k);
}

} // namespace

/// Most of the first are dropped, and come back: with few others, with as many as have no room
/// beside them, and with more than wait at all.
TEST(CudaSurvivors, WhatWasDroppedIsEvaluatedWhateverElseWaits) {
  uint32_t seed = 0;
  for (const uint32_t k : {1u, 2u, 10u, 32u, 33u, 100u, 101u, 128u, 129u, 256u})
    for (const uint32_t first : {300u, 1023u})
      for (const uint32_t more : {20u, 700u, 1040u, 1300u, 2500u}) {
        checkPieces(k, first, more, ++seed);
        if (HasFailure())
          return;
      }
}

/// None is dropped where those would be written over others that nobody has read.
TEST(CudaSurvivors, NoneIsDroppedOfMoreThanHalfOfTheRoom) {
  uint32_t seed = 0;
  for (const uint32_t k : {1u, 2u, 10u, 32u, 33u, 100u, 101u, 128u, 129u, 256u})
    for (const uint32_t first : {1024u, 1500u, 2047u})
      for (const uint32_t more : {20u, 1200u, 2500u}) {
        checkPieces(k, first, more, ++seed);
        if (HasFailure())
          return;
      }
}

/// Were bounds counted twice, those of the last group for one, less than k granules would be below
/// the threshold, and all those above it evaluated.
TEST(CudaSurvivors, EvaluatesNoMoreWhereverTheBestIs) {
  for (const size_t rows : {2000, 4100, 8200, 8300}) // 32 threads read eight groups at once.
    for (const size_t best : {size_t(0), rows / 2, rows - 5}) {
      std::vector<float> numbers(rows);
      for (size_t i = 0; i < rows; ++i)
        numbers[i] = 1000.0F + float(i * 7919 % 10007);
      numbers[best] = 0;
      Case one = caseOf(numbers, rows, ANNUDF_ORDER_MIN, Finalize::Identity);
      one.bound([](float tight) { return tight; }).check(10);
      EXPECT_LE(one.granulesEvaluated(), 16u) << rows << " rows, the best is row " << best;
    }
}
