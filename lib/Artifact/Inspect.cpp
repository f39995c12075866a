//===- Inspect.cpp - An artifact's manifest, for people and programs *- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FormFields.h"
#include "ManifestFields.h"

namespace annudf {
namespace {

template <typename Range, typename Spell> std::string join(const Range &range, Spell spell) {
  std::string text;
  for (const auto &entry : range)
    text += (text.empty() ? "" : ", ") + std::string(spell(entry));
  return text.empty() ? "none" : text;
}

std::string featureText(uint64_t features) {
  std::vector<std::string> names;
  for (const TableRow &row : tableOf<annudf_feature>().rows)
    if (features & static_cast<uint64_t>(row.value))
      names.push_back(row.spelling);
  return join(names, [](const std::string &name) { return name; });
}

} // namespace

std::string manifestToJson(const Artifact &artifact) {
  Map fields = manifestToFields(artifact);
  // Not in the file, which would only repeat it: what the code of this metric returns.
  char contract[17];
  std::snprintf(contract, sizeof contract, "%016llx",
                static_cast<unsigned long long>(contractOf(artifact.manifest)));
  fields["contract"] = contract;
  if (artifact.manifest.form)
    fields["form"] = formToShow(*artifact.manifest.form);
  // Names come from files of other people: bytes that are no UTF-8 are replaced, not thrown on.
  return toJson(std::move(fields));
}

std::string manifestToText(const Artifact &artifact, const std::string &origin) {
  const Manifest &m = artifact.manifest;
  std::string text;
  auto line = [&](const char *label, const std::string &value) {
    text +=
        "  " + std::string(label) + std::string(14 - std::string(label).size(), ' ') + value + "\n";
  };
  text += std::string(m.noun()) + " " + m.name + " (" + origin + ")\n";
  line("abi", m.abiId + " " + std::to_string(m.abiMajor) + "." + std::to_string(m.abiMinor));
  line("features", featureText(m.requiredFeatures));
  if (!m.isFilter()) {
    line("order", toString(m.order));
    line("coarse", std::string(toString(m.coarse)) + ", best is " + toString(m.coarseOrder));
    line("elements", join(m.elements, [](annudf_element e) { return toString(e); }));
    line("compute type", toString(m.compute));
    if (!m.isPairwise())
      line("accumulator", accumulatorText(m));
    line("numerics", toString(m.numerics));
    if (m.missingValues)
      line("missing", "values are NaN");
    if (m.packed)
      line("packed", packedText(m.packed));
    if (m.form)
      line("form", formText(m.form));
  }
  line("dims", m.dims == 0 ? "any" : std::to_string(m.dims));
  line("hooks", m.isFilter()     ? "keep"
                : m.isPairwise() ? "distance of whole vectors"
                                 : join(m.hooks, [](annudf_hook hook) { return toString(hook); }));
  if (m.hasScratch())
    line("scratch", std::to_string(m.scratchBytes) + " bytes and " +
                        std::to_string(m.scratchPerDim) + " a dimension");
  line("captures", join(m.captures, [](const CaptureInfo &capture) {
         return capture.name + ": " + typeText(capture);
       }));
  if (m.rowOnlyIndexes)
    line("row", "only indexes captures");
  if (m.readsList)
    line("list", "read by the hooks");
  if (m.seesQuery)
    line("sees", "the query");
  line("source",
       m.sourceFile.empty() ? "unknown" : m.sourceFile + ":" + std::to_string(m.sourceLine));
  line("made by", "annudf " + m.annudfVersion + ", LLVM " + m.llvmVersion);
  line("verified",
       m.verified
           ? "by rules " + std::to_string(m.verified->rules) + " of annudf " + m.verified->version
       : artifact.hasLinkedCode() ? "no: prototypes were checked, what linked code does was not"
                                  : "no: prototypes were checked, what the hooks do was not");
  text += "payloads\n";
  for (const Payload &payload : artifact.payloads) {
    std::string entry = std::string(toString(payload.kind));
    entry.resize(std::max<size_t>(entry.size() + 1, 14), ' ');
    text += "  " + entry + (payload.arch().empty() ? "" : payload.arch() + ", ") +
            std::to_string(payload.bytes.size()) + " bytes, " + payload.producer.text() +
            ", sha256 " + sha256Hex(payload.bytes).substr(0, 16) + "...\n";
  }
  return text;
}

} // namespace annudf
