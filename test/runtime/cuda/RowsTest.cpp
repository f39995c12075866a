//===- RowsTest.cpp - Rows on a device, to be searched exactly ------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Needs a GPU, or the stand-in of host/; without either every test is skipped and says so. The list
// is, to the byte, the one that the host makes.
//
//===----------------------------------------------------------------------===//

#include "SharedBackend.h"
#include "Support/TestFiles.h"
#include "annudf/runtime/cuda/Cuda.h"
#include "runtime/IndexTesting.h"
#include "runtime/TestData.h"

#include <limits>
#include <vector>

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::test;

namespace {

/// Stores a matrix that is on the device, `shift` bytes from where its memory begins, or here.
Index stored(const Matrix &base, bool onDevice, const RowsParams &params = {}, uint64_t shift = 0) {
  BuildStats stats;
  MatrixView view = base.view();
  std::unique_ptr<DeviceMemory> memory;
  if (onDevice) {
    memory = sharedBackend()->allocate(base.storage.size() + shift, nullptr);
    const uint64_t to = memory->address() + shift;
    sharedBackend()->copy(to, reinterpret_cast<uint64_t>(base.storage.data()), base.storage.size(),
                          nullptr);
    view.data = reinterpret_cast<const void *>(to);
  }
  Index index = sharedBackend()->storeRows(view, {onDevice, nullptr}, params, &stats);
  EXPECT_TRUE(stats.listsOnDevice);
  EXPECT_EQ(stats.pieces > 0, !onDevice);
  EXPECT_FALSE(index.onHost());
  return index;
}

TEST(CudaRows, EqualThoseOfTheHost) {
  REQUIRE_GPU("rows are stored there");
  for (const annudf_element element : {ANNUDF_ELEMENT_F32, ANNUDF_ELEMENT_F16, ANNUDF_ELEMENT_I8,
                                       ANNUDF_ELEMENT_U8, ANNUDF_ELEMENT_BF16, ANNUDF_ELEMENT_BITS})
    for (const int32_t dims : {8, 13, 136})
      for (const int64_t rows : {1, 32, 33, 2500})
        for (const bool onDevice : {false, true}) {
          if (!faultOfDims(element, dims).empty())
            continue;
          SCOPED_TRACE(std::string(toString(element)) + " " + std::to_string(dims) + " dims, " +
                       std::to_string(rows) + " rows" + (onDevice ? " there" : ""));
          const Matrix base = integerMatrix(element, rows, dims);
          const Index expected = Index::ofOneList(base.view(), false);
          const Index index = stored(base, onDevice, {}, uint64_t(alignmentOf(element)));
          EXPECT_EQ(index.largestId(), rows - 1);
          EXPECT_EQ(index.device(), 0);
          ASSERT_TRUE(sameContent(index, expected));
          EXPECT_TRUE(index.idsAreRowNumbers());
        }
}

/// More rows than go there at once.
TEST(CudaRows, InPieces) {
  REQUIRE_GPU("rows are stored there");
  const Matrix base = integerMatrix(ANNUDF_ELEMENT_F32, onStandIn() ? 9001 : 90001, 520);
  ASSERT_TRUE(sameContent(stored(base, false), Index::ofOneList(base.view(), false)));
}

TEST(CudaRows, GivenIds) {
  REQUIRE_GPU("rows are stored there");
  const Matrix base = integerMatrix(ANNUDF_ELEMENT_F32, 70, 5);
  std::vector<int64_t> ids(70);
  for (size_t i = 0; i < 70; ++i)
    ids[i] = i == 20 ? std::numeric_limits<int64_t>::max() : int64_t(1000 - 3 * i);
  for (const bool onDevice : {false, true})
    for (const RowIds &given : {RowIds{ids.data(), 0}, RowIds{nullptr, 900}}) {
      RowsParams params;
      params.ids = given;
      const Index index = stored(base, onDevice, params);
      const Index expected = Index::ofOneList(base.view(), false, 0, given);
      EXPECT_EQ(index.largestId(), expected.largestId());
      EXPECT_FALSE(index.idsAreRowNumbers());
      EXPECT_TRUE(sameContent(index, expected));
    }
}

TEST(CudaRows, MissingValues) {
  REQUIRE_GPU("rows are stored there");
  Matrix base = integerMatrix(ANNUDF_ELEMENT_F32, 50, 3);
  auto *values = reinterpret_cast<float *>(base.storage.data());
  values[4] = std::numeric_limits<float>::quiet_NaN();
  for (const bool onDevice : {false, true}) {
    RowsParams params;
    params.missingValues = true;
    const Index index = stored(base, onDevice, params);
    EXPECT_TRUE(index.missingValues());
    EXPECT_EQ(index.fill(), Index::ofOneList(base.view(), true).fill());
    EXPECT_EQ(
        errorOf([&] { (void)stored(base, onDevice); }),
        "base: row 1, dim 1 is nan; every coordinate must be finite unless index and metric say "
        "missing_values");
  }
}

TEST(CudaRows, Refuses) {
  REQUIRE_GPU("rows are stored there");
  const Matrix base = integerMatrix(ANNUDF_ELEMENT_F32, 4, 4);
  const int64_t twice[] = {5, 1, 7, 1};
  RowsParams params;
  params.ids.ids = twice;
  for (const bool onDevice : {false, true})
    EXPECT_EQ(errorOf([&] { (void)stored(base, onDevice, params); }),
              "ids[3] is 1, the id of row 1 too; give each row an id of its own");
  const std::string fault =
      errorOf([&] { (void)sharedBackend()->storeRows(base.view(), {true, nullptr}, {}, nullptr); });
  EXPECT_NE(fault.find("base at address 0x"), std::string::npos) << fault;
}

TEST(CudaRows, CanBeStopped) {
  REQUIRE_GPU("rows are stored there");
  const Matrix base = integerMatrix(ANNUDF_ELEMENT_F32, 100, 4);
  for (const bool onDevice : {false, true})
    for (const double at : {0.0, 1.0}) {
      RowsParams params;
      params.progress = [&](const char *stage, double done) {
        EXPECT_STREQ(stage, "add");
        return done < at;
      };
      EXPECT_EQ(errorOf([&] { (void)stored(base, onDevice, params); }, ErrorKind::Interrupted),
                "interrupted (add)")
          << at;
    }
}

} // namespace
