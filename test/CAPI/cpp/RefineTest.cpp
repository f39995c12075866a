//===- RefineTest.cpp - Candidates ranked again by annudf.hpp -------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CppApi.h"

#include <algorithm>
#include <limits>

using namespace cpp_api;
namespace brute_force = annudf::brute_force;

namespace {

constexpr std::int64_t kDims = 4;

class CppRefine : public testing::Test {
protected:
  const std::vector<float> data = ramp(100, kDims);
  const annudf::matrix_view<const float> rows = annudf::matrix_view(data, kDims);
  const std::vector<float> ones = std::vector<float>(kDims, 1.0f);
  const annudf::bound_metric metric = example_metric("weighted_l2").bind({{"w", ones}});
};

/// What a search found by one metric is ranked by another.
TEST_F(CppRefine, CandidatesOfASearch) {
  const auto candidates = brute_force::knn(rows, rows, 100, {.metric = "inner_product"});
  annudf::search_stats stats;
  const auto found =
      annudf::refine(rows, rows, candidates.neighbors, 7, {.metric = metric, .stats = &stats});
  const auto expected = brute_force::knn(rows, rows, 7, {.metric = metric});
  EXPECT_EQ(found.neighbors, expected.neighbors);
  EXPECT_EQ(found.distances, expected.distances);
  EXPECT_EQ(stats.scored, 10000);
}

TEST_F(CppRefine, FewerCandidatesThanK) {
  const std::vector<std::int64_t> some = {-1, 60, 40, 60, -1, -1, -1, -1};
  const annudf::matrix_view<const float> two{data.data() + 50 * kDims, 2, kDims};
  const auto found = annudf::refine(rows, two, annudf::matrix_view(some, 4), 3);
  EXPECT_EQ(std::vector(found.neighbors.begin(), found.neighbors.end()),
            (std::vector<std::int64_t>{40, 60, -1, -1, -1, -1}));
  constexpr float kWorst = std::numeric_limits<float>::infinity();
  EXPECT_EQ(found.distances(0, 0), found.distances(0, 1));
  EXPECT_EQ(found.distances(0, 2), kWorst);
  EXPECT_EQ(found.distances(1, 0), kWorst);
}

/// Each query's candidates are a list of their own, but not to the filter's code.
TEST_F(CppRefine, FiltersSeeOneListAndTheirQuery) {
  std::vector<float> price(100), most(100);
  for (std::size_t i = 0; i < 100; ++i)
    price[i] = float(i % 7), most[i] = float(i % 5);
  const auto code = annudf::code_filter(
      "cheap", [price = annudf::capture<float>("price", annudf::row),
                most = annudf::capture<float>("most", annudf::query)](auto ctx) {
        return ctx.list == 0 && price[ctx.row] <= most[ctx.query];
      });
  const auto index = annudf::ivf_flat::build({.n_lists = 1}, rows);
  const annudf::filter cheap =
      annudf::ivf_flat::filter(index, code.bind({{"price", price}, {"most", most}}));
  std::vector<std::int64_t> all(10000);
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = std::int64_t(i % 100);
  annudf::search_stats stats;
  const auto found = annudf::refine(rows, rows, annudf::matrix_view(all, 100), 5,
                                    {.metric = metric, .filter = cheap, .stats = &stats});
  const auto expected = brute_force::knn(rows, rows, 5, {.metric = metric, .filter = cheap});
  EXPECT_EQ(found.neighbors, expected.neighbors);
  EXPECT_EQ(found.distances, expected.distances);
  std::int64_t pass = 0;
  for (const float limit : most)
    pass += std::count_if(price.begin(), price.end(), [&](float of) { return of <= limit; });
  EXPECT_EQ(stats.scored, pass);
  EXPECT_DOUBLE_EQ(stats.passing_share, double(pass) / 10000);
}

/// By rows of an index, whose ids are not their numbers.
TEST_F(CppRefine, RowsOfAnIndex) {
  std::vector<std::int64_t> ids(100);
  for (std::size_t i = 0; i < 100; ++i)
    ids[i] = (std::int64_t(99 - i) << 40) + 3;
  const auto exact = brute_force::build({.metric = metric}, rows, ids);
  auto lists = annudf::ivf_flat::build({.n_lists = 4, .add_data_on_build = false}, rows);
  annudf::ivf_flat::extend(lists, rows, ids);
  std::vector<std::int64_t> all(10000);
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = ids[i * 7 % 100];
  const annudf::matrix_view<const std::int64_t> candidates(all, 100);
  const auto expected = brute_force::search(exact, rows, 7);
  annudf::search_stats stats;
  for (const auto &found :
       {annudf::refine(exact, rows, candidates, 7, {.metric = metric}),
        annudf::refine(lists, rows, candidates, 7, {.metric = metric, .stats = &stats})}) {
    EXPECT_EQ(found.neighbors, expected.neighbors);
    EXPECT_EQ(found.distances, expected.distances);
  }
  EXPECT_EQ(stats.scored, 10000);
  all[205] = 4;
  EXPECT_EQ(error_of([&] { (void)annudf::refine(lists, rows, candidates, 2); }),
            "2 candidates[2, 5] is 4, which is no id of the index; give ids of its rows, or -1 for "
            "none");
}

TEST_F(CppRefine, Refuses) {
  const std::vector<std::int64_t> some(300, 100);
  const annudf::matrix_view<const std::int64_t> three(some, 3);
  EXPECT_EQ(error_of([&] { (void)annudf::refine(rows, rows, three, 4); }),
            "1 k is 4, but a query has 3 candidates; ask for fewer, or give more");
  EXPECT_EQ(error_of([&] { (void)annudf::refine(rows, rows, three, 2); }),
            "2 candidates[0, 0] is 100, the dataset has 100 rows; give -1 to 99, where -1 is none");
}

} // namespace
