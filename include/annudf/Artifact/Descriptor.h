//===- Descriptor.h - What a metric is, and the tables it is told in -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one typed form of what a metric is. The dialect, CUDA source, the manifest, the C
// API and Python read and fill this; features, minor and contract are computed from it
// and nowhere else. Spellings come from annudf_tables.h. Knows neither LLVM nor CUDA.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_ARTIFACT_DESCRIPTOR_H
#define ANNUDF_ARTIFACT_DESCRIPTOR_H

#include "annudf/ABI/Hooks.h"
#include "annudf/Artifact/Form.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace annudf {

/// One symbolic extent; `constant` counts only for ANNUDF_EXTENT_CONSTANT.
struct CaptureExtent {
  annudf_extent kind = ANNUDF_EXTENT_DIM;
  int64_t constant = 0;
  bool operator==(const CaptureExtent &) const = default;
};

/// A value the user binds before a search. Slot i of annudf_slots is capture i.
struct CaptureInfo {
  std::string name;
  annudf_capture_element element = ANNUDF_CAPTURE_F32;
  std::vector<CaptureExtent> extents; ///< Empty for a scalar.
  bool operator==(const CaptureInfo &) const = default;
};

/// An element type whose coordinates may be summed up packed, in how many dimensions at most: as
/// many as the accumulator surely counts without rounding.
struct PackedElement {
  annudf_element element = ANNUDF_ELEMENT_U8;
  int32_t dims = 0;
  bool operator==(const PackedElement &) const = default;
};

/// What annudf-pack-lanes proved of a metric: init, and update of all dimensions of rows and
/// queries of one of the elements, give what init gives plus (minus) the sum of a term of the
/// coordinates.
struct PackedSum {
  annudf_packed_term term = ANNUDF_PACKED_PRODUCT;
  bool negated = false;                ///< The sum is subtracted.
  std::vector<PackedElement> elements; ///< In the order of the table.
  bool operator==(const PackedSum &) const = default;
  /// 0 for an element that is not among them.
  int32_t dimsOf(annudf_element element) const;
};

/// What a metric is: all that a scan relies on, and the name that messages call it. By its role it
/// is a distance of whole vectors, which has scratch, and no hooks and accumulator. Or what a
/// filter is, by its role: that has a name, dims, captures, what rows index and whether it sees the
/// query, everything else at its default.
struct MetricDescriptor {
  annudf_role role = ANNUDF_ROLE_SCAN;
  std::string name;
  annudf_order order = ANNUDF_ORDER_MIN;
  annudf_coarse coarse = ANNUDF_COARSE_L2;
  annudf_order coarseOrder = ANNUDF_ORDER_MIN;
  annudf_accumulator accumulator = ANNUDF_ACCUMULATOR_F32;
  annudf_compute compute = ANNUDF_COMPUTE_F32; ///< Type in which hooks see a coordinate.
  annudf_numerics numerics = ANNUDF_NUMERICS_STRICT;
  std::vector<annudf_element> elements;
  int32_t dims = 0;               ///< 0: any.
  std::vector<annudf_hook> hooks; ///< Those that the metric defines, in the order of the table.
  std::vector<CaptureInfo> captures;
  std::vector<annudf_accumulator> fields; ///< A STRUCT's, in order; else none.
  bool missingValues = false; ///< Whether update knows what to do with a coordinate that is NaN.
  std::optional<PackedSum> packed;   ///< Where it is proved.
  std::optional<QuadraticForm> form; ///< Where it is proved.
  /// Whether the number of a row is proved to be nothing but the index of captures with an entry a
  /// row; false without such captures.
  bool rowOnlyIndexes = false;
  /// Whether hooks of a metric read the number of a row's list, so that rows of several lists
  /// cannot be scanned as one.
  bool readsList = false;
  /// Whether a filter reads the number of the query or has captures with an entry a query, so that
  /// queries find different rows; false for a metric, which always sees its query.
  bool seesQuery = false;

  /// Bytes of scratch of one pair of whole vectors: so many, and so many for each dimension.
  int32_t scratchBytes = 0, scratchPerDim = 0;

  bool isFilter() const { return role == ANNUDF_ROLE_FILTER; }
  bool isPairwise() const { return role == ANNUDF_ROLE_PAIRWISE; }
  bool hasScratch() const { return scratchBytes != 0 || scratchPerDim != 0; }
  /// "metric" or "filter", for messages.
  const char *noun() const { return isFilter() ? "filter" : "metric"; }
  /// Bits of a word of the accumulator (64 where a field needs it) and of a coordinate.
  int accumulatorWidth() const;
  int computeWidth() const;
  /// What picks the hooks' names.
  HookWidths hookWidths() const;
  bool accepts(annudf_element element) const;
  bool has(annudf_hook hook) const;
  /// Whether a capture has an entry a row.
  bool hasRowCaptures() const;
  /// Whether a capture has an entry a query.
  bool hasQueryCaptures() const;
  bool operator==(const MetricDescriptor &) const = default;
};

/// Feature bits that the metric needs of its consumer.
uint64_t featuresOf(const MetricDescriptor &metric);

/// The least ABI minor that knows every row that the metric uses.
uint32_t minorOf(const MetricDescriptor &metric);

/// What contractOf() digests, canonical CBOR (docs/spec/artifact.md). Without the name of the
/// metric, on which no scan relies; elements and hooks in the order of their tables.
std::string encodeContract(const MetricDescriptor &metric);

