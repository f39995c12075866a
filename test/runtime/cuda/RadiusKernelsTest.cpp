//===- RadiusKernelsTest.cpp - The GPU's radius search, run on the host ---===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostCuda.h"

#include "annudf/runtime/engine/Radius.h"
#include "kernels/cuda/search/Radius.cuh"
#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

using namespace annudf;
using namespace annudf::test;

namespace {

struct Row {
  float distance;
  int64_t id;
};

/// Lists of one index, and what a scan leaves of several queries that each probe some of them.
class Batch {
public:
  Batch(std::mt19937 &random, uint32_t queries, int values, annudf_order order) : order(order) {
    std::vector<uint32_t> sizes(1 + random() % 9);
    for (uint32_t &size : sizes)
      size = random() % 4 == 0 ? 0 : random() % 3000;
    listGroup.push_back(0);
    int64_t next = 0;
    for (const uint32_t size : sizes) {
      const uint32_t groups = (size + 31) / 32;
      for (uint32_t r = 0; r < groups * 32; ++r)
        ids.push_back(r < size ? next++ * 0x1234567 : -1);
      listGroup.push_back(listGroup.back() + groups);
    }
    stride = listGroup.back() + 3; // What lies between is never read.
    nProbes = 1 + random() % uint32_t(sizes.size());
    for (uint32_t q = 0; q < queries; ++q)
      addQuery(random, sizes, values);
  }

  /// Counts, then fills queries [first, end).
  void check(float radius, uint32_t first, uint32_t end, unsigned blocks) const {
    std::vector<uint32_t> counts(end - first, 0), filled(end - first, 0);
    std::vector<uint64_t> starts;
    annudf_radius_args args = arguments(radius, first);
    args.counts = address(counts);
    launch(end - first, blocks, [&] { annudf_count_within(args); });
    runtime::WithinRadius found{{0}, {}, {}}, expected{{0}, {}, {}};
    for (uint32_t q = first; q < end; ++q) {
      starts.push_back(uint64_t(found.starts.back()));
      found.starts.push_back(found.starts.back() + counts[q - first]);
      expect(q, radius, expected);
    }
    ASSERT_EQ(found.starts, expected.starts) << "radius " << radius;
    found.ids.assign(size_t(found.starts.back()), -7);
    found.distances.assign(found.ids.size(), -7);
    args.counts = address(filled), args.starts = address(starts);
    args.finish.outIds = address(found.ids), args.finish.outDistances = address(found.distances);
    launch(end - first, blocks, [&] { annudf_fill_within(args); });
    EXPECT_EQ(filled, counts);
    runtime::sortWithin(found, 0, order);
    ASSERT_EQ(found.ids, expected.ids) << "radius " << radius;
    ASSERT_TRUE(found.ids.empty() || std::memcmp(found.distances.data(), expected.distances.data(),
                                                 found.distances.size() * sizeof(float)) == 0);
  }

  uint32_t queries() const { return uint32_t(groupCount.size()); }

private:
  void addQuery(std::mt19937 &random, const std::vector<uint32_t> &sizes, int values) {
    std::vector<uint32_t> lists(sizes.size());
    for (uint32_t i = 0; i < lists.size(); ++i)
      lists[i] = i;
    std::shuffle(lists.begin(), lists.end(), random);
    rows.emplace_back();
    keys.resize(keys.size() + size_t(stride) * 32, 0); // As if all were within.
    minima.resize(minima.size() + stride, 0);
    uint32_t *const ownKeys = keys.data() + keys.size() - size_t(stride) * 32, *const ownMinima =
                                                                                   minima.data() +
                                                                                   minima.size() -
                                                                                   stride;
    uint32_t group = 0;
    for (uint32_t p = 0; p < nProbes; ++p) {
      const uint32_t list = lists[p];
      probes.push_back(list), probeGroup.push_back(group);
      for (uint32_t r = 0; r < (sizes[list] + 31) / 32 * 32; ++r) {
        Row row{float(int(random() % unsigned(values))) - float(values / 2),
                ids[size_t(listGroup[list]) * 32 + r]};
        if (row.distance == 0 && random() % 2)
          row.distance = -0.0f;
        if (random() % 37 == 0)
          row.distance = std::nanf("");
        uint32_t &best = ownMinima[group + r / 32];
        if (r % 32 == 0)
          best = ANNUDF_KEY_NONE;
        const uint32_t key = r < sizes[list] ? annudfKeyOf(row.distance, order) : ANNUDF_KEY_NONE;
        ownKeys[size_t(group) * 32 + r] = key;
        best = std::min(best, key);
        if (r < sizes[list])
          rows.back().push_back(row);
      }
      group += (sizes[list] + 31) / 32;
    }
    groupCount.push_back(group);
  }

