//===- RadiusBench.cpp - Search by radius beside search for the k best ----===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Times a radius with k results a query on average, and the search for the k best, from and to host
// memory, in turns; one JSON object a line:
//
//   annudf_radius_bench --metric l1.annudf --batch 1000,10000 [--family staged,staged_granules]
//
// Captures along the dims get weights between 0.5 and 1.5.
//
//===----------------------------------------------------------------------===//

#include "Mixture.h"
#include "VectorOptions.h"
#include "annudf/runtime/cuda/Cuda.h"
#include "annudf/runtime/engine/Radius.h"
#include "annudf/runtime/support/Clock.h"

#include <chrono>
#include <cstring>
#include <map>

using namespace annudf;
using namespace annudf::runtime;
using annudf::bench::median, annudf::bench::mixture, annudf::bench::VectorOptions;

namespace {

struct Options : VectorOptions {
  Options() : VectorOptions({1000, 10000}, 21) {}
  uint32_t lists = 1024, probes = 32;
  std::vector<std::string> families = {""};
};

BoundCaptures weightsOf(const Manifest &manifest, const Options &load) {
  std::map<std::string, NumericArray> values;
  for (const CaptureInfo &capture : manifest.captures) {
    std::vector<float> weights(static_cast<size_t>(load.dims));
    for (size_t d = 0; d < weights.size(); ++d)
      weights[d] = 0.5f + float(d * 37 % 64) / 64;
    NumericArray array{"f32", {load.dims}, {}, "generated"};
    array.storage.resize(weights.size() * sizeof(float));
    std::memcpy(array.storage.data(), weights.data(), array.storage.size());
    values[capture.name] = array;
  }
  return BoundCaptures::bind(manifest, {load.dims, load.rows, 0}, values);
}

class Bench {
public:
  Bench(const Options &load, annudf_element element)
      : load_(load), metric_(Metric::fromFile(load.metric)),
        captures_(weightsOf(metric_.artifact.manifest, load)),
        queries_(mixture(load.largestBatch(), load.dims, element, 20000, 0.6f, 77777)),
        ids_(size_t(queries_.rows * kPooled)), distances_(ids_.size()) {
    IndexParams params;
    params.nLists = load.lists, params.kmeansIterations = 4;
    index_ = backend_->buildFromHost(
        params, mixture(load.rows, load.dims, element, 20000, 0.6f, 11).view());
  }

  void run() {
    std::printf("{\"what\":\"radius\",\"device\":\"%s\",\"metric\":\"%s\",\"dtype\":\"%s\","
                "\"rows\":%lld,\"dims\":%d,\"lists\":%u,\"probes\":%u,\"k\":%lld}\n",
                backend_->describe().c_str(), metric_.artifact.manifest.name.c_str(),
                load_.dtype.c_str(), static_cast<long long>(load_.rows), load_.dims, load_.lists,
                load_.probes, static_cast<long long>(load_.k));
    for (const int64_t batch : load_.batches) {
      const float radius = radiusFor(batch);
      for (const std::string &family : load_.families)
        time(batch, radius, family);
    }
  }

private:
  /// Results of a query among which the radius is looked for.
  static constexpr int kPooled = 256;

  MatrixView first(int64_t batch) const {
    MatrixView queries = queries_.view();
    queries.rows = batch;
    return queries;
  }
  SearchParams paramsOf(const std::string &family) const {
    SearchParams params;
    params.candidates = Lists{load_.probes}, params.family = family, params.waitForLinks = true;
    return params;
  }

  float radiusFor(int64_t batch) {
    backend_->search(index_, metric_, captures_, first(batch), kPooled, paramsOf(""), ids_.data(),
                     distances_.data(), nullptr);
    std::vector<float> pooled(distances_.begin(), distances_.begin() + batch * kPooled);
    const auto nth = pooled.begin() + batch * load_.k;
    if (metric_.artifact.manifest.order == ANNUDF_ORDER_MIN)
      std::nth_element(pooled.begin(), nth, pooled.end());
    else
      std::nth_element(pooled.begin(), nth, pooled.end(), std::greater<>());
    return *nth;
  }

  void time(int64_t batch, float radius, const std::string &family) {
    const SearchParams params = paramsOf(family);
    SearchStats best, within;
    int64_t results = 0;
    std::vector<double> bestMs, withinMs;
    for (int i = -2; i < load_.repeats; ++i) { // Two make what is kept, and link.
      const auto start = std::chrono::steady_clock::now();
      backend_->search(index_, metric_, captures_, first(batch), int(load_.k), params, ids_.data(),
                       distances_.data(), &best);
      const auto middle = std::chrono::steady_clock::now();
      results = backend_
                    ->searchRadius(index_, metric_, captures_, first(batch), radius,
                                   ANNUDF_DEFAULT_MAX_RESULTS, params, &within)
                    .starts.back();
      if (i >= 0)
        bestMs.push_back(std::chrono::duration<double, std::milli>(middle - start).count()),
            withinMs.push_back(msSince(middle));
    }
    const double of = median(bestMs), ms = median(withinMs);
    std::printf("{\"what\":\"batch\",\"batch\":%lld,\"radius\":%g,\"results\":%lld,"
                "\"best_family\":\"%s\",\"best_ms\":%.4f,\"family\":\"%s\",\"median_ms\":%.4f,"
                "\"ratio\":%.3f",
                static_cast<long long>(batch), double(radius), static_cast<long long>(results),
                best.family.c_str(), of, within.family.c_str(), ms, ms / of);
    tellStages("best_stages", batch, params, 0);
    tellStages("stages", batch, params, radius);
    std::printf("}\n");
    std::fflush(stdout);
  }

  /// \param radius  0: of the search for the k best.
  void tellStages(const char *name, int64_t batch, SearchParams params, float radius) {
    params.timeStages = true;
    SearchStats stats;
    if (radius == 0)
      backend_->search(index_, metric_, captures_, first(batch), int(load_.k), params, ids_.data(),
                       distances_.data(), &stats);
    else
      (void)backend_->searchRadius(index_, metric_, captures_, first(batch), radius,
                                   ANNUDF_DEFAULT_MAX_RESULTS, params, &stats);
    std::printf(",\"%s\":{\"evaluated_per_query\":%g", name, stats.evaluatedPerQuery);
    for (const StageTime &stage : stats.stages)
      std::printf(",\"%s\":%.4f", stage.name.c_str(), stage.ms);
    std::printf("}");
  }

  const Options &load_;
  const std::unique_ptr<CudaBackend> backend_ = makeCudaDeviceBackend();
  const Metric metric_;
  const BoundCaptures captures_;
  const Matrix queries_;
  Index index_;
  std::vector<int64_t> ids_;
  std::vector<float> distances_;
};

} // namespace

int main(int argc, char **argv) {
  Options load;
  CLI::App app{"Times searches by radius on a GPU, one JSON object a line"};
  load.addTo(app, "Searches of a batch");
  app.add_option("--lists", load.lists)->check(CLI::PositiveNumber);
  app.add_option("--probes", load.probes)->check(CLI::PositiveNumber);
  app.add_option("--family", load.families, "Kernels to run in turns, \"\": the planner's choice")
      ->delimiter(',');
  CLI11_PARSE(app, argc, argv);
  return bench::run("annudf_radius_bench", load,
                    [&](annudf_element element) { Bench(load, element).run(); });
}
