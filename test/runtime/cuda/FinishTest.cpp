//===- FinishTest.cpp - The GPU's final selection, run on the host --------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostCuda.h"

#include "kernels/cuda/search/Merge.cuh"
#include "runtime/MergeTesting.h"
#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <tuple>

using namespace annudf::test;

namespace {

struct Row {
  float distance;
  int64_t id;
};

/// An index of lists whose rows have distances chosen by the test, and one query that probes
/// `probes` of them.
class Case {
public:
  Case(std::vector<std::vector<Row>> lists, std::vector<uint32_t> probes, annudf_order order)
      : lists(std::move(lists)), probes(std::move(probes)), order(order) {
    listGroup.push_back(0);
    for (const auto &list : this->lists) {
      const size_t groups = (list.size() + 31) / 32;
      for (size_t r = 0; r < groups * 32; ++r)
        ids.push_back(r < list.size() ? list[r].id : -1);
      listGroup.push_back(listGroup.back() + uint32_t(groups));
    }
    for (uint32_t probe : this->probes) {
      probeGroup.push_back(groupCount);
      const auto &list = this->lists[probe];
      for (size_t begin = 0; begin < list.size(); begin += 32, ++groupCount) {
        uint32_t best = ANNUDF_KEY_NONE;
        for (size_t r = begin; r < begin + 32; ++r) {
          keys.push_back(r < list.size() ? annudfKeyOf(list[r].distance, order) : ANNUDF_KEY_NONE);
          best = std::min(best, keys.back());
        }
        minima.push_back(best);
      }
    }
  }

  void check(uint32_t k) const {
    std::vector<Row> expected;
    for (uint32_t probe : probes)
      for (const Row &row : lists[probe])
        if (row.distance == row.distance)
          expected.push_back(row);
    std::sort(expected.begin(), expected.end(), [&](const Row &a, const Row &b) {
      if (a.distance != b.distance)
        return order == ANNUDF_ORDER_MIN ? a.distance < b.distance : a.distance > b.distance;
      return a.id < b.id;
    });
    const float infinity = std::numeric_limits<float>::infinity();
    expected.resize(std::min<size_t>(expected.size(), k));
    while (expected.size() < k)
      expected.push_back({order == ANNUDF_ORDER_MIN ? infinity : -infinity, -1});

    for (const bool many : {false, true}) { // Each kernel does what the other does.
      if (!many && k > ANNUDF_FINISH_MOST_K)
        continue;
      std::vector<int64_t> outIds(k, -7);
      std::vector<float> outDistances(k, -7);
      annudf_finish_args args = {};
      args.index.ids = address(ids), args.index.listGroup = address(listGroup);
      args.work.probes = address(probes), args.work.probeGroup = address(probeGroup);
      args.work.groupCount = reinterpret_cast<uint64_t>(&groupCount);
      args.work.keys = address(keys), args.work.minima = address(minima);
      args.work.stride = groupCount, args.work.nProbes = uint32_t(probes.size());
      args.outIds = address(outIds), args.outDistances = address(outDistances);
      args.k = k, args.order = order;
      Block::run(kLanes, [&] { many ? annudf_finish_many(args) : annudf_finish(args); });
      for (uint32_t i = 0; i < k; ++i) {
        ASSERT_EQ(outIds[i], expected[i].id)
            << "place " << i << " of " << k << (many ? ", many" : "");
        ASSERT_EQ(outDistances[i], expected[i].distance)
            << "place " << i << " of " << k << (many ? ", many" : "");
      }
    }
  }

  /// How many rows a block of that size ranks one by one; nothing where there are too many of
  /// them, and each digit of every key is counted.
  std::optional<uint32_t> ranked(uint32_t k, unsigned threads) const {
    std::vector<int64_t> outIds(k, -7), id(512);
    std::vector<float> outDistances(k, -7);
    std::vector<uint32_t> key(512);
    annudf_finish_args args = {};
    args.index.ids = address(ids), args.index.listGroup = address(listGroup);
    args.work.probes = address(probes), args.work.probeGroup = address(probeGroup);
    args.work.stride = groupCount, args.work.nProbes = uint32_t(probes.size());
    args.outIds = address(outIds), args.outDistances = address(outDistances);
    args.k = k, args.order = order;
    const Scanned scanned = {args, 0, keys.data()};
    static SelectScratch scratch;
    uint32_t rows = 0, few = 0;
    Block::run(threads, [&] {
      few += finishFew(scratch, scanned, minima.data(), groupCount, key.data(), id.data(), rows);
    });
    return few == threads ? std::optional(rows) : std::nullopt;
  }

