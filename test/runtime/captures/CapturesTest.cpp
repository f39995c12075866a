//===- CapturesTest.cpp - Binding values to captures ------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CapturesTesting.h"

#include "Support/TestFiles.h"
#include "annudf/runtime/engine/Search.h"
#include "annudf/runtime/ivf_flat/Index.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <set>

namespace annudf::runtime {
namespace {

using test::errorOf;

template <typename T>
NumericArray array(const char *dtype, std::vector<int64_t> shape, const std::vector<T> &values) {
  NumericArray result;
  result.dtype = dtype;
  result.shape = std::move(shape);
  result.origin = "w.npy";
  result.storage.resize(values.size() * sizeof(T));
  if (!values.empty())
    std::memcpy(result.storage.data(), values.data(), result.storage.size());
  return result;
}

/// Binds one capture "w" of the given type, dim being 4.
std::vector<std::byte> bindOne(annudf_capture_element element, std::vector<CaptureExtent> extents,
                               const NumericArray &value, bool allowNonFinite = false) {
  const BoundCaptures bound = BoundCaptures::bind(manifest({{"w", element, std::move(extents)}}), 4,
                                                  {{"w", value}}, allowNonFinite);
  return {bound.bytes(0).begin(), bound.bytes(0).end()};
}

template <typename T> std::vector<T> valuesOf(std::span<const std::byte> bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

TEST(Captures, SearchTakesOnlyThoseBoundForIt) {
  auto metric = [](std::vector<CaptureInfo> captures) {
    Metric m;
    m.artifact.manifest = manifest(std::move(captures));
    m.origin = "m.annudf";
    return m;
  };
  auto check = [](const Metric &metric, const BoundCaptures &captures, int32_t dims) {
    return errorOf([&] { checkCaptures(metric, captures, dims); }, ErrorKind::Usage);
  };
  const Metric weighted = metric({{"w", ANNUDF_CAPTURE_F32, {kDim}}});
  const BoundCaptures bound = BoundCaptures::bind(weighted.artifact.manifest, 4,
                                                  {{"w", array<float>("f32", {4}, {1, 2, 3, 4})}});
  EXPECT_EQ(check(weighted, bound, 4), "NO ERROR");
  EXPECT_EQ(check(metric({}), {}, 4), "NO ERROR");
  EXPECT_EQ(check(metric({}), BoundCaptures::bind(manifest({}), 8, {}), 4), "NO ERROR");

  EXPECT_EQ(check(weighted, bound, 8),
            "captures of metric 'm' (m.annudf) were bound for 4 dims, the index has 8");
  EXPECT_EQ(check(weighted, {}, 4),
            "metric 'm' (m.annudf) needs captures w (dim x f32); none were bound");
  EXPECT_EQ(check(metric({{"w", ANNUDF_CAPTURE_F64, {kDim}}}), bound, 4),
            "metric 'm' (m.annudf) needs captures w (dim x f64); those given were bound for "
            "metric 'm': w (dim x f32)");
  // Other name, extents of the same product, kind, number.
  const CaptureExtent four{ANNUDF_EXTENT_CONSTANT, 4};
  for (const std::vector<CaptureInfo> &other : std::vector<std::vector<CaptureInfo>>{
           {{"v", ANNUDF_CAPTURE_F32, {kDim}}},
           {{"w", ANNUDF_CAPTURE_F32, {four}}},
           {{"w", ANNUDF_CAPTURE_F32, {}}},
           {{"w", ANNUDF_CAPTURE_F32, {kDim}}, {"p", ANNUDF_CAPTURE_F32, {}}},
           {}})
    EXPECT_NE(check(metric(other), bound, 4), "NO ERROR");
  EXPECT_EQ(check(metric({}), bound, 4),
            "metric 'm' (m.annudf) has no captures; those given were bound for metric 'm': "
            "w (dim x f32)");
}

TEST(Captures, BindInTheOrderOfTheManifest) {
  const Manifest m = manifest({{"w", ANNUDF_CAPTURE_F32, {kDim}},
                               {"t", ANNUDF_CAPTURE_F64, {}},
                               {"m", ANNUDF_CAPTURE_I32, {{ANNUDF_EXTENT_CONSTANT, 2}, kDim}}});
  const BoundCaptures bound =
      BoundCaptures::bind(m, 4,
                          {{"m", array<int32_t>("i32", {2, 4}, {1, 2, 3, 4, 5, 6, 7, 8})},
                           {"t", array<double>("f64", {}, {0.1})},
                           {"w", array<float>("f32", {4}, {1, 2, 3, 4.5f})}});
  ASSERT_EQ(bound.size(), 3u);
  EXPECT_EQ(valuesOf<float>(bound.bytes(0)), (std::vector<float>{1, 2, 3, 4.5f}));
  EXPECT_EQ(valuesOf<double>(bound.bytes(1)), std::vector<double>{0.1});
  EXPECT_EQ(valuesOf<int32_t>(bound.bytes(2)), (std::vector<int32_t>{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_FALSE(bound.isScalar(0));
  EXPECT_TRUE(bound.isScalar(1));
  EXPECT_EQ(BoundCaptures::bind(manifest({}), 4, {}).size(), 0u);
}

TEST(Captures, MissingAndUnknown) {
  const Manifest m = manifest({{"w", ANNUDF_CAPTURE_F32, {kDim}}, {"t", ANNUDF_CAPTURE_I32, {}}});
  const NumericArray w = array<float>("f32", {4}, {1, 2, 3, 4});
  EXPECT_EQ(errorOf([&] { BoundCaptures::bind(m, 4, {{"w", w}}); }, ErrorKind::Usage),
            "metric 'm' needs capture 't' (scalar i32), which was not given");
  EXPECT_EQ(errorOf([&] { BoundCaptures::bind(m, 4, {}); }, ErrorKind::Usage),
            "metric 'm' needs capture 'w' (dim x f32), which was not given");
  EXPECT_EQ(errorOf([&] { BoundCaptures::bind(m, 4, {{"v", w}}); }, ErrorKind::Usage),
            "metric 'm' has no capture 'v'; it declares w, t");
  EXPECT_EQ(errorOf([&] { BoundCaptures::bind(manifest({}), 4, {{"v", w}}); }, ErrorKind::Usage),
            "metric 'm' has no capture 'v'; it has none");
}

TEST(Captures, ShapesMustMatch) {
  const auto error = [](std::vector<CaptureExtent> extents, const NumericArray &value) {
    return errorOf([&] { bindOne(ANNUDF_CAPTURE_F32, extents, value); });
  };
  EXPECT_EQ(error({kDim}, array<float>("f32", {3}, {1, 2, 3})),
            "capture 'w' from w.npy: declared dim x f32 with dim = 4, got 3 x f32");
  EXPECT_EQ(error({kDim}, array<float>("f32", {1, 4}, {1, 2, 3, 4})),
            "capture 'w' from w.npy: declared dim x f32 with dim = 4, got 1 x 4 x f32");
  EXPECT_EQ(error({{ANNUDF_EXTENT_CONSTANT, 2}}, array<float>("f32", {3}, {1, 2, 3})),
            "capture 'w' from w.npy: declared 2 x f32, got 3 x f32");
  EXPECT_EQ(error({}, array<float>("f32", {1}, {1})),
            "capture 'w' from w.npy: declared scalar f32, got 1 x f32");
  EXPECT_EQ(error({kDim}, array<double>("f64", {}, {1})),
            "capture 'w' from w.npy: declared dim x f32 with dim = 4, got scalar f64");
  EXPECT_EQ(error({{ANNUDF_EXTENT_ROW, 0}}, array<float>("f32", {4}, {1, 2, 3, 4})),
            "capture 'w' from w.npy: declared row x f32, but the number of rows is not given; "
            "give it with the values");
  EXPECT_EQ(error({{ANNUDF_EXTENT_ROW, 0}}, array<float>("f32", {0}, {})),
            "capture 'w' from w.npy: declared row x f32, but it has no entry; give one for each of "
            "the rows");
  EXPECT_EQ(error({kDim}, array<float>("f32", {4}, {1, 2, 3})),
            "capture 'w' from w.npy: it has 12 bytes, 4 x f32 takes 16");
  EXPECT_EQ(error({kDim}, array<float>("c64", {4}, {1, 2, 3, 4})),
            "capture 'w' from w.npy: dtype 'c64' is not supported; give f16, bf16, f32, f64, i8 to "
            "i64, u8 to u64 or b1");
}

TEST(Captures, RowsAndQueriesAreBoundAndChecked) {
  Metric metric;
  metric.origin = "m.annudf";
  metric.artifact.manifest =
      manifest({{"r", ANNUDF_CAPTURE_F32, {{ANNUDF_EXTENT_ROW, 0}}},
                {"q", ANNUDF_CAPTURE_F32, {{ANNUDF_EXTENT_QUERY, 0}, kDim}}});
  const std::map<std::string, NumericArray> values = {
      {"r", array<float>("f32", {3}, {1, 2, 3})},
      {"q", array<float>("f32", {2, 4}, {1, 2, 3, 4, 5, 6, 7, 8})}};
  const BoundCaptures bound = BoundCaptures::bind(metric.artifact.manifest, {4, 3, 2}, values);
  auto check = [&](const CaptureExtents &searched) {
    return errorOf([&] { checkCaptures(metric, bound, searched); }, ErrorKind::Usage);
  };
  EXPECT_EQ(check({4, 3, 2}), "NO ERROR");
  EXPECT_EQ(check({4, 2, 2}), "NO ERROR"); // Ids that the index does not have do no harm.
  EXPECT_EQ(
      check({4, 4, 2}),
      "capture 'r' (row x f32) of metric 'm' is bound to 3 x f32, the largest id of the index "
      "is 3; bind an array of at least 4 rows");
  const std::string who = "capture 'q' (query x dim x f32) of metric 'm' is bound to 2 x 4 x f32, ";
  EXPECT_EQ(check({4, 3, 3}),
            who + "this search has 3 queries; bind an array with one entry a query");
  EXPECT_EQ(check({4, 3, 1}),
            who + "this search has 1 query; bind an array with one entry a query");
  EXPECT_EQ(check({5, 3, 2}),
            "captures of metric 'm' (m.annudf) were bound for 4 dims, the index has 5");
  EXPECT_EQ(errorOf([&] { BoundCaptures::bind(metric.artifact.manifest, {4, 5, 2}, values); }),
            "capture 'r' from w.npy: declared row x f32 with row >= 5, got 3 x f32");
  EXPECT_EQ(errorOf([&] { BoundCaptures::bind(metric.artifact.manifest, {4, 3, 0}, values); }),
            "capture 'q' from w.npy: declared query x dim x f32, but the number of queries is "
            "not given; give it with the values");
}

// Ids may have gaps, and rows be added: what counts is the array, not for how many it was bound.
TEST(Captures, AnArrayOfRowsMayBeLonger) {
  Metric metric;
  metric.origin = "m.annudf";
  const CaptureExtent row{ANNUDF_EXTENT_ROW, 0};
  metric.artifact.manifest =
      manifest({{"a", ANNUDF_CAPTURE_F32, {row}}, {"b", ANNUDF_CAPTURE_I32, {row, kDim}}});
  const BoundCaptures bound =
      BoundCaptures::bind(metric.artifact.manifest, {2, 1, 0},
                          {{"a", array<float>("f32", {5}, {1, 2, 3, 4, 5})},
                           {"b", array<int32_t>("i32", {3, 2}, {1, 2, 3, 4, 5, 6})}});
  EXPECT_EQ(valuesOf<float>(bound.bytes(0)), (std::vector<float>{1, 2, 3, 4, 5}));
  EXPECT_EQ(bound.extents().rows, 3);
  auto check = [&](int64_t rows) {
    return errorOf([&] { checkCaptures(metric, bound, {2, rows, 7}); }, ErrorKind::Usage);
  };
  EXPECT_EQ(check(1), "NO ERROR");
  EXPECT_EQ(check(3), "NO ERROR");
  EXPECT_EQ(check(4), "capture 'b' (row x dim x i32) of metric 'm' is bound to 3 x 2 x i32, the "
                      "largest id of the index is 3; bind an array of at least 4 rows");
  // Unless the rows come with the call: what is longer is then of other rows.
  auto own = [&](int64_t rows) {
    return errorOf([&] { checkOwnRows(bound, rows); }, ErrorKind::Usage);
  };
  EXPECT_EQ(own(5), "NO ERROR");
  EXPECT_EQ(own(4),
            "capture 'a' (row x f32) of metric 'm' is bound to 5 x f32, the data set has 4 rows; "
            "bind one entry a row, or search an index that was extended with the ids of the rows");
  // The others are not.
  EXPECT_EQ(errorOf([&] {
              BoundCaptures::bind(metric.artifact.manifest, {2, 1, 0},
                                  {{"a", array<float>("f32", {5}, {1, 2, 3, 4, 5})},
                                   {"b", array<int32_t>("i32", {2, 3}, {1, 2, 3, 4, 5, 6})}});
            }),
            "capture 'b' from w.npy: declared row x dim x i32 with row >= 1, dim = 2, got 2 x 3 x "
            "i32");
}

// A hook gets the number of a query as an int32_t.
TEST(Captures, ASearchHasNoMoreQueriesThanAHookCanCount) {
  std::vector<float> row(2);
  IndexParams params;
  params.nLists = 1;
  const MatrixView one{row.data(), 1, 2, ANNUDF_ELEMENT_F32};
  const Index index = Index::build(params, one);
  Metric metric;
  metric.origin = "m.annudf";
  metric.artifact.manifest = manifest({});
  metric.artifact.manifest.elements = {ANNUDF_ELEMENT_F32};
  MatrixView queries = one;
  auto check = [&](int64_t rows) {
    queries.rows = rows;
    return errorOf([&] { checkSearch(index, metric, queries, 1, {.candidates = Lists{1}}); },
                   ErrorKind::Input);
  };
  EXPECT_EQ(check(2147483647), "NO ERROR");
  EXPECT_EQ(check(2147483648),
            "queries: 2147483648 rows, a search takes at most 2147483647; search in parts");
}

TEST(Captures, ViewsWithStridesAreConvertedOnce) {
  const Manifest m = manifest({{"w", ANNUDF_CAPTURE_F32, {{ANNUDF_EXTENT_CONSTANT, 2}, kDim}}});
  // A column-major matrix of doubles, transposed back by its strides.
  const double columns[] = {1, 5, 2, 6, 3, 7, 4, 8};
  CaptureValue view;
  view.dtype = "f64", view.shape = {2, 4}, view.strides = {8, 16};
  view.data = columns, view.origin = "w";
  const BoundCaptures bound = BoundCaptures::bindViews(m, 4, {{"w", view}});
  EXPECT_EQ(valuesOf<float>(bound.bytes(0)), (std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}));
  view.strides = {0, 0};
  const BoundCaptures same = BoundCaptures::bindViews(m, 4, {{"w", view}});
  EXPECT_EQ(valuesOf<float>(same.bytes(0)), std::vector<float>(8, 1));
  view.strides = {8};
  EXPECT_EQ(errorOf([&] { BoundCaptures::bindViews(m, 4, {{"w", view}}); }),
            "capture 'w' from w: it has 1 strides for 2 x 4 x f64; give one for each extent");
}

TEST(Captures, TheDigestTellsWhatAScanWouldRead) {
  const CaptureExtent four{ANNUDF_EXTENT_CONSTANT, 4};
  auto digest = [](std::vector<CaptureInfo> captures, const CaptureExtents &extents,
                   const std::map<std::string, NumericArray> &values) {
    return BoundCaptures::bind(manifest(std::move(captures)), extents, values).digest();
  };
  const NumericArray w = array<float>("f32", {4}, {1, 2, 3, 4});
  const std::string first = digest({{"w", ANNUDF_CAPTURE_F32, {kDim}}}, 4, {{"w", w}});
  EXPECT_EQ(first.size(), 64u);
  EXPECT_EQ(first, digest({{"w", ANNUDF_CAPTURE_F32, {kDim}}}, 4, {{"w", w}}));
  EXPECT_EQ(first, digest({{"w", ANNUDF_CAPTURE_F32, {kDim}}}, 4,
                          {{"w", array<double>("f64", {4}, {1, 2, 3, 4})}})); // Once converted.
  const std::string others[] = {
      digest({{"w", ANNUDF_CAPTURE_F32, {kDim}}}, 4,
             {{"w", array<float>("f32", {4}, {1, 2, 3, 5})}}),
      digest({{"v", ANNUDF_CAPTURE_F32, {kDim}}}, 4, {{"v", w}}),
      digest({{"w", ANNUDF_CAPTURE_F64, {kDim}}}, 4, {{"w", w}}),
      digest({{"w", ANNUDF_CAPTURE_F32, {four}}}, 4, {{"w", w}}),
      digest({{"w", ANNUDF_CAPTURE_F32, {four}}}, 5, {{"w", w}}),
      digest({{"w", ANNUDF_CAPTURE_F32, {kDim}}}, {4, 9, 0}, {{"w", w}}),
      digest({{"w", ANNUDF_CAPTURE_F32, {kDim}}}, {4, 0, 9}, {{"w", w}}),
      digest({{"w", ANNUDF_CAPTURE_F32, {kDim}}, {"p", ANNUDF_CAPTURE_F32, {}}}, 4,
             {{"w", w}, {"p", array<float>("f32", {}, {1})}}),
      digest({}, 4, {})};
  std::set<std::string> seen = {first};
  for (const std::string &other : others)
    EXPECT_TRUE(seen.insert(other).second);
}

TEST(Captures, NonFiniteValuesNeedLeave) {
  const float nan = std::nanf(""), inf = INFINITY;
  const NumericArray value = array<float>("f32", {4}, {1, 2, nan, -inf});
  EXPECT_EQ(errorOf([&] { bindOne(ANNUDF_CAPTURE_F32, {kDim}, value); }),
            "capture 'w' from w.npy: element 2, nan, is not finite");
  EXPECT_EQ(
      errorOf([&] { bindOne(ANNUDF_CAPTURE_F32, {}, array<double>("f64", {}, {-INFINITY})); }),
      "capture 'w' from w.npy: the value -inf, is not finite");
  const auto bound = valuesOf<float>(bindOne(ANNUDF_CAPTURE_F32, {kDim}, value, true));
  EXPECT_TRUE(std::isnan(bound[2]));
  EXPECT_EQ(bound[3], -inf);
  EXPECT_EQ(errorOf([&] { bindOne(ANNUDF_CAPTURE_I32, {kDim}, value, true); }),
            "capture 'w' from w.npy: element 2, nan (f32), is not representable as i32");
}

/// \returns what becomes of `value` in an array of four: itself, or the error's end.
template <typename T>
std::string convert(const char *dtype, const char *element, T value, bool scalar = false) {
  const NumericArray given =
      scalar ? array<T>(dtype, {}, {value}) : array<T>(dtype, {4}, {0, 0, 0, value});
  const std::string error = errorOf([&] {
    bindOne(*parseSpelling<annudf_capture_element>(element),
            scalar ? std::vector<CaptureExtent>{} : std::vector<CaptureExtent>{kDim}, given);
  });
  return error == "NO ERROR" ? "ok" : error.substr(error.find(": ") + 2);
}

TEST(Captures, ArraysConvertOnlyWhereExact) {
  EXPECT_EQ(convert<double>("f64", "f32", 0.5), "ok");
  EXPECT_EQ(convert<double>("f64", "f32", 0.1),
            "element 3, 0.1 (f64), is not representable as f32; round the array to f32 first");
  EXPECT_EQ(convert<double>("f64", "f32", 1e300),
            "element 3, 1e+300 (f64), is not representable as f32");
  EXPECT_EQ(convert<float>("f32", "f64", 0.1f), "ok");
  EXPECT_EQ(convert<int64_t>("i64", "f32", 16777216), "ok");
  EXPECT_EQ(convert<int64_t>("i64", "f32", 16777217),
            "element 3, 16777217 (i64), is not representable as f32; round the array to f32 first");
  EXPECT_EQ(convert<int64_t>("i64", "f64", 9007199254740993),
            "element 3, 9007199254740993 (i64), is not representable as f64; round the array to "
            "f64 first");
  EXPECT_EQ(convert<int64_t>("i64", "f64", std::numeric_limits<int64_t>::max()),
            "element 3, 9223372036854775807 (i64), is not representable as f64; round the array to "
            "f64 first");
  EXPECT_EQ(convert<int64_t>("i64", "f64", std::numeric_limits<int64_t>::min()), "ok");
  EXPECT_EQ(convert<int32_t>("i32", "u32", -1), "element 3, -1 (i32), is not representable as u32");
  EXPECT_EQ(convert<uint32_t>("u32", "i32", 0x80000000u),
            "element 3, 2147483648 (u32), is not representable as i32");
}

// What NumPy hands over: small and wide integers, booleans, halves.
TEST(Captures, EveryDtypeConverts) {
  for (const char *to : {"f32", "f64", "i32", "u32"}) {
    EXPECT_EQ(convert<int8_t>("i8", to, 127), "ok");
    EXPECT_EQ(convert<uint8_t>("u8", to, 255), "ok");
    EXPECT_EQ(convert<int16_t>("i16", to, 32767), "ok");
    EXPECT_EQ(convert<uint16_t>("u16", to, 65535), "ok");
    EXPECT_EQ(convert<uint8_t>("b1", to, 1), "ok");
    EXPECT_EQ(convert<int64_t>("i64", to, 1 << 24), "ok");
    EXPECT_EQ(convert<uint64_t>("u64", to, 1 << 24), "ok");
    EXPECT_EQ(convert<uint16_t>("f16", to, 0x7bff), "ok"); // 65504
  }
  EXPECT_EQ(valuesOf<int32_t>(
                bindOne(ANNUDF_CAPTURE_I32, {kDim}, array<int16_t>("i16", {4}, {-2, 0, 3, -4}))),
            (std::vector<int32_t>{-2, 0, 3, -4}));
  EXPECT_EQ(
      valuesOf<float>(bindOne(ANNUDF_CAPTURE_F32, {kDim}, array<uint8_t>("b1", {4}, {0, 1, 1, 0}))),
      (std::vector<float>{0, 1, 1, 0}));
  EXPECT_EQ(valuesOf<float>(bindOne(ANNUDF_CAPTURE_F32, {kDim},
                                    array<uint16_t>("f16", {4}, {0, 0x3800, 0, 1}))),
            (std::vector<float>{0, 0.5f, 0, 0x1p-24f}));
  EXPECT_EQ(convert<int16_t>("i16", "u32", -1), "element 3, -1 (i16), is not representable as u32");
  EXPECT_EQ(convert<uint64_t>("u64", "f32", uint64_t(1) << 63), "ok");
  EXPECT_EQ(
      convert<uint64_t>("u64", "f64", ~uint64_t(0)),
      "element 3, 18446744073709551615 (u64), is not representable as f64; round the array to "
      "f64 first");
  EXPECT_EQ(convert<uint16_t>("f16", "i32", 0x3800),
            "element 3, 0.5 (f16), is not representable as i32");
}

/// The bytes of an array of four in the declared element type.
template <typename To, typename From>
std::vector<To> bound(annudf_capture_element element, const char *dtype,
                      const std::vector<From> &values) {
  return valuesOf<To>(bindOne(element, {kDim}, array<From>(dtype, {4}, values)));
}

// An array of the declared type is taken as it is, up to the ends of its range.
TEST(Captures, EveryElementKeepsItsValues) {
  const auto same = []<typename T>(annudf_capture_element element, const char *dtype,
                                   const std::vector<T> &values) {
    EXPECT_EQ((bound<T, T>(element, dtype, values)), values) << dtype;
  };
  same(ANNUDF_CAPTURE_I8, "i8", std::vector<int8_t>{-128, -1, 0, 127});
  same(ANNUDF_CAPTURE_U8, "u8", std::vector<uint8_t>{0, 1, 128, 255});
  same(ANNUDF_CAPTURE_I16, "i16", std::vector<int16_t>{-32768, -1, 0, 32767});
  same(ANNUDF_CAPTURE_U16, "u16", std::vector<uint16_t>{0, 1, 32768, 65535});
  same(ANNUDF_CAPTURE_I64, "i64",
       std::vector<int64_t>{std::numeric_limits<int64_t>::min(), -1, (int64_t(1) << 53) + 1,
                            std::numeric_limits<int64_t>::max()});
  same(ANNUDF_CAPTURE_U64, "u64",
       std::vector<uint64_t>{0, (uint64_t(1) << 53) + 1, (uint64_t(1) << 63) + 1, ~uint64_t(0)});
  same(ANNUDF_CAPTURE_I1, "b1", std::vector<uint8_t>{0, 1, 1, 0});
  // Denormals, the largest, negative 0.
  same(ANNUDF_CAPTURE_F16, "f16", std::vector<uint16_t>{0x0001, 0x83ff, 0x7bff, 0x8000});
  same(ANNUDF_CAPTURE_BF16, "bf16", std::vector<uint16_t>{0x0001, 0x807f, 0x7f7f, 0x8000});
}

TEST(Captures, EveryElementConvertsWhereExact) {
  EXPECT_EQ((bound<uint16_t, float>(ANNUDF_CAPTURE_BF16, "f32", {1, -2, 0x1p-133f, 0x1.fep127f})),
            (std::vector<uint16_t>{0x3f80, 0xc000, 0x0001, 0x7f7f}));
  EXPECT_EQ((bound<uint16_t, double>(ANNUDF_CAPTURE_F16, "f64", {1, -2, 0x1p-24, 65504})),
            (std::vector<uint16_t>{0x3c00, 0xc000, 0x0001, 0x7bff}));
  EXPECT_EQ((bound<float, uint16_t>(ANNUDF_CAPTURE_F32, "bf16", {0x3f80, 0xc000, 1, 0x7f7f})),
            (std::vector<float>{1, -2, 0x1p-133f, 0x1.fep127f}));
  EXPECT_EQ((bound<uint8_t, int64_t>(ANNUDF_CAPTURE_I1, "i64", {0, 1, 1, 0})),
            (std::vector<uint8_t>{0, 1, 1, 0}));
  // Any byte but 0 of a boolean array is true.
  EXPECT_EQ((bound<uint8_t, uint8_t>(ANNUDF_CAPTURE_I1, "b1", {0, 2, 255, 1})),
            (std::vector<uint8_t>{0, 1, 1, 1}));
  EXPECT_EQ(convert<int64_t>("i64", "i1", 2), "element 3, 2 (i64), is not representable as i1");
  EXPECT_EQ(convert<float>("f32", "i1", 0.5f), "element 3, 0.5 (f32), is not representable as i1");
  EXPECT_EQ(convert<int64_t>("i64", "i8", 128), "element 3, 128 (i64), is not representable as i8");
  EXPECT_EQ(convert<int64_t>("i64", "u8", -1), "element 3, -1 (i64), is not representable as u8");
  EXPECT_EQ(convert<int32_t>("i32", "i16", -32769),
            "element 3, -32769 (i32), is not representable as i16");
  EXPECT_EQ(convert<int32_t>("i32", "u16", 65536),
            "element 3, 65536 (i32), is not representable as u16");
  EXPECT_EQ(convert<uint64_t>("u64", "i64", uint64_t(1) << 63),
            "element 3, 9223372036854775808 (u64), is not representable as i64");
  EXPECT_EQ(convert<int64_t>("i64", "u64", -1), "element 3, -1 (i64), is not representable as u64");
  EXPECT_EQ(convert<float>("f32", "f16", 65520.0f),
            "element 3, 65520 (f32), is not representable as f16");
  EXPECT_EQ(
      convert<float>("f32", "bf16", 1.01f),
      "element 3, 1.00999999 (f32), is not representable as bf16; round the array to bf16 first");
  EXPECT_EQ(convert<int32_t>("i32", "bf16", 257),
            "element 3, 257 (i32), is not representable as bf16; round the array to bf16 first");
}

// To nearest, ties to even, from the double itself: of 1 + 2^-8 + 2^-40 a float would be a tie.
TEST(Captures, ScalarsRoundToBfloat16) {
  const auto rounded = [](double value) {
    return valuesOf<uint16_t>(
        bindOne(ANNUDF_CAPTURE_BF16, {}, array<double>("f64", {}, {value})))[0];
  };
  EXPECT_EQ(rounded(1), 0x3f80);
  EXPECT_EQ(rounded(1 + 0x1p-8), 0x3f80);
  EXPECT_EQ(rounded(1 + 0x1p-8 + 0x1p-40), 0x3f81);
  EXPECT_EQ(rounded(1 + 0x3p-8), 0x3f82);
  EXPECT_EQ(rounded(-(2 - 0x1p-9)), 0xc000); // The carry goes into the exponent.
  EXPECT_EQ(rounded(0x1.feffffp127), 0x7f7f);
  EXPECT_EQ(rounded(0x1p-134), 0x0000);
  EXPECT_EQ(rounded(0x3p-134), 0x0002);
  EXPECT_EQ(rounded(0x1.fffp-127), 0x0080); // Up into the normal ones.
  EXPECT_EQ(convert<double>("f64", "bf16", 0x1.ffp127, true),
            "the value 3.39617753e+38 (f64), is not representable as bf16");
}

TEST(Captures, BooleansOnADevice) {
  CaptureValue view;
  view.dtype = "b1", view.shape = {4}, view.bytes = 4, view.origin = "w";
  view.data = reinterpret_cast<const void *>(uintptr_t(0x1000));
  view.space = MemorySpace::Cuda;
  const Manifest m = manifest({{"w", ANNUDF_CAPTURE_I1, {kDim}}});
  EXPECT_EQ(BoundCaptures::bindViews(m, 4, {{"w", view}}).slot(0), 0x1000u);
  view.dtype = "u8";
  EXPECT_EQ(errorOf([&] { BoundCaptures::bindViews(m, 4, {{"w", view}}); }),
            "capture 'w' from w: on CUDA device 0 it is u8, declared dim x i1; convert it on the "
            "device first");
}

// What a device copy is found by: the values alone.
TEST(Captures, ArraysHaveDigestsOfTheirOwn) {
  const auto bind = [](const char *name, float first, float p, int64_t rows) {
    return BoundCaptures::bind(
        manifest(
            {{name, ANNUDF_CAPTURE_F32, {{ANNUDF_EXTENT_ROW, 0}}}, {"p", ANNUDF_CAPTURE_F32, {}}}),
        {4, rows, 0},
        {{name, array<float>("f32", {3}, {first, 2, 3})}, {"p", array<float>("f32", {}, {p})}});
  };
  const BoundCaptures one = bind("r", 1, 1, 3);
  EXPECT_EQ(one.digest(0).size(), 64u);
  EXPECT_EQ(one.digest(1), "");
  EXPECT_EQ(one.digest(0), bind("age", 1, 2, 2).digest(0));
  EXPECT_NE(one.digest(0), bind("r", 5, 1, 3).digest(0));
  EXPECT_NE(one.digest(), bind("r", 1, 2, 3).digest());
}

// A number typed by a person means the nearest one there is, as a literal does.
TEST(Captures, ScalarsRoundToTheNearest) {
  EXPECT_EQ(valuesOf<float>(bindOne(ANNUDF_CAPTURE_F32, {}, array<double>("f64", {}, {0.1}))),
            std::vector<float>{0.1f});
  EXPECT_EQ(valuesOf<float>(bindOne(ANNUDF_CAPTURE_F32, {}, array<int64_t>("i64", {}, {3}))),
            std::vector<float>{3.0f});
  EXPECT_EQ(convert<double>("f64", "f32", 1e39, true),
            "the value 1e+39 (f64), is not representable as f32");
  EXPECT_EQ(convert<double>("f64", "i32", 2.5, true),
            "the value 2.5 (f64), is not representable as i32");
  EXPECT_EQ(convert<int64_t>("i64", "f32", 16777217, true),
            "the value 16777217 (i64), is not representable as f32");
  EXPECT_EQ(convert<int64_t>("i64", "f32", 16777218, true), "ok");
  EXPECT_EQ(convert<double>("f64", "f32", 16777217, true), "ok"); // Written 16777217.0.
  EXPECT_EQ(convert<int64_t>("i64", "i32", int64_t(1) << 31, true),
            "the value 2147483648 (i64), is not representable as i32");
}

} // namespace
} // namespace annudf::runtime
