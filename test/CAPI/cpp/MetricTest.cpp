//===- MetricTest.cpp - Metrics, values and artifacts of annudf.hpp -------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CppApi.h"

#include <array>
#include <atomic>
#include <limits>
#include <thread>

using namespace cpp_api;
namespace ivf_flat = annudf::ivf_flat;

namespace {

constexpr std::int64_t kDims = 4;

class CppMetric : public testing::Test {
protected:
  float found(const annudf::bound_metric &metric, std::int64_t row = 3) const {
    return ivf_flat::distances(index, query, {.metric = metric})(0, row);
  }
  const std::vector<float> data = ramp(100, kDims);
  const annudf::matrix_view<const float> rows = annudf::matrix_view(data, kDims);
  const annudf::matrix_view<const float> query{data.data(), 1, kDims};
  const ivf_flat::index index = ivf_flat::build({.n_lists = 2}, rows);
  const annudf::metric weighted = example_metric("weighted_l2");
};

TEST_F(CppMetric, ValuesOfManyKinds) {
  const std::vector<float> floats = {1, 2, 3, 4};
  const std::array<double, 4> doubles = {1, 2, 3, 4};
  const int ints[] = {1, 2, 3, 4};
  const std::vector<annudf::float16> halves = {{0x3C00}, {0x4000}, {0x4200}, {0x4400}};
  const std::vector<annudf::bfloat16> brains = {{0x3F80}, {0x4000}, {0x4040}, {0x4080}};
  EXPECT_EQ(found(weighted.bind({{"w", floats}})), 90.0f);
  EXPECT_EQ(found(weighted.bind({{"w", std::span(floats)}})), 90.0f);
  EXPECT_EQ(found(weighted.bind({{"w", doubles}})), 90.0f);
  EXPECT_EQ(found(weighted.bind({{"w", ints}})), 90.0f);
  EXPECT_EQ(found(weighted.bind({{"w", std::vector<std::uint8_t>{1, 2, 3, 4}}})), 90.0f);
  EXPECT_EQ(found(weighted.bind({{"w", halves}})), 90.0f);
  EXPECT_EQ(found(weighted.bind({{"w", brains}})), 90.0f);
  EXPECT_EQ(found(weighted.bind({{"w", std::vector<bool>{true, false, true, true}}})), 27.0f);
  // A number is the nearest value, data is itself.
  const auto decay = example_metric("time_decay");
  const std::vector<float> age(100, 1.0f);
  for (const annudf::capture_value &half_life :
       {annudf::capture_value("half_life", 1), annudf::capture_value("half_life", 1.0),
        annudf::capture_value("half_life", true)})
    EXPECT_EQ(found(decay.bind(std::array{annudf::capture_value("age", age), half_life})), 72.0f);
  const std::vector<double> thirds(kDims, 1.0 / 3);
  EXPECT_EQ(error_of([&] { (void)found(weighted.bind({{"w", thirds}})); }).substr(0, 2), "2 ");
}

TEST_F(CppMetric, ValuesAreCopiedAndReplaced) {
  std::vector<float> w(kDims, 1.0f);
  const auto first = weighted.bind({{"w", w}});
  w.assign(kDims, 100.0f);
  EXPECT_EQ(found(first), 36.0f);
  EXPECT_EQ(found(first.bind({{"w", w}})), 3600.0f);
  EXPECT_EQ(found(first), 36.0f);
  const auto decay = example_metric("time_decay")
                         .bind({{"age", std::vector<float>(100, 2.0f)}, {"half_life", 1.0}});
  EXPECT_EQ(found(decay), 144.0f);
  EXPECT_EQ(found(decay.bind({{"half_life", 2.0}})), 72.0f);
}

TEST_F(CppMetric, KeepsTheLastFewThatItWasBoundTo) {
  const annudf::backend cpu = annudf::backend::cpu(1);
  const auto prepare = [&](const annudf::bound_metric &metric, std::int64_t dims) {
    return annudf::detail::search_access::of(metric, annudf::coarse::l2).prepare(cpu, dims);
  };
  std::weak_ptr<const void> often, once, last;
  {
    // The index's own metric lives as long as the program, so what it keeps must not grow.
    for (const annudf::bound_metric &metric :
         {annudf::bound_metric(), annudf::bound_metric("l1")}) {
      once = prepare(metric, 1000);
      often = prepare(metric, 2000);
      for (std::int64_t dims = 1; dims <= 20; ++dims) {
        last = prepare(metric, dims);
        EXPECT_EQ(prepare(metric, 2000), often.lock());
      }
      EXPECT_TRUE(once.expired());
      EXPECT_EQ(prepare(metric, 20), last.lock());
    }
    EXPECT_FALSE(often.expired()); // l1 is the program's as well.
    const annudf::bound_metric own = weighted.bind({{"w", std::vector<float>(kDims, 1.0f)}});
    once = prepare(own, kDims);
  }
  EXPECT_TRUE(once.expired());
}

TEST_F(CppMetric, RefusedValuesNameTheCapture) {
  EXPECT_EQ(error_of([&] { (void)found(weighted); }),
            usage("metric 'weighted_l2' needs capture 'w' (dim x f32), which was not given"));
  const std::vector<float> w(kDims, 1.0f);
  EXPECT_EQ(error_of([&] { (void)weighted.bind({{"w", w}, {"v", 1}}); }),
            usage("there is no capture 'v' to bind; there are: w"));
  EXPECT_EQ(error_of([&] { (void)weighted.bind({{"w", w}, {"w", w}}); }),
            usage("capture 'w' is given twice"));
  EXPECT_EQ(error_of([&] { (void)weighted.bind({{"w", w}}).bind({{"w", w}, {"w", w}}); }),
            usage("capture 'w' is given twice"));
  EXPECT_EQ(error_of([&] { (void)found(weighted.bind({{"w", std::vector<float>(3)}})); }),
            "2 capture 'w' from the caller: declared dim x f32 with dim = 4, got 3 x f32");
  EXPECT_EQ(error_of([&] {
              (void)found(weighted.bind(
                  std::array{annudf::capture_value("w", std::vector<float>(3)).from("my table")}));
            }),
            "2 capture 'w' from my table: declared dim x f32 with dim = 4, got 3 x f32");
  std::vector<float> infinite(kDims, std::numeric_limits<float>::infinity());
  EXPECT_EQ(error_of([&] { (void)found(weighted.bind({{"w", infinite}})); }).substr(0, 2), "2 ");
  EXPECT_EQ(found(weighted.bind({{"w", infinite}}, {.allow_non_finite = true})),
            std::numeric_limits<float>::infinity());
  EXPECT_EQ(error_of([&] { (void)annudf::metric::builtin("l2").bind({{"p", 2}}); }),
            usage("there is no capture 'p' to bind; there are none"));
}

/// However a metric or a filter came to be.
TEST_F(CppMetric, UnknownNamesAreRefusedWhenTheyAreBound) {
  const std::string both = usage("there is no capture 'scale' to bind; there are: age, half_life");
  const auto refusal = [](const auto &metric) {
    return error_of([&] { (void)metric.bind({{"age", 1.0}, {"scale", 1.0}}); });
  };
  const auto decay = example_metric("time_decay");
  EXPECT_EQ(refusal(decay), both);
  EXPECT_EQ(refusal(annudf::metric::from_artifact(decay.artifact())), both);
  const auto traced = annudf::metric(
      "traced", [age = annudf::capture<float>("age", annudf::row),
                 half = annudf::capture<float>("half_life")](auto x, auto y, auto acc, auto ctx) {
        return acc + (x - y) * age[ctx.row] * half;
      });
  EXPECT_EQ(refusal(traced), both);
  EXPECT_EQ(refusal(annudf::metric::from_cuda_source(
                "", {.name = "mine", .captures = {{.name = "age"}, {.name = "half_life"}}})),
            both);
  const annudf::code_filter keep("keep", [from = annudf::capture<std::int64_t>("from")](auto ctx) {
    return ctx.row >= ctx(from);
  });
  EXPECT_EQ(error_of([&] { (void)keep.bind({{"form", 90}}); }),
            usage("there is no capture 'form' to bind; there are: from"));
  // What breaks a rule says so then.
  EXPECT_EQ(error_of([] {
              (void)annudf::metric::from_text("annudf.metric @m").bind({{"w", 1.0}});
            }).substr(0, 2),
            "5 ");
}

TEST_F(CppMetric, OneBoundMetricSearchesManyIndexes) {
  const auto decay = example_metric("time_decay")
                         .bind({{"age", std::vector<float>(100, 1.0f)}, {"half_life", 1.0}});
  EXPECT_EQ(found(decay), 72.0f);
  const auto narrow = ramp(100, 2), small = ramp(10, kDims), large = ramp(101, kDims);
  const auto distance_in = [&](const std::vector<float> &of, std::int64_t dims) {
    const annudf::matrix_view all(of, dims);
    const annudf::matrix_view<const float> first(of.data(), 1, dims);
    return annudf::pairwise_distance(first, all, {.metric = decay})(0, 3);
  };
  EXPECT_EQ(distance_in(narrow, 2), 36.0f); // Bound again, for other dims.
  EXPECT_EQ(found(decay), 72.0f);
  // An array that is too long is of other rows: those that come with the call have no ids.
  const auto refused =
      usage("capture 'age' (row x f32) of metric 'time_decay' is bound to 100 x f32, the data set "
            "has 10 rows; bind one entry a row, or search an index that was extended with the ids "
            "of the rows");
  EXPECT_EQ(error_of([&] { (void)distance_in(small, kDims); }), refused);
  EXPECT_EQ(error_of([&] {
              const annudf::matrix_view all(small, kDims);
              (void)annudf::brute_force::knn(all, all, 1, {.metric = decay});
            }),
            refused);
  // An array that is too short for the index is told when it is searched.
  EXPECT_EQ(
      error_of([&] { (void)distance_in(large, kDims); }),
      usage("capture 'age' (row x f32) of metric 'time_decay' is bound to 100 x f32, the largest "
            "id of the index is 100; bind an array of at least 101 rows"));
}

TEST_F(CppMetric, ValuesOfEachQuery) {
  const auto personal = example_metric("personal_l2");
  const std::vector<float> w = {1, 1, 1, 1, 2, 2, 2, 2};
  const auto bound = personal.bind({{"w", annudf::matrix_view(w, kDims)}});
  const annudf::matrix_view<const float> two(data.data(), 2, kDims);
  const auto distances = ivf_flat::distances(index, two, {.metric = bound});
  EXPECT_EQ(distances(0, 3), 36.0f);
  EXPECT_EQ(distances(1, 3), 32.0f);
  EXPECT_EQ(
      error_of([&] { (void)found(bound); }),
      usage("capture 'w' (query x dim x f32) of metric 'personal_l2' is bound to 2 x 4 x f32, this "
            "search has 1 query; bind an array with one entry a query"));
}

/// A lambda, the same as text: equal distances, and what it reads is bound by the names that it
/// says.
TEST_F(CppMetric, Traced) {
  const auto traced = annudf::metric(
      "weighted_l2",
      [w = annudf::capture<float>("w", annudf::dim)](auto x, auto y, auto acc, auto ctx) {
        auto d = x - y;
        return acc + w[ctx.dim] * d * d;
      },
      {.order = annudf::order::min, .coarse = annudf::coarse::l2});
  const std::vector<float> w = {1, 2, 3, 4};
  const auto expected = ivf_flat::search(index, rows, 5, {.metric = weighted.bind({{"w", w}})});
  const auto found = ivf_flat::search(index, rows, 5, {.metric = traced.bind({{"w", w}})});
  EXPECT_EQ(found.neighbors, expected.neighbors);
  EXPECT_EQ(found.distances, expected.distances);
  EXPECT_EQ(traced.artifact().name(), "weighted_l2");
  EXPECT_EQ(error_of([&] { (void)this->found(traced); }),
            usage("metric 'weighted_l2' needs capture 'w' (dim x f32), which was not given"));
  const auto keep = annudf::code_filter("late", [from = annudf::capture<std::int64_t>("from")](
                                                    auto ctx) { return ctx.row >= ctx(from); });
  EXPECT_EQ(ivf_flat::filter(index, keep.bind({{"from", 90}})).count(), 10);
}

TEST_F(CppMetric, WhatATraceRefusesIsAnError) {
  const unsigned line = __LINE__ + 2;
  try {
    (void)annudf::metric("no name", [](auto x, auto y, auto acc) { return acc + x * y; });
    FAIL() << "it was taken";
  } catch (const annudf::error &error) {
    EXPECT_EQ(error.code(), annudf::errc::compile);
    EXPECT_NE(std::string(error.what()).find("no name"), std::string::npos) << error.what();
    EXPECT_EQ(error.location().file, __FILE__);
    EXPECT_TRUE(error.location().line == int(line)) << error.location().line;
  }
}

/// A rule that a lambda breaks is reported at its line.
TEST_F(CppMetric, RulesAreReportedAtTheLinesOfLambdas) {
  const auto broken = annudf::metric(
      "broken", [t = annudf::capture<float>("t", 4)](auto x, auto y, auto acc, auto ctx) {
        auto d = x - y;
        return acc + t[ctx.dim] * d;
      });
  const int line = __LINE__ - 2;
  try {
    (void)broken.mlir();
    FAIL() << "it was taken";
  } catch (const annudf::error &error) {
    EXPECT_EQ(error.rule(), "L3");
    EXPECT_EQ(error.location().file, __FILE__);
    EXPECT_EQ(error.location().line, line);
  }
}

TEST_F(CppMetric, WhatItIs) {
  EXPECT_NE(weighted.mlir().find("annudf.metric @weighted_l2"), std::string::npos);
  EXPECT_NE(weighted.lower("nvvm-ir").find("annudf1_"), std::string::npos);
  EXPECT_EQ(weighted.text(), example("metrics/weighted_l2.mlir"));
  const annudf::artifact artifact = weighted.artifact();
  EXPECT_EQ(artifact.name(), "weighted_l2");
  EXPECT_TRUE(artifact.is_verified());
  EXPECT_TRUE(artifact.has_host_code());
  EXPECT_FALSE(artifact.is_filter());
  EXPECT_FALSE(artifact.missing_values());
  EXPECT_EQ(artifact.digest().size(), 64u);
  EXPECT_NE(artifact.manifest().find("\"weighted_l2\""), std::string::npos);
  EXPECT_EQ(artifact.describe().find("metric weighted_l2"), 0u);
  EXPECT_NE(artifact.describe().find("\n  form  "), std::string::npos);
  EXPECT_EQ(annudf::artifact::compile(weighted.text(), {.lto_ir = false, .form = false})
                .describe()
                .find("\n  form  "),
            std::string::npos);
  const temp_folder folder;
  weighted.save(folder / "w.annudf");
  const auto loaded = annudf::metric::load(folder / "w.annudf");
  EXPECT_EQ(loaded.artifact().digest(), artifact.digest());
  const std::vector<float> w(kDims, 2.0f);
  EXPECT_EQ(found(loaded.bind({{"w", w}})), 72.0f);
  EXPECT_EQ(error_of([&] { (void)loaded.mlir(); }),
            usage("this metric cannot be shown as mlir; only one that was made from text or from a "
                  "lambda can"));
  const std::string bytes = artifact.bytes();
  const auto again = annudf::artifact::from_bytes(std::as_bytes(std::span(bytes)), "memory");
  EXPECT_EQ(again.digest(), artifact.digest());
}

TEST_F(CppMetric, BuiltinByName) {
  EXPECT_EQ(found("l1"), 12.0f);
  EXPECT_EQ(found(std::string("chebyshev")), 3.0f);
  EXPECT_EQ(found(annudf::metric::builtin("minkowski").bind({{"p", 1.0}})), 12.0f);
  EXPECT_EQ(
      error_of([] {
        (void)annudf::metric::builtin("none");
      }).find("1 there is no built-in metric 'none'; there are bitwise_hamming, braycurtis, "),
      0u);
}

TEST_F(CppMetric, WhatWasNeverMadeIsRefused) {
  const annudf::bound_metric none;
  EXPECT_FALSE(none);
  EXPECT_EQ(error_of([&] { (void)none.artifact(); }),
            usage("the metric or filter is empty; assign one that is made from a source"));
}

/// What a search does before it, so that none after it compiles.
TEST_F(CppMetric, PrecompiledMetricsLinkNothing) {
  const auto fresh =
      annudf::metric::from_text(example("metrics/weighted_l2.mlir"), {.origin = "own.mlir"});
  const annudf::backend own = annudf::backend::cpu(1);
  fresh.precompile(own);
  annudf::search_stats stats;
  const std::vector<float> w(kDims, 1.0f);
  (void)ivf_flat::search(index, query, 1,
                         {.metric = fresh.bind({{"w", w}}), .backend = own, .stats = &stats});
  EXPECT_EQ(stats.links, 0);
  EXPECT_EQ(stats.link_ms, 0);
  EXPECT_EQ(error_of([&] {
              annudf::metric::builtin("bitwise_hamming").precompile(own, annudf::element::f32);
            }).substr(0, 2),
            "2 ");
  const std::string said = error_of(
      [] { annudf::metric::builtin("bitwise_hamming").precompile_for(90, annudf::element::f32); });
  EXPECT_TRUE(said.starts_with("2 ") || said.find("without CUDA") != std::string::npos) << said;
}

TEST_F(CppMetric, ThreadsCompileItOnce) {
  const auto fresh =
      annudf::metric::from_text(example("metrics/l1.mlir"), {.origin = "threads.mlir"});
  const annudf::bound_metric bound = fresh.bind({});
  std::vector<std::jthread> threads;
  std::atomic<int> right = 0;
  std::array<std::string, 8> digests;
  threads.reserve(digests.size());
  for (std::size_t i = 0; i < digests.size(); ++i)
    threads.emplace_back([&, i] {
      right += int(found(i % 2 == 0 ? bound : annudf::bound_metric(fresh)) == 12.0f);
      digests[i] = fresh.artifact().digest();
    });
  threads.clear();
  EXPECT_EQ(right, 8);
  for (const std::string &digest : digests)
    EXPECT_EQ(digest, digests[0]);
}

TEST_F(CppMetric, CudaSource) {
  const auto metric = annudf::metric::from_cuda_source(
      "__device__ float update(float acc, float x, float y, const annudf_context &ctx) { return "
      "acc; }",
      {.name = "mine", .elements = {annudf::element::f32}, .captures = {{.name = "w"}}});
  // Whether there is an NVRTC or not: it is for GPUs, and so is its refusal.
  const std::string said =
      error_of([&] { (void)found(metric.bind({{"w", std::vector<float>(kDims)}})); });
  EXPECT_TRUE(said.starts_with("3 ") || said.starts_with("5 ") || said.starts_with("2 ")) << said;
  EXPECT_NE(error_of([&] { (void)metric.mlir(); }), "nothing");
}

} // namespace