  /// Every distance by id; ids are below `columns`.
  void checkEvery(uint32_t columns) const {
    std::vector<float> expected(columns, -7), out(columns, -7);
    for (uint32_t probe : probes)
      for (const Row &row : lists[probe])
        expected[size_t(row.id)] = row.distance;
    annudf_finish_args args = {};
    args.index.ids = address(ids), args.index.listGroup = address(listGroup);
    args.work.probes = address(probes), args.work.probeGroup = address(probeGroup);
    args.work.groupCount = reinterpret_cast<uint64_t>(&groupCount);
    args.work.keys = address(keys);
    args.work.stride = groupCount, args.work.nProbes = uint32_t(probes.size());
    args.outDistances = address(out);
    args.k = columns, args.order = order;
    Block::run(kLanes, [&] { annudf_every_distance(args); });
    for (uint32_t i = 0; i < columns; ++i)
      ASSERT_TRUE(out[i] == expected[i] || (std::isnan(out[i]) && std::isnan(expected[i])))
          << "id " << i << ": " << out[i] << ", not " << expected[i];
  }

private:
  template <class T> static uint64_t address(const std::vector<T> &values) {
    return reinterpret_cast<uint64_t>(values.data());
  }
  std::vector<std::vector<Row>> lists;
  std::vector<uint32_t> probes, listGroup, probeGroup, keys, minima;
  std::vector<int64_t> ids;
  uint32_t groupCount = 0;
  annudf_order order;
};

/// Lists of random sizes, some empty; distances drawn from `values` different numbers.
Case randomCase(std::mt19937 &random, int values, bool largeIds) {
  const annudf_order order = random() % 2 ? ANNUDF_ORDER_MIN : ANNUDF_ORDER_MAX;
  std::vector<std::vector<Row>> lists(1 + random() % 12);
  int64_t next = 0;
  for (auto &list : lists)
    list.resize(random() % 5 == 0 ? 0 : random() % 200);
  for (auto &list : lists)
    for (Row &row : list) {
      float distance = float(int(random() % values)) - float(values / 2);
      if (distance == 0 && random() % 2)
        distance = -0.0f;
      if (random() % 37 == 0)
        distance = std::nanf("");
      row = {distance, next++};
    }
  // Ids in any order over the lists.
  std::vector<int64_t> ids(next);
  for (int64_t i = 0; i < next; ++i)
    ids[i] = largeIds ? (i - next / 2) * 0x123456789abcdll : i;
  std::shuffle(ids.begin(), ids.end(), random);
  for (auto &list : lists)
    for (Row &row : list)
      row.id = ids[row.id];
  std::vector<uint32_t> probes;
  for (uint32_t i = 0; i < lists.size(); ++i)
    if (random() % 4 || probes.empty())
      probes.push_back(i);
  return Case(std::move(lists), std::move(probes), order);
}

/// From all distances equal, where the id alone decides, to all different.
TEST(CudaFinish, ByDistanceThenById) {
  std::mt19937 random(7);
  for (int values : {1, 2, 3, 10, 100, 1 << 20})
    for (int i = 0; i < 4; ++i) {
      const Case test = randomCase(random, values, /*largeIds=*/i % 3 == 0);
      for (uint32_t k : {1u, 10u, 33u, 1024u, 1025u, 1500u, 2400u, 5000u})
        ASSERT_NO_FATAL_FAILURE(test.check(k)) << values << " distances, case " << i;
    }
}

TEST(CudaFinish, EveryDistance) {
  std::mt19937 random(5);
  for (int values : {3, 1 << 20})
    for (int i = 0; i < 4; ++i)
      ASSERT_NO_FATAL_FAILURE(randomCase(random, values, /*largeIds=*/false).checkEvery(2400));
  Case({{}}, {0}, ANNUDF_ORDER_MIN).checkEvery(3);
}

TEST(CudaFinish, NothingScanned) {
  for (uint32_t k : {5u, 1025u})
    Case({{}, {}}, {0, 1}, ANNUDF_ORDER_MIN).check(k);
}

/// More results than are sorted in shared memory at once, at and around powers of two.
TEST(CudaFinish, ManyResults) {
  std::mt19937 random(11);
  for (int values : {3, 1 << 20}) {
    std::vector<std::vector<Row>> lists(7);
    int64_t next = 1 << 20;
    for (auto &list : lists)
      for (int i = 0; i < 1300; ++i)
        list.push_back({float(random() % unsigned(values)), --next});
    const Case test(lists, {0, 1, 2, 3, 4, 5, 6}, ANNUDF_ORDER_MAX);
    for (uint32_t k : {1025u, 2047u, 2048u, 2049u, 4097u, 8191u, 8193u, 9099u, 9100u, 9200u})
      ASSERT_NO_FATAL_FAILURE(test.check(k)) << values << " distances";
  }
}

/// How many of the keys reach the bound of a block so large.
uint32_t countUpToBound(const std::vector<uint32_t> &keys, uint32_t k, unsigned threads) {
  static SelectScratch scratch;
  uint32_t bound = 0;
  Block::run(threads, [&] {
    uint32_t best = ANNUDF_KEY_NONE, own = 0;
    for (size_t i = threadIdx.x; i < keys.size(); i += threads)
      best = std::min(best, keys[i]);
    EXPECT_TRUE(findBoundOfFew(scratch, best, k, own));
    bound = own;
  });
  return uint32_t(
      std::count_if(keys.begin(), keys.end(), [&](uint32_t key) { return key <= bound; }));
}

/// Those of a list, say: they are of as many buckets, wherever they begin.
TEST(CudaFinish, FewReachTheBoundWhereNeighboursAreTheBest) {
  constexpr uint32_t kKeys = 3000, kNear = 20, k = 10;
  std::mt19937 random(3);
  for (const unsigned threads : {256u, 1024u})
    for (uint32_t first = 0; first + kNear <= kKeys; first += 83) {
      std::vector<uint32_t> keys(kKeys);
      for (uint32_t i = 0; i < kKeys; ++i)
        keys[i] = (i - first < kNear ? 0u : 1u << 30) + random() % (1u << 30);
      ASSERT_EQ(countUpToBound(keys, k, threads), k) << threads << " threads, from " << first;
    }
}

/// The same of rows: those of the near list's 20 groups are more than are ranked one by one.
TEST(CudaFinish, FewRowsAreRankedWhereAListIsNearerThanAllOthers) {
  std::mt19937 random(4);
  for (const unsigned threads : {256u, 1024u})
    for (const uint32_t nearest : {0u, 7u, 29u}) {
      std::vector<std::vector<Row>> lists(30);
      std::vector<uint32_t> probes;
      int64_t next = 0;
      for (uint32_t list = 0; list < lists.size(); ++list) {
        probes.push_back(list);
        for (int r = 0; r < (list == nearest ? 20 * 32 : 103 * 32); ++r)
          lists[list].push_back({float(random() % 10000) + (list == nearest ? 0 : 1e5F), next++});
      }
      const Case one(lists, probes, ANNUDF_ORDER_MIN);
      const auto rows = one.ranked(10, threads);
      ASSERT_TRUE(rows) << threads << " threads, list " << nearest;
      EXPECT_LE(*rows, 60u) << threads << " threads, list " << nearest;
      ASSERT_NO_FATAL_FAILURE(one.check(10));
    }
}

/// The k-th distance is as large as the best of groups that are not among the k best groups.
TEST(CudaFinish, TiesInGroupsThatWereNotChosen) {
  std::vector<std::vector<Row>> lists(40);
  for (int list = 0; list < 40; ++list)
    for (int r = 0; r < 32; ++r)
      lists[list].push_back({5, 10000 - 32 * list - r}); // The smallest ids come last.
  std::vector<uint32_t> probes(40);
  for (uint32_t i = 0; i < 40; ++i)
    probes[i] = i;
  for (uint32_t k : {1u, 2u, 31u, 32u, 39u, 40u, 41u, 500u})
    Case(lists, probes, ANNUDF_ORDER_MIN).check(k);
}

/// Rows that have one id and one distance: the lower ids come first, and none is left out.
TEST(CudaFinish, RepeatedIds) {
  std::vector<std::vector<Row>> lists(3);
  for (int i = 0; i < 90; ++i)
    lists[size_t(i % 3)].push_back({4, i < 60 ? 70 : 7 + i % 5});
  for (uint32_t k : {1u, 5u, 29u, 30u, 31u, 33u, 89u, 90u, 1025u})
    ASSERT_NO_FATAL_FAILURE(Case(lists, {0, 1, 2}, ANNUDF_ORDER_MIN).check(k)) << k;
}

TEST(CudaFinish, MergeEqualsASort) {
  forMergeCases(5000, [](const MergeCase &one) {
    std::vector<int64_t> ids(size_t(one.queries * one.k), -7);
    std::vector<float> distances(ids.size(), -7);
    gridDim.x = unsigned(one.queries);
    for (blockIdx.x = 0; blockIdx.x < gridDim.x; ++blockIdx.x)
      Block::run(256, [&] {
        annudf_merge(one.distances.data(), one.ids.data(),
                     one.translations.empty() ? nullptr : one.translations.data(),
                     uint32_t(one.parts), uint32_t(one.found), one.order, uint32_t(one.k),
                     ids.data(), distances.data());
      });
    gridDim.x = 1, blockIdx.x = 0;
    one.check(ids, distances);
    if (one.parts * one.found > ANNUDF_MERGED_FEW)
      return;
    std::ranges::fill(ids, -7), std::ranges::fill(distances, -7.0f);
    for (; blockIdx.x < (one.queries + ANNUDF_MERGE_FEW_WARPS - 1) / ANNUDF_MERGE_FEW_WARPS;
         ++blockIdx.x)
      Block::run(32 * ANNUDF_MERGE_FEW_WARPS, [&] {
        annudf_merge_few(one.distances.data(), one.ids.data(),
                         one.translations.empty() ? nullptr : one.translations.data(),
                         uint32_t(one.parts), uint32_t(one.found), one.order, uint32_t(one.k),
                         ids.data(), distances.data(), uint32_t(one.queries));
      });
    blockIdx.x = 0;
    one.check(ids, distances);
  });
}

} // namespace
