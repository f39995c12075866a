//===- Search.cpp - annudf search and annudf knn -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetricOptions.h"

#include "annudf/runtime/engine/Columns.h"
#include "annudf/runtime/engine/Goal.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <set>

using namespace annudf;
using namespace annudf::tool;

namespace {
struct SearchArguments {
  std::string index, base, queries, truth, output; ///< An index, or vectors to search exactly.
  MetricOptions metric;
  std::string filter;
  std::vector<std::string> filterCaptures, columns; ///< Columns of `base`.
  runtime::ivf_flat::SearchParams probes;
  runtime::SearchParams params;
  runtime::SearchGoal goal;
  std::string groupBy;
  std::shared_ptr<const std::vector<int64_t>> groups; ///< What the goal points to.
  int k = ANNUDF_DEFAULT_K, repeat = 1, show = 5;
  int64_t rows = 0;
  bool exact = false, asF32 = false, bits = false, stats = false, quiet = false;
  bool mmap = false;
};

struct Results {
  int64_t rows = 0;
  int k = 0;
  std::vector<int64_t> ids;
  std::vector<float> distances;
};
} // namespace

/// Queries given to a backend at once.
static constexpr int64_t kBatch = 10000;

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
    throw Error(ErrorKind::Input,
                path + ": has " + std::to_string(rows) + " x " + std::to_string(truth.columns) +
                    " ids; recall@" + std::to_string(k) + " of " + std::to_string(queries) +
                    " queries needs " + std::to_string(queries) + " x " + std::to_string(k));
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

/// What needs no file to be read.
static void checkArguments(const SearchArguments &arguments, const InterruptGuard &guard) {
  if (arguments.filter.empty() && !arguments.filterCaptures.empty())
    throw Error(ErrorKind::Usage, "--filter-capture " + arguments.filterCaptures.front() +
                                      ": no --filter is given; add --filter, or leave it out");
  if (!arguments.output.empty()) {
    std::vector<std::string> inputs = arguments.metric.inputs();
    inputs.insert(inputs.end(), {arguments.index, arguments.base, arguments.queries,
                                 arguments.truth, arguments.filter});
    addFiles(arguments.filterCaptures, inputs);
    addFiles(arguments.columns, inputs);
    for (const char *ending : {".ibin", ".fbin"})
      checkOutput(guard, arguments.output + ending, inputs);
  }
}

/// Searches for queries at once, until they have reached the goal if there is one.
static void searchBatch(const Engine &engine, const runtime::Index &index,
                        const runtime::BoundCaptures &captures, const runtime::MatrixView &queries,
                        const SearchArguments &arguments, const runtime::SearchParams &params,
                        int64_t *ids, float *distances, runtime::SearchStats &stats) {
  if (!arguments.goal.isSet()) {
    engine.backend->search(index, engine.metric, captures, queries, arguments.k, params, ids,
                           distances, &stats);
    return;
  }
  const auto search = [&](const runtime::QueryPart &part, int k, const runtime::SearchParams &of,
                          int64_t *toIds, float *toDistances, runtime::SearchStats *cost) {
    engine.backend->search(index, engine.metric, captures, runtime::partOf(queries, part), k, of,
                           toIds, toDistances, cost);
  };
  runtime::searchToGoal(runtime::goalSearchOf(*engine.backend, index, engine.metric, queries.rows),
                        arguments.k, params, arguments.goal, search, ids, distances, &stats);
}

