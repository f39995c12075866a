//===- RemoveTest.cpp - Deleting rows of an index ---------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is left is compared, to the bit, with an index of the same centers to which only
// those rows were added that were not removed, in the order in which they came.
//
//===----------------------------------------------------------------------===//

#include "Support/TestFiles.h"
#include "runtime/IndexTesting.h"
#include "runtime/TestData.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <set>

namespace annudf::runtime {
namespace {

using test::errorOf;
using test::integerMatrix;
using test::sameContent;

IndexParams params(uint32_t lists, annudf_coarse metric = ANNUDF_COARSE_L2) {
  IndexParams p;
  p.nLists = lists, p.metric = metric, p.kmeansIterations = 5;
  return p;
}

/// Centers without rows, and what was added to them.
class Oracle {
public:
  Oracle(IndexParams p, const Matrix &base) : element_(base.element), dims_(base.dims) {
    p.addData = false;
    empty_ = Index::build(p, base.view());
  }
  Index start() const { return empty_; }
  void add(const Matrix &rows, const std::vector<int64_t> &ids) {
    bytes_.insert(bytes_.end(), rows.storage.begin(), rows.storage.end());
    ids_.insert(ids_.end(), ids.begin(), ids.end());
  }
  int64_t remove(const std::vector<int64_t> &ids) {
    const std::set<int64_t> gone(ids.begin(), ids.end());
    const auto row = static_cast<size_t>(bytesOfRow(element_, dims_));
    size_t to = 0;
    for (size_t from = 0; from < ids_.size(); ++from)
      if (!gone.count(ids_[from])) {
        ids_[to] = ids_[from];
        std::copy_n(bytes_.begin() + std::ptrdiff_t(from * row), row,
                    bytes_.begin() + std::ptrdiff_t(to++ * row));
      }
    const auto removed = static_cast<int64_t>(ids_.size() - to);
    ids_.resize(to), bytes_.resize(to * row);
    return removed;
  }
  Index expected() const {
    Index index = empty_;
    if (!ids_.empty())
      index.extend({bytes_.data(), int64_t(ids_.size()), dims_, element_},
                   {ids_.data(), /*allowRepeated=*/true});
    return index;
  }
  const std::vector<int64_t> &ids() const { return ids_; }

private:
  annudf_element element_;
  int32_t dims_;
  Index empty_;
  std::vector<std::byte> bytes_;
  std::vector<int64_t> ids_;
};

/// Random extends and removes, of ids that are there, are not, and stand for several rows.
void compare(annudf_element element, annudf_coarse metric, int32_t dims, bool farIds,
             unsigned seed) {
  std::mt19937 random(seed);
  Oracle oracle(params(7, metric), integerMatrix(element, 300, dims, seed));
  Index index = oracle.start();
  const int64_t range = farIds ? int64_t(1) << 40 : 500;
  const auto anId = [&] { return int64_t(random() * 0x100000001u % uint64_t(range)); };
  for (unsigned step = 0; step < 30; ++step) {
    if (step % 2 == 0) {
      const auto rows = int64_t(1 + random() % 120);
      const Matrix more = integerMatrix(element, rows, dims, seed * 100 + step);
      std::vector<int64_t> ids(static_cast<size_t>(rows));
      std::generate(ids.begin(), ids.end(), anId);
      index.extend(more.view(), {ids.data(), /*allowRepeated=*/true});
      oracle.add(more, ids);
    } else {
      std::vector<int64_t> ids(random() % 100);
      for (int64_t &id : ids)
        id = random() % 2 && !oracle.ids().empty() ? oracle.ids()[random() % oracle.ids().size()]
                                                   : anId();
      const uint64_t generation = index.generation();
      const int64_t expected = oracle.remove(ids);
      ASSERT_EQ(index.remove(ids), expected);
      ASSERT_EQ(index.generation() != generation, expected != 0);
    }
    ASSERT_TRUE(sameContent(index, oracle.expected()))
        << toString(element) << " " << toString(metric) << " step " << step;
  }
}

TEST(IndexRemove, IsAsIfTheOtherRowsAloneHadBeenAdded) {
  unsigned seed = 1;
  for (annudf_element element : {ANNUDF_ELEMENT_F32, ANNUDF_ELEMENT_F16, ANNUDF_ELEMENT_I8,
                                 ANNUDF_ELEMENT_U8, ANNUDF_ELEMENT_BF16, ANNUDF_ELEMENT_BITS})
    for (annudf_coarse metric :
         {ANNUDF_COARSE_L2, ANNUDF_COARSE_INNER_PRODUCT, ANNUDF_COARSE_COSINE})
      for (const bool farIds : {false, true})
        compare(element, metric, element == ANNUDF_ELEMENT_BITS ? 24 : 13, farIds, ++seed);
}

TEST(IndexRemove, AllRows) {
  const Matrix base = integerMatrix(ANNUDF_ELEMENT_U8, 200, 16);
  Index index = Index::build(params(5), base.view());
  const Index before = index;
  std::vector<int64_t> ids(200);
  std::iota(ids.begin(), ids.end(), 0);
  EXPECT_EQ(index.remove(ids), 200);
  EXPECT_EQ(index.size(), 0);
  EXPECT_EQ(index.largestId(), -1);
  EXPECT_EQ(index.remove(ids), 0);
  const std::string path = testing::TempDir() + "removed.ivf";
  index.save(path);
  for (Index one : {index, Index::load(path)}) {
    EXPECT_EQ(one.size(), 0);
    one.extend(base.view()); // Ids begin anew.
    EXPECT_TRUE(sameContent(one, before));
  }
}

TEST(IndexRemove, WhatIsNotThereIsPassedOver) {
  Index index = Index::build(params(4), integerMatrix(ANNUDF_ELEMENT_F32, 100, 6).view());
  const Index before = index;
  EXPECT_EQ(index.remove({}), 0);
  EXPECT_EQ(index.remove(std::vector<int64_t>{100, 5000, INT64_MAX}), 0);
  EXPECT_EQ(index.generation(), before.generation());
  EXPECT_EQ(&index.attachments(), &before.attachments());
  EXPECT_EQ(index.remove(std::vector<int64_t>{99, 7, 7, 200}), 2);
  EXPECT_EQ(index.largestId(), 98);
  EXPECT_FALSE(index.idsAreRowNumbers());
  EXPECT_NE(&index.attachments(), &before.attachments());
  EXPECT_EQ(index.remove(std::vector<int64_t>{7, 99}), 0);
  // The next id is above all that are there: 99 is given again.
  index.extend(integerMatrix(ANNUDF_ELEMENT_F32, 2, 6).view());
  EXPECT_EQ(index.largestId(), 100);
  EXPECT_EQ(index.size(), 100);
}

TEST(IndexRemove, OneIdOfSeveralRows) {
  Index index = Index::build(params(4), integerMatrix(ANNUDF_ELEMENT_F32, 100, 6).view());
  const int64_t ids[3] = {7, 7, 8};
  index.extend(integerMatrix(ANNUDF_ELEMENT_F32, 3, 6, 2).view(), {ids, /*allowRepeated=*/true});
  EXPECT_EQ(index.remove(std::vector<int64_t>{7}), 3);
  EXPECT_EQ(index.remove(std::vector<int64_t>{8}), 2);
  EXPECT_EQ(index.size(), 98);
}

TEST(IndexRemove, AFailureChangesNothing) {
  for (const bool adaptive : {false, true}) {
    IndexParams p = params(4);
    p.adaptiveCenters = adaptive;
    Index index = Index::build(p, integerMatrix(ANNUDF_ELEMENT_F32, 100, 6).view());
    const Index before = index;
    EXPECT_EQ(errorOf([&] { index.remove(std::vector<int64_t>{1, 2, -3}); }),
              "ids[2] is -3; ids are 0 or above");
    for (const double at : {0.0, 1.0})
      EXPECT_EQ(errorOf(
                    [&] {
                      index.remove(std::vector<int64_t>{1, 2},
                                   [&](const char *, double done) { return done != at; });
                    },
                    ErrorKind::Interrupted),
                "interrupted (remove)");
    EXPECT_TRUE(sameContent(index, before));
    EXPECT_EQ(index.generation(), before.generation());
  }
}

/// Centers of an index of rows without gaps are what an index of these rows alone has that got
/// them in one piece: sums are made in the rows' order.
TEST(IndexRemove, AdaptiveCentersMoveToTheMeansOfWhatIsLeft) {
  for (annudf_coarse metric : {ANNUDF_COARSE_L2, ANNUDF_COARSE_INNER_PRODUCT, ANNUDF_COARSE_COSINE})
    for (const bool extended : {false, true}) {
      IndexParams p = params(6, metric);
      p.adaptiveCenters = true;
      const Matrix base = integerMatrix(ANNUDF_ELEMENT_I8, 300, 8);
      Index index = Index::build(p, base.view());
      if (extended) // Which keeps the sums.
        index.extend(integerMatrix(ANNUDF_ELEMENT_I8, 50, 8, 2).view());
      const Index before = index;
      // All of list 0, a third of list 1, nothing of the others.
      std::vector<int64_t> gone;
      for (const int64_t id : index.list(0).ids)
        if (id >= 0)
          gone.push_back(id);
      for (int64_t i = 0; i < index.list(1).size; i += 3)
        gone.push_back(index.list(1).ids[size_t(i)]);
      const int64_t left = index.list(1).size - (index.list(1).size + 2) / 3;
      ASSERT_EQ(index.remove(gone), int64_t(gone.size()));
      ASSERT_EQ(index.list(0).size, 0);
      ASSERT_EQ(index.list(1).size, left);
      const std::string path = testing::TempDir() + "adaptive_removed.ivf";
      index.save(path);
      Index read = Index::load(path);
      for (int32_t d = 0; d < 8; ++d) {
        EXPECT_EQ(index.centers()[size_t(d)], before.centers()[size_t(d)]) << "no rows: it stays";
        for (size_t l = 2; l < 6; ++l)
          EXPECT_EQ(index.centers()[l * 8 + size_t(d)], before.centers()[l * 8 + size_t(d)]);
      }
      std::vector<double> mean(8);
      for (int64_t i = 0; i < left; ++i) {
        int8_t row[8];
        double norm = 0;
        for (int32_t w = 0; w < 2; ++w)
          std::memcpy(row + 4 * w,
                      &index.list(1).words[size_t((i / 32 * index.words() + w) * 32 + i % 32)], 4);
        for (const int8_t x : row)
          norm += double(x) * x;
        for (size_t d = 0; d < 8; ++d)
          mean[d] += row[d] / (metric == ANNUDF_COARSE_COSINE ? std::sqrt(norm) : 1) / double(left);
      }
      double norm = 0;
      for (const double x : mean)
        norm += x * x;
      for (size_t d = 0; d < 8; ++d)
        EXPECT_NEAR(index.centers()[8 + d],
                    mean[d] / (metric == ANNUDF_COARSE_L2 ? 1 : std::sqrt(norm)), 1e-5);
      // Sums that were kept, and those that are made of the lists.
      const Matrix last = integerMatrix(ANNUDF_ELEMENT_I8, 40, 8, 3);
      index.extend(last.view()), read.extend(last.view());
      EXPECT_TRUE(sameContent(index, read));
    }
}

} // namespace
} // namespace annudf::runtime
