//===- Tables.cpp - annudf_tables.h as rows that can be searched ----*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Artifact/Descriptor.h"

#include "annudf/Support/Error.h"
#include "annudf/Support/Printable.h"

#include <algorithm>

namespace annudf {
namespace {

// As the tables spell a kind.
constexpr NumberKind FLOAT = NumberKind::Float, SIGNED = NumberKind::Signed,
                     UNSIGNED = NumberKind::Unsigned, NONE = NumberKind::None;

#define ROW_NUMBER(NAME, VALUE, SPELLING, BITS, KIND, SINCE)                                       \
  {#NAME, VALUE, SPELLING, BITS, KIND, "", SINCE},
#define ROW_PLAIN(NAME, VALUE, SPELLING, SINCE) {#NAME, VALUE, SPELLING, 0, NONE, "", SINCE},
#define ROW_DETAIL(NAME, VALUE, SPELLING, DETAIL, SINCE)                                           \
  {#NAME, VALUE, SPELLING, 0, NONE, #DETAIL, SINCE},
#define ROW_RESERVED(NAME, VALUE, SPELLING)                                                        \
  {#NAME, VALUE, SPELLING, 0, NONE, "", TableRow::kReserved},
#define ROW_FEATURE(NAME, BIT, SPELLING, SINCE)                                                    \
  {#NAME, int64_t(1) << (BIT), SPELLING, 0, NONE, "", SINCE},
#define ROW_FEATURE_RESERVED(NAME, BIT, SPELLING)                                                  \
  {#NAME, int64_t(1) << (BIT), SPELLING, 0, NONE, "", TableRow::kReserved},
#define ROW_LIMIT(NAME, VALUE, WHAT) {#NAME, VALUE, WHAT, 0, NONE, "", 0},

constexpr TableRow kElements[] = {ANNUDF_ELEMENTS(ROW_NUMBER)};
constexpr TableRow kComputeTypes[] = {ANNUDF_COMPUTE_TYPES(ROW_NUMBER)};
constexpr TableRow kAccumulators[] = {ANNUDF_ACCUMULATORS(ROW_NUMBER)
                                          ANNUDF_ACCUMULATORS_STRUCT(ROW_PLAIN)};
constexpr TableRow kOrders[] = {ANNUDF_ORDERS(ROW_PLAIN)};
constexpr TableRow kCoarses[] = {ANNUDF_COARSES(ROW_DETAIL) ANNUDF_COARSES_RESERVED(ROW_RESERVED)};
constexpr TableRow kNumerics[] = {ANNUDF_NUMERICS(ROW_PLAIN)};
constexpr TableRow kExtents[] = {ANNUDF_EXTENTS(ROW_PLAIN)};
constexpr TableRow kCaptureElements[] = {ANNUDF_CAPTURE_ELEMENTS(ROW_NUMBER)};
constexpr TableRow kRoles[] = {ANNUDF_ROLES(ROW_PLAIN) ANNUDF_ROLES_RESERVED(ROW_RESERVED)};
constexpr TableRow kHooks[] = {ANNUDF_HOOKS(ROW_DETAIL) ANNUDF_HOOKS_RESERVED(ROW_RESERVED)};
constexpr TableRow kPackedTerms[] = {ANNUDF_PACKED_TERMS(ROW_PLAIN)};
constexpr TableRow kFeatures[] = {ANNUDF_FEATURES(ROW_FEATURE)
                                      ANNUDF_FEATURES_RESERVED(ROW_FEATURE_RESERVED)};
constexpr TableRow kLimits[] = {ANNUDF_LIMITS(ROW_LIMIT)};

enum Place {
  Elements,
  ComputeTypes,
  Accumulators,
  Orders,
  Coarses,
  Numerics,
  Extents,
  CaptureElements,
  Roles,
  Hooks,
  PackedTerms,
  Features,
  Limits
};

constexpr Table kTables[] = {
    {"elements", "element type", kElements},
    {"compute_types", "compute type", kComputeTypes},
    {"accumulators", "accumulator", kAccumulators},
    {"orders", "order", kOrders},
    {"coarses", "coarse metric", kCoarses},
    {"numerics", "numerics", kNumerics},
    {"extents", "extent", kExtents},
    {"capture_elements", "element type of a capture", kCaptureElements},
    {"roles", "role", kRoles},
    {"hooks", "hook", kHooks},
    {"packed_terms", "packed term", kPackedTerms},
    {"features", "feature", kFeatures},
    {"limits", "limit", kLimits},
};

/// No two rows of a table may share a number or a spelling, reserved ones included.
constexpr bool isUnambiguous(const Table &table) {
  for (size_t i = 0; i < table.rows.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (std::string_view(table.rows[i].spelling) == table.rows[j].spelling ||
          table.rows[i].value == table.rows[j].value)
        return false;
  return true;
}
static_assert(std::all_of(kTables, kTables + Limits, isUnambiguous),
              "a row of annudf_tables.h takes the number or the spelling of another");

template <typename Enum> const char *spell(Enum value) {
  const TableRow *row = rowOf(value);
  return row ? row->spelling : "invalid";
}
template <typename Enum> int bits(Enum value) {
  const TableRow *row = rowOf(value);
  return row ? row->bits : 0;
}
template <typename Enum> NumberKind kind(Enum value) {
  const TableRow *row = rowOf(value);
  return row ? row->kind : NumberKind::None;
}

} // namespace

std::span<const Table> tables() { return kTables; }

template <> const Table &tableOf<annudf_element>() { return kTables[Elements]; }
template <> const Table &tableOf<annudf_compute>() { return kTables[ComputeTypes]; }
template <> const Table &tableOf<annudf_accumulator>() { return kTables[Accumulators]; }
template <> const Table &tableOf<annudf_order>() { return kTables[Orders]; }
template <> const Table &tableOf<annudf_coarse>() { return kTables[Coarses]; }
template <> const Table &tableOf<annudf_numerics>() { return kTables[Numerics]; }
template <> const Table &tableOf<annudf_extent>() { return kTables[Extents]; }
template <> const Table &tableOf<annudf_capture_element>() { return kTables[CaptureElements]; }
template <> const Table &tableOf<annudf_role>() { return kTables[Roles]; }
template <> const Table &tableOf<annudf_hook>() { return kTables[Hooks]; }
template <> const Table &tableOf<annudf_packed_term>() { return kTables[PackedTerms]; }
template <> const Table &tableOf<annudf_feature>() { return kTables[Features]; }

const TableRow *Table::find(std::string_view spelling) const {
  for (const TableRow &row : rows)
    if (spelling == row.spelling)
      return &row;
  return nullptr;
}

const TableRow *Table::find(int64_t value) const {
  for (const TableRow &row : rows)
    if (row.value == value)
      return &row;
  return nullptr;
}

std::string Table::listing() const {
  std::string text;
  for (const TableRow &row : rows)
    if (row.since != TableRow::kReserved)
      text += (text.empty() ? "" : ", ") + std::string(row.spelling);
  return text;
}

template <typename Enum>
std::optional<Enum> parseSpelling(std::string_view text, std::string *why) {
  const Table &table = tableOf<Enum>();
  const TableRow *row = table.find(text);
  if (row && row->since != TableRow::kReserved)
    return static_cast<Enum>(row->value);
  if (why)
    *why = "is " + inQuotes(text) +
           (row ? ", which is reserved for a later version; use one of " : ", it must be one of ") +
           table.listing();
  return std::nullopt;
}

template std::optional<annudf_element> parseSpelling(std::string_view, std::string *);
template std::optional<annudf_compute> parseSpelling(std::string_view, std::string *);
template std::optional<annudf_accumulator> parseSpelling(std::string_view, std::string *);
template std::optional<annudf_order> parseSpelling(std::string_view, std::string *);
template std::optional<annudf_coarse> parseSpelling(std::string_view, std::string *);
template std::optional<annudf_numerics> parseSpelling(std::string_view, std::string *);
template std::optional<annudf_extent> parseSpelling(std::string_view, std::string *);
template std::optional<annudf_capture_element> parseSpelling(std::string_view, std::string *);
template std::optional<annudf_role> parseSpelling(std::string_view, std::string *);
template std::optional<annudf_hook> parseSpelling(std::string_view, std::string *);
template std::optional<annudf_packed_term> parseSpelling(std::string_view, std::string *);

const char *toString(annudf_element value) { return spell(value); }
const char *toString(annudf_compute value) { return spell(value); }
const char *toString(annudf_accumulator value) { return spell(value); }
const char *toString(annudf_order value) { return spell(value); }
const char *toString(annudf_coarse value) { return spell(value); }
const char *toString(annudf_numerics value) { return spell(value); }
const char *
toString(annudf_extent value) { // Reserved ones are in the dialect's types and messages.
  const TableRow *row = tableOf<annudf_extent>().find(static_cast<int64_t>(value));
  return row ? row->spelling : "invalid";
}
const char *toString(annudf_capture_element value) { return spell(value); }
const char *toString(annudf_role value) { return spell(value); }
const char *toString(annudf_hook value) { return spell(value); }
const char *toString(annudf_packed_term value) { return spell(value); }

int bitsOf(annudf_element value) { return bits(value); }
int bitsOf(annudf_compute value) { return bits(value); }
int bitsOf(annudf_accumulator value) { return bits(value); }
int bitsOf(annudf_capture_element value) { return bits(value); }
NumberKind kindOf(annudf_element value) { return kind(value); }
NumberKind kindOf(annudf_compute value) { return kind(value); }
NumberKind kindOf(annudf_accumulator value) { return kind(value); }
NumberKind kindOf(annudf_capture_element value) { return kind(value); }

std::string wholeElements() {
  std::vector<std::string> names;
  for (const TableRow &row : kElements)
    if (row.kind != NumberKind::Float)
      names.emplace_back(row.spelling);
  std::string text;
  for (size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 < names.size() ? ", " : " and ") + names[i];
  return text;
}

annudf_order naturalOrder(annudf_coarse coarse) {
  switch (coarse) {
#define CASE(NAME, VALUE, SPELLING, ORDER, SINCE)                                                  \
  case ANNUDF_COARSE_##NAME:                                                                       \
    return ANNUDF_ORDER_##ORDER;
    ANNUDF_COARSES(CASE)
#undef CASE
  }
  throw Error(ErrorKind::Usage, "coarse metric " + std::to_string(int(coarse)) + " does not exist");
}

bool converts(annudf_element element, annudf_compute compute) {
  return kindOf(compute) == NumberKind::Float || kindOf(element) != NumberKind::Float;
}

int64_t bytesOfRow(annudf_element element, int64_t dims) {
  const int bits = bitsOf(element);
  if (bits == 0)
    throw Error(ErrorKind::Usage,
                "element type " + std::to_string(int(element)) + " does not exist");
  return (dims * bits + 7) / 8;
}

int alignmentOf(annudf_element element) { return static_cast<int>(bytesOfRow(element, 1)); }

std::string faultOfDims(annudf_element element, int64_t dims) {
  const int bits = bitsOf(element);
  if (dims * bits % 8 == 0)
    return "";
  return std::to_string(dims) + " dims of " + toString(element) +
         "; a row is whole bytes, so pad it with zeros to a multiple of " +
         std::to_string(8 / bits) + " dims";
}

std::string inQuotes(std::string_view text) {
  return "'" + printable(text.substr(0, 60)) + (text.size() > 60 ? "...'" : "'");
}

bool isName(std::string_view text) {
  auto isStart = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  auto isWord = [&](char c) { return isStart(c) || (c >= '0' && c <= '9'); };
  return !text.empty() && text.size() <= ANNUDF_MAX_NAME && isStart(text.front()) &&
         std::all_of(text.begin(), text.end(), isWord);
}

} // namespace annudf
