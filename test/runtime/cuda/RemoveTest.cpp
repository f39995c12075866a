//===- RemoveTest.cpp - Removing rows of lists on a device -----------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Needs a GPU, or the stand-in of host/; without either every test is skipped and says so. What is
// left is held against Index::remove of a copy of the index.
//
//===----------------------------------------------------------------------===//

#include "ListsOnGpu.h"
#include "Support/TestFiles.h"
#include "annudf/runtime/cuda/Cuda.h"
#include "runtime/IndexTesting.h"
#include "runtime/TestData.h"
#include "vectors/Elements.h"
#include "gtest/gtest.h"

#include <limits>
#include <numeric>
#include <random>

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::test;

namespace {

class CudaRemove : public ListsOnGpu {
protected:
  void SetUp() override { REQUIRE_GPU("removing there is"); }

  /// On the device and, of a copy, on the host.
  void remove(Index &there, Index &host, const std::vector<int64_t> &ids) {
    const uint64_t generation = there.generation();
    const int64_t removed = host.remove(ids);
    EXPECT_EQ(backend->remove(there, ids), removed);
    EXPECT_EQ(there.generation() != generation, removed != 0);
    EXPECT_EQ(there.size(), host.size());
    EXPECT_EQ(there.largestId(), host.largestId());
    EXPECT_EQ(there.rowExtent(), host.rowExtent());
  }
};

TEST_F(CudaRemove, LeavesTheListsThatTheHostLeaves) {
  std::mt19937 random(3);
  for (const annudf_element element : {ANNUDF_ELEMENT_F32, ANNUDF_ELEMENT_F16, ANNUDF_ELEMENT_I8,
                                       ANNUDF_ELEMENT_U8, ANNUDF_ELEMENT_BF16, ANNUDF_ELEMENT_BITS})
    for (const int32_t dims : {13, 40, 136}) {
      if (!faultOfDims(element, dims).empty() || (onStandIn() && dims == 40))
        continue;
      SCOPED_TRACE(std::string(toString(element)) + " " + std::to_string(dims));
      const int64_t built = onStandIn() ? 1000 : 5000, more = built * 2 / 5;
      const Matrix base = integerMatrix(element, built + more, dims);
      for (const uint32_t lists : {1u, onStandIn() ? 140u : 300u}) {
        SCOPED_TRACE(lists);
        Index there = build(part(base, 0, built), lists), host = there;
        std::vector<int64_t> ids(300);
        for (int64_t &id : ids) // Some twice, some of no row.
          id = int64_t(random() % uint64_t(built + 200));
        remove(there, host, ids);
        EXPECT_EQ(there.device(), 0);
        EXPECT_FALSE(there.onHost());
        // Every other row; lists that end up without any; the largest ids.
        ids.clear();
        for (int64_t id = 0; id < built; id += 2)
          ids.push_back(id);
        for (uint32_t l = 0; l < lists && lists > 1; l += 7)
          ids.insert(ids.end(), host.list(l).ids.begin(),
                     host.list(l).ids.begin() + host.list(l).size);
        for (int64_t id = built - 100; id < built; ++id)
          ids.push_back(id);
        remove(there, host, ids);
        EXPECT_LT(there.largestId(), built - 100);
        // What is left is extended there, and lost again.
        backend->extendFromHost(there, part(base, built, more));
        host.extend(part(base, built, more));
        EXPECT_EQ(there.device(), 0);
        EXPECT_FALSE(there.onHost());
        ids.resize(size_t(more - more / 4));
        std::iota(ids.begin(), ids.end(), there.largestId() - more + more / 10);
        remove(there, host, ids);
        EXPECT_EQ(there.device(), 0);
        EXPECT_FALSE(there.onHost());
        ASSERT_TRUE(sameContent(there, host));
      }
    }
}

TEST_F(CudaRemove, Ids) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const Matrix base = integerMatrix(ANNUDF_ELEMENT_U8, 3000, 20);
  Index there = build(part(base, 0, 2500), 12);
  std::vector<int64_t> ids(500); // Ids of several rows, and far apart: they are sorted then.
  for (size_t i = 0; i < ids.size(); ++i)
    ids[i] = i % 3 ? int64_t(i) : kMost - int64_t(i) * 1000;
  backend->extendFromHost(there, part(base, 2500, 500), {ids.data(), true});
  Index host = there;
  remove(there, host, {kMost, 1, 1, 3, 700, kMost - 1, kMost - 3000, kMost - 3001});
  EXPECT_EQ(there.largestId(), kMost - 6000);
  EXPECT_TRUE(sameContent(there, host));
  // None of them is there.
  const uint64_t generation = there.generation();
  remove(there, host, {});
  remove(there, host, {1, 3, kMost, 700});
  EXPECT_EQ(there.generation(), generation);
  // Without those far away ids are asked for as bits.
  remove(there, host, ids);
  EXPECT_EQ(there.largestId(), 2499);
  remove(there, host, {2499, 2498, kMost, 5});
  EXPECT_EQ(there.device(), 0);
  EXPECT_TRUE(sameContent(there, host));
}

