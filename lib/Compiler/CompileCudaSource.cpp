//===- CompileCudaSource.cpp - From CUDA C++ to an artifact ---------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompileModule.h"

#include "CudaSource/Nvrtc.h"
#include "CudaSource/Program.h"

#include "annudf/Support/Printable.h"
#include "annudf/Target/NvJitLink.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"

#include <cmath>
#include <limits>

using namespace llvm;
using namespace annudf;
using namespace annudf::compiler;

namespace {

bool isIdentifier(StringRef name) {
  return !name.empty() && !isDigit(name.front()) &&
         all_of(name, [](char c) { return isAlnum(c) || c == '_'; });
}

Fault misuse(const Twine &what) { return {ErrorKind::Usage, "CUDA source: " + what.str()}; }

/// Words that a struct cannot have as members but Python, say, has as names.
bool isKeyword(StringRef name) {
  static constexpr StringLiteral kWords[] = {
      "alignas",  "alignof",  "asm",      "auto",     "bool",      "break",     "case",
      "catch",    "char",     "class",    "concept",  "const",     "continue",  "decltype",
      "default",  "delete",   "do",       "double",   "else",      "enum",      "explicit",
      "export",   "extern",   "false",    "float",    "for",       "friend",    "goto",
      "if",       "inline",   "int",      "long",     "mutable",   "namespace", "new",
      "noexcept", "nullptr",  "operator", "private",  "protected", "public",    "register",
      "requires", "return",   "short",    "signed",   "sizeof",    "static",    "struct",
      "switch",   "template", "this",     "throw",    "true",      "try",       "typedef",
      "typeid",   "typename", "union",    "unsigned", "using",     "virtual",   "void",
      "volatile", "while",    "and",      "or",       "not",       "xor"};
  return is_contained(kWords, name);
}

std::optional<Fault> checkCaptures(const std::vector<CaptureInfo> &captures, bool isPeer) {
  if (isPeer && !captures.empty())
    return misuse("compute_dist_udf_impl has no captures; write update(acc, x, y, ctx)");
  if (captures.size() > ANNUDF_MAX_CAPTURES)
    return misuse("it has " + Twine(captures.size()) + " captures, the ABI allows " +
                  Twine(ANNUDF_MAX_CAPTURES));
  StringRef taken[] = {"dim", "dims", "row", "query", "list"};
  for (size_t i = 0; i < captures.size(); ++i) {
    const CaptureInfo &capture = captures[i];
    const std::string which = "capture '" + capture.name + "' ";
    if (!isIdentifier(capture.name) || isKeyword(capture.name))
      return misuse(which + "is no name for a member in C++; rename it");
    if (is_contained(taken, capture.name))
      return misuse(which + "has the name of a member of annudf_context; rename it");
    if (capture.extents.size() > 1 ||
        (capture.extents.size() == 1 && capture.extents[0].kind != ANNUDF_EXTENT_DIM))
      return misuse(which + "is declared " + typeText(capture) +
                    "; declare a scalar or an array with the one extent dim");
    for (size_t j = 0; j < i; ++j)
      if (captures[j].name == capture.name)
        return misuse(which + "is declared twice");
  }
  return std::nullopt;
}

/// The type of coordinates that an accumulator takes in without a loss: integers have one only.
annudf_compute computeFor(annudf_accumulator accumulator) {
  const bool isFloat = kindOf(accumulator) == NumberKind::Float;
  for (const TableRow &row : tableOf<annudf_compute>().rows)
    if ((row.kind == NumberKind::Float) == isFloat && (!isFloat || row.bits == bitsOf(accumulator)))
      return static_cast<annudf_compute>(row.value);
  report_fatal_error("annudf: an accumulator has no compute type");
}

/// Makes `options` complete, or says what is wrong with them.
std::optional<Fault> complete(CudaSourceOptions &options, const SourceForm &form) {
  if (!isIdentifier(options.name))
    return misuse("name '" + options.name + "' is no C identifier");
  if (options.accumulator == ANNUDF_ACCUMULATOR_STRUCT)
    return misuse("accumulator struct is for metrics of annudf's dialect; a source keeps one "
                  "number, so write f32, f64, i32, u32 or i64");
  const annudf_compute natural = computeFor(options.accumulator);
  if (form.isPeer && options.compute && *options.compute != natural)
    return misuse(std::string("coordinates of type ") + toString(*options.compute) +
                  ": compute_dist_udf_impl takes them in the accumulator's type, " +
                  toString(natural) + "; leave their type out");
  if (!options.compute)
    options.compute = natural;
  if (options.elements.empty())
    for (const TableRow &row : tableOf<annudf_element>().rows)
      if (const auto element = static_cast<annudf_element>(row.value);
          row.since != TableRow::kReserved && converts(element, *options.compute))
        options.elements.push_back(element);
  for (size_t i = 0; i < options.elements.size(); ++i) {
    const annudf_element element = options.elements[i];
    if (!converts(element, *options.compute))
      return misuse(Twine("coordinates of type ") + toString(*options.compute) +
                    " cannot hold element type " + toString(element) + "; list only " +
                    wholeElements() + ", or accumulate in f32");
    if (is_contained(ArrayRef(options.elements).take_front(i), element))
      return misuse(Twine("element type ") + toString(element) + " is listed twice");
  }
  if (options.missingValues && !any_of(options.elements, [](annudf_element element) {
        return kindOf(element) == NumberKind::Float;
      }))
    return misuse("it takes missing values, but no element type of it has NaN; list f32, f16 or "
                  "bf16, or drop missing_values");
  if (std::isnan(options.initial))
    return misuse("initial is NaN, so every distance would be NaN; give a number");
  const NumberKind kind = kindOf(options.accumulator);
  if (kind != NumberKind::Float) {
    const bool isSigned = kind == NumberKind::Signed;
    const double end = std::ldexp(1.0, bitsOf(options.accumulator) - (isSigned ? 1 : 0));
    const double least = isSigned ? -end : 0; // end - 1 may be no double.
    if (options.initial != std::trunc(options.initial) || options.initial < least ||
        options.initial >= end)
      return misuse("initial is " + std::to_string(options.initial) + ", which accumulator " +
                    toString(options.accumulator) + " cannot hold");
  }
  return checkCaptures(options.captures, form.isPeer);
}

/// Whether makeProgram writes the hook. No default: a new one has to say so here.
bool hasHook(const SourceForm &form, annudf_hook hook) {
  switch (hook) {
  case ANNUDF_HOOK_INIT:
  case ANNUDF_HOOK_UPDATE:
    return true;
  case ANNUDF_HOOK_FINALIZE:
    return form.hasFinalize;
  case ANNUDF_HOOK_COMBINE:
    return false; // Every metric in CUDA source takes its dimensions in one row.
  }
  llvm_unreachable("a hook that the tables do not have");
}

Manifest makeManifest(const CudaSourceOptions &options, const SourceForm &form,
                      const std::string &origin) {
  Manifest manifest;
  manifest.name = options.name;
  manifest.order = options.order;
  manifest.coarse = options.coarse;
  manifest.coarseOrder = options.coarseOrder;
  manifest.accumulator = options.accumulator;
  manifest.compute = *options.compute;
  manifest.elements = options.elements;
  llvm::sort(manifest.elements); // A set: manifests have it in the order of its table.
  for (const TableRow &row : tableOf<annudf_hook>().rows)
    if (const auto hook = static_cast<annudf_hook>(row.value);
        row.since != TableRow::kReserved && hasHook(form, hook))
      manifest.hooks.push_back(hook);
  manifest.captures = options.captures;
  manifest.missingValues = options.missingValues;
  // Nobody looks into the source, so whatever takes annudf_context may read the list there.
  manifest.readsList = !form.isPeer && form.symbol.empty();
  manifest.requiredFeatures = featuresOf(manifest);
  manifest.abiMinor = minorOf(manifest);
  manifest.sourceFile = printable(origin);
  manifest.sourceLine = form.line;
  manifest.annudfVersion = ANNUDF_VERSION;
  manifest.llvmVersion = LLVM_VERSION_STRING;
  return manifest;
}

class SourceCompilation {
public:
  SourceCompilation(const std::string &source, const std::string &origin, Findings &findings)
      : source(source), origin(origin), findings(findings) {}

