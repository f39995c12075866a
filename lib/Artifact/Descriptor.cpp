//===- Descriptor.cpp - Features, minor and contract of a metric ----*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Artifact/Descriptor.h"

#include "FormFields.h"

#include "annudf/ABI/Extents.h"
#include "annudf/Support/Sha256.h"

#include <algorithm>

namespace annudf {
namespace {

/// Whether the metric needs a feature. No default: a new feature has to say it here.
bool needs(const MetricDescriptor &metric, annudf_feature feature) {
  switch (feature) {
  case ANNUDF_FEATURE_FINALIZE:
    return metric.has(ANNUDF_HOOK_FINALIZE);
  case ANNUDF_FEATURE_CAPTURES:
    return !metric.captures.empty();
  case ANNUDF_FEATURE_ACC64:
    return metric.accumulatorWidth() == 64;
  case ANNUDF_FEATURE_COMBINE:
    return metric.has(ANNUDF_HOOK_COMBINE);
  case ANNUDF_FEATURE_FILTER:
    return metric.isFilter();
  case ANNUDF_FEATURE_STRUCT:
    return metric.accumulator == ANNUDF_ACCUMULATOR_STRUCT;
  case ANNUDF_FEATURE_PAIRWISE:
    return metric.isPairwise();
  }
  return false;
}

/// Heads of CBOR items in their shortest form (RFC 8949, 4.2.1).
class Encoder {
public:
  void head(unsigned major, uint64_t value) {
    const int bytes = value < 24            ? 0
                      : value <= 0xff       ? 1
                      : value <= 0xffff     ? 2
                      : value <= 0xffffffff ? 4
                                            : 8;
    const unsigned info = bytes == 0   ? static_cast<unsigned>(value)
                          : bytes == 1 ? 24u
                          : bytes == 2 ? 25u
                          : bytes == 4 ? 26u
                                       : 27u;
    text_ += static_cast<char>(major << 5 | info);
    for (int byte = bytes - 1; byte >= 0; --byte)
      text_ += static_cast<char>(value >> (8 * byte));
  }
  void number(uint64_t value) { head(0, value); }
  void text(std::string_view value) {
    head(3, value.size());
    text_ += value;
  }
  void list(size_t entries) { head(4, entries); }
  /// What is encoded already.
  void item(std::string_view encoded) { text_ += encoded; }
  std::string take() { return std::move(text_); }

private:
  std::string text_;
};

template <typename Enum> void encodeSorted(Encoder &encoder, std::vector<Enum> values) {
  std::sort(values.begin(), values.end());
  encoder.list(values.size());
  for (Enum value : values)
    encoder.text(toString(value));
}

/// The largest SINCE of the rows that are asked for.
class Minor {
public:
  template <typename Enum> void use(Enum value) {
    if (const TableRow *row = rowOf(value))
      least_ = std::max(least_, static_cast<uint32_t>(row->since));
  }
  void use(const TableRow &row) { least_ = std::max(least_, static_cast<uint32_t>(row.since)); }
  uint32_t least() const { return least_; }

private:
  uint32_t least_ = 0;
};

} // namespace

int MetricDescriptor::accumulatorWidth() const {
  int width = accumulator == ANNUDF_ACCUMULATOR_STRUCT ? 32 : bitsOf(accumulator);
  for (annudf_accumulator field : fields)
    width = std::max(width, bitsOf(field));
  return width;
}

int MetricDescriptor::computeWidth() const { return bitsOf(compute); }

HookWidths MetricDescriptor::hookWidths() const {
  return {accumulatorWidth(), computeWidth(),
          accumulator == ANNUDF_ACCUMULATOR_STRUCT ? AccumulatorForm::Words
                                                   : AccumulatorForm::Word};
}

bool MetricDescriptor::accepts(annudf_element element) const {
  if (isFilter()) // It sees no coordinates.
    return true;
  return std::find(elements.begin(), elements.end(), element) != elements.end();
}

int32_t PackedSum::dimsOf(annudf_element element) const {
  for (const PackedElement &entry : elements)
    if (entry.element == element)
      return entry.dims;
  return 0;
}

bool MetricDescriptor::has(annudf_hook hook) const {
  return std::find(hooks.begin(), hooks.end(), hook) != hooks.end();
}

static bool hasEntriesBy(const std::vector<CaptureInfo> &captures, ExtentBound bound) {
  return std::any_of(captures.begin(), captures.end(), [=](const CaptureInfo &capture) {
    return !capture.extents.empty() && boundBy(capture.extents[0].kind) == bound;
  });
}
bool MetricDescriptor::hasRowCaptures() const { return hasEntriesBy(captures, ExtentBound::Rows); }
bool MetricDescriptor::hasQueryCaptures() const {
  return hasEntriesBy(captures, ExtentBound::Queries);
}

uint64_t featuresOf(const MetricDescriptor &metric) {
  uint64_t features = 0;
#define FEATURE(NAME, BIT, SPELLING, SINCE)                                                        \
  if (needs(metric, ANNUDF_FEATURE_##NAME))                                                        \
    features |= uint64_t(1) << (BIT);
  ANNUDF_FEATURES(FEATURE)
#undef FEATURE
  return features;
}

uint32_t minorOf(const MetricDescriptor &metric) {
  Minor minor;
  minor.use(metric.role);
  minor.use(metric.order);
  minor.use(metric.coarse);
  minor.use(metric.coarseOrder);
  minor.use(metric.accumulator);
  for (annudf_accumulator field : metric.fields)
    minor.use(field);
  minor.use(metric.compute);
  minor.use(metric.numerics);
  for (annudf_element element : metric.elements)
    minor.use(element);
  for (annudf_hook hook : metric.hooks)
    minor.use(hook);
  for (const CaptureInfo &capture : metric.captures) {
    minor.use(capture.element);
    for (const CaptureExtent &extent : capture.extents)
      minor.use(extent.kind);
  }
  if (metric.packed)
    minor.use(metric.packed->term);
  const uint64_t features = featuresOf(metric);
  for (const TableRow &row : tableOf<annudf_feature>().rows)
    if (features & static_cast<uint64_t>(row.value))
      minor.use(row);
  return minor.least();
}

#define COUNT(NAME, VALUE, SPELLING, SINCE) +1
static_assert(0 ANNUDF_ROLES(COUNT) == 3, "annudf_tables.h has a role beside scan, filter and "
                                          "pairwise; the contract and faultOf() have to know what "
                                          "it has");
#undef COUNT

static void encodeCaptures(Encoder &encoder, const MetricDescriptor &metric) {
  encoder.list(metric.captures.size());
  for (const CaptureInfo &capture : metric.captures) {
    encoder.list(3);
    encoder.text(capture.name);
    encoder.text(toString(capture.element));
    encoder.list(capture.extents.size());
    for (const CaptureExtent &extent : capture.extents)
      if (extent.kind == ANNUDF_EXTENT_CONSTANT)
        encoder.number(static_cast<uint64_t>(extent.constant));
      else
        encoder.text(toString(extent.kind));
  }
}

static void encodeFlag(Encoder &encoder, bool isSet, const char *name) {
  if (!isSet)
    return;
  encoder.list(1);
  encoder.text(name);
}

/// What the code of a filter relies on.
static std::string encodeFilter(const MetricDescriptor &filter) {
  Encoder encoder;
  encoder.list(4u + filter.rowOnlyIndexes + filter.seesQuery);
  encoder.text(ANNUDF_ABI_ID);
  encoder.text(toString(filter.role));
  encoder.number(static_cast<uint32_t>(filter.dims));
  encodeCaptures(encoder, filter);
  encodeFlag(encoder, filter.rowOnlyIndexes, "row_only_indexes");
  encodeFlag(encoder, filter.seesQuery, "sees_query");
  return encoder.take();
}

std::string encodeContract(const MetricDescriptor &metric) {
  if (metric.isFilter())
    return encodeFilter(metric);
  Encoder encoder;
  encoder.list(12u + !metric.fields.empty() + metric.missingValues + metric.packed.has_value() +
               metric.form.has_value() + metric.rowOnlyIndexes + metric.readsList +
               metric.hasScratch());
  encoder.text(ANNUDF_ABI_ID);
  encoder.text(toString(metric.role));
  encoder.text(toString(metric.order));
  encoder.text(toString(metric.coarse));
  encoder.text(toString(metric.coarseOrder));
  encoder.text(toString(metric.accumulator));
  encoder.text(toString(metric.compute));
  encoder.text(toString(metric.numerics));
  encodeSorted(encoder, metric.elements);
  encoder.number(static_cast<uint32_t>(metric.dims));
  encodeSorted(encoder, metric.hooks);
  encodeCaptures(encoder, metric);
  // Entries that do not always apply are named, so that none is taken for another.
  if (!metric.fields.empty()) {
    encoder.list(1 + metric.fields.size());
    encoder.text("fields");
    for (annudf_accumulator field : metric.fields)
      encoder.text(toString(field));
  }
  if (metric.missingValues) {
    encoder.list(1);
    encoder.text("missing_values");
  }
  if (metric.packed) {
    encoder.list(3 + metric.packed->elements.size());
    encoder.text("packed");
    encoder.text(toString(metric.packed->term));
    encoder.text(metric.packed->negated ? "-" : "+");
    for (const PackedElement &entry : metric.packed->elements) {
      encoder.list(2);
      encoder.text(toString(entry.element));
      encoder.number(static_cast<uint32_t>(entry.dims));
    }
  }
  if (metric.form) {
    encoder.list(2);
    encoder.text("form");
    encoder.item(toCbor(formToFields(*metric.form)));
  }
  encodeFlag(encoder, metric.rowOnlyIndexes, "row_only_indexes");
  encodeFlag(encoder, metric.readsList, "reads_list");
  if (metric.hasScratch()) {
    encoder.list(3);
    encoder.text("scratch");
    encoder.number(static_cast<uint32_t>(metric.scratchBytes));
    encoder.number(static_cast<uint32_t>(metric.scratchPerDim));
  }
  return encoder.take();
}

uint64_t contractOf(const MetricDescriptor &metric) {
  const std::string text = encodeContract(metric);
  const Sha256::Digest digest = Sha256::of(text.data(), text.size());
  uint64_t contract = 0;
  for (int byte = 0; byte < 8; ++byte)
    contract = contract << 8 | digest[byte];
  return contract;
}

std::string typeText(const CaptureInfo &capture) {
  std::string text;
  for (const CaptureExtent &extent : capture.extents)
    text += (extent.kind == ANNUDF_EXTENT_CONSTANT ? std::to_string(extent.constant)
                                                   : std::string(toString(extent.kind))) +
            " x ";
  return text + toString(capture.element);
}

std::string packedText(const std::optional<PackedSum> &packed) {
  if (!packed)
    return "no";
  std::string text = (packed->negated ? "minus " : "") + std::string(toString(packed->term));
  for (const PackedElement &entry : packed->elements)
    text += (&entry == packed->elements.data() ? ": " : ", ") +
            std::string(toString(entry.element)) + " up to " + std::to_string(entry.dims) + " dims";
  return text;
}

std::string accumulatorText(const MetricDescriptor &metric) {
  if (metric.fields.empty())
    return toString(metric.accumulator);
  std::string text;
  for (annudf_accumulator field : metric.fields)
    text += (text.empty() ? "" : ", ") + std::string(toString(field));
  return text;
}

} // namespace annudf
