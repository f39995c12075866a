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

constexpr const char *kElements[] = {"f32", "f16", "i8", "u8"};
constexpr const char *kOrders[] = {"min", "max"};
constexpr const char *kCoarse[] = {"l2", "inner_product", "cosine"};
constexpr const char *kAccumulators[] = {"f32", "f64", "i32", "u32"};
constexpr const char *kPayloads[] = {"lto-ir", "host-bitcode", "mlir-bytecode"};
constexpr const char *kExtents[] = {"constant", "dim", "row", "query"};
constexpr const char *kCaptureElements[] = {"f32", "f64", "f16", "i8",  "u8",  "i16",
                                            "u16", "i32", "u32", "i64", "u64", "i1"};
constexpr const char *kComputeTypes[] = {"f32", "f64", "f16", "i8",  "i16", "i32",
                                         "i64", "u8",  "u16", "u32", "u64"};

template <typename Enum, size_t N> const char *spell(const char *const (&table)[N], Enum value) {
  return static_cast<size_t>(value) < N ? table[static_cast<size_t>(value)] : "invalid";
}

template <size_t N> bool contains(const char *const (&table)[N], const std::string &text) {
  return std::find(std::begin(table), std::end(table), text) != std::end(table);
}

template <size_t N> std::string listing(const char *const (&table)[N]) {
  std::string text;
  for (const char *entry : table)
    text += (text.empty() ? "" : ", ") + std::string(entry);
  return text;
}

/// Text of a file, made safe to print on one line and of bounded length.
std::string quoted(const std::string &text) {
  std::string shown = "'";
  for (char c : text.substr(0, 60))
    shown += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  return shown + (text.size() > 60 ? "...'" : "'");
}

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

  template <typename Enum, size_t N>
  Enum choice(const char *field, const char *const (&table)[N], const json &value) const {
    if (!value.is_string())
      fail(field, "must be text");
    const auto &text = value.get_ref<const std::string &>();
    for (size_t i = 0; i < N; ++i)
      if (text == table[i])
        return static_cast<Enum>(i);
    fail(field, "is " + quoted(text) + ", which is none of " + listing(table));
  }
  template <typename Enum, size_t N>
  Enum choice(const char *field, const char *const (&table)[N]) const {
    return choice<Enum>(field, table, get(field));
  }

  Fields map(const char *field) const {
    return Fields(get(field), origin_, path_.empty() ? field : path_ + "." + field);
  }

  const std::string &origin() const { return origin_; }

private:
  const json &map_;
  std::string origin_, path_;
};

constexpr uint64_t kMaxI32 = std::numeric_limits<int32_t>::max();

std::string abiText(const std::string &id, uint64_t major, uint64_t minor) {
  return id + " " + std::to_string(major) + "." + std::to_string(minor);
}

/// First of all: of another ABI, no other field means what it seems to mean.
void checkAbi(const Manifest &manifest, const std::string &origin) {
  if (manifest.abiId == ANNUDF_ABI_ID && manifest.abiMajor == ANNUDF_ABI_MAJOR &&
      manifest.abiMinor <= ANNUDF_ABI_MINOR)
    return;
  const std::string id =
      manifest.abiId == ANNUDF_ABI_ID ? manifest.abiId : "ABI " + quoted(manifest.abiId);
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
  capture.element = fields.text("element");
  for (const json &entry : fields.list("extents")) {
    CaptureExtent extent;
    if (entry.is_number_integer()) {
      if (!entry.is_number_unsigned() ||
          entry.get<uint64_t>() > uint64_t(std::numeric_limits<int64_t>::max()))
        fields.fail("extents", "has an extent out of range");
      extent.kind = ANNUDF_EXTENT_CONSTANT;
      extent.constant = entry.get<int64_t>();
    } else {
      extent.kind = fields.choice<annudf_extent>("extents", kExtents, entry);
      if (extent.kind == ANNUDF_EXTENT_CONSTANT)
        fields.fail("extents", "must give a constant extent as a number");
    }
    capture.extents.push_back(extent);
  }
  return capture;
}

} // namespace

const char *toString(annudf_element value) { return spell(kElements, value); }
const char *toString(annudf_order value) { return spell(kOrders, value); }
const char *toString(annudf_coarse value) { return spell(kCoarse, value); }
const char *toString(annudf_accumulator value) { return spell(kAccumulators, value); }
const char *toString(PayloadKind value) { return spell(kPayloads, value); }

int elementSize(annudf_element element) {
  switch (element) {
  case ANNUDF_ELEMENT_F32:
    return 4;
  case ANNUDF_ELEMENT_F16:
    return 2;
  case ANNUDF_ELEMENT_I8:
  case ANNUDF_ELEMENT_U8:
    return 1;
  }
  throw Error(ErrorKind::Usage, "element type " + std::to_string(int(element)) + " does not exist");
}

bool Manifest::accepts(annudf_element element) const {
  return std::find(elements.begin(), elements.end(), element) != elements.end();
}

