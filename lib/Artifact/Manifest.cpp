//===- Manifest.cpp - The manifest as CBOR map and back -------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ManifestFields.h"

#include <algorithm>
#include <limits>

namespace annudf {
namespace {

using nlohmann::json;

constexpr const char *kPayloads[] = {"lto-ir", "host-bitcode", "mlir-bytecode"};

/// Reads one map, naming file and field in every complaint.
class Fields {
public:
  Fields(const json &map, const std::string &origin, const std::string &path)
      : map_(map), origin_(origin), path_(path) {
    if (!map.is_object())
      fail("", "must be a map");
  }

  [[noreturn]] void fail(const std::string &field, const std::string &what) const {
    throw Error(ErrorKind::Input, origin_ + ": manifest field '" + path_ +
                                      (path_.empty() || field.empty() ? "" : ".") + field + "' " +
                                      what);
  }

  const json &get(const char *field) const {
    const auto found = map_.find(field);
    if (found == map_.end())
      fail(field, "is missing");
    return *found;
  }

  std::string text(const char *field) const {
    const json &value = get(field);
    if (!value.is_string())
      fail(field, "must be text");
    return value.get<std::string>();
  }

  uint64_t number(const char *field, uint64_t most) const {
    const json &value = get(field);
    if (!value.is_number_integer() || !value.is_number_unsigned())
      fail(field, "must be an integer not below 0");
    if (value.get<uint64_t>() > most)
      fail(field,
           "is " + std::to_string(value.get<uint64_t>()) + ", above " + std::to_string(most));
    return value.get<uint64_t>();
  }

  /// A field that came later than the others: false where it is missing.
  bool flag(const char *field) const {
    const auto found = map_.find(field);
    if (found == map_.end())
      return false;
    if (!found->is_boolean())
      fail(field, "must be true or false");
    return found->get<bool>();
  }

  const json &list(const char *field) const {
    const json &value = get(field);
    if (!value.is_array())
      fail(field, "must be a list");
    return value;
  }

  /// One of the spellings of a table of the ABI.
  template <typename Enum> Enum choice(const char *field, const json &value) const {
    if (!value.is_string())
      fail(field, "must be text");
    std::string why;
    if (auto parsed = parseSpelling<Enum>(value.get_ref<const std::string &>(), &why))
      return *parsed;
    fail(field, why);
  }
  template <typename Enum> Enum choice(const char *field) const {
    return choice<Enum>(field, get(field));
  }

  Fields map(const char *field) const {
    return Fields(get(field), origin_, path_.empty() ? field : path_ + "." + field);
  }

