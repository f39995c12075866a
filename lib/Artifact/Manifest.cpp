//===- Manifest.cpp - The manifest as CBOR map and back -------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fields.h"
#include "FormFields.h"
#include "ManifestFields.h"

#include "annudf/Support/Printable.h"

#include <algorithm>
#include <limits>
#include <span>
#include <tuple>

namespace annudf {
namespace {

std::string abiText(const std::string &id, uint64_t major, uint64_t minor) {
  return id + " " + std::to_string(major) + "." + std::to_string(minor);
}

/// First of all: of another ABI, no other field means what it seems to mean.
void checkAbi(const Manifest &manifest, const std::string &origin) {
  if (manifest.abiId == ANNUDF_ABI_ID && manifest.abiMajor == ANNUDF_ABI_MAJOR &&
      manifest.abiMinor <= ANNUDF_ABI_MINOR)
    return;
  const std::string id =
      manifest.abiId == ANNUDF_ABI_ID ? manifest.abiId : "ABI " + inQuotes(manifest.abiId);
  throw Error(ErrorKind::Input,
              origin + ": needs " + abiText(id, manifest.abiMajor, manifest.abiMinor) +
                  ", this annudf accepts " +
                  (manifest.abiId == ANNUDF_ABI_ID && manifest.abiMajor == ANNUDF_ABI_MAJOR
                       ? "up to " + std::to_string(ANNUDF_ABI_MAJOR) + "." +
                             std::to_string(ANNUDF_ABI_MINOR)
                       : abiText(ANNUDF_ABI_ID, ANNUDF_ABI_MAJOR, ANNUDF_ABI_MINOR)));
}

CaptureInfo captureFromFields(const Fields &fields) {
  fields.allow({"name", "element", "extents"});
  CaptureInfo capture;
  capture.name = fields.text("name");
  capture.element = fields.choice<annudf_capture_element>("element");
  for (const Value &entry : fields.list("extents")) {
    CaptureExtent extent;
    if (const auto *number = entry.as<uint64_t>(); number || entry.as<Negative>()) {
      if (!number || *number > uint64_t(std::numeric_limits<int64_t>::max()))
        fields.fail("extents", "has an extent that is not from 1 to 2**63 - 1");
      extent.kind = ANNUDF_EXTENT_CONSTANT;
      extent.constant = static_cast<int64_t>(*number);
    } else {
      extent.kind = fields.choice<annudf_extent>("extents", entry);
      if (extent.kind == ANNUDF_EXTENT_CONSTANT)
        fields.fail("extents", "must give a constant extent as a number");
    }
    capture.extents.push_back(extent);
  }
  return capture;
}

std::string hex(uint64_t bits) {
  char text[20];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(bits));
  return text;
}

constexpr PayloadKind kPayloadKinds[] = {PayloadKind::LtoIr,        PayloadKind::HostBitcode,
                                         PayloadKind::MlirBytecode, PayloadKind::LinkedLtoIr,
                                         PayloadKind::LinkedPtx,    PayloadKind::LinkedCubin,
                                         PayloadKind::Ptx};

PayloadKind payloadKind(const Fields &fields) {
  const std::string text = fields.text("kind");
  std::string known;
  for (PayloadKind kind : kPayloadKinds) {
    if (text == toString(kind))
      return kind;
    known += (known.empty() ? "" : ", ") + std::string(toString(kind));
  }
  fields.fail("kind", "is " + inQuotes(text) + ", it must be one of " + known);
}

constexpr size_t kMaxPath = 4096, kMaxText = 255;
constexpr uint64_t kMaxU32 = std::numeric_limits<uint32_t>::max();

/// "13.0": numbers with dots between them.
bool isVersion(std::string_view text) {
  const auto isDigit = [](char c) { return c >= '0' && c <= '9'; };
  bool digit = false; // Whether the last character was one.
  for (char c : text) {
    if (!isDigit(c) && (c != '.' || !digit))
      return false;
    digit = isDigit(c);
  }
  return digit && text.size() <= 32;
}

/// What is wrong with a payload, "" if nothing: "has suffix 'x', it must be one of a, f".
std::string faultOf(const Payload &payload) {
  const bool isDevice = payload.isDeviceCode(), isHost = payload.kind == PayloadKind::HostBitcode;
  if (isDevice ? payload.sm < 10 || payload.sm > 9999 : payload.sm != 0)
    return "has sm " + std::to_string(payload.sm) +
           (isDevice ? "; it must be from 10 to 9999, as 90 for sm_90"
                     : "; only code for GPUs has one");
  if (!payload.suffix.empty() && (!isDevice || (payload.suffix != "a" && payload.suffix != "f")))
    return "has suffix " + inQuotes(payload.suffix) + ", it must be one of a, f";
  if (isHost ? payload.triple.empty() : !payload.triple.empty())
    return "has triple " + inQuotes(payload.triple) +
           (isHost ? "; host code names its target" : "; only host code has one");
  if (payload.triple.size() > kMaxText || !isPrintable(payload.triple))
    return "has triple " + inQuotes(payload.triple) + "; it must be printable and have at most " +
           std::to_string(kMaxText) + " bytes";
  if (!isName(payload.producer.name))
    return "has producer " + inQuotes(payload.producer.name) + "; use letters, digits and _";
  if (!isVersion(payload.producer.version))
    return "has version " + inQuotes(payload.producer.version) +
           "; write numbers with dots between them";
  return "";
}

Payload payloadFromFields(const Fields &fields) {
  Payload payload;
  payload.kind = payloadKind(fields);
  if (payload.isDeviceCode()) {
    fields.allow({"kind", "sm", "suffix", "producer", "version", "size", "sha256"});
    payload.sm = static_cast<int>(fields.number("sm", 9999));
    payload.suffix = fields.text("suffix");
  } else if (payload.kind == PayloadKind::HostBitcode) {
    fields.allow({"kind", "triple", "producer", "version", "size", "sha256"});
    payload.triple = fields.line("triple", kMaxText);
  } else {
    fields.allow({"kind", "producer", "version", "size", "sha256"});
  }
  payload.producer = {fields.text("producer"), fields.text("version")};
  if (const std::string fault = faultOf(payload); !fault.empty())
    fields.fail("", fault);
  return payload;
}

Map payloadToFields(const Payload &payload) {
  Map fields = {{"kind", toString(payload.kind)},
                {"producer", payload.producer.name},
                {"version", payload.producer.version},
                {"size", uint64_t(payload.bytes.size())},
                {"sha256", sha256Hex(payload.bytes)}};
  if (payload.isDeviceCode()) {
    fields["sm"] = static_cast<uint32_t>(payload.sm);
    fields["suffix"] = payload.suffix;
  } else if (payload.kind == PayloadKind::HostBitcode) {
    fields["triple"] = payload.triple;
  }
  return fields;
}

std::optional<Verification> verificationFromFields(const Fields &fields) {
  fields.allow({"rules", "version"});
  Verification verified;
  verified.rules = static_cast<uint32_t>(fields.number("rules", kMaxU32));
  if (verified.rules == 0)
    fields.fail("rules", "is 0; the first edition of the rules is 1");
  verified.version = fields.line("version", kMaxText);
  return verified;
}

} // namespace

