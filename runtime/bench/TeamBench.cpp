//===- TeamBench.cpp - Several GPUs against one ----------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Times searches of one index by one GPU and by several, and compares their results to the bit; one
// JSON object a line:
//
//   annudf_team_bench --metric l2.annudf,l1.annudf --rows 20000000 --dims 96 --lists 8192 --batch
//                     10000 --devices 0,1
//
// Arrays are on the first GPU, and a search is waited for; "host" has them in host memory. Rows are
// the mixture of annudf_cuda_bench. "stages" are the longest of any GPU.
//
//===----------------------------------------------------------------------===//

#include "Mixture.h"
#include "VectorOptions.h"
#include "annudf/runtime/cuda/Cuda.h"
#include "annudf/runtime/support/Clock.h"

#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

using namespace annudf;
using namespace annudf::runtime;
using annudf::bench::addressOf, annudf::bench::median, annudf::bench::mixture;
using Clock = std::chrono::steady_clock;

namespace {

struct Options {
  std::vector<std::string> metrics;
  std::vector<int> devices = {0, 1};
  std::vector<int64_t> batches = {10000};
  int64_t rows = 20000000, clusters = 20000, k = 10;
  int32_t dims = 96;
  uint32_t lists = 8192, probes = 32;
  int repeats = 25;
  double trained = 0.05;
};

/// What a search found.
struct Results {
  std::vector<int64_t> ids;
  std::vector<float> distances;
  bool operator==(const Results &other) const {
    return ids == other.ids && std::memcmp(distances.data(), other.distances.data(),
                                           distances.size() * sizeof(float)) == 0;
  }
};

/// Searches of the first queries, on the first device or from the host.
class Searches {
public:
  Searches(const Options &load, CudaBackend &home, const Index &index, const Matrix &queries,
           int64_t most)
      : load_(load), home_(home), index_(index), queries_(queries),
        there_(home.allocate(queries.storage.size(), nullptr)),
        ids_(home.allocate(uint64_t(most * load.k) * 8, nullptr)),
        distances_(home.allocate(uint64_t(most * load.k) * 4, nullptr)) {
    home.copy(there_->address(), addressOf(queries.storage.data()), queries.storage.size(),
              nullptr);
    home.synchronize(nullptr);
  }

  void search(CudaBackend &backend, const Metric &metric, int64_t batch, bool host, bool stages,
              SearchStats &stats) {
    SearchParams params;
    params.candidates = Lists{load_.probes}, params.waitForLinks = true;
    params.timeStages = stages;
    MatrixView view = queries_.view();
    view.rows = batch;
    if (host) {
      found_.ids.resize(size_t(batch * load_.k)), found_.distances.resize(found_.ids.size());
      backend.search(index_, metric, {}, view, int(load_.k), params, found_.ids.data(),
                     found_.distances.data(), &stats);
      return;
    }
    view.data = reinterpret_cast<const void *>(there_->address());
    backend.searchDevice(index_, metric, {}, view, int(load_.k), params,
                         reinterpret_cast<int64_t *>(ids_->address()),
                         reinterpret_cast<float *>(distances_->address()), nullptr, &stats);
    home_.synchronize(nullptr);
  }