  /// \param udf  whose payload the source is, or for whose payload it is empty; or null.
  std::optional<Fault> run(CudaSourceOptions options, Artifact &artifact,
                           const DeviceUdf *udf = nullptr) {
    const SourceForm form = udf ? formOf(*udf) : findForm(source);
    if (form.line == 0 && !form.symbol.empty())
      return refuse("defines no function '" + form.symbol + "', which the descriptor names");
    if (form.line == 0)
      return refuse("defines neither `update` nor `compute_dist_udf_impl`; write `float "
                    "update(float acc, float x, float y)`");
    openBrace = form.openBrace;
    if (const std::string why = findIncludedPath(source); !why.empty())
      return refuse(why);
    if (std::optional<Fault> fault = complete(options, form))
      return fault;
    auto nvrtc = Nvrtc::load();
    if (!nvrtc)
      return Fault{ErrorKind::Environment, toString(nvrtc.takeError())};
    SmallVector<int> versions;
    if (std::optional<Fault> fault = selectArchs(options.archs, **nvrtc, versions))
      return fault;
    artifact.manifest = makeManifest(options, form, origin);
    const std::string program = makeProgram(source, form, options, contractOf(artifact.manifest));
    // Read back, as what libNVVM makes is; and it tells what is wrong with the source once.
    Nvrtc::Result ptx;
    if (auto fault = compile(**nvrtc, program, versions.front(), DeviceCode::Prototypes, ptx))
      return fault;
    for (Diagnostic &found : parseLog(ptx.log, source, origin))
      findings.diagnostics.push_back(std::move(found));
    const Manifest &manifest = artifact.manifest;
    HookShape shape = {manifest.hookWidths(), manifest.hooks, /*asksForElement=*/form.isPeer};
    if (form.isLinked)
      shape.linked = form.symbol, shape.linkedTakesCapture = !options.captures.empty();
    if (llvm::Error error = checkPrototypes(ptx.code, shape))
      return refuse(llvm::toString(std::move(error)));
    if (form.isLinked)
      if (std::optional<Fault> fault = checkLinked(**nvrtc, *udf))
        return fault;
    for (int sm : versions) {
      Nvrtc::Result lto;
      if (auto fault = compile(**nvrtc, program, sm, DeviceCode::LtoIr, lto))
        return fault;
      artifact.payloads.push_back(
          Payload::ltoIr(sm, "", {"nvrtc", (*nvrtc)->release()}, std::move(lto.code)));
    }
    if (form.isLinked) {
      std::string suffix;
      const int sm = udf->architecture(&suffix);
      // Who made it, and by which release, no descriptor says; nvJitLink refuses a newer one.
      artifact.payloads.push_back(Payload::linkedLtoIr(sm, suffix, {"unknown", "0"}, udf->payload));
    }
    return std::nullopt;
  }

private:
  static SourceForm formOf(const DeviceUdf &udf) {
    if (udf.kind == UdfPayload::CudaSource) {
      const SourceForm form = findForm(udf.payload);
      return form.isPeer ? form : findSymbol(udf.payload, udf.symbol);
    }
    SourceForm form;
    form.symbol = udf.symbol;
    form.isLinked = true;
    form.line = 1;
    return form;
  }

