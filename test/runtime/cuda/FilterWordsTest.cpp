//===- FilterWordsTest.cpp - Bits of a predicate, run on the host ---------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostCuda.h"

#include "CudaMetrics.h"
#include "cuda/link/Linker.h"
#include "kernels/cuda/scan/TilePassing.cuh"
#include "gtest/gtest.h"

#include <random>

// Shared memory of a size that a launch chooses.
#undef __shared__
#define __shared__ // NOLINT(bugprone-reserved-identifier)
#include "kernels/cuda/search/FilterBits.cuh"

uint32_t wordsOfBlock[ANNUDF_PREDICATE_SHARED_BYTES / sizeof(uint32_t)];

using namespace annudf;
using namespace annudf::test;

namespace {

constexpr uint32_t kPoison = 0xDEADBEEF;

/// Lists whose rows have ids at random, and queries that probe some of them.
class Words {
public:
  static constexpr uint32_t kQueries = 75, kProbes = 3, kIds = 997, kMostBase = 2;

  Words() {
    std::mt19937 random(1);
    for (const uint32_t size : {1U, 33U, 200U, 0U, 64U, 7U}) {
      listSize.push_back(size);
      listGroup.push_back(uint32_t(ids.size() / 32));
      for (uint32_t row = 0; row < (size + 31) / 32 * 32; ++row)
        ids.push_back(row < size ? int64_t(random() % kIds) : -1);
    }
    for (uint32_t q = 0; q < kQueries; ++q) {
      std::vector<uint32_t> lists = {0, 1, 2, 3, 4, 5};
      std::shuffle(lists.begin(), lists.end(), random);
      uint32_t group = 0;
      for (uint32_t p = 0; p < kProbes; ++p) {
        probes.push_back(lists[p]), probeGroup.push_back(group);
        group += groupsOf(lists[p]);
      }
    }
    bits.resize(((kQueries + kMostBase) * kIds + 31) / 32);
    for (uint32_t &word : bits)
      word = uint32_t(random()) & uint32_t(random());
    args.index.ids = at(ids), args.index.listSize = at(listSize);
    args.index.listGroup = at(listGroup), args.index.nLists = uint32_t(listSize.size());
    args.work.probes = at(probes), args.work.probeGroup = at(probeGroup);
    args.work.nProbes = kProbes, args.work.stride = kStride;
    args.work.segmentGroups = ~0U;
    args.bits = at(bits), args.bitsOfQuery = kIds;
  }

  /// Cuts the pairs of each list into tiles.
  void sort(uint32_t queries, uint32_t segmentGroups) {
    args.work.tileQueries = queries, args.work.segmentGroups = segmentGroups;
    tileStart.assign(1, 0);
    for (uint32_t list = 0; list < listSize.size(); ++list) {
      const auto first = uint32_t(pairs.size());
      for (uint32_t pair = 0; pair < probes.size(); ++pair)
        if (probes[pair] == list)
          pairs.push_back(pair);
      for (uint32_t group = 0; group < groupsOf(list); group += segmentGroups)
        for (auto pair = first; pair < pairs.size(); pair += queries)
          tiles.push_back({list, pair, std::min(queries, uint32_t(pairs.size()) - pair), group});
      tileStart.push_back(uint32_t(tiles.size()));
    }
    args.work.pairs = at(pairs), args.work.tiles = at(tiles), args.work.tileStart = at(tileStart);
  }

  /// What the kernel writes, of segments of lists side by side.
  std::vector<uint32_t> written(uint32_t segments) {
    std::vector<uint32_t> words(kQueries * kStride, kPoison);
    args.words = at(words);
    const size_t blocks = tiles.empty() ? probes.size() : tiles.size() + 3; // An upper bound.
    gridDim.y = segments;
    for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x)
      for (blockIdx.y = 0; blockIdx.y < segments; ++blockIdx.y)
        Block::run(ANNUDF_SCAN_THREADS, [&] { annudf_filter_bits(args); });
    blockIdx = {}, gridDim = {1, 1};
    return words;
  }

  /// By hand; what no group has is as it was.
  std::vector<uint32_t> expected() const {
    std::vector<uint32_t> words(kQueries * kStride, kPoison);
    for (uint32_t pair = 0; pair < probes.size(); ++pair)
      for (uint32_t row = 0; row < groupsOf(probes[pair]) * 32; ++row) {
        const uint32_t query = pair / kProbes, list = probes[pair];
        uint32_t &word = words[query * kStride + probeGroup[pair] + row / 32];
        if (row % 32 == 0)
          word = 0;
        if (row >= listSize[list])
          continue;
        const uint64_t bit = uint64_t(args.base + int32_t(query)) * args.bitsOfQuery +
                             uint64_t(ids[listGroup[list] * size_t(32) + row]);
        const bool isSet = bits[bit / 32] >> (bit % 32) & 1;
        word |= uint32_t(isSet != bool(args.negated)) << row % 32;
      }
    return words;
  }

