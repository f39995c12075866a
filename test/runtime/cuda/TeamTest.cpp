//===- TeamTest.cpp - Searches that several GPUs share --------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Needs a GPU, which is named twice where it is the only one; without one every test is skipped and
// says so. cpu/TeamTest.cpp has what needs none.
//
//===----------------------------------------------------------------------===//

#include "../TeamTesting.h"

#include "CudaMetrics.h"
#include "SharedBackend.h"

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::test;

namespace {

/// All GPUs, at most three, and two at least.
std::vector<int> devices() {
  std::vector<int> all;
  const auto there = int(describeCuda().devices.size());
  for (int device = 0; device < std::min(there, 3); ++device)
    all.push_back(device);
  if (all.size() < 2)
    all.push_back(0);
  return all;
}

/// Teams of all GPUs, and of one that is named three times.
struct Teams {
  static constexpr int kThrice[] = {0, 0, 0};
  std::unique_ptr<CudaBackend> replicated = makeCudaTeamBackend(devices(), TeamMode::Replicated),
                               sharded = makeCudaTeamBackend(devices(), TeamMode::Sharded),
                               thrice = makeCudaTeamBackend(kThrice, TeamMode::Sharded),
                               thriceWhole = makeCudaTeamBackend(kThrice, TeamMode::Replicated);
  std::vector<NamedTeam> named() const {
    std::vector<NamedTeam> all;
    for (const auto *team : {&replicated, &sharded, &thrice, &thriceWhole})
      all.push_back({(*team)->describe(), team->get()});
    return all;
  }
};

std::shared_ptr<const Metric> tenantFilter() {
  static const auto filter = std::make_shared<const Metric>(cudaFilter(sameTenant("")));
  return filter;
}

std::vector<TestMetric> metrics() {
  std::vector<TestMetric> some = {provedMetrics().front()};
  for (const char *name : {"l2", "weighted_l2", "inner_product", "cosine", "hamming"})
    some.push_back(testMetric(name));
  return some;
}

/// Arrays on the first device, all work on `stream`.
FoundBits searchOn(Backend &backend, const TeamCell &cell, void *stream) {
  auto &gpu = dynamic_cast<CudaBackend &>(backend);
  const size_t results = size_t(cell.queries.rows) * size_t(cell.k),
               bytes = cell.queries.encoded.size();
  const auto queries = gpu.allocate(bytes, stream), ids = gpu.allocate(results * 8, stream),
             distances = gpu.allocate(results * 4, stream);
  gpu.copy(queries->address(), reinterpret_cast<uint64_t>(cell.queries.encoded.data()), bytes,
           stream);
  MatrixView there = view(cell.queries);
  there.data = reinterpret_cast<const void *>(queries->address());
  gpu.searchDevice(cell.index, cell.metric, bind(cell.metric, cell.queries.dims), there, cell.k,
                   cell.params, reinterpret_cast<int64_t *>(ids->address()),
                   reinterpret_cast<float *>(distances->address()), stream);
  FoundBits found{std::vector<int64_t>(results), std::vector<float>(results)};
  gpu.copy(reinterpret_cast<uint64_t>(found.ids.data()), ids->address(), results * 8, stream);
  gpu.copy(reinterpret_cast<uint64_t>(found.distances.data()), distances->address(), results * 4,
           stream);
  gpu.synchronize(stream);
  return found;
}

FoundBits searchThere(Backend &backend, const TeamCell &cell) {
  return searchOn(backend, cell, nullptr);
}

TEST(CudaTeam, SearchesOfHostArraysEqualThoseOfOneGpu) {
  REQUIRE_GPU("teams of devices are");
  const Teams teams;
  EXPECT_GE(checkTeams(
                *sharedBackend(), teams.named(), metrics(),
                [](const TestMetric &test) { return unfusedMetric(test); }, tenantFilter()),
            300);
}

TEST(CudaTeam, SearchesOfDeviceArraysEqualThoseOfOneGpu) {
  REQUIRE_GPU("teams of devices are");
  const Teams teams;
  EXPECT_GE(checkTeams(
                *sharedBackend(), teams.named(), metrics(),
                [](const TestMetric &test) { return unfusedMetric(test); }, tenantFilter(),
                searchThere),
            300);
}

/// So many queries that devices rank lists for each other, some of k that shards merge.
TEST(CudaTeam, LargeBatches) {
  REQUIRE_GPU("teams of devices are");
  const Teams teams;
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, 20000, 32, 1),
             queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 3001, 32, 2);
  for (const auto &[name, lists] : {std::pair("l2", 64u), {"inner_product", 64u}, {"l2", 700u}}) {
    const Index index = sharedBackend()->buildFromHost({.nLists = lists}, view(base));
    const Metric metric = unfusedMetric(testMetric(name));
    for (const int k : {1, 10, 100})
      for (const uint32_t probes : {1u, 9u, 64u}) {
        TeamCell cell{index, metric, queries, k, {}};
        cell.params.candidates = Lists{probes};
        const FoundBits expected = searchThere(*sharedBackend(), cell);
        for (const NamedTeam &team : teams.named()) {
          EXPECT_TRUE(searchThere(*team.backend, cell) == expected)
              << name << ", k " << k << ", probes " << probes << ", " << team.name;
          // The default stream of this thread, which threads of the team do not have.
          EXPECT_TRUE(searchOn(*team.backend, cell, reinterpret_cast<void *>(2)) == expected)
              << name << ", k " << k << ", probes " << probes << ", stream, " << team.name;
          EXPECT_TRUE(searchCell(*team.backend, cell) == expected)
              << name << ", k " << k << ", probes " << probes << ", host, " << team.name;
        }
      }
  }
}

