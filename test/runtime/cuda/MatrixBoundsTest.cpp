//===- MatrixBoundsTest.cpp - Bounds of a GPU's products hold -------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Matrix.cu and Exact.cuh, run on the host for whole searches: no bound is above what hooks make of
// a row, and the rows that are found are those of a sort of all.
//
//===----------------------------------------------------------------------===//

#include "HostMatrix.h"

#include "../engine/FormTesting.h"
#undef ANNUDF_EXACT_THREADS // Blocks are one warp here.
#define ANNUDF_EXACT_THREADS 32
#include "Exact.cuh"
#include "gtest/gtest.h"

#include <array>
#include <numeric>
#include <random>

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::test;

namespace {

using Fields = std::array<float, 5>;
using Vector = std::vector<float>;
using Course = QuadraticForm::Finalize;

/// Hooks, as they compute in floats.
struct Hooks {
  const char *name;
  QuadraticForm form;
  Course course;
  annudf_order order;
  bool isWeighted;
  Fields (*update)(Fields sums, float w, float x, float y);
  float (*finalize)(Fields sums, float dims);
};

Fields cosineUpdate(Fields sums, float w, float x, float y) {
  const float wx = w * x, wy = w * y;
  return {std::fma(wx, y, sums[0]), std::fma(wx, x, sums[1]), std::fma(wy, y, sums[2])};
}
float similarity(Fields sums, float = 0) { return sums[0] / std::sqrt(sums[1] * sums[2]); }
float guarded(Fields sums, float = 0) {
  const float lengths = std::sqrt(sums[1]) * std::sqrt(sums[2]);
  return lengths == 0 ? 0.0F : sums[0] * (1 / lengths);
}

/// Of the sums of x, y, x², y² and x y.
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

/// Lists of rows, whose ids are their places, and weights; queries of which each probes all lists.
struct Data {
  std::vector<FloatRows> lists;
  FloatRows queries;
  Vector weights;
  std::vector<uint32_t> passing; ///< As of a filter; none: all rows.
  bool passes(int64_t id) const {
    return passing.empty() || (passing[size_t(id) / 32] >> (id % 32) & 1);
  }
  Vector mean() const {
    std::vector<double> sums(weights.size());
    double count = 0;
    for (const FloatRows &rows : lists)
      for (const Vector &row : rows) {
        ++count;
        for (size_t d = 0; d < row.size(); ++d)
          sums[d] += row[d];
      }
    Vector mean(weights.size());
    for (size_t d = 0; d < mean.size(); ++d)
      if (const auto value = float(sums[d] / count); std::isfinite(value))
        mean[d] = value;
    return mean;
  }
};

/// The searches of a metric, and of its bounds.
class Search {
public:
  /// \param numbers  of the metric's form.
  Search(const Data &data, const Hooks &hooks, const cuda::BoundNumbers &numbers)
      : hooks(hooks), numbers(numbers), data(data), matrix(data.lists, data.mean(), numbers) {
    if (!data.passing.empty())
      matrix.letPass(data.passing);
    bounds = matrix.bounds(data.queries);
    for (uint32_t list = 0, group = 0; list < data.lists.size(); ++list) {
      probes.push_back(list), probeGroup.push_back(group);
      group += uint32_t(data.lists[list].size() + 31) / 32;
      ids.push_back(list == 0 ? 0 : ids.back() + int64_t(data.lists[list - 1].size()));
    }
  }

  /// Of each granule without rows that pass the bound is infinity; none of another is above theirs.
  void checkBounds() {
    for (query = 0; query < data.queries.size(); ++query)
      for (size_t list = 0; list < data.lists.size(); ++list) {
        const FloatRows &rows = data.lists[list];
        for (size_t first = 0; first < (rows.size() + 31) / 32 * 32; first += ANNUDF_GRANULE_ROWS) {
          const float bound = boundOf(list, first);
          ASSERT_GE(bound, -FLT_MAX); // ExactQuery's kBeforeAll is below.
          uint32_t best = ANNUDF_KEY_NONE;
          bool any = false;
          for (size_t r = first; r < std::min(first + ANNUDF_GRANULE_ROWS, rows.size()); ++r)
            if (data.passes(ids[list] + int64_t(r)))
              best = std::min(best, keyOfRow(rows[r])), any = true;
          if (!any) {
            ASSERT_TRUE(bound == INFINITY || bound == -FLT_MAX) << bound;
            isLeftOut += bound == INFINITY;
            continue;
          }
          ASSERT_LT(bound, INFINITY);
          isNothing += bound == -FLT_MAX, ++granules;
          ASSERT_LE(keyOf(bound), best)
              << "query " << query << ", row " << first << " of list " << list << ": " << bound;
          const float slack =
              annudfDistanceOf(best, hooks.order) - annudfDistanceOf(keyOf(bound), hooks.order);
          if (std::isfinite(slack))
            most = std::max(most, std::abs(slack));
        }
      }
  }

