//===- ProductBoundsTest.cpp - Bounds of a GPU's products hold ------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products.cu and Survivors.cuh, run on the host for whole searches: no bound is above what hooks
// make of a row, and the rows that are found are those of a sort of all.
//
//===----------------------------------------------------------------------===//

#include "HostSearch.h"

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::test;

namespace {

Fields cosineUpdate(Fields sums, float w, float x, float y) {
  const float wx = w * x, wy = w * y;
  return {std::fma(wx, y, sums[0]), std::fma(wx, x, sums[1]), std::fma(wy, y, sums[2])};
}
float similarity(Fields sums, float = 0) { return sums[0] / std::sqrt(sums[1] * sums[2]); }
float guarded(Fields sums, float = 0) {
  const float lengths = std::sqrt(sums[1]) * std::sqrt(sums[2]);
  return lengths == 0 ? 0.0F : sums[0] * (1 / lengths);
}

/// Adds to the sums of x, y, x², y² and x y.
Fields momentsUpdate(Fields sums, float, float x, float y) {
  return {sums[0] + x, sums[1] + y, std::fma(x, x, sums[2]), std::fma(y, y, sums[3]),
          std::fma(x, y, sums[4])};
}
float pearson(Fields sums, float dims) {
  return (sums[4] - sums[0] * sums[1] / dims) /
         std::sqrt((sums[2] - sums[0] * sums[0] / dims) * (sums[3] - sums[1] * sums[1] / dims));
}

const std::vector<Hooks> &allHooks() {
  using runtime::test::correlation;
  using runtime::test::innerProduct;
  using runtime::test::plainCosine;
  using runtime::test::weightedCosine;
  using runtime::test::weightedL2;
  static const std::vector<Hooks> hooks = {
      {"cosine", plainCosine(), Course::Falls, ANNUDF_ORDER_MIN, false, cosineUpdate,
       [](Fields sums, float) { return 1 - similarity(sums); }},
      {"weighted cosine", weightedCosine(), Course::Falls, ANNUDF_ORDER_MIN, true, cosineUpdate,
       [](Fields sums, float) { return 1 - guarded(sums); }},
      {"similarity", weightedCosine(), Course::Identity, ANNUDF_ORDER_MAX, true, cosineUpdate,
       similarity},
      {"least similarity", plainCosine(), Course::Identity, ANNUDF_ORDER_MIN, false, cosineUpdate,
       guarded},
      {"never below a half", weightedCosine(), Course::Falls, ANNUDF_ORDER_MIN, true, cosineUpdate,
       [](Fields sums, float) { return std::max(0.5F, 1 - guarded(sums)); }},
      {"chord", plainCosine(), Course::Falls, ANNUDF_ORDER_MIN, false, cosineUpdate,
       [](Fields sums, float) { return std::sqrt(2 - 2 * similarity(sums)); }}, // NaN past 1.
      {"correlation", correlation(), Course::Falls, ANNUDF_ORDER_MIN, false, momentsUpdate,
       [](Fields sums, float dims) { return 1 - pearson(sums, dims); }},
      {"greatest correlation", correlation(), Course::Identity, ANNUDF_ORDER_MAX, false,
       momentsUpdate, pearson},
      {"weighted l2", weightedL2(), Course::Identity, ANNUDF_ORDER_MIN, true,
       [](Fields sums, float w, float x, float y) {
         const float difference = x - y;
         return Fields{sums[0] + w * difference * difference};
       },
       [](Fields sums, float) { return sums[0]; }},
      {"inner product", innerProduct(), Course::Identity, ANNUDF_ORDER_MAX, false,
       [](Fields sums, float, float x, float y) { return Fields{std::fma(x, y, sums[0])}; },
       [](Fields sums, float) { return sums[0]; }},
  };
  return hooks;
}

/// Nothing where the form has no bounds.
std::optional<cuda::BoundNumbers> numbersFor(const Data &data, const Hooks &hooks,
                                             std::string &why) {
  QuadraticForm form = hooks.form;
  form.finalize = hooks.course;
  const runtime::test::Captures captures(data.weights, data.weights, 1);
  return cuda::numbersOf(form, captures.bound, data.mean(), hooks.order, why);
}

} // namespace

