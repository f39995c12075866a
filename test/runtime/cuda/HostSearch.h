//===- HostSearch.h - Searches by bounds of Products.cu, on the host ---*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products.cu and Survivors.cuh, run on the host for whole searches, against a sort of all rows;
// and data of every kind for them. To be included once.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_RUNTIME_CUDA_HOSTSEARCH_H
#define ANNUDF_TEST_RUNTIME_CUDA_HOSTSEARCH_H

#include "HostProducts.h"

#include "../engine/FormTesting.h"
#undef ANNUDF_SURVIVORS_THREADS // Blocks are one warp here.
#define ANNUDF_SURVIVORS_THREADS 32
#include "kernels/cuda/scan/Survivors.cuh"
#include "gtest/gtest.h"

#include <array>
#include <numeric>
#include <random>

namespace annudf::test {

using Fields = std::array<float, 5>;
using Vector = std::vector<float>;
using Course = QuadraticForm::Finalize;

/// Hooks, as they compute in floats.
struct Hooks {
  const char *name;
  QuadraticForm form;
  Course course;
  annudf_order order;
  bool isWeighted;
  Fields (*update)(Fields sums, float w, float x, float y);
  float (*finalize)(Fields sums, float dims);
};

/// Lists of rows, whose ids are their places, and weights; queries of which each probes all lists.
struct Data {
  std::vector<FloatRows> lists;
  FloatRows queries;
  Vector weights;
  std::vector<Vector> ofQueries; ///< Weights of each query in their place; none: of all alike.
  std::vector<uint32_t> passing; ///< As of a filter; none: all rows.
  std::vector<std::vector<uint32_t>> passingOf; ///< The same of each query; none: of all alike.
  bool passes(int64_t id) const {
    return passing.empty() || (passing[size_t(id) / 32] >> (id % 32) & 1);
  }
  bool passesFor(size_t query, int64_t id) const {
    return passes(id) &&
           (passingOf.empty() || (passingOf[query][size_t(id) / 32] >> (id % 32) & 1));
  }
  float weight(size_t query, size_t d) const {
    return ofQueries.empty() ? weights[d] : ofQueries[query][d];
  }
  Vector mean() const {
    std::vector<double> sums(weights.size());
    double count = 0;
    for (const FloatRows &rows : lists)
      for (const Vector &row : rows) {
        ++count;
        for (size_t d = 0; d < row.size(); ++d)
          sums[d] += row[d];
      }
    Vector mean(weights.size());
    for (size_t d = 0; d < mean.size(); ++d)
      if (const auto value = float(sums[d] / count); std::isfinite(value))
        mean[d] = value;
    return mean;
  }
};

/// The searches of a metric, and of its bounds.
class Search {
public:
  /// \param numbers  of the metric's form.
  /// \param base     number of the first query, of whom captures in `slots` are.
  Search(const Data &data, const Hooks &hooks, const runtime::cuda::BoundNumbers &numbers,
         const annudf_slots &slots = {}, int32_t base = 0)
      : hooks(hooks), numbers(numbers), data(data), matrix(data.lists, data.mean(), numbers) {
    if (!data.passing.empty())
      matrix.letPass(data.passing);
    for (uint32_t list = 0, group = 0; list < data.lists.size(); ++list) {
      probes.push_back(list), probeGroup.push_back(group);
      group += uint32_t(data.lists[list].size() + 31) / 32;
      ids.push_back(list == 0 ? 0 : ids.back() + int64_t(data.lists[list - 1].size()));
    }
    if (!data.passingOf.empty())
      letPassByQuery();
    bounds = matrix.bounds(data.queries, slots, base);
  }

  /// Granules without passing rows have the bound infinity; no other bound is above its rows' keys.
  void checkBounds() {
    for (query = 0; query < data.queries.size(); ++query)
      for (size_t list = 0; list < data.lists.size(); ++list) {
        const FloatRows &rows = data.lists[list];
        for (size_t first = 0; first < (rows.size() + 31) / 32 * 32; first += ANNUDF_GRANULE_ROWS) {
          const float bound = boundOf(list, first);
          ASSERT_GE(bound, -FLT_MAX); // SurvivorQuery's kBeforeAll is below.
          uint32_t best = ANNUDF_KEY_NONE;
          bool any = false;
          for (size_t r = first; r < std::min(first + ANNUDF_GRANULE_ROWS, rows.size()); ++r)
            if (data.passesFor(query, ids[list] + int64_t(r)))
              best = std::min(best, keyOfRow(rows[r])), any = true;
          if (!any) {
            ASSERT_TRUE(bound == INFINITY || bound == -FLT_MAX) << bound;
            isLeftOut += bound == INFINITY;
            continue;
          }
          ASSERT_LT(bound, INFINITY);
          isNothing += bound == -FLT_MAX, ++granules;
          ASSERT_LE(keyOf(bound), best)
              << "query " << query << ", row " << first << " of list " << list << ": " << bound;
          const float slack =
              annudfDistanceOf(best, hooks.order) - annudfDistanceOf(keyOf(bound), hooks.order);
          if (std::isfinite(slack))
            most = std::max(most, std::abs(slack));
        }
      }
  }

