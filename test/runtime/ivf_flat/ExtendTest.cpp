//===- ExtendTest.cpp - Extending an index, and its ids ---------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/ivf_flat/Index.h"

#include "Support/TestFiles.h"
#include "runtime/IndexTesting.h"
#include "runtime/TestData.h"

#include <set>

namespace annudf::runtime {
namespace {

using test::errorOf;
using test::integerMatrix;
using test::sameContent;

IndexParams params(uint32_t lists) {
  IndexParams p;
  p.nLists = lists;
  p.kmeansIterations = 5;
  return p;
}

TEST(Index, ExtendEqualsAddingAtOnce) {
  for (annudf_element element : {ANNUDF_ELEMENT_F32, ANNUDF_ELEMENT_F16, ANNUDF_ELEMENT_I8,
                                 ANNUDF_ELEMENT_U8, ANNUDF_ELEMENT_BF16, ANNUDF_ELEMENT_BITS}) {
    const Matrix base = integerMatrix(element, 1000, 16);
    Index index = Index::build(params(20), base.view());
    const uint64_t generation = index.generation();
    const Matrix more = integerMatrix(element, 333, 16, 2);
    Index pieces = index;
    index.extend(more.view());
    EXPECT_NE(index.generation(), generation);
    EXPECT_EQ(index.size(), 1333);
    for (int64_t row : {0, 1, 2}) { // In pieces of 1, 1 and the rest: groups fill up over calls.
      const int64_t count = row < 2 ? 1 : 331;
      MatrixView view = more.view();
      view.data = more.storage.data() + row * bytesOfRow(element, 16);
      view.rows = count;
      pieces.extend(view);
    }
    EXPECT_TRUE(sameContent(index, pieces));
  }
}

TEST(Index, ExtendTakesGivenIds) {
  const Matrix base = integerMatrix(ANNUDF_ELEMENT_F32, 100, 6);
  Index index = Index::build(params(4), base.view());
  const Matrix more = integerMatrix(ANNUDF_ELEMENT_F32, 3, 6, 2);
  const int64_t ids[3] = {int64_t(1) << 40, 500, 7000};
  index.extend(more.view(), {ids});
  std::set<int64_t> seen;
  for (uint32_t l = 0; l < 4; ++l)
    for (int64_t i = 0; i < index.list(l).size; ++i)
      seen.insert(index.list(l).ids[size_t(i)]);
  for (int64_t id : ids)
    EXPECT_TRUE(seen.count(id)) << id;
  const int64_t bad[3] = {1, -5, 2};
  EXPECT_EQ(errorOf([&] { index.extend(more.view(), {bad}); }), "ids[1] is -5; ids are 0 or above");
}

TEST(Index, RefusesRepeatedIds) {
  const Matrix base = integerMatrix(ANNUDF_ELEMENT_F32, 100, 6);
  const Matrix more = integerMatrix(ANNUDF_ELEMENT_F32, 4, 6, 2);
  Index index = Index::build(params(4), base.view());
  const auto fault = [&](std::vector<int64_t> ids) {
    const uint64_t generation = index.generation();
    const std::string text = errorOf([&] { index.extend(more.view(), {ids.data()}); });
    EXPECT_EQ(index.generation(), generation);
    return text;
  };
  const std::string unless = " unless allow_repeated_ids is set";
  EXPECT_EQ(fault({200, 201, 99, 0}),
            "ids[2] is 99, which the index has; ids must be new" + unless);
  EXPECT_EQ(fault({7, 8, 9, 10}), // They ascend.
            "ids[0] is 7, which the index has; ids must be new" + unless);
  EXPECT_EQ(fault({200, 300, 200, 300}),
            "ids[2] is 200, the id of row 0 too; ids must differ" + unless);
  EXPECT_EQ(fault({300, 200, 300, 300}),
            "ids[2] is 300, the id of row 0 too; ids must differ" + unless);
  EXPECT_EQ(fault({100, 101, 101, 102}),
            "ids[2] is 101, the id of row 1 too; ids must differ" + unless);
  // Between ids of the index, and out of order.
  const std::vector<int64_t> gap = {150, 102, 140, 130};
  index.extend(more.view(), {gap.data()});
  EXPECT_EQ(fault({141, 129, 130, 102}),
            "ids[2] is 130, which the index has; ids must be new" + unless);
  const std::vector<int64_t> between = {151, 129, 101, 100};
  index.extend(more.view(), {between.data()});
  EXPECT_EQ(index.largestId(), 151);
}

TEST(Index, IdsGoOnFromTheLargest) {
  const Matrix more = integerMatrix(ANNUDF_ELEMENT_F32, 4, 6, 2);
  Index index = Index::build(params(4), integerMatrix(ANNUDF_ELEMENT_F32, 100, 6).view());
  const std::vector<int64_t> gap = {150, 102, 140, 130};
  index.extend(more.view(), {gap.data()});
  index.extend(more.view());
  EXPECT_EQ(index.largestId(), 154);
  EXPECT_EQ(index.size(), 108);
  const std::vector<int64_t> last = {7000, INT64_MAX - 5, 8000, 9000};
  index.extend(more.view(), {last.data()});
  index.extend(more.view());
  EXPECT_EQ(index.largestId(), INT64_MAX - 1);
  EXPECT_EQ(errorOf([&] { index.extend(more.view()); }),
            "rows to add: the largest id of the index is 9223372036854775806, so no larger ids are "
            "left; give ids");
}

// One document in several pieces has one id.
TEST(Index, OneIdMayStandForSeveralRowsWhereThatIsSaid) {
  const Matrix base = integerMatrix(ANNUDF_ELEMENT_F32, 100, 6);
  Index index = Index::build(params(4), base.view());
  const int64_t ids[3] = {7, 7, 7};
  index.extend(integerMatrix(ANNUDF_ELEMENT_F32, 3, 6, 2).view(), {ids, /*allowRepeated=*/true});
  const std::string path = testing::TempDir() + "one_id.ivf";
  index.save(path);
  const Index read = Index::load(path);
  int64_t found = 0;
  for (uint32_t l = 0; l < 4; ++l)
    found += std::count(read.list(l).ids.begin(), read.list(l).ids.end(), 7);
  EXPECT_EQ(found, 4);
  EXPECT_EQ(read.size(), 103);
}

TEST(Index, FailedExtendChangesNothing) {
  const Matrix base = integerMatrix(ANNUDF_ELEMENT_F32, 100, 6);
  Index index = Index::build(params(4), base.view());
  const Index before = index;
  EXPECT_EQ(errorOf([&] { index.extend(integerMatrix(ANNUDF_ELEMENT_F32, 5, 7).view()); }),
            "rows to add: 7 dims of f32, the index holds 6 dims of f32");
  EXPECT_EQ(errorOf([&] { index.extend(integerMatrix(ANNUDF_ELEMENT_I8, 5, 6).view()); }),
            "rows to add: 6 dims of i8, the index holds 6 dims of f32");
  EXPECT_EQ(errorOf([&] { index.extend(MatrixView{base.storage.data(), 0, 6}); }),
            "rows to add: it has no rows");
  EXPECT_EQ(
      errorOf([&] { index.extend(base.view(), {}, [](const char *, double) { return false; }); },
              ErrorKind::Interrupted),
      "interrupted (add)");
  EXPECT_TRUE(sameContent(index, before));
  EXPECT_EQ(index.generation(), before.generation());
}

} // namespace
} // namespace annudf::runtime