/// By hand: means are 0 in what a distance is made of, and lengths less them.
TEST(CudaProductBounds, OfSumsLessTheirMeansSayWhichFieldsAreNothing) {
  const std::vector<float> none = {1};
  const runtime::test::Captures captures(none, none, 1);
  std::string why;
  const auto numbers = cuda::numbersOf(runtime::test::correlation(), captures.bound, {0.0F, 0.0F},
                                       ANNUDF_ORDER_MIN, why);
  ASSERT_TRUE(numbers) << why;
  EXPECT_EQ(numbers->product, 4u);
  EXPECT_EQ(numbers->zeros, 0b11u);
  EXPECT_EQ(numbers->ratio.perDim, 0.5);
  EXPECT_EQ(numbers->ratio.leastShare, 0x1p-5);
  const auto cosine = cuda::numbersOf(runtime::test::plainCosine(), captures.bound, {0.0F, 0.0F},
                                      ANNUDF_ORDER_MIN, why);
  ASSERT_TRUE(cosine) << why;
  EXPECT_EQ(cosine->zeros, 0u);
  EXPECT_EQ(cosine->ratio.perDim, 0);
}

TEST(CudaProductBounds, HoldAndFindWhatASortFindsWhateverTheData) {
  int searched = 0;
  for (const Hooks &hooks : allHooks())
    for (const KindOfData &kind : kKinds)
      for (const size_t dims : {1, 5, 70, 130}) {
        const Data data = dataOf(uint32_t(dims), dims, kind.change);
        std::string why;
        const auto numbers = numbersFor(data, hooks, why);
        SCOPED_TRACE(std::string(hooks.name) + ", " + kind.name + ", dims " + std::to_string(dims));
        if (!numbers) {
          EXPECT_EQ(why, "its coefficients or the rows' mean are too large for a bound");
          EXPECT_TRUE(hooks.form.lengths) << "of a mean far from most rows";
          continue;
        }
        Search search(data, hooks, *numbers);
        if (!holds(search, 10))
          return;
        ++searched;
        if (hooks.form.lengths && dims >= 70 && kind.change == kKinds[0].change) {
          EXPECT_EQ(search.isNothing, 0u);
          EXPECT_LT(search.most, 3e-3); // Where a list ends, too.
        }
        if (std::getenv("ANNUDF_SHOW"))
          std::printf("%-20s %-20s %3zu: %5.1f%% nothing, slack %g, %.1f evaluated\n", hooks.name,
                      kind.name, dims, 100.0 * double(search.isNothing) / double(search.granules),
                      double(search.most), double(search.evaluated) / 6);
      }
  EXPECT_GT(searched, 400);
}

struct Said {
  decltype(Search::granules) granules, isNothing;
};
/// Products of two weighted coordinates, whose neighbours are found all the same.
Said saidOfLargeWeights(const Data &data) {
  const Hooks hooks = productOfLargeWeights();
  std::string why;
  const auto numbers = numbersFor(data, hooks, why);
  if (!numbers) {
    ADD_FAILURE() << why;
    return {};
  }
  Search search(data, hooks, *numbers);
  EXPECT_TRUE(holds(search, 10));
  return {search.granules, search.isNothing};
}

/// An infinite product would be a bound above every row.
TEST(CudaProductBounds, NothingIsSaidOfWhatNoFloatHolds) {
  const Said said = saidOfLargeWeights(dataOfLargeWeights());
  EXPECT_EQ(said.isNothing, said.granules);
}

/// Z of 2^118 in one dimension, in a list with a coordinate of 2^37 in another: what their products
/// are scaled by is 2^128.
TEST(CudaProductBounds, NothingIsSaidOfScalesThatNoFloatHolds) {
  Data data = dataOf(3, 2, [](float value, size_t number, size_t d) {
    if (number >= kFirstQuery)
      return d == 0 ? 0.3F : value;
    if (d == 0) // Whole granules of list 1, which has the far row, of one sign.
      return (number - 1) / ANNUDF_GRANULE_ROWS % 2 ? 0.8F : -0.8F;
    return number == 10 ? 0x1p37F : value;
  });
  data.weights = {0x1p60F, 1};
  EXPECT_GT(saidOfLargeWeights(data).isNothing, 0u);
}

