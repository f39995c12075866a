//===- DeviceUdf.cpp - Descriptors of device UDFs -------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support.h"

#include "annudf-c/DeviceUDF.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>
#include <vector>

namespace annudf::python {

namespace {

/// name, dtype, shape, strides, device, pointer, read-only
using Capture = std::tuple<std::string, std::string, std::vector<int64_t>,
                           std::optional<std::vector<int64_t>>, int32_t, uint64_t, bool>;
/// abi, payload_kind, payload, symbol_name, captures, cache_key, target
using Descriptor = std::tuple<std::string, std::string, nb::bytes, std::string,
                              std::vector<Capture>, std::string, std::string>;

std::vector<annudf_udf_capture> toC(const std::vector<Capture> &captures) {
  std::vector<annudf_udf_capture> result;
  for (const auto &[name, dtype, shape, strides, device, pointer, readOnly] : captures) {
    for (const std::string *text : {&name, &dtype})
      if (text->find('\0') != std::string::npos)
        raise("ArgumentError", "a name or dtype of a capture has a NUL in it; leave it out");
    if (strides && strides->size() != shape.size())
      raise("ArgumentError", "capture '" + name + "' has " + std::to_string(strides->size()) +
                                 " strides for " + std::to_string(shape.size()) + " extents");
    annudf_udf_capture capture = {};
    capture.size = sizeof capture;
    capture.name = name.c_str();
    capture.dtype = dtype.c_str();
    capture.shape = shape.data();
    capture.strides = strides ? strides->data() : nullptr;
    capture.ndim = static_cast<int32_t>(shape.size());
    capture.device_id = device;
    capture.pointer = pointer;
    capture.flags = readOnly ? ANNUDF_UDF_CAPTURE_READONLY : 0;
    result.push_back(capture);
  }
  return result;
}

/// A descriptor of C that points into one of Python.
struct View {
  std::vector<annudf_udf_capture> captures;
  annudf_device_udf udf = {};

  explicit View(const Descriptor &given) : captures(toC(std::get<4>(given))) {
    const auto &[abi, kind, payload, symbol, _, cacheKey, target] = given;
    // A C string would end at the NUL, and name another function than was given.
    for (const std::string *text : {&abi, &symbol, &cacheKey, &target})
      if (text->find('\0') != std::string::npos)
        raise("ArgumentError", "a name or key of the descriptor has a NUL in it; leave it out");
    if (kind != "ltoir" && kind != "cuda_source")
      raise("ArgumentError", "payload_kind is '" + kind + "'; it is 'ltoir' or 'cuda_source'");
    udf.size = sizeof udf;
    udf.abi = abi.c_str();
    udf.payload_kind = kind == "ltoir" ? ANNUDF_DEVICE_UDF_LTOIR : ANNUDF_DEVICE_UDF_CUDA_SOURCE;
    udf.payload = payload.c_str();
    udf.payload_size = payload.size();
    udf.symbol_name = symbol.c_str();
    udf.captures = captures.empty() ? nullptr : captures.data();
    udf.n_captures = captures.size();
    udf.cache_key = cacheKey.c_str();
    udf.target = target.c_str();
  }
};

void checkUdf(const Descriptor &given) {
  const View view(given);
  check(withoutGil([&] { return annudf_device_udf_check(&view.udf); }));
}

nb::str cacheKey(const Descriptor &given, const Names &options) {
  const View view(given);
  const std::vector<const char *> names = pointers(options);
  annudf_buffer *key = nullptr;
  check(withoutGil(
      [&] { return annudf_device_udf_cache_key(&view.udf, names.data(), names.size(), &key); }));
  const BufferPtr owner(key);
  return toText(key);
}

/// payload, symbol_name, cache_key, target
std::tuple<nb::bytes, std::string, std::string, std::string>
fromArtifact(const Artifact &artifact, const std::string &arch, const std::string &symbol,
             const std::string &inlineCaptures, const std::vector<Capture> &captures,
             int64_t dims) {
  const std::vector<annudf_udf_capture> given = toC(captures);
  annudf_device_udf_options options = {};
  options.size = sizeof options;
  options.arch = arch.c_str();
  options.symbol_name = symbol.c_str();
  options.inline_captures = inlineCaptures.c_str();
  options.captures = given.data();
  options.n_captures = given.size();
  options.dims = dims;
  annudf_device_udf_owner *made = nullptr;
  annudf_diagnostics *diagnostics = nullptr;
  const Outcome status = withoutGil([&] {
    return annudf_device_udf_from_artifact(artifact.handle.get(), &options, &made, &diagnostics);
  });
  const DiagnosticsPtr list(diagnostics);
  const std::unique_ptr<annudf_device_udf_owner, Destroyer<annudf_device_udf_destroy>> owner(made);
  check(status, diagnostics);
  const annudf_device_udf &udf = *annudf_device_udf_get(made);
  return {nb::bytes(udf.payload, udf.payload_size), udf.symbol_name, udf.cache_key, udf.target};
}

std::tuple<Artifact, DiagnosticList> toArtifact(const Descriptor &given, const std::string &name,
                                                const Names &archs) {
  const View view(given);
  const std::vector<const char *> names = pointers(archs);
  annudf_device_udf_import options = {};
  options.size = sizeof options;
  options.name = name.c_str();
  options.archs = names.data();
  options.arch_count = names.size();
  annudf_artifact *artifact = nullptr;
  annudf_diagnostics *diagnostics = nullptr;
  const Outcome status = withoutGil(
      [&] { return annudf_device_udf_to_artifact(&view.udf, &options, &artifact, &diagnostics); });
  return finish(status, artifact, diagnostics);
}

} // namespace

void addDeviceUdf(nb::module_ &module) {
  using namespace nb::literals;
  module.def("device_udf_check", &checkUdf, "udf"_a, "Refuses what can be no descriptor.");
  module.def("device_udf_cache_key", &cacheKey, "udf"_a, "options"_a = Names(),
             "A key that leaves out where captures lie.");
  module.def("device_udf_from_artifact", &fromArtifact, "artifact"_a, "arch"_a, "symbol"_a = "",
             "inline_captures"_a = "", "captures"_a = std::vector<Capture>(), "dims"_a = 0,
             "Payload, symbol, cache key and target of a metric as a device UDF.");
  module.def("device_udf_to_artifact", &toArtifact, "udf"_a, "name"_a = "", "archs"_a = Names(),
             nb::sig("def device_udf_to_artifact(udf: tuple[str, str, bytes, str, "
                     "collections.abc.Sequence[tuple[str, str, collections.abc.Sequence[int], "
                     "collections.abc.Sequence[int] | None, int, int, bool]], str, str], name: str "
                     "= '', archs: collections.abc.Sequence[str] = []) -> tuple[Artifact, "
                     "list[annudf.errors.Diagnostic]]"),
             "An artifact that searches by the code of a descriptor.");
}

} // namespace annudf::python
