//===- RadiusKernelsTest.cpp - The GPU's radius search, run on the host ---===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostCuda.h"

#include "annudf/runtime/engine/Radius.h"
#include "kernels/cuda/scan/Within.cuh"
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
    listSize = sizes;
    stride = listGroup.back() + 3; // What lies between is never read.
    nProbes = 1 + random() % uint32_t(sizes.size());
    for (uint32_t q = 0; q < queries; ++q)
      addQuery(random, sizes, values);
  }

  /// Where results of queries [first, end) go, as many as there is room for.
  struct Places {
    annudf_within_found found = {};
    std::vector<uint32_t> counts;
    std::vector<annudf_within_segment> segments;
    std::vector<int64_t> ids;
    std::vector<float> distances;
  };

  /// Counts queries [first, end) without room, then finds them with just enough.
  /// \param find  launches the kernel of `blocks` block rows.
  template <class Find>
  void check(float radius, uint32_t first, uint32_t end, unsigned blocks, Find find) const {
    runtime::WithinRadius expected{{0}, {}, {}};
    for (uint32_t q = first; q < end; ++q)
      expect(q, radius, expected);
    const auto results = size_t(expected.starts.back());
    for (const size_t room : {results / 2, results}) {
      Places places;
      places.counts.assign(groupCount.size(), 0);
      places.segments.resize(ANNUDF_WITHIN_SEGMENTS((end - first) * blocks, room));
      places.ids.assign(room, -7), places.distances.assign(room, -7);
      annudf_within to = {};
      to.found = reinterpret_cast<uint64_t>(&places.found), to.counts = address(places.counts);
      to.segments = address(places.segments);
      to.ids = address(places.ids), to.distances = address(places.distances);
      to.room = room, to.radius = radius, to.first = first;
      launch(end - first, blocks, [&] { find(to); });
      ASSERT_EQ(places.found.results, results) << "radius " << radius;
      ASSERT_LE(places.found.segments, places.segments.size());
      for (uint32_t q = first; q < end; ++q)
        ASSERT_EQ(places.counts[q], expected.starts[q - first + 1] - expected.starts[q - first]);
      if (room == results)
        ASSERT_NO_FATAL_FAILURE(compare(places, expected, first, blocks));
    }
  }
  void check(float radius, uint32_t first, uint32_t end, unsigned blocks) const {
    check(radius, first, end, blocks, [this](const annudf_within &to) {
      annudf_radius_args args = {};
      fill(args.finish.index, args.finish.work);
      args.finish.order = order;
      args.to = to;
      annudf_within_keys(args);
    });
    checkGranules(radius, first, end, blocks);
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

  /// The same results; in order where a query has one segment.
  void compare(const Places &places, const runtime::WithinRadius &expected, uint32_t first,
               unsigned blocks) const {
    runtime::WithinRadius all = expected;
    std::vector<int64_t> next(expected.starts.begin(), expected.starts.end() - 1);
    bool isInOrder = blocks == 1;
    for (uint32_t s = 0; s < places.found.segments; ++s) {
      const annudf_within_segment &segment = places.segments[s];
      isInOrder &= segment.count == places.counts[segment.query];
      int64_t &at = next[segment.query - first];
      std::copy_n(places.ids.begin() + int64_t(segment.start), segment.count, all.ids.begin() + at);
      std::copy_n(places.distances.begin() + int64_t(segment.start), segment.count,
                  all.distances.begin() + at);
      at += segment.count;
    }
    if (!isInOrder)
      runtime::sortWithin(all, 0, order);
    ASSERT_EQ(all.ids, expected.ids);
    ASSERT_TRUE(all.ids.empty() || std::memcmp(all.distances.data(), expected.distances.data(),
                                               all.distances.size() * sizeof(float)) == 0);
  }

  /// A metric of granules' keys, whose hooks are what the scan found.
  struct Keys {
    using Bounds = KeyBounds;
    const Batch &batch;
    uint32_t query;
    uint32_t keyOf(uint32_t bound) const { return bound; }
    uint32_t evaluate(uint32_t list, uint64_t group, uint32_t place, int64_t &row) const {
      row = batch.ids[group * 32 + place];
      uint32_t probe = query * batch.nProbes;
      while (batch.probes[probe] != list)
        ++probe;
      const uint64_t at = batch.probeGroup[probe] + group - batch.listGroup[list];
      return batch.keys[(uint64_t(query) * batch.stride + at) * 32 + place];
    }
  };

  /// What Within.cuh finds by keys of granules, some of which are lower than they need be.
  void checkGranules(float radius, uint32_t first, uint32_t end, unsigned blocks) const {
    std::vector<uint4> bounds(minima.size());
    for (size_t g = 0; g < bounds.size(); ++g) {
      uint32_t best[ANNUDF_GRANULES];
      for (uint32_t i = 0; i < ANNUDF_GRANULES; ++i) {
        const uint32_t *const of = keys.data() + g * 32 + i * ANNUDF_GRANULE_ROWS;
        best[i] = *std::min_element(of, of + ANNUDF_GRANULE_ROWS);
        if (best[i] != ANNUDF_KEY_NONE && (g + i) % 5 == 0)
          best[i] -= best[i] / 64;
      }
      bounds[g] = {best[0], best[1], best[2], best[3]};
    }
    unsigned long long evaluated = 0;
    check(radius, first, end, blocks, [&](const annudf_within &to) {
      static GranulesScratch scratch;
      annudf_within_args args = {};
      annudf_scan_args &scan = args.survivors.scan;
      fill(scan.index, scan.work);
      scan.work.keys = address(bounds);
      scan.order = order;
      args.survivors.evaluated = reinterpret_cast<uint64_t>(&evaluated);
      args.to = to;
      const uint32_t query = first + blockIdx.x;
      const Keys metric = {*this, query};
      WithinQuery<Keys>(args, metric, scratch, query).run();
    });
  }

  void fill(annudf_device_index &index, annudf_workspace &work) const {
    index.ids = address(ids), index.listGroup = address(listGroup);
    index.listSize = address(listSize);
    work.probes = address(probes), work.probeGroup = address(probeGroup);
    work.groupCount = address(groupCount);
    work.keys = address(keys), work.minima = address(minima);
    work.stride = stride, work.nProbes = nProbes;
  }

  template <class Kernel>
  static void launch(uint32_t queries, unsigned blocks, const Kernel &kernel) {
    gridDim = {queries, blocks};
    for (blockIdx.y = 0; blockIdx.y < blocks; ++blockIdx.y)
      for (blockIdx.x = 0; blockIdx.x < queries; ++blockIdx.x)
        Block::run(ANNUDF_WITHIN_THREADS, kernel);
    gridDim = {1, 1}, blockIdx = {0, 0};
  }
  template <class T> static uint64_t address(const std::vector<T> &values) {
    return reinterpret_cast<uint64_t>(values.data());
  }

  const annudf_order order;
  uint32_t stride = 0, nProbes = 0;
  std::vector<uint32_t> listGroup, listSize, probes, probeGroup, groupCount, keys, minima;
  std::vector<int64_t> ids;
  std::vector<std::vector<Row>> rows; ///< Each query's.
};

/// From nothing within to all, over rows just at the radius, as one block row or several.
TEST(CudaRadiusKernels, FindAllWithin) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::mt19937 random(3);
  for (const annudf_order order : {ANNUDF_ORDER_MIN, ANNUDF_ORDER_MAX})
    for (const int values : {1, 7, 1 << 12})
      for (int round = 0; round < 3; ++round) {
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
