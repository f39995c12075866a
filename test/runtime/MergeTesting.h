//===- MergeTesting.h - Partial results, and what they make -----*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_RUNTIME_MERGETESTING_H
#define ANNUDF_TEST_RUNTIME_MERGETESTING_H

#include "annudf/ABI/annudf_abi.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <utility>
#include <vector>

namespace annudf::test {

/// Random partial results: ties, repeated ids, NaN, infinities, -0, padding anywhere, ids up to the
/// largest.
struct MergeCase {
  int64_t parts, queries, found, k;
  annudf_order order;
  std::vector<int64_t> ids, translations;
  std::vector<float> distances;

  /// \param values  of as many numbers are the distances.
  MergeCase(std::mt19937_64 &random, int64_t parts, int64_t queries, int64_t found, int64_t k,
            int values, bool translated)
      : parts(parts), queries(queries), found(found), k(k),
        order(random() % 2 ? ANNUDF_ORDER_MIN : ANNUDF_ORDER_MAX) {
    constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
    if (translated)
      for (int64_t part = 0; part < parts; ++part)
        translations.push_back(int64_t(random() % 3) * (kLargest / 4));
    const bool few = random() % 2; // Ids that are repeated.
    for (int64_t i = 0; i < parts * queries * found; ++i) {
      const int64_t largest =
          kLargest - (translated ? translations[size_t(i / (queries * found))] : 0);
      const uint64_t draw = random() % 40;
      int64_t id = few ? int64_t(random() % 7) : int64_t(random() % uint64_t(largest));
      if (draw == 0)
        id = largest;
      float distance = float(int(random() % uint64_t(values)) - values / 2);
      if (distance == 0 && draw % 2)
        distance = -0.0f;
      if (draw == 1)
        distance = std::numeric_limits<float>::quiet_NaN();
      if (draw == 2)
        distance = std::numeric_limits<float>::infinity();
      if (draw == 3)
        distance = -std::numeric_limits<float>::infinity();
      if (draw == 4)
        id = -1, distance = random() % 2 ? 0.0f : std::numeric_limits<float>::infinity();
      ids.push_back(id), distances.push_back(distance);
    }
  }

  /// Compares with all results of a query, sorted.
  void check(const std::vector<int64_t> &gotIds, const std::vector<float> &gotDistances) const {
    ASSERT_EQ(gotIds.size(), size_t(queries * k));
    ASSERT_EQ(gotDistances.size(), size_t(queries * k));
    for (int64_t q = 0; q < queries; ++q) {
      std::vector<std::pair<double, int64_t>> all;
      for (int64_t part = 0; part < parts; ++part)
        for (int64_t i = 0; i < found; ++i) {
          const auto at = size_t((part * queries + q) * found + i);
          const double distance = distances[at];
          if (distance == distance && ids[at] != -1)
            all.emplace_back(order == ANNUDF_ORDER_MAX ? -distance : distance,
                             ids[at] + (translations.empty() ? 0 : translations[size_t(part)]));
        }
      std::sort(all.begin(), all.end());
      for (int64_t i = 0; i < k; ++i) {
        const bool is = i < int64_t(all.size());
        const double worst = std::numeric_limits<double>::infinity();
        const double distance = is ? all[size_t(i)].first : worst;
        const auto at = size_t(q * k + i);
        ASSERT_EQ(gotIds[at], is ? all[size_t(i)].second : -1)
            << "place " << i << " of " << k << ", query " << q;
        ASSERT_EQ(double(gotDistances[at]), order == ANNUDF_ORDER_MAX ? -distance : distance)
            << "place " << i << " of " << k << ", query " << q;
      }
    }
  }
};

/// Calls run(case) for cases of many shapes. \param most  results of a query, at most.
template <class Run> void forMergeCases(int64_t most, Run run) {
  std::mt19937_64 random(17);
  for (const int values : {1, 3, 50, 1 << 20})
    for (const auto &[parts, found] : {std::pair<int64_t, int64_t>{1, 1},
                                       {1, 40},
                                       {2, 10},
                                       {3, 33},
                                       {8, 16},
                                       {7, 300},
                                       {40, 1},
                                       {3, 1500}})
      for (const int64_t k : {1, 5, 10, 32, 33, 100, 1024, 1025, 3000}) {
        if (parts * found > most || k > most)
          continue;
        const MergeCase one(random, parts, 1 + int64_t(random() % 4), found, k, values,
                            random() % 2 == 0);
        SCOPED_TRACE(testing::Message() << parts << " parts of " << found << ", " << values
                                        << " distances, translations: " << one.translations.size());
        run(one);
        if (testing::Test::HasFatalFailure())
          return;
      }
}

} // namespace annudf::test

#endif // ANNUDF_TEST_RUNTIME_MERGETESTING_H
