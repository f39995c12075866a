//===- Compiler.cpp - The compiler in the C API ---------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf-c/Compiler.h"

#include "CompilerWrap.h"
#include "annudf/Compiler/CudaSource.h"
#include "annudf/Metrics/Builtin.h"

#include <charconv>
#include <cstddef>
#include <memory>

using namespace annudf;
using namespace annudf::capi;

namespace {

/// Text that is not bytecode: a caller who has text needs no second reader, which
/// starts a process.
std::string checkedText(const Call &call, const char *source, size_t size) {
  if (size > 0)
    call.refuseNull(source, "source");
  std::string text = size > 0 ? std::string(source, size) : "";
  if (text.compare(0, 4, "ML\xefR") == 0)
    call.refuse("source is MLIR bytecode; pass the text of the module");
  if (size > ANNUDF_MAX_SOURCE_BYTES)
    call.refuse("source has " + std::to_string(size) + " bytes; at most " +
                std::to_string(ANNUDF_MAX_SOURCE_BYTES) + " are taken");
  return text;
}

DeviceBackend deviceBackendOf(const Call &call, const char *name) {
  if (!name || !*name)
    return DeviceBackend::LibNvvm;
  const std::optional<DeviceBackend> backend = parseDeviceBackend(name);
  if (!backend)
    call.refuse("device_backend is " + inQuotes(name) + "; the backends are " + kDeviceBackends);
  return *backend;
}

} // namespace

size_t annudf_diagnostics_count(const annudf_diagnostics *diagnostics) {
  return diagnostics ? diagnostics->entries.size() : 0;
}

annudf_status annudf_diagnostics_get(const annudf_diagnostics *diagnostics, size_t index,
                                     annudf_diagnostic *diagnostic) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(diagnostics, "diagnostics");
    call.refuseNull(diagnostic, "diagnostic");
    if (index >= diagnostics->entries.size())
      call.refuse("index is " + std::to_string(index) + ", there are " +
                  std::to_string(diagnostics->entries.size()) + " diagnostics; count from 0");
    const size_t size = diagnostic->size;
    constexpr size_t kSmallest = ANNUDF_SIZE_WITH(annudf_diagnostic, message);
    if (size < kSmallest)
      call.refuse("annudf_diagnostic.size is " + std::to_string(size) + ", at least " +
                  std::to_string(kSmallest) + " are needed; set it to sizeof(annudf_diagnostic)");
    const Diagnostic &entry = diagnostics->entries[index];
    annudf_diagnostic filled;
    std::memset(&filled, 0, sizeof filled);
    filled.size = size;
    switch (entry.severity) {
    case Diagnostic::Severity::Error:
      filled.severity = ANNUDF_SEVERITY_ERROR;
      break;
    case Diagnostic::Severity::Warning:
      filled.severity = ANNUDF_SEVERITY_WARNING;
      break;
    case Diagnostic::Severity::Remark:
      filled.severity = ANNUDF_SEVERITY_REMARK;
      break;
    }
    filled.line = static_cast<int32_t>(entry.line);
    filled.column = static_cast<int32_t>(entry.column);
    filled.file = entry.file.c_str();
    filled.rule = entry.rule.c_str();
    filled.message = entry.message.c_str();
    std::memcpy(diagnostic, &filled, std::min(size, sizeof filled));
  });
}

void annudf_diagnostics_destroy(annudf_diagnostics *diagnostics) { delete diagnostics; }

const char *annudf_builtin_metric(const char *name) {
  const BuiltinMetric *found = name ? findBuiltinMetric(name) : nullptr;
  return found ? found->text.data() : nullptr;
}

const char *annudf_builtin_metric_name(size_t index) {
  return index < builtinMetrics().size() ? builtinMetrics()[index].name.data() : nullptr;
}