  Results results(int64_t batch, bool host) {
    if (host)
      return found_;
    Results found{std::vector<int64_t>(size_t(batch * load_.k)),
                  std::vector<float>(size_t(batch * load_.k))};
    home_.copy(addressOf(found.ids.data()), ids_->address(), found.ids.size() * 8, nullptr);
    home_.copy(addressOf(found.distances.data()), distances_->address(), found.ids.size() * 4,
               nullptr);
    home_.synchronize(nullptr);
    return found;
  }

private:
  const Options &load_;
  CudaBackend &home_;
  const Index &index_;
  const Matrix &queries_;
  const std::unique_ptr<DeviceMemory> there_, ids_, distances_;
  Results found_;
};

struct Timed {
  double ms;
  Results results;
};

Timed timed(const Options &load, Searches &searches, CudaBackend &backend, const char *mode,
            const Metric &metric, int64_t batch, bool host, const Timed *one) {
  SearchStats stats;
  const auto begun = Clock::now();
  searches.search(backend, metric, batch, host, false, stats);
  const double first = msSince(begun);
  std::vector<double> ms(size_t(load.repeats));
  for (double &each : ms) {
    const auto start = Clock::now();
    searches.search(backend, metric, batch, host, false, stats);
    each = msSince(start);
  }
  Timed all{median(ms), searches.results(batch, host)};
  std::printf(
      "{\"mode\":\"%s\",\"metric\":\"%s\",\"arrays\":\"%s\",\"batch\":%lld,\"family\":\"%s\","
      "\"first_ms\":%.1f,\"median_ms\":%.4f,\"min_ms\":%.4f",
      mode, metric.artifact.manifest.name.c_str(), host ? "host" : "device",
      static_cast<long long>(batch), stats.family.c_str(), first, all.ms, ms.front());
  if (one)
    std::printf(",\"speedup\":%.3f,\"equal\":%s", one->ms / all.ms,
                one->results == all.results ? "true" : "false");
  searches.search(backend, metric, batch, host, true, stats);
  searches.search(backend, metric, batch, host, true, stats);
  std::printf(",\"stages\":{");
  for (const StageTime &stage : stats.stages)
    std::printf("%s\"%s\":%.4f", &stage == stats.stages.data() ? "" : ",", stage.name.c_str(),
                stage.ms);
  std::printf("}}\n");
  std::fflush(stdout);
  return all;
}

void run(const Options &load) {
  const int64_t most = *std::max_element(load.batches.begin(), load.batches.end());
  const auto one = makeCudaDeviceBackend(load.devices.front());
  auto start = Clock::now();
  Matrix base = mixture(load.rows, load.dims, ANNUDF_ELEMENT_F32, load.clusters, 0.6f, 11);
  const Matrix queries = mixture(most, load.dims, ANNUDF_ELEMENT_F32, load.clusters, 0.6f, 77777);
  std::printf("{\"what\":\"rows\",\"ms\":%.0f}\n", msSince(start));
  start = Clock::now();
  const Index index = one->buildFromHost(
      {.nLists = load.lists, .kmeansTrainsetFraction = load.trained}, base.view());
  std::printf("{\"what\":\"build\",\"rows\":%lld,\"dims\":%d,\"lists\":%u,\"probes\":%u,\"k\":%lld,"
              "\"ms\":%.0f}\n",
              static_cast<long long>(load.rows), load.dims, load.lists, load.probes,
              static_cast<long long>(load.k), msSince(start));
  base = {};
  Searches searches(load, *one, index, queries, most);
  for (const std::string &path : load.metrics) {
    const Metric metric = Metric::fromFile(path);
    for (const int64_t batch : load.batches)
      for (const bool host : {false, true}) {
        const Timed alone = timed(load, searches, *one, "one", metric, batch, host, nullptr);
        for (const auto &[name, mode] : {std::pair("sharded", TeamMode::Sharded),
                                         std::pair("replicated", TeamMode::Replicated)}) {
          const auto team = makeCudaTeamBackend(load.devices, mode);
          (void)timed(load, searches, *team, name, metric, batch, host, &alone);
        }
      }
  }
}

} // namespace

int main(int argc, char **argv) {
  Options load;
  CLI::App app{"Times searches by several GPUs, one JSON object a line"};
  app.option_defaults()->always_capture_default();
  app.add_option("--metric", load.metrics, "M.annudf without captures")->delimiter(',')->required();
  app.add_option("--devices", load.devices)->delimiter(',');
  app.add_option("--batch", load.batches)->delimiter(',')->check(CLI::PositiveNumber);
  app.add_option("--rows", load.rows)->check(CLI::PositiveNumber);
  app.add_option("--clusters", load.clusters)->check(CLI::PositiveNumber);
  app.add_option("--dims", load.dims)->check(CLI::PositiveNumber);
  app.add_option("--lists", load.lists)->check(CLI::PositiveNumber);
  app.add_option("--probes", load.probes)->check(CLI::PositiveNumber);
  app.add_option("--k", load.k)->check(CLI::PositiveNumber);
  app.add_option("--repeats", load.repeats)->check(CLI::PositiveNumber);
  app.add_option("--trained", load.trained, "Share of the rows that k-means sees");
  CLI11_PARSE(app, argc, argv);
  try {
    run(load);
  } catch (const Error &error) {
    std::fprintf(stderr, "annudf_team_bench: %s\n", error.what());
    return error.exitCode();
  }
  return 0;
}