const char *toString(PayloadKind kind) {
  switch (kind) {
  case PayloadKind::LtoIr:
    return "lto-ir";
  case PayloadKind::HostBitcode:
    return "host-bitcode";
  case PayloadKind::MlirBytecode:
    return "mlir-bytecode";
  case PayloadKind::LinkedLtoIr:
    return "linked-lto-ir";
  case PayloadKind::LinkedPtx:
    return "linked-ptx";
  case PayloadKind::LinkedCubin:
    return "linked-cubin";
  case PayloadKind::Ptx:
    return "ptx";
  }
  return "invalid";
}

void checkManifest(const Manifest &m, const std::string &origin) {
  auto refuse = [&](const std::string &what) {
    throw Error(ErrorKind::Input, origin + ": " + what);
  };
  checkAbi(m, origin);
  if (const uint64_t unknown = m.requiredFeatures & ~ANNUDF_FEATURES_KNOWN) {
    refuse("needs feature bits " + hex(unknown) + ", this annudf knows " +
           hex(ANNUDF_FEATURES_KNOWN));
  }
  if (const std::string fault = faultOf(m); !fault.empty())
    refuse(fault);
  // One producer of both numbers: a file that says others was not made from its own metric.
  if (const uint64_t features = featuresOf(m); m.requiredFeatures != features)
    refuse("says feature bits " + hex(m.requiredFeatures) + ", its " + m.noun() + " needs " +
           hex(features));
  if (const uint32_t minor = minorOf(m); m.abiMinor != minor)
    refuse("says minor " + std::to_string(m.abiMinor) + " of its ABI, its " + m.noun() + " needs " +
           std::to_string(minor));
  for (const auto &[what, text, most] : {std::tuple("source.file", &m.sourceFile, kMaxPath),
                                         std::tuple("tools.annudf", &m.annudfVersion, kMaxText),
                                         std::tuple("tools.llvm", &m.llvmVersion, kMaxText)})
    if (text->size() > most || !isPrintable(*text))
      refuse(std::string("manifest field '") + what + "' is " + inQuotes(*text) +
             "; it must be printable and have at most " + std::to_string(most) + " bytes");
}

