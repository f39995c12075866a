//===- Build.cpp - annudf build and annudf extend -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include "annudf/runtime/cuda/Cuda.h"
#include "annudf/runtime/support/Parallel.h"

#include <cstdint>
#include <cstdio>

using namespace annudf;
using namespace annudf::tool;

namespace {
struct BuildArguments {
  std::string base, index, output, metric = "l2", device = "cpu";
  std::vector<std::string> columns;
  runtime::IndexParams params;
  int64_t rows = 0;
  int gpu = 0;
  bool asF32 = false, bits = false, quiet = false;
};
} // namespace

static void report(const runtime::Index &index, const std::string &path, double ms) {
  print(stdout, path);
  std::printf(": %lld rows x %d dims %s, %u lists, %.2f s\n", static_cast<long long>(index.size()),
              index.dims(), toString(index.element()), index.nLists(), ms / 1e3);
}

/// Runs `work`, whose errors speak of `subject`, and names the file instead.
template <typename Work>
static auto namingFile(const std::string &path, const std::string &subject, Work work) {
  try {
    return work();
  } catch (const Error &error) {
    const std::string text = error.what(), prefix = subject + ": ";
    throw Error(error.kind(),
                text.starts_with(prefix) ? path + ": " + text.substr(prefix.size()) : text);
  }
}

/// \param gpu  null: on the CPU.
static runtime::Index buildOn(runtime::CudaBackend *gpu, const BuildArguments &arguments,
                              const runtime::MatrixView &base, const runtime::Progress &progress) {
  if (!gpu)
    return runtime::Index::build(arguments.params, base, progress);
  return gpu->buildFromHost(arguments.params, base, progress);
}

static void runBuild(BuildArguments arguments) {
  std::string why;
  const auto metric = parseSpelling<annudf_coarse>(arguments.metric, &why);
  if (!metric)
    throw Error(ErrorKind::Usage, "--metric " + why);
  arguments.params.metric = *metric;
  if (arguments.params.deviceMemoryLimit != 0 && arguments.device != "cuda")
    throw Error(ErrorKind::Usage,
                "--device-memory-limit is for --device cuda; add that, or leave the limit out");
  if (!arguments.columns.empty() && !arguments.params.addData)
    throw Error(ErrorKind::Usage, "--column " + arguments.columns.front() +
                                      ": --train-only adds no rows; give it to annudf extend");
  InterruptGuard guard;
  std::vector<std::string> inputs = {arguments.base};
  addFiles(arguments.columns, inputs);
  checkOutput(guard, arguments.output, inputs);
  // A missing one is told before minutes go into loading.
  const std::unique_ptr<runtime::CudaBackend> gpu =
      arguments.device == "cuda" ? runtime::makeCudaDeviceBackend(arguments.gpu) : nullptr;
  auto start = std::chrono::steady_clock::now();
  const runtime::NewColumns columns = readColumns(arguments.columns);
  runtime::Matrix base = loadVectors(arguments.base, arguments.rows, arguments.asF32);
  if (arguments.bits)
    base = asBits(std::move(base), arguments.base);
  std::vector<runtime::Column> declared;
  declared.reserve(columns.values.size());
  for (const runtime::NewColumns::Values &one : columns.values)
    declared.push_back(one.column);
  runtime::checkColumns(declared, columns, base.rows);
  runtime::Progress progress = progressBar(arguments.quiet);
  runtime::Index index = namingFile(
      arguments.base, "base", [&] { return buildOn(gpu.get(), arguments, base.view(), progress); });
  if (!columns.empty())
    index.addColumns(columns);
  index.save(arguments.output, progress);
  if (!arguments.quiet)
    report(index, arguments.output, msSince(start));
}

