//===- Search.cpp - annudf search -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include "annudf/ABI/annudf_abi.h"
#include "annudf/runtime/support/Parallel.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <set>

using namespace annudf;
using namespace annudf::tool;

namespace {
struct SearchArguments {
  std::string index, queries, metric, device = "cpu", truth, output;
  std::vector<std::string> captures;
  runtime::SearchParams params;
  int k = 10, threads = 0, gpu = 0, repeat = 1, show = 5;
  int64_t rows = 0;
  bool probesGiven = false, asF32 = false, stats = false, allowNonFinite = false, quiet = false;
};

struct Results {
  int64_t rows = 0;
  int k = 0;
  std::vector<int64_t> ids;
  std::vector<float> distances;
};
} // namespace

/// Queries given to a backend at once; Ctrl-C is heard in between.
static constexpr int64_t kBatch = 10000;

static std::map<std::string, runtime::NumericArray>
readCaptures(const std::vector<std::string> &pairs) {
  std::map<std::string, runtime::NumericArray> values;
  for (const std::string &pair : pairs) {
    size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == pair.size())
      throw Error(ErrorKind::Usage, "--capture " + pair + ": expected NAME=FILE or NAME=NUMBER");
    std::string name = pair.substr(0, equals);
    if (!values.emplace(name, runtime::readCapture(pair.substr(equals + 1))).second)
      throw Error(ErrorKind::Usage, "--capture " + pair + ": " + name + " is given twice");
  }
  return values;
}

/// The true neighbours, read and checked before the search spends time.
struct Truth {
  std::vector<int32_t> ids;
  int32_t columns = 0;
};

static Truth readTruth(const std::string &path, int64_t queries, int k) {
  int64_t rows = 0;
  Truth truth;
  truth.ids = runtime::readIds(path, rows, truth.columns);
  if (rows < queries || truth.columns < k)
    throw Error(ErrorKind::Input, path + ": has " + std::to_string(rows) + " x " +
                                      std::to_string(truth.columns) + " ids, recall@" +
                                      std::to_string(k) + " of " + std::to_string(queries) +
                                      " queries needs more");
  return truth;
}

/// Mean share of the true k nearest among the k found, by id.
static double recall(const Truth &truth, const Results &results) {
  int64_t hits = 0;
  for (int64_t row = 0; row < results.rows; ++row) {
    const int32_t *expected = truth.ids.data() + row * truth.columns;
    const std::set<int64_t> wanted(expected, expected + results.k);
    const int64_t *found = results.ids.data() + row * results.k;
    hits += std::count_if(found, found + results.k,
                          [&](int64_t id) { return id >= 0 && wanted.count(id) != 0; });
  }
  return static_cast<double>(hits) / static_cast<double>(results.rows * results.k);
}

static void show(const Results &results, int queries, int columns) {
  columns = std::min(columns, results.k);
  for (int64_t row = 0; row < std::min<int64_t>(queries, results.rows); ++row) {
    std::printf("query %lld:", static_cast<long long>(row));
    for (int i = 0; i < columns; ++i)
      std::printf("  %lld (%g)", static_cast<long long>(results.ids[row * results.k + i]),
                  results.distances[row * results.k + i]);
    std::printf("\n");
  }
}

