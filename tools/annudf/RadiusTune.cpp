//===- RadiusTune.cpp - annudf radius and annudf tune ---------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetricOptions.h"

#include "annudf/runtime/engine/Radius.h"
#include "annudf/runtime/ivf_flat/Tune.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <limits>

using namespace annudf;
using namespace annudf::tool;

namespace {
struct RadiusTuneArguments {
  std::string index, queries, output;
  MetricOptions metric;
  runtime::ivf_flat::SearchParams probes;
  runtime::SearchParams params = {.waitForLinks = true};
  float radius = 0;
  int64_t mostResults = ANNUDF_DEFAULT_MAX_RESULTS;
  double recall = ANNUDF_DEFAULT_RECALL;
  int k = ANNUDF_DEFAULT_K, show = 5;
  int64_t rows = 0;
  bool asF32 = false, quiet = false;
};

/// What both commands read.
struct Loaded {
  Engine engine;
  runtime::Index index;
  runtime::Matrix queries;
  runtime::BoundCaptures captures;

  explicit Loaded(const RadiusTuneArguments &arguments)
      : engine(arguments.metric), index(runtime::Index::load(arguments.index)),
        queries(loadFor(index, arguments.queries, arguments.rows, arguments.asF32)) {
    runtime::checkSearch(index, engine.metric, queries.view(), 1, {});
    captures = engine.bind(arguments.metric, index, queries.view());
  }
};
} // namespace

/// The format of big-ann-benchmarks' range search: queries and neighbours in all (int32), the
/// number of each query's neighbours (int32), all ids (int32), all distances (f32).
static void write(AtomicFileWriter &writer, const std::string &path,
                  const runtime::WithinRadius &found) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  const auto queries = static_cast<int64_t>(found.starts.size()) - 1;
  if (queries > kMost || found.starts.back() > kMost)
    throw Error(ErrorKind::Input, path + ": " + std::to_string(found.starts.back()) +
                                      " neighbours of " + std::to_string(queries) +
                                      " queries; the file counts them as int32");
  std::vector<int32_t> numbers = {static_cast<int32_t>(queries),
                                  static_cast<int32_t>(found.starts.back())};
  for (int64_t q = 0; q < queries; ++q)
    numbers.push_back(static_cast<int32_t>(found.starts[static_cast<size_t>(q) + 1] -
                                           found.starts[static_cast<size_t>(q)]));
  for (const int64_t id : found.ids) {
    if (id > kMost)
      throw Error(ErrorKind::Input,
                  path + ": id " + std::to_string(id) + " does not fit the file's int32");
    numbers.push_back(static_cast<int32_t>(id));
  }
  writer.write(numbers.data(), numbers.size() * sizeof(int32_t));
  writer.write(found.distances.data(), found.distances.size() * sizeof(float));
  writer.finish();
  writer.commit();
}

static void show(const runtime::WithinRadius &found, int64_t queries) {
  constexpr int64_t kShown = 10;
  queries = std::min(queries, static_cast<int64_t>(found.starts.size()) - 1);
  for (int64_t q = 0; q < queries; ++q) {
    const int64_t first = found.starts[static_cast<size_t>(q)];
    const int64_t count = found.starts[static_cast<size_t>(q) + 1] - first;
    std::printf("query %lld: %lld within", static_cast<long long>(q),
                static_cast<long long>(count));
    for (int64_t i = first; i < first + std::min(count, kShown); ++i)
      std::printf("  %lld (%g)", static_cast<long long>(found.ids[static_cast<size_t>(i)]),
                  found.distances[static_cast<size_t>(i)]);
    std::printf(count > kShown ? "  ...\n" : "\n");
  }
}

