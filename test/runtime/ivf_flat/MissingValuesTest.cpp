//===- MissingValuesTest.cpp - Rows with NaN in an index --------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/ivf_flat/Index.h"

#include "Support/TestFiles.h"
#include "runtime/MissingData.h"

#include <limits>

namespace annudf::runtime {
namespace {

using test::errorOf;
using test::integerMatrix;
using test::withMeans;
using test::withMissing;

// Lists are those of the same rows with means in place of what is missing, whenever rows are added.
TEST(MissingValues, CountAsMeansWhereListsAreMade) {
  for (annudf_coarse metric : {ANNUDF_COARSE_L2, ANNUDF_COARSE_INNER_PRODUCT, ANNUDF_COARSE_COSINE})
    for (annudf_element element : {ANNUDF_ELEMENT_F32, ANNUDF_ELEMENT_F16, ANNUDF_ELEMENT_BF16})
      for (bool adaptive : {false, true}) {
        const Matrix base = withMissing(element, 1500, 7, 1), more = withMissing(element, 90, 7, 2);
        IndexParams p{.nLists = 12, .metric = metric, .kmeansIterations = 5};
        p.adaptiveCenters = adaptive;
        Index expected = Index::build(p, withMeans(base, base).view());
        EXPECT_FALSE(expected.missingValues());
        p.missingValues = true;
        Index index = Index::build(p, base.view());
        EXPECT_TRUE(index.missingValues());
        EXPECT_EQ(index.fill()[2], 0) << "no row has a value there";
        EXPECT_EQ(index.centers(), expected.centers());
        const std::string path = testing::TempDir() + "missing.ivf";
        index.save(path);
        Index read = Index::load(path);
        EXPECT_EQ(read.fill(), index.fill());
        expected.extend(withMeans(more, base).view());
        for (Index *one : {&index, &read}) {
          one->extend(more.view());
          EXPECT_EQ(one->centers(), expected.centers());
          for (uint32_t l = 0; l < 12; ++l)
            EXPECT_EQ(one->list(l).ids, expected.list(l).ids);
        }
        EXPECT_EQ(read.list(0).words, index.list(0).words);
      }
}

// A row keeps its NaN, bit by bit.
TEST(MissingValues, AreStored) {
  const Matrix base = withMissing(ANNUDF_ELEMENT_F16, 5, 3, 1);
  const IndexParams p{.nLists = 1, .kmeansIterations = 5, .missingValues = true};
  const Index index = Index::build(p, base.view());
  const auto *values = reinterpret_cast<const uint16_t *>(base.storage.data());
  for (int row = 0; row < 5; ++row)
    EXPECT_EQ(index.list(0).words[size_t(row)], values[row * 3] | uint32_t(values[row * 3 + 1])
                                                                      << 16);
}

TEST(MissingValues, Refused) {
  const IndexParams p{.nLists = 1, .kmeansIterations = 5, .missingValues = true};
  for (annudf_element element : {ANNUDF_ELEMENT_I8, ANNUDF_ELEMENT_U8})
    EXPECT_EQ(
        errorOf([&] { Index::build(p, integerMatrix(element, 50, 4).view()); }, ErrorKind::Usage),
        std::string("missing_values: vectors of ") + toString(element) +
            " have no NaN to stand for a missing value; give f32, f16 or bf16, or leave "
            "missing_values out");
  Matrix base = withMissing(ANNUDF_ELEMENT_F32, 50, 4, 1);
  Index index = Index::build(p, base.view());
  reinterpret_cast<float *>(base.storage.data())[7] = std::numeric_limits<float>::infinity();
  const std::string inf =
      "row 1, dim 3 is inf; every coordinate must be finite, or NaN where it is "
      "missing";
  EXPECT_EQ(errorOf([&] { Index::build(p, base.view()); }), "base: " + inf);
  EXPECT_EQ(errorOf([&] { index.extend(base.view()); }), "rows to add: " + inf);
}

} // namespace
} // namespace annudf::runtime