/// Filters that let most rows pass, some, one of 32, and none.
TEST(CudaProductBounds, AreOfTheRowsThatPass) {
  constexpr uint32_t kPatterns[] = {0x7fff7fff, 0x00880100, 0x80000000, 0};
  int searched = 0;
  for (const Hooks &hooks : allHooks())
    for (const KindOfData &kind : kKinds)
      for (const size_t dims : {5, 70})
        for (const uint32_t pattern : kPatterns) {
          Data data = dataOf(uint32_t(dims), dims, kind.change);
          data.passing.assign(10, pattern); // For 305 rows.
          std::string why;
          const auto numbers = numbersFor(data, hooks, why);
          if (!numbers)
            continue;
          SCOPED_TRACE(std::string(hooks.name) + ", " + kind.name + ", dims " +
                       std::to_string(dims) + ", filter " + std::to_string(pattern));
          Search search(data, hooks, *numbers);
          if (!holds(search, 10))
            return;
          ++searched;
          if (kind.change != kKinds[0].change)
            continue;
          if (pattern == 0)
            EXPECT_EQ(search.evaluated, 0u);
          if (!hooks.form.lengths) { // As near as of all rows.
            const Data whole = dataOf(uint32_t(dims), dims, kind.change);
            Search all(whole, hooks, *numbers);
            all.checkBounds();
            EXPECT_LE(search.most, all.most * 1.5F);
          }
          EXPECT_EQ(search.isNothing, 0u);
          if (pattern != kPatterns[0])
            EXPECT_GT(search.isLeftOut, 0u);
        }
  EXPECT_GT(searched, 800);
}

/// Every query has another filter; one lets no row pass, and one all.
TEST(CudaProductBounds, AreOfTheRowsThatEachQueryMayFind) {
  constexpr uint32_t kPatterns[] = {0x7fff7fff, 0x00880100, 0x80000000, 0, ~0U, 0x0f0f0001};
  int searched = 0;
  for (const Hooks &hooks : allHooks())
    for (const KindOfData &kind : kKinds)
      for (const size_t dims : {5, 70}) {
        Data data = dataOf(uint32_t(dims), dims, kind.change);
        for (size_t q = 0; q < data.queries.size(); ++q)
          data.passingOf.emplace_back(10, kPatterns[q]); // For 305 rows.
        std::string why;
        const auto numbers = numbersFor(data, hooks, why);
        if (!numbers)
          continue;
        SCOPED_TRACE(std::string(hooks.name) + ", " + kind.name + ", dims " + std::to_string(dims));
        Search search(data, hooks, *numbers);
        if (!holds(search, 10))
          return;
        ++searched;
        if (kind.change != kKinds[0].change)
          continue;
        EXPECT_EQ(search.isNothing, 0u);
        EXPECT_GT(search.isLeftOut, 0u);
      }
  EXPECT_GT(searched, 200);
}

/// Found by an attack of 2026-11-25: the bound became -infinity, which a search that goes through
/// many equal bounds in pieces takes for done.
TEST(CudaProductBounds, OfRowsBesideOnesAsLongAsFloatsAllowWhichDoNotPass) {
  for (const Hooks &hooks : allHooks())
    for (const bool everywhere : {false, true}) {
      if (hooks.form.lengths)
        continue;
      SCOPED_TRACE(std::string(hooks.name) + (everywhere ? ", in every granule" : ", in one"));
      constexpr size_t kGranules = kMostWaiting + 152, kNearest = 59;
      Data data;
      data.weights.assign(4, 1);
      FloatRows rows(kGranules * ANNUDF_GRANULE_ROWS, Vector(4, 1.0F));
      data.passing.assign(rows.size() / 32, ~0U);
      for (size_t granule = 0; granule < kGranules; ++granule)
        if (everywhere || granule == kNearest / ANNUDF_GRANULE_ROWS)
          for (const auto &[place, value] : {std::pair(2U, 3e38F), {5U, -3e38F}}) {
            const size_t row = granule * ANNUDF_GRANULE_ROWS + place;
            rows[row] = Vector(4, value), data.passing[row / 32] &= ~(1U << row % 32);
          }
      rows[kNearest] = Vector(4, 2.0F);
      data.lists.push_back(std::move(rows));
      data.queries.emplace_back(4, 2.0F);
      std::string why;
      const auto numbers = numbersFor(data, hooks, why);
      ASSERT_TRUE(numbers) << why;
      Search search(data, hooks, *numbers);
      if (!holds(search, 3))
        return;
      EXPECT_GT(search.isNothing, 0u);
    }
}