  void expect(uint32_t query, float radius, runtime::WithinRadius &expected) const {
    std::vector<Row> within;
    for (const Row &row : rows[query])
      if (order == ANNUDF_ORDER_MIN ? row.distance <= radius : row.distance >= radius)
        within.push_back({row.distance + 0.0f, row.id});
    std::sort(within.begin(), within.end(), [&](const Row &a, const Row &b) {
      if (a.distance != b.distance)
        return order == ANNUDF_ORDER_MIN ? a.distance < b.distance : a.distance > b.distance;
      return a.id < b.id;
    });
    for (const Row &row : within)
      expected.ids.push_back(row.id), expected.distances.push_back(row.distance);
    expected.starts.push_back(int64_t(expected.ids.size()));
  }

  annudf_radius_args arguments(float radius, uint32_t first) const {
    annudf_radius_args args = {};
    args.finish.index.ids = address(ids), args.finish.index.listGroup = address(listGroup);
    annudf_workspace &work = args.finish.work;
    work.probes = address(probes), work.probeGroup = address(probeGroup);
    work.groupCount = address(groupCount);
    work.keys = address(keys), work.minima = address(minima);
    work.stride = stride, work.nProbes = nProbes;
    args.finish.order = order;
    args.radius = radius, args.first = first;
    return args;
  }

  template <class Kernel>
  static void launch(uint32_t queries, unsigned blocks, const Kernel &kernel) {
    gridDim = {queries, blocks};
    for (blockIdx.y = 0; blockIdx.y < blocks; ++blockIdx.y)
      for (blockIdx.x = 0; blockIdx.x < queries; ++blockIdx.x)
        Block::run(64, kernel);
    gridDim = {1, 1}, blockIdx = {0, 0};
  }
  template <class T> static uint64_t address(const std::vector<T> &values) {
    return reinterpret_cast<uint64_t>(values.data());
  }

  const annudf_order order;
  uint32_t stride = 0, nProbes = 0;
  std::vector<uint32_t> listGroup, probes, probeGroup, groupCount, keys, minima;
  std::vector<int64_t> ids;
  std::vector<std::vector<Row>> rows; ///< Each query's.
};

/// From nothing within to all, over rows just at the radius, as one block row or several.
TEST(CudaRadiusKernels, FindAllWithin) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::mt19937 random(3);
  for (const annudf_order order : {ANNUDF_ORDER_MIN, ANNUDF_ORDER_MAX})
    for (const int values : {1, 7, 1 << 12})
      for (int round = 0; round < 4; ++round) {
        const Batch batch(random, 1 + random() % 5, values, order);
        for (const float radius :
             {-kInfinity, kInfinity, 0.0f, -0.0f, 1.0f, -1.0f, 100.5f, -500.0f})
          for (const unsigned blocks : {1u, 3u})
            ASSERT_NO_FATAL_FAILURE(batch.check(radius, 0, batch.queries(), blocks));
        if (batch.queries() > 1) {
          ASSERT_NO_FATAL_FAILURE(batch.check(0, 1, batch.queries(), 1));
        }
      }
}

} // namespace