  /// A linker matches names only, so what the code really has is looked at; where there is no
  /// linker yet, a warning says that nobody did.
  std::optional<Fault> checkLinked(const Nvrtc &nvrtc, const DeviceUdf &udf) {
    const int sm = udf.architecture();
    auto linker = NvJitLink::load();
    if (!linker) {
      Diagnostic found;
      found.severity = Diagnostic::Severity::Warning;
      found.file = origin;
      found.message = "the prototype of '" + udf.symbol +
                      "' was not checked: " + llvm::toString(linker.takeError());
      findings.diagnostics.push_back(std::move(found));
      return std::nullopt;
    }
    const bool hasCapture = !udf.captures.empty();
    auto probe = nvrtc.compile(makeProbe(udf.symbol, hasCapture), sm, DeviceCode::LtoIr);
    if (!probe)
      return Fault{ErrorKind::Environment, toString(probe.takeError())};
    if (!probe->ok)
      return refuse("has symbol '" + udf.symbol + "', which CUDA C++ cannot declare");
    auto ptx = (*linker)->linkToPtx({probe->code, udf.payload}, sm);
    if (!ptx)
      return refuse(llvm::toString(ptx.takeError()));
    if (llvm::Error error = checkCuvsPrototype(*ptx, udf.symbol, hasCapture))
      return refuse(llvm::toString(std::move(error)));
    return std::nullopt;
  }

