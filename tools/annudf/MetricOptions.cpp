//===- MetricOptions.cpp - What every command with a metric takes ---------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetricOptions.h"

#include "annudf/ABI/annudf_abi.h"
#include "annudf/runtime/cuda/Cuda.h"
#include "annudf/runtime/engine/Explain.h"
#include "annudf/runtime/ivf_flat/Index.h"
#include "annudf/runtime/support/Parallel.h"

#include <algorithm>
#include <cstdio>

using namespace annudf;
using namespace annudf::tool;

void MetricOptions::addTo(CLI::App *command) {
  command
      ->add_option("--metric", metric,
                   "Artifact (.annudf), source (.mlir), or the name of a built-in metric: " +
                       metricNames())
      ->required();
  command
      ->add_option("--capture", captures,
                   "NAME=FILE (.npy, .fbin, .ibin) or NAME=NUMBER, once for each capture")
      ->allow_extra_args(false);
  addDeviceOptions(command, device, gpu, "Where to search", &gpus);
  command->add_option("--threads", threads, "CPU threads, 0 for all cores")
      ->check(CLI::Range(0, runtime::kMaxThreads));
  command->add_flag("--allow-non-finite", allowNonFinite, "Accept infinities and NaN in captures");
}

std::vector<std::string> MetricOptions::inputs() const {
  std::vector<std::string> files = {metric};
  addFiles(captures, files);
  return files;
}

/// Where the options say.
static std::unique_ptr<runtime::Backend> backendOf(const MetricOptions &options) {
  if (options.device != "cuda")
    return runtime::makeCpuBackend(options.threads);
  if (options.gpus.numbers.empty())
    return runtime::makeCudaBackend(options.gpu);
  return runtime::makeCudaTeamBackend(options.gpus.numbers, options.gpus.mode == "sharded"
                                                                ? runtime::TeamMode::Sharded
                                                                : runtime::TeamMode::Replicated);
}

Engine::Engine(const MetricOptions &options)
    : backend(backendOf(options)),
      metric(loadMetric(options.metric, options.device == "cuda", &compileMs)) {}

runtime::BoundCaptures Engine::bind(const MetricOptions &options, const runtime::Index &index,
                                    const runtime::MatrixView &queries) const {
  return tool::bind(metric, extentsOf(index, queries), index,
                    readCaptures(options.captures, "--capture"), options.allowNonFinite);
}

int64_t Engine::batch(int64_t queries, int64_t most) const {
  return runtime::hasExtent(metric.artifact.manifest.captures, ExtentBound::Queries)
             ? queries
             : std::clamp<int64_t>(most, 1, std::max<int64_t>(queries, 1));
}

runtime::MatrixView tool::rowsOf(const runtime::Matrix &matrix, int64_t first, int64_t count) {
  runtime::MatrixView rows = matrix.view();
  const auto bytes = static_cast<size_t>(bytesOfRow(matrix.element, matrix.dims));
  rows.data = matrix.storage.data() + static_cast<size_t>(first) * bytes;
  rows.rows = std::min(count, matrix.rows - first);
  return rows;
}

runtime::Index Engine::indexOf(const std::string &path, bool asF32, bool bits, int threads,
                               runtime::Matrix *kept) const {
  runtime::Matrix rows = loadVectors(path, 0, asF32);
  if (bits)
    rows = asBits(std::move(rows), path);
  const bool missing = metric.artifact.manifest.missingValues;
  if (!kept)
    return runtime::Index::ofOneList(rows.view(), missing, threads);
  *kept = std::move(rows);
  return runtime::Index::overRows(kept->view(), missing, threads);
}

runtime::Matrix tool::loadAgainst(const runtime::Index &vectors, const std::string &base,
                                  const std::string &path, int64_t rows, bool asF32) {
  runtime::Matrix matrix = loadFor(vectors, path, rows, asF32);
  if (matrix.dims != vectors.dims())
    throw Error(ErrorKind::Input, path + ": vectors of " + std::to_string(matrix.dims) +
                                      " dims, those of " + base + " have " +
                                      std::to_string(vectors.dims()));
  return matrix;
}

std::string tool::nanText(const runtime::SearchStats &total) {
  char text[128];
  std::snprintf(text, sizeof text, "%.3g %% of the distances are NaN (%lld of %lld)",
                100 * total.nanShare(), static_cast<long long>(total.nanDistances),
                static_cast<long long>(total.scored));
  return text;
}

void Engine::warnOfNan(const runtime::Index &index, const runtime::BoundCaptures &captures,
                       const runtime::MatrixView &queries,
                       const runtime::SearchStats &total) const {
  if (total.nanShare() > runtime::kNanShare)
    print(stderr, "annudf: warning: " + nanText(total) + ", and such rows are never found; " +
                      runtime::nanExample(index, metric, captures, queries, total) + "\n");
}