/// Searches for all queries, batch by batch, and adds what it cost to `total`.
/// \returns milliseconds.
static double searchAll(const Engine &engine, const runtime::Index &index,
                        const runtime::BoundCaptures &captures, const runtime::Matrix &queries,
                        const SearchArguments &arguments, Results &results,
                        runtime::SearchStats &total) {
  // A predicate may have values for all queries, as captures may.
  const int64_t step =
      arguments.params.predicate ? queries.rows : engine.batch(queries.rows, kBatch);
  double ms = 0;
  // Those of one search of all queries.
  total.scored = total.nanDistances = total.widened = 0;
  for (int64_t first = 0; first < queries.rows; first += step) {
    runtime::SearchStats stats;
    runtime::SearchParams params = arguments.params;
    params.firstQuery = first;
    params.waitForLinks = true; // There is no search to come that would run what is linked.
    searchBatch(engine, index, captures, rowsOf(queries, first, step), arguments, params,
                results.ids.data() + first * arguments.k,
                results.distances.data() + first * arguments.k, stats);
    InterruptGuard::check();
    total.linkMs += stats.linkMs, total.links += stats.links, total.uploadMs += stats.uploadMs;
    total.diskHits += stats.diskHits;
    total.addPairs(stats);
    total.widened += stats.widened;
    for (const runtime::StageTime &stage : stats.stages)
      runtime::addStage(total.stages, stage.name, stage.ms);
    const double share = double(std::min(step, queries.rows - first)) / double(queries.rows);
    total.rowsPerQuery += stats.rowsPerQuery * share;
    total.evaluatedPerQuery += stats.evaluatedPerQuery * share;
    if (!stats.fault.empty() && total.fault.empty()) {
      total.fault = stats.fault; // Once, though every search may meet it.
      print(stderr, "annudf: warning: " + stats.fault + "\n");
    }
    ms += stats.searchMs;
    total.passingShare = stats.passingShare;
    total.family = stats.family, total.why = stats.why, total.slow = stats.slow;
    total.workspaceBytes = std::max(total.workspaceBytes, stats.workspaceBytes);
  }
  return ms;
}

/// What --stats prints.
static void tellStats(const Engine &engine, const SearchArguments &arguments,
                      const Results &results, const runtime::SearchStats &total,
                      std::vector<double> searchMs, double loadMs, double filterMs) {
  std::sort(searchMs.begin(), searchMs.end());
  const double median = searchMs[searchMs.size() / 2];
  print(stdout, "device   " + engine.backend->describe() + "\n");
  std::printf("load     %.1f ms\ncompile  %.1f ms\nlink     %.1f ms (%d link%s, %d from "
              "disk)\nupload   %.1f ms\n",
              loadMs, engine.compileMs, total.linkMs, total.links, total.links == 1 ? "" : "s",
              total.diskHits, total.uploadMs);
  if (arguments.params.filter)
    std::printf("filter   %.1f ms, %lld of %lld ids pass\n", filterMs,
                static_cast<long long>(arguments.params.filter->count()),
                static_cast<long long>(arguments.params.filter->bits()));
  if (arguments.params.predicate)
    std::printf("filter   %.1f ms, %.3g %% of the scanned rows pass\n", filterMs,
                total.passingShare * 100);
  std::printf("kernels  %s (%s%s%s)\n", total.family.c_str(), total.why.c_str(),
              total.slow.empty() ? "" : "; ", total.slow.c_str());
  if (total.workspaceBytes > 0)
    std::printf("memory   %.1f MiB of workspace on the device\n",
                double(total.workspaceBytes) / double(1 << 20));
  std::printf("search   %.3f ms for %lld queries, %.0f queries/s (median of %zu)\n", median,
              static_cast<long long>(results.rows), results.rows / median * 1e3, searchMs.size());
  std::printf("stages  ");
  for (const runtime::StageTime &stage : total.stages)
    std::printf("%s %s %.3f", &stage == total.stages.data() ? "" : ",", stage.name.c_str(),
                stage.ms);
  std::printf(" ms; %.1f rows a query scanned, %.1f computed by the metric (%.2f %%)\n",
              total.rowsPerQuery, total.evaluatedPerQuery,
              total.rowsPerQuery > 0 ? total.evaluatedPerQuery / total.rowsPerQuery * 100 : 0);
  if (arguments.goal.maxProbes > 0)
    std::printf("widened  %lld of %lld queries scanned more than %u lists\n",
                static_cast<long long>(total.widened), static_cast<long long>(results.rows),
                arguments.probes.nProbes);
  if (total.nanDistances > 0)
    print(stdout, "nan      " + nanText(total) + "\n");
}

static runtime::Matrix loadQueries(const runtime::Index &index, const SearchArguments &arguments) {
  if (arguments.base.empty())
    return loadFor(index, arguments.queries, arguments.rows, arguments.asF32);
  if (arguments.k > index.size())
    throw Error(ErrorKind::Usage, "-k " + std::to_string(arguments.k) + ": " + arguments.base +
                                      " has only " + std::to_string(index.size()) + " vectors");
  return loadAgainst(index, arguments.base, arguments.queries, arguments.rows, arguments.asF32);
}

