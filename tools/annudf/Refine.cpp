//===- Refine.cpp - annudf refine -----------------------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetricOptions.h"

#include "annudf/runtime/cuda/Cuda.h"
#include "annudf/runtime/engine/Refine.h"
#include "annudf/runtime/vectors/Matrix.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>

using namespace annudf;
using namespace annudf::tool;

namespace {
struct RefineArguments {
  std::string dataset, index, queries, candidates, output; ///< Rows of one of the first two.
  MetricOptions metric;
  int k = ANNUDF_DEFAULT_K, show = 5;
  int64_t rows = 0;
  bool asF32 = false, bits = false, quiet = false;
};

/// Numbers of rows, a row of them for each query.
struct Candidates {
  std::vector<int64_t> ids;
  int64_t rows = 0, columns = 0;
};
} // namespace

/// From .ibin, or a .npy of int32 or int64.
static Candidates readCandidates(const std::string &path) {
  Candidates read;
  if (!path.ends_with(".npy")) {
    int32_t columns = 0;
    const std::vector<int32_t> ids = runtime::readIds(path, read.rows, columns);
    read.columns = columns;
    read.ids.assign(ids.begin(), ids.end());
    return read;
  }
  const runtime::NumericArray array = runtime::readCapture(path);
  if (array.shape.size() != 2 || (array.dtype != "i32" && array.dtype != "i64"))
    throw Error(ErrorKind::Input, path + ": " + std::to_string(array.shape.size()) + "-D of " +
                                      array.dtype +
                                      "; candidates are 2-D of i32 or i64, one row a query");
  read.rows = array.shape[0], read.columns = array.shape[1];
  read.ids.resize(static_cast<size_t>(read.rows * read.columns));
  if (array.dtype == "i64") {
    std::memcpy(read.ids.data(), array.storage.data(), array.storage.size());
    return read;
  }
  std::vector<int32_t> narrow(read.ids.size());
  std::memcpy(narrow.data(), array.storage.data(), array.storage.size());
  std::ranges::copy(narrow, read.ids.begin());
  return read;
}

/// What is ranked: an index, or the rows of a data set.
struct Ranked {
  std::optional<runtime::Index> index;
  runtime::Matrix rows;
};

static Ranked loadRows(const RefineArguments &arguments) {
  if (!arguments.index.empty())
    return {runtime::Index::load(arguments.index), {}};
  runtime::Matrix rows = loadVectors(arguments.dataset, 0, arguments.asF32);
  return {std::nullopt,
          arguments.bits ? asBits(std::move(rows), arguments.dataset) : std::move(rows)};
}

/// \param ids, distances  with room for what there is to find.
static void rank(const Engine &engine, const Ranked &of, const Candidates &candidates,
                 const runtime::Matrix &queries, const RefineArguments &arguments,
                 std::vector<int64_t> &ids, std::vector<float> &distances,
                 runtime::SearchStats &stats) {
  const runtime::BoundCaptures captures =
      of.index ? engine.bind(arguments.metric, *of.index, queries.view())
               : runtime::BoundCaptures::bind(engine.metric.artifact.manifest,
                                              {of.rows.dims, of.rows.rows, queries.rows},
                                              readCaptures(arguments.metric.captures, "--capture"),
                                              arguments.metric.allowNonFinite);
  runtime::SearchParams params;
  params.waitForLinks = true;
  params.progress = progressBar(true);
  const runtime::CandidateRows given = {candidates.ids.data(), candidates.rows, candidates.columns};
  runtime::Backend &backend = *engine.backend;
  auto *const cuda = dynamic_cast<runtime::CudaBackend *>(&backend);
  if (of.index && cuda)
    cuda->refineOwn(*of.index, given, {}, engine.metric, captures, queries.view(), {}, arguments.k,
                    params, ids.data(), distances.data(), &stats);
  else if (of.index)
    runtime::refineOwn(backend, *of.index, given, engine.metric, captures, queries.view(),
                       arguments.k, params, ids.data(), distances.data(), &stats,
                       arguments.metric.threads);
  else if (cuda)
    cuda->refine(of.rows.view(), {}, given, {}, engine.metric, captures, queries.view(), {},
                 arguments.k, params, ids.data(), distances.data(), &stats);
  else
    runtime::refine(backend, of.rows.view(), given, engine.metric, captures, queries.view(),
                    arguments.k, params, ids.data(), distances.data(), &stats,
                    arguments.metric.threads);
}

