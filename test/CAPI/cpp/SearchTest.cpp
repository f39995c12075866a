//===- SearchTest.cpp - Indexes and searches of annudf.hpp ----------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CppApi.h"

#include "annudf-c/annudf.h"

#include <array>
#include <limits>
#include <numeric>

using namespace cpp_api;
namespace ivf_flat = annudf::ivf_flat;
namespace brute_force = annudf::brute_force;

namespace {

using CppSearch = IndexedRamp;

TEST_F(CppSearch, IndexSaysWhatItIs) {
  EXPECT_EQ(index.size(), 100);
  EXPECT_EQ(index.dim(), kDims);
  EXPECT_EQ(index.n_lists(), 5);
  EXPECT_EQ(index.element(), annudf::element::f32);
  EXPECT_EQ(index.metric(), annudf::coarse::l2);
  EXPECT_FALSE(index.adaptive_centers());
  EXPECT_FALSE(index.missing_values());
  EXPECT_EQ(index.row_extent(), 100);
  const auto centers = index.centers();
  EXPECT_EQ(centers.rows(), 5);
  EXPECT_EQ(centers.cols(), kDims);
  for (const float center : centers)
    EXPECT_TRUE(center >= 0 && center < 100) << center;
  ivf_flat::index moved = std::move(index);
  EXPECT_EQ(moved.size(), 100);
}

TEST_F(CppSearch, ParametersReachTheLibrary) {
  EXPECT_EQ(ivf_flat::build({.n_lists = 0}, rows).n_lists(), 1); // Fewer than 1000 rows.
  const auto empty = ivf_flat::build({.n_lists = 3, .add_data_on_build = false}, rows);
  EXPECT_EQ(empty.size(), 0);
  auto other = ivf_flat::build({.n_lists = 3,
                                .metric = annudf::coarse::cosine,
                                .adaptive_centers = true,
                                .missing_values = true,
                                .seed = 7,
                                .threads = 1},
                               rows);
  EXPECT_EQ(other.metric(), annudf::coarse::cosine);
  EXPECT_TRUE(other.adaptive_centers());
  EXPECT_TRUE(other.missing_values());
  EXPECT_EQ(error_of([&] {
              (void)ivf_flat::build({.n_lists = 2, .kmeans_trainset_fraction = 2}, rows);
            }).substr(0, 2),
            "1 ");
}

/// Only a GPU heeds it (CppDevice.CountsPairsUnlessTheyAreSkipped).
TEST_F(CppSearch, SkippedPairsAreAskedOfC) {
  const annudf::backend &cpu = annudf::backend::shared();
  const auto asked = [&](const auto &params) {
    const annudf::detail::prepared call(annudf::detail::search_access::of(metric, {}), cpu, kDims,
                                        params);
    return call.options()->skip_pairs;
  };
  EXPECT_EQ(asked(ivf_flat::search_params()), 0);
  EXPECT_EQ(asked(ivf_flat::search_params{.skip_pairs = true}), 1);
  EXPECT_EQ(asked(brute_force::search_params{.skip_pairs = true}), 1);
  const brute_force::index exact = brute_force::build({}, rows);
  EXPECT_EQ(asked(brute_force::impl::one_list(exact, {.skip_pairs = true})), 1);
}

TEST_F(CppSearch, KernelsMayBeAskedFor) {
  annudf::search_stats stats;
  const auto by = [&](std::string family) {
    return ivf_flat::search(
        index, rows, 7,
        {.n_probes = 3, .metric = metric, .stats = &stats, .family = std::move(family)});
  };
  const auto expected = by("");
  const auto found = by("groups");
  EXPECT_EQ(stats.family, "groups");
  EXPECT_TRUE(stats.why.ends_with("; chosen by name")) << stats.why;
  EXPECT_TRUE(std::equal(found.neighbors.begin(), found.neighbors.end(), expected.neighbors.begin(),
                         expected.neighbors.end()));
  EXPECT_EQ(error_of([&] { (void)by("tiles"); }),
            "1 no family of kernels is called 'tiles'; there are groups, matrix");
  EXPECT_EQ(error_of([&] { (void)by(std::string("groups\0s", 8)); }),
            "1 family holds a NUL; give the name of a family of kernels, or leave it empty");
  EXPECT_EQ(error_of([&] { (void)ivf_flat::distances(index, rows, {.family = "groups"}); }),
            "1 annudf_ivf_flat_distances: options.family is 'groups'; calls that compute every "
            "distance have no choice of family, so leave it out");
  EXPECT_EQ(
      error_of(
          [&] { (void)brute_force::knn(rows, rows, 1, {.metric = "l1", .family = "matrix"}); }),
      "2 family 'matrix' cannot run this search: the metric is not proved to be a quadratic form");
}

TEST_F(CppSearch, ResultsAreThoseOfC) {
  annudf::search_stats stats;
  const auto [distances, neighbors] =
      ivf_flat::search(index, rows, 7, {.n_probes = 3, .metric = metric, .stats = &stats});
  EXPECT_EQ(stats.family, "groups");
  // Its form is proved: where the CPU has tiles there is another family.
  EXPECT_TRUE(
      stats.why ==
          "matrix products need a proved metric and rows of f32 of at most 8192 dimensions" ||
      stats.why == "60.0 queries a row")
      << stats.why;
  EXPECT_GT(stats.search_ms, 0);
  EXPECT_TRUE(stats.stages.empty());
  (void)ivf_flat::search(index, rows, 7,
                         {.n_probes = 3, .metric = metric, .stats = &stats, .time_stages = true});
  ASSERT_EQ(stats.stages.size(), 4u);
  EXPECT_EQ(stats.stages[2].first, "scan");
  EXPECT_GT(stats.rows_per_query, 0);
  EXPECT_EQ(stats.evaluated_per_query, stats.rows_per_query);
  ASSERT_EQ(distances.rows(), 100);
  ASSERT_EQ(distances.cols(), 7);

  annudf_captures *captures = nullptr;
  const annudf::artifact code = example_metric("weighted_l2").artifact();
  const std::int64_t shape[] = {kDims};
  annudf_capture_value value = {};
  value.size = sizeof value, value.name = "w", value.dtype = "f32", value.shape = shape;
  value.rank = 1, value.data = ones.data(), value.bytes = ones.size() * sizeof(float);
  const annudf_extents extents = {sizeof extents, kDims, 0, 0};
  ASSERT_EQ(annudf_captures_bind(code.c(), &extents, &value, 1, nullptr, &captures), ANNUDF_OK);
  const annudf::detail::captures_owner owner(captures);
  std::vector<std::int64_t> ids(700);
  std::vector<float> same(700);
  const annudf_vectors c = annudf::vectors(rows).c();
  ASSERT_EQ(annudf_ivf_flat_search(annudf::backend::shared().c(), index.c(), code.c(), captures, &c,
                                   7, 3, nullptr, ids.data(), same.data(), nullptr),
            ANNUDF_OK);
  EXPECT_TRUE(std::equal(ids.begin(), ids.end(), neighbors.begin(), neighbors.end()));
  EXPECT_TRUE(std::equal(same.begin(), same.end(), distances.begin(), distances.end()));
}

TEST_F(CppSearch, CallersMemoryIsFilled) {
  const annudf::search_result found = ivf_flat::search(index, rows, 3, {.n_probes = 2});
  EXPECT_EQ(found.rows(), 100);
  EXPECT_EQ(found.k(), 3);
  std::vector<float> distances(300, -1.0f);
  std::vector<std::int64_t> neighbors(300, -7);
  ivf_flat::search(index, rows, 3, distances, neighbors, {.n_probes = 2});
  EXPECT_TRUE(std::equal(distances.begin(), distances.end(), found.distances.begin()));
  EXPECT_TRUE(std::equal(neighbors.begin(), neighbors.end(), found.neighbors.begin()));
  distances.pop_back();
  EXPECT_EQ(error_of([&] { ivf_flat::search(index, rows, 3, distances, neighbors); }),
            usage("distances has 299 entries; give k = 3 for each of 100 queries"));
  distances.resize(300);
  neighbors.resize(303);
  EXPECT_EQ(error_of([&] { ivf_flat::search(index, rows, 3, distances, neighbors); }),
            usage("neighbors has 303 entries; give k = 3 for each of 100 queries"));
}

TEST_F(CppSearch, PreparedSearches) {
  const annudf::matrix_view<const float> some(data.data() + 20 * kDims, 3, kDims);
  const ivf_flat::search_params params = {.n_probes = 4, .metric = metric};
  annudf::search_stats cost, stats;
  ivf_flat::search_params telling = params;
  telling.stats = &cost;
  const auto [distances, neighbors] = ivf_flat::search(index, some, 2, telling);
  auto prepared = ivf_flat::prepare(index, some, 2, params);
  EXPECT_EQ(prepared.rows(), 3);
  EXPECT_EQ(prepared.k(), 2);
  std::vector<float> got(6);
  std::vector<std::int64_t> ids(6);
  prepared(some, got, ids, &stats);
  EXPECT_TRUE(std::equal(got.begin(), got.end(), distances.begin(), distances.end()));
  EXPECT_TRUE(std::equal(ids.begin(), ids.end(), neighbors.begin(), neighbors.end()));
  EXPECT_EQ(stats.family, cost.family);
  EXPECT_EQ(stats.why, cost.why);
  EXPECT_EQ(stats.scored, cost.scored);
  EXPECT_GT(stats.scored, 0);
  EXPECT_GT(stats.search_ms, 0);
  EXPECT_EQ(prepared.take_stats().scored, 0); // Each run on a CPU has told of its own.
  EXPECT_EQ(
      error_of([&] { prepared(query, got, ids); }),
      "1 the queries are 1 x 4 f32, the search was prepared for 3 x 4 f32; give such queries, or "
      "prepare another search");
  EXPECT_EQ(error_of([&] { prepared(some, std::span(got).first(5), ids); }),
            "1 distances has 5 entries; give k = 2 for each of 3 queries");
  EXPECT_EQ(error_of([&] {
              prepared(annudf::device_vectors(data.data(), 3, kDims, annudf::element::f32), {}, {});
            }),
            "1 the queries are in memory of CUDA device 0, the search was prepared for host "
            "memory; give such queries, or prepare another search");
  ivf_flat::extend(index, some, {}); // No ids; {} is no backend either.
  EXPECT_EQ(error_of([&] { prepared(some, got, ids); }),
            "1 annudf_ivf_flat_prepared_run: the index has changed since the search was prepared; "
            "prepare it again");
}

TEST_F(CppSearch, MetricOfTheIndexIsTheDefault) {
  // More probes than lists are all of them, as in cuVS.
  const auto l2 = ivf_flat::search(index, query, 3, {.n_probes = 1000});
  EXPECT_EQ(l2.distances(0, 1), float(kDims));
  EXPECT_EQ(l2.neighbors(0, 0), 50);
  const auto by_product =
      ivf_flat::build({.n_lists = 2, .metric = annudf::coarse::inner_product}, rows);
  EXPECT_EQ(ivf_flat::search(by_product, query, 1).neighbors(0, 0), 99);
  EXPECT_EQ(ivf_flat::search(by_product, query, 1).distances(0, 0), 50.0f * 99 * kDims);
  const auto by_angle = ivf_flat::build({.n_lists = 2, .metric = annudf::coarse::cosine}, rows);
  EXPECT_NEAR(ivf_flat::search(by_angle, query, 1).distances(0, 0), 0, 1e-6);
  EXPECT_EQ(error_of([&] { (void)ivf_flat::search(index, query, 1, {.n_probes = 0}); }),
            usage("n_probes is 0, it must be an integer from 1 to 16777216"));
}

TEST_F(CppSearch, ExtendSaveLoad) {
  const temp_folder folder;
  const std::vector<float> more = {1000, 1000, 1000, 1000, 2000, 2000, 2000, 2000};
  const annudf::matrix_view added(more, kDims);
  EXPECT_EQ(error_of([&] { ivf_flat::extend(index, added, std::array<std::int64_t, 1>{7}); }),
            usage("ids has 1 entries, there are 2 rows; give one id a row"));
  EXPECT_EQ(error_of([&] {
              ivf_flat::extend(index, added, std::array<std::int64_t, 2>{7, 200});
            }).substr(0, 2),
            "2 ");
  EXPECT_EQ(index.size(), 100);
  ivf_flat::extend(index, added, std::array<std::int64_t, 2>{200, 300});
  EXPECT_EQ(index.row_extent(), 301);
  ivf_flat::extend(index, added, std::array<std::int64_t, 2>{200, 300},
                   {.allow_repeated_ids = true});
  EXPECT_EQ(index.size(), 104);
  ivf_flat::save(index, folder / "i.ivf");
  const ivf_flat::index loaded = ivf_flat::load(folder / "i.ivf");
  const auto found = ivf_flat::search(loaded, added, 2, {.metric = metric});
  EXPECT_EQ(found.neighbors(0, 0), 200);
  EXPECT_EQ(found.neighbors(0, 1), 200);
  EXPECT_EQ(found.neighbors(1, 0), 300);
  EXPECT_EQ(error_of([&] { (void)ivf_flat::load(folder / "none"); }).substr(0, 2), "2 ");
}

TEST_F(CppSearch, Remove) {
  const std::array<std::int64_t, 3> ids = {7, 50, 200};
  EXPECT_EQ(ivf_flat::remove(index, ids), 2);
  EXPECT_EQ(index.size(), 98);
  EXPECT_EQ(ivf_flat::remove(index, ids), 0);
  EXPECT_EQ(ivf_flat::remove(index, {}), 0);
  EXPECT_EQ(error_of([&] {
              ivf_flat::remove(index, ids, {.progress = [](auto, double) { return false; }});
            }).substr(0, 2),
            std::to_string(int(annudf::errc::interrupted)) + " ");
  std::vector<std::int64_t> all(100);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(ivf_flat::remove(index, all), 98);
  EXPECT_EQ(index.row_extent(), 0);
  ivf_flat::extend(index, query);
  EXPECT_EQ(ivf_flat::search(index, query, 1).neighbors(0, 0), 0);
}

TEST_F(CppSearch, RadiusAndProbes) {
  // Row i is i in each coordinate, so its distance to row 50 is kDims (i - 50)^2.
  const auto found =
      ivf_flat::radius_search(index, query, 4.0f * kDims, {.n_probes = 5, .metric = metric});
  EXPECT_EQ(found.offsets, (std::vector<std::int64_t>{0, 5}));
  EXPECT_EQ(found.neighbors, (std::vector<std::int64_t>{50, 49, 51, 48, 52}));
  EXPECT_EQ(found.distances, (std::vector<float>{0, 4, 4, 16, 16}));
  for (const auto &other :
       {annudf::brute_force::radius_search(rows, query, 4.0f * kDims, {.metric = metric}, 5),
        annudf::brute_force::radius_search(annudf::brute_force::build({.metric = metric}, rows),
                                           query, 4.0f * kDims)}) {
    EXPECT_EQ(other.offsets, found.offsets);
    EXPECT_EQ(other.neighbors, found.neighbors);
    EXPECT_EQ(other.distances, found.distances);
  }
  const std::string said = error_of([&] {
    (void)ivf_flat::radius_search(index, query, 1e9f, {.n_probes = 5, .metric = metric}, 4);
  });
  EXPECT_NE(said.find("max_results is 4, and the search stopped with "), std::string::npos) << said;
  const std::int64_t probes = ivf_flat::tune_n_probes(index, rows, 3, 1.0, {.metric = metric});
  EXPECT_TRUE(probes >= 1 && probes <= 5) << probes;
  EXPECT_EQ(
      error_of([&] { (void)ivf_flat::tune_n_probes(index, rows, 3, 2.0, {.metric = metric}); }),
      usage("recall = 2.000000: must be above 0 and at most 1"));
}

TEST_F(CppSearch, DistancesToAllRows) {
  const auto all = ivf_flat::distances(index, query, {.metric = metric});
  ASSERT_EQ(all.rows(), 1);
  ASSERT_EQ(all.cols(), 100);
  for (std::int64_t i = 0; i < 100; ++i)
    EXPECT_EQ(all(0, i), float(kDims * (i - 50) * (i - 50)));
  const auto pairs = annudf::pairwise_distance(query, rows, {.metric = metric});
  EXPECT_EQ(pairs, all);
  EXPECT_EQ(annudf::pairwise_distance(query, rows), all); // Squared L2 by default.
}

TEST_F(CppSearch, BruteForceIsASearchOfAllLists) {
  std::vector<bool> pass(100, true);
  pass[50] = pass[51] = false;
  for (const annudf::filter &filter : {annudf::filter(), annudf::filter::from_bools(pass)}) {
    const auto expected =
        ivf_flat::search(index, rows, 7, {.n_probes = 5, .metric = metric, .filter = filter});
    const auto found = brute_force::knn(rows, rows, 7, {.metric = metric, .filter = filter});
    EXPECT_EQ(found.neighbors, expected.neighbors);
    EXPECT_EQ(found.distances, expected.distances);
    EXPECT_EQ(found.neighbors(50, 0) == 50, !filter);
    const auto exact = brute_force::build({.metric = metric}, rows);
    EXPECT_EQ(exact.size(), 100);
    EXPECT_EQ(brute_force::search(exact, rows, 7, {.filter = filter}).neighbors,
              expected.neighbors);
    std::vector<float> distances(700);
    std::vector<std::int64_t> neighbors(700);
    brute_force::search(exact, rows, 7, distances, neighbors, {.filter = filter});
    EXPECT_TRUE(std::equal(neighbors.begin(), neighbors.end(), expected.neighbors.begin()));
  }
  EXPECT_EQ(
      brute_force::search(brute_force::build({}, rows), query, 1, {.metric = "l1"}).distances(0, 0),
      0.0f);
  std::vector<std::int64_t> ids(100);
  for (std::size_t i = 0; i < ids.size(); ++i)
    ids[i] = 1000 - std::int64_t(i);
  const auto numbered = brute_force::search(brute_force::build({}, rows, ids), rows, 1);
  for (std::int64_t i = 0; i < 100; ++i)
    EXPECT_EQ(numbered.neighbors(i, 0), 1000 - i);
  ids.pop_back();
  EXPECT_EQ(error_of([&] { (void)brute_force::build({}, rows, ids); }),
            "1 ids has 99 entries, there are 100 rows; give one id a row");
}

TEST_F(CppSearch, FiltersOfBits) {
  const std::array<std::uint32_t, 1> words = {0b0110};
  const annudf::filter a = annudf::filter::from_bitset(words, 4);
  const std::array<bool, 4> bools = {true, true, false, false};
  const annudf::filter b = annudf::filter::from_bools(bools);
  EXPECT_EQ((a & b).count(), 1);
  EXPECT_EQ((a | b).count(), 3);
  EXPECT_EQ((~a).count(), 2);
  EXPECT_EQ(a.bits(), 4);
  EXPECT_EQ(error_of([&] { (void)annudf::filter::from_bitset(words, 33); }),
            usage("words has 1 entries for 33 bits; give one for each 32 bits"));
  EXPECT_EQ(error_of([&] {
              (void)(a & annudf::filter::from_bools(std::vector<bool>{true}));
            }).substr(0, 2),
            "1 ");
  EXPECT_EQ(
      error_of([&] { (void)ivf_flat::search(index, query, 1, {.filter = a}); }),
      usage(
          "the filter has 4 bits, the largest id of the index is 99; give it a bit for every id"));
}

TEST_F(CppSearch, FiltersOfCode) {
  std::vector<float> price(100);
  std::iota(price.begin(), price.end(), 0.0f);
  const auto affordable = annudf::code_filter::from_text(example("filters/affordable.mlir"));
  EXPECT_TRUE(affordable.artifact().is_filter());
  const auto cheap = affordable.bind({{"price", price}, {"most", 30}});
  const annudf::filter kept = ivf_flat::filter(index, cheap);
  EXPECT_EQ(kept.bits(), 100);
  EXPECT_EQ(kept.count(), 31);
  const auto found = ivf_flat::search(index, query, 1, {.metric = metric, .filter = kept});
  EXPECT_EQ(found.neighbors(0, 0), 30);
  const annudf::filter wide = ivf_flat::filter(index, cheap.bind({{"most", 60.0}}), 128);
  EXPECT_EQ(wide.bits(), 128);
  EXPECT_EQ(wide.count(), 61);
  EXPECT_EQ(error_of([&] { (void)ivf_flat::filter(index, affordable); }),
            usage("filter 'affordable' needs capture 'price' (row x f32), which was not given; the "
                  "index has no columns"));
  // A metric is no filter, whatever it is wrapped in.
  const auto wrong = annudf::code_filter::from_artifact(annudf::metric::builtin("l2").artifact());
  EXPECT_EQ(error_of([&] { (void)ivf_flat::filter(index, wrong); }).substr(0, 2), "2 ");
}

TEST_F(CppSearch, FiltersThatSeeTheQuery) {
  std::vector<float> price(100);
  std::iota(price.begin(), price.end(), 0.0f);
  const auto visible =
      annudf::code_filter("visible", [price = annudf::capture<float>("price", annudf::row),
                                      most = annudf::capture<float>("most", annudf::query)](
                                         auto ctx) { return price[ctx.row] <= most[ctx.query]; });
  const std::vector<float> most = {30};
  const annudf::filter code =
      ivf_flat::filter(index, visible.bind({{"price", price}, {"most", most}}));
  EXPECT_TRUE(code.sees_query());
  EXPECT_EQ(code.bits(), 0);
  EXPECT_EQ(code.count(), -1);
  EXPECT_EQ(ivf_flat::search(index, query, 1, {.metric = metric, .filter = code}).neighbors(0, 0),
            30);
  const std::array<std::uint32_t, 4> words = {0x0000FFFF, 0, 0, 0};
  const annudf::filter map = annudf::filter::from_bitmap(words, 1, 100);
  EXPECT_EQ(map.bits(), 100);
  EXPECT_EQ(
      ivf_flat::search(index, query, 1, {.metric = metric, .filter = map & code}).neighbors(0, 0),
      15);
  EXPECT_EQ(error_of([&] { (void)annudf::filter::from_bitmap(words, 2, 100); }),
            usage("words has 4 entries for 2 x 100 bits; give one for each 32 bits"));
}

TEST_F(CppSearch, EveryElementType) {
  const auto found_of = [&](const annudf::vectors &base, const annudf::bound_metric &by) {
    EXPECT_EQ(ivf_flat::build({.n_lists = 2}, base).element(), base.element());
    return brute_force::knn(base, base, 1, {.metric = by}).distances(0, 0);
  };
  const std::vector<annudf::float16> f16(16, {0x3C00});
  const std::vector<annudf::bfloat16> bf16(16, {0x3F80});
  const std::vector<std::int8_t> i8(16, 1);
  const std::vector<std::uint8_t> u8(16, 1);
  const std::vector<annudf::packed_bits> bits(16, {0xFF});
  EXPECT_EQ(found_of(annudf::matrix_view(data, 4), "l1"), 0.0f);
  EXPECT_EQ(found_of(annudf::matrix_view(f16, 4), "inner_product"), 4.0f);
  EXPECT_EQ(found_of(annudf::matrix_view(bf16, 4), "inner_product"), 4.0f);
  EXPECT_EQ(found_of(annudf::matrix_view(i8, 4), "inner_product"), 4.0f);
  EXPECT_EQ(found_of(annudf::matrix_view(u8, 4), "inner_product"), 4.0f);
  EXPECT_EQ(found_of(annudf::matrix_view(bits, 16), "inner_product"), 16.0f);
}

TEST_F(CppSearch, RowsThatNoMemoryHasAreErrors) {
  const auto some = [&](std::int64_t count) {
    return annudf::vectors(data.data(), count, kDims, annudf::element::f32);
  };
  const auto search = [&](std::int64_t count, std::int64_t k) {
    return error_of([&] { (void)ivf_flat::search(index, some(count), k); });
  };
  const std::string most = std::to_string(std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(
      search(-1, 1),
      usage("distances cannot have shape -1 x 1; give extents of 0 or above that memory can hold"));
  EXPECT_EQ(search(std::numeric_limits<std::int64_t>::max(), 1024),
            usage("distances cannot have shape " + most +
                  " x 1024; give extents of 0 or above that memory can hold"));
  EXPECT_EQ(search(8, 0), usage("k is 0, it must be an integer from 1 to 1073741824"));
  EXPECT_EQ(search(8, -1), usage("k is -1, it must be an integer from 1 to 1073741824"));
#ifndef ANNUDF_TEST_SANITIZED
  // More than a process can have, for which a sanitizer's allocator would end the program.
  EXPECT_EQ(
      search(std::int64_t(1) << 58, 1),
      "3 there is no memory for 288230376151711744 x 1 entries of distances; ask for fewer at "
      "once");
#endif
  const auto pairs = [&](std::int64_t x, std::int64_t y) {
    return error_of([&] { (void)annudf::pairwise_distance(some(x), some(y)); });
  };
  EXPECT_EQ(
      pairs(-1, 8),
      usage("distances cannot have shape -1 x 8; give extents of 0 or above that memory can hold"));
  EXPECT_EQ(
      pairs(8, -2),
      usage("distances cannot have shape 8 x -2; give extents of 0 or above that memory can hold"));
  // The C API's own checks.
  EXPECT_NE(error_of([&] { (void)ivf_flat::build({.n_lists = 1}, some(-1)); }), "nothing");
  EXPECT_NE(error_of([&] { ivf_flat::extend(index, some(-1)); }), "nothing");
}

TEST_F(CppSearch, BackendsAreSharedUnlessGiven) {
  EXPECT_EQ(annudf::backend::shared().c(), annudf::backend::shared().c());
  const annudf::backend one = annudf::backend::cpu(1);
  EXPECT_NE(one.c(), annudf::backend::shared().c());
  EXPECT_EQ(one.device(), -1);
  EXPECT_EQ(one.describe().find("CPU, 1 thread"), 0u) << one.describe();
  EXPECT_EQ(ivf_flat::search(index, query, 1, {.backend = one}).neighbors(0, 0), 50);
  // Device memory on a backend of the host.
  const annudf::device_vectors far(nullptr, 1, kDims, annudf::element::f32);
  std::vector<float> distances(1);
  std::vector<std::int64_t> neighbors(1);
  EXPECT_EQ(error_of([&] {
              ivf_flat::search(index, far, 1, annudf::device_matrix_view(distances.data(), 1, 1),
                               annudf::device_matrix_view(neighbors.data(), 1, 1),
                               {.backend = one});
            }),
            usage("the queries are in memory of CUDA device 0, the backend is " + one.describe() +
                  "; give the backend of that device, or none"));
}

} // namespace