/// First 8 bytes, big endian, of the SHA-256 of encodeContract(): what annudf1_scan_contract()
/// returns in code made for this metric.
uint64_t contractOf(const MetricDescriptor &metric);

/// "" if every value is a row of its table, the values agree, and names are names; else what is
/// wrong, in words that go after a file's name: "has 65 captures, the ABI allows 64".
std::string faultOf(const MetricDescriptor &metric);

/// "16 x dim x f32", "f32" for a scalar.
std::string typeText(const CaptureInfo &capture);

/// "f32", "f32, f32, u32" where it has several fields.
std::string accumulatorText(const MetricDescriptor &metric);

/// "minus product: i8 up to 1024 dims", for messages; "no" where there is nothing.
std::string packedText(const std::optional<PackedSum> &packed);

//===----------------------------------------------------------------------===//
// The tables
//===----------------------------------------------------------------------===//

enum class NumberKind { None, Float, Signed, Unsigned };

/// A row of annudf_tables.h, of any of its tables.
struct TableRow {
  const char *name;     ///< "INNER_PRODUCT"
  int64_t value;        ///< The C enum's; for features the bit's mask.
  const char *spelling; ///< "inner_product"; of a limit what it bounds.
  int bits;             ///< 0 where the table has none.
  NumberKind kind;      ///< None where the table has none.
  const char *detail;   ///< Order of a coarse metric, presence of a hook; else "".
  int since;            ///< kReserved: nothing may use the row yet.
  static constexpr int kReserved = -1;
};

struct Table {
  const char *name; ///< "elements"
  const char *noun; ///< What a row is in a message: "element type".
  std::span<const TableRow> rows;

  /// Null if no row has it; reserved rows are found too.
  const TableRow *find(std::string_view spelling) const;
  const TableRow *find(int64_t value) const;
  /// "min, max": spellings that may be used.
  std::string listing() const;
};

/// All of them, in the order of the header.
std::span<const Table> tables();

/// The table of an enum of annudf_abi.h.
template <typename Enum> const Table &tableOf();
template <> const Table &tableOf<annudf_element>();
template <> const Table &tableOf<annudf_compute>();
template <> const Table &tableOf<annudf_accumulator>();
template <> const Table &tableOf<annudf_order>();
template <> const Table &tableOf<annudf_coarse>();
template <> const Table &tableOf<annudf_numerics>();
template <> const Table &tableOf<annudf_extent>();
template <> const Table &tableOf<annudf_capture_element>();
template <> const Table &tableOf<annudf_role>();
template <> const Table &tableOf<annudf_hook>();
template <> const Table &tableOf<annudf_packed_term>();
template <> const Table &tableOf<annudf_feature>();

/// The row of a value; null if it has none that may be used.
template <typename Enum> const TableRow *rowOf(Enum value) {
  const TableRow *row = tableOf<Enum>().find(static_cast<int64_t>(value));
  return row && row->since != TableRow::kReserved ? row : nullptr;
}

/// Whether the tables keep the value for a later version: it has a row, and none may use it.
template <typename Enum> bool isReserved(Enum value) {
  const TableRow *row = tableOf<Enum>().find(static_cast<int64_t>(value));
  return row && row->since == TableRow::kReserved;
}

/// The value that is spelled so. Else nothing, and `why` is "is 'best', it must be one of min,
/// max" or "is 'metric', which is reserved for a later version; use one of l2, inner_product".
template <typename Enum>
std::optional<Enum> parseSpelling(std::string_view text, std::string *why = nullptr);

/// Spellings used in manifests, messages and the dialect; "invalid" for what has no row. Extents
/// that are reserved have theirs.
const char *toString(annudf_element);
const char *toString(annudf_compute);
const char *toString(annudf_accumulator);
const char *toString(annudf_order);
const char *toString(annudf_coarse);
const char *toString(annudf_numerics);
const char *toString(annudf_extent);
const char *toString(annudf_capture_element);
const char *toString(annudf_role);
const char *toString(annudf_hook);
const char *toString(annudf_packed_term);

/// Bits and kind of the number types; 0 and None for what has no row.
int bitsOf(annudf_element);
int bitsOf(annudf_compute);
int bitsOf(annudf_accumulator);
int bitsOf(annudf_capture_element);
NumberKind kindOf(annudf_element);
NumberKind kindOf(annudf_compute);
NumberKind kindOf(annudf_accumulator);
NumberKind kindOf(annudf_capture_element);

/// The order in which a coarse metric ranks unless a metric says otherwise.
annudf_order naturalOrder(annudf_coarse);

/// Whether coordinates of `element` keep their values in `compute`.
bool converts(annudf_element element, annudf_compute compute);

/// The elements that hold whole numbers, for messages: "i8, u8 and bits".
std::string wholeElements();

/// Bytes of a row of so many coordinates. \throws Error(Usage) for what has no row.
int64_t bytesOfRow(annudf_element, int64_t dims);

/// Bytes to which a row is aligned: those of a coordinate, 1 where several share a byte.
int alignmentOf(annudf_element);

/// "" if a row of so many coordinates fills its bytes; else "12 dims of bits; a row is whole ...".
std::string faultOfDims(annudf_element, int64_t dims);

/// Text of a file in quotes, made safe to print on one line and of bounded length.
std::string inQuotes(std::string_view text);

/// A name as the dialect and manifests allow it: letters, digits and `_`, no digit first, at
/// most ANNUDF_MAX_NAME bytes.
bool isName(std::string_view text);

} // namespace annudf

#endif // ANNUDF_ARTIFACT_DESCRIPTOR_H