  annudf_predicate_args args = {};

private:
  static constexpr uint32_t kStride = 12;
  template <class T> static uint64_t at(std::vector<T> &values) {
    return reinterpret_cast<uint64_t>(values.data());
  }
  uint32_t groupsOf(uint32_t list) const { return (listSize[list] + 31) / 32; }

  std::vector<int64_t> ids;
  std::vector<uint32_t> listSize, listGroup, probes, probeGroup, bits, pairs, tileStart;
  std::vector<uint4> tiles;
};

} // namespace

TEST(CudaFilterWords, AreOfEveryPair) {
  for (const uint32_t segments : {1U, 2U})
    for (const bool negated : {false, true})
      for (const bool byQuery : {false, true}) {
        Words words;
        words.args.negated = negated;
        if (!byQuery)
          words.args.bitsOfQuery = 0;
        EXPECT_EQ(words.written(segments), words.expected());
      }
}

/// As families cut them: of 8 to 128 queries, and lists whole or in parts.
TEST(CudaFilterWords, AreOfEveryTile) {
  for (const uint32_t queries : {8U, 32U, 33U, 128U})
    for (const uint32_t groups : {2U, 8U, ~0U})
      for (const bool negated : {false, true}) {
        Words words;
        words.sort(queries, groups);
        words.args.negated = negated;
        EXPECT_EQ(words.written(1), words.expected()) << queries << " queries, " << groups;
      }
}

/// A batch that others came before.
TEST(CudaFilterWords, QueriesHaveTheNumbersOfTheCaller) {
  Words words;
  const std::vector<uint32_t> first = words.written(1);
  words.args.base = Words::kMostBase;
  EXPECT_EQ(words.written(1), words.expected());
  EXPECT_NE(words.expected(), first);
}

TEST(CudaFilterWords, AreJoined) {
  const std::vector<uint32_t> a = {0b1100, ~0U, 0}, b = {0b1010, 0, ~0U};
  const auto joined = [&](bool both) {
    std::vector<uint32_t> words = a;
    Block::run(kLanes, [&] {
      annudf_join_words(reinterpret_cast<uint64_t>(words.data()),
                        reinterpret_cast<uint64_t>(b.data()), words.size(), both);
    });
    return words;
  };
  EXPECT_EQ(joined(true), (std::vector<uint32_t>{0b1000, 0, 0}));
  EXPECT_EQ(joined(false), (std::vector<uint32_t>{0b1110, ~0U, ~0U}));
}

namespace {

/// By hand: bit 4 q + g of a lane is its row of group g, for query q, and keys go where it is 0.
template <int kQueries> void checkTile(uint32_t groups) {
  std::mt19937 random(groups);
  std::vector<uint32_t> words(100);
  for (uint32_t &word : words)
    word = uint32_t(random());
  uint64_t places[kQueries];
  for (uint64_t &place : places)
    place = random() % 80;
  annudf_workspace work = {};
  work.passing = reinterpret_cast<uint64_t>(words.data());
  constexpr uint32_t kGroup = 3;
  Block::run(kLanes, [&] {
    const int lane = int(threadIdx.x);
    const uint32_t bits = passingOfLane<kQueries>(work, groups, places, kGroup, lane);
    uint32_t key[kQueries][4];
    for (auto &keys : key)
      std::fill(keys, keys + 4, 5U);
    leaveOut(bits, key);
    for (int q = 0; q < kQueries; ++q)
      for (uint32_t g = 0; g < 4; ++g) {
        const bool isFound =
            kGroup + g < groups && (words[places[q] + kGroup + g] >> lane & 1) != 0;
        EXPECT_EQ(isFoundBy(bits, q, int(g)), isFound) << "lane " << lane << ", query " << q;
        EXPECT_EQ(key[q][g], isFound ? 5U : ANNUDF_KEY_NONE);
      }
  });
}

} // namespace

TEST(CudaFilterWords, OfATileAreTurnedToItsLanes) {
  for (const uint32_t groups : {4U, 6U, 7U, 20U}) {
    checkTile<8>(groups);
    checkTile<4>(groups);
    checkTile<2>(groups);
  }
}

/// Needs no GPU.
TEST(CudaFilterWords, CodeLinksForEveryArchitecture) {
  for (const runtime::Metric &filter : {cudaFilter(evenRows("")), cudaFilter(sameTenant(""))})
    for (const int sm : {75, 80, 86, 89, 90, 100, 120})
      EXPECT_EQ(runtime::cuda::linkScanKernel(filter.artifact,
                                              {ANNUDF_ELEMENT_F32, sm, runtime::cuda::kFilterWords})
                    .substr(1, 3),
                "ELF")
          << filter.artifact.manifest.name << " for sm_" << sm;
}

/// What sees the query is no scan.
TEST(CudaFilterWords, AreAllThatIsLinkedAhead) {
  const auto entries =
      runtime::cuda::entriesFor(cudaFilter(sameTenant("")).artifact, 90, ANNUDF_ELEMENT_F32);
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_STREQ(entries[0].kernel, "annudf_filter_words");
}