static void runRefine(const RefineArguments &arguments) {
  InterruptGuard guard;
  std::vector<std::string> inputs = arguments.metric.inputs();
  inputs.insert(inputs.end(),
                {arguments.dataset, arguments.index, arguments.queries, arguments.candidates});
  if (!arguments.output.empty())
    for (const char *ending : {".ibin", ".fbin"})
      checkOutput(guard, arguments.output + ending, inputs);
  if (arguments.dataset.empty() && arguments.index.empty())
    throw Error(ErrorKind::Usage, "no rows are given; add --dataset or --index");
  const Engine engine(arguments.metric);
  const Ranked of = loadRows(arguments);
  runtime::Matrix queries =
      of.index ? loadFor(*of.index, arguments.queries, arguments.rows, arguments.asF32)
               : loadVectors(arguments.queries, arguments.rows, arguments.asF32);
  if (arguments.bits && !of.index)
    queries = asBits(std::move(queries), arguments.queries);
  Candidates candidates = readCandidates(arguments.candidates);
  if (arguments.rows != 0) // Those of the first queries.
    candidates.rows = std::min(candidates.rows, queries.rows);
  std::optional<runtime::ResultWriter> writer;
  if (!arguments.output.empty())
    writer.emplace(arguments.output);
  // Before there is room for what it finds.
  if (of.index)
    runtime::checkRefine(*of.index, queries.view(), candidates.rows, candidates.columns,
                         arguments.k);
  else
    runtime::checkRefine(of.rows.view(), queries.view(), candidates.rows, candidates.columns,
                         arguments.k);
  std::vector<int64_t> ids(static_cast<size_t>(queries.rows) * static_cast<size_t>(arguments.k));
  std::vector<float> distances(ids.size());
  runtime::SearchStats stats;
  rank(engine, of, candidates, queries, arguments, ids, distances, stats);
  InterruptGuard::check();
  if (stats.nanShare() > runtime::kNanShare)
    print(stderr, "annudf: warning: " + nanText(stats) + ", and such rows are never found; query " +
                      std::to_string(stats.nanQuery) + ", row " + std::to_string(stats.nanRow) +
                      " is one\n");
  if (writer)
    writer->write(ids.data(), distances.data(), queries.rows, arguments.k);
  if (!arguments.quiet)
    showResults(ids.data(), distances.data(), queries.rows, arguments.k, arguments.show);
}

void tool::addRefineCommand(CLI::App &app) {
  CLI::App *command =
      app.add_subcommand("refine", "Rank candidates that another index has found by a metric");
  auto arguments = std::make_shared<RefineArguments>();
  CLI::Option *dataset = command->add_option(
      "--dataset", arguments->dataset, "Vectors: .fbin, .hbin (f16), .i8bin, .u8bin or 2-D .npy");
  command
      ->add_option("--index", arguments->index,
                   "In place of --dataset: index made by 'annudf build', whose rows are ranked")
      ->excludes(dataset);
  command
      ->add_option("--queries", arguments->queries,
                   "Vectors, of the dataset's type or another that the metric accepts")
      ->required();
  command
      ->add_option("--candidates", arguments->candidates,
                   "Numbers of the dataset's rows, or ids of the index, one row a query; -1 for "
                   "none: .ibin, or 2-D .npy of int32 or int64")
      ->required();
  arguments->metric.addTo(command);
  command->add_option("-k", arguments->k,
                      "Neighbours of a query, at most as many as it has candidates");
  addRowsOption(command, arguments->rows, "queries");
  command->add_flag("--as-f32", arguments->asF32, "Convert the vectors to float32");
  addBitsFlag(command, arguments->bits);
  command->add_option("-o,--output", arguments->output, "Write PREFIX.ibin and PREFIX.fbin");
  command->add_option("--show", arguments->show, "Number of queries to print");
  command->add_flag("-q,--quiet", arguments->quiet, "Do not print neighbours");
  command->callback([arguments] { runRefine(*arguments); });
}
