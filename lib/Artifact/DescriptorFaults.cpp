//===- DescriptorFaults.cpp - Whether a descriptor is one -----------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Artifact/Descriptor.h"

#include "FormFields.h"

#include "annudf/ABI/Extents.h"

#include <algorithm>

namespace annudf {
namespace {

std::string captureFault(const CaptureInfo &capture) {
  const std::string which = "capture " + inQuotes(capture.name) + " ";
  if (!isName(capture.name))
    return which +
           "has a name that is none; a name has letters, digits and _, no digit first, "
           "and at most " +
           std::to_string(ANNUDF_MAX_NAME) + " bytes";
  if (!rowOf(capture.element))
    return which + "has an element type that is no value of the ABI";
  if (capture.extents.size() > ANNUDF_MAX_EXTENTS)
    return which + "has " + std::to_string(capture.extents.size()) + " extents, at most " +
           std::to_string(ANNUDF_MAX_EXTENTS) + " are allowed";
  for (const CaptureExtent &extent : capture.extents) {
    if (!rowOf(extent.kind))
      return which + "has an extent that is no value of the ABI";
    if (&extent != capture.extents.data() && isFirstOnly(extent.kind))
      return which + "has extent " + toString(extent.kind) + " after another";
    if (extent.kind == ANNUDF_EXTENT_CONSTANT && extent.constant <= 0)
      return which + "has extent " + std::to_string(extent.constant) + ", which must be above 0";
  }
  return "";
}

std::string faultOfElements(const MetricDescriptor &m) {
  if (m.elements.empty())
    return "manifest field 'elements' is empty: the metric accepts no element type";
  for (auto entry = m.elements.begin(); entry != m.elements.end(); ++entry) {
    if (!rowOf(*entry))
      return "manifest field 'elements' holds no value of the ABI";
    if (std::find(m.elements.begin(), entry, *entry) != entry)
      return std::string("manifest field 'elements' names ") + toString(*entry) + " twice";
    // A set has one spelling only: equal metrics have equal manifests.
    if (entry != m.elements.begin() && entry[-1] > *entry)
      return std::string("manifest field 'elements' names ") + toString(*entry) + " out of order";
    if (!converts(*entry, m.compute))
      return std::string("compute type ") + toString(m.compute) + " cannot hold element type " +
             toString(*entry);
  }
  if (m.missingValues && std::none_of(m.elements.begin(), m.elements.end(), [](annudf_element e) {
        return kindOf(e) == NumberKind::Float;
      }))
    return "manifest field 'missing_values' is true, but no element type of the metric has NaN";
  return "";
}

/// A struct has fields, which are no structs, and says itself what its distance is.
std::string faultOfFields(const MetricDescriptor &m) {
  if (m.accumulator != ANNUDF_ACCUMULATOR_STRUCT)
    return m.fields.empty()
               ? ""
               : std::string("manifest field 'fields' has ") + std::to_string(m.fields.size()) +
                     ", but the accumulator is " + toString(m.accumulator);
  if (m.fields.size() < 2 || m.fields.size() > ANNUDF_MAX_FIELDS)
    return "manifest field 'fields' has " + std::to_string(m.fields.size()) +
           ", a struct has 2 to " + std::to_string(ANNUDF_MAX_FIELDS);
  for (annudf_accumulator field : m.fields)
    if (!rowOf(field) || field == ANNUDF_ACCUMULATOR_STRUCT)
      return "manifest field 'fields' holds what no field can be";
  if (!m.has(ANNUDF_HOOK_FINALIZE))
    return "manifest field 'hooks' lacks finalize, which an accumulator of several fields needs";
  return "";
}

/// A filter is a name, dims and captures.
std::string faultOfPacked(const MetricDescriptor &m) {
  if (!m.packed)
    return "";
  const std::string field = "manifest field 'packed' ";
  if (!rowOf(m.packed->term))
    return field + "holds a term that is no value of the ABI";
  if (m.accumulator != ANNUDF_ACCUMULATOR_F32 && m.accumulator != ANNUDF_ACCUMULATOR_I32 &&
      m.accumulator != ANNUDF_ACCUMULATOR_U32)
    return field + "says a sum of 32 bits, but the accumulator is " + toString(m.accumulator);
  if (m.packed->elements.empty())
    return field + "names no element type";
  const PackedElement *before = nullptr;
  for (const PackedElement &entry : m.packed->elements) {
    if (!rowOf(entry.element))
      return field + "names an element type that is no value of the ABI";
    if (kindOf(entry.element) == NumberKind::Float)
      return field + "names " + toString(entry.element) + ", which is no integer";
    if (!m.accepts(entry.element))
      return field + "names " + toString(entry.element) + ", which field 'elements' does not";
    if (before && before->element >= entry.element)
      return field + "names " + toString(entry.element) +
             (before->element == entry.element ? " twice" : " out of order");
    if (entry.dims < 1 || entry.dims > ANNUDF_MAX_DIMS)
      return field + "says " + std::to_string(entry.dims) + " dims of " + toString(entry.element) +
             ", which must be from 1 to " + std::to_string(ANNUDF_MAX_DIMS);
    before = &entry;
  }
  return "";
}

std::string faultOfFilter(const MetricDescriptor &m) {
  MetricDescriptor plain;
  plain.role = m.role;
  plain.name = m.name;
  plain.dims = m.dims;
  plain.captures = m.captures;
  plain.rowOnlyIndexes = m.rowOnlyIndexes;
  plain.seesQuery = m.seesQuery;
  if (m != plain)
    return "is a filter, but its descriptor has what only a metric has";
  if (!m.seesQuery && m.hasQueryCaptures())
    return "manifest field 'sees_query' is absent, but a capture of the filter has an entry a "
           "query";
  return "";
}

/// A distance of whole vectors is one hook, which no field names.
std::string faultOfPairwise(const MetricDescriptor &m) {
  if (m.seesQuery)
    return "manifest field 'sees_query' is true, but every metric sees its query";
  if (m.accumulator != ANNUDF_ACCUMULATOR_F32 || !m.fields.empty() || !m.hooks.empty() ||
      m.packed || m.form)
    return "is a distance of whole vectors, but its descriptor has what only a metric of one "
           "coordinate has";
  if (m.scratchBytes < 0 || m.scratchBytes > ANNUDF_MAX_SCRATCH || m.scratchPerDim < 0 ||
      m.scratchPerDim > ANNUDF_MAX_SCRATCH_DIM)
    return "manifest field 'scratch' is " + std::to_string(m.scratchBytes) + " bytes and " +
           std::to_string(m.scratchPerDim) + " a dimension; at most " +
           std::to_string(ANNUDF_MAX_SCRATCH) + " and " + std::to_string(ANNUDF_MAX_SCRATCH_DIM) +
           " are allowed";
  return faultOfElements(m);
}

std::string faultOfHooks(const MetricDescriptor &m) {
  for (size_t i = 0; i < m.hooks.size(); ++i) {
    if (!rowOf(m.hooks[i]))
      return "manifest field 'hooks' holds no value of the ABI";
    if (i > 0 && m.hooks[i - 1] >= m.hooks[i])
      return std::string("manifest field 'hooks' names ") + toString(m.hooks[i]) +
             (m.hooks[i - 1] == m.hooks[i] ? " twice" : " out of order");
  }
  if (m.has(ANNUDF_HOOK_COMBINE) && m.numerics != ANNUDF_NUMERICS_REASSOCIATE)
    return std::string("manifest field 'hooks' names combine, but field 'numerics' is ") +
           toString(m.numerics);
  for (const TableRow &row : tableOf<annudf_hook>().rows)
    if (row.since != TableRow::kReserved && std::string_view(row.detail) == "REQUIRED" &&
        !m.has(static_cast<annudf_hook>(row.value)))
      return std::string("manifest field 'hooks' lacks ") + row.spelling +
             ", which every metric has";
  return "";
}

std::string faultOfScan(const MetricDescriptor &m) {
  if (m.seesQuery)
    return "manifest field 'sees_query' is true, but every metric sees its query";
  if (m.scratchBytes != 0 || m.scratchPerDim != 0)
    return "manifest field 'scratch' is of distances of whole vectors only";
  if (std::string fault = faultOfElements(m); !fault.empty())
    return fault;
  if (std::string fault = faultOfHooks(m); !fault.empty())
    return fault;
  if (std::string fault = faultOfPacked(m); !fault.empty())
    return fault;
  if (std::string fault = faultOfFields(m); !fault.empty())
    return fault;
  return faultOfForm(m);
}

} // namespace

std::string faultOf(const MetricDescriptor &m) {
  if (!rowOf(m.role))
    return "role is no value of the ABI";
  if (!rowOf(m.order) || !rowOf(m.coarseOrder) || !rowOf(m.coarse) || !rowOf(m.accumulator) ||
      !rowOf(m.compute) || !rowOf(m.numerics))
    return "order, coarse metric, numerics, compute type or accumulator is no value of the ABI";
  if (m.name.empty())
    return "manifest field 'name' is empty";
  if (!isName(m.name))
    return "manifest field 'name' is " + inQuotes(m.name) +
           ", which is no name; a name has letters, digits and _, no digit first, and at most " +
           std::to_string(ANNUDF_MAX_NAME) + " bytes";
  if (m.dims < 0 || m.dims > ANNUDF_MAX_DIMS)
    return "manifest field 'dims' is " + std::to_string(m.dims) + "; it must be from 0 to " +
           std::to_string(ANNUDF_MAX_DIMS);
  if (std::string fault = m.isFilter()     ? faultOfFilter(m)
                          : m.isPairwise() ? faultOfPairwise(m)
                                           : faultOfScan(m);
      !fault.empty())
    return fault;
  if (m.captures.size() > ANNUDF_MAX_CAPTURES)
    return "has " + std::to_string(m.captures.size()) + " captures, the ABI allows " +
           std::to_string(ANNUDF_MAX_CAPTURES);
  for (auto capture = m.captures.begin(); capture != m.captures.end(); ++capture) {
    if (std::string fault = captureFault(*capture); !fault.empty())
      return fault;
    if (std::any_of(m.captures.begin(), capture,
                    [&](const CaptureInfo &other) { return other.name == capture->name; }))
      return "capture " + inQuotes(capture->name) + " is declared twice";
  }
  if (m.rowOnlyIndexes && !m.hasRowCaptures())
    return "manifest field 'row_only_indexes' is true, but no capture has an entry a row";
  return "";
}

} // namespace annudf