  void checkSearch(uint32_t k) {
    for (query = 0; query < data.queries.size(); ++query) {
      std::vector<std::pair<uint32_t, int64_t>> expected;
      for (size_t list = 0; list < data.lists.size(); ++list)
        for (size_t row = 0; row < data.lists[list].size(); ++row) {
          const int64_t id = ids[list] + int64_t(row);
          const uint32_t key = keyOfRow(data.lists[list][row]);
          if (key != ANNUDF_KEY_NONE && data.passes(id))
            expected.emplace_back(key, id);
        }
      std::sort(expected.begin(), expected.end());
      expected.resize(k, {ANNUDF_KEY_NONE, -1});
      const auto found = searched(k);
      for (size_t i = 0; i < k; ++i) {
        ASSERT_EQ(found.first[i], expected[i].second) << "query " << query << ", place " << i;
        ASSERT_EQ(found.second[i], annudfDistanceOf(expected[i].first, hooks.order));
      }
    }
  }
  /// Of what was checked.
  uint64_t granules = 0, isNothing = 0, isLeftOut = 0, evaluated = 0;
  float most = 0; ///< That a bound is less than the best of its rows.

  // As ExactQuery wants of a metric.
  using Bounds = FormBounds;
  uint32_t mostOf(float) const { return ANNUDF_KEY_NONE; }
  uint32_t keyOf(float bound) const {
    if (bound == -FLT_MAX)
      return 0;
    Fields sums;
    for (uint32_t field = 0; field < sums.size(); ++field)
      sums[field] = numbers.zeros >> field & 1 ? 0 : 1;
    sums[numbers.product] = bound * numbers.sign;
    const float distance = hooks.finalize(sums, dims());
    return distance == distance ? annudfKeyOf(distance, hooks.order) : 0;
  }
  uint32_t evaluate(uint32_t list, uint64_t group, uint32_t place, int64_t &row) const {
    const size_t in = (group - probeGroup[list]) * 32 + place;
    row = ids[list] + int64_t(in);
    return data.passes(row) ? keyOfRow(data.lists[list][in]) : uint32_t(ANNUDF_KEY_NONE);
  }

private:
  float dims() const { return float(data.weights.size()); }
  float boundOf(size_t list, size_t row) const {
    return bounds[(query * matrix.groups() + probeGroup[list]) * ANNUDF_GRANULES +
                  row / ANNUDF_GRANULE_ROWS];
  }
  uint32_t keyOfRow(const Vector &row) const {
    Fields sums = {};
    const Vector &x = data.queries[query];
    for (size_t d = 0; d < row.size(); ++d)
      sums = hooks.update(sums, hooks.isWeighted ? data.weights[d] : 1, x[d], row[d]);
    return annudfKeyOf(hooks.finalize(sums, dims()), hooks.order);
  }
  std::pair<std::vector<int64_t>, Vector> searched(uint32_t k) {
    std::vector<int64_t> outIds(k, -7);
    Vector outDistances(k, -7);
    const uint32_t groups = matrix.groups();
    std::vector<float4> own(groups);
    std::memcpy(own.data(), &bounds[query * groups * ANNUDF_GRANULES], groups * sizeof(float4));
    annudf_exact_args args = {};
    args.scan.index = matrix.args().scan.index;
    args.scan.work.probes = addressOf(probes), args.scan.work.probeGroup = addressOf(probeGroup);
    args.scan.work.groupCount = reinterpret_cast<uint64_t>(&groups);
    args.scan.work.keys = addressOf(own), args.scan.work.stride = groups;
    args.scan.work.nProbes = uint32_t(probes.size()), args.scan.order = hooks.order;
    args.outIds = addressOf(outIds), args.outDistances = addressOf(outDistances);
    args.evaluated = reinterpret_cast<uint64_t>(&evaluated);
    args.k = k, args.sign = numbers.sign, args.product = numbers.product;
    static ExactScratch<float> scratch;
    Block::run(kLanes, [&] {
      ExactQuery<Search> one(args, *this, scratch);
      __syncthreads();
      one.run();
    });
    return {outIds, outDistances};
  }