static void runRadius(RadiusTuneArguments arguments) {
  InterruptGuard guard;
  std::optional<AtomicFileWriter> writer;
  if (!arguments.output.empty()) {
    std::vector<std::string> inputs = arguments.metric.inputs();
    inputs.insert(inputs.end(), {arguments.index, arguments.queries});
    checkOutput(guard, arguments.output, inputs);
  }
  const Loaded loaded(arguments);
  arguments.params.candidates = loaded.index.candidates(arguments.probes);
  if (!arguments.output.empty())
    writer.emplace(arguments.output);
  arguments.params.progress = progressBar(true);
  runtime::SearchStats stats;
  const runtime::WithinRadius found = loaded.engine.backend->searchRadius(
      loaded.index, loaded.engine.metric, loaded.captures, loaded.queries.view(), arguments.radius,
      arguments.mostResults, arguments.params, &stats);
  InterruptGuard::check();
  loaded.engine.warnOfNan(loaded.index, loaded.captures, loaded.queries.view(), stats);
  if (writer)
    write(*writer, arguments.output, found);
  if (arguments.quiet)
    return;
  show(found, arguments.show);
  std::printf("%lld neighbours of %lld queries\n", static_cast<long long>(found.starts.back()),
              static_cast<long long>(loaded.queries.rows));
}

static void runTune(RadiusTuneArguments arguments) {
  InterruptGuard guard;
  const Loaded loaded(arguments);
  runtime::checkSearch(loaded.index, loaded.engine.metric, loaded.queries.view(), arguments.k, {});
  arguments.params.progress = progressBar(true);
  runtime::SearchStats stats;
  const uint32_t probes = runtime::tuneProbes(
      *loaded.engine.backend, loaded.index, loaded.engine.metric, loaded.captures,
      loaded.queries.view(), arguments.k, arguments.recall, arguments.params, &stats);
  loaded.engine.warnOfNan(loaded.index, loaded.captures, loaded.queries.view(), stats);
  if (arguments.quiet)
    std::printf("%u\n", probes);
  else
    std::printf("--probes %u of %u lists: recall@%d of %lld queries is at least %g\n", probes,
                loaded.index.nLists(), arguments.k, static_cast<long long>(loaded.queries.rows),
                arguments.recall);
}

static void addOptions(CLI::App *command, RadiusTuneArguments &arguments) {
  command->add_option("--index", arguments.index, "Index made by 'annudf build'")->required();
  command
      ->add_option("--queries", arguments.queries,
                   "Vectors, of the index's type or another that the metric accepts")
      ->required();
  arguments.metric.addTo(command);
  addRowsOption(command, arguments.rows, "queries");
  command->add_flag("--as-f32", arguments.asF32, "Convert the queries to float32");
}

void tool::addRadiusCommand(CLI::App &app) {
  CLI::App *command = app.add_subcommand("radius", "Find all rows within a radius of each query");
  auto arguments = std::make_shared<RadiusTuneArguments>();
  addOptions(command, *arguments);
  command
      ->add_option("--radius", arguments->radius,
                   "Largest distance to find (for order max, the smallest)")
      ->required();
  command
      ->add_option("--max-results", arguments->mostResults,
                   "Most rows to find for all queries together; more are an error")
      ->check(CLI::Range(int64_t{1}, int64_t{ANNUDF_MAX_RESULTS}));
  command->add_option("--probes", arguments->probes.nProbes,
                      "Lists to scan per query; if the index has fewer, all of them");
  command->add_option(
      "-o,--output", arguments->output,
      "Write the neighbours in the range search format of big-ann-benchmarks: numbers of queries "
      "and of neighbours, neighbours per query (int32), ids (int32), distances (float32)");
  command->add_option("--show", arguments->show, "Number of queries to print");
  command->add_flag("-q,--quiet", arguments->quiet, "Do not print neighbours");
  command->callback([arguments] { runRadius(*arguments); });
}

void tool::addTuneCommand(CLI::App &app) {
  CLI::App *command =
      app.add_subcommand("tune", "Find how many lists to scan for a recall, on your own queries");
  auto arguments = std::make_shared<RadiusTuneArguments>();
  addOptions(command, *arguments);
  command->add_option("-k", arguments->k, "Neighbours per query");
  command->add_option("--recall", arguments->recall,
                      "Share of the true neighbours to find, above 0 and at most 1");
  command->add_flag("-q,--quiet", arguments->quiet, "Print the number of probes alone");
  command->callback([arguments] { runTune(*arguments); });
}
