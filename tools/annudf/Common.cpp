//===- Common.cpp - What the subcommands share -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include "annudf/Support/Printable.h"

#ifdef ANNUDF_HAVE_COMPILER
#include "annudf/Compiler/Compiler.h"
#include "annudf/Metrics/Builtin.h"
#endif

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <unistd.h>

using namespace annudf;
using namespace annudf::tool;

std::string tool::versionText() {
  std::string text = "annudf " ANNUDF_VERSION ", ABI " ANNUDF_ABI_ID " " +
                     std::to_string(ANNUDF_ABI_MAJOR) + "." + std::to_string(ANNUDF_ABI_MINOR);
#ifdef ANNUDF_HAVE_COMPILER
  text += ", LLVM " ANNUDF_LLVM_VERSION;
#else
  text += ", built without compiler";
#endif
  return text;
}

void tool::print(std::FILE *stream, std::string_view text) {
  std::fputs(printable(text, Lines::Keep).c_str(), stream);
}

static std::atomic<bool> interrupted{false};
static constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
static struct sigaction previousActions[std::size(kSignals)];

static void restoreSignals() {
  for (size_t i = 0; i < std::size(kSignals); ++i)
    sigaction(kSignals[i], &previousActions[i], nullptr);
}

static void onSignal(int signal) {
  // The second key is for users who will not wait. SIGHUP and SIGTERM come twice without
  // anyone's asking: from a shell and the kernel when a terminal closes, from timeout(1).
  if (interrupted.exchange(true) && (signal == SIGINT || signal == SIGQUIT)) {
    restoreSignals();
    raise(signal);
  }
}

InterruptGuard::InterruptGuard() {
  struct sigaction action;
  std::memset(&action, 0, sizeof action);
  action.sa_handler = onSignal;
  action.sa_flags = SA_RESTART; // What is printed of work that is done would be lost.
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    sigaction(kSignals[i], &action, &previousActions[i]);
    if (previousActions[i].sa_handler == SIG_IGN)
      sigaction(kSignals[i], &previousActions[i], nullptr);
  }
}
InterruptGuard::~InterruptGuard() {
  // All is written, or an error is on its way: an end by a signal would tell of neither.
  for (int signal : kSignals)
    std::signal(signal, SIG_IGN);
}
bool InterruptGuard::requested() { return interrupted; }
void InterruptGuard::check() {
  if (requested())
    throw Error(ErrorKind::Interrupted, "interrupted; nothing was written");
}

void tool::readValues(CLI::App &app) {
  const auto withoutZeros = [](std::string &text) {
    const size_t sign = text.starts_with('-') || text.starts_with('+');
    const size_t digit = text.find_first_not_of('0', sign);
    if (digit > sign && digit < text.size() && text[digit] >= '1' && text[digit] <= '9')
      text.erase(sign, digit - sign);
    return std::string();
  };
  const auto refuseEmpty = [](const std::string &text) {
    return std::string(text.empty() ? "is empty; give a value, or leave the option out" : "");
  };
  for (CLI::App *command : app.get_subcommands([](CLI::App *) { return true; }))
    for (CLI::Option *option : command->get_options()) {
      if (option->get_type_name().find("INT") <= 1) // INT or UINT
        option->transform(CLI::Validator(withoutZeros, "", "decimal"));
      option->check(refuseEmpty, "", "empty");
    }
}

void tool::checkCommand(CLI::App &app, int argc, const char *const *argv) {
  const auto isAsked = [&](const CLI::App *command) { return command->get_name() == argv[1]; };
  if (argc > 1 && argv[1][0] != '-' && app.get_subcommands(isAsked).empty())
    throw Error(ErrorKind::Usage,
                std::string("unknown command '") + argv[1] + "'; annudf --help lists the commands");
}

void tool::checkOutput(const InterruptGuard &, const std::string &output,
                       const std::vector<std::string> &inputs) {
  for (const std::string &input : inputs) {
    std::error_code missing; // A file that does not exist is no input either.
    if (std::filesystem::equivalent(output, input, missing))
      throw Error(
          ErrorKind::Usage,
          output + ": is an input of this command and would be overwritten; write to another file");
  }
  if (!output.empty())
    const AtomicFileWriter tried(output); // Its temporary file goes with it.
}

void tool::showResults(const int64_t *ids, const float *distances, int64_t rows, int k,
                       int queries) {
  constexpr int kShown = 10;
  for (int64_t row = 0; row < std::min<int64_t>(queries, rows); ++row) {
    std::printf("query %lld:", static_cast<long long>(row));
    for (int64_t i = row * k; i < row * k + std::min(kShown, k); ++i)
      std::printf("  %lld (%g)", static_cast<long long>(ids[i]), distances[i]);
    std::printf("\n");
  }
}

double tool::msSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

