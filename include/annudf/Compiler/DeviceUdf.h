//===- DeviceUdf.h - Artifacts as descriptors of device UDFs, and back -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_COMPILER_DEVICEUDF_H
#define ANNUDF_COMPILER_DEVICEUDF_H

#include "annudf/Artifact/DeviceUdf.h"
#include "annudf/Compiler/Compiler.h"

namespace annudf {

struct DeviceUdfOptions {
  std::string arch;   ///< "sm_90": LTO-IR is of one architecture, and serves newer ones.
  std::string symbol; ///< Empty: defaultSymbol().
  /// Options of annudf-inline-captures, for what has no place in a descriptor.
  std::string inlineCaptures;
  /// Where the capture that is left lies, of which the metric has at most one.
  std::vector<UdfCapture> captures;
  int64_t dims = 0; ///< Dimensions of the index to search; needed where there is a capture.
};

/// Lowers the module inside the artifact to ANNUDF_CUVS_METRIC_ABI_ID.
/// \throws Error(Input) where the artifact holds no module, or its metric needs more than that ABI
/// has (rules R); Error(Usage) for captures that are not those of the metric, or too short.
DeviceUdf makeDeviceUdf(const Artifact &artifact, const std::string &origin,
                        const DeviceUdfOptions &options,
                        std::vector<Diagnostic> *diagnostics = nullptr);

struct DeviceUdfImport {
  std::string name = "device_udf"; ///< The metric's.
  /// "sm_90", ... Empty: that of the LTO-IR, which serves newer ones; of source every one.
  std::vector<std::string> archs;
};

/// An artifact that searches by code of somebody else, which is linked with hooks that call it. It
/// is not marked as verified: of LTO-IR the prototype is checked where there is an nvJitLink.
/// \throws Error(Input) for a descriptor that is none; otherwise as compileCudaSource().
Artifact compileDeviceUdf(const DeviceUdf &udf, const std::string &origin,
                          const DeviceUdfImport &options = {},
                          std::vector<Diagnostic> *diagnostics = nullptr);

} // namespace annudf

#endif // ANNUDF_COMPILER_DEVICEUDF_H