TEST(CudaTeam, BuildsExtendsRemovesRefines) {
  REQUIRE_GPU("teams of devices are");
  const Teams teams;
  const Metric metric = unfusedMetric(testMetric("l2"));
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, 3000, 16, 1),
             queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 500, 16, 2);
  std::vector<int64_t> gone = idsFrom(100, 300, 7);
  const auto candidates = someOf(idsFrom(0, 100), queries.rows, 40);
  const auto made = [&](CudaBackend &backend) {
    Index index = backend.buildFromHost({.nLists = 12}, partOf(base, 0, 2000));
    backend.extendFromHost(index, partOf(base, 2000, 1000));
    backend.remove(index, gone);
    TeamCell cell{index, metric, queries, 10, {}};
    cell.params.candidates = Lists{4};
    std::vector<FoundBits> found = {searchThere(backend, cell), searchCell(backend, cell)};
    FoundBits refined{std::vector<int64_t>(size_t(queries.rows * 5)),
                      std::vector<float>(size_t(queries.rows * 5))};
    backend.refineOwn(index, {candidates.data(), queries.rows, 40}, {}, metric, bind(metric, 16),
                      view(queries), {}, 5, {}, refined.ids.data(), refined.distances.data());
    found.push_back(std::move(refined));
    const WithinRadius within = backend.searchRadius(index, metric, bind(metric, 16), view(queries),
                                                     found[0].distances[9], 1 << 20, {});
    found.push_back({within.ids, within.distances});
    return found;
  };
  const std::vector<FoundBits> expected = made(*sharedBackend());
  EXPECT_GT(expected.back().ids.size(), 9u);
  EXPECT_EQ(made(*teams.replicated), expected);
  EXPECT_EQ(made(*teams.sharded), expected);
  EXPECT_EQ(made(*teams.thrice), expected);
}

TEST(CudaTeam, Refuses) {
  REQUIRE_GPU("teams of devices are");
  EXPECT_EQ(messageOf([] { (void)makeCudaTeamBackend({}, TeamMode::Sharded); }),
            "devices: there are 0; give at least one");
  const int missing[] = {0, 63};
  EXPECT_NE(messageOf([&] {
              (void)makeCudaTeamBackend(missing, TeamMode::Sharded);
            }).find("no CUDA device 63"),
            std::string::npos);
  const auto both = makeCudaTeamBackend(devices(), TeamMode::Sharded);
  const Metric metric = unfusedMetric(testMetric("l2"));
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, 300, 16, 1);
  const Index index = Index::build({.nLists = 3}, view(base));
  EXPECT_EQ(
      messageOf([&] { (void)both->prepareDevice(index, metric, {}, view(base), 3, {}, nullptr); }),
      "a prepared search runs on one device, the backend is " + both->describe() +
          "; search without preparing, or on one device");
}

} // namespace