static void runSearch(SearchArguments arguments) {
  InterruptGuard guard;
  const bool onGpu = arguments.device == "cuda";
  if (!arguments.output.empty()) {
    std::vector<std::string> inputs = {arguments.index, arguments.queries, arguments.metric,
                                       arguments.truth};
    for (const std::string &pair : arguments.captures)
      inputs.push_back(pair.substr(pair.find('=') + 1));
    for (const char *ending : {".ibin", ".fbin"})
      refuseOverwriting(arguments.output + ending, inputs);
  }
  auto start = std::chrono::steady_clock::now();
  // A missing device is told before minutes go into loading and compiling.
  std::unique_ptr<runtime::Backend> backend =
      onGpu ? runtime::makeCudaBackend(arguments.gpu) : runtime::makeCpuBackend(arguments.threads);
  double compileMs = 0;
  runtime::Metric metric = loadMetric(arguments.metric, onGpu, &compileMs);
  runtime::Index index = runtime::Index::load(arguments.index);
  runtime::Matrix queries = loadVectors(arguments.queries, arguments.rows, arguments.asF32);
  if (!arguments.probesGiven)
    arguments.params.nProbes = std::min(arguments.params.nProbes, index.nLists());
  runtime::checkSearch(index, metric, queries.view(), arguments.k, arguments.params);
  runtime::BoundCaptures captures =
      runtime::BoundCaptures::bind(metric.artifact.manifest, extentsOf(index, queries.view()),
                                   readCaptures(arguments.captures), arguments.allowNonFinite);
  // What is bound for all queries cannot serve a part of them.
  const bool byQuery = runtime::hasExtent(metric.artifact.manifest.captures, ANNUDF_EXTENT_QUERY);
  const int64_t step = byQuery ? queries.rows : kBatch;
  Truth truth;
  if (!arguments.truth.empty())
    truth = readTruth(arguments.truth, queries.rows, arguments.k);
  std::optional<runtime::ResultWriter> writer;
  if (!arguments.output.empty())
    writer.emplace(arguments.output);
  const double loadMs = msSince(start) - compileMs;

  Results results{queries.rows, arguments.k, {}, {}};
  results.ids.resize(static_cast<size_t>(queries.rows) * arguments.k);
  results.distances.resize(results.ids.size());
  const size_t rowBytes = static_cast<size_t>(queries.dims) * elementSize(queries.element);
  runtime::SearchStats total;
  std::vector<double> searchMs;
  for (int repeat = 0; repeat < arguments.repeat; ++repeat) {
    double ms = 0;
    for (int64_t first = 0; first < queries.rows; first += step) {
      InterruptGuard::check();
      runtime::MatrixView batch = queries.view();
      batch.data = queries.storage.data() + first * rowBytes;
      batch.rows = std::min(step, queries.rows - first);
      runtime::SearchStats stats;
      backend->search(index, metric, captures, batch, arguments.k, arguments.params,
                      results.ids.data() + first * arguments.k,
                      results.distances.data() + first * arguments.k, &stats);
      total.linkMs += stats.linkMs, total.links += stats.links, total.uploadMs += stats.uploadMs;
      ms += stats.searchMs;
      total.family = stats.family, total.why = stats.why;
    }
    searchMs.push_back(ms);
  }
  InterruptGuard::check();
  if (writer)
    writer->write(results.ids.data(), results.distances.data(), results.rows, results.k);
  if (!arguments.quiet)
    show(results, arguments.show, 10);
  if (!arguments.truth.empty())
    std::printf("recall@%d %.4f\n", arguments.k, recall(truth, results));
  if (!arguments.stats)
    return;
  std::sort(searchMs.begin(), searchMs.end());
  const double median = searchMs[searchMs.size() / 2];
  print(stdout, "device   " + backend->describe() + "\n");
  std::printf(
      "load     %.1f ms\ncompile  %.1f ms\nlink     %.1f ms (%d link%s)\nupload   %.1f ms\n",
      loadMs, compileMs, total.linkMs, total.links, total.links == 1 ? "" : "s", total.uploadMs);
  std::printf("kernels  %s (%s)\n", total.family.c_str(), total.why.c_str());
  std::printf("search   %.3f ms for %lld queries, %.0f queries/s (median of %zu)\n", median,
              static_cast<long long>(results.rows), results.rows / median * 1e3, searchMs.size());
}

void tool::addSearchCommand(CLI::App &app) {
  CLI::App *command =
      app.add_subcommand("search", "Find the nearest neighbours of queries with a metric");
  auto arguments = std::make_shared<SearchArguments>();
  command->add_option("--index", arguments->index, "Index made by 'annudf build'")->required();
  command
      ->add_option("--queries", arguments->queries,
                   "Vectors, of the index's type or another that the metric accepts")
      ->required();
  command
      ->add_option("--metric", arguments->metric,
                   "Artifact (.annudf), source (.mlir), or the name of a built-in metric: " +
                       metricNames())
      ->required();
  command
      ->add_option("--capture", arguments->captures,
                   "NAME=FILE (.npy, .fbin, .ibin) or NAME=NUMBER, once for each capture")
      ->allow_extra_args(false);
  command->add_option("-k", arguments->k, "Neighbours of a query, at most the index's rows");
  command->add_option("--probes", arguments->params.nProbes,
                      "Lists to scan for a query (not given: at most the index's lists)");
  command->add_option("--device", arguments->device, "Where to search")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  command->add_option("--gpu", arguments->gpu, "Number of the GPU");
  command->add_option("--threads", arguments->threads, "CPU threads, 0 for all cores")
      ->check(CLI::Range(0, runtime::kMaxThreads));
  command->add_option("--rows", arguments->rows, "Only the first N queries")
      ->check(CLI::Range(int64_t{1}, INT64_MAX));
  command->add_flag("--as-f32", arguments->asF32, "Convert the queries to float32");
  command->add_option("--truth", arguments->truth, "True neighbours (.ibin): prints recall@k");
  command->add_option("-o,--output", arguments->output, "Write PREFIX.ibin and PREFIX.fbin");
  command->add_option("--show", arguments->show, "Queries whose neighbours are printed");
  command->add_option("--repeat", arguments->repeat, "Search so many times; times are medians")
      ->check(CLI::Range(1, 1000000));
  command->add_flag("--stats", arguments->stats, "Print what compile, link and search took");
  command->add_flag("--allow-non-finite", arguments->allowNonFinite,
                    "Accept infinities and NaN in captures");
  command->add_flag("-q,--quiet", arguments->quiet, "Do not print neighbours");
  command->callback([arguments, command] {
    arguments->probesGiven = command->count("--probes") != 0;
    runSearch(*arguments);
  });
}
