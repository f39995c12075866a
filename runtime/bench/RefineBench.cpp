//===- RefineBench.cpp - Candidates ranked again --------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Times the ranking of candidates at random; one JSON object a line:
//
//   annudf_refine_bench --metric l2.annudf --rows 1000000 --dims 128 --batch 10000 --candidates 200
//
// With --lists the rows are those of an index of as many. On a GPU all arrays are on the device and
// a call is waited for. "read_gb_per_s" counts the bytes of the candidates' rows, each once;
// "copy_gb_per_s" the bytes that a copy of as many reads and writes, and "share" is the first over
// the second.
//
//===----------------------------------------------------------------------===//

#include "Mixture.h"
#include "VectorOptions.h"
#include "annudf/runtime/cuda/Cuda.h"
#include "annudf/runtime/engine/Refine.h"
#include "annudf/runtime/support/Clock.h"

#include <chrono>
#include <cstdio>
#include <functional>
#include <random>
#include <string>
#include <vector>

using namespace annudf;
using namespace annudf::runtime;
using annudf::bench::addressOf, annudf::bench::median, annudf::bench::mixture,
    annudf::bench::VectorOptions;

namespace {

struct Options : VectorOptions {
  Options() : VectorOptions({100, 1000, 10000}, 21) {}
  std::string device = "cuda";
  int64_t columns = 200;
  uint32_t lists = 0; ///< 0: the rows are a data set.
};

double medianOf(int repeats, const std::function<void()> &call) {
  call(); // Links.
  std::vector<double> ms(static_cast<size_t>(repeats));
  for (double &one : ms) {
    const auto start = std::chrono::steady_clock::now();
    call();
    one = msSince(start);
  }
  return median(ms);
}

class Bench {
public:
  Bench(const Options &load, annudf_element element)
      : load_(load), metric_(Metric::fromFile(load.metric)),
        base_(mixture(load.rows, load.dims, element, 20000, 0.6f, 11)),
        queries_(mixture(load.largestBatch(), load.dims, element, 20000, 0.6f, 77777)),
        ids_(size_t(queries_.rows * load.k)), distances_(ids_.size()) {
    std::mt19937_64 random(5);
    candidates_.resize(size_t(queries_.rows * load.columns));
    for (int64_t &id : candidates_)
      id = int64_t(random() % uint64_t(load.rows));
  }

  void onHost() {
    const auto backend = makeCpuBackend();
    head(*backend);
    Index index;
    if (load_.lists == 1)
      index = Index::ofOneList(base_.view(), false);
    else if (load_.lists > 1)
      index = Index::build(ofLists(), base_.view());
    for (const int64_t batch : load_.batches) {
      MatrixView queries = queries_.view();
      queries.rows = batch;
      SearchStats stats;
      const double ms = medianOf(load_.repeats, [&] {
        const CandidateRows given = {candidates_.data(), batch, load_.columns};
        if (load_.lists > 0)
          refineOwn(*backend, index, given, metric_, captures(batch), queries, load_.k, {},
                    ids_.data(), distances_.data(), &stats);
        else
          refine(*backend, base_.view(), given, metric_, captures(batch), queries, load_.k, {},
                 ids_.data(), distances_.data(), &stats);
      });
      tell(batch, ms, stats.family, 0);
    }
  }