  void checkSearch(uint32_t k) {
    for (query = 0; query < data.queries.size(); ++query) {
      std::vector<std::pair<uint32_t, int64_t>> expected;
      for (size_t list = 0; list < data.lists.size(); ++list)
        for (size_t row = 0; row < data.lists[list].size(); ++row) {
          const int64_t id = ids[list] + int64_t(row);
          const uint32_t key = keyOfRow(data.lists[list][row]);
          if (key != ANNUDF_KEY_NONE && data.passesFor(query, id))
            expected.emplace_back(key, id);
        }
      std::sort(expected.begin(), expected.end());
      expected.resize(k, {ANNUDF_KEY_NONE, -1});
      const auto found = searched(k);
      for (size_t i = 0; i < k; ++i) {
        ASSERT_EQ(found.first[i], expected[i].second) << "query " << query << ", place " << i;
        ASSERT_EQ(found.second[i], annudfDistanceOf(expected[i].first, hooks.order));
      }
    }
  }
  /// Counts of what was checked.
  uint64_t granules = 0, isNothing = 0, isLeftOut = 0, evaluated = 0;
  float most = 0; ///< That a bound is less than the best of its rows.

  // As SurvivorQuery wants of a metric.
  using Bounds = FormBounds;
  uint32_t mostOf(float) const { return ANNUDF_KEY_NONE; }
  uint32_t keyOf(float bound) const {
    if (bound == -FLT_MAX)
      return 0;
    Fields sums;
    for (uint32_t field = 0; field < sums.size(); ++field)
      sums[field] = numbers.zeros >> field & 1 ? 0 : 1;
    sums[numbers.product] = bound * numbers.sign;
    const float distance = hooks.finalize(sums, dims());
    return distance == distance ? annudfKeyOf(distance, hooks.order) : 0;
  }
  uint32_t evaluate(uint32_t list, uint64_t group, uint32_t place, int64_t &row) const {
    const size_t in = (group - probeGroup[list]) * 32 + place;
    row = ids[list] + int64_t(in);
    return data.passes(row) ? keyOfRow(data.lists[list][in]) : uint32_t(ANNUDF_KEY_NONE);
  }

private:
  float dims() const { return float(data.weights.size()); }
  float boundOf(size_t list, size_t row) const {
    return bounds[(query * matrix.groups() + probeGroup[list]) * ANNUDF_GRANULES +
                  row / ANNUDF_GRANULE_ROWS];
  }
  uint32_t keyOfRow(const Vector &row) const {
    Fields sums = {};
    const Vector &x = data.queries[query];
    for (size_t d = 0; d < row.size(); ++d)
      sums = hooks.update(sums, hooks.isWeighted ? data.weight(query, d) : 1, x[d], row[d]);
    return annudfKeyOf(hooks.finalize(sums, dims()), hooks.order);
  }
  void letPassByQuery() {
    words.resize(data.queries.size() * matrix.groups());
    for (size_t q = 0; q < data.queries.size(); ++q)
      for (size_t list = 0; list < data.lists.size(); ++list)
        for (size_t row = 0; row < data.lists[list].size(); ++row)
          words[q * matrix.groups() + probeGroup[list] + row / 32] |=
              uint32_t(data.passesFor(q, ids[list] + int64_t(row))) << row % 32;
    matrix.letPassByQuery(words);
  }
  std::pair<std::vector<int64_t>, Vector> searched(uint32_t k) {
    std::vector<int64_t> outIds(k, -7);
    Vector outDistances(k, -7);
    const uint32_t groups = matrix.groups();
    std::vector<float4> own(groups);
    std::memcpy(own.data(), &bounds[query * groups * ANNUDF_GRANULES], groups * sizeof(float4));
    annudf_survivors_args args = {};
    args.scan.index = matrix.args().scan.index;
    args.scan.work.probes = addressOf(probes), args.scan.work.probeGroup = addressOf(probeGroup);
    args.scan.work.groupCount = reinterpret_cast<uint64_t>(&groups);
    args.scan.work.keys = addressOf(own), args.scan.work.stride = groups;
    if (!words.empty())
      args.scan.work.passing = addressOf(words) + query * groups * sizeof(uint32_t);
    args.scan.work.nProbes = uint32_t(probes.size()), args.scan.order = hooks.order;
    args.outIds = addressOf(outIds), args.outDistances = addressOf(outDistances);
    args.evaluated = reinterpret_cast<uint64_t>(&evaluated);
    args.k = k, args.sign = numbers.sign, args.product = numbers.product;
    static SurvivorScratch<float> scratch;
    Block::run(kLanes, [&] {
      SurvivorQuery<Search> one(args, *this, scratch);
      __syncthreads();
      one.run();
    });
    return {outIds, outDistances};
  }