/// Reads the groups of --group-by: a column of the index, or a file.
static void loadGroups(SearchArguments &arguments, const runtime::Index &index) {
  const std::string &from = arguments.groupBy;
  if (from.empty())
    return;
  if (!from.ends_with(".npy")) {
    arguments.groups = runtime::integersById(index, from, "--group-by");
  } else {
    const runtime::NumericArray array = runtime::readCapture(from);
    if (array.shape.size() != 1 || (array.dtype != "i32" && array.dtype != "i64"))
      throw Error(ErrorKind::Input, from + ": holds " + std::to_string(array.shape.size()) + "-D " +
                                        array.dtype +
                                        "; groups are a vector of int32 or int64, one an id");
    std::vector<int64_t> groups(static_cast<size_t>(array.shape[0]));
    for (size_t id = 0; id < groups.size(); ++id)
      if (array.dtype == "i64") {
        std::memcpy(&groups[id], array.storage.data() + id * 8, 8);
      } else {
        int32_t group = 0;
        std::memcpy(&group, array.storage.data() + id * 4, 4);
        groups[id] = group;
      }
    arguments.groups = std::make_shared<const std::vector<int64_t>>(std::move(groups));
  }
  arguments.goal.groups =
      runtime::RowGroups{arguments.groups->data(), int64_t(arguments.groups->size())};
  runtime::checkGroups(*arguments.goal.groups, index.rowExtent());
}

static void runSearch(SearchArguments arguments) {
  InterruptGuard guard;
  checkArguments(arguments, guard);
  auto start = std::chrono::steady_clock::now();
  const Engine engine(arguments.metric);
  engine.backend->checkFamily(arguments.params.family); // Before files are read.
  const runtime::Metric &metric = engine.metric;
  // A search whose time is told, or that comes again, is one of a store.
  const bool inPlace =
      arguments.metric.device != "cuda" && arguments.repeat == 1 && !arguments.stats;
  runtime::Matrix rows;
  runtime::Index index =
      arguments.base.empty()
          ? runtime::Index::load(arguments.index,
                                 arguments.mmap ? runtime::FileUse::Map : runtime::FileUse::Read)
          : engine.indexOf(arguments.base, arguments.asF32, arguments.bits,
                           arguments.metric.threads, inPlace ? &rows : nullptr);
  if (!arguments.columns.empty())
    index.addColumns(readColumns(arguments.columns));
  const runtime::Matrix queries = loadQueries(index, arguments);
  if (!arguments.exact)
    arguments.params.candidates = index.candidates(arguments.probes);
  runtime::checkSearch(index, metric, queries.view(), arguments.k, arguments.params);
  const runtime::BoundCaptures captures = engine.bind(arguments.metric, index, queries.view());
  if (!arguments.base.empty())
    runtime::checkOwnRows(captures, index.size());
  runtime::checkGoal(arguments.goal, std::min(arguments.probes.nProbes, index.nLists()));
  loadGroups(arguments, index);
  double filterMs = 0;
  if (!arguments.filter.empty())
    loadFilter(arguments.params, arguments.filter, arguments.filterCaptures,
               arguments.metric.allowNonFinite, *engine.backend, index, queries.rows,
               arguments.metric.device == "cuda", !arguments.base.empty(), &filterMs);
  Truth truth;
  if (!arguments.truth.empty())
    truth = readTruth(arguments.truth, queries.rows, arguments.k);
  std::optional<runtime::ResultWriter> writer;
  if (!arguments.output.empty())
    writer.emplace(arguments.output);
  const double loadMs = msSince(start) - engine.compileMs - filterMs;

  arguments.params.progress = progressBar(true);
  Results results{queries.rows, arguments.k, {}, {}};
  results.ids.resize(static_cast<size_t>(queries.rows) * arguments.k);
  results.distances.resize(results.ids.size());
  runtime::SearchStats total;
  std::vector<double> searchMs;
  searchMs.reserve(static_cast<size_t>(arguments.repeat));
  for (int repeat = 0; repeat < arguments.repeat; ++repeat)
    searchMs.push_back(searchAll(engine, index, captures, queries, arguments, results, total));
  if (arguments.stats) { // By itself: on a GPU stages that are timed do not overlap.
    arguments.params.timeStages = true;
    searchAll(engine, index, captures, queries, arguments, results, total);
  }
  InterruptGuard::check();
  engine.warnOfNan(index, captures, queries.view(), total);
  if (writer)
    writer->write(results.ids.data(), results.distances.data(), results.rows, results.k);
  if (!arguments.quiet)
    showResults(results.ids.data(), results.distances.data(), results.rows, results.k,
                arguments.show);
  if (!arguments.truth.empty())
    std::printf("recall@%d %.4f\n", arguments.k, recall(truth, results));
  if (arguments.stats)
    tellStats(engine, arguments, results, total, std::move(searchMs), loadMs, filterMs);
}

