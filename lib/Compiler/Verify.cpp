//===- Verify.cpp - Is an artifact what this compiler makes? --------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Compiler/Verify.h"

#include "annudf/Compiler/Compiler.h"

#include <algorithm>

using namespace annudf;

namespace {

template <typename Range, typename Spell> std::string join(const Range &range, Spell spell) {
  std::string text;
  for (const auto &entry : range)
    text += (text.empty() ? "" : ", ") + std::string(spell(entry));
  return text.empty() ? "none" : text;
}

/// Whether this compiler makes code for such a GPU, LTO-IR given a libNVVM.
bool isMade(const Payload &payload) {
  return payload.suffix.empty() &&
         std::count(supportedArchs().begin(), supportedArchs().end(), payload.sm) > 0;
}

class Comparison {
public:
  /// \param withoutNvvm  why no LTO-IR was made, "" if it was.
  Comparison(const Artifact &given, const Artifact &made, const std::string &withoutNvvm,
             VerifyReport &report)
      : given(given), made(made), withoutNvvm(withoutNvvm), report(report) {}

  void run() {
    manifests();
    for (const Payload &payload : given.payloads)
      code(payload);
  }

private:
  void field(const char *name, const std::string &says, const std::string &is) {
    if (says != is)
      report.different.push_back("manifest field '" + std::string(name) + "' says " + says +
                                 ", its module says " + is);
  }

  void manifests() {
    const Manifest &a = given.manifest, &b = made.manifest;
    const size_t before = report.different.size();
    field("role", toString(a.role), toString(b.role));
    field("name", a.name, b.name);
    field("order", toString(a.order), toString(b.order));
    field("coarse", toString(a.coarse), toString(b.coarse));
    field("coarse_order", toString(a.coarseOrder), toString(b.coarseOrder));
    field("accumulator", accumulatorText(a), accumulatorText(b));
    field("compute_type", toString(a.compute), toString(b.compute));
    field("numerics", toString(a.numerics), toString(b.numerics));
    const auto element = [](annudf_element value) { return toString(value); };
    field("elements", join(a.elements, element), join(b.elements, element));
    field("dims", std::to_string(a.dims), std::to_string(b.dims));
    const auto word = [](bool value) { return value ? "true" : "false"; };
    field("missing_values", word(a.missingValues), word(b.missingValues));
    field("packed", packedText(a.packed), packedText(b.packed));
    field("form", formText(a.form), formText(b.form));
    field("row_only_indexes", word(a.rowOnlyIndexes), word(b.rowOnlyIndexes));
    field("reads_list", word(a.readsList), word(b.readsList));
    field("sees_query", word(a.seesQuery), word(b.seesQuery));
    const auto scratch = [](const Manifest &m) {
      return std::to_string(m.scratchBytes) + " + " + std::to_string(m.scratchPerDim) + " dims";
    };
    field("scratch", scratch(a), scratch(b));
    const auto hook = [](annudf_hook value) { return toString(value); };
    field("hooks", join(a.hooks, hook), join(b.hooks, hook));
    const auto capture = [](const CaptureInfo &info) { return info.name + ": " + typeText(info); };
    field("captures", join(a.captures, capture), join(b.captures, capture));
    // A field of the descriptor that is not in the list above would be forgotten otherwise.
    if (before == report.different.size() &&
        !(static_cast<const MetricDescriptor &>(a) == static_cast<const MetricDescriptor &>(b)))
      report.different.push_back(std::string("the manifest's ") + a.noun() +
                                 " is not that of its module");
    // The module carries its places.
    field("source.file", quoted(a.sourceFile), quoted(b.sourceFile));
    field("source.line", std::to_string(a.sourceLine), std::to_string(b.sourceLine));
    tools();
    claims();
    if (before == report.different.size())
      report.same.push_back("manifest: what its module says");
  }

  /// LLVM stands in the manifest and beside each payload that it made: one of two is wrong.
  void tools() {
    for (const Payload &payload : given.payloads)
      if (payload.producer.name == "llvm" &&
          payload.producer.version != given.manifest.llvmVersion) {
        report.different.push_back("manifest field 'tools.llvm' says " +
                                   given.manifest.llvmVersion + ", its " + nameOf(payload) +
                                   " says " + payload.producer.version);
        return;
      }
  }

  /// What nothing in the file proves: who made it, and by which rules it was checked then.
  void claims() {
    const Manifest &a = given.manifest, &b = made.manifest;
    const auto claim = [&](const char *name, const std::string &says, const std::string &is) {
      if (says != is)
        report.unknown.push_back("manifest field '" + std::string(name) + "' says " + says +
                                 ", this is " + is + ": nothing in the file can prove it");
    };
    claim("tools.annudf", a.annudfVersion, b.annudfVersion);
    claim("tools.llvm", a.llvmVersion, b.llvmVersion);
    if (!a.verified && !b.verified)
      return; // It links code, and says so.
    if (!a.verified) {
      report.unknown.push_back(std::string("manifest: does not say that its ") + a.noun() +
                               " was verified; it is");
      return;
    }
    if (a.verified->rules > b.verified->rules)
      report.unknown.push_back("manifest field 'verified.rules' says edition " +
                               std::to_string(a.verified->rules) + ", this annudf knows up to " +
                               std::to_string(b.verified->rules) +
                               ": rules that are newer were not checked again");
    claim("verified.version", a.verified->version, b.verified->version);
  }

  static std::string quoted(const std::string &text) { return "'" + text + "'"; }

