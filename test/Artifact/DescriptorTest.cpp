//===- DescriptorTest.cpp - Tables, features, minor, contract ---*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/TestFiles.h"
#include "TestArtifact.h"

#include <algorithm>
#include <functional>
#include <set>

namespace annudf {
namespace {

using nlohmann::json;

TEST(Tables, EverySpellingParsesAndPrints) {
  for (const TableRow &row : tableOf<annudf_element>().rows) {
    std::string why;
    const auto value = parseSpelling<annudf_element>(row.spelling, &why);
    if (row.since == TableRow::kReserved) {
      EXPECT_FALSE(value);
      EXPECT_EQ(why, std::string("is '") + row.spelling +
                         "', which is reserved for a later version; use one of f32, f16, i8, u8, "
                         "bf16, bits");
      EXPECT_EQ(rowOf(static_cast<annudf_element>(row.value)), nullptr);
      continue;
    }
    ASSERT_TRUE(value);
    EXPECT_EQ(*value, row.value);
    EXPECT_STREQ(toString(*value), row.spelling);
    EXPECT_EQ(bytesOfRow(*value, 24) * 8, row.bits * 24);
    EXPECT_EQ(alignmentOf(*value), std::max(1, row.bits / 8));
    EXPECT_EQ(faultOfDims(*value, 24), "");
    EXPECT_EQ(faultOfDims(*value, 12).empty(), row.bits >= 8);
  }
  EXPECT_STREQ(toString(static_cast<annudf_element>(77)), "invalid");
  std::string why;
  EXPECT_FALSE(parseSpelling<annudf_order>("be\x1bst", &why));
  EXPECT_EQ(why, "is 'be\\x1bst', it must be one of min, max");
  EXPECT_THROW((void)bytesOfRow(static_cast<annudf_element>(77), 1), Error);
  EXPECT_EQ(bytesOfRow(ANNUDF_ELEMENT_BITS, 1048576), 131072);
  EXPECT_EQ(faultOfDims(ANNUDF_ELEMENT_BITS, 12),
            "12 dims of bits; a row is whole bytes, so pad it with zeros to a multiple of 8 dims");
}

TEST(Tables, NamesAndPolicies) {
  std::set<std::string> names;
  for (const Table &table : tables()) {
    EXPECT_TRUE(names.insert(table.name).second);
    EXPECT_FALSE(table.rows.empty());
  }
  EXPECT_EQ(names.size(), 13u);
  EXPECT_EQ(naturalOrder(ANNUDF_COARSE_INNER_PRODUCT), ANNUDF_ORDER_MAX);
  EXPECT_EQ(naturalOrder(ANNUDF_COARSE_COSINE), ANNUDF_ORDER_MIN);
  EXPECT_TRUE(converts(ANNUDF_ELEMENT_U8, ANNUDF_COMPUTE_I32));
  EXPECT_FALSE(converts(ANNUDF_ELEMENT_F16, ANNUDF_COMPUTE_I32));
  EXPECT_TRUE(converts(ANNUDF_ELEMENT_F16, ANNUDF_COMPUTE_F64));
  for (const char *bad : {"", "1st", "a b", "a-b", "a\x1b", "é"})
    EXPECT_FALSE(isName(bad)) << bad;
  EXPECT_TRUE(isName("_a9"));
  EXPECT_TRUE(isName(std::string(ANNUDF_MAX_NAME, 'a')));
  EXPECT_FALSE(isName(std::string(ANNUDF_MAX_NAME + 1, 'a')));
}

TEST(Descriptor, FeaturesFollowFromWhatItUses) {
  MetricDescriptor metric;
  EXPECT_EQ(featuresOf(metric), 0u);
  metric.hooks = {ANNUDF_HOOK_INIT, ANNUDF_HOOK_UPDATE, ANNUDF_HOOK_FINALIZE};
  EXPECT_EQ(featuresOf(metric), uint64_t(ANNUDF_FEATURE_FINALIZE));
  metric.captures = {{"w", ANNUDF_CAPTURE_F32, {}}};
  metric.accumulator = ANNUDF_ACCUMULATOR_F64;
  const uint64_t ofOne = ANNUDF_FEATURE_FINALIZE | ANNUDF_FEATURE_CAPTURES | ANNUDF_FEATURE_ACC64;
  EXPECT_EQ(featuresOf(metric), ofOne);
  metric.accumulator = ANNUDF_ACCUMULATOR_I64;
  EXPECT_EQ(featuresOf(metric), ofOne);
}

// The words of a struct are as wide as its widest field, and the hooks' names say so.
TEST(Descriptor, AnAccumulatorOfSeveralFields) {
  MetricDescriptor metric = test::smallArtifact().manifest;
  const uint64_t captures = ANNUDF_FEATURE_CAPTURES | ANNUDF_FEATURE_FINALIZE;
  metric.accumulator = ANNUDF_ACCUMULATOR_STRUCT;
  metric.fields = {ANNUDF_ACCUMULATOR_F32, ANNUDF_ACCUMULATOR_U32};
  EXPECT_EQ(faultOf(metric), "");
  EXPECT_EQ(featuresOf(metric), captures | ANNUDF_FEATURE_STRUCT);
  EXPECT_EQ(accumulatorText(metric), "f32, u32");
  EXPECT_STREQ(symbolOf(ScanHook::UPDATE, metric.hookWidths()), "annudf1_scan_update_s32_x32");
  metric.fields.push_back(ANNUDF_ACCUMULATOR_I64);
  metric.compute = ANNUDF_COMPUTE_F64;
  EXPECT_EQ(featuresOf(metric), captures | ANNUDF_FEATURE_STRUCT | ANNUDF_FEATURE_ACC64);
  EXPECT_STREQ(symbolOf(ScanHook::UPDATE, metric.hookWidths()), "annudf1_scan_update_s64_x64");
  EXPECT_STREQ(declarationOf(ScanHook::FINALIZE, metric.hookWidths()),
               "float annudf1_scan_finalize_s64(const uint64_t *acc, int32_t dims, int64_t row, "
               "int32_t query, int32_t list, const uint64_t *slots)");
}

MetricDescriptor aFilter() {
  MetricDescriptor filter;
  filter.role = ANNUDF_ROLE_FILTER;
  filter.name = "affordable";
  filter.captures = {{"price", ANNUDF_CAPTURE_F32, {{ANNUDF_EXTENT_ROW, 0}}},
                     {"most", ANNUDF_CAPTURE_F32, {}}};
  return filter;
}

// It has a name, dims and captures; its code relies on the last two alone.
TEST(Descriptor, AFilter) {
  const MetricDescriptor filter = aFilter();
  EXPECT_EQ(faultOf(filter), "");
  EXPECT_EQ(featuresOf(filter), uint64_t(ANNUDF_FEATURE_FILTER | ANNUDF_FEATURE_CAPTURES));
  EXPECT_STREQ(filter.noun(), "filter");
  EXPECT_STREQ(MetricDescriptor().noun(), "metric");
  for (annudf_element element : {ANNUDF_ELEMENT_F32, ANNUDF_ELEMENT_U8, ANNUDF_ELEMENT_BF16})
    EXPECT_TRUE(filter.accepts(element));
  MetricDescriptor plain = filter;
  plain.captures.clear();
  EXPECT_EQ(featuresOf(plain), uint64_t(ANNUDF_FEATURE_FILTER));
  EXPECT_EQ(json::from_cbor(encodeContract(filter)),
            json({ANNUDF_ABI_ID,
                  "filter",
                  0,
                  {{"price", "f32", {"row"}}, {"most", "f32", json::array()}}}));
  MetricDescriptor other = filter;
  other.name = "cheap";
  EXPECT_EQ(contractOf(other), contractOf(filter));
  other.dims = 3;
  EXPECT_NE(contractOf(other), contractOf(filter));
  EXPECT_NE(contractOf(plain), contractOf(filter));
  EXPECT_STREQ(symbolOf(FilterHook::KEEP), "annudf1_filter_keep");
}

TEST(Descriptor, WhatNoFilterHas) {
  const std::function<void(MetricDescriptor &)> changes[] = {
      [](auto &m) { m.order = ANNUDF_ORDER_MAX; },
      [](auto &m) { m.coarse = ANNUDF_COARSE_COSINE; },
      [](auto &m) { m.coarseOrder = ANNUDF_ORDER_MAX; },
      [](auto &m) { m.accumulator = ANNUDF_ACCUMULATOR_F64; },
      [](auto &m) { m.compute = ANNUDF_COMPUTE_I32; },
      [](auto &m) { m.numerics = ANNUDF_NUMERICS_REASSOCIATE; },
      [](auto &m) { m.elements = {ANNUDF_ELEMENT_F32}; },
      [](auto &m) { m.hooks = {ANNUDF_HOOK_INIT}; },
      [](auto &m) { m.fields = {ANNUDF_ACCUMULATOR_F32}; }};
  for (const auto &change : changes) {
    MetricDescriptor filter = aFilter();
    change(filter);
    EXPECT_EQ(faultOf(filter), "is a filter, but its descriptor has what only a metric has");
  }
  MetricDescriptor none = aFilter();
  none.role = static_cast<annudf_role>(1); // Reserved.
  EXPECT_EQ(faultOf(none), "role is no value of the ABI");
  MetricDescriptor large = aFilter();
  large.captures.resize(65, {"w", ANNUDF_CAPTURE_F32, {}});
  EXPECT_EQ(faultOf(large), "has 65 captures, the ABI allows 64");
}

TEST(Descriptor, FieldsThatNoAccumulatorHas) {
  const MetricDescriptor good = [] {
    MetricDescriptor metric = test::smallArtifact().manifest;
    metric.accumulator = ANNUDF_ACCUMULATOR_STRUCT;
    metric.fields = {ANNUDF_ACCUMULATOR_F32, ANNUDF_ACCUMULATOR_F32};
    return metric;
  }();
  const auto fault = [&](auto change) {
    MetricDescriptor metric = good;
    change(metric);
    return faultOf(metric);
  };
  EXPECT_EQ(fault([](auto &) {}), "");
  EXPECT_EQ(fault([](auto &m) { m.accumulator = ANNUDF_ACCUMULATOR_F32; }),
            "manifest field 'fields' has 2, but the accumulator is f32");
  EXPECT_EQ(fault([](auto &m) { m.fields.clear(); }),
            "manifest field 'fields' has 0, a struct has 2 to 6");
  EXPECT_EQ(fault([](auto &m) { m.fields.pop_back(); }),
            "manifest field 'fields' has 1, a struct has 2 to 6");
  EXPECT_EQ(fault([](auto &m) { m.fields.resize(7); }),
            "manifest field 'fields' has 7, a struct has 2 to 6");
  EXPECT_EQ(fault([](auto &m) { m.fields[1] = ANNUDF_ACCUMULATOR_STRUCT; }),
            "manifest field 'fields' holds what no field can be");
  EXPECT_EQ(fault([](auto &m) { m.fields[0] = static_cast<annudf_accumulator>(77); }),
            "manifest field 'fields' holds what no field can be");
  EXPECT_EQ(fault([](auto &m) { m.hooks.pop_back(); }),
            "manifest field 'hooks' lacks finalize, which an accumulator of several fields needs");
}

TEST(Descriptor, RowsHaveTheValuesOfTheEnums) {
  EXPECT_STREQ(rowOf(ANNUDF_FEATURE_FINALIZE)->spelling, "finalize");
  EXPECT_STREQ(rowOf(ANNUDF_FEATURE_CAPTURES)->spelling, "captures");
  EXPECT_STREQ(rowOf(ANNUDF_FEATURE_ACC64)->spelling, "acc64");
  EXPECT_EQ(rowOf(static_cast<annudf_feature>(3)), nullptr); // Two features.
  uint64_t known = 0;
  for (const TableRow &row : tableOf<annudf_feature>().rows)
    if (row.since != TableRow::kReserved)
      known |= static_cast<uint64_t>(row.value);
  EXPECT_EQ(known, ANNUDF_FEATURES_KNOWN);
  // A reserved row is known by name and by number, and may not be used.
  const auto packed = static_cast<annudf_hook>(5);
  EXPECT_TRUE(isReserved(packed));
  EXPECT_FALSE(isReserved(ANNUDF_EXTENT_ROW) || isReserved(static_cast<annudf_element>(7)));
  EXPECT_EQ(rowOf(packed), nullptr);
}

json canonical(const MetricDescriptor &m) {
  json captures = json::array();
  for (const CaptureInfo &capture : m.captures) {
    json extents = json::array();
    for (const CaptureExtent &extent : capture.extents)
      extents.push_back(extent.kind == ANNUDF_EXTENT_CONSTANT ? json(uint64_t(extent.constant))
                                                              : json(toString(extent.kind)));
    captures.push_back({capture.name, toString(capture.element), extents});
  }
  json all = {"annudf.accumulator.v1",        "scan",  "min",    "l2",          "min",
              toString(m.accumulator),        "f32",   "strict", {"f32", "u8"}, m.dims,
              {"init", "update", "finalize"}, captures};
  if (!m.fields.empty()) {
    json fields = {"fields"};
    for (annudf_accumulator field : m.fields)
      fields.push_back(toString(field));
    all.push_back(fields);
  }
  if (m.missingValues)
    all.push_back({"missing_values"});
  return all;
}

// Another encoder and the digest of the file: the hooks of every compiled metric return it.
TEST(Descriptor, ContractIsTheDigestOfCanonicalCbor) {
  MetricDescriptor metric = test::smallArtifact().manifest;
  for (const int64_t constant : {1, 23, 24, 255, 256, 65536}) {
    if (constant == 256) { // From here on of several fields.
      metric.accumulator = ANNUDF_ACCUMULATOR_STRUCT;
      metric.fields = {ANNUDF_ACCUMULATOR_F64, ANNUDF_ACCUMULATOR_I64, ANNUDF_ACCUMULATOR_U32};
    }
    metric.missingValues = constant == 24 || constant == 65536;
    metric.captures[1].extents[0].constant = constant;
    metric.dims = static_cast<int32_t>(constant);
    std::string expected;
    json::to_cbor(canonical(metric), expected);
    EXPECT_EQ(encodeContract(metric), expected);
    EXPECT_EQ(sha256Hex(expected).substr(0, 16), [&] {
      char text[17];
      std::snprintf(text, sizeof text, "%016llx",
                    static_cast<unsigned long long>(contractOf(metric)));
      return std::string(text);
    }());
  }
}

TEST(Descriptor, ContractSeesWhatAScanReliesOn) {
  const MetricDescriptor metric = test::smallArtifact().manifest;
  const std::function<void(MetricDescriptor &)> changes[] = {
      [](auto &m) { m.order = ANNUDF_ORDER_MAX; },
      [](auto &m) { m.coarse = ANNUDF_COARSE_COSINE; },
      [](auto &m) { m.coarseOrder = ANNUDF_ORDER_MAX; },
      [](auto &m) { m.accumulator = ANNUDF_ACCUMULATOR_U32; },
      [](auto &m) { m.compute = ANNUDF_COMPUTE_I32; },
      [](auto &m) { m.numerics = ANNUDF_NUMERICS_REASSOCIATE; },
      [](auto &m) { m.elements.pop_back(); },
      [](auto &m) { m.dims = 128; },
      [](auto &m) { m.hooks.pop_back(); },
      [](auto &m) { m.captures.pop_back(); },
      [](auto &m) { std::swap(m.captures[0], m.captures[1]); },
      [](auto &m) { m.captures[0].name = "v"; },
      [](auto &m) { m.captures[0].element = ANNUDF_CAPTURE_U32; },
      [](auto &m) { m.captures[0].extents = {}; },
      [](auto &m) { m.captures[1].extents[0].constant = 17; },
      [](auto &m) { m.fields = {ANNUDF_ACCUMULATOR_F32, ANNUDF_ACCUMULATOR_F32}; },
      [](auto &m) { m.fields = {ANNUDF_ACCUMULATOR_F32, ANNUDF_ACCUMULATOR_U32}; },
      [](auto &m) { m.missingValues = true; },
      [](auto &m) { m.rowOnlyIndexes = true; },
      [](auto &m) { m.readsList = true; },
      [](auto &m) { m.role = ANNUDF_ROLE_PAIRWISE; },
      [](auto &m) { m.scratchBytes = 8; },
      [](auto &m) { m.scratchPerDim = 8; },
      [](auto &m) { m.packed = PackedSum{ANNUDF_PACKED_PRODUCT, false, {{ANNUDF_ELEMENT_U8, 9}}}; },
      [](auto &m) { m.packed = PackedSum{ANNUDF_PACKED_PRODUCT, true, {{ANNUDF_ELEMENT_U8, 9}}}; },
      [](auto &m) { m.packed = PackedSum{ANNUDF_PACKED_PRODUCT, true, {{ANNUDF_ELEMENT_I8, 9}}}; },
      [](auto &m) { m.packed = PackedSum{ANNUDF_PACKED_PRODUCT, true, {{ANNUDF_ELEMENT_I8, 8}}}; },
      [](auto &m) {
        m.packed = PackedSum{ANNUDF_PACKED_DIFFERENT, true, {{ANNUDF_ELEMENT_I8, 8}}};
      },
  };
  std::set<uint64_t> seen{contractOf(metric)};
  for (const auto &change : changes) {
    MetricDescriptor other = metric;
    change(other);
    EXPECT_TRUE(seen.insert(contractOf(other)).second);
  }
  MetricDescriptor same = metric;
  same.name = "another";
  std::swap(same.elements[0], same.elements[1]);
  EXPECT_EQ(contractOf(same), contractOf(metric));
}

TEST(Descriptor, PackedSumsThatAreNone) {
  MetricDescriptor metric;
  metric.name = "m";
  metric.hooks = {ANNUDF_HOOK_INIT, ANNUDF_HOOK_UPDATE};
  metric.elements = {ANNUDF_ELEMENT_F32, ANNUDF_ELEMENT_I8, ANNUDF_ELEMENT_U8};
  metric.packed = PackedSum{
      ANNUDF_PACKED_PRODUCT, false, {{ANNUDF_ELEMENT_I8, 1024}, {ANNUDF_ELEMENT_U8, 258}}};
  EXPECT_EQ(faultOf(metric), "");
  EXPECT_EQ(packedText(metric.packed), "product: i8 up to 1024 dims, u8 up to 258 dims");
  EXPECT_EQ(packedText(std::nullopt), "no");
  const auto fault = [&](auto change) {
    MetricDescriptor other = metric;
    change(other, *other.packed);
    return faultOf(other);
  };
  EXPECT_EQ(fault([](auto &, auto &p) { p.elements.clear(); }),
            "manifest field 'packed' names no element type");
  EXPECT_EQ(fault([](auto &, auto &p) { p.elements = {{ANNUDF_ELEMENT_F32, 9}}; }),
            "manifest field 'packed' names f32, which is no integer");
  EXPECT_EQ(fault([](auto &, auto &p) { p.elements = {{ANNUDF_ELEMENT_BITS, 9}}; }),
            "manifest field 'packed' names bits, which field 'elements' does not");
  EXPECT_EQ(fault([](auto &, auto &p) { std::swap(p.elements[0], p.elements[1]); }),
            "manifest field 'packed' names i8 out of order");
  EXPECT_EQ(fault([](auto &, auto &p) { p.elements[1] = p.elements[0]; }),
            "manifest field 'packed' names i8 twice");
  EXPECT_EQ(fault([](auto &, auto &p) { p.elements[0].dims = 0; }),
            "manifest field 'packed' says 0 dims of i8, which must be from 1 to 1048576");
  EXPECT_EQ(fault([](auto &, auto &p) { p.term = static_cast<annudf_packed_term>(77); }),
            "manifest field 'packed' holds a term that is no value of the ABI");
  EXPECT_EQ(fault([](auto &m, auto &) { m.accumulator = ANNUDF_ACCUMULATOR_F64; }),
            "manifest field 'packed' says a sum of 32 bits, but the accumulator is f64");
}

TEST(Descriptor, ContractSeesEachTypeOfACapture) {
  MetricDescriptor metric = test::smallArtifact().manifest;
  std::set<uint64_t> contracts;
  for (annudf_extent extent : {ANNUDF_EXTENT_ROW, ANNUDF_EXTENT_QUERY}) {
    metric.captures[0].extents = {{extent, 0}};
    EXPECT_TRUE(contracts.insert(contractOf(metric)).second) << toString(extent);
  }
  metric = test::smallArtifact().manifest;
  for (const TableRow &row : tableOf<annudf_capture_element>().rows) {
    metric.captures[0].element = static_cast<annudf_capture_element>(row.value);
    EXPECT_EQ(faultOf(metric), "");
    EXPECT_TRUE(contracts.insert(contractOf(metric)).second) << row.spelling;
  }
}

TEST(Descriptor, MissingValues) {
  MetricDescriptor metric = test::smallArtifact().manifest;
  metric.missingValues = true;
  EXPECT_EQ(faultOf(metric), "");
  metric.elements = {ANNUDF_ELEMENT_I8, ANNUDF_ELEMENT_U8};
  EXPECT_EQ(faultOf(metric),
            "manifest field 'missing_values' is true, but no element type of the metric has NaN");
}

// It has what a scan ranks by, and nothing of hooks that see one coordinate.
TEST(Descriptor, ADistanceOfWholeVectors) {
  MetricDescriptor metric;
  metric.role = ANNUDF_ROLE_PAIRWISE;
  metric.name = "warped";
  metric.elements = {ANNUDF_ELEMENT_F32, ANNUDF_ELEMENT_U8};
  EXPECT_EQ(faultOf(metric), "");
  EXPECT_EQ(featuresOf(metric), uint64_t(ANNUDF_FEATURE_PAIRWISE));
  EXPECT_STREQ(metric.noun(), "metric");
  EXPECT_STREQ(symbolOf(PairwiseHook::DISTANCE, metric.computeWidth()), "annudf2_distance_x32");
  metric.compute = ANNUDF_COMPUTE_F64;
  EXPECT_STREQ(symbolOf(PairwiseAccessor::STORED, metric.computeWidth()), "annudf2_stored_x64");
  EXPECT_STREQ(symbolOf(PairwiseHook::CONTRACT, metric.computeWidth()), "annudf2_contract");
  const auto fault = [&](auto change) {
    MetricDescriptor other = metric;
    change(other);
    return faultOf(other);
  };
  const std::string hooks = "is a distance of whole vectors, but its descriptor has what only a "
                            "metric of one coordinate has";
  EXPECT_EQ(fault([](auto &m) { m.hooks = {ANNUDF_HOOK_INIT}; }), hooks);
  EXPECT_EQ(fault([](auto &m) { m.accumulator = ANNUDF_ACCUMULATOR_F64; }), hooks);
  EXPECT_EQ(fault([](auto &m) { m.scratchBytes = 65536, m.scratchPerDim = 64; }), "");
  EXPECT_EQ(fault([](auto &m) { m.scratchBytes = 65537; }),
            "manifest field 'scratch' is 65537 bytes and 0 a dimension; at most 65536 and 64 are "
            "allowed");
  EXPECT_EQ(fault([](auto &m) { m.scratchPerDim = -1; }),
            "manifest field 'scratch' is 0 bytes and -1 a dimension; at most 65536 and 64 are "
            "allowed");
  EXPECT_EQ(fault([](auto &m) { m.elements.clear(); }),
            "manifest field 'elements' is empty: the metric accepts no element type");
  MetricDescriptor hooked = test::smallArtifact().manifest;
  hooked.scratchBytes = 8;
  EXPECT_EQ(faultOf(hooked), "manifest field 'scratch' is of distances of whole vectors only");
}

// At the end of both contracts, and only where it says something.
TEST(Descriptor, RowsThatOnlyIndex) {
  MetricDescriptor metric = test::smallArtifact().manifest, filter;
  filter.role = ANNUDF_ROLE_FILTER;
  filter.name = "f";
  for (MetricDescriptor *one : {&metric, &filter}) {
    one->rowOnlyIndexes = true;
    EXPECT_EQ(faultOf(*one),
              "manifest field 'row_only_indexes' is true, but no capture has an entry a row");
    one->captures = {{"age", ANNUDF_CAPTURE_F32, {{ANNUDF_EXTENT_ROW, 0}}}};
    EXPECT_EQ(faultOf(*one), "");
    json with = json::from_cbor(encodeContract(*one));
    EXPECT_EQ(with.back(), json::array({"row_only_indexes"}));
    one->rowOnlyIndexes = false;
    with.erase(with.size() - 1);
    EXPECT_EQ(json::from_cbor(encodeContract(*one)), with);
  }
}

// Only a filter says it, and one with an entry a query has to.
TEST(Descriptor, FiltersThatSeeTheQuery) {
  MetricDescriptor metric = test::smallArtifact().manifest, filter;
  metric.seesQuery = true;
  EXPECT_EQ(faultOf(metric),
            "manifest field 'sees_query' is true, but every metric sees its query");
  filter.role = ANNUDF_ROLE_FILTER;
  filter.name = "f";
  const json without = json::from_cbor(encodeContract(filter));
  filter.seesQuery = true;
  EXPECT_EQ(faultOf(filter), "");
  json with = json::from_cbor(encodeContract(filter));
  EXPECT_EQ(with.back(), json::array({"sees_query"}));
  with.erase(with.size() - 1);
  EXPECT_EQ(with, without);
  filter.captures = {{"age", ANNUDF_CAPTURE_F32, {{ANNUDF_EXTENT_ROW, 0}}},
                     {"mine", ANNUDF_CAPTURE_I32, {{ANNUDF_EXTENT_QUERY, 0}}}};
  filter.rowOnlyIndexes = true;
  EXPECT_EQ(faultOf(filter), "");
  const json both = json::from_cbor(encodeContract(filter));
  EXPECT_EQ(both[both.size() - 2], json::array({"row_only_indexes"}));
  EXPECT_EQ(both.back(), json::array({"sees_query"}));
  filter.seesQuery = false;
  EXPECT_EQ(faultOf(filter), "manifest field 'sees_query' is absent, but a capture of the filter "
                             "has an entry a query");
}

TEST(Descriptor, Faults) {
  const MetricDescriptor metric = test::smallArtifact().manifest;
  const struct {
    std::function<void(MetricDescriptor &)> change;
    const char *fault;
  } cases[] = {
      {[](auto &) {}, ""},
      {[](auto &m) { m.order = static_cast<annudf_order>(7); },
       "order, coarse metric, numerics, compute type or accumulator is no value of the ABI"},
      {[](auto &m) { m.elements = {static_cast<annudf_element>(77)}; },
       "manifest field 'elements' holds no value of the ABI"},
      {[](auto &m) { m.compute = ANNUDF_COMPUTE_I32; },
       "compute type i32 cannot hold element type f32"},
      {[](auto &m) { m.hooks = {ANNUDF_HOOK_INIT, ANNUDF_HOOK_FINALIZE}; },
       "manifest field 'hooks' lacks update, which every metric has"},
      {[](auto &m) { m.elements = {ANNUDF_ELEMENT_F16, ANNUDF_ELEMENT_F32}; },
       "manifest field 'elements' names f32 out of order"},
      {[](auto &m) { std::swap(m.hooks[0], m.hooks[1]); },
       "manifest field 'hooks' names init out of order"},
      {[](auto &m) { m.hooks.push_back(ANNUDF_HOOK_FINALIZE); },
       "manifest field 'hooks' names finalize twice"},
      {[](auto &m) { m.name = "a\x1b[31m"; }, "manifest field 'name' is 'a\\x1b[31m', which is no "
                                              "name; a name has letters, digits and _, no "
                                              "digit first, and at most 255 bytes"},
      {[](auto &m) { m.captures[0].name = "w w"; },
       "capture 'w w' has a name that is none; a name has letters, digits and _, no digit first, "
       "and at most 255 bytes"},
      {[](auto &m) { m.captures[0].extents.resize(9); },
       "capture 'w' has 9 extents, at most 8 are allowed"},
      {[](auto &m) { m.captures[0].extents = {{ANNUDF_EXTENT_ROW, 0}}; }, ""},
      {[](auto &m) { m.captures[0].extents = {{ANNUDF_EXTENT_DIM, 0}, {ANNUDF_EXTENT_ROW, 0}}; },
       "capture 'w' has extent row after another"},
      {[](auto &m) { m.captures[0].extents = {{ANNUDF_EXTENT_ROW, 0}, {ANNUDF_EXTENT_QUERY, 0}}; },
       "capture 'w' has extent query after another"},
      {[](auto &m) { m.captures[0].extents = {{static_cast<annudf_extent>(77), 0}}; },
       "capture 'w' has an extent that is no value of the ABI"},
  };
  for (const auto &[change, fault] : cases) {
    MetricDescriptor other = metric;
    change(other);
    EXPECT_EQ(faultOf(other), fault);
  }
}

} // namespace
} // namespace annudf
