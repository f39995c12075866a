//===- CpuBench.cpp - Times searches on the host --------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One JSON line for the link, one for each batch size. docs/results/cpu.py runs
// it in turns with FAISS.
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/engine/Search.h"
#include "annudf/runtime/ivf_flat/Index.h"
#include "annudf/runtime/support/Clock.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <random>
#include <unordered_set>

using namespace annudf;
using namespace annudf::runtime;

namespace {

/// The first `rows` rows, converted to f32 if asked.
Matrix prepare(Matrix from, int64_t rows, bool asF32) {
  Matrix to;
  to.rows = std::min(from.rows, rows);
  to.dims = from.dims;
  to.element = asF32 ? ANNUDF_ELEMENT_F32 : from.element;
  to.storage.resize(size_t(to.rows * bytesOfRow(to.element, to.dims)));
  if (to.element == from.element) {
    std::memcpy(to.storage.data(), from.storage.data(), to.storage.size());
    return to;
  }
  auto *out = reinterpret_cast<float *>(to.storage.data());
  for (int64_t i = 0; i < to.rows; ++i)
    for (int32_t d = 0; d < to.dims; ++d)
      *out++ = coordinate(from.view(), i, d);
  return to;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

struct Options {
  std::string base, queries, metric, index, family;
  std::vector<std::string> captures;
  std::vector<int64_t> batches{1, 10, 100, 1000};
  std::vector<double> pass{1}; ///< Shares of rows that filters let pass.
  int64_t rows = 200'000;
  uint32_t lists = 512, probes = 16;
  int threads = 0, k = 10;
  double seconds = 1;
  bool asF32 = false;
};

Index openIndex(const Options &options) {
  if (!options.index.empty() && std::filesystem::exists(options.index))
    return Index::load(options.index);
  const Matrix base = prepare(readMatrix(options.base), options.rows, options.asF32);
  IndexParams params;
  params.nLists = options.lists;
  params.threads = options.threads;
  Index index = Index::build(params, base.view());
  if (!options.index.empty())
    index.save(options.index);
  return index;
}

/// Lets that share of the rows pass, at random; null: all.
std::shared_ptr<const RowFilter> filterOf(double share, int64_t rows) {
  if (share >= 1)
    return nullptr;
  std::mt19937 random(1);
  std::bernoulli_distribution passes(share);
  std::vector<uint32_t> words(size_t(RowFilter::wordsFor(rows)));
  for (int64_t row = 0; row < rows; ++row)
    words[size_t(row / 32)] |= uint32_t(passes(random)) << (row % 32);
  return std::make_shared<const RowFilter>(std::move(words), rows);
}

std::map<std::string, NumericArray> readCaptures(const std::vector<std::string> &captures) {
  std::map<std::string, NumericArray> values;
  for (const std::string &capture : captures) {
    const size_t equals = capture.find('=');
    if (equals == std::string::npos)
      throw Error(ErrorKind::Usage, "--capture " + capture + ": expected NAME=FILE or NAME=NUMBER");
    values[capture.substr(0, equals)] = readCapture(capture.substr(equals + 1));
  }
  return values;
}

/// The share of k ids of each query in `exact` that are in `ids` too.
double recallOf(const std::vector<int64_t> &ids, const std::vector<int64_t> &exact, int k) {
  int64_t hits = 0;
  for (size_t first = 0; first < exact.size(); first += size_t(k)) {
    const std::unordered_set<int64_t> truth(&exact[first], &exact[first] + k);
    for (size_t i = 0; i < size_t(k); ++i)
      hits += int64_t(truth.count(ids[first + i]));
  }
  return double(hits) / double(exact.size());
}

void run(const Options &options) {
  const Index index = openIndex(options);
  const Matrix queries = prepare(readMatrix(options.queries), INT64_MAX, options.asF32);
  const Metric metric = Metric::fromFile(options.metric);
  const auto captures =
      BoundCaptures::bind(metric.artifact.manifest, index.dims(), readCaptures(options.captures));
  auto backend = makeCpuBackend(options.threads);
  const auto rowBytes = size_t(bytesOfRow(queries.element, queries.dims));

  std::shared_ptr<const RowFilter> filter;
  auto search = [&](int64_t first, int64_t count, uint32_t probes, std::vector<int64_t> &ids,
                    SearchStats &stats) {
    MatrixView view = queries.view();
    view.data = queries.storage.data() + first * rowBytes;
    view.rows = count;
    ids.resize(count * options.k);
    std::vector<float> distances(count * options.k);
    const auto started = std::chrono::steady_clock::now();
    backend->search(index, metric, captures, view, options.k,
                    {.candidates = Lists{probes}, .filter = filter, .family = options.family},
                    ids.data(), distances.data(), &stats);
    return msSince(started);
  };

  std::vector<int64_t> ids;
  SearchStats stats;
  search(0, 1, options.probes, ids, stats);
  std::printf("{\"what\": \"link\", \"metric\": \"%s\", \"element\": \"%s\", \"host\": \"%s\", "
              "\"link_ms\": %.1f}\n",
              metric.artifact.manifest.name.c_str(), toString(index.element()),
              backend->describe().c_str(), stats.linkMs);
  const auto timeBatch = [&](int64_t batch, double share) {
    if (batch < 1 || batch > queries.rows)
      throw Error(ErrorKind::Usage, "batch " + std::to_string(batch) + ": the file has " +
                                        std::to_string(queries.rows) + " queries");
    std::vector<double> times, cpuTimes; // The latter tell what a busy machine took away.
    double total = 0;
    // Each repetition takes the next queries, so that small batches see many lists.
    for (int64_t first = 0; total < options.seconds * 1e3 || times.size() < 7;
         first = first + 2 * batch <= queries.rows ? first + batch : 0) {
      const std::clock_t cpu = std::clock();
      times.push_back(search(first, batch, options.probes, ids, stats));
      cpuTimes.push_back(double(std::clock() - cpu) / CLOCKS_PER_SEC * 1e3);
      total += times.back();
    }
    const double ms = median(times);
    std::printf("{\"what\": \"search\", \"metric\": \"%s\", \"batch\": %lld, \"k\": %d, "
                "\"pass\": %g, \"family\": \"%s\", \"probes\": %u, \"runs\": %zu, \"median_ms\": "
                "%.4f, \"cpu_ms\": %.4f, \"qps\": %.0f}\n",
                metric.artifact.manifest.name.c_str(), (long long)batch, options.k, share,
                stats.family.c_str(), options.probes, times.size(), ms, median(cpuTimes),
                batch / ms * 1e3);
    std::fflush(stdout);
  };
  for (const double share : options.pass) {
    filter = filterOf(share, index.size());
    for (const int64_t batch : options.batches)
      timeBatch(batch, share);
  }
  filter = nullptr;

  // Against the same metric over every list.
  const int64_t judged = std::min<int64_t>(1000, queries.rows);
  std::vector<int64_t> exact;
  search(0, judged, options.probes, ids, stats);
  search(0, judged, index.nLists(), exact, stats);
  std::printf("{\"what\": \"recall\", \"metric\": \"%s\", \"k\": %d, \"recall\": %.4f}\n",
              metric.artifact.manifest.name.c_str(), options.k, recallOf(ids, exact, options.k));
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  CLI::App app{"Times IVF-Flat searches on the host, one JSON object a line"};
  app.add_option("--base", options.base, "Vectors to index")->required();
  app.add_option("--queries", options.queries, "Queries")->required();
  app.add_option("--metric", options.metric, "A compiled metric (.annudf)")->required();
  app.add_option("--capture", options.captures, "NAME=FILE or NAME=NUMBER");
  app.add_option("--family", options.family, "Kernels to run instead of the planner's choice");
  app.add_option("--index", options.index, "Loaded if it exists, else built and saved here");
  app.add_option("--rows", options.rows, "Rows of the base to use")->capture_default_str();
  app.add_option("--lists", options.lists)->capture_default_str();
  app.add_option("--probes", options.probes)->capture_default_str();
  app.add_option("--threads", options.threads, "0: all cores")->capture_default_str();
  app.add_option("-k", options.k)->capture_default_str();
  app.add_option("--batches", options.batches)->delimiter(',')->capture_default_str();
  app.add_option("--pass", options.pass,
                 "Search with filters that let these shares of the rows pass; 1: without one")
      ->delimiter(',')
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--seconds", options.seconds, "Time for each batch size")->capture_default_str();
  app.add_flag("--f32", options.asF32, "Convert base and queries to f32");
  CLI11_PARSE(app, argc, argv);
  try {
    run(options);
  } catch (const Error &error) {
    std::fprintf(stderr, "annudf_cpu_bench: error: %s\n", error.what());
    return error.exitCode();
  }
  return 0;
}