annudf_status annudf_compile(const char *source, size_t size, const char *origin,
                             const annudf_compile_options *given, annudf_artifact **artifact,
                             annudf_diagnostics **diagnostics) {
  return guard(__func__, [&](Call call) {
    withDiagnostics(diagnostics, [&](std::vector<Diagnostic> &found) {
      call.refuseNull(origin, "origin");
      call.refuseNull(artifact, "artifact");
      std::string text = checkedText(call, source, size);
      const auto fields =
          copyOptions(given, ANNUDF_SIZE_WITH(annudf_compile_options, import_frontend),
                      "annudf_compile_options");
      CompileOptions options;
      options.archs = checkedList(call, fields.archs, fields.arch_count, "archs");
      options.metricName = textOf(fields.metric_name);
      options.inlineCaptures = textOf(fields.inline_captures);
      options.ltoIr = !fields.skip_lto_ir;
      options.hostBitcode = !fields.skip_host_bitcode;
      options.importFrontend = fields.import_frontend != 0;
      options.target.form = !fields.skip_form;
      options.deviceBackend = deviceBackendOf(call, fields.device_backend);
      *artifact = makeArtifact(compileMetric(text, origin, options, nullptr, nullptr, &found));
    });
  });
}

annudf_status annudf_lower(const char *source, size_t size, const char *origin, const char *target,
                           const annudf_lower_options *given, annudf_buffer **code,
                           annudf_diagnostics **diagnostics) {
  return guard(__func__, [&](Call call) {
    withDiagnostics(diagnostics, [&](std::vector<Diagnostic> &found) {
      call.refuseNull(origin, "origin");
      call.refuseNull(target, "target");
      call.refuseNull(code, "code");
      std::string text = checkedText(call, source, size);
      const auto fields = copyOptions(
          given, ANNUDF_SIZE_WITH(annudf_lower_options, import_frontend), "annudf_lower_options");
      const std::pair<const char *, Stage> stages[] = {{"mlir", Stage::Mlir},
                                                       {"nvvm-ir", Stage::NvvmIr},
                                                       {"ptx", Stage::Ptx},
                                                       {"ltoir", Stage::LtoIr},
                                                       {"device-bitcode", Stage::DeviceBitcode},
                                                       {"host-bitcode", Stage::HostBitcode},
                                                       {"functions", Stage::Functions},
                                                       {"properties", Stage::Properties}};
      const auto stage = std::find_if(std::begin(stages), std::end(stages), [&](const auto &entry) {
        return entry.first == std::string(target);
      });
      if (stage == std::end(stages))
        call.refuse("target is '" + std::string(target) +
                    "'; the targets are mlir, nvvm-ir, ptx, ltoir, device-bitcode, host-bitcode, "
                    "functions, properties");
      CompileOptions options;
      if (fields.arch && *fields.arch)
        options.archs = {fields.arch};
      options.metricName = textOf(fields.metric_name);
      options.inlineCaptures = textOf(fields.inline_captures);
      options.importFrontend = fields.import_frontend != 0;
      if (fields.target_abi && *fields.target_abi)
        options.target.abi = fields.target_abi;
      options.target.symbol = textOf(fields.symbol);
      options.deviceBackend = deviceBackendOf(call, fields.device_backend);
      *code = makeBuffer(lowerMetric(text, origin, stage->second, options, &found));
    });
  });
}

/// The value whose spelling `text` is.
template <typename Enum>
static Enum valueOf(const Call &call, const char *text, Enum byDefault, const std::string &what) {
  if (!text || !*text)
    return byDefault;
  std::string why;
  if (auto value = parseSpelling<Enum>(text, &why))
    return *value;
  call.refuse(what + " " + why);
}

/// A symbol of the table, or a number.
static CaptureExtent extentOf(const Call &call, const std::string &text, const std::string &name) {
  int64_t constant = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), constant);
  if (error == std::errc() && end == text.data() + text.size() && constant > 0)
    return {ANNUDF_EXTENT_CONSTANT, constant};
  const auto kind = parseSpelling<annudf_extent>(text);
  if (kind && *kind != ANNUDF_EXTENT_CONSTANT)
    return {*kind, 0};
  call.refuse("capture '" + name + "' has extent " + inQuotes(text) +
              "; use dim, or no extents for a scalar");
}