void checkManifest(const Manifest &m, const std::string &origin) {
  auto refuse = [&](const std::string &what) {
    throw Error(ErrorKind::Input, origin + ": " + what);
  };
  checkAbi(m, origin);
  if (const uint64_t unknown = m.requiredFeatures & ~ANNUDF_FEATURES_KNOWN) {
    char bits[2][20];
    std::snprintf(bits[0], sizeof bits[0], "0x%llx", static_cast<unsigned long long>(unknown));
    std::snprintf(bits[1], sizeof bits[1], "0x%llx",
                  static_cast<unsigned long long>(ANNUDF_FEATURES_KNOWN));
    refuse(std::string("needs feature bits ") + bits[0] + ", this annudf knows " + bits[1]);
  }
  if (static_cast<unsigned>(m.order) >= std::size(kOrders) ||
      static_cast<unsigned>(m.coarseOrder) >= std::size(kOrders) ||
      static_cast<unsigned>(m.coarse) >= std::size(kCoarse) ||
      static_cast<unsigned>(m.accumulator) >= std::size(kAccumulators))
    refuse("order, coarse metric or accumulator of the manifest is no value of the ABI");
  if (m.name.empty())
    refuse("manifest field 'name' is empty");
  if (m.dims < 0)
    refuse("manifest field 'dims' is " + std::to_string(m.dims) + ", below 0");
  if (!contains(kComputeTypes, m.computeType))
    refuse("manifest field 'compute_type' is " + quoted(m.computeType) + ", which is none of " +
           listing(kComputeTypes));
  if (m.elements.empty())
    refuse("manifest field 'elements' is empty: the metric accepts no element type");
  for (size_t i = 0; i < m.elements.size(); ++i) {
    if (static_cast<unsigned>(m.elements[i]) >= std::size(kElements))
      refuse("manifest field 'elements' holds no value of the ABI");
    if (std::find(m.elements.begin(), m.elements.begin() + i, m.elements[i]) !=
        m.elements.begin() + i)
      refuse(std::string("manifest field 'elements' names ") + toString(m.elements[i]) + " twice");
  }
  if (m.captures.size() > ANNUDF_MAX_CAPTURES)
    refuse("has " + std::to_string(m.captures.size()) + " captures, the ABI allows " +
           std::to_string(ANNUDF_MAX_CAPTURES));
  for (const CaptureInfo &capture : m.captures) {
    if (capture.name.empty())
      refuse("a capture has no name");
    if (std::count_if(m.captures.begin(), m.captures.end(),
                      [&](const CaptureInfo &other) { return other.name == capture.name; }) > 1)
      refuse("capture " + quoted(capture.name) + " is declared twice");
    if (!contains(kCaptureElements, capture.element))
      refuse("capture " + quoted(capture.name) + " has element type " + quoted(capture.element) +
             ", which is none of " + listing(kCaptureElements));
    if (capture.extents.size() > 8)
      refuse("capture " + quoted(capture.name) + " has " + std::to_string(capture.extents.size()) +
             " extents, at most 8 are allowed");
    for (const CaptureExtent &extent : capture.extents)
      if (extent.kind == ANNUDF_EXTENT_CONSTANT && extent.constant <= 0)
        refuse("capture " + quoted(capture.name) + " has extent " +
               std::to_string(extent.constant) + ", which must be above 0");
  }
  // The bits must not contradict the fields that they summarise: a consumer may trust either.
  if (((m.requiredFeatures & ANNUDF_FEATURE_ACC64) != 0) != (m.accumulatorWidth() == 64))
    refuse(std::string("accumulator ") + toString(m.accumulator) +
           " contradicts feature bit ACC64, which is " +
           (m.requiredFeatures & ANNUDF_FEATURE_ACC64 ? "set" : "not set"));
  if (((m.requiredFeatures & ANNUDF_FEATURE_CAPTURES) != 0) == m.captures.empty())
    refuse(std::to_string(m.captures.size()) +
           " captures contradict feature bit CAPTURES, which is " +
           (m.requiredFeatures & ANNUDF_FEATURE_CAPTURES ? "set" : "not set"));
}

json manifestToFields(const Artifact &artifact) {
  const Manifest &m = artifact.manifest;
  json captures = json::array(), elements = json::array(), payloads = json::array();
  for (annudf_element element : m.elements)
    elements.push_back(toString(element));
  for (const CaptureInfo &capture : m.captures) {
    json extents = json::array();
    for (const CaptureExtent &extent : capture.extents)
      extents.push_back(extent.kind == ANNUDF_EXTENT_CONSTANT
                            ? json(static_cast<uint64_t>(extent.constant))
                            : json(spell(kExtents, extent.kind)));
    captures.push_back(
        {{"name", capture.name}, {"element", capture.element}, {"extents", extents}});
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
                 {"compute_type", m.computeType},
                 {"elements", elements},
                 {"dims", static_cast<uint32_t>(m.dims)},
                 {"hooks", m.hooks},
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
  m.order = fields.choice<annudf_order>("order", kOrders);
  m.coarse = fields.choice<annudf_coarse>("coarse", kCoarse);
  m.coarseOrder = fields.choice<annudf_order>("coarse_order", kOrders);
  m.accumulator = fields.choice<annudf_accumulator>("accumulator", kAccumulators);
  m.computeType = fields.text("compute_type");
  for (const json &entry : fields.list("elements"))
    m.elements.push_back(fields.choice<annudf_element>("elements", kElements, entry));
  m.dims = static_cast<int32_t>(fields.number("dims", kMaxI32));
  for (const json &entry : fields.list("hooks")) {
    if (!entry.is_string())
      fields.fail("hooks", "must be a list of text");
    m.hooks.push_back(entry.get<std::string>());
  }
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
    payload.kind = entry.choice<PayloadKind>("kind", kPayloads);
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
