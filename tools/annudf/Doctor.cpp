//===- Doctor.cpp - annudf doctor -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include "annudf/Support/Printable.h"
#include "annudf/runtime/cuda/Cuda.h"
#include "annudf/runtime/support/DiskCache.h"

#ifdef ANNUDF_HAVE_COMPILER
#include "annudf/Compiler/Compiler.h"
#include "annudf/Compiler/CudaSource.h"
#endif

#include <cstdio>
#include <cstdlib>

using namespace annudf;

namespace {
/// One part that some command needs.
struct Finding {
  std::string part;
  bool found = false;
  std::string detail; ///< Version and place, or why it is missing, in one line.
  std::string usedFor;
};
} // namespace

static Finding inspectCompiler() {
#ifdef ANNUDF_HAVE_COMPILER
  return {"LLVM and MLIR", true, ANNUDF_LLVM_VERSION, "compiling metrics"};
#else
  return {"LLVM and MLIR", false, "this annudf was built without the compiler",
          "compiling metrics, search on the CPU"};
#endif
}

#ifdef ANNUDF_HAVE_COMPILER
/// A library that the compiler opens, as `describe` finds it.
static Finding inspectLibrary(const char *part, const char *usedFor,
                              std::string (*describe)(std::string *searched)) {
  std::string searched, detail = describe(&searched);
  if (detail.empty())
    return {part, false, searched, usedFor}; // A sentence, with every place and what to install.
  return {part, true, detail, usedFor};
}
static void addCudaCompilers(std::vector<Finding> &findings) {
  findings.push_back(inspectLibrary("NVPTX",
                                    "PTX for GPUs without a CUDA toolkit, by "
                                    "compile --device-backend nvptx",
                                    describeNvptx));
  findings.push_back(inspectLibrary("libNVVM", "LTO-IR and PTX for GPUs", describeLibNvvm));
  findings.push_back(inspectLibrary("NVRTC", "metrics written as CUDA source", describeNvrtc));
}
#else
static void addCudaCompilers(std::vector<Finding> &findings) {
  const std::string why = "not looked for, there is no compiler";
  findings.push_back({"libNVVM", false, why, "LTO-IR and PTX for GPUs"});
  findings.push_back({"NVRTC", false, why, "metrics written as CUDA source"});
}
#endif

static Finding inspectCpu() {
  Finding finding{"CPU backend", false, "", "search on the CPU"};
  try {
    finding.detail = runtime::makeCpuBackend()->describe();
    finding.found = true;
  } catch (const Error &error) {
    finding.detail = error.what();
  }
  return finding;
}

static Finding inspectOwnCache() {
  const runtime::DiskCache disk = runtime::DiskCache::ofEnvironment();
  if (!disk.folder().empty())
    return {"cache folder", true, disk.folder() + " (annudf's)", "kernels linked for a GPU"};
  const std::string &why = disk.complaint();
  return {"cache folder", false, why.empty() ? "switched off (ANNUDF_CACHE_DISABLE)" : why,
          "kernels linked for a GPU"};
}

/// The driver has a cache of its own.
static Finding inspectDriverCache() {
  const char *off = std::getenv("CUDA_CACHE_DISABLE"), *path = std::getenv("CUDA_CACHE_PATH"),
             *home = std::getenv("HOME");
  std::string folder = path ? path : std::string(home ? home : "~") + "/.nv/ComputeCache";
  if (off && *off == '1')
    return {"cache folder", false, "switched off (CUDA_CACHE_DISABLE=1)", "linked GPU kernels"};
  return {"cache folder", true, folder + " (the CUDA driver's)", "linked GPU kernels"};
}

static void addCuda(std::vector<Finding> &findings) {
  const runtime::CudaEnvironment cuda = runtime::describeCuda();
  findings.push_back({"CUDA backend", cuda.built,
                      cuda.built ? "in this build" : "this annudf was built without a CUDA toolkit",
                      "search on a GPU"});
  if (!cuda.built)
    return;
  findings.push_back({"CUDA driver", cuda.driverFound, cuda.driver, "search on a GPU"});
  for (const auto &[device, arch] : cuda.devices)
    findings.push_back({"GPU", true, device, "search on a GPU"});
  findings.push_back(
      {"nvJitLink", cuda.linkerFound, cuda.linker, "linking a metric into the GPU scan"});
}

void tool::addDoctorCommand(CLI::App &app) {
  CLI::App *command =
      app.add_subcommand("doctor", "Show what annudf found on this machine, and what is missing");
  command->callback([] {
    std::printf("%s\n", versionText().c_str());
    std::vector<Finding> findings = {inspectCompiler(), inspectCpu()};
    addCudaCompilers(findings);
    addCuda(findings);
    findings.push_back(inspectOwnCache());
    findings.push_back(inspectDriverCache());
    for (const Finding &finding : findings)
      std::printf("%-8s %-14s %s  [%s]\n", finding.found ? "found" : "MISSING",
                  finding.part.c_str(), printable(finding.detail).c_str(), finding.usedFor.c_str());
  });
}