  std::optional<Fault> selectArchs(const std::vector<std::string> &names, const Nvrtc &nvrtc,
                                   SmallVector<int> &versions) {
    for (const std::string &name : names) {
      auto sm = parseSmVersion(name);
      if (!sm)
        return Fault{ErrorKind::Usage, toString(sm.takeError())};
      if (!nvrtc.supports(*sm))
        return Fault{ErrorKind::Environment,
                     "NVRTC " + nvrtc.release() + " (" + nvrtc.path() + ") does not know " + name};
      if (!is_contained(versions, *sm))
        versions.push_back(*sm);
    }
    if (names.empty())
      for (int sm : supportedSmVersions())
        if (nvrtc.supports(sm))
          versions.push_back(sm);
    sort(versions);
    return std::nullopt;
  }

  std::optional<Fault> compile(const Nvrtc &nvrtc, const std::string &program, int sm,
                               DeviceCode kind, Nvrtc::Result &result) {
    auto compiled = nvrtc.compile(program, sm, kind);
    if (!compiled)
      return Fault{ErrorKind::Environment, toString(compiled.takeError())};
    result = std::move(*compiled);
    if (result.ok)
      return std::nullopt;
    std::string errors;
    std::vector<Diagnostic> list = parseLog(result.log, source, origin);
    // Then everything around it is wrong, and nothing of that helps.
    if (openBrace && none_of(list, [](const Diagnostic &found) { return found.column > 0; })) {
      list.resize(1);
      list[0] = Diagnostic();
      list[0].file = origin;
      list[0].line = openBrace;
      list[0].message = "this '{' is not closed";
    }
    for (Diagnostic &found : list) {
      if (found.severity == Diagnostic::Severity::Error) {
        errors += (errors.empty() ? "" : "\n") + found.file;
        if (found.line)
          errors += ":" + std::to_string(found.line);
        if (found.column)
          errors += ":" + std::to_string(found.column);
        errors += ": " + found.message;
      }
      findings.diagnostics.push_back(std::move(found));
    }
    if (errors.empty()) // Not a log as we know it: better raw than nothing.
      return refuse("NVRTC refused it: " + StringRef(result.log).trim().str());
    return Fault{ErrorKind::Input, errors};
  }

  Fault refuse(const std::string &what) {
    Diagnostic found;
    found.file = origin;
    found.message = what;
    findings.diagnostics.push_back(std::move(found));
    return {ErrorKind::Input, origin + ": " + what};
  }

  const std::string &source;
  const std::string &origin;
  Findings &findings;
  int openBrace = 0;
};

} // namespace

std::optional<Fault> annudf::compiler::compileCudaModule(const std::string &source,
                                                         const std::string &origin,
                                                         const CudaSourceOptions &options,
                                                         Artifact &artifact, Findings &findings) {
  return SourceCompilation(source, origin, findings).run(options, artifact);
}

std::optional<Fault> annudf::compiler::compileUdfModule(const DeviceUdf &udf,
                                                        const std::string &origin,
                                                        const CudaSourceOptions &given,
                                                        Artifact &artifact, Findings &findings) {
  CudaSourceOptions options = given;
  for (const UdfCapture &capture : udf.captures)
    options.captures.push_back({capture.name, ANNUDF_CAPTURE_F32, {{ANNUDF_EXTENT_DIM, 0}}});
  options.elements = {ANNUDF_ELEMENT_F32}; // The only one that the ABI is defined for.
  const bool isSource = udf.kind == UdfPayload::CudaSource;
  if (!isSource && options.archs.empty())
    options.archs = {"sm_" + std::to_string(udf.architecture())};
  const std::string source = isSource ? udf.payload : "";
  return SourceCompilation(source, origin, findings).run(options, artifact, &udf);
}

std::string annudf::describeNvrtc(std::string *searched) {
  auto nvrtc = Nvrtc::load();
  if (nvrtc)
    return "NVRTC " + (*nvrtc)->release() + " (" + (*nvrtc)->path() + ")";
  std::string why = toString(nvrtc.takeError());
  if (searched)
    *searched = why;
  return "";
}
