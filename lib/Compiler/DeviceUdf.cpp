//===- DeviceUdf.cpp - Artifacts as descriptors of device UDFs ------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Compiler/DeviceUdf.h"

#include <algorithm>

using namespace annudf;

namespace {

[[noreturn]] void misuse(const std::string &origin, const std::string &what) {
  throw Error(ErrorKind::Usage, origin + ": " + what);
}

/// The capture that is left is the one that was given, and as long as vectors are.
void checkCapture(const Manifest &manifest, const std::string &origin, bool takesCapture,
                  const DeviceUdfOptions &options) {
  if (options.captures.size() > 1)
    misuse(origin, std::to_string(options.captures.size()) +
                       " captures are given, and " ANNUDF_CUVS_METRIC_ABI_ID " has one");
  if (!takesCapture) {
    if (!options.captures.empty())
      misuse(origin, "capture " + inQuotes(options.captures[0].name) + " is given, but metric " +
                         manifest.name + " as it is lowered reads none");
    return;
  }
  if (options.captures.empty())
    misuse(origin, "metric " + manifest.name +
                       " reads a capture, and none is given; say where the "
                       "array lies on the device");
  const UdfCapture &given = options.captures[0];
  if (std::none_of(manifest.captures.begin(), manifest.captures.end(),
                   [&](const CaptureInfo &info) { return info.name == given.name; }))
    misuse(origin, "metric " + manifest.name + " has no capture " + inQuotes(given.name));
  if (const std::string fault = faultOf(given); !fault.empty())
    misuse(origin, fault);
  if (options.dims < 1 || options.dims > ANNUDF_MAX_DIMS)
    misuse(origin, "dims is " + std::to_string(options.dims) +
                       "; give the dimensions of the index, which capture " + inQuotes(given.name) +
                       " has to have an entry for each of");
  if (given.shape[0] != options.dims)
    misuse(origin, "capture " + inQuotes(given.name) + " has " + std::to_string(given.shape[0]) +
                       " entries, the index has " + std::to_string(options.dims) +
                       " dimensions; give one entry a dimension");
}

} // namespace

DeviceUdf annudf::makeDeviceUdf(const Artifact &artifact, const std::string &origin,
                                const DeviceUdfOptions &options,
                                std::vector<Diagnostic> *diagnostics) {
  const Manifest &manifest = artifact.manifest;
  const Payload *module = artifact.find(PayloadKind::MlirBytecode);
  if (!module)
    throw Error(ErrorKind::Input,
                origin + ": holds no module that could be lowered to " ANNUDF_CUVS_METRIC_ABI_ID +
                    (manifest.verified ? "" : "; its code was taken on trust"));
  if (manifest.dims != 0 && options.dims != 0 && manifest.dims != options.dims)
    misuse(origin, "dims is " + std::to_string(options.dims) + ", metric " + manifest.name +
                       " is for " + std::to_string(manifest.dims) + " dimensions");
  if (options.arch.empty())
    misuse(origin, "LTO-IR is for one architecture; give arch, such as sm_90");
  CompileOptions compile;
  compile.archs = {options.arch};
  compile.metricName = manifest.name;
  compile.inlineCaptures = options.inlineCaptures;
  compile.target = {ANNUDF_CUVS_METRIC_ABI_ID,
                    options.symbol.empty() ? defaultSymbol(manifest.name) : options.symbol};
  const std::string ir = lowerMetric(module->bytes, origin, Stage::NvvmIr, compile, diagnostics);
  checkCapture(manifest, origin, takesCapture(ir, compile.target.symbol), options);
  DeviceUdf udf;
  udf.payload = lowerMetric(module->bytes, origin, Stage::LtoIr, compile);
  udf.symbol = compile.target.symbol;
  udf.captures = options.captures;
  udf.target = options.arch;
  udf.cacheKey = cacheKeyOf(udf, {"annudf", manifest.annudfVersion, describeLibNvvm(), "baked in",
                                  options.inlineCaptures, std::to_string(options.dims)});
  if (const std::string fault = faultOf(udf); !fault.empty())
    misuse(origin, fault);
  return udf;
}
