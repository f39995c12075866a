//===- Compile.cpp - annudf compile and annudf inspect -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include "annudf/ABI/annudf_limits.h"
#include "annudf/Support/FileIO.h"

#ifdef ANNUDF_HAVE_COMPILER
#include "annudf/Compiler/Compiler.h"
#include "annudf/Metrics/Builtin.h"
#endif

#include <cstdio>

using namespace annudf;

#ifdef ANNUDF_HAVE_COMPILER
namespace {
struct CompileArguments {
  std::string input, output, builtin, metric, inlineCaptures, reproducer,
      targetAbi = ANNUDF_ABI_ID, symbol, deviceBackend = ANNUDF_LIBNVVM_NAME;
  std::vector<std::string> archs;
  bool noHost = false, noForm = false, quiet = false;
};
} // namespace

static std::string defaultOutput(const std::string &input, const char *ending) {
  size_t slash = input.find_last_of('/'), dot = input.find_last_of('.');
  bool hasDot = dot != std::string::npos && (slash == std::string::npos || dot > slash + 1);
  return (hasDot ? input.substr(0, dot) : input) + ending;
}

/// Writes LTO-IR of another ABI: such code is no artifact, as nothing beside it says what it is.
static void runLower(const CompileArguments &arguments, const CompileOptions &options,
                     const BuiltinMetric *builtin, const std::string &output) {
  if (options.archs.size() != 1)
    throw Error(ErrorKind::Usage,
                "--target-abi " + options.target.abi +
                    ": LTO-IR is for one architecture; give one, such as --arch sm_90");
  const std::string code =
      builtin ? lowerMetric(std::string(builtin->text), builtin->origin(), Stage::LtoIr, options)
              : lowerMetric(readFile(arguments.input, ANNUDF_MAX_SOURCE_BYTES), arguments.input,
                            Stage::LtoIr, options);
  tool::InterruptGuard::check();
  writeFile(output, code);
  if (!arguments.quiet)
    tool::print(stdout, output + ": LTO-IR of " + options.target.abi + " for " +
                            options.archs.front() + ", " + std::to_string(code.size()) +
                            " bytes\n");
}

static void runCompile(const CompileArguments &arguments) {
  if (arguments.input.empty() == arguments.builtin.empty())
    throw Error(ErrorKind::Usage, "compile: give a file or --builtin NAME");
  const BuiltinMetric *builtin = nullptr;
  if (!arguments.builtin.empty() && !(builtin = findBuiltinMetric(arguments.builtin)))
    throw Error(ErrorKind::Usage, "--builtin " + arguments.builtin +
                                      ": no such metric; the metrics are " + builtinMetricNames());
  CompileOptions options;
  options.target = {arguments.targetAbi, arguments.symbol, !arguments.noForm};
  const bool isArtifact = options.target.abi == ANNUDF_ABI_ID;
  const char *ending = isArtifact ? ".annudf" : ".ltoir";
  const std::string output = !arguments.output.empty() ? arguments.output
                             : builtin                 ? arguments.builtin + ending
                                                       : defaultOutput(arguments.input, ending);
  tool::InterruptGuard guard;
  if (!builtin)
    tool::checkOutput(guard, output, {arguments.input});
  options.archs = arguments.archs;
  const std::optional<DeviceBackend> backend = parseDeviceBackend(arguments.deviceBackend);
  if (!backend)
    throw Error(ErrorKind::Usage, "--device-backend " + arguments.deviceBackend +
                                      ": there is no such backend; there are " + kDeviceBackends);
  options.deviceBackend = *backend;
  options.hostBitcode = !arguments.noHost;
  options.metricName = arguments.metric;
  options.inlineCaptures = arguments.inlineCaptures;
  options.reproducer = arguments.reproducer;
  if (!isArtifact)
    return runLower(arguments, options, builtin, output);
  if (!arguments.symbol.empty())
    throw Error(ErrorKind::Usage,
                "--symbol " + arguments.symbol +
                    ": only --target-abi takes a symbol; leave it out, or give --target-abi");
  CompileTimings timings;
  std::vector<std::string> warnings;
  Artifact artifact = builtin ? compileMetric(std::string(builtin->text), builtin->origin(),
                                              options, &warnings, &timings)
                              : compileMetricFile(arguments.input, options, &warnings, &timings);
  for (const std::string &warning : warnings)
    tool::print(stderr, "annudf: warning: " + warning + "\n");
  tool::InterruptGuard::check();
  writeArtifact(artifact, output);
  if (arguments.quiet)
    return;
  tool::print(stdout, output + ": " + artifact.manifest.noun() + " " + artifact.manifest.name);
  std::printf(", %zu payloads, %.1f ms (libNVVM %.1f ms, host %.1f ms)\n", artifact.payloads.size(),
              timings.total, timings.libnvvm, timings.host);
}
#endif

