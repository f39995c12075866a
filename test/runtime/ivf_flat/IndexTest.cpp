//===- IndexTest.cpp - Building an index ------------------------*- C++ -*-===//
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

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <set>

namespace annudf::runtime {
namespace {

using test::errorOf;
using test::integerMatrix;
using test::sameContent;

constexpr annudf_element kElements[] = {ANNUDF_ELEMENT_F32,  ANNUDF_ELEMENT_F16,
                                        ANNUDF_ELEMENT_I8,   ANNUDF_ELEMENT_U8,
                                        ANNUDF_ELEMENT_BF16, ANNUDF_ELEMENT_BITS};

IndexParams params(uint32_t lists, annudf_coarse metric = ANNUDF_COARSE_L2) {
  IndexParams p;
  p.nLists = lists;
  p.metric = metric;
  p.kmeansIterations = 5;
  return p;
}

/// Reads coordinate `dim` of a stored row by the formula of RowStore.h and annudf_abi.h.
uint32_t storedBits(const Index &index, const List &list, int64_t position, int32_t dim) {
  const int bitsOfOne = bitsOf(index.element()), perWord = 32 / bitsOfOne;
  const int64_t group = position / kGroupRows, row = position % kGroupRows;
  const size_t word =
      static_cast<size_t>((group * index.words() + dim / perWord) * kGroupRows + row);
  const uint32_t bits = list.words.at(word) >> (bitsOfOne * (dim % perWord));
  return bitsOfOne == 32 ? bits : bits & ((1u << bitsOfOne) - 1);
}

/// The same of coordinate i of rows as they were given.
uint32_t givenBits(const Matrix &matrix, int64_t i) {
  const int bits = bitsOf(matrix.element);
  uint32_t value = 0;
  std::memcpy(&value, matrix.storage.data() + i * bits / 8, size_t(std::max(1, bits / 8)));
  return bits < 8 ? value >> (i % 8) & 1 : value;
}

TEST(Index, LayoutHoldsEveryRow) {
  for (annudf_element element : kElements)
    for (int32_t dims : {1, 2, 3, 4, 5, 8, 15, 16, 17, 24, 33, 120, 128, 136, 257, 1024})
      for (int64_t rows : {1, 31, 32, 33, 200}) {
        if (!faultOfDims(element, dims).empty())
          continue;
        const Matrix base = integerMatrix(element, rows, dims);
        const Index index = Index::build(params(rows > 3 ? 3 : 1), base.view());
        const int bits = bitsOf(element);
        ASSERT_EQ(index.words() % 4, 0);
        ASSERT_GE(index.words() * 32, dims * bits);
        ASSERT_LT(index.words() * 32, dims * bits + 128);
        ASSERT_EQ(index.size(), rows);
        std::set<int64_t> seen;
        for (uint32_t l = 0; l < index.nLists(); ++l) {
          const List &list = index.list(l);
          ASSERT_EQ(int64_t(list.words.size()), list.groups() * index.words() * kGroupRows);
          ASSERT_EQ(int64_t(list.ids.size()), list.groups() * kGroupRows);
          for (int64_t p = 0; p < int64_t(list.ids.size()); ++p) {
            const int64_t id = list.ids[size_t(p)];
            ASSERT_EQ(id == -1, p >= list.size);
            if (id >= 0) {
              ASSERT_TRUE(seen.insert(id).second);
            }
            for (int32_t d = 0; d < index.words() * 32 / bits; ++d) {
              uint32_t expected = 0; // Padding, of rows and of dims.
              if (id >= 0 && d < dims)
                expected = givenBits(base, id * dims + d);
              ASSERT_EQ(storedBits(index, list, p, d), expected)
                  << toString(element) << " dims " << dims << " id " << id << " dim " << d;
            }
          }
        }
        ASSERT_EQ(int64_t(seen.size()), rows);
        ASSERT_EQ(*seen.begin(), 0);
        ASSERT_EQ(*seen.rbegin(), rows - 1);
      }
}

double keyOf(const MatrixView &m, int64_t row, const float *center, annudf_coarse metric) {
  double l2 = 0, ip = 0;
  for (int32_t d = 0; d < m.dims; ++d) {
    const double x = coordinate(m, row, d), c = center[d];
    l2 += (x - c) * (x - c), ip += x * c;
  }
  return metric == ANNUDF_COARSE_L2 ? l2 : -ip;
}

TEST(Index, RowsAreInTheListOfTheirNearestCenter) {
  for (annudf_coarse metric : {ANNUDF_COARSE_L2, ANNUDF_COARSE_INNER_PRODUCT, ANNUDF_COARSE_COSINE})
    for (annudf_element element : kElements) {
      const Matrix base = integerMatrix(element, 900, 24);
      const Index index = Index::build(params(37, metric), base.view());
      EXPECT_EQ(index.metric(), metric);
      for (uint32_t l = 0; l < index.nLists(); ++l) {
        const float *centers = index.centers().data();
        double norm = 0;
        for (int32_t d = 0; d < 24; ++d)
          norm += double(centers[l * 24 + d]) * centers[l * 24 + d];
        if (metric != ANNUDF_COARSE_L2) {
          EXPECT_NEAR(norm, 1, 1e-5) << "centers of directions have length 1";
        }
        for (int64_t p = 0; p < index.list(l).size; ++p) {
          const int64_t row = index.list(l).ids[size_t(p)];
          const double mine = keyOf(base.view(), row, centers + l * 24, metric);
          for (uint32_t c = 0; c < index.nLists(); ++c)
            ASSERT_LE(mine, keyOf(base.view(), row, centers + c * 24, metric) + 0.05);
        }
      }
    }
}

TEST(Index, KMeansFindsTheClusters) {
  // 16 clusters 100 apart with a spread of 1: every list must be one whole cluster, but where
  // random starts fell into one cluster twice.
  const Matrix base = test::clusteredMatrix(4000, 12, 16, 1.0f);
  IndexParams p = params(16);
  p.kmeansIterations = 20;
  const Index index = Index::build(p, base.view());
  double error = 0;
  std::map<int64_t, int> lists; // Lists per cluster.
  for (uint32_t l = 0; l < 16; ++l) {
    std::set<int64_t> clusters;
    for (int64_t i = 0; i < index.list(l).size; ++i) {
      const int64_t row = index.list(l).ids[size_t(i)];
      clusters.insert(row % 16);
      error += keyOf(base.view(), row, index.centers().data() + l * 12, ANNUDF_COARSE_L2);
    }
    for (int64_t cluster : clusters)
      ++lists[cluster];
  }
  EXPECT_EQ(lists.size(), 16u);
  // With more lists than needed, nothing of the distances between clusters may remain.
  p.nLists = 64;
  const Index fine = Index::build(p, base.view());
  double fineError = 0;
  for (uint32_t l = 0; l < 64; ++l)
    for (int64_t i = 0; i < fine.list(l).size; ++i)
      fineError += keyOf(base.view(), fine.list(l).ids[size_t(i)], fine.centers().data() + l * 12,
                         ANNUDF_COARSE_L2);
  EXPECT_LT(fineError / 4000, 12.0) << "mean squared distance; within a cluster it is 12";
  EXPECT_LT(fineError, error);
}

TEST(Index, KMeansLeavesNoListEmptyWhileRowsAreDistinct) {
  const Matrix base = test::clusteredMatrix(3000, 8, 4, 1.0f);
  IndexParams p = params(64);
  p.kmeansIterations = 20;
  const Index index = Index::build(p, base.view());
  int empty = 0;
  for (uint32_t l = 0; l < index.nLists(); ++l)
    empty += index.list(l).size == 0;
  EXPECT_LE(empty, 1) << "4 clusters, 64 lists: the large clusters must be split";
}

TEST(Index, EqualRowsTerminate) {
  Matrix base = integerMatrix(ANNUDF_ELEMENT_U8, 500, 4);
  std::fill(base.storage.begin(), base.storage.end(), std::byte{7});
  const Index index = Index::build(params(50), base.view());
  EXPECT_EQ(index.size(), 500);
  std::fill(base.storage.begin(), base.storage.end(), std::byte{0});
  for (annudf_coarse metric : {ANNUDF_COARSE_INNER_PRODUCT, ANNUDF_COARSE_COSINE})
    EXPECT_EQ(Index::build(params(50, metric), base.view()).size(), 500);
  EXPECT_EQ(Index::build(params(500), base.view()).size(), 500);
}

TEST(Index, ResultDoesNotDependOnThreads) {
  const Matrix base = test::clusteredMatrix(5000, 24, 40, 30.0f);
  IndexParams p = params(50);
  p.threads = 1;
  const Index one = Index::build(p, base.view());
  for (int threads : {2, 3, 8}) {
    p.threads = threads;
    EXPECT_TRUE(sameContent(one, Index::build(p, base.view()))) << threads;
  }
  p.seed = 2;
  EXPECT_FALSE(sameContent(one, Index::build(p, base.view())));
}

TEST(Index, AutomaticLists) {
  EXPECT_EQ(automaticLists(1), 1u);
  EXPECT_EQ(automaticLists(999), 1u);
  EXPECT_EQ(automaticLists(1000), 32u);
  EXPECT_EQ(automaticLists(1000000), 1000u);
  EXPECT_EQ(automaticLists(INT64_MAX), kMaxLists);
  const Matrix base = integerMatrix(ANNUDF_ELEMENT_F32, 1100, 3);
  EXPECT_EQ(Index::build(params(0), base.view()).nLists(), 33u);
}

TEST(Index, CentersFirstRowsLater) {
  for (annudf_coarse metric : {ANNUDF_COARSE_L2, ANNUDF_COARSE_COSINE}) {
    const Matrix base = integerMatrix(ANNUDF_ELEMENT_F16, 300, 6);
    IndexParams p = params(9, metric);
    const Index whole = Index::build(p, base.view());
    p.addData = false;
    Index index = Index::build(p, base.view());
    EXPECT_EQ(index.size(), 0);
    EXPECT_EQ(index.largestId(), -1);
    EXPECT_EQ(index.centers(), whole.centers());
    EXPECT_NE(index.generation(), 0u);
    // An index without rows has a file.
    const std::string path = testing::TempDir() + "centers.ivf";
    index.save(path);
    index = Index::load(path);
    EXPECT_EQ(index.size(), 0);
    EXPECT_EQ(index.centers(), whole.centers());
    std::vector<int64_t> ids(300);
    for (int64_t i = 0; i < 300; ++i)
      ids[size_t(i)] = 1000 - i;
    index.extend(base.view(), {ids.data()});
    ASSERT_EQ(index.size(), 300);
    for (uint32_t l = 0; l < 9; ++l) {
      ASSERT_EQ(index.list(l).words, whole.list(l).words);
      for (int64_t i = 0; i < index.list(l).size; ++i)
        ASSERT_EQ(index.list(l).ids[size_t(i)], 1000 - whole.list(l).ids[size_t(i)]);
    }
  }
}

/// Means of the rows in each list, by a second way.
void expectMeans(const Index &index, const std::vector<const Matrix *> &rowsOfIds) {
  for (uint32_t l = 0; l < index.nLists(); ++l) {
    const List &list = index.list(l);
    if (list.size == 0)
      continue;
    std::vector<double> sum(size_t(index.dims()));
    for (int64_t i = 0; i < list.size; ++i) {
      const int64_t id = list.ids[size_t(i)];
      const MatrixView from = rowsOfIds[size_t(id / 1000)]->view();
      double norm = 0;
      for (int32_t d = 0; d < index.dims(); ++d)
        norm += std::pow(double(coordinate(from, id % 1000, d)), 2);
      const double scale =
          index.metric() == ANNUDF_COARSE_COSINE && norm > 0 ? 1 / std::sqrt(norm) : 1;
      for (int32_t d = 0; d < index.dims(); ++d)
        sum[size_t(d)] += scale * coordinate(from, id % 1000, d);
    }
    double norm = 0;
    for (double &one : sum)
      one /= double(list.size), norm += one * one;
    for (int32_t d = 0; d < index.dims(); ++d) {
      const double expected =
          sum[size_t(d)] / (index.metric() == ANNUDF_COARSE_L2 ? 1 : std::sqrt(norm));
      ASSERT_NEAR(index.centers()[l * size_t(index.dims()) + size_t(d)], expected,
                  1e-5 * (1 + std::abs(expected)))
          << toString(index.metric()) << " list " << l << " dim " << d;
    }
  }
}

TEST(Index, AdaptiveCentersAreTheMeansOfTheirLists) {
  int moved = 0; // Not where the training has come to rest.
  for (annudf_coarse metric : {ANNUDF_COARSE_L2, ANNUDF_COARSE_INNER_PRODUCT, ANNUDF_COARSE_COSINE})
    for (annudf_element element : kElements) {
      const Matrix base = integerMatrix(element, 400, 8, 1);
      const Matrix more = integerMatrix(element, 150, 8, 2);
      const Matrix last = integerMatrix(element, 33, 8, 3);
      IndexParams p = params(12, metric);
      const Index fixed = Index::build(p, base.view());
      p.adaptiveCenters = true;
      Index index = Index::build(p, base.view());
      EXPECT_TRUE(index.adaptiveCenters());
      moved += index.centers() != fixed.centers();
      expectMeans(index, {&base});
      std::vector<int64_t> ids(150);
      for (int64_t i = 0; i < 150; ++i)
        ids[size_t(i)] = 1000 + i;
      const std::vector<float> before = index.centers();
      index.extend(more.view(), {ids.data()});
      EXPECT_NE(index.centers(), before);
      expectMeans(index, {&base, &more});
      // A file keeps it, and sums that are made anew are the same.
      const std::string path = testing::TempDir() + "adaptive.ivf";
      index.save(path);
      Index read = Index::load(path);
      EXPECT_TRUE(read.adaptiveCenters());
      EXPECT_EQ(read.centers(), index.centers());
      for (int64_t i = 0; i < 33; ++i)
        ids[size_t(i)] = 2000 + i;
      for (Index *one : {&index, &read}) {
        one->extend(last.view(), {ids.data()});
        expectMeans(*one, {&base, &more, &last});
      }
      EXPECT_EQ(read.centers(), index.centers());
    }
  EXPECT_GT(moved, 10);
}

TEST(Index, ProgressRisesAndStops) {
  const Matrix base = integerMatrix(ANNUDF_ELEMENT_U8, 2000, 8);
  std::map<std::string, double> last;
  const Progress watch = [&](const char *stage, double done) {
    EXPECT_GE(done, last[stage]) << stage;
    EXPECT_LE(done, 1.0);
    last[stage] = done;
    return true;
  };
  Index::build(params(10), base.view(), watch);
  EXPECT_EQ(last, (std::map<std::string, double>{{"add", 1.0}, {"train", 1.0}}));
  for (const char *stage : {"train", "add"}) {
    const Progress stop = [&](const char *now, double) { return std::string(now) != stage; };
    EXPECT_EQ(errorOf([&] { Index::build(params(10), base.view(), stop); }, ErrorKind::Interrupted),
              std::string("interrupted (") + stage + ")");
  }
}

TEST(Index, RefusesBadBases) {
  Matrix base = integerMatrix(ANNUDF_ELEMENT_F32, 10, 4);
  const auto build = [&](const IndexParams &p, const MatrixView &view,
                         ErrorKind kind = ErrorKind::Input) {
    return errorOf([&] { Index::build(p, view); }, kind);
  };
  EXPECT_EQ(build(params(1), MatrixView{}), "base: it has no rows");
  EXPECT_EQ(build(params(1), MatrixView{base.storage.data(), 10, 0}),
            "base: 0 dims; between 1 and 1048576 are supported");
  EXPECT_EQ(build(params(11), base.view()),
            "base: it has 10 rows, fewer than the 11 lists; ask for at most 10");
  EXPECT_EQ(
      build(params(kMaxLists + 1), base.view(), ErrorKind::Usage),
      "lists = 16777217: must be at most 16777216; 0 is the square root of the number of rows");
  IndexParams p = params(2);
  p.kmeansTrainsetFraction = std::nan("");
  EXPECT_EQ(build(p, base.view(), ErrorKind::Usage),
            "k-means training fraction = nan: must be above 0 and at most 1");
  p = params(2);
  p.threads = -3;
  EXPECT_EQ(build(p, base.view(), ErrorKind::Usage),
            "threads is -3, it must be an integer from 0 to 1024, 0 for all cores");
}

TEST(Index, RefusesCoordinatesThatAreNotFinite) {
  Matrix base = integerMatrix(ANNUDF_ELEMENT_F32, 5000, 4);
  auto *values = reinterpret_cast<float *>(base.storage.data());
  values[4001 * 4 + 2] = -std::numeric_limits<float>::infinity();
  values[4500 * 4] = std::nanf("");
  EXPECT_EQ(errorOf([&] { Index::build(params(2), base.view()); }),
            "base: row 4001, dim 2 is -inf; every coordinate must be finite");
  Matrix half = integerMatrix(ANNUDF_ELEMENT_F16, 50, 3);
  reinterpret_cast<uint16_t *>(half.storage.data())[49 * 3 + 1] = 0xfe01;
  EXPECT_EQ(
      errorOf([&] { Index::build(params(2), half.view()); }),
      "base: row 49, dim 1 is nan; every coordinate must be finite unless index and metric say "
      "missing_values");
  Matrix wide = integerMatrix(ANNUDF_ELEMENT_BF16, 50, 3);
  reinterpret_cast<uint16_t *>(wide.storage.data())[48 * 3 + 2] = 0xff80;
  EXPECT_EQ(errorOf([&] { Index::build(params(2), wide.view()); }),
            "base: row 48, dim 2 is -inf; every coordinate must be finite");
  Index index = Index::build(params(2), integerMatrix(ANNUDF_ELEMENT_F32, 50, 4).view());
  EXPECT_EQ(errorOf([&] { index.extend(base.view()); }),
            "rows to add: row 4001, dim 2 is -inf; every coordinate must be finite");
}

TEST(Index, RowsOfBitsFillWholeBytes) {
  const std::string words = " dims of bits; a row is whole bytes, so pad it with zeros to a "
                            "multiple of 8 dims";
  const std::vector<uint8_t> bytes(100, 0x5a);
  for (int32_t dims : {1, 7, 12, 4095})
    EXPECT_EQ(
        errorOf([&] { Index::build(params(1), {bytes.data(), 1, dims, ANNUDF_ELEMENT_BITS}); }),
        "base: " + std::to_string(dims) + words);
  Index index = Index::build(params(1), {bytes.data(), 5, 16, ANNUDF_ELEMENT_BITS});
  EXPECT_EQ(index.dims(), 16);
  EXPECT_EQ(index.words(), 4);
  EXPECT_EQ(errorOf([&] { index.extend({bytes.data(), 1, 12, ANNUDF_ELEMENT_BITS}); }),
            "rows to add: 12" + words);
  EXPECT_EQ(errorOf([&] { index.extend({bytes.data(), 1, 2, ANNUDF_ELEMENT_U8}); }),
            "rows to add: 2 dims of u8, the index holds 16 dims of bits");
}

TEST(Index, CentersOfBitsAreTheirShares) {
  // 0b01010101 and 0: half of the rows have each even bit.
  const uint8_t bytes[4] = {0x55, 0, 0x55, 0};
  const Index index = Index::build(params(1), {bytes, 4, 8, ANNUDF_ELEMENT_BITS});
  EXPECT_EQ(index.centers(), (std::vector<float>{.5, 0, .5, 0, .5, 0, .5, 0}));
}

} // namespace
} // namespace annudf::runtime