/// When it is written, and when it is read: anybody can seal one anew.
static void checkVerified(const Artifact &artifact, const std::string &origin) {
  for (const Payload &payload : artifact.payloads)
    if (artifact.manifest.verified && payload.isLinked())
      throw Error(ErrorKind::Input, origin + ": says that it was verified, but has " +
                                        toString(payload.kind) + ", which cannot be verified");
}

void checkPayloads(const Artifact &artifact, const std::string &origin) {
  const auto refuse = [&](size_t payload, const std::string &fault) {
    throw Error(ErrorKind::Input, origin + ": payload " + std::to_string(payload) + " " + fault);
  };
  for (size_t i = 0; i < artifact.payloads.size(); ++i)
    if (const std::string fault = faultOf(artifact.payloads[i]); !fault.empty())
      refuse(i, fault);
  checkVerified(artifact, origin);
}

Map manifestToFields(const Artifact &artifact) {
  const Manifest &m = artifact.manifest;
  List captures, elements, fieldsOfStruct, hooks, payloads;
  for (annudf_hook hook : m.hooks)
    hooks.push_back(toString(hook));
  for (annudf_element element : m.elements)
    elements.push_back(toString(element));
  for (const CaptureInfo &capture : m.captures) {
    List extents;
    for (const CaptureExtent &extent : capture.extents)
      extents.push_back(extent.kind == ANNUDF_EXTENT_CONSTANT
                            ? Value(static_cast<uint64_t>(extent.constant))
                            : Value(toString(extent.kind)));
    captures.push_back(Map{{"name", capture.name},
                           {"element", toString(capture.element)},
                           {"extents", std::move(extents)}});
  }
  for (const Payload &payload : artifact.payloads)
    payloads.push_back(payloadToFields(payload));
  Map fields = {{"abi", Map{{"id", m.abiId}, {"major", m.abiMajor}, {"minor", m.abiMinor}}},
                {"features", m.requiredFeatures},
                {"name", m.name},
                {"dims", static_cast<uint32_t>(m.dims)},
                {"captures", std::move(captures)},
                {"source", Map{{"file", m.sourceFile}, {"line", m.sourceLine}}},
                {"tools", Map{{"annudf", m.annudfVersion}, {"llvm", m.llvmVersion}}},
                {"payloads", std::move(payloads)}};
  if (m.role != ANNUDF_ROLE_SCAN) // A metric of one coordinate does not say its role.
    fields["role"] = toString(m.role);
  if (!m.isFilter())
    fields.merge(Map{{"order", toString(m.order)},
                     {"coarse", toString(m.coarse)},
                     {"coarse_order", toString(m.coarseOrder)},
                     {"compute_type", toString(m.compute)},
                     {"numerics", toString(m.numerics)},
                     {"elements", std::move(elements)}});
  if (m.role == ANNUDF_ROLE_SCAN)
    fields.merge(Map{{"accumulator", toString(m.accumulator)}, {"hooks", std::move(hooks)}});
  if (m.hasScratch())
    fields["scratch"] = Map{{"bytes", static_cast<uint32_t>(m.scratchBytes)},
                            {"per_dim", static_cast<uint32_t>(m.scratchPerDim)}};
  for (annudf_accumulator field : m.fields)
    fieldsOfStruct.push_back(toString(field));
  if (!m.fields.empty())
    fields["fields"] = std::move(fieldsOfStruct);
  if (m.missingValues)
    fields["missing_values"] = true;
  if (m.packed) {
    Map dims;
    for (const PackedElement &entry : m.packed->elements)
      dims[toString(entry.element)] = static_cast<uint32_t>(entry.dims);
    Map packed = {{"term", toString(m.packed->term)}, {"dims", std::move(dims)}};
    if (m.packed->negated)
      packed["negated"] = true;
    fields["packed"] = std::move(packed);
  }
  if (m.form)
    fields["form"] = formToFields(*m.form);
  if (m.rowOnlyIndexes)
    fields["row_only_indexes"] = true;
  if (m.readsList)
    fields["reads_list"] = true;
  if (m.seesQuery)
    fields["sees_query"] = true;
  if (m.verified)
    fields["verified"] = Map{{"rules", m.verified->rules}, {"version", m.verified->version}};
  return fields;
}

