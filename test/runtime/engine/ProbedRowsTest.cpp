//===- ProbedRowsTest.cpp - What lists that are probed hold ---------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/engine/ProbedRows.h"
#include "annudf/runtime/coarse/Coarse.h"
#include "annudf/runtime/ivf_flat/Index.h"

#include "Support/TestFiles.h"

#include <cmath>
#include <functional>
#include <numeric>
#include <random>

namespace annudf::runtime {
namespace {

using Floats = std::vector<float>;

MatrixView viewOf(const Floats &rows, int32_t dims) {
  return {rows.data(), int64_t(rows.size()) / dims, dims, ANNUDF_ELEMENT_F32};
}

/// Rows around points of a normal distribution. \param power  above 1: most are around few of them.
Floats mixture(int64_t rows, int32_t dims, int points, float spread, double power, unsigned seed) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  Floats middles(size_t(points) * size_t(dims)), result;
  for (float &value : middles)
    value = normal(random);
  random.seed(seed);
  std::uniform_real_distribution<double> uniform;
  for (int64_t i = 0; i < rows; ++i) {
    const auto of = size_t(std::pow(uniform(random), power) * points) * size_t(dims);
    for (int32_t d = 0; d < dims; ++d)
      result.push_back(middles[of + size_t(d)] + spread * normal(random));
  }
  return result;
}

/// What queries meet: the mean size of the lists that they probe.
double met(const Index &index, const Floats &queries, uint32_t probes) {
  const MatrixView view = viewOf(queries, index.dims());
  std::vector<uint32_t> probed(size_t(view.rows) * probes);
  CoarseRanker(*index.listCenters(), ANNUDF_COARSE_L2, ANNUDF_ORDER_MIN)
      .rank(view, probes, probed.data());
  double rows = 0;
  for (const uint32_t list : probed)
    rows += double(index.list(list).size);
  return rows / double(probed.size());
}

double expected(const Index &index, uint32_t probes) {
  return rowsOfProbedList(index, Lists{probes}, 0, ANNUDF_COARSE_L2, ANNUDF_ORDER_MIN);
}

double squares(const Index &index) {
  double sum = 0;
  for (uint32_t list = 0; list < index.nLists(); ++list)
    sum += double(index.listSize(list)) * double(index.listSize(list));
  return sum / double(index.size());
}

TEST(ProbedRows, AreThoseThatQueriesMeet) {
  constexpr int32_t kDims = 32, kPoints = 300;
  IndexParams params;
  params.nLists = 50, params.kmeansIterations = 5, params.addData = false;
  for (const double power : {1.0, 2.0, 4.0}) {
    Index index = Index::build(params, viewOf(mixture(6000, kDims, kPoints, 0.6f, 1, 1), kDims));
    index.extend(viewOf(mixture(6000, kDims, kPoints, 0.6f, power, 2), kDims));
    const Floats queries = mixture(2000, kDims, kPoints, 0.6f, power, 3);
    for (const uint32_t probes : {1u, 3u, 8u, 49u, 50u}) {
      const double want = met(index, queries, probes);
      EXPECT_NEAR(expected(index, probes), want, 0.2 * want) << power << ", " << probes;
    }
  }
}

/// In many dims a center in the middle of all is the nearest but one of every query. Sizes alone do
/// not tell: Σ size² / Σ size is what the nearest list holds, not the next ones.
TEST(ProbedRows, HubsAreProbedByEverybody) {
  constexpr int32_t kDims = 512, kPoints = 400;
  IndexParams params;
  params.nLists = 60;
  const Index index =
      Index::build(params, viewOf(mixture(8000, kDims, kPoints, 0.6f, 1, 1), kDims));
  const Floats queries = mixture(500, kDims, kPoints, 0.6f, 1, 3);
  for (const uint32_t probes : {1u, 4u, 8u, 16u}) {
    const double want = met(index, queries, probes);
    EXPECT_NEAR(expected(index, probes), want, 0.25 * want) << probes;
  }
  EXPECT_GT(met(index, queries, 4), 1.3 * squares(index));
}

/// Lists of a device, as far as anybody looks at their sizes.
class Elsewhere final : public ListsElsewhere {
public:
  explicit Elsewhere(std::vector<uint32_t> sizes) : sizes_(std::move(sizes)) {}
  int device() const override { return 7; }
  std::span<const uint32_t> sizes() const override { return sizes_; }

private:
  std::vector<List> fetch() override { throw Error(ErrorKind::Environment, "asked for"); }
  std::vector<uint32_t> sizes_;
};

/// Centers at 0, 1 and 10 of one dimension.
TEST(ProbedRows, ChangeWithTheListsOfADeviceTooWhichIsNotAsked) {
  const auto lists = [](std::vector<uint32_t> sizes) {
    return std::make_shared<Elsewhere>(std::move(sizes));
  };
  Index index({ANNUDF_ELEMENT_F32, 1, 64, ANNUDF_COARSE_L2, 0, {0, 1, 10}, lists({48, 16, 0})});
  EXPECT_EQ(expected(index, 1), 40); // 3/4 of 48 and 1/4 of 16: the sample is in these shares.
  EXPECT_EQ(expected(index, 2), 32); // Both, whichever is asked.
  EXPECT_DOUBLE_EQ(expected(index, 3), 64.0 / 3);
  index.changeTo(lists({48, 16, 64}), 128, 127);
  EXPECT_EQ(expected(index, 1), (48 * 48 + 16 * 16 + 64 * 64) / 128.0);
  EXPECT_EQ(expected(index, 2), (0.375 * 64 + 0.125 * 64 + 0.5 * 80) / 2);
  // Another metric ranks otherwise: by the product the last center is first for all but the first.
  EXPECT_EQ(rowsOfProbedList(index, Lists{1}, 0, ANNUDF_COARSE_INNER_PRODUCT, ANNUDF_ORDER_MAX),
            0.375 * 48 + 0.625 * 64);
  EXPECT_FALSE(index.onHost());
}

TEST(ProbedRows, ChangeWithEveryExtendRemoveAndLoad) {
  IndexParams params;
  params.nLists = 4, params.addData = false;
  Index index = Index::build(params, viewOf({0, 0.1f, 100, 100.1f, 200, 200.1f, 300, 300.1f}, 1));
  EXPECT_EQ(expected(index, 1), 0);
  const auto add = [&](float at, size_t count) { index.extend(viewOf(Floats(count, at), 1)); };
  add(0, 16), add(300, 16);
  EXPECT_EQ(expected(index, 1), 16);
  EXPECT_EQ(expected(index, 2), 8); // And an empty one.
  add(300, 32);
  EXPECT_EQ(expected(index, 1), 0.25 * 16 + 0.75 * 48);
  const Index copy = index;
  std::vector<int64_t> last(32);
  std::iota(last.begin(), last.end(), 32);
  EXPECT_EQ(index.remove(last), 32);
  EXPECT_EQ(expected(index, 1), 16);
  EXPECT_EQ(expected(copy, 1), 0.25 * 16 + 0.75 * 48);
  const test::TempDir folder;
  const std::string file = folder / "index";
  copy.save(file);
  EXPECT_EQ(expected(Index::load(file), 1), 0.25 * 16 + 0.75 * 48);
  std::iota(last.begin(), last.end(), 0);
  index.remove(last);
  EXPECT_EQ(expected(index, 1), 0);
}

/// Nothing is said of more lists or dims than a few milliseconds are enough for.
TEST(ProbedRows, AreNotLookedAtWhereThatTakesLong) {
  const auto made = [](uint32_t lists, int32_t dims) {
    return Index({ANNUDF_ELEMENT_F32, dims, int64_t(lists) * 2, ANNUDF_COARSE_L2, 0,
                  Floats(size_t(lists) * size_t(dims)),
                  std::make_shared<Elsewhere>(std::vector<uint32_t>(lists, 2))});
  };
  EXPECT_EQ(expected(made(1 << 16, 16), 5), 2);
  EXPECT_EQ(expected(made(1 << 16, 257), 5), 0);
}

} // namespace
} // namespace annudf::runtime
