//===- CppDeviceTest.cpp - annudf.hpp on a GPU ----------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Skipped without a GPU, as DeviceTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "DeviceApi.h"

#include "GpuArtifacts.h"

#include <cmath>
#include <filesystem>

using namespace annudf::test;
namespace ivf_flat = annudf::ivf_flat;

namespace {

class CppDevice : public CApiDevice {
protected:
  void SetUp() override {
    CApiDevice::SetUp();
    if (IsSkipped() || HasFatalFailure())
      return;
    OwnedBuffer bytes;
    ASSERT_EQ(annudf_artifact_to_bytes(artifact, &bytes), ANNUDF_OK);
    const std::string file = textOf(bytes);
    metric = annudf::metric::from_artifact(
        annudf::artifact::from_bytes(std::as_bytes(std::span(file)), "test"));
    weights = someWeights(kDims);
    bound = metric->bind({{"w", weights}});
    host = annudf::vectors(queries.encoded.data(), kQueries, kDims, annudf::element::f32);
    built.emplace(ivf_flat::build({.n_lists = 12}, annudf::vectors(base.encoded.data(), base.rows,
                                                                   kDims, annudf::element::f32)));
  }
  std::optional<annudf::metric> metric;
  std::vector<float> weights;
  annudf::bound_metric bound;
  std::optional<annudf::vectors> host;
  std::optional<ivf_flat::index> built;
};

TEST_F(CppDevice, BuildsOfDeviceMemory) {
  const annudf::backend gpu = annudf::backend::cuda(0);
  const auto rows = gpu.to_device(annudf::matrix_view<const float>(
      reinterpret_cast<const float *>(base.encoded.data()), base.rows, kDims));
  ivf_flat::build_stats stats;
  const ivf_flat::index there = ivf_flat::build({.n_lists = 8}, rows.view(), &stats);
  EXPECT_TRUE(stats.lists_on_device);
  EXPECT_EQ(there.size(), base.rows);
  const ivf_flat::search_params all = {.n_probes = 1000, .metric = bound, .backend = gpu};
  EXPECT_EQ(ivf_flat::search(there, *host, kK, all).distances,
            ivf_flat::search(*built, *host, kK, all).distances);
  (void)ivf_flat::build({.n_lists = 8, .adaptive_centers = true}, rows.view(), &stats);
  EXPECT_TRUE(stats.lists_on_device);
}

/// Wherever the rows are, the store is on the device and finds what one of the host finds.
TEST_F(CppDevice, StoresRowsForExactSearch) {
  const annudf::backend gpu = annudf::backend::cuda(0);
  const annudf::matrix_view<const float> here(reinterpret_cast<const float *>(base.encoded.data()),
                                              base.rows, kDims);
  const auto rows = gpu.to_device(here);
  const annudf::vectors hostRows(base.encoded.data(), base.rows, kDims, annudf::element::f32);
  const annudf::brute_force::index_params params = {.metric = bound};
  std::vector<int64_t> ids(static_cast<size_t>(base.rows));
  for (size_t i = 0; i < ids.size(); ++i)
    ids[i] = 2 * (base.rows - int64_t(i));
  for (const std::span<const int64_t> given :
       {std::span<const int64_t>(), std::span<const int64_t>(ids)}) {
    const auto store = annudf::brute_force::build(params, hostRows, given);
    const annudf::brute_force::search_params on = {.backend = gpu};
    const auto expected = annudf::brute_force::search(store, *host, kK, on);
    for (const auto &there : {annudf::brute_force::build(params, rows.view(), given),
                              annudf::brute_force::build(params, hostRows, gpu, given)}) {
      EXPECT_EQ(there.rows().device(), 0);
      EXPECT_EQ(there.size(), base.rows);
      const auto found = annudf::brute_force::search(there, *host, kK, on);
      EXPECT_EQ(found.neighbors, expected.neighbors);
      EXPECT_EQ(found.distances, expected.distances);
    }
    if (given.empty()) {
      const auto once =
          annudf::brute_force::knn(hostRows, *host, kK, {.metric = bound, .backend = gpu});
      EXPECT_EQ(once.neighbors, expected.neighbors);
      EXPECT_EQ(once.distances, expected.distances);
    }
  }
  ids.pop_back();
  EXPECT_THROW((void)annudf::brute_force::build(params, rows.view(), ids), annudf::error);
}

TEST_F(CppDevice, BuildsOfHostMemory) {
  const annudf::backend gpu = annudf::backend::cuda(0);
  const annudf::vectors rows(base.encoded.data(), base.rows, kDims, annudf::element::f32);
  ivf_flat::build_stats stats;
  const ivf_flat::index whole = ivf_flat::build({.n_lists = 8}, rows, gpu, &stats);
  EXPECT_TRUE(stats.lists_on_device);
  EXPECT_EQ(stats.pieces, 1);
  const ivf_flat::search_params all = {.n_probes = 3, .metric = bound, .backend = gpu};
  const auto expected = ivf_flat::search(whole, *host, kK, all);
  // With every byte less it takes another way, down to lists on the host.
  for (const bool there : {true, false}) {
    std::uint64_t limit = stats.device_bytes;
    do {
      const ivf_flat::index made =
          ivf_flat::build({.n_lists = 8, .device_memory_limit = limit - 1}, rows, gpu, &stats);
      EXPECT_LT(stats.device_bytes, limit);
      limit = stats.device_bytes;
      EXPECT_EQ(ivf_flat::search(made, *host, kK, all).distances, expected.distances);
    } while (stats.lists_on_device != there);
  }
  EXPECT_GT(stats.pieces, 1);
}

TEST_F(CppDevice, CountsPairsUnlessTheyAreSkipped) {
  const annudf::backend gpu = annudf::backend::cuda(0);
  const auto near = gpu.to_device(annudf::matrix_view<const float>(
      reinterpret_cast<const float *>(queries.encoded.data()), kQueries, kDims));
  const auto distances = gpu.allocate<float>(kQueries, kK);
  const auto neighbors = gpu.allocate<int64_t>(kQueries, kK);
  for (const bool skip : {false, true}) {
    annudf::search_stats stats;
    const ivf_flat::search_params all = {.n_probes = 12,
                                         .metric = bound,
                                         .backend = gpu,
                                         .stats = &stats,
                                         .time_stages = true,
                                         .skip_pairs = skip};
    ivf_flat::search(*built, near.view(), kK, distances.view(), neighbors.view(), all);
    EXPECT_EQ(stats.scored, skip ? 0 : kQueries * base.rows);
  }
}

/// Searches that were enqueued before an extend find what they would have found without.
TEST_F(CppDevice, ExtendsThereWhileItIsSearched) {
  const annudf::backend gpu = annudf::backend::cuda(0);
  const annudf::vectors rows(base.encoded.data(), base.rows, kDims, annudf::element::f32);
  ivf_flat::index there = ivf_flat::build({.n_lists = 8}, rows, gpu);
  EXPECT_EQ(there.device(), 0);
  EXPECT_EQ(built->device(), -1);
  const annudf::matrix_view<const float> asked(
      reinterpret_cast<const float *>(queries.encoded.data()), kQueries, kDims);
  const auto near = gpu.to_device(asked);
  const auto distances = gpu.allocate<float>(kQueries, kK);
  const auto neighbors = gpu.allocate<int64_t>(kQueries, kK);
  const ivf_flat::search_params all = {.n_probes = 8, .metric = bound, .backend = gpu};
  for (int round = 0; round < 6; ++round) {
    const annudf::matrix<float> before = ivf_flat::search(there, *host, kK, all).distances;
    ivf_flat::search(there, near.view(), kK, distances.view(), neighbors.view(), all);
    // Each query is a row then: at distance 0 of itself.
    if (round % 2)
      ivf_flat::extend(there, *host, gpu);
    else
      ivf_flat::extend(there, near.view());
    EXPECT_EQ(gpu.to_host(distances.view()), before);
    EXPECT_EQ(there.size(), base.rows + (round + 1) * kQueries);
    EXPECT_EQ(there.device(), 0);
    const annudf::matrix<float> nearest = ivf_flat::search(there, *host, 1, all).distances;
    EXPECT_EQ(std::count(nearest.data(), nearest.data() + nearest.size(), 0.0f), kQueries);
  }
}

/// Searches that were enqueued before a remove find what they would have found without.
TEST_F(CppDevice, RemovesThereWhileItIsSearched) {
  const annudf::backend gpu = annudf::backend::cuda(0);
  const annudf::vectors rows(base.encoded.data(), base.rows, kDims, annudf::element::f32);
  ivf_flat::index there = ivf_flat::build({.n_lists = 8}, rows, gpu);
  ivf_flat::index host = ivf_flat::build({.n_lists = 8}, rows);
  const annudf::matrix_view<const float> asked(
      reinterpret_cast<const float *>(queries.encoded.data()), kQueries, kDims);
  const auto near = gpu.to_device(asked);
  const auto distances = gpu.allocate<float>(kQueries, kK);
  const auto neighbors = gpu.allocate<int64_t>(kQueries, kK);
  const ivf_flat::search_params all = {.n_probes = 8, .metric = bound, .backend = gpu};
  for (int round = 0; round < 6; ++round) {
    const auto before = ivf_flat::search(there, *this->host, kK, all);
    ivf_flat::search(there, near.view(), kK, distances.view(), neighbors.view(), all);
    // What was found, so that other rows must be.
    const std::vector<int64_t> gone(before.neighbors.data(),
                                    before.neighbors.data() + before.neighbors.size());
    const int64_t removed = ivf_flat::remove(there, gone, gpu);
    EXPECT_EQ(gpu.to_host(distances.view()), before.distances);
    EXPECT_EQ(gpu.to_host(neighbors.view()), before.neighbors);
    EXPECT_EQ(ivf_flat::remove(host, gone), removed);
    EXPECT_GT(removed, 0);
    EXPECT_EQ(there.size(), host.size());
    EXPECT_EQ(there.device(), 0);
    EXPECT_EQ(ivf_flat::remove(there, gone, gpu), 0);
    // All lists: those of the two indexes are others.
    EXPECT_EQ(ivf_flat::search(there, *this->host, kK, all).distances,
              ivf_flat::search(host, *this->host, kK, all).distances);
  }
}

TEST_F(CppDevice, SearchesOnStreams) {
  const annudf::backend gpu = annudf::backend::cuda(0);
  EXPECT_EQ(gpu.describe().find("CUDA device 0: "), 0u) << gpu.describe();
  const auto expected =
      ivf_flat::search(*built, *host, kK, {.n_probes = kProbes, .metric = bound, .backend = gpu});
  const Stream own(context);
  const annudf::matrix_view<const float> rows(
      reinterpret_cast<const float *>(queries.encoded.data()), kQueries, kDims);
  for (const annudf::cuda_stream stream : {annudf::cuda_stream(), annudf::cuda_stream(kPerThread),
                                           annudf::cuda_stream(own.handle())}) {
    const auto near = gpu.to_device(rows, stream);
    const auto distances = gpu.allocate<float>(kQueries, kK, stream);
    const auto neighbors = gpu.allocate<int64_t>(kQueries, kK, stream);
    annudf::search_stats stats;
    // No backend is given: that of the memory.
    ivf_flat::search(*built, near.view(), kK, distances.view(), neighbors.view(),
                     {.n_probes = kProbes, .metric = bound, .stats = &stats});
    EXPECT_NE(stats.family, "");
    EXPECT_EQ(gpu.to_host(neighbors), expected.neighbors);
    EXPECT_EQ(gpu.to_host(distances), expected.distances);
    const auto all = gpu.allocate<float>(kQueries, base.rows, stream);
    ivf_flat::distances(*built, near.view(), all.view(), {.metric = bound});
    const auto onHost = gpu.to_host(all);
    for (int64_t i = 0; i < kQueries; ++i)
      EXPECT_EQ(onHost(i, expected.neighbors(i, 0)), expected.distances(i, 0));
  }
}

TEST_F(CppDevice, ValuesInDeviceMemory) {
  const annudf::backend gpu = annudf::backend::cuda(0);
  const auto expected =
      ivf_flat::search(*built, *host, kK, {.n_probes = kProbes, .metric = bound, .backend = gpu});
  auto memory = std::make_shared<annudf::device_matrix<float>>(
      gpu.to_device(annudf::matrix_view<const float>(weights.data(), 1, kDims)));
  gpu.synchronize();
  const std::weak_ptr<annudf::device_matrix<float>> alive = memory;
  {
    const auto inPlace =
        metric->bind({{"w", annudf::device_array(memory->data(), {kDims}, 0, memory)}});
    memory.reset();
    EXPECT_FALSE(alive.expired());
    const auto found = ivf_flat::search(*built, *host, kK,
                                        {.n_probes = kProbes, .metric = inPlace, .backend = gpu});
    EXPECT_EQ(found.neighbors, expected.neighbors);
    EXPECT_EQ(found.distances, expected.distances);
  }
  gpu.synchronize();
  EXPECT_TRUE(alive.expired());
}

/// A lambda, and what its descriptor becomes with the capture read where it lies. Without the
/// compiler both are of GpuArtifacts.cpp.
struct Described {
  annudf::metric metric;
  annudf::bound_metric descriptor;
};
Described describedBy(const annudf::device_array &w) {
#ifdef ANNUDF_TEST_NO_COMPILER
  const std::string folder = std::getenv("ANNUDF_TEST_ARTIFACTS");
  return {annudf::metric::load(folder + "/cpp/weighted.annudf"),
          annudf::metric::load(folder + "/cpp/descriptor.annudf").bind({{"w", w}})};
#else
  const auto udf = annudf::device_udf::from_metric(
      weightedSizes(), "sm_80",
      {.symbol_name = kDescriptorSymbol, .captures = {annudf::udf_capture::of("w", w)}});
  return {weightedSizes(), udf.to_metric()};
#endif
}

TEST_F(CppDevice, DescriptorsFindWhatTheirMetricFinds) {
#ifdef ANNUDF_TEST_NO_COMPILER
  const char *folder = std::getenv("ANNUDF_TEST_ARTIFACTS");
  if (!folder || !std::filesystem::exists(std::string(folder) + "/cpp/descriptor.annudf"))
    GTEST_SKIP() << "built without the compiler, and ANNUDF_TEST_ARTIFACTS names no folder of "
                    "scripts/gpu artifacts: descriptors of C++ metrics are NOT searched with";
#endif
  const annudf::backend gpu = annudf::backend::cuda(0);
  std::vector<float> rows(3000 * kDims), w(kDims);
  for (size_t i = 0; i < rows.size(); ++i)
    rows[i] = float((i * 2654435761U >> 8) % 401) - 200;
  for (size_t i = 0; i < w.size(); ++i)
    w[i] = float(i * 37 % 64 + 1) / 64;
  const auto index = ivf_flat::build({.n_lists = 8}, annudf::matrix_view(rows, kDims));
  const annudf::matrix_view<const float> near(rows.data(), 20, kDims);
  auto memory = std::make_shared<annudf::device_matrix<float>>(
      gpu.to_device(annudf::matrix_view<const float>(w.data(), 1, kDims)));
  gpu.synchronize();
  const annudf::device_array array(memory->data(), {kDims}, 0, memory);
  memory.reset();
  const Described described = describedBy(array);
  const auto expected = ivf_flat::search(
      index, near, kK,
      {.n_probes = 4, .metric = described.metric.bind({{"w", w}}), .backend = gpu});
  const auto found = ivf_flat::search(
      index, near, kK, {.n_probes = 4, .metric = described.descriptor, .backend = gpu});
  EXPECT_EQ(found.neighbors, expected.neighbors);
  EXPECT_EQ(found.distances, expected.distances);
  for (int64_t i = 0; i < 20; ++i) { // By no code of ours.
    double sum = 0;
    for (int64_t d = 0; d < kDims; ++d)
      sum += double(w[size_t(d)]) * std::fabs(double(rows[size_t(i * kDims + d)]) -
                                              rows[size_t(found.neighbors(i, 3) * kDims + d)]);
    EXPECT_EQ(double(found.distances(i, 3)), sum);
  }
}

TEST_F(CppDevice, FiltersAndWrongShapes) {
  const annudf::backend gpu = annudf::backend::cuda(0);
  std::vector<bool> pass(size_t(base.rows), true);
  for (size_t i = 0; i < pass.size(); i += 2)
    pass[i] = false;
  const auto odd = annudf::filter::from_bools(pass);
  const auto found = ivf_flat::search(
      *built, *host, kK, {.n_probes = kProbes, .metric = bound, .filter = odd, .backend = gpu});
  for (const int64_t id : found.neighbors)
    EXPECT_TRUE(id == -1 || id % 2 == 1) << id;
  const annudf::device_vectors near(nullptr, kQueries, kDims, annudf::element::f32);
  const auto distances = gpu.allocate<float>(kQueries, kK);
  const auto neighbors = gpu.allocate<int64_t>(kQueries, kK - 1);
  try {
    ivf_flat::search(*built, near, kK, distances.view(), neighbors.view(), {.metric = bound});
    FAIL() << "it was taken";
  } catch (const annudf::v0::error &error) {
    EXPECT_EQ(error.code(), annudf::errc::usage);
    EXPECT_EQ(std::string(error.what()),
              "neighbors has 350 entries; give k = 8 for each of 50 queries");
  }
}

} // namespace
