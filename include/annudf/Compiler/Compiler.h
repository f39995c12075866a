//===- Compiler.h - From a metric's text to an artifact -----------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The compiler as tools and frontends see it: no MLIR header is needed to use it.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_COMPILER_COMPILER_H
#define ANNUDF_COMPILER_COMPILER_H

#include "annudf/ABI/TargetAbi.h"
#include "annudf/Artifact/Artifact.h"
#include "annudf/Support/Diagnostic.h"
#include "annudf/Target/DeviceBackend.h"

#include <cstdint>
#include <string>
#include <vector>

namespace annudf {

/// Architectures `annudf compile` knows, oldest first: sm_75 ... sm_121.
const std::vector<int> &supportedArchs();

struct CompileOptions {
  /// "sm_90", ... Empty: every supported architecture if libNVVM is found, none
  /// (with a warning) if it is not. Named architectures make a missing libNVVM an error.
  std::vector<std::string> archs;
  /// False: no code for GPUs at all (a search on the CPU needs none), `archs` is ignored.
  bool ltoIr = true;
  /// Nvptx: PTX, for the oldest architecture where `archs` names none, as it serves all newer ones.
  DeviceBackend deviceBackend = DeviceBackend::LibNvvm;
  bool hostBitcode = true;
  /// Targets that the host bitcode says it is for; empty: this machine's.
  std::vector<std::string> hostTriples;
  /// Which metric of a file that holds several; empty: the only one.
  std::string metricName;
  /// Options of annudf-inline-captures, as on the command line of annudf-opt; empty: nothing is
  /// baked.
  std::string inlineCaptures;
  /// The source is what a frontend emits: annudf-import-frontend turns it into the
  /// dialect before it is verified, and the dialects that it reads are known.
  bool importFrontend = false;
  /// Where annudf itself fails, on a module that its verifier has accepted: the file to write, for
  /// annudf-opt --run-reproducer. Empty: what the environment variable ANNUDF_REPRODUCER names.
  std::string reproducer;
  /// For lowerMetric: whose functions the metric becomes. An artifact's code speaks its own ABI.
  CodeTarget target = {};
};

/// Where the time of a compile went, in milliseconds.
struct CompileTimings {
  double parseAndVerify = 0, lower = 0, libnvvm = 0, host = 0, total = 0;
};

/// Compiles `source` (text or bytecode of one module).
/// \param warnings     one line each, e.g. that no libNVVM was found and where it was looked for.
/// \param diagnostics  all that was found, in order, whether it throws or not.
/// \throws Error(Input) whose text is the diagnostics, each with file:line:column.
/// \throws std::logic_error where a pass fails on what the verifier has accepted.
Artifact compileMetric(const std::string &source, const std::string &origin,
                       const CompileOptions &options = {},
                       std::vector<std::string> *warnings = nullptr,
                       CompileTimings *timings = nullptr,
                       std::vector<Diagnostic> *diagnostics = nullptr);

/// The same for a file.
Artifact compileMetricFile(const std::string &path, const CompileOptions &options = {},
                           std::vector<std::string> *warnings = nullptr,
                           CompileTimings *timings = nullptr);

/// Stages of the way of a metric, a filter or a device function to a GPU, or to the host.
enum class Stage {
  Mlir,          ///< The dialect after import and inlining, as text.
  NvvmIr,        ///< What libNVVM reads, for every architecture.
  Ptx,           ///< Text.
  LtoIr,         ///< What nvJitLink links.
  DeviceBitcode, ///< LLVM bitcode of NVPTX, for programs that bring an LLVM.
  HostBitcode,   ///< LLVM bitcode for the host.
  Functions,     ///< The hooks as func.func, to be called in kernels, as text.
  Properties,    ///< What is proved of a metric's formula, as JSON (docs/spec/numerics.md).
};

/// Verifies `source` and gives what it is at `stage`. Of `options`, archs has at most one
/// entry, used for Ptx and LtoIr; ltoIr and hostBitcode do not matter.
/// \throws as compileMetric.
std::string lowerMetric(const std::string &source, const std::string &origin, Stage stage,
                        const CompileOptions &options = {},
                        std::vector<Diagnostic> *diagnostics = nullptr);

/// What libNVVM was found: version and path; empty, with the places looked at in `searched`, if
/// none.
std::string describeLibNvvm(std::string *searched = nullptr);

/// The same of LLVM's NVPTX backend, with the libdevice that its math functions come from.
std::string describeNvptx(std::string *why = nullptr);

/// "22.1.8"
const char *llvmVersion();

} // namespace annudf

#endif // ANNUDF_COMPILER_COMPILER_H