/// What both commands take.
static void addOptions(CLI::App *command, SearchArguments &arguments) {
  command
      ->add_option("--queries", arguments.queries,
                   "Vectors, of the rows' type or another that the metric accepts")
      ->required();
  arguments.metric.addTo(command);
  command->add_option("--filter", arguments.filter,
                      "Find only rows that pass: a filter (.annudf, .mlir), or a .npy of bool, one "
                      "entry an id, or of uint32, one bit an id");
  command
      ->add_option("--filter-capture", arguments.filterCaptures,
                   "NAME=FILE or NAME=NUMBER, once for each capture of --filter")
      ->allow_extra_args(false);
  command->add_option("--group-by", arguments.groupBy,
                      "Find the best row of each group: a column of the index, or a .npy of int32 "
                      "or int64, one entry an id");
  command->add_option("-k", arguments.k,
                      "Neighbours of a query, at most as many as there are rows");
  addRowsOption(command, arguments.rows, "queries");
  command->add_flag("--as-f32", arguments.asF32, "Convert the vectors to float32");
  command->add_option("--truth", arguments.truth, "True neighbours (.ibin): prints recall@k");
  command->add_option("-o,--output", arguments.output, "Write PREFIX.ibin and PREFIX.fbin");
  command->add_option("--show", arguments.show, "Number of queries to print");
  command->add_option("--repeat", arguments.repeat, "Number of searches; times are medians")
      ->check(CLI::Range(1, 1000000));
  command->add_option("--family", arguments.params.family,
                      "Kernels to run, as --stats names them (default: the fastest)");
  command->add_flag("--stats", arguments.stats,
                    "Print times of compile, link and search; one more search times its stages");
  command->add_flag("-q,--quiet", arguments.quiet, "Do not print neighbours");
}

void tool::addSearchCommand(CLI::App &app) {
  CLI::App *command =
      app.add_subcommand("search", "Find the nearest neighbours of queries with a metric");
  auto arguments = std::make_shared<SearchArguments>();
  command->add_option("--index", arguments->index, "Index made by 'annudf build'")->required();
  command->add_flag("--mmap", arguments->mmap,
                    "Leave the rows in the file and read those of the lists that are scanned");
  addOptions(command, *arguments);
  CLI::Option *probes =
      command->add_option("--probes", arguments->probes.nProbes,
                          "Lists to scan per query; if the index has fewer, all of them");
  CLI::Option *most =
      command
          ->add_option("--max-probes", arguments->goal.maxProbes,
                       "Queries that find too few rows scan twice their lists, up to so many")
          ->check(CLI::Range(int64_t(1), int64_t(runtime::kMaxLists)));
  command
      ->add_option("--min-rows", arguments->goal.minRows,
                   "Rows that a query must find before it stops (default: -k)")
      ->check(CLI::Range(int64_t(1), int64_t(ANNUDF_MAX_K)))
      ->needs(most);
  command->add_flag("--exact", arguments->exact, "Scan all lists")
      ->excludes(probes)
      ->excludes(most);
  command->callback([arguments] { runSearch(*arguments); });
}

void tool::addKnnCommand(CLI::App &app) {
  CLI::App *command = app.add_subcommand(
      "knn", "Find the nearest neighbours of queries among vectors, exactly and without an index");
  auto arguments = std::make_shared<SearchArguments>();
  arguments->exact = true;
  command
      ->add_option("--base", arguments->base,
                   "Vectors: .fbin, .hbin (f16), .i8bin, .u8bin or 2-D .npy")
      ->required();
  addColumnOption(command, arguments->columns);
  addOptions(command, *arguments);
  addBitsFlag(command, arguments->bits);
  command->callback([arguments] { runSearch(*arguments); });
}