static void runExtend(const BuildArguments &arguments) {
  InterruptGuard guard;
  std::vector<std::string> inputs = {arguments.base}; // --index may be replaced.
  addFiles(arguments.columns, inputs);
  checkOutput(guard, arguments.output, inputs);
  auto start = std::chrono::steady_clock::now();
  runtime::Index index = runtime::Index::load(arguments.index);
  const runtime::NewColumns columns = readColumns(arguments.columns);
  const runtime::NewIds ids = {.columns = columns.empty() ? nullptr : &columns};
  runtime::Matrix rows = loadFor(index, arguments.base, arguments.rows, arguments.asF32);
  runtime::Progress progress = progressBar(arguments.quiet);
  namingFile(arguments.base, "rows to add", [&] { index.extend(rows.view(), ids, progress); });
  const std::string &output = arguments.output.empty() ? arguments.index : arguments.output;
  index.save(output, progress);
  if (!arguments.quiet)
    report(index, output, msSince(start));
}

static void addInput(CLI::App *command, BuildArguments &arguments) {
  command
      ->add_option("--base", arguments.base,
                   "Vectors: .fbin, .hbin (f16), .i8bin, .u8bin or 2-D .npy")
      ->required();
  addRowsOption(command, arguments.rows, "rows");
  addColumnOption(command, arguments.columns);
  command->add_flag("--as-f32", arguments.asF32, "Convert the vectors to float32");
  command->add_flag("-q,--quiet", arguments.quiet, "Print errors only");
}

void tool::addBuildCommand(CLI::App &app) {
  CLI::App *command = app.add_subcommand("build", "Build an IVF-Flat index from vectors");
  auto arguments = std::make_shared<BuildArguments>();
  runtime::IndexParams &params = arguments->params;
  addInput(command, *arguments);
  addBitsFlag(command, arguments->bits);
  command
      ->add_option(
          "--lists", params.nLists,
          "Lists (clusters); 0: the square root of the number of rows, or 1 for fewer than 1000")
      ->check(CLI::Range(uint32_t{0}, runtime::kMaxLists));
  command->add_option("--metric", arguments->metric, "Distance by which k-means clusters")
      ->check(CLI::IsMember({"l2", "inner_product", "cosine"}));
  command->add_option("--kmeans-iterations", params.kmeansIterations, "Iterations of k-means")
      ->check(CLI::Range(1, ANNUDF_MAX_KMEANS_N_ITERS));
  command
      ->add_option("--kmeans-trainset-fraction", params.kmeansTrainsetFraction,
                   "Share of the rows that k-means trains on")
      ->check(CLI::Range(0.0, 1.0));
  command->add_option("--seed", params.seed, "Seed of k-means");
  command->add_flag("--adaptive-centers", params.adaptiveCenters,
                    "Move the centers to the means of their lists whenever rows are added");
  command->add_flag("--missing-values", params.missingValues,
                    "Accept NaN coordinates as missing values");
  command->add_flag("!--train-only", params.addData, "Train the centers only, add no rows");
  addDeviceOptions(command, arguments->device, arguments->gpu, "Where to build");
  command
      ->add_option("--device-memory-limit", params.deviceMemoryLimit,
                   "Most bytes of GPU memory to use (default: nine tenths of what is free); rows "
                   "that do not fit are copied in pieces")
      ->check(CLI::Range(uint64_t{1}, UINT64_MAX, "at least 1"))
      ->default_str("");
  command->add_option("--threads", params.threads, "Threads, 0 for all cores")
      ->check(CLI::Range(0, runtime::kMaxThreads));
  command->add_option("-o,--output", arguments->output, "Index to write")->required();
  command->callback([arguments] { runBuild(*arguments); });
}

void tool::addExtendCommand(CLI::App &app) {
  CLI::App *command = app.add_subcommand("extend", "Add vectors to an index");
  auto arguments = std::make_shared<BuildArguments>();
  command->add_option("--index", arguments->index, "Index to extend")->required();
  addInput(command, *arguments);
  command->add_option("-o,--output", arguments->output,
                      "Index to write (default: replaces --index)");
  command->callback([arguments] { runExtend(*arguments); });
}
