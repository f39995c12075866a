//===- CoarseTest.cpp - Ranking of lists against a plain sort ---*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/coarse/Coarse.h"

#include "../../../runtime/lib/coarse/CoarseKernel.h"
#include "Support/TestFiles.h"
#include "runtime/TestData.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace annudf::runtime {
namespace {

double coarseValue(const MatrixView &q, int64_t row, const float *center, annudf_coarse metric) {
  double l2 = 0, ip = 0, qq = 0, cc = 0;
  for (int32_t d = 0; d < q.dims; ++d) {
    const double x = coordinate(q, row, d), c = center[d];
    l2 += (x - c) * (x - c), ip += x * c, qq += x * x, cc += c * c;
  }
  if (metric == ANNUDF_COARSE_L2)
    return l2;
  return metric == ANNUDF_COARSE_INNER_PRODUCT ? ip : 1 - (cc > 0 ? ip / std::sqrt(qq * cc) : 0);
}

/// Integer data: L2 and inner product are exact, so even ties have one right order.
TEST(Coarse, RanksLikeASort) {
  for (annudf_element element : {ANNUDF_ELEMENT_F32, ANNUDF_ELEMENT_F16, ANNUDF_ELEMENT_I8,
                                 ANNUDF_ELEMENT_U8, ANNUDF_ELEMENT_BF16, ANNUDF_ELEMENT_BITS})
    for (int32_t dims : {1, 3, 16, 17, 128})
      for (uint32_t lists : {1u, 5u, 33u, 64u, 200u, 700u}) {
        if (!faultOfDims(element, dims).empty())
          continue;
        const Matrix queries = test::integerMatrix(element, 37, dims, 5);
        const Matrix centers = test::integerMatrix(ANNUDF_ELEMENT_F32, lists, dims, 9);
        const auto *values = reinterpret_cast<const float *>(centers.storage.data());
        for (annudf_coarse metric : {ANNUDF_COARSE_L2, ANNUDF_COARSE_INNER_PRODUCT})
          for (annudf_order order : {ANNUDF_ORDER_MIN, ANNUDF_ORDER_MAX}) {
            const CoarseRanker ranker(values, lists, dims, metric, order);
            std::vector<std::vector<std::pair<double, uint32_t>>> sorted(size_t(queries.rows));
            for (int64_t q = 0; q < queries.rows; ++q) {
              for (uint32_t c = 0; c < lists; ++c) {
                const double value =
                    coarseValue(queries.view(), q, values + int64_t(c) * dims, metric);
                sorted[size_t(q)].emplace_back(order == ANNUDF_ORDER_MIN ? value : -value, c);
              }
              std::ranges::sort(sorted[size_t(q)]);
            }
            for (uint32_t probes : {1u, 7u, 32u, 33u, lists}) {
              if (probes > lists)
                continue;
              std::vector<uint32_t> found(static_cast<size_t>(queries.rows) * probes);
              ranker.rank(queries.view(), probes, found.data(), 2);
              for (int64_t q = 0; q < queries.rows; ++q)
                for (uint32_t p = 0; p < probes; ++p)
                  ASSERT_EQ(found[static_cast<size_t>(q) * probes + p], sorted[size_t(q)][p].second)
                      << toString(element) << " dims " << dims << " lists " << lists << " "
                      << toString(metric) << " " << toString(order) << " query " << q << " probe "
                      << p << " of " << probes;
            }
          }
      }
}

// Every compilation of the kernel this processor runs; counts that leave all remainders.
TEST(CoarseKernels, EachInstructionSetComputesTheSame) {
  ASSERT_STREQ(availableCoarseKernels().back().name, "baseline");
  for (const CoarseKernels &kernels : availableCoarseKernels())
    for (int64_t count : {1, 2, 3, 5, 6, 7, 8, 11, 31, 32, 33, 47, 70})
      for (int32_t dims : {1, 7, 40})
        for (int64_t panels : {1, 2, 3}) {
          const Matrix rows = test::integerMatrix(ANNUDF_ELEMENT_F32, count, dims, 1);
          const int64_t stride = panels * CoarseRanker::kPanel;
          const Matrix factors = test::integerMatrix(ANNUDF_ELEMENT_F32, stride, dims, 2);
          const Matrix biases = test::integerMatrix(ANNUDF_ELEMENT_F32, 1, int32_t(stride), 3);
          const auto floats = [](const Matrix &m) {
            return reinterpret_cast<const float *>(m.storage.data());
          };
          std::vector<float> keys(static_cast<size_t>(count * stride), -1);
          kernels.keys(
              {floats(rows), count, dims, panels, floats(factors), floats(biases), keys.data()});
          for (int64_t r = 0; r < count; ++r) {
            const float *rowKeys = keys.data() + r * stride;
            for (int64_t c = 0; c < stride; ++c) {
              double key = floats(biases)[c];
              for (int32_t d = 0; d < dims; ++d)
                key += double(coordinate(rows.view(), r, d)) *
                       floats(factors)[((c / 32) * dims + d) * 32 + c % 32];
              ASSERT_EQ(rowKeys[c], key) << kernels.name << " row " << r << " center " << c;
            }
            ASSERT_EQ(kernels.smallest(rowKeys, stride),
                      std::min_element(rowKeys, rowKeys + stride) - rowKeys)
                << kernels.name;
          }
        }
}

TEST(CoarseKernels, SmallestTakesTheFirstOfEquals) {
  for (const CoarseKernels &kernels : availableCoarseKernels()) {
    std::vector<float> values(96, 5);
    values[70] = values[41] = values[90] = 2;
    EXPECT_EQ(kernels.smallest(values.data(), 96), 41u) << kernels.name;
    std::fill(values.begin(), values.end(), std::numeric_limits<float>::quiet_NaN());
    EXPECT_EQ(kernels.smallest(values.data(), 96), 0u) << kernels.name;
  }
}

/// Squares of coordinates near 1e4 leave no room in f32 for distances of about 1.
TEST(Coarse, RanksFarFromTheOrigin) {
  constexpr uint32_t kLists = 200, kBest = 10;
  constexpr int64_t kQueries = 100;
  constexpr int32_t kDims = 32;
  for (float offset : {0.0f, 1e4f, -1e4f}) {
    std::mt19937 random(7);
    std::normal_distribution<float> normal;
    Matrix queries = test::integerMatrix(ANNUDF_ELEMENT_F32, kQueries, kDims);
    Matrix centers = test::integerMatrix(ANNUDF_ELEMENT_F32, kLists, kDims);
    for (Matrix *matrix : {&centers, &queries})
      for (int64_t i = 0; i < matrix->rows * kDims; ++i)
        reinterpret_cast<float *>(matrix->storage.data())[i] = offset + normal(random);
    const auto *values = reinterpret_cast<const float *>(centers.storage.data());
    const CoarseRanker ranker(values, kLists, kDims, ANNUDF_COARSE_L2, ANNUDF_ORDER_MIN);
    std::vector<uint32_t> found(kQueries * kBest), nearest(kQueries);
    ranker.rank(queries.view(), kBest, found.data(), 2);
    ranker.assign(queries.view(), nearest.data(), 2);
    int agree = 0, agreeNearest = 0;
    for (int64_t q = 0; q < kQueries; ++q) {
      std::vector<std::pair<double, uint32_t>> all;
      for (uint32_t c = 0; c < kLists; ++c)
        all.emplace_back(
            coarseValue(queries.view(), q, values + int64_t(c) * kDims, ANNUDF_COARSE_L2), c);
      std::sort(all.begin(), all.end());
      for (uint32_t p = 0; p < kBest; ++p)
        agree += found[static_cast<size_t>(q) * kBest + p] == all[p].second;
      agreeNearest += nearest[static_cast<size_t>(q)] == all[0].second;
    }
    EXPECT_GE(agree, 0.99 * kQueries * kBest) << "offset " << offset;
    EXPECT_GE(agreeNearest, 0.99 * kQueries) << "offset " << offset;
  }
}

TEST(Coarse, CosineRanksByAngle) {
  const Matrix queries = test::integerMatrix(ANNUDF_ELEMENT_F32, 20, 24, 3);
  Matrix centers = test::integerMatrix(ANNUDF_ELEMENT_F32, 90, 24, 4);
  auto *values = reinterpret_cast<float *>(centers.storage.data());
  std::fill_n(values, 24, 0.0f); // A center of length 0 counts as orthogonal.
  for (annudf_order order : {ANNUDF_ORDER_MIN, ANNUDF_ORDER_MAX}) {
    const CoarseRanker ranker(values, 90, 24, ANNUDF_COARSE_COSINE, order);
    std::vector<uint32_t> found(20 * 90);
    ranker.rank(queries.view(), 90, found.data(), 1);
    for (int64_t q = 0; q < 20; ++q)
      for (int p = 1; p < 90; ++p) {
        const size_t at = static_cast<size_t>(q * 90 + p);
        const double before =
            coarseValue(queries.view(), q, values + found[at - 1] * 24, ANNUDF_COARSE_COSINE);
        const double here =
            coarseValue(queries.view(), q, values + found[at] * 24, ANNUDF_COARSE_COSINE);
        if (order == ANNUDF_ORDER_MIN) {
          EXPECT_LE(before, here + 1e-6);
        } else {
          EXPECT_GE(before, here - 1e-6);
        }
      }
  }
}

TEST(Coarse, AssignFindsTheNearest) {
  for (uint32_t lists : {1u, 31u, 32u, 100u}) {
    const Matrix rows = test::integerMatrix(ANNUDF_ELEMENT_I8, 700, 19, 1);
    const Matrix centers = test::integerMatrix(ANNUDF_ELEMENT_F32, lists, 19, 2);
    const auto *values = reinterpret_cast<const float *>(centers.storage.data());
    const CoarseRanker ranker(values, lists, 19, ANNUDF_COARSE_L2, ANNUDF_ORDER_MIN);
    std::vector<uint32_t> found(700), one(700);
    ranker.assign(rows.view(), found.data(), 3);
    for (int64_t r = 0; r < 700; ++r) {
      uint32_t best = 0;
      for (uint32_t c = 1; c < lists; ++c)
        if (coarseValue(rows.view(), r, values + c * 19, ANNUDF_COARSE_L2) <
            coarseValue(rows.view(), r, values + best * 19, ANNUDF_COARSE_L2))
          best = c;
      ASSERT_EQ(found[static_cast<size_t>(r)], best) << r;
    }
    ranker.assign(rows.view(), one.data(), 1);
    EXPECT_EQ(found, one);
  }
}

TEST(Coarse, QueriesThatAreNotNumbersStillGetDistinctLists) {
  Matrix queries = test::integerMatrix(ANNUDF_ELEMENT_F32, 3, 8, 1);
  auto *values = reinterpret_cast<float *>(queries.storage.data());
  values[0] = std::numeric_limits<float>::quiet_NaN();
  values[8] = std::numeric_limits<float>::infinity();
  const Matrix centers = test::integerMatrix(ANNUDF_ELEMENT_F32, 100, 8, 2);
  const CoarseRanker ranker(reinterpret_cast<const float *>(centers.storage.data()), 100, 8,
                            ANNUDF_COARSE_L2, ANNUDF_ORDER_MIN);
  for (uint32_t probes : {10u, 60u, 100u}) {
    std::vector<uint32_t> found(3 * probes);
    ranker.rank(queries.view(), probes, found.data(), 1);
    for (int q = 0; q < 3; ++q) {
      std::sort(found.begin() + q * probes, found.begin() + (q + 1) * probes);
      for (uint32_t p = 0; p < probes; ++p) {
        ASSERT_LT(found[q * probes + p], 100u);
        if (p > 0) {
          ASSERT_NE(found[q * probes + p], found[q * probes + p - 1]);
        }
      }
    }
  }
}

TEST(Coarse, CopiesShareTheCenters) {
  const Matrix centers = test::integerMatrix(ANNUDF_ELEMENT_F32, 40, 8, 2);
  auto ranker =
      std::make_unique<CoarseRanker>(reinterpret_cast<const float *>(centers.storage.data()), 40, 8,
                                     ANNUDF_COARSE_L2, ANNUDF_ORDER_MIN);
  const CoarseRanker copy = *ranker;
  ranker.reset();
  std::vector<uint32_t> found(40);
  copy.rank(centers.view(), 1, found.data());
  EXPECT_EQ(found[17], 17u);
}

TEST(Coarse, RefusesOddRequests) {
  const Matrix centers = test::integerMatrix(ANNUDF_ELEMENT_F32, 4, 8, 2);
  const CoarseRanker ranker(reinterpret_cast<const float *>(centers.storage.data()), 4, 8,
                            ANNUDF_COARSE_L2, ANNUDF_ORDER_MIN);
  uint32_t probes[8];
  for (uint32_t count : {0u, 5u})
    EXPECT_NE(test::errorOf([&] { ranker.rank(centers.view(), count, probes); }, ErrorKind::Usage),
              "NO ERROR");
}

} // namespace
} // namespace annudf::runtime