TEST_F(CudaRemove, OfAllRowsAnEmptyIndexIsLeftOnTheHost) {
  const Matrix base = integerMatrix(ANNUDF_ELEMENT_F32, 900, 12);
  Index there = build(part(base, 0, 600), 6), host = there;
  std::vector<int64_t> ids(600);
  std::iota(ids.begin(), ids.end(), 0);
  remove(there, host, ids);
  EXPECT_EQ(there.size(), 0);
  EXPECT_EQ(there.device(), -1);
  EXPECT_TRUE(sameContent(there, host));
  backend->extendFromHost(there, part(base, 600, 300));
  host.extend(part(base, 600, 300));
  EXPECT_TRUE(sameContent(there, host));
  remove(there, host, {3, 4});
  EXPECT_TRUE(sameContent(there, host));
}

TEST_F(CudaRemove, IsSavedFromThere) {
  const Matrix base = integerMatrix(ANNUDF_ELEMENT_F16, 900, 12);
  Index there = build(part(base, 0, 900), 6), host = there;
  remove(there, host, {3, 899, 500});
  const TempDir folder;
  const std::string path = folder / "removed.ivf";
  there.save(path);
  EXPECT_TRUE(sameContent(Index::load(path), host));
  EXPECT_EQ(there.device(), 0) << "they are there, too";
}

TEST_F(CudaRemove, OfWhatIsOnTheHostRowsAreRemovedThere) {
  const Matrix base = integerMatrix(ANNUDF_ELEMENT_F32, 900, 12);
  for (const bool adaptive : {false, true}) {
    IndexParams p;
    p.nLists = 6, p.kmeansIterations = 3, p.adaptiveCenters = adaptive;
    Index index = Index::build(p, part(base, 0, 900)), expected = index;
    remove(index, expected, {1, 5, 800});
    EXPECT_EQ(index.device(), -1);
    EXPECT_TRUE(sameContent(index, expected));
  }
  Index index = build(part(base, 0, 600), 6);
  const std::vector<int64_t> ids = {7};
  index.remove(ids); // Its lists come here, and stay.
  EXPECT_EQ(backend->remove(index, ids), 0);
  EXPECT_EQ(index.device(), -1);
}

TEST_F(CudaRemove, RefusesAndLeavesTheIndexAsItWas) {
  const Matrix base = integerMatrix(ANNUDF_ELEMENT_F32, 900, 12);
  Index index = build(part(base, 0, 600), 6);
  const Index before = index;
  const uint64_t generation = index.generation();
  const std::vector<int64_t> below = {5, -1}, ids = {5, 6};
  EXPECT_EQ(errorOf([&] { backend->remove(index, below); }), "ids[1] is -1; ids are 0 or above");
  for (const double at : {0.0, 1.0})
    EXPECT_EQ(errorOf(
                  [&] {
                    backend->remove(index, ids,
                                    [&](const char *, double done) { return done != at; });
                  },
                  ErrorKind::Interrupted),
              "interrupted (remove)");
  EXPECT_EQ(index.generation(), generation);
  EXPECT_EQ(index.device(), 0);
  EXPECT_TRUE(sameContent(index, before));
}

} // namespace