void tool::addCompileCommand(CLI::App &app) {
  CLI::App *command = app.add_subcommand(
      "compile", "Compile a metric or a filter (.mlir) to an artifact (.annudf)");
#ifdef ANNUDF_HAVE_COMPILER
  auto arguments = std::make_shared<CompileArguments>();
  command->add_option("input", arguments->input, "Metric as MLIR text or bytecode");
  command->add_option("--builtin", arguments->builtin,
                      "Built-in metric to compile instead of a file: " + builtinMetricNames());
  command->add_option("-o,--output", arguments->output,
                      "Artifact to write (default: the input with ending .annudf)");
  command
      ->add_option("--arch", arguments->archs,
                   "GPU architectures for LTO-IR, e.g. sm_90,sm_100 (default: all that are "
                   "supported; none, with a warning, if there is no libNVVM)")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--device-backend", arguments->deviceBackend,
                      "Who makes code for GPUs: libnvvm (default), or nvptx, which makes PTX by "
                      "LLVM without a CUDA toolkit; searches with it are slower");
  command->add_option("--metric", arguments->metric,
                      "Which metric or filter, if the file holds several");
  command->add_option("--inline-captures", arguments->inlineCaptures,
                      "Options of the pass annudf-inline-captures, e.g. \"dims=128\"");
  command->add_option("--target-abi", arguments->targetAbi,
                      "ABI of the code: " ANNUDF_ABI_ID
                      " (default), an artifact; or " ANNUDF_CUVS_METRIC_ABI_ID
                      ", LTO-IR for one --arch (default output: the "
                      "input with ending .ltoir)");
  command->add_option("--symbol", arguments->symbol,
                      "Name of the function, with --target-abi (default: annudf_metric_NAME)");
  command->add_option("--reproducer", arguments->reproducer,
                      "File for a report of a failure inside annudf (default: the file that "
                      "ANNUDF_REPRODUCER names)");
  command->add_flag("--no-host", arguments->noHost, "Leave out the code for the CPU");
  command->add_flag("--no-form", arguments->noForm,
                    "Skip the proofs that the distance is a quadratic form; results "
                    "are the same, searches may be slower");
  command->add_flag("-q,--quiet", arguments->quiet, "Print errors and warnings only");
  command->callback([arguments] { runCompile(*arguments); });
#else
  command->allow_extras();
  command->callback([] {
    throw Error(ErrorKind::Environment, "this annudf was built without the compiler "
                                        "(ANNUDF_BUILD_COMPILER=OFF); compile elsewhere");
  });
#endif
}

void tool::addInspectCommand(CLI::App &app) {
  CLI::App *command = app.add_subcommand("inspect", "Show what an artifact holds");
  auto path = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  command->add_option("artifact", *path, "Artifact (.annudf)")->required();
  command->add_flag("--json", *json, "The manifest as JSON, for programs");
  command->callback([path, json] {
    Artifact artifact = readArtifact(*path);
    std::string text = *json ? manifestToJson(artifact) : manifestToText(artifact, *path);
    print(stdout, text + (text.ends_with('\n') ? "" : "\n"));
  });
}