  void onDevice() {
    const auto backend = makeCudaDeviceBackend();
    head(*backend);
    const auto put = [&](const void *from, size_t bytes) {
      auto memory = backend->allocate(bytes, nullptr);
      backend->copy(memory->address(), addressOf(from), bytes, nullptr);
      backend->synchronize(nullptr);
      return memory;
    };
    const auto rows = put(base_.storage.data(), base_.storage.size()),
               asked = put(queries_.storage.data(), queries_.storage.size()),
               given = put(candidates_.data(), candidates_.size() * sizeof(int64_t)),
               ids = backend->allocate(ids_.size() * sizeof(int64_t), nullptr),
               distances = backend->allocate(distances_.size() * sizeof(float), nullptr);
    Index index;
    if (load_.lists == 1)
      index = backend->storeRows(base_.view(), {}, {});
    else if (load_.lists > 1)
      index = backend->buildFromHost(ofLists(), base_.view());
    const uint64_t most = std::min<uint64_t>(rows->size(), uint64_t(1) << 30);
    const auto copied = backend->allocate(most, nullptr);
    const double copyMs = medianOf(load_.repeats, [&] {
      backend->copy(copied->address(), rows->address(), most, nullptr);
      backend->synchronize(nullptr);
    });
    for (const int64_t batch : load_.batches) {
      MatrixView from = base_.view(), queries = queries_.view();
      from.data = reinterpret_cast<const void *>(rows->address());
      queries.data = reinterpret_cast<const void *>(asked->address()), queries.rows = batch;
      const RowsPlace there = {true, nullptr};
      SearchStats stats;
      const double ms = medianOf(load_.repeats, [&] {
        const CandidateRows ofQueries = {reinterpret_cast<const int64_t *>(given->address()), batch,
                                         load_.columns};
        const SearchParams params = {.waitForLinks = true};
        auto *const toIds = reinterpret_cast<int64_t *>(ids->address());
        auto *const toDistances = reinterpret_cast<float *>(distances->address());
        if (load_.lists > 0)
          backend->refineOwn(index, ofQueries, there, metric_, captures(batch), queries, there,
                             load_.k, params, toIds, toDistances, &stats);
        else
          backend->refine(from, there, ofQueries, there, metric_, captures(batch), queries, there,
                          load_.k, params, toIds, toDistances, &stats);
        backend->synchronize(nullptr);
      });
      tell(batch, ms, stats.family, 2 * double(most) / copyMs * 1e-6);
    }
  }

private:
  IndexParams ofLists() const {
    IndexParams params;
    params.nLists = load_.lists, params.kmeansIterations = 4;
    return params;
  }
  BoundCaptures captures(int64_t batch) const {
    return BoundCaptures::bind(metric_.artifact.manifest, {load_.dims, load_.rows, batch}, {});
  }
  void head(const Backend &backend) const {
    std::printf("{\"what\":\"refine\",\"device\":\"%s\",\"metric\":\"%s\",\"dtype\":\"%s\","
                "\"rows\":%lld,\"dims\":%d,\"lists\":%u,\"k\":%lld,\"candidates\":%lld}\n",
                backend.describe().c_str(), metric_.artifact.manifest.name.c_str(),
                load_.dtype.c_str(), static_cast<long long>(load_.rows), load_.dims, load_.lists,
                static_cast<long long>(load_.k), static_cast<long long>(load_.columns));
  }
  void tell(int64_t batch, double ms, const std::string &family, double copied) const {
    const double read = double(batch) * double(load_.columns) *
                        double(bytesOfRow(base_.element, base_.dims)) / ms * 1e-6;
    std::printf("{\"what\":\"batch\",\"batch\":%lld,\"median_ms\":%.4f,\"family\":\"%s\","
                "\"read_gb_per_s\":%.1f",
                static_cast<long long>(batch), ms, family.c_str(), read);
    if (copied > 0)
      std::printf(",\"copy_gb_per_s\":%.1f,\"share\":%.3f", copied, read / copied);
    std::printf("}\n");
    std::fflush(stdout);
  }

  const Options &load_;
  const Metric metric_;
  const Matrix base_, queries_;
  std::vector<int64_t> candidates_, ids_;
  std::vector<float> distances_;
};

} // namespace

int main(int argc, char **argv) {
  Options load;
  CLI::App app{"Times the ranking of candidates, one JSON object a line"};
  load.addTo(app, "Calls of a batch");
  app.add_option("--device", load.device)->check(CLI::IsMember({"cpu", "cuda"}));
  app.add_option("--candidates", load.columns, "Of each query")->check(CLI::PositiveNumber);
  app.add_option("--lists", load.lists, "Of an index that has the rows; 0: a data set has them");
  CLI11_PARSE(app, argc, argv);
  return bench::run("annudf_refine_bench", load, [&](annudf_element element) {
    Bench bench(load, element);
    load.device == "cpu" ? bench.onHost() : bench.onDevice();
  });
}
