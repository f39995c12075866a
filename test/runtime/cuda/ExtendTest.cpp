//===- ExtendTest.cpp - Adding rows to lists on a device -------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Needs a GPU, or the stand-in of host/; without either every test is skipped and says so. What is
// made is held against Index::extend of a copy of the index.
//
//===----------------------------------------------------------------------===//

#include "ListsOnGpu.h"
#include "Support/TestFiles.h"
#include "annudf/runtime/cuda/Cuda.h"
#include "runtime/IndexTesting.h"
#include "runtime/TestData.h"
#include "vectors/Elements.h"
#include "gtest/gtest.h"

#include <cstring>
#include <limits>

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::test;

namespace {

class CudaExtend : public ListsOnGpu {
protected:
  void SetUp() override { REQUIRE_GPU("extending there is"); }

  void extend(Index &index, const MatrixView &rows, bool fromHost, const NewIds &ids = {},
              const Progress &progress = {}) {
    if (fromHost)
      return backend->extendFromHost(index, rows, ids, progress);
    const auto bytes = uint64_t(rows.rows * bytesOfRow(rows.element, rows.dims));
    const auto memory = backend->allocate(bytes, nullptr);
    backend->copy(memory->address(), reinterpret_cast<uint64_t>(rows.data), bytes, nullptr);
    backend->extend(
        index,
        {reinterpret_cast<const void *>(memory->address()), rows.rows, rows.dims, rows.element},
        ids, nullptr, progress);
  }
};

TEST_F(CudaExtend, GivesTheListsThatTheHostGives) {
  for (const annudf_element element : {ANNUDF_ELEMENT_F32, ANNUDF_ELEMENT_F16, ANNUDF_ELEMENT_I8,
                                       ANNUDF_ELEMENT_U8, ANNUDF_ELEMENT_BF16, ANNUDF_ELEMENT_BITS})
    for (const annudf_coarse metric :
         {ANNUDF_COARSE_L2, ANNUDF_COARSE_INNER_PRODUCT, ANNUDF_COARSE_COSINE})
      for (const int32_t dims : {13, 40, 136}) {
        if (!faultOfDims(element, dims).empty() || (onStandIn() && dims == 40))
          continue;
        SCOPED_TRACE(std::string(toString(element)) + " " + toString(metric) + " " +
                     std::to_string(dims));
        const int64_t built = onStandIn() ? 300 : 2000, most = onStandIn() ? 200 : 3000;
        const Matrix base = integerMatrix(element, built + 1000 + most, dims);
        for (const uint32_t lists : {1u, onStandIn() ? 140u : 300u}) {
          Index there = build(part(base, 0, built), lists, metric), host = there;
          int64_t first = built;
          for (const int64_t rows : {int64_t(1), int64_t(31), int64_t(968), most}) {
            const bool fromHost = rows % 2 == 0;
            extend(there, part(base, first, rows), fromHost);
            EXPECT_EQ(there.device(), 0);
            host.extend(part(base, first, rows));
            first += rows;
          }
          EXPECT_FALSE(there.onHost());
          EXPECT_EQ(there.size(), base.rows);
          EXPECT_EQ(there.largestId(), base.rows - 1);
          ASSERT_TRUE(sameContent(there, host)) << lists << " lists";
        }
      }
}

/// Coordinates that are no integers: sums are rounded as the host rounds them.
TEST_F(CudaExtend, RoundsAsTheHostDoes) {
  const int64_t rows = onStandIn() ? 1500 : 20000;
  const Matrix base = clusteredMatrix(2 * rows, 96, onStandIn() ? 200 : 3000, 1.0f);
  for (const annudf_coarse metric : {ANNUDF_COARSE_L2, ANNUDF_COARSE_COSINE}) {
    Index there = build(part(base, 0, rows), onStandIn() ? 140 : 1500, metric), host = there;
    extend(there, part(base, rows, rows), false);
    host.extend(part(base, rows, rows));
    EXPECT_TRUE(sameContent(there, host));
  }
}

TEST_F(CudaExtend, Ids) {
  const Matrix base = integerMatrix(ANNUDF_ELEMENT_U8, 3000, 20);
  Index there = build(part(base, 0, 2500), 12);
  (void)there.lists(); // They are here too, and may come from there again.
  Index host = there;
  std::vector<int64_t> ids(100);
  for (size_t i = 0; i < ids.size(); ++i)
    ids[i] = 9000 - 7 * int64_t(i);
  extend(there, part(base, 2500, 100), true, {ids.data()});
  host.extend(part(base, 2500, 100), {ids.data()});
  EXPECT_TRUE(sameContent(there, host));
  EXPECT_EQ(there.largestId(), 9000);
  const auto fault = [&](const NewIds &given) {
    return errorOf([&] { extend(there, part(base, 2600, 100), false, given); });
  };
  EXPECT_EQ(fault({ids.data()}), "ids[0] is 9000, which the index has; ids must be "
                                 "new unless allow_repeated_ids is set");
  ids[5] = 17, ids[0] = 9001;
  for (size_t i = 1; i < ids.size(); ++i)
    ids[i] += i == 5 ? 0 : 20000;
  EXPECT_EQ(fault({ids.data()}), "ids[5] is 17, which the index has; ids must be "
                                 "new unless allow_repeated_ids is set");
  Index other = build(part(base, 0, 2500), 12);
  EXPECT_EQ(errorOf([&] { extend(other, part(base, 2600, 100), true, {ids.data()}); }),
            "ids[5] is 17, which the index has; ids must be new unless "
            "allow_repeated_ids is set");
  EXPECT_FALSE(other.onHost()) << "its ids alone came here";
  extend(there, part(base, 2600, 100), false, {ids.data(), true});
  host.extend(part(base, 2600, 100), {ids.data(), true});
  EXPECT_TRUE(sameContent(there, host));
  ids[5] = -1;
  EXPECT_EQ(fault({ids.data(), true}), "ids[5] is -1; ids are 0 or above");
}

/// The column "age" of rows with ids from `first` on.
NewColumns agesFrom(int32_t first, int64_t rows) {
  NewColumns columns;
  columns.values.push_back({{"age", ANNUDF_CAPTURE_I32}, std::vector<std::byte>(size_t(rows) * 4)});
  for (int32_t i = 0; i < rows; ++i) {
    const int32_t age = 3 * (first + i);
    std::memcpy(columns.values[0].bytes.data() + size_t(i) * 4, &age, 4);
  }
  return columns;
}

TEST_F(CudaExtend, ColumnsFollowAndListsStay) {
  const Matrix base = integerMatrix(ANNUDF_ELEMENT_U8, 1400, 20);
  for (const uint32_t lists : {1u, 12u}) {
    Index there = build(part(base, 0, 1000), lists);
    there.addColumns(agesFrom(0, 1000));
    EXPECT_FALSE(there.onHost());
    Index host = there;
    for (const int32_t first : {1000, 1200}) {
      const NewColumns ages = agesFrom(first, 200);
      extend(there, part(base, first, 200), first == 1000, {nullptr, false, &ages});
      host.extend(part(base, first, 200), {nullptr, false, &ages});
    }
    EXPECT_EQ(errorOf([&] { extend(there, part(base, 0, 1), false); }),
              "column 'age' (i32) of the index has no values for the new rows; give one per row in "
              "the columns of extend, such as columns={'age': values}");
    const std::vector<int64_t> gone = {0, 17, 17, 999, 1000, 1399, 5000};
    EXPECT_EQ(backend->remove(there, gone), 5);
    EXPECT_EQ(host.remove(gone), 5);
    EXPECT_EQ(there.device(), 0);
    EXPECT_FALSE(there.onHost());
    EXPECT_TRUE(sameContent(there, host)) << lists << " lists";
  }
}

/// As callers' ids and columns come to the host.
TEST_F(CudaExtend, ReadsArraysOfTheDevice) {
  const std::vector<int64_t> ids = {7, 0, 42};
  const auto memory = backend->allocate(24, nullptr);
  backend->copy(memory->address(), reinterpret_cast<uint64_t>(ids.data()), 24, nullptr);
  const auto *there = reinterpret_cast<const std::byte *>(memory->address());
  std::vector<std::byte> read = backend->read(there, 24, 8, nullptr, "ids");
  EXPECT_EQ(std::memcmp(read.data(), ids.data(), 24), 0);
  EXPECT_TRUE(backend->read(nullptr, 0, 8, nullptr, "ids").empty());
  const auto fault = [&](const void *from, uint64_t bytes) {
    return errorOf([&] { (void)backend->read(from, bytes, 8, nullptr, "ids"); });
  };
  EXPECT_TRUE(fault(there + 4, 8).ends_with(": not aligned to 8 bytes"));
  EXPECT_TRUE(
      fault(there, uint64_t(1) << 40).ends_with(" bytes are needed, its allocation ends after 24"));
}

TEST_F(CudaExtend, WhatIsOnTheHostIsExtendedThere) {
  const Matrix base = integerMatrix(ANNUDF_ELEMENT_F32, 900, 12);
  for (const bool adaptive : {false, true})
    for (const bool fromHost : {false, true}) {
      IndexParams p;
      p.nLists = 6, p.kmeansIterations = 3, p.adaptiveCenters = adaptive;
      Index index = Index::build(p, part(base, 0, 600)), expected = index;
      extend(index, part(base, 600, 300), fromHost);
      EXPECT_EQ(index.device(), -1);
      expected.extend(part(base, 600, 300));
      EXPECT_TRUE(sameContent(index, expected));
    }
  Index index = build(part(base, 0, 600), 6);
  index.extend(part(base, 600, 100)); // Its lists come here, and stay.
  extend(index, part(base, 700, 200), false);
  EXPECT_EQ(index.device(), -1);
  EXPECT_EQ(index.size(), 900);
}

TEST_F(CudaExtend, RefusesAndLeavesTheIndexAsItWas) {
  Matrix base = integerMatrix(ANNUDF_ELEMENT_F32, 900, 12);
  Index index = build(part(base, 0, 600), 6);
  const Index before = index;
  const uint64_t generation = index.generation();
  reinterpret_cast<float *>(base.storage.data())[850 * 12 + 7] =
      std::numeric_limits<float>::infinity();
  for (const bool fromHost : {false, true}) {
    EXPECT_EQ(errorOf([&] { extend(index, part(base, 600, 300), fromHost); }),
              "rows to add: row 250, dim 7 is inf; every coordinate must be finite");
    EXPECT_EQ(errorOf([&] { extend(index, {base.storage.data(), 50, 6, base.element}, fromHost); }),
              "rows to add: 6 dims of f32, the index holds 12 dims of f32");
    for (const double at : {0.0, 1.0})
      EXPECT_EQ(errorOf(
                    [&] {
                      extend(index, part(base, 600, 200), fromHost, {},
                             [&](const char *, double done) { return done != at; });
                    },
                    ErrorKind::Interrupted),
                "interrupted (add)");
  }
  EXPECT_EQ(
      errorOf([&] { backend->extend(index, part(base, 600, 100), {}, nullptr); }, ErrorKind::Usage)
          .substr(0, 16),
      "rows at address ");
  EXPECT_EQ(index.generation(), generation);
  EXPECT_TRUE(sameContent(index, before));
}

} // namespace
