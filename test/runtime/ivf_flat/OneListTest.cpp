//===- OneListTest.cpp - Rows that are searched exactly -------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/TestFiles.h"
#include "annudf/Artifact/Artifact.h"
#include "annudf/runtime/ivf_flat/Index.h"
#include "runtime/TestData.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::test;

namespace {

/// The same list, to the byte, as k-means of one list leaves it.
TEST(OneList, IsTheListOfABuild) {
  for (const annudf_element element : {ANNUDF_ELEMENT_F32, ANNUDF_ELEMENT_F16, ANNUDF_ELEMENT_I8,
                                       ANNUDF_ELEMENT_U8, ANNUDF_ELEMENT_BF16, ANNUDF_ELEMENT_BITS})
    for (const int32_t dims : {8, 13, 136})
      for (const int64_t rows : {1, 31, 32, 33, 5000}) {
        if (!faultOfDims(element, dims).empty())
          continue;
        SCOPED_TRACE(std::string(toString(element)) + " " + std::to_string(dims) + " dims, " +
                     std::to_string(rows) + " rows");
        const Matrix base = integerMatrix(element, rows, dims, 7);
        IndexParams params;
        params.nLists = 1;
        const Index expected = Index::build(params, base.view());
        const Index index = Index::ofOneList(base.view(), false, 3);
        ASSERT_EQ(index.nLists(), 1u);
        EXPECT_EQ(index.size(), rows);
        EXPECT_EQ(index.largestId(), rows - 1);
        EXPECT_EQ(index.list(0).size, rows);
        EXPECT_EQ(index.list(0).ids, expected.list(0).ids);
        EXPECT_TRUE(index.list(0).words == expected.list(0).words);
        ASSERT_EQ(index.centers().size(), size_t(dims));
        for (const float center : index.centers())
          EXPECT_TRUE(std::isfinite(center));
      }
}

/// Amid rows that are far from the origin, from which products would lose digits.
TEST(OneList, ItsCenterIsAmidTheRows) {
  Matrix base = integerMatrix(ANNUDF_ELEMENT_F32, 9000, 5, 3);
  auto *values = reinterpret_cast<float *>(base.storage.data());
  for (int64_t i = 0; i < base.rows * base.dims; ++i)
    values[i] = values[i] * 0.01f + 1000.0f;
  const Index index = Index::ofOneList(base.view(), false);
  for (const float center : index.centers())
    EXPECT_NEAR(center, 1000.0f, 0.1f);
}

TEST(OneList, GivenIds) {
  const Matrix base = integerMatrix(ANNUDF_ELEMENT_F32, 70, 4, 5);
  std::vector<int64_t> ids(70);
  for (size_t i = 0; i < 70; ++i)
    ids[i] = i == 20 ? std::numeric_limits<int64_t>::max() : int64_t(1000 - 3 * i);
  const Index index = Index::ofOneList(base.view(), false, 1, {ids.data(), 0});
  EXPECT_EQ(index.largestId(), std::numeric_limits<int64_t>::max());
  EXPECT_FALSE(index.idsAreRowNumbers());
  EXPECT_EQ(std::vector<int64_t>(index.list(0).ids.begin(), index.list(0).ids.begin() + 70), ids);
  EXPECT_EQ(index.list(0).ids[70], -1);
  const Index from = Index::ofOneList(base.view(), false, 1, {nullptr, 500});
  EXPECT_EQ(from.largestId(), 569);
  EXPECT_EQ(from.list(0).ids[69], 569);
  EXPECT_TRUE(Index::ofOneList(base.view(), false).idsAreRowNumbers());
}

TEST(OneList, MissingValues) {
  Matrix base = integerMatrix(ANNUDF_ELEMENT_F32, 40, 3, 5);
  auto *values = reinterpret_cast<float *>(base.storage.data());
  for (int64_t row = 0; row < 40; ++row) // Dimension 2 has no value.
    values[row * 3 + 2] = std::numeric_limits<float>::quiet_NaN();
  values[4] = std::numeric_limits<float>::quiet_NaN();
  const Index index = Index::ofOneList(base.view(), true);
  EXPECT_TRUE(index.missingValues());
  EXPECT_EQ(index.fill()[2], 0.0f);
  EXPECT_EQ(
      errorOf([&] { (void)Index::ofOneList(base.view(), false); }),
      "base: row 0, dim 2 is nan; every coordinate must be finite unless index and metric say "
      "missing_values");
  EXPECT_FALSE(
      Index::ofOneList(integerMatrix(ANNUDF_ELEMENT_I8, 40, 3, 5).view(), true).missingValues());
}

TEST(OneList, Refuses) {
  const Matrix base = integerMatrix(ANNUDF_ELEMENT_F32, 4, 4, 5);
  const auto with = [&](const RowIds &ids) {
    return errorOf([&] { (void)Index::ofOneList(base.view(), false, 1, ids); });
  };
  const int64_t below[] = {0, 1, -3, 2}, twice[] = {5, 1, 7, 1};
  EXPECT_EQ(with({below, 0}), "ids[2] is -3; ids are 0 or above");
  EXPECT_EQ(with({twice, 0}), "ids[3] is 1, the id of row 1 too; give each row an id of its own");
  EXPECT_EQ(with({nullptr, INT64_MAX - 2}),
            "ids: 4 ids from 9223372036854775805 on; ids are 0 to 9223372036854775807");
  EXPECT_EQ(errorOf([&] { (void)Index::ofOneList({base.view().data, 0, 4, base.element}, false); }),
            "base: it has no rows");
}

TEST(OneList, CanBeStopped) {
  const Matrix base = integerMatrix(ANNUDF_ELEMENT_F32, 100, 4, 5);
  const Progress stop = [](const char *stage, double) {
    EXPECT_STREQ(stage, "add");
    return false;
  };
  try {
    (void)Index::ofOneList(base.view(), false, 1, {}, stop);
    FAIL() << "it was not stopped";
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), ErrorKind::Interrupted);
  }
}

} // namespace
