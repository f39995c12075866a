//===- CoarseQueriesTest.cpp - Queries as the coarse stage reads them, on the host ---===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Four dimensions at a time, whatever the element, the place in memory and what stands for missing
// values, against one coordinate at a time. And the lists of queries where nothing ranks them.
//
//===----------------------------------------------------------------------===//

#include "HostCuda.h"

#include "kernels/cuda/search/Coarse.cuh"
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

namespace {

constexpr uint32_t kQueries = 5;
constexpr uint32_t kBits[] = {32, 16, 16, 8, 8, 1};
constexpr annudf_element kElements[] = {ANNUDF_ELEMENT_F32,  ANNUDF_ELEMENT_F16,
                                        ANNUDF_ELEMENT_BF16, ANNUDF_ELEMENT_I8,
                                        ANNUDF_ELEMENT_U8,   ANNUDF_ELEMENT_BITS};

/// Every dimension through a reader. \returns how many it read four at a time as words.
template <bool kFloats>
int compare(const annudf_device_index &index, const annudf_queries &queries, const float *fill) {
  const QueryReader<kFloats> reader(index, queries, fill);
  for (uint32_t query = 0; query < kQueries + 2; ++query)
    for (uint32_t dim = 0; dim < index.dims + 8; dim += 4) {
      const float4 four = reader.four(reader.read(query, dim));
      const float read[] = {four.x, four.y, four.z, four.w};
      for (uint32_t i = 0; i < 4; ++i) {
        const bool exists = query < kQueries && dim + i < index.dims;
        const float expected = exists ? coordinate(index, queries, fill, query, dim + i) : 0;
        if (__float_as_uint(read[i]) != __float_as_uint(expected)) {
          ADD_FAILURE() << "element " << queries.element << ", dims " << index.dims << ", query "
                        << query << ", dim " << dim + i << ": " << read[i] << ", not " << expected;
          return 0;
        }
      }
    }
  return reader.words;
}

} // namespace

TEST(CoarseQueries, AreReadFourDimensionsAtATime) {
  std::mt19937 random(1);
  std::vector<float> fill(200, 0.5F);
  int words[5] = {};
  for (size_t e = 0; e < std::size(kElements); ++e)
    for (const uint32_t dims : {1U, 3U, 4U, 6U, 8U, 16U, 33U, 96U, 128U, 130U}) {
      if (dims * kBits[e] % 8)
        continue;
      const uint32_t rowBytes = dims * kBits[e] / 8;
      alignas(16) static uint8_t memory[(kQueries + 1) * 130 * 4 + 32];
      for (uint8_t &byte : memory)
        byte = uint8_t(random());
      for (const uint32_t offset : {0U, 4U, 8U, 16U})
        for (const bool filled : {false, true}) {
          annudf_device_index index = {};
          index.dims = dims;
          annudf_queries queries = {};
          queries.data = reinterpret_cast<uint64_t>(memory + offset);
          queries.rowBytes = rowBytes, queries.count = kQueries;
          queries.element = static_cast<uint32_t>(kElements[e]);
          const float *missing = filled ? fill.data() : nullptr;
          ++words[compare<false>(index, queries, missing)];
          if (areVectors(index, queries, missing)) {
            EXPECT_EQ(compare<true>(index, queries, missing), 4);
          }
        }
    }
  for (const int count : {0, 1, 2, 4})
    EXPECT_GE(words[count], 10) << count;
}

/// With a block of one warp, of several, and with more lists than a block has threads.
TEST(TakenProbes, AllListsOrThoseOfTheTable) {
  std::mt19937 random(2);
  for (const uint32_t lists : {1U, 31U, 32U, 33U, 100U, 1500U})
    for (const bool named : {false, true}) {
      std::vector<uint32_t> sizes(lists), order(lists), table;
      for (uint32_t &size : sizes)
        size = random() % 200;
      std::iota(order.begin(), order.end(), 0U);
      const uint32_t count = named ? (lists + 1) / 2 : lists;
      for (uint32_t query = 0; query < kQueries; ++query) {
        if (named)
          std::shuffle(order.begin(), order.end(), random);
        table.insert(table.end(), order.begin(), order.begin() + count);
      }
      std::vector<uint32_t> probes(table.size(), 777), starts(table), ranks(table),
          groups(kQueries), pairs(lists, 0);
      annudf_device_index index = {};
      index.nLists = lists, index.listSize = reinterpret_cast<uint64_t>(sizes.data());
      annudf_workspace work = {};
      work.nProbes = count;
      work.probes = reinterpret_cast<uint64_t>(probes.data());
      work.probeGroup = reinterpret_cast<uint64_t>(starts.data());
      work.groupCount = reinterpret_cast<uint64_t>(groups.data());
      work.rank = reinterpret_cast<uint64_t>(ranks.data());
      work.listPairs = reinterpret_cast<uint64_t>(pairs.data());
      for (blockIdx.x = 0; blockIdx.x < kQueries; ++blockIdx.x)
        annudf::test::Block::run(std::min((count + 31) / 32 * 32, 1024U), [&] {
          annudf_take_probes(index, work, named ? table.data() : nullptr);
        });
      blockIdx.x = 0;
      EXPECT_EQ(probes, table) << lists;
      std::vector<uint32_t> expectedPairs(lists, 0);
      for (uint32_t query = 0; query < kQueries; ++query) {
        uint32_t before = 0;
        for (uint32_t p = query * count; p < (query + 1) * count; ++p) {
          ASSERT_EQ(starts[p], before) << lists << ", query " << query;
          ASSERT_EQ(ranks[p], expectedPairs[table[p]]++) << "blocks ran one after the other";
          before += (sizes[table[p]] + 31) / 32;
        }
        EXPECT_EQ(groups[query], before);
      }
      EXPECT_EQ(pairs, expectedPairs);
    }
}
