//===- Compiler.cpp - Artifacts and how they are made ---------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <optional>
#include <tuple>
#include <vector>

namespace annudf::python {

static Artifact fromBytes(nb::bytes data, const std::string &origin) {
  annudf_artifact *artifact = nullptr;
  const char *bytes = data.c_str();
  const size_t size = data.size();
  const Outcome status = withoutGil(
      [&] { return annudf_artifact_from_bytes(bytes, size, origin.c_str(), &artifact); });
  check(status);
  return {ArtifactPtr(artifact)};
}

static Artifact load(nb::handle given) {
  const std::string path = toPath(given);
  annudf_artifact *artifact = nullptr;
  const Outcome status = withoutGil([&] { return annudf_artifact_load(path.c_str(), &artifact); });
  check(status);
  return {ArtifactPtr(artifact)};
}

static Work saving(nb::object self, nb::handle given) {
  const std::string path = toPath(given);
  const annudf_artifact *artifact = nb::cast<Artifact &>(self).handle.get();
  return {[=, owner = std::move(self)] {
            const Outcome status =
                withoutGil([&] { return annudf_artifact_save(artifact, path.c_str()); });
            check(status);
          },
          nb::none()};
}

static void save(const nb::object &self, nb::handle path) { saving(self, path).result(); }

static nb::bytes serialise(const Artifact &self) {
  annudf_buffer *bytes = nullptr;
  check(withoutGil([&] { return annudf_artifact_to_bytes(self.handle.get(), &bytes); }));
  const BufferPtr owner(bytes);
  return toBytes(bytes);
}

static nb::str manifest(const Artifact &self) {
  annudf_buffer *json = nullptr;
  check(withoutGil([&] { return annudf_artifact_manifest(self.handle.get(), &json); }));
  const BufferPtr owner(json);
  return toText(json);
}

static nb::str describe(const Artifact &self, const std::string &origin) {
  annudf_buffer *text = nullptr;
  check(withoutGil(
      [&] { return annudf_artifact_describe(self.handle.get(), origin.c_str(), &text); }));
  const BufferPtr owner(text);
  return toText(text);
}

static nb::bytes ltoir(const Artifact &self, const std::string &arch) {
  annudf_buffer *bytes = nullptr;
  check(withoutGil([&] { return annudf_artifact_ltoir(self.handle.get(), arch.c_str(), &bytes); }));
  const BufferPtr owner(bytes);
  return toBytes(bytes);
}

static Names archs(const Artifact &self) {
  const annudf_artifact_info &info = *annudf_artifact_get(self.handle.get());
  return {info.archs, info.archs + info.arch_count};
}

/// What it is of and for, for people.
static std::string shown(const Artifact &self) {
  Names targets = archs(self);
  if (annudf_artifact_get(self.handle.get())->has_host_code != 0)
    targets.emplace_back("CPUs");
  std::string text;
  for (const std::string &target : targets)
    text += (text.empty() ? "" : ", ") + target;
  return std::string("<annudf artifact ") + annudf_artifact_get(self.handle.get())->name +
         " (code for " + (text.empty() ? "no target" : text) + ")>";
}

static std::tuple<Artifact, DiagnosticList>
compile(std::string_view source, const std::string &origin, const std::optional<Names> &archs,
        bool ltoIr, bool hostBitcode, const std::string &metricName,
        const std::string &inlineCaptures, bool importFrontend, const std::string &deviceBackend) {
  const std::vector<const char *> names = archs ? pointers(*archs) : std::vector<const char *>();
  annudf_compile_options options = {};
  options.size = sizeof options;
  options.archs = names.data();
  options.arch_count = names.size();
  options.metric_name = metricName.c_str();
  options.inline_captures = inlineCaptures.c_str();
  // To the C API no names are all; an empty list says that none is wanted.
  options.skip_lto_ir = !ltoIr || (archs && archs->empty());
  options.skip_host_bitcode = !hostBitcode;
  options.import_frontend = importFrontend;
  options.device_backend = deviceBackend.c_str();
  annudf_artifact *artifact = nullptr;
  annudf_diagnostics *diagnostics = nullptr;
  const Outcome status = withoutGil([&] {
    return annudf_compile(source.data(), source.size(), origin.c_str(), &options, &artifact,
                          &diagnostics);
  });
  return finish(status, artifact, diagnostics);
}

static nb::bytes lower(std::string_view source, const std::string &origin,
                       const std::string &target, const std::string &arch,
                       const std::string &metricName, const std::string &inlineCaptures,
                       bool importFrontend, const std::string &deviceBackend) {
  annudf_lower_options options = {};
  options.size = sizeof options;
  options.arch = arch.c_str();
  options.metric_name = metricName.c_str();
  options.inline_captures = inlineCaptures.c_str();
  options.import_frontend = importFrontend;
  options.device_backend = deviceBackend.c_str();
  annudf_buffer *code = nullptr;
  annudf_diagnostics *diagnostics = nullptr;
  const Outcome status = withoutGil([&] {
    return annudf_lower(source.data(), source.size(), origin.c_str(), target.c_str(), &options,
                        &code, &diagnostics);
  });
  const DiagnosticsPtr owner(diagnostics);
  const BufferPtr codeOwner(code);
  check(status, diagnostics);
  return toBytes(code);
}

using CudaCapture = std::tuple<std::string, std::string, Names>;

static std::tuple<Artifact, DiagnosticList>
compileCudaSource(std::string_view source, const std::string &origin,
                  const std::optional<Names> &archs, const std::string &name,
                  const std::string &order, const std::string &coarse,
                  const std::optional<std::string> &coarseOrder, const Names &elements,
                  const std::string &accumulator, const std::optional<std::string> &computeType,
                  double initial, const std::vector<CudaCapture> &captures, bool missingValues) {
  if (archs && archs->empty())
    raise("ArgumentError", "archs is empty, and a metric in CUDA source runs on GPUs only; "
                           "name some, or pass None for all");
  const std::vector<const char *> archNames =
      archs ? pointers(*archs) : std::vector<const char *>();
  const std::vector<const char *> elementNames = pointers(elements);
  std::vector<annudf_cuda_capture> declared;
  std::vector<std::vector<const char *>> extents;
  extents.reserve(captures.size()); // What `declared` points into does not move.
  for (const auto &[captureName, element, names] : captures) {
    extents.push_back(pointers(names));
    declared.push_back(
        {captureName.c_str(), element.c_str(), extents.back().data(), extents.back().size()});
  }
  annudf_cuda_source_options options = {};
  options.size = sizeof options;
  options.archs = archNames.data();
  options.arch_count = archNames.size();
  options.name = name.c_str();
  options.order = order.c_str();
  options.coarse = coarse.c_str();
  options.coarse_order = coarseOrder ? coarseOrder->c_str() : nullptr;
  options.elements = elementNames.data();
  options.element_count = elementNames.size();
  options.accumulator = accumulator.c_str();
  options.compute_type = computeType ? computeType->c_str() : nullptr;
  options.initial = initial;
  options.captures = declared.data();
  options.capture_count = declared.size();
  options.missing_values = missingValues;
  annudf_artifact *artifact = nullptr;
  annudf_diagnostics *diagnostics = nullptr;
  const Outcome status = withoutGil([&] {
    return annudf_compile_cuda_source(source.data(), source.size(), origin.c_str(), &options,
                                      &artifact, &diagnostics);
  });
  return finish(status, artifact, diagnostics);
}

static std::optional<std::tuple<uint32_t, std::string>> verified(const Artifact &self) {
  const annudf_artifact_info &info = *annudf_artifact_get(self.handle.get());
  if (info.verified_rules == 0)
    return std::nullopt;
  return std::tuple(info.verified_rules, std::string(info.verified_by));
}

using TableRow =
    std::tuple<std::string, std::string, int64_t, int32_t, std::string, std::string, int32_t>;

static std::map<std::string, std::vector<TableRow>> tables() {
  std::map<std::string, std::vector<TableRow>> all;
  for (size_t i = 0; const char *name = annudf_table_name(i); ++i)
    for (size_t j = 0; j < annudf_table_size(name); ++j) {
      annudf_table_row row = {};
      row.size = sizeof row;
      check(atOnce(annudf_table_read(name, j, &row)));
      all[name].push_back(
          {row.name, row.spelling, row.value, row.bits, row.kind, row.detail, row.since});
    }
  return all;
}

static Names builtinMetrics() {
  Names names;
  for (size_t i = 0; const char *name = annudf_builtin_metric_name(i); ++i)
    names.emplace_back(name);
  return names;
}

static std::string builtinMetric(const std::string &name) {
  const char *text = annudf_builtin_metric(name.c_str());
  if (!text)
    raise("ArgumentError", "there is no built-in metric '" + name + "'");
  return text;
}

static std::vector<int32_t> supportedArchs() {
  std::vector<int32_t> archs(annudf_supported_archs(nullptr, 0));
  annudf_supported_archs(archs.data(), archs.size());
  return archs;
}

static void addArtifact(nb::module_ &module) {
  using namespace nb::literals;
  nb::class_<Artifact>(module, "Artifact", "A compiled metric. It never changes once made.")
      .def_static("from_bytes", &fromBytes, "data"_a, "origin"_a,
                  "Reads the bytes of a file; messages call it `origin`.")
      .def_static("load", &load, "path"_a, nb::sig("def load(path: str | bytes) -> Artifact"),
                  "Reads a file.")
      .def("to_bytes", &serialise, "The bytes that `save` writes.")
      .def("saving", &saving, "path"_a, nb::sig("def saving(self, path: str | bytes) -> Work"),
           "Writes the file, whole or not at all.")
      .def("save", &save, "path"_a, nb::sig("def save(self, path: str | bytes) -> None"),
           "Writes the file, whole or not at all.")
      .def("__repr__", &shown)
      .def("describe", &describe, "origin"_a, "The manifest for people, as `annudf inspect`.")
      .def("ltoir", &ltoir, "arch"_a, "The LTO-IR that a device of `arch` (\"sm_90\") would link.")
      .def_prop_ro(
          "digest",
          [](const Artifact &self) { return annudf_artifact_get(self.handle.get())->digest; },
          "SHA-256 of its bytes in hexadecimal.")
      .def_prop_ro(
          "name", [](const Artifact &self) { return annudf_artifact_get(self.handle.get())->name; },
          "Name of the metric.")
      .def_prop_ro("manifest", &manifest, "The manifest as JSON, as `annudf inspect --json`.")
      .def_prop_ro("archs", &archs, "Architectures that it holds LTO-IR for: [\"sm_90\", ...].")
      .def_prop_ro(
          "has_host_code",
          [](const Artifact &self) {
            return annudf_artifact_get(self.handle.get())->has_host_code != 0;
          },
          "Whether it holds code for CPUs.")
      .def_prop_ro(
          "sees_query",
          [](const Artifact &self) {
            return annudf_artifact_get(self.handle.get())->sees_query != 0;
          },
          "Whether it is a filter whose rows may differ between queries.")
      .def_prop_ro(
          "is_verified",
          [](const Artifact &self) {
            return annudf_artifact_get(self.handle.get())->verified_rules != 0;
          },
          "Whether its manifest says that the metric was verified; CUDA source is not.")
      .def_prop_ro("verified", &verified,
                   "(edition of the rules, version of annudf) that it was verified by, or None.");
}

void addCompiler(nb::module_ &module) {
  using namespace nb::literals;
  addArtifact(module);

  module.def("tables", &tables,
             "The tables of the ABI by name: rows of (name, spelling, value, bits, kind, detail, "
             "since); since is -1 where a row is reserved for a later version.");

  module.def("compile", &compile, "source"_a, "origin"_a, nb::kw_only(), "archs"_a = nb::none(),
             "lto_ir"_a = true, "host_bitcode"_a = true, "metric_name"_a = "",
             "inline_captures"_a = "", "import_frontend"_a = false, "device_backend"_a = "",
             nb::sig("def compile(source: str, origin: str, *, archs: collections.abc.Sequence[str]"
                     " | None = None, lto_ir: bool = True, host_bitcode: bool = True, metric_name: "
                     "str = '', inline_captures: str = '', import_frontend: bool = False, "
                     "device_backend: str = '') -> "
                     "tuple[Artifact, list[annudf.errors.Diagnostic]]"),
             "Compiles text of the dialect. `archs` None: all that are supported if there is a "
             "libNVVM, else none with a warning.");
  module.def(
      "lower", &lower, "source"_a, "origin"_a, "target"_a, nb::kw_only(), "arch"_a = "",
      "metric_name"_a = "", "inline_captures"_a = "", "import_frontend"_a = false,
      "device_backend"_a = "",
      "Verifies text of the dialect and stops at `target`: \"mlir\", \"nvvm-ir\", \"ptx\", "
      "\"ltoir\", \"device-bitcode\", \"host-bitcode\", \"functions\" or \"properties\" (JSON).");
  module.def("compile_cuda_source", &compileCudaSource, "source"_a, "origin"_a, nb::kw_only(),
             "archs"_a = nb::none(), "name"_a = "", "order"_a = "min", "coarse"_a = "l2",
             "coarse_order"_a = nb::none(), "elements"_a = Names(), "accumulator"_a = "f32",
             "compute_type"_a = nb::none(), "initial"_a = 0.0,
             "captures"_a = std::vector<CudaCapture>(), "missing_values"_a = false,
             nb::sig("def compile_cuda_source(source: str, origin: str, *, archs: "
                     "collections.abc.Sequence[str] | None = None, name: str = '', order: str = "
                     "'min', coarse: str = 'l2', coarse_order: str | None = None, elements: "
                     "collections.abc.Sequence[str] = [], accumulator: str = 'f32', compute_type: "
                     "str | None = None, initial: float = 0.0, captures: "
                     "collections.abc.Sequence[tuple[str, str, "
                     "collections.abc.Sequence[str]]] = [], missing_values: bool = False) -> "
                     "tuple[Artifact, list[annudf.errors.Diagnostic]]"),
             "Compiles CUDA C++ with NVRTC. A capture is its name, its element type and its "
             "extents: \"dim\" for one entry a dimension, none for a scalar.");
  module.def("builtin_metrics", &builtinMetrics, "Names of the metrics that annudf has by itself.");
  module.def("builtin_metric", &builtinMetric, "name"_a, "Text of one of them.");
  module.def("supported_archs", &supportedArchs,
             "Architectures that LTO-IR can be made for: 90 for sm_90, oldest first.");
}

} // namespace annudf::python