static CudaSourceOptions cudaOptions(const Call &call, const annudf_cuda_source_options &fields) {
  CudaSourceOptions options;
  options.archs = checkedList(call, fields.archs, fields.arch_count, "archs");
  if (fields.name && *fields.name)
    options.name = fields.name;
  options.order = valueOf(call, fields.order, ANNUDF_ORDER_MIN, "order");
  options.coarse = valueOf(call, fields.coarse, ANNUDF_COARSE_L2, "coarse");
  options.coarseOrder =
      valueOf(call, fields.coarse_order, naturalOrder(options.coarse), "coarse_order");
  for (const std::string &name :
       checkedList(call, fields.elements, fields.element_count, "elements")) {
    if (name.empty())
      call.refuse("elements has an empty entry; use one of " + tableOf<annudf_element>().listing());
    options.elements.push_back(
        valueOf(call, name.c_str(), ANNUDF_ELEMENT_F32, "an entry of elements"));
  }
  options.accumulator = valueOf(call, fields.accumulator, ANNUDF_ACCUMULATOR_F32, "accumulator");
  if (fields.compute_type && *fields.compute_type)
    options.compute =
        valueOf(call, fields.compute_type, ANNUDF_COMPUTE_F32, "the type of coordinates");
  options.initial = fields.initial;
  options.missingValues = fields.missing_values != 0;
  if (fields.capture_count > 0)
    call.refuseNull(fields.captures, "captures");
  for (size_t i = 0; i < fields.capture_count; ++i) {
    const std::string which = "captures[" + std::to_string(i) + "].";
    const annudf_cuda_capture &given = fields.captures[i];
    call.refuseNull(given.name, (which + "name").c_str());
    call.refuseNull(given.element, (which + "element").c_str());
    CaptureInfo capture;
    capture.name = given.name;
    capture.element =
        valueOf(call, given.element, ANNUDF_CAPTURE_F32, "capture '" + capture.name + "' element");
    for (const std::string &extent :
         checkedList(call, given.extents, given.extent_count, (which + "extents").c_str()))
      capture.extents.push_back(extentOf(call, extent, capture.name));
    options.captures.push_back(std::move(capture));
  }
  return options;
}

annudf_status annudf_compile_cuda_source(const char *source, size_t size, const char *origin,
                                         const annudf_cuda_source_options *given,
                                         annudf_artifact **artifact,
                                         annudf_diagnostics **diagnostics) {
  return guard(__func__, [&](Call call) {
    withDiagnostics(diagnostics, [&](std::vector<Diagnostic> &found) {
      call.refuseNull(origin, "origin");
      call.refuseNull(artifact, "artifact");
      std::string text = checkedText(call, source, size);
      if (const size_t at = text.find('\0'); at != std::string::npos)
        call.refuse("source has a NUL at byte " + std::to_string(at) + "; CUDA C++ has none");
      const auto fields =
          copyOptions(given, ANNUDF_SIZE_WITH(annudf_cuda_source_options, capture_count),
                      "annudf_cuda_source_options");
      *artifact = makeArtifact(compileCudaSource(text, origin, cudaOptions(call, fields), &found));
    });
  });
}

size_t annudf_supported_archs(int32_t *archs, size_t capacity) {
  const std::vector<int> &known = supportedArchs();
  for (size_t i = 0; archs && i < std::min(capacity, known.size()); ++i)
    archs[i] = known[i];
  return known.size();
}

annudf_status annudf_describe_cuda_compiler(int32_t which, annudf_buffer **text) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(text, "text");
    constexpr std::string (*kDescribe[])(std::string *) = {describeLibNvvm, describeNvrtc,
                                                           describeNvptx};
    if (which < ANNUDF_CUDA_LIBNVVM || which > ANNUDF_CUDA_NVPTX)
      call.refuse("which is " + std::to_string(which) +
                  "; use a value of enum annudf_cuda_compiler");
    std::string searched, found = kDescribe[which](&searched);
    if (found.empty())
      throw Error(ErrorKind::Environment, searched);
    *text = makeBuffer(std::move(found));
  });
}

const char *annudf_llvm_version(void) { return llvmVersion(); }
