//===- RadiusTesting.h - Radius searches against a whole search -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A search for as many neighbours as there are rows gives all in order; those within a radius are
// the first of them.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_RUNTIME_RADIUSTESTING_H
#define ANNUDF_TEST_RUNTIME_RADIUSTESTING_H

#include "annudf/runtime/engine/Radius.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace annudf::test {

/// One way to search by radius.
struct RadiusSearch {
  runtime::Backend &backend;
  const runtime::RowStore &index;
  const runtime::Metric &metric;
  const runtime::BoundCaptures &captures;
  runtime::MatrixView queries;
  runtime::SearchParams params;

  bool isMin() const { return metric.artifact.manifest.order == ANNUDF_ORDER_MIN; }
  runtime::WithinRadius run(float radius, int64_t most = ANNUDF_DEFAULT_MAX_RESULTS,
                            runtime::SearchStats *stats = nullptr) const {
    return backend.searchRadius(index, metric, captures, queries, radius, most, params, stats);
  }
  std::string refusal(float radius, int64_t most = ANNUDF_DEFAULT_MAX_RESULTS) const {
    try {
      (void)run(radius, most);
    } catch (const Error &error) {
      return std::string(error.kind() == ErrorKind::Usage ? "usage: " : "other: ") + error.what();
    }
    return "ok";
  }
};

/// All neighbours of all queries, by a search that the radius does not touch.
class EveryNeighbour {
public:
  /// \param family  that finds them; "": the planner's choice.
  EveryNeighbour(const RadiusSearch &search, const std::string &family = "")
      : isMin_(search.isMin()), queries_(search.queries.rows), rows_(search.index.size()),
        ids_(size_t(queries_ * rows_)), distances_(ids_.size()) {
    runtime::SearchParams params = search.params;
    params.family = family;
    search.backend.search(search.index, search.metric, search.captures, search.queries, int(rows_),
                          params, ids_.data(), distances_.data());
  }

  runtime::WithinRadius within(float radius) const {
    runtime::WithinRadius found{{0}, {}, {}};
    for (int64_t q = 0; q < queries_; ++q) {
      for (auto i = size_t(q * rows_); i < size_t((q + 1) * rows_) && ids_[i] >= 0; ++i) {
        if (isMin_ ? distances_[i] > radius : distances_[i] < radius)
          break;
        found.ids.push_back(ids_[i]);
        found.distances.push_back(distances_[i] + 0.0f); // -0 becomes 0.
      }
      found.starts.push_back(int64_t(found.ids.size()));
    }
    return found;
  }

  /// Radii with nothing within, a row just at it, some rows a query, and all.
  std::vector<float> radii(int64_t some = 10) const {
    std::vector<float> all;
    for (size_t i = 0; i < ids_.size(); ++i)
      if (ids_[i] >= 0)
        all.push_back(distances_[i]);
    const float worst = (isMin_ ? 1 : -1) * std::numeric_limits<float>::infinity();
    std::vector<float> radii = {-worst, worst};
    if (all.empty())
      return radii;
    std::sort(all.begin(), all.end());
    if (!isMin_)
      std::reverse(all.begin(), all.end());
    radii.push_back(std::nextafter(all.front(), -worst));
    for (const size_t at : {size_t(0), std::min(all.size() - 1, size_t(some * queries_)),
                            all.size() / 2, all.size() - 1}) {
      radii.push_back(all[at]);
      radii.push_back(std::nextafter(all[at], -worst));
    }
    return radii;
  }

private:
  const bool isMin_;
  const int64_t queries_, rows_;
  std::vector<int64_t> ids_;
  std::vector<float> distances_;
};

/// \returns whether both are the same to the bit.
inline testing::AssertionResult areEqual(const runtime::WithinRadius &found,
                                         const runtime::WithinRadius &expected) {
  if (found.starts != expected.starts)
    return testing::AssertionFailure()
           << found.starts.back() << " results in other places, not " << expected.starts.back();
  if (found.ids.size() != expected.ids.size() ||
      found.distances.size() != expected.distances.size())
    return testing::AssertionFailure() << found.ids.size() << " ids and " << found.distances.size()
                                       << " distances, not " << expected.ids.size();
  for (size_t i = 0; i < found.ids.size(); ++i)
    if (found.ids[i] != expected.ids[i] ||
        std::memcmp(&found.distances[i], &expected.distances[i], sizeof(float)) != 0)
      return testing::AssertionFailure()
             << "result " << i << " is " << found.ids[i] << " at " << found.distances[i] << ", not "
             << expected.ids[i] << " at " << expected.distances[i];
  return testing::AssertionSuccess();
}

/// The radius search finds what the whole search has, for many radii and for just enough results,
/// and refuses one result more.
inline void checkRadii(const RadiusSearch &search, const EveryNeighbour &every) {
  for (const float radius : every.radii()) {
    const runtime::WithinRadius expected = every.within(radius);
    const int64_t results = expected.starts.back();
    ASSERT_TRUE(areEqual(search.run(radius, results), expected)) << "radius " << radius;
    if (results == 0)
      continue;
    const std::string text = search.refusal(radius, results - 1);
    const std::string begin = "usage: max_results is " + std::to_string(results - 1) +
                              ", and the search stopped with ",
                      end = " rows within the radius; give a smaller radius or a larger "
                            "max_results";
    ASSERT_TRUE(text.starts_with(begin) && text.ends_with(end)) << text;
    ASSERT_GE(std::stoll(text.substr(begin.size())), results) << text;
  }
}

} // namespace annudf::test

#endif // ANNUDF_TEST_RUNTIME_RADIUSTESTING_H
