//===- Doctor.cpp - What a machine offers the CUDA backend -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/Doctor.h"

#include "annudf/artifact/Error.h"

#ifdef ANNUDF_HAVE_CUDA
#include "Driver.h"
#include "Linker.h"
#endif

using namespace annudf::runtime;

#ifdef ANNUDF_HAVE_CUDA
/// Fills a finding by `look`, whose Error becomes the detail.
template <typename Look>
static Finding find(const char *part, const char *usedFor, Look look) {
  Finding finding{part, false, "", usedFor};
  try {
    finding.detail = look();
    finding.found = true;
  } catch (const annudf::Error &error) {
    finding.detail = error.what();
  }
  return finding;
}

static std::string decimals(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::vector<Finding> annudf::runtime::inspectCuda() {
  using namespace cuda;
  std::vector<Finding> findings;
  findings.push_back(find("CUDA driver", "search on a GPU", [] {
    return "CUDA " + decimals(Driver::get().version);
  }));
  if (findings.back().found)
    findings.push_back(find("GPU", "search on a GPU", [] {
      int count = 0;
      ANNUDF_CUDA(cuDeviceGetCount, &count);
      if (count == 0)
        throw Error(ErrorKind::Environment, "the driver knows no device");
      std::string text;
      for (int device = 0; device < count; ++device) {
        Context context(device);
        text += (device ? ", " : "") + context.name() + " (sm_" + std::to_string(context.sm()) + ")";
      }
      return text;
    }));
  findings.push_back(find("nvJitLink", "linking a metric into the GPU scan", [] {
    LinkerVersion version = linkerVersion();
    return std::to_string(version.major) + "." + std::to_string(version.minor) + ", " + version.path;
  }));
  return findings;
}
#else
std::vector<Finding> annudf::runtime::inspectCuda() {
  return {{"CUDA backend", false, "this annudf was built without a CUDA toolkit", "search on a GPU"}};
}
#endif