/// In the order of the table, as a map has no order of its own.
static PackedSum packedFromFields(const Fields &fields) {
  fields.allow({"term", "negated", "dims"});
  PackedSum packed;
  packed.term = fields.choice<annudf_packed_term>("term");
  packed.negated = fields.flag("negated", "a sum that is added");
  const Fields dims = fields.map("dims");
  for (const TableRow &row : tableOf<annudf_element>().rows)
    if (row.since != TableRow::kReserved && dims.has(row.spelling))
      packed.elements.push_back({static_cast<annudf_element>(row.value),
                                 static_cast<int32_t>(dims.number(row.spelling, ANNUDF_MAX_DIMS))});
  for (const auto &[spelling, value] : *fields.get("dims").as<Map>()) {
    std::string why;
    if (!parseSpelling<annudf_element>(spelling, &why))
      fields.fail("dims", "names an element type that " + why);
  }
  std::sort(packed.elements.begin(), packed.elements.end(),
            [](const PackedElement &a, const PackedElement &b) { return a.element < b.element; });
  return packed;
}

/// Written where a distance of whole vectors has some.
static void scratchFromFields(const Fields &fields, Manifest &m) {
  if (!fields.has("scratch"))
    return;
  const Fields scratch = fields.map("scratch");
  scratch.allow({"bytes", "per_dim"});
  m.scratchBytes = static_cast<int32_t>(scratch.number("bytes", ANNUDF_MAX_SCRATCH));
  m.scratchPerDim = static_cast<int32_t>(scratch.number("per_dim", ANNUDF_MAX_SCRATCH_DIM));
  if (!m.hasScratch())
    fields.fail("scratch", "is empty; a distance without scratch has no such field");
}

/// Fields of metrics and filters.
constexpr std::string_view kOfBoth[] = {"abi",      "features",        "name",  "dims",
                                        "captures", "source",          "tools", "verified",
                                        "payloads", "row_only_indexes"};

