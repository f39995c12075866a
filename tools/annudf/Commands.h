//===- Commands.h - Subcommands of annudf -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TOOLS_COMMANDS_H
#define ANNUDF_TOOLS_COMMANDS_H

#include "annudf/Artifact/Artifact.h"
#include "annudf/runtime/engine/Columns.h"
#include "annudf/runtime/engine/Search.h"
#include "annudf/runtime/ivf_flat/Index.h"
#include "annudf/runtime/vectors/Matrix.h"

#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace annudf::tool {

/// Each adds one subcommand whose callback does the work or throws annudf::Error.
void addCompileCommand(CLI::App &app);
void addInspectCommand(CLI::App &app);
void addBuildCommand(CLI::App &app);
void addExtendCommand(CLI::App &app);
void addRemoveCommand(CLI::App &app);
void addSearchCommand(CLI::App &app);
void addKnnCommand(CLI::App &app);
void addRefineCommand(CLI::App &app);
void addDistancesCommand(CLI::App &app);
void addRadiusCommand(CLI::App &app);
void addTuneCommand(CLI::App &app);
void addDoctorCommand(CLI::App &app);
/// \param code  set to the exit code of a verification that found nothing wrong.
void addVerifyCommand(CLI::App &app, int &code);

/// \throws Error(Usage) for a subcommand that is none; CLI11 would say that one is required.
void checkCommand(CLI::App &app, int argc, const char *const *argv);
/// CLI11 takes 010 for eight; it means ten. And it takes "" for 0 or nothing, where a shell's
/// variable had no value.
void readValues(CLI::App &app);

std::string versionText();

/// Prints `text` so that a terminal shows and does not obey what files and arguments put
/// into it; line breaks stay.
void print(std::FILE *stream, std::string_view text);

/// From construction on: Ctrl-C, SIGTERM, SIGHUP and SIGQUIT ask running work to stop, so
/// that temporary files are removed (a second Ctrl-C or SIGQUIT ends the process at once).
/// A signal that the process ignores, as under nohup, stays ignored. From destruction on all
/// are: what the command returns is then settled.
class InterruptGuard {
public:
  InterruptGuard();
  ~InterruptGuard();
  static bool requested();
  /// \throws Error(Interrupted)
  static void check();
};

/// Draws a bar on stderr when that is a terminal, one line a stage otherwise.
runtime::Progress progressBar(bool quiet);

/// Before any work: \throws Error(Usage) if writing `output` would destroy one of `inputs`,
/// Error(Environment) if it cannot be written at all. Empty: there is none. It
/// tries with a temporary file, which a signal would leave without a guard.
void checkOutput(const InterruptGuard &guard, const std::string &output,
                 const std::vector<std::string> &inputs);

/// Prints the first ten neighbours of the first `queries` of all `rows`, k each.
void showResults(const int64_t *ids, const float *distances, int64_t rows, int k, int queries);

/// Milliseconds since `start`.
double msSince(std::chrono::steady_clock::time_point start);

/// Vectors of a file: the first `rows` of them if that is not 0, as float32 if asked.
runtime::Matrix loadVectors(const std::string &path, int64_t rows, bool asF32);

/// The same for an index: bytes are packed bits where that has bits, as many of them.
runtime::Matrix loadFor(const runtime::Index &index, const std::string &path, int64_t rows,
                        bool asF32);

/// --rows, which takes the first of the vectors: its help says neither that 0 of them are the
/// default nor how many there could be at most.
void addRowsOption(CLI::App *command, int64_t &rows, const std::string &what);
/// After --as-f32, which goes not with it.
void addBitsFlag(CLI::App *command, bool &bits);
/// GPUs that share each search.
struct Gpus {
  std::vector<int> numbers; ///< Empty: there is one.
  std::string mode = "sharded";
};

/// --device, which is for `what`, and --gpu, which is refused where it would say nothing; with
/// `gpus` also --gpus and --gpu-mode.
void addDeviceOptions(CLI::App *command, std::string &device, int &gpu, const std::string &what,
                      Gpus *gpus = nullptr);
/// Rows of u8 as packed bits; errors name the file.
runtime::Matrix asBits(runtime::Matrix matrix, const std::string &path);

/// The built-in metrics, for --help.
std::string metricNames();

/// `path` is an artifact, or `.mlir` source or the name of a built-in metric, which are
/// compiled. `forGpu`: LTO-IR is needed, else host bitcode. A file that is called as a
/// built-in metric can be named ./l2.
runtime::Metric loadMetric(const std::string &path, bool forGpu, double *compileMs);

/// Values of `pairs`, in this `form`, as they are given to `option`.
std::map<std::string, runtime::NumericArray>
readCaptures(const std::vector<std::string> &pairs, const char *option,
             const char *form = "NAME=FILE or NAME=NUMBER");

/// Captures of a metric; arrays of rows without a value are columns of the index.
/// \throws Error naming the capture.
runtime::BoundCaptures bind(const runtime::Metric &metric, const runtime::CaptureExtents &extents,
                            const runtime::Index &index,
                            const std::map<std::string, runtime::NumericArray> &values,
                            bool allowNonFinite);

/// Columns of new rows, of `pairs` as they are given to --column.
runtime::NewColumns readColumns(const std::vector<std::string> &pairs);
void addColumnOption(CLI::App *command, std::vector<std::string> &pairs);
/// Files that `pairs`, NAME=FILE, name are added to those that a command reads.
void addFiles(const std::vector<std::string> &pairs, std::vector<std::string> &files);

/// Makes searches keep the rows of `path`: bits of a .npy, what a filter's code computes of the
/// index, or code that each search computes.
/// \param captures  its values, as readCaptures takes them.
/// \param queries   of a search.
/// \param ofOwnRows  whether the rows come with the command: what has more entries is of others.
void loadFilter(runtime::SearchParams &params, const std::string &path,
                const std::vector<std::string> &captures, bool allowNonFinite,
                runtime::Backend &backend, const runtime::Index &index, int64_t queries, bool onGpu,
                bool ofOwnRows, double *filterMs);

/// Ends the process where memory has run out: nothing that needs any is called, and locks
/// that code without exceptions held stay as they are.
[[noreturn]] void endWithoutMemory();
/// Makes an allocation that fails in a thread, or where an exception may not pass, end so.
void tellWhereMemoryRunsOut();

} // namespace annudf::tool

#endif // ANNUDF_TOOLS_COMMANDS_H
