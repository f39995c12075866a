//===- Distances.cpp - annudf distances -----------------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetricOptions.h"

#include <cstdint>
#include <cstdio>
#include <limits>

using namespace annudf;
using namespace annudf::tool;

namespace {
struct DistancesArguments {
  std::string x, y, output;
  MetricOptions metric;
  bool asF32 = false, bits = false, quiet = false;
};
} // namespace

/// Bytes of distances that are in memory at once.
static constexpr int64_t kChunk = int64_t(64) << 20;

static void runDistances(const DistancesArguments &arguments) {
  InterruptGuard guard;
  std::vector<std::string> inputs = arguments.metric.inputs();
  inputs.insert(inputs.end(), {arguments.x, arguments.y});
  checkOutput(guard, arguments.output, inputs);
  if (!arguments.output.ends_with(".fbin"))
    throw Error(ErrorKind::Usage,
                "-o " + arguments.output + ": distances are written as .fbin; give such a name");
  auto start = std::chrono::steady_clock::now();
  const Engine engine(arguments.metric);
  const runtime::Index index =
      engine.indexOf(arguments.y, arguments.asF32, arguments.bits, arguments.metric.threads);
  const runtime::Matrix x = loadAgainst(index, arguments.y, arguments.x, 0, arguments.asF32);
  runtime::checkDistances(index, engine.metric, x.view());
  const int64_t columns = index.size();
  if (x.rows > UINT32_MAX || columns > UINT32_MAX)
    throw Error(ErrorKind::Input, arguments.output + ": " + std::to_string(x.rows) + " x " +
                                      std::to_string(columns) +
                                      " distances; a .fbin has at most 4294967295 of each");
  const runtime::BoundCaptures captures = engine.bind(arguments.metric, index, x.view());
  runtime::checkOwnRows(captures, index.size());
  const int64_t step =
      engine.batch(x.rows, kChunk / (columns * static_cast<int64_t>(sizeof(float))));
  AtomicFileWriter writer(arguments.output);
  const uint32_t header[2] = {static_cast<uint32_t>(x.rows), static_cast<uint32_t>(columns)};
  writer.write(header, sizeof header);
  std::vector<float> distances(static_cast<size_t>(step) * static_cast<size_t>(columns));
  const runtime::Progress progress = progressBar(arguments.quiet);
  for (int64_t first = 0; first < x.rows; first += step) {
    InterruptGuard::check();
    const runtime::MatrixView batch = rowsOf(x, first, step);
    engine.backend->distances(index, engine.metric, captures, batch, {}, distances.data(), nullptr,
                              first);
    writer.write(distances.data(), static_cast<size_t>(batch.rows * columns) * sizeof(float));
    progress("distances", static_cast<double>(first + batch.rows) / static_cast<double>(x.rows));
  }
  InterruptGuard::check();
  writer.finish();
  writer.commit();
  if (arguments.quiet)
    return;
  print(stdout, arguments.output);
  std::printf(": %lld x %lld distances, %.2f s\n", static_cast<long long>(x.rows),
              static_cast<long long>(columns), msSince(start) / 1e3);
}

void tool::addDistancesCommand(CLI::App &app) {
  CLI::App *command =
      app.add_subcommand("distances", "Write the distance of every row of X to every row of Y");
  auto arguments = std::make_shared<DistancesArguments>();
  command->add_option("--x", arguments->x, "Vectors, the metric's first argument (queries)")
      ->required();
  command->add_option("--y", arguments->y, "Vectors, the metric's second argument (rows)")
      ->required();
  arguments->metric.addTo(command);
  command->add_flag("--as-f32", arguments->asF32, "Convert the vectors to float32");
  addBitsFlag(command, arguments->bits);
  command
      ->add_option("-o,--output", arguments->output,
                   "Distances to write (.fbin), a row for each row of X; NaN where the metric "
                   "gives that")
      ->required();
  command->add_flag("-q,--quiet", arguments->quiet, "Print errors only");
  command->callback([arguments] { runDistances(*arguments); });
}