/// What a manifest says of its metric or filter, its name, dims and captures left out.
static void roleFromFields(const Fields &fields, Manifest &m) {
  m.rowOnlyIndexes = fields.flag("row_only_indexes", "what uses the number of a row otherwise");
  if (fields.has("role")) {
    m.role = fields.choice<annudf_role>("role");
    if (m.role == ANNUDF_ROLE_SCAN)
      fields.fail("role", std::string("is '") + toString(m.role) +
                              "', which a metric has without saying so");
  }
  if (m.isFilter()) {
    fields.allow({"role", "sees_query"}, kOfBoth);
    m.seesQuery = fields.flag("sees_query", "a filter that serves all queries");
    return;
  }
  if (m.isPairwise())
    fields.allow({"role", "order", "coarse", "coarse_order", "compute_type", "numerics", "elements",
                  "missing_values", "reads_list", "scratch"},
                 kOfBoth);
  else
    fields.allow({"order", "coarse", "coarse_order", "accumulator", "compute_type", "numerics",
                  "elements", "hooks", "fields", "missing_values", "packed", "form", "reads_list"},
                 kOfBoth);
  m.order = fields.choice<annudf_order>("order");
  m.coarse = fields.choice<annudf_coarse>("coarse");
  m.coarseOrder = fields.choice<annudf_order>("coarse_order");
  m.compute = fields.choice<annudf_compute>("compute_type");
  m.numerics = fields.choice<annudf_numerics>("numerics");
  for (const Value &entry : fields.list("elements"))
    m.elements.push_back(fields.choice<annudf_element>("elements", entry));
  m.missingValues = fields.flag("missing_values", "a metric that takes none");
  m.readsList = fields.flag("reads_list", "a metric that does not read the number of a list");
  if (m.isPairwise()) {
    scratchFromFields(fields, m);
    return;
  }
  m.accumulator = fields.choice<annudf_accumulator>("accumulator");
  for (const Value &entry : fields.list("hooks"))
    m.hooks.push_back(fields.choice<annudf_hook>("hooks", entry));
  if (fields.has("fields")) {
    for (const Value &entry : fields.list("fields"))
      m.fields.push_back(fields.choice<annudf_accumulator>("fields", entry));
    if (m.fields.empty())
      fields.fail("fields", "is empty; an accumulator of one word has no such field");
  }
  if (fields.has("packed"))
    m.packed = packedFromFields(fields.map("packed"));
  if (fields.has("form"))
    m.form =
        formFromFields(fields.get("form"), [&](const std::string &field, const std::string &what) {
          fields.fail("form" + field, what);
        });
}

Artifact manifestFromFields(const Value &map, const std::string &origin,
                            std::vector<uint64_t> &sizes, std::vector<std::string> &digests) {
  const Fields fields(map, origin, "");
  Artifact artifact;
  Manifest &m = artifact.manifest;
  const Fields abi = fields.map("abi");
  m.abiId = abi.text("id");
  m.abiMajor = static_cast<uint32_t>(abi.number("major", kMaxU32));
  m.abiMinor = static_cast<uint32_t>(abi.number("minor", kMaxU32));
  checkAbi(m, origin);
  abi.allow({"id", "major", "minor"});
  m.requiredFeatures = fields.number("features", std::numeric_limits<uint64_t>::max());
  m.name = fields.text("name");
  roleFromFields(fields, m);
  m.dims = static_cast<int32_t>(fields.number("dims", ANNUDF_MAX_DIMS));
  const List &captures = fields.list("captures");
  for (size_t i = 0; i < captures.size(); ++i)
    m.captures.push_back(
        captureFromFields(Fields(captures[i], origin, "captures[" + std::to_string(i) + "]")));
  const Fields source = fields.map("source");
  m.sourceFile = source.line("file", kMaxPath);
  m.sourceLine = static_cast<uint32_t>(source.number("line", kMaxU32));
  const Fields tools = fields.map("tools");
  m.annudfVersion = tools.line("annudf", kMaxText);
  m.llvmVersion = tools.line("llvm", kMaxText);
  source.allow({"file", "line"});
  tools.allow({"annudf", "llvm"});
  if (fields.has("verified"))
    m.verified = verificationFromFields(fields.map("verified"));
  const List &payloads = fields.list("payloads");
  for (size_t i = 0; i < payloads.size(); ++i) {
    const Fields entry(payloads[i], origin, "payloads[" + std::to_string(i) + "]");
    artifact.payloads.push_back(payloadFromFields(entry));
    sizes.push_back(entry.number("size", std::numeric_limits<uint64_t>::max()));
    digests.push_back(entry.text("sha256"));
  }
  checkManifest(m, origin);
  checkVerified(artifact, origin);
  return artifact;
}

} // namespace annudf