  const Hooks &hooks;
  const cuda::BoundNumbers &numbers;
  const Data &data;
  HostMatrix matrix;
  Vector bounds;
  std::vector<uint32_t> probes, probeGroup;
  std::vector<int64_t> ids;
  size_t query = 0;
};

/// Whether the bounds are bounds, and a search for k rows finds what a sort does.
bool holds(Search &search, uint32_t k) {
  search.checkBounds();
  search.checkSearch(k);
  return !testing::Test::HasFatalFailure();
}

/// Nothing where the form has no bounds.
std::optional<cuda::BoundNumbers> numbersFor(const Data &data, const Hooks &hooks,
                                             std::string &why) {
  QuadraticForm form = hooks.form;
  form.finalize = hooks.course;
  const runtime::test::Captures captures(data.weights, data.weights, 1);
  return cuda::numbersOf(form, captures.bound, data.mean(), hooks.order, why);
}

/// The number of the first query, behind all rows.
constexpr size_t kFirstQuery = 1000;
using Change = float (*)(float value, size_t row, size_t dim);

Data dataOf(uint32_t seed, size_t dims, Change change) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  Data data;
  for (size_t d = 0; d < dims; ++d)
    data.weights.push_back(random() % 9 == 0 ? 0 : std::abs(normal(random)));
  size_t number = 0;
  const auto vectors = [&](size_t count) {
    FloatRows rows(count, Vector(dims));
    for (Vector &row : rows) {
      for (size_t d = 0; d < dims; ++d)
        row[d] = change(normal(random), number, d);
      ++number;
    }
    return rows;
  };
  for (const size_t size : {1, 33, 200, 64, 7})
    data.lists.push_back(vectors(size));
  number = kFirstQuery;
  data.queries = vectors(6);
  return data;
}

struct KindOfData {
  const char *name;
  Change change;
};
constexpr KindOfData kKinds[] = {
    {"normal", [](float v, size_t, size_t) { return v; }},
    {"far from the origin", [](float v, size_t, size_t) { return v + 1e4F; }},
    {"all equal", [](float, size_t, size_t d) { return float(d % 5) - 1; }},
    {"some of zeros", [](float v, size_t row, size_t) { return row % 5 == 3 ? 0 : v; }},
    {"almost parallel",
     [](float v, size_t row, size_t d) { return float(d + 1) * float(row + 1) + v * 1e-6F; }},
    {"one huge row", [](float v, size_t row, size_t) { return row == 100 ? v * 1e15F : v; }},
    {"one that overflows", [](float v, size_t row, size_t) { return row == 99 ? 3e38F : v; }},
    {"one infinite", [](float v, size_t row, size_t) { return row == 34 ? INFINITY : v; }},
    {"denormal", [](float v, size_t, size_t) { return v * 1e-40F; }},
    {"tiny", [](float v, size_t, size_t) { return v * 1e-22F; }},
    {"small", [](float v, size_t, size_t) { return v * 1e-5F; }},
    {"large", [](float v, size_t, size_t) { return v * 1e17F; }},
    {"large queries and rows", [](float v, size_t, size_t) { return v * 1e10F; }},
    {"tiny queries",
     [](float v, size_t row, size_t) { return row < kFirstQuery ? v : v * 1e-22F; }},
    {"one number a vector",
     [](float, size_t row, size_t) { return row < kFirstQuery ? 0.3F : 0.1F * float(row - 999); }},
    {"none below 0 but zeros",
     [](float v, size_t row, size_t) { return row % 11 == 3 ? 0 : std::abs(v); }},
    {"thousands", [](float v, size_t, size_t) { return v * 1e6F; }},
    {"two scales", [](float v, size_t, size_t d) { return d % 2 ? v * 1e6F : v * 1e-6F; }},
    {"many scales",
     [](float v, size_t row, size_t) { return std::ldexp(v, int(row * 37 % 80) - 40); }},
};

} // namespace

/// By hand: means are 0 in what a distance is made of, and lengths less them.
TEST(CudaMatrixBounds, OfSumsLessTheirMeansSayWhichFieldsAreNothing) {
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

TEST(CudaMatrixBounds, HoldAndFindWhatASortFindsWhateverTheData) {
  int searched = 0;
  for (const Hooks &hooks : allHooks())
    for (const KindOfData &kind : kKinds)
      for (const size_t dims : {1, 5, 70, 130}) {
        const Data data = dataOf(uint32_t(dims), dims, kind.change);
        std::string why;
        const auto numbers = numbersFor(data, hooks, why);
        SCOPED_TRACE(std::string(hooks.name) + ", " + kind.name + ", dims " + std::to_string(dims));
        if (!numbers) {
          EXPECT_EQ(why, "its constants are beyond what a bound allows for");
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

/// Filters that let most rows pass, some, one of 32, and none.
TEST(CudaMatrixBounds, AreOfTheRowsThatPass) {
  constexpr uint32_t kPatterns[] = {0x7fff7fff, 0x00880100, 0x80000000, 0};
  int searched = 0;
  for (const Hooks &hooks : allHooks())
    for (const KindOfData &kind : kKinds)
      for (const size_t dims : {5, 70})
        for (const uint32_t pattern : kPatterns) {
          Data data = dataOf(uint32_t(dims), dims, kind.change);
          data.passing.assign(10, pattern); // Of 305 rows.
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

/// Found by an attack of 2026-11-25: the bound became -infinity, which a search that goes through
/// many equal bounds in pieces takes for done.
TEST(CudaMatrixBounds, OfRowsBesideOnesAsLongAsFloatsAllowWhichDoNotPass) {
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
