//===- RowsBench.cpp - Exact search of a caller's rows on a GPU -----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Times every way in which rows come to be searched exactly, and the searches then, in one run; one
// JSON object a line:
//
//   annudf_rows_bench --metric l2.annudf --rows 1000000 --dims 128 --batch 1000,10000
//
// "store" is the time from rows, in device or host memory, to a store on the device; "search" that
// of a search with queries and results on the device, until it is done. "k-means" is an index of
// one list that is trained. The ids that all ways find are compared.
//
//===----------------------------------------------------------------------===//

#include "Mixture.h"
#include "VectorOptions.h"
#include "annudf/runtime/cuda/Cuda.h"
#include "annudf/runtime/support/Clock.h"

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

using namespace annudf;
using namespace annudf::runtime;
using annudf::bench::addressOf, annudf::bench::median, annudf::bench::mixture,
    annudf::bench::VectorOptions;

namespace {

template <class T> T *pointerTo(const DeviceMemory &memory) {
  return reinterpret_cast<T *>(memory.address());
}

std::unique_ptr<DeviceMemory> onDevice(CudaBackend &backend, const Matrix &matrix) {
  auto memory = backend.allocate(matrix.storage.size(), nullptr);
  backend.copy(memory->address(), addressOf(matrix.storage.data()), memory->size(), nullptr);
  backend.synchronize(nullptr);
  return memory;
}

class Bench {
public:
  Bench(const VectorOptions &load, annudf_element element)
      : load_(load), backend_(makeCudaDeviceBackend()), metric_(Metric::fromFile(load.metric)),
        base_(mixture(load.rows, load.dims, element, 20000, 0.6f, 11)),
        queries_(mixture(load.largestBatch(), load.dims, element, 20000, 0.6f, 77777)),
        rowsThere_(onDevice(*backend_, base_)), queriesThere_(onDevice(*backend_, queries_)),
        ids_(backend_->allocate(uint64_t(queries_.rows * load.k) * 8, nullptr)),
        distances_(backend_->allocate(uint64_t(queries_.rows * load.k) * 4, nullptr)) {}

  void run() {
    MatrixView there = base_.view();
    there.data = pointerTo<const void>(*rowsThere_);
    IndexParams oneList;
    oneList.nLists = 1, oneList.kmeansIterations = 1;
    std::printf("{\"what\":\"exact search\",\"device\":\"%s\",\"metric\":\"%s\",\"dtype\":\"%s\","
                "\"rows\":%lld,\"dims\":%d,\"k\":%lld}\n",
                backend_->describe().c_str(), metric_.artifact.manifest.name.c_str(),
                load_.dtype.c_str(), static_cast<long long>(load_.rows), load_.dims,
                static_cast<long long>(load_.k));
    way("device rows, stored", load_.repeats, true,
        [&] { return backend_->storeRows(there, {true, nullptr}, {}); });
    way("device rows, k-means", load_.repeats, true,
        [&] { return backend_->build(oneList, there, nullptr); });
    way("host rows, stored in pieces", load_.repeats, true,
        [&] { return backend_->storeRows(base_.view(), {}, {}); });
    way("host rows, one list there and uploaded", 3, false,
        [&] { return Index::ofOneList(base_.view(), false); });
    way("host rows, k-means there and uploaded", 1, false,
        [&] { return Index::build(oneList, base_.view()); });
  }

private:
  SearchStats search(const Index &index, int64_t batch) {
    SearchStats stats;
    MatrixView queries = queries_.view();
    queries.data = pointerTo<const void>(*queriesThere_);
    queries.rows = batch;
    SearchParams params;
    params.waitForLinks = true;
    backend_->searchDevice(
        index, metric_,
        BoundCaptures::bind(metric_.artifact.manifest, {load_.dims, load_.rows, 0}, {}), queries,
        static_cast<int>(load_.k), params, pointerTo<int64_t>(*ids_), pointerTo<float>(*distances_),
        nullptr, &stats);
    backend_->synchronize(nullptr);
    return stats;
  }

  std::vector<int64_t> found() const {
    std::vector<int64_t> ids(size_t(queries_.rows * load_.k));
    backend_->copy(addressOf(ids.data()), ids_->address(), ids_->size(), nullptr);
    backend_->synchronize(nullptr);
    return ids;
  }

  /// \param searched  whether searches of the store are timed, too.
  void way(const char *name, int repeats, bool searched, const std::function<Index()> &store) {
    std::vector<double> ms;
    Index index;
    for (int i = 0; i < repeats; ++i) {
      index = Index(); // What the device has of the last goes first.
      const auto start = std::chrono::steady_clock::now();
      index = store();
      if (index.onHost()) // Its first search copies it; kernels are linked by then.
        (void)search(index, 1);
      ms.push_back(msSince(start));
    }
    std::printf("{\"what\":\"store\",\"way\":\"%s\",\"first_ms\":%.2f", name, ms.front());
    std::printf(",\"median_ms\":%.3f", median(ms));
    (void)search(index, queries_.rows); // Links, and what the planner keeps of a store.
    const std::vector<int64_t> ids = found();
    if (known_.empty())
      known_ = ids;
    std::printf(",\"same_ids\":%s}\n", ids == known_ ? "true" : "false");
    for (const int64_t batch : searched ? load_.batches : std::vector<int64_t>()) {
      SearchStats stats = search(index, batch);
      std::vector<double> times(batch <= 100 ? 101 : 15);
      for (double &time : times) {
        const auto start = std::chrono::steady_clock::now();
        (void)search(index, batch);
        time = msSince(start);
      }
      std::printf("{\"what\":\"search\",\"way\":\"%s\",\"batch\":%lld,\"median_ms\":%.4f,"
                  "\"min_ms\":%.4f,\"family\":\"%s\"}\n",
                  name, static_cast<long long>(batch), median(times), times.front(),
                  stats.family.c_str());
    }
    std::fflush(stdout);
  }

  const VectorOptions &load_;
  const std::unique_ptr<CudaBackend> backend_;
  const Metric metric_;
  const Matrix base_, queries_;
  const std::unique_ptr<DeviceMemory> rowsThere_, queriesThere_, ids_, distances_;
  std::vector<int64_t> known_;
};

} // namespace

int main(int argc, char **argv) {
  VectorOptions load({1, 1000, 10000}, 9);
  CLI::App app{"Times exact search of a caller's rows on a GPU, one JSON object a line"};
  load.addTo(app, "Stores of each way");
  CLI11_PARSE(app, argc, argv);
  return bench::run("annudf_rows_bench", load,
                    [&](annudf_element element) { Bench(load, element).run(); });
}