  const std::string &origin() const { return origin_; }

private:
  const json &map_;
  std::string origin_, path_;
};

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
  CaptureInfo capture;
  capture.name = fields.text("name");
  capture.element = fields.choice<annudf_capture_element>("element");
  for (const json &entry : fields.list("extents")) {
    CaptureExtent extent;
    if (entry.is_number_integer()) {
      if (!entry.is_number_unsigned() ||
          entry.get<uint64_t>() > uint64_t(std::numeric_limits<int64_t>::max()))
        fields.fail("extents", "has an extent out of range");
      extent.kind = ANNUDF_EXTENT_CONSTANT;
      extent.constant = entry.get<int64_t>();
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

PayloadKind payloadKind(const Fields &fields) {
  const std::string text = fields.text("kind");
  for (size_t i = 0; i < std::size(kPayloads); ++i)
    if (text == kPayloads[i])
      return static_cast<PayloadKind>(i);
  fields.fail("kind",
              "is " + inQuotes(text) + ", which is none of lto-ir, host-bitcode, mlir-bytecode");
}

} // namespace

const char *toString(PayloadKind value) { return kPayloads[static_cast<size_t>(value)]; }

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
    refuse("says feature bits " + hex(m.requiredFeatures) + ", its metric needs " + hex(features));
  if (const uint32_t minor = minorOf(m); m.abiMinor != minor)
    refuse("says minor " + std::to_string(m.abiMinor) + " of its ABI, its metric needs " +
           std::to_string(minor));
}

json manifestToFields(const Artifact &artifact) {
  const Manifest &m = artifact.manifest;
  json captures = json::array(), elements = json::array(), hooks = json::array(),
       payloads = json::array();
  for (annudf_hook hook : m.hooks)
    hooks.push_back(toString(hook));
  for (annudf_element element : m.elements)
    elements.push_back(toString(element));
  for (const CaptureInfo &capture : m.captures) {
    json extents = json::array();
    for (const CaptureExtent &extent : capture.extents)
      extents.push_back(extent.kind == ANNUDF_EXTENT_CONSTANT
                            ? json(static_cast<uint64_t>(extent.constant))
                            : json(toString(extent.kind)));
    captures.push_back(
        {{"name", capture.name}, {"element", toString(capture.element)}, {"extents", extents}});
  }
  for (const Payload &payload : artifact.payloads)
    payloads.push_back({{"kind", toString(payload.kind)},
                        {"arch", payload.arch},
                        {"producer", payload.producer},
                        {"size", uint64_t(payload.bytes.size())},
                        {"sha256", sha256Hex(payload.bytes)}});
  json fields = {{"abi", {{"id", m.abiId}, {"major", m.abiMajor}, {"minor", m.abiMinor}}},
                 {"features", m.requiredFeatures},
                 {"name", m.name},
                 {"order", toString(m.order)},
                 {"coarse", toString(m.coarse)},
                 {"coarse_order", toString(m.coarseOrder)},
                 {"accumulator", toString(m.accumulator)},
                 {"compute_type", toString(m.compute)},
                 {"elements", elements},
                 {"dims", static_cast<uint32_t>(m.dims)},
                 {"hooks", hooks},
                 {"captures", captures},
                 {"source", {{"file", m.sourceFile}, {"line", m.sourceLine}}},
                 {"tools", {{"annudf", m.annudfVersion}, {"llvm", m.llvmVersion}}},
                 {"payloads", payloads}};
  // Only where it is so: every verified artifact keeps the bytes that it always had.
  if (m.trusted)
    fields["trusted"] = true;
  return fields;
}

Artifact manifestFromFields(const json &map, const std::string &origin,
                            std::vector<uint64_t> &sizes, std::vector<std::string> &digests) {
  constexpr uint64_t kMaxU32 = std::numeric_limits<uint32_t>::max();
  const Fields fields(map, origin, "");
  Artifact artifact;
  Manifest &m = artifact.manifest;
  const Fields abi = fields.map("abi");
  m.abiId = abi.text("id");
  m.abiMajor = static_cast<uint32_t>(abi.number("major", kMaxU32));
  m.abiMinor = static_cast<uint32_t>(abi.number("minor", kMaxU32));
  checkAbi(m, origin);
  m.requiredFeatures = fields.number("features", std::numeric_limits<uint64_t>::max());
  m.name = fields.text("name");
  m.order = fields.choice<annudf_order>("order");
  m.coarse = fields.choice<annudf_coarse>("coarse");
  m.coarseOrder = fields.choice<annudf_order>("coarse_order");
  m.accumulator = fields.choice<annudf_accumulator>("accumulator");
  m.compute = fields.choice<annudf_compute>("compute_type");
  for (const json &entry : fields.list("elements"))
    m.elements.push_back(fields.choice<annudf_element>("elements", entry));
  m.dims = static_cast<int32_t>(fields.number("dims", ANNUDF_MAX_DIMS));
  for (const json &entry : fields.list("hooks"))
    m.hooks.push_back(fields.choice<annudf_hook>("hooks", entry));
  const json &captures = fields.list("captures");
  for (size_t i = 0; i < captures.size(); ++i)
    m.captures.push_back(
        captureFromFields(Fields(captures[i], origin, "captures[" + std::to_string(i) + "]")));
  const Fields source = fields.map("source");
  m.sourceFile = source.text("file");
  m.sourceLine = static_cast<uint32_t>(source.number("line", kMaxU32));
  const Fields tools = fields.map("tools");
  m.annudfVersion = tools.text("annudf");
  m.llvmVersion = tools.text("llvm");
  m.trusted = fields.flag("trusted");
  const json &payloads = fields.list("payloads");
  for (size_t i = 0; i < payloads.size(); ++i) {
    const Fields entry(payloads[i], origin, "payloads[" + std::to_string(i) + "]");
    Payload payload;
    payload.kind = payloadKind(entry);
    payload.arch = entry.text("arch");
    payload.producer = entry.text("producer");
    sizes.push_back(entry.number("size", std::numeric_limits<uint64_t>::max()));
    digests.push_back(entry.text("sha256"));
    artifact.payloads.push_back(std::move(payload));
  }
  checkManifest(m, origin);
  return artifact;
}

} // namespace annudf