  /// Foreign code. Several pieces may be for one architecture.
  void linkedCode(const Payload &payload) {
    const std::string name = nameOf(payload);
    const bool isMade =
        std::any_of(made.payloads.begin(), made.payloads.end(), [&](const Payload &other) {
          return other.kind == payload.kind && other.bytes == payload.bytes;
        });
    if (isMade)
      report.unknown.push_back(name +
                               ": what its module links; linked code itself is not verified");
    else if (!withoutNvvm.empty())
      report.unknown.push_back(name + ": not compared, " + withoutNvvm);
    else
      report.different.push_back(name + ": is not what its module links");
  }

  void code(const Payload &payload) {
    const std::string name = nameOf(payload);
    if (payload.isLinked())
      return linkedCode(payload);
    if (std::count_if(given.payloads.begin(), given.payloads.end(),
                      [&](const Payload &other) { return nameOf(other) == name; }) > 1) {
      report.different.push_back(name + ": stands in the file twice");
      return;
    }
    const Payload *same = find(made, payload);
    if (!same) {
      report.unknown.push_back(name + ": not compared, " + whyNotMade(payload));
      return;
    }
    if (same->bytes == payload.bytes) {
      // A linker goes by the version that a payload says, so a wrong one is not passed over.
      if (same->producer == payload.producer)
        report.same.push_back(name + ": what this compiler makes of its module");
      else
        report.unknown.push_back(name + ": what this compiler makes of its module, but says that " +
                                 payload.producer.text() + " made it, this is " +
                                 same->producer.text() + ": nothing in the file can prove it");
      return;
    }
    // Other versions may make other code of the same module.
    if (!(same->producer == payload.producer))
      report.unknown.push_back(name + ": not compared, made by " + payload.producer.text() +
                               ", this is " + same->producer.text());
    else if (given.manifest.annudfVersion != made.manifest.annudfVersion)
      report.unknown.push_back(name + ": not compared, made by annudf " +
                               given.manifest.annudfVersion + ", this is annudf " +
                               made.manifest.annudfVersion);
    else
      report.different.push_back(name + ": is not what this compiler makes of its module");
  }

  /// Only LTO-IR can be beyond this build: host bitcode is made for any triple.
  std::string whyNotMade(const Payload &payload) const {
    if (!isMade(payload)) {
      const auto &archs = supportedArchs();
      return "this annudf compiles for sm_" + std::to_string(archs.front()) + " to sm_" +
             std::to_string(archs.back()) + (payload.suffix.empty() ? "" : ", without suffix,") +
             " and not for " + payload.arch();
    }
    return withoutNvvm.empty() ? "the file has code of both libNVVM and LLVM's NVPTX, and one is "
                                 "compared"
                               : withoutNvvm;
  }

  static std::string nameOf(const Payload &payload) {
    switch (payload.kind) {
    case PayloadKind::LtoIr:
      return "LTO-IR for " + payload.arch();
    case PayloadKind::HostBitcode:
      return "host bitcode for " + payload.triple;
    case PayloadKind::MlirBytecode:
      return "module";
    case PayloadKind::LinkedLtoIr:
      return "linked LTO-IR for " + payload.arch();
    case PayloadKind::LinkedPtx:
      return "linked PTX for " + payload.arch();
    case PayloadKind::LinkedCubin:
      return "linked cubin for " + payload.arch();
    case PayloadKind::Ptx:
      return "PTX for " + payload.arch();
    }
    return "payload";
  }

  static const Payload *find(const Artifact &artifact, const Payload &like) {
    for (const Payload &payload : artifact.payloads)
      if (nameOf(payload) == nameOf(like))
        return &payload;
    return nullptr;
  }

  const Artifact &given, &made;
  const std::string &withoutNvvm;
  VerifyReport &report;
};

} // namespace

VerifyReport annudf::verifyArtifact(const Artifact &artifact, const std::string &origin) {
  const Payload *module = artifact.find(PayloadKind::MlirBytecode);
  if (!module)
    throw Error(ErrorKind::Input,
                origin + ": holds no module, so nothing can be verified again" +
                    (artifact.manifest.verified ? "" : "; its code was taken on trust"));
  CompileOptions options;
  options.metricName = artifact.manifest.name;
  // One without says so by its contract.
  options.target.form = artifact.manifest.form.has_value();
  for (const Payload &payload : artifact.payloads)
    if (payload.isHooksOfGpu() && isMade(payload)) {
      options.archs.push_back(payload.arch());
      if (payload.kind == PayloadKind::Ptx)
        options.deviceBackend = DeviceBackend::Nvptx;
    } else if (payload.kind == PayloadKind::HostBitcode) {
      options.hostTriples.push_back(payload.triple);
    }
  options.ltoIr = !options.archs.empty();
  options.hostBitcode = !options.hostTriples.empty();
  std::string withoutNvvm;
  Artifact made;
  try {
    made = compileMetric(module->bytes, origin, options);
  } catch (const Error &error) {
    // The metric's name is the manifest's word: another is a difference, not a wrong call.
    if (error.kind() == ErrorKind::Usage)
      throw Error(ErrorKind::Input, error.what());
    if (error.kind() != ErrorKind::Environment || !options.ltoIr)
      throw;
    withoutNvvm = error.what();
    options.ltoIr = false;
    made = compileMetric(module->bytes, origin, options);
  }
  VerifyReport report;
  Comparison(artifact, made, withoutNvvm, report).run();
  return report;
}