  const Hooks &hooks;
  const runtime::cuda::BoundNumbers &numbers;
  const Data &data;
  HostProducts matrix;
  Vector bounds;
  std::vector<uint32_t> probes, probeGroup, words;
  std::vector<int64_t> ids;
  size_t query = 0;
};

/// Whether the bounds are bounds, and a search for k rows finds what a sort does.
inline bool holds(Search &search, uint32_t k) {
  search.checkBounds();
  search.checkSearch(k);
  return !testing::Test::HasFatalFailure();
}

/// The number of the first query, behind all rows.
constexpr size_t kFirstQuery = 1000;
using Change = float (*)(float value, size_t row, size_t dim);

inline Data dataOf(uint32_t seed, size_t dims, Change change) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  Data data;
  for (size_t d = 0; d < dims; ++d)
    data.weights.push_back(random() % 9 == 0 ? 0 : std::abs(normal(random)));
  size_t number = 0;
  const auto vectors = [&](size_t count) {
    FloatRows rows(count, Vector(dims));
    for (Vector &row : rows) {
      for (size_t d = 0; d < dims; ++d)
        row[d] = change(normal(random), number, d);
      ++number;
    }
    return rows;
  };
  for (const size_t size : {1, 33, 200, 64, 7})
    data.lists.push_back(vectors(size));
  number = kFirstQuery;
  data.queries = vectors(6);
  return data;
}

/// acc + (w x) (w y), with w of 2^70, and vectors so small that distances are numbers: coefficients
/// times a query's coordinates are 2^131, which no float holds, nor a half its scale of.
inline Hooks productOfLargeWeights() {
  return {"product of large weights",
          runtime::test::productOfTwoWeighted(),
          Course::Identity,
          ANNUDF_ORDER_MIN,
          true,
          [](Fields sums, float w, float x, float y) {
            return Fields{std::fma(w * x, w * y, sums[0])};
          },
          [](Fields sums, float) { return sums[0]; }};
}
constexpr float kLargeWeight = 0x1p70F;
inline Data dataOfLargeWeights() {
  Data data = dataOf(3, 1, [](float value, size_t number, size_t) {
    return number >= kFirstQuery ? 1.2F * 0x1p-9F : value * 0x1p-25F;
  });
  data.weights.assign(1, kLargeWeight);
  return data;
}

struct KindOfData {
  const char *name;
  Change change;
};
constexpr KindOfData kKinds[] = {
    {"normal", [](float v, size_t, size_t) { return v; }},
    {"far from the origin", [](float v, size_t, size_t) { return v + 1e4F; }},
    {"all equal", [](float, size_t, size_t d) { return float(d % 5) - 1; }},
    {"some of zeros", [](float v, size_t row, size_t) { return row % 5 == 3 ? 0 : v; }},
    {"almost parallel",
     [](float v, size_t row, size_t d) { return float(d + 1) * float(row + 1) + v * 1e-6F; }},
    {"one huge row", [](float v, size_t row, size_t) { return row == 100 ? v * 1e15F : v; }},
    {"one that overflows", [](float v, size_t row, size_t) { return row == 99 ? 3e38F : v; }},
    {"one infinite", [](float v, size_t row, size_t) { return row == 34 ? INFINITY : v; }},
    {"denormal", [](float v, size_t, size_t) { return v * 1e-40F; }},
    {"tiny", [](float v, size_t, size_t) { return v * 1e-22F; }},
    {"small", [](float v, size_t, size_t) { return v * 1e-5F; }},
    {"large", [](float v, size_t, size_t) { return v * 1e17F; }},
    {"large queries and rows", [](float v, size_t, size_t) { return v * 1e10F; }},
    {"tiny queries",
     [](float v, size_t row, size_t) { return row < kFirstQuery ? v : v * 1e-22F; }},
    {"one number a vector",
     [](float, size_t row, size_t) { return row < kFirstQuery ? 0.3F : 0.1F * float(row - 999); }},
    {"none below 0 but zeros",
     [](float v, size_t row, size_t) { return row % 11 == 3 ? 0 : std::abs(v); }},
    {"thousands", [](float v, size_t, size_t) { return v * 1e6F; }},
    {"two scales", [](float v, size_t, size_t d) { return d % 2 ? v * 1e6F : v * 1e-6F; }},
    {"many scales",
     [](float v, size_t row, size_t) { return std::ldexp(v, int(row * 37 % 80) - 40); }},
};

} // namespace annudf::test

#endif // ANNUDF_TEST_RUNTIME_CUDA_HOSTSEARCH_H
