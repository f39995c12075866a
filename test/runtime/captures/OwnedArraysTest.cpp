//===- OwnedArraysTest.cpp - Arrays that captures use as they are ---------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CapturesTesting.h"

#include "Support/TestFiles.h"
#include "annudf/runtime/captures/Captures.h"

#include <cmath>
#include <memory>
#include <vector>

namespace annudf::runtime {
namespace {

using test::errorOf;

// Bound captures and searches keep it; a copy of the bound captures is no copy of the array.
TEST(OwnedArrays, AreNotCopied) {
  const Manifest m = manifest({{"w", ANNUDF_CAPTURE_F32, {kDim}}});
  auto array = std::make_shared<std::vector<float>>(std::vector<float>{1, 2, 3, 4});
  CaptureValue view;
  view.dtype = "f32", view.shape = {4};
  view.data = array->data(), view.bytes = 4 * sizeof(float), view.origin = "w";
  const BoundCaptures copied = BoundCaptures::bindViews(m, 4, {{"w", view}});
  EXPECT_NE(copied.slot(0), reinterpret_cast<uint64_t>(array->data()));
  view.owner = array;
  {
    const BoundCaptures shared = BoundCaptures::bindViews(m, 4, {{"w", view}});
    const BoundCaptures again = shared; // NOLINT(performance-unnecessary-copy-initialization)
    EXPECT_EQ(shared.slot(0), reinterpret_cast<uint64_t>(array->data()));
    EXPECT_EQ(again.slot(0), shared.slot(0));
    EXPECT_EQ(shared.digest(), copied.digest());
    view.owner = nullptr;
    EXPECT_EQ(array.use_count(), 3);
    EXPECT_EQ(shared.owner(0), array);
  }
  EXPECT_EQ(array.use_count(), 1);
  // What a scan cannot read as it is: of another type, order or alignment; and bools of any byte.
  const auto isCopied = [&](const CaptureValue &value, annudf_capture_element element) {
    const Manifest of = manifest({{"w", element, {{ANNUDF_EXTENT_CONSTANT, 2}}}});
    const BoundCaptures bound = BoundCaptures::bindViews(of, 4, {{"w", value}});
    return bound.slot(0) != reinterpret_cast<uint64_t>(value.data);
  };
  view.shape = {2}, view.bytes = 2 * sizeof(float), view.owner = array;
  EXPECT_FALSE(isCopied(view, ANNUDF_CAPTURE_F32));
  EXPECT_TRUE(isCopied(view, ANNUDF_CAPTURE_F64));
  view.strides = {4};
  EXPECT_FALSE(isCopied(view, ANNUDF_CAPTURE_F32));
  view.strides = {8};
  EXPECT_TRUE(isCopied(view, ANNUDF_CAPTURE_F32));
  view.strides = {};
  view.data = reinterpret_cast<const std::byte *>(array->data()) + 1;
  EXPECT_TRUE(isCopied(view, ANNUDF_CAPTURE_F32));
  view.data = array->data(), view.dtype = "b1", view.bytes = 2;
  EXPECT_TRUE(isCopied(view, ANNUDF_CAPTURE_I1));
  // It is checked where it is.
  (*array)[1] = INFINITY;
  view.dtype = "f32", view.bytes = 2 * sizeof(float);
  EXPECT_EQ(errorOf([&] { isCopied(view, ANNUDF_CAPTURE_F32); }),
            "capture 'w' from w: element 1, inf, is not finite");
  const Manifest two = manifest({{"w", ANNUDF_CAPTURE_F32, {{ANNUDF_EXTENT_CONSTANT, 2}}}});
  EXPECT_EQ(BoundCaptures::bindViews(two, 4, {{"w", view}}, /*allowNonFinite=*/true).slot(0),
            reinterpret_cast<uint64_t>(array->data()));
}

// As a manifest says, if no array that ids index is bound.
TEST(OwnedArrays, ColumnsTakeAnyOrderWhereRowsOnlyIndex) {
  Manifest m = manifest({{"age", ANNUDF_CAPTURE_F32, {{ANNUDF_EXTENT_ROW, 0}}},
                         {"price", ANNUDF_CAPTURE_F32, {{ANNUDF_EXTENT_ROW, 0}}}});
  const ColumnTypes columns = {{"age", ANNUDF_CAPTURE_F32}, {"price", ANNUDF_CAPTURE_F32}};
  const float prices[] = {1, 2};
  CaptureValue price;
  price.dtype = "f32", price.shape = {2}, price.data = prices, price.bytes = sizeof prices;
  for (const bool isOnly : {false, true}) {
    m.rowOnlyIndexes = isOnly;
    const auto bound = [&](const std::map<std::string, CaptureValue> &values) {
      return BoundCaptures::bindViews(m, {4, 2, 1}, values, false, &columns);
    };
    EXPECT_EQ(bound({}).takeAnyOrder(), isOnly);
    EXPECT_FALSE(bound({{"price", price}}).takeAnyOrder());
  }
}

} // namespace
} // namespace annudf::runtime