runtime::Progress tool::progressBar(bool quiet) {
  const bool terminal = isatty(STDERR_FILENO);
  auto last = std::make_shared<std::string>();
  return [=](const char *stage, double done) {
    if (!quiet && terminal) {
      constexpr int width = 32;
      int filled = static_cast<int>(done * width);
      std::fprintf(stderr, "\r%-22s [%.*s%*s] %3.0f%%%s", stage, filled,
                   "################################", width - filled, "", done * 100,
                   done >= 1 ? "\n" : "");
    } else if (!quiet && *last != stage) {
      std::fprintf(stderr, "%s ...\n", stage);
    }
    *last = stage;
    return !InterruptGuard::requested();
  };
}

void tool::addRowsOption(CLI::App *command, int64_t &rows, const std::string &what) {
  command->add_option("--rows", rows, "Only the first N " + what)
      ->check(CLI::Range(int64_t{1}, INT64_MAX, "at least 1"))
      ->default_str("");
}

void tool::addBitsFlag(CLI::App *command, bool &bits) {
  command
      ->add_flag("--bits", bits,
                 "Read the vectors (u8) as packed bits: 8 dims a byte, the lowest bit first")
      ->excludes("--as-f32");
}

void tool::addDeviceOptions(CLI::App *command, std::string &device, int &gpu,
                            const std::string &what, Gpus *gpus) {
  command->add_option("--device", device, what)->check(CLI::IsMember({"cpu", "cuda"}));
  std::vector<const CLI::Option *> ofCuda = {
      command->add_option("--gpu", gpu, "Number of the GPU, for --device cuda")};
  if (gpus) {
    CLI::Option *const several =
        command->add_option("--gpus", gpus->numbers, "Numbers of GPUs that share each search, 0,1")
            ->delimiter(',')
            ->excludes("--gpu");
    ofCuda.push_back(several);
    ofCuda.push_back(command->add_option("--gpu-mode", gpus->mode, "What each of --gpus has")
                         ->check(CLI::IsMember({"sharded", "replicated"}))
                         ->needs(several));
  }
  command->parse_complete_callback([ofCuda, &device] {
    for (const CLI::Option *option : ofCuda)
      if (option->count() != 0 && device != "cuda")
        throw CLI::ValidationError(option->get_name(),
                                   "is for --device cuda, not for --device " + device);
  });
}

runtime::Matrix tool::asBits(runtime::Matrix matrix, const std::string &path) {
  try {
    return runtime::asBits(std::move(matrix));
  } catch (const Error &error) {
    throw Error(error.kind(), path + ": " + error.what());
  }
}

runtime::Matrix tool::loadFor(const runtime::Index &index, const std::string &path, int64_t rows,
                              bool asF32) {
  runtime::Matrix matrix = loadVectors(path, rows, asF32);
  // As many bits as the index has: bytes are no coordinates then.
  const bool packed = index.element() == ANNUDF_ELEMENT_BITS &&
                      matrix.element == ANNUDF_ELEMENT_U8 &&
                      int64_t(matrix.dims) * 8 == index.dims();
  return packed ? asBits(std::move(matrix), path) : matrix;
}

runtime::Matrix tool::loadVectors(const std::string &path, int64_t rows, bool asF32) {
  runtime::Matrix matrix = runtime::readMatrix(path, rows, asF32);
  if (rows > matrix.rows)
    throw Error(ErrorKind::Input, path + ": has " + std::to_string(matrix.rows) +
                                      " rows, --rows asks for " + std::to_string(rows));
  return matrix;
}

std::string tool::metricNames() {
#ifdef ANNUDF_HAVE_COMPILER
  return builtinMetricNames();
#else
  return "none in a build without the compiler";
#endif
}

runtime::Metric tool::loadMetric(const std::string &path, bool forGpu, double *compileMs) {
#ifdef ANNUDF_HAVE_COMPILER
  const BuiltinMetric *builtin = findBuiltinMetric(path);
#else
  constexpr const void *builtin = nullptr;
#endif
  const bool isText = path.ends_with(".mlir") || path.ends_with(".mlirbc");
  if (!builtin && !isText && path.find_first_of("./") == std::string::npos &&
      !std::filesystem::exists(path))
    throw Error(ErrorKind::Input,
                path + ": no such file or built-in metric; the metrics are " + metricNames());
  if (!builtin && !isText)
    return runtime::Metric::fromFile(path);
#ifdef ANNUDF_HAVE_COMPILER
  CompileOptions options;
  options.ltoIr = forGpu;
  options.hostBitcode = !forGpu;
  // LTO-IR of the oldest family links for every newer GPU.
  options.archs = {"sm_75"};
  CompileTimings timings;
  std::vector<std::string> warnings;
  runtime::Metric metric = runtime::Metric::fromArtifact(
      builtin ? compileMetric(std::string(builtin->text), builtin->origin(), options, &warnings,
                              &timings)
              : compileMetricFile(path, options, &warnings, &timings),
      path);
  for (const std::string &warning : warnings)
    print(stderr, "annudf: warning: " + warning + "\n");
  *compileMs = timings.total;
  return metric;
#else
  throw Error(ErrorKind::Environment,
              path + ": this annudf was built without the compiler; compile the metric elsewhere "
                     "with 'annudf compile' and pass the .annudf file");
#endif
}
