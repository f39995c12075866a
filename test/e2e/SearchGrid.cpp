//===- SearchGrid.cpp - Every example metric against a brute force in float64 -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled artifacts of docs/examples/metrics, searched on the CPU and, where
// there is one, on a GPU: every element type, queries of the rows' type and of
// another, dims with and without a tail, k from 1 to 5000, all lists probed and
// a part of them, filters that let all rows pass, half, a few and none. Of
// nan_euclidean vectors with missing values, a query and a row without any value.
//
// ANNUDF_TEST_ARTIFACTS names the folder of artifacts.
//
//===----------------------------------------------------------------------===//

#include "e2e/Devices.h"
#include "e2e/ExampleMetrics.h"

#include "annudf/runtime/engine/Search.h"
#include "annudf/runtime/ivf_flat/Index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <set>

using namespace annudf;
using namespace annudf::test;
namespace rt = annudf::runtime;

namespace {

constexpr int kQueries = 9;
constexpr uint32_t kLists = 6;
/// Short vectors are many, for a large k.
int64_t rowsOf(int dims) { return dims <= 33 ? 5500 : 1500; }

struct Types {
  annudf_element rows, queries;
};
constexpr Types kTypes[] = {
    {ANNUDF_ELEMENT_F32, ANNUDF_ELEMENT_F32},   {ANNUDF_ELEMENT_F16, ANNUDF_ELEMENT_F16},
    {ANNUDF_ELEMENT_I8, ANNUDF_ELEMENT_I8},     {ANNUDF_ELEMENT_U8, ANNUDF_ELEMENT_U8},
    {ANNUDF_ELEMENT_BF16, ANNUDF_ELEMENT_BF16}, {ANNUDF_ELEMENT_F16, ANNUDF_ELEMENT_F32},
    {ANNUDF_ELEMENT_BF16, ANNUDF_ELEMENT_F32},  {ANNUDF_ELEMENT_U8, ANNUDF_ELEMENT_F32},
    {ANNUDF_ELEMENT_BITS, ANNUDF_ELEMENT_BITS}, {ANNUDF_ELEMENT_BITS, ANNUDF_ELEMENT_U8},
    {ANNUDF_ELEMENT_BITS, ANNUDF_ELEMENT_F32}};

/// Vectors as stored and as numbers.
struct Vectors {
  rt::Matrix matrix;
  std::vector<Vector> decoded;
};

uint16_t encodeHalf(float value) {
  // Cuts the mantissa: any half will do, decodeHalf says which it is.
  if (std::isnan(value))
    return 0x7e00;
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const int exponent = int(bits >> 23 & 255) - 127 + 15;
  if (exponent <= 0)
    return 0;
  return uint16_t(bits >> 16 & 0x8000) | uint16_t(exponent << 10) | uint16_t(bits >> 13 & 1023);
}

/// \param like     whose values they are near to.
/// \param missing  whether a fifth of the coordinates, and all of the third row, are NaN.
Vectors makeVectors(annudf_element element, annudf_element like, int64_t rows, int dims,
                    unsigned seed, bool missing) {
  const bool isByte = like == ANNUDF_ELEMENT_U8, isBit = like == ANNUDF_ELEMENT_BITS;
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::uniform_int_distribution<int> byte(0, 255);
  Vectors out;
  out.matrix.rows = rows, out.matrix.dims = dims, out.matrix.element = element;
  out.matrix.storage.resize(size_t(rows) * dims * bitsOf(element) / 8);
  std::byte *at = out.matrix.storage.data();
  auto put = [&](auto value) {
    std::memcpy(at, &value, sizeof value);
    at += sizeof value;
  };
  for (int64_t row = 0; row < rows; ++row) {
    Vector &vector = out.decoded.emplace_back();
    for (int dim = 0; dim < dims; ++dim) {
      float real = isByte ? 128 + 50 * normal(random) : normal(random);
      const int integer = isBit ? byte(random) < 100 : byte(random);
      if (isBit)
        real = float(integer);
      if (missing && (row == 2 || random() % 5 == 0))
        real = NAN;
      switch (element) {
      case ANNUDF_ELEMENT_F32:
        put(real), vector.push_back(real);
        break;
      case ANNUDF_ELEMENT_F16: {
        const uint16_t half = encodeHalf(real);
        put(half), vector.push_back(decodeHalf(half));
        break;
      }
      case ANNUDF_ELEMENT_BF16: {
        const auto upper = uint16_t(std::bit_cast<uint32_t>(real) >> 16);
        put(upper), vector.push_back(std::bit_cast<float>(uint32_t(upper) << 16));
        break;
      }
      case ANNUDF_ELEMENT_I8:
        put(int8_t(integer - 128)), vector.push_back(integer - 128);
        break;
      case ANNUDF_ELEMENT_U8:
        put(uint8_t(integer)), vector.push_back(integer);
        break;
      case ANNUDF_ELEMENT_BITS:
        vector.push_back(integer);
        if (dim % 8 == 7) {
          unsigned packed = 0;
          for (int bit = 0; bit < 8; ++bit)
            packed += vector[vector.size() - 8 + size_t(bit)] != 0 ? 1u << bit : 0;
          put(uint8_t(packed));
        }
        break;
      }
    }
  }
  return out;
}

/// An index and its vectors, built once for each pair of element types and dims.
struct Fixture {
  Vectors base, queries;
  rt::Index index;
  std::vector<Vector> ranked; ///< Queries as lists are ranked by them: without missing values.
};

/// With the mean of what the base knows of a dimension where a value is missing.
std::vector<Vector> filled(std::vector<Vector> vectors, const std::vector<Vector> &base) {
  for (size_t dim = 0; dim < base.front().size(); ++dim) {
    double sum = 0, count = 0;
    for (const Vector &row : base)
      if (!std::isnan(row[dim]))
        sum += row[dim], ++count;
    for (Vector &vector : vectors)
      if (std::isnan(vector[dim]))
        vector[dim] = count == 0 ? 0 : sum / count;
  }
  return vectors;
}

Fixture &fixture(const Types &types, int dims, bool missing) {
  static std::map<std::tuple<int, int, int, bool>, std::unique_ptr<Fixture>> cache;
  std::unique_ptr<Fixture> &slot = cache[{types.rows, types.queries, dims, missing}];
  if (!slot) {
    slot = std::make_unique<Fixture>();
    slot->base = makeVectors(types.rows, types.rows, rowsOf(dims), dims, 1, missing);
    slot->queries = makeVectors(types.queries, types.rows, kQueries, dims, 2, missing);
    slot->ranked = filled(slot->queries.decoded, slot->base.decoded);
    rt::IndexParams params;
    params.nLists = kLists;
    params.missingValues = missing;
    slot->index = rt::Index::build(params, slot->base.matrix.view());
  }
  return *slot;
}

/// Filters by the share of rows that pass, of 1000; nothing for all of them.
std::shared_ptr<const rt::RowFilter> filterOf(int64_t rows, int share) {
  if (share == 1000)
    return nullptr;
  std::vector<uint32_t> words(static_cast<size_t>(rt::RowFilter::wordsFor(rows)));
  for (int64_t id = 0; id < rows; ++id)
    if (id * 7919 % 1009 * 1000 / 1009 < share)
      words[static_cast<size_t>(id / 32)] |= uint32_t(1) << (id % 32);
  return std::make_shared<const rt::RowFilter>(std::move(words), rows);
}

const rt::Metric &metricOf(const std::string &name) {
  static std::map<std::string, rt::Metric> cache;
  auto it = cache.find(name);
  if (it == cache.end()) {
    const char *folder = std::getenv("ANNUDF_TEST_ARTIFACTS");
    if (!folder)
      throw std::runtime_error("ANNUDF_TEST_ARTIFACTS is not set");
    it = cache.emplace(name, rt::Metric::fromFile(std::string(folder) + "/" + name + ".annudf"))
             .first;
  }
  return it->second;
}

/// Lists by the coarse metric in float64; empty where the cut is too close to call.
std::vector<uint32_t> nearestLists(const Fixture &f, const rt::Metric &metric, const Vector &query,
                                   uint32_t probes) {
  const Manifest &manifest = metric.artifact.manifest;
  const bool isCosine = manifest.coarse == ANNUDF_COARSE_COSINE;
  std::vector<std::pair<double, uint32_t>> values;
  for (uint32_t list = 0; list < kLists; ++list) {
    double value = 0, ofQuery = 0, ofCenter = 0;
    for (size_t i = 0; i < query.size(); ++i) {
      const double center = f.index.centers()[list * query.size() + i];
      value += manifest.coarse == ANNUDF_COARSE_L2 ? (query[i] - center) * (query[i] - center)
                                                   : query[i] * center;
      ofQuery += query[i] * query[i], ofCenter += center * center;
    }
    if (isCosine)
      value = 1 - value / std::sqrt(ofQuery * ofCenter);
    values.push_back({manifest.coarseOrder == ANNUDF_ORDER_MIN ? value : -value, list});
  }
  std::sort(values.begin(), values.end());
  if (probes < kLists) {
    const double gap = values[probes].first - values[probes - 1].first;
    if (gap <= 1e-4 * (isCosine ? 1 : std::fabs(values[probes].first)))
      return {};
  }
  std::vector<uint32_t> out;
  for (uint32_t i = 0; i < probes; ++i)
    out.push_back(values[i].second);
  return out;
}

/// Years from 0 to 12, exact in f32.
double ageOf(int64_t row) { return double(row * 7 % 97) / 8; }

class SearchGrid : public testing::TestWithParam<std::tuple<Device, int, int, int>> {
protected:
  void SetUp() override {
    const auto [device, metricIndex, typesIndex, dims] = GetParam();
    example = &exampleMetrics()[metricIndex];
    types = kTypes[typesIndex];
    std::string why;
    engine = backendOf(device, &why);
    if (!engine)
      GTEST_SKIP() << "SKIPPED, NOT RUN: " << why;
    f = &fixture(types, dims, example->missingValues);
    metric = &metricOf(example->name);
    rows = rowsOf(dims);
    // Weights are multiples of 1/64, so integer distances are exact in float32.
    for (int i = 0; i < dims; ++i)
      weights.push_back(0.25 + (i * 37 % 64) / 64.0);
    // A bound for a sum of so many terms, each rounded.
    const bool exact =
        example->exactOnIntegers && (types.rows == ANNUDF_ELEMENT_BITS ||
                                     (bitsOf(types.rows) == 8 && bitsOf(types.queries) == 8 &&
                                      dims <= 257)); // Sums below 2^24.
    tolerance = exact ? 0 : 1e-5 + dims * 0x1p-24;
    for (int query = 0; query < kQueries; ++query) {
      expected.emplace_back();
      for (int64_t row = 0; row < rows; ++row)
        expected.back().push_back(example->distance(f->queries.decoded[query], f->base.decoded[row],
                                                    weightsOf(query, row), kOrder));
    }
  }

  /// A query's weights are those of the next ones, turned by its number.
  Vector weightsOf(int query, int64_t row) const {
    if (example->needsAges)
      return {ageOf(row)};
    Vector own = weights;
    if (example->needsQueryWeights)
      std::rotate(own.begin(), own.begin() + query % int(own.size()), own.end());
    return own;
  }

  rt::BoundCaptures captures() const;
  /// What may be found for a query: nothing where its lists are too close to call.
  struct Candidates {
    std::set<int64_t> ids;
    std::vector<double> best; ///< Their distances, best first.
    bool known = false;
  };
  Candidates candidatesOf(int query, uint32_t probes, const rt::RowFilter *filter) const;
  void check(int query, const Candidates &candidates, int k, const int64_t *ids,
             const float *distances) const;

  static constexpr double kOrder = 3; ///< Minkowski's, and the half-life.
  const ExampleMetric *example;
  Types types;
  rt::Backend *engine;
  Fixture *f;
  const rt::Metric *metric;
  int64_t rows;
  Vector weights;
  double tolerance;                            ///< Relative to a distance's magnitude.
  std::vector<std::vector<Distance>> expected; ///< For each query, by row.
};

rt::BoundCaptures SearchGrid::captures() const {
  const int64_t dims = int64_t(weights.size());
  std::map<std::string, rt::NumericArray> values;
  const auto give = [&](const char *name, std::vector<int64_t> shape, const auto &numbers) {
    const std::vector<float> narrow(numbers.begin(), numbers.end());
    rt::NumericArray &array = values[name];
    array.dtype = "f32", array.shape = std::move(shape), array.origin = "test";
    array.storage.resize(narrow.size() * 4);
    std::memcpy(array.storage.data(), narrow.data(), array.storage.size());
  };
  if (example->needsWeights)
    give("w", {dims}, weights);
  if (example->needsQueryWeights) {
    Vector all;
    for (int query = 0; query < kQueries; ++query)
      for (double weight : weightsOf(query, 0))
        all.push_back(weight);
    give("w", {kQueries, dims}, all);
  }
  if (example->needsAges) {
    Vector ages;
    for (int64_t row = 0; row < rows + 5; ++row) // Longer than it has to be.
      ages.push_back(ageOf(row));
    give("age", {rows + 5}, ages);
    values["half_life"] = rt::readCapture("3");
  }
  if (example->needsOrder)
    values["p"] = rt::readCapture("3");
  return rt::BoundCaptures::bind(metric->artifact.manifest,
                                 extentsOf(f->index, f->queries.matrix.view()), values);
}

SearchGrid::Candidates SearchGrid::candidatesOf(int query, uint32_t probes,
                                                const rt::RowFilter *filter) const {
  Candidates result;
  const std::vector<uint32_t> lists = nearestLists(*f, *metric, f->ranked[query], probes);
  result.known = !lists.empty();
  for (uint32_t list : lists)
    for (int64_t i = 0; i < f->index.list(list).size; ++i)
      if (const int64_t id = f->index.list(list).ids[i];
          (!filter || filter->passes(id)) && !std::isnan(expected[query][id].value)) {
        result.ids.insert(id);
        result.best.push_back(expected[query][id].value);
      }
  std::sort(result.best.begin(), result.best.end());
  if (example->largestFirst)
    std::reverse(result.best.begin(), result.best.end());
  return result;
}

void SearchGrid::check(int query, const Candidates &candidates, int k, const int64_t *ids,
                       const float *distances) const {
  std::set<int64_t> seen;
  for (int i = 0; i < k; ++i) {
    if (size_t(i) >= candidates.best.size()) {
      ASSERT_EQ(ids[i], -1) << "query " << query << ", rank " << i;
      ASSERT_EQ(distances[i], example->largestFirst ? -HUGE_VALF : HUGE_VALF);
      continue;
    }
    ASSERT_TRUE(candidates.ids.contains(ids[i]))
        << "query " << query << ", rank " << i << ": id " << ids[i] << " is no candidate";
    ASSERT_TRUE(seen.insert(ids[i]).second) << "query " << query << ": id " << ids[i] << " twice";
    // The row's own distance, and the distance that this rank has to have.
    const Distance &own = expected[query][ids[i]];
    const double most = tolerance == 0 ? 0 : tolerance * own.magnitude + 1e-30;
    ASSERT_NEAR(distances[i], own.value, most) << "query " << query << ", rank " << i;
    ASSERT_NEAR(distances[i], candidates.best[i], most) << "query " << query << ", rank " << i;
  }
}

} // namespace

TEST_P(SearchGrid, EqualsBruteForce) {
  const rt::BoundCaptures bound = captures();
  const bool isPart = std::get<Device>(GetParam()) == Device::Cpu && std::get<3>(GetParam()) != 17;
  for (int share : isPart ? std::vector{1000, 10} : std::vector{1000, 500, 10, 0})
    for (uint32_t probes : {kLists, 2u}) {
      rt::SearchParams params;
      params.candidates = rt::Lists{probes};
      params.filter = filterOf(rows, share);
      std::vector<Candidates> candidates;
      candidates.reserve(kQueries);
      for (int query = 0; query < kQueries; ++query)
        candidates.push_back(candidatesOf(query, probes, params.filter.get()));
      // In one dimension centers of many queries are close; elsewhere a skip is an exception.
      const auto known = std::ranges::count_if(candidates, &Candidates::known);
      ASSERT_GT(known, probes == kLists ? kQueries - 1 : weights.size() == 1 ? 0 : kQueries / 2);
      for (int k : {1, 10, 100, 1024, 5000}) {
        if (k > rows)
          continue;
        SCOPED_TRACE("probes " + std::to_string(probes) + ", k " + std::to_string(k) + ", " +
                     std::to_string(share) + " of 1000 pass");
        std::vector<int64_t> ids(size_t(kQueries) * k);
        std::vector<float> distances(ids.size());
        engine->search(f->index, *metric, bound, f->queries.matrix.view(), k, params, ids.data(),
                       distances.data());
        for (int query = 0; query < kQueries && !HasFatalFailure(); ++query)
          if (candidates[query].known)
            check(query, candidates[query], k, ids.data() + size_t(query) * k,
                  distances.data() + size_t(query) * k);
        ASSERT_FALSE(HasFatalFailure());
      }
    }
}

/// Few queries of long vectors may be scanned in parts of their dimensions, which no batch above
/// is.
using SearchGridInParts = SearchGrid;
TEST_P(SearchGridInParts, EqualsBruteForce) {
  ASSERT_TRUE(metric->artifact.manifest.has(ANNUDF_HOOK_COMBINE));
  const rt::BoundCaptures bound = captures();
  const rt::Matrix &queries = f->queries.matrix;
  constexpr int k = 10;
  for (int share : {1000, 10})
    for (int query = 0; query < 4; ++query) {
      SCOPED_TRACE(std::to_string(share) + " of 1000 pass");
      rt::SearchParams params;
      params.candidates = rt::All{};
      params.filter = filterOf(rows, share);
      rt::Matrix one = queries;
      one.rows = 1;
      const size_t bytes = queries.storage.size() / size_t(queries.rows);
      one.storage.assign(queries.storage.begin() + ptrdiff_t(query * bytes),
                         queries.storage.begin() + ptrdiff_t((query + 1) * bytes));
      std::vector<int64_t> ids(k);
      std::vector<float> distances(k);
      rt::SearchStats stats;
      engine->search(f->index, *metric, bound, one.view(), k, params, ids.data(), distances.data(),
                     &stats);
      const bool isCuda = std::get<Device>(GetParam()) == Device::Cuda;
      if (isCuda && size_t(f->index.words()) * 4 >= 256) {
        EXPECT_EQ(stats.family, "parts") << stats.why;
      }
      check(query, candidatesOf(query, kLists, params.filter.get()), k, ids.data(),
            distances.data());
    }
}

static std::string nameOf(const testing::TestParamInfo<SearchGrid::ParamType> &info) {
  const auto [device, metric, types, dims] = info.param;
  const auto [rows, queries] = kTypes[types];
  return std::string(device == Device::Cpu ? "cpu_" : "cuda_") + exampleMetrics()[metric].name +
         "_" + toString(rows) + (rows == queries ? "" : std::string("_") + toString(queries)) +
         "_" + std::to_string(dims);
}

static bool takes(const ExampleMetric &metric, annudf_element element) {
  if (element == ANNUDF_ELEMENT_BITS)
    return metric.takesBits;
  if (metric.missingValues && kindOf(element) != NumberKind::Float)
    return false;
  return metric.bytesOnly ? element == ANNUDF_ELEMENT_U8
                          : metric.takesBfloat || element != ANNUDF_ELEMENT_BF16;
}

static std::vector<SearchGrid::ParamType> grid(Device device, bool inParts = false) {
  // On the CPU, where this is a part of every run of the tests, fewer.
  const std::vector<int> all = {1, 3, 16, 17, 33, 96, 128, 257, 1024, 4097},
                         some = {1, 3, 16, 17, 33, 128, 257}, few = {17, 128},
                         bits = {8, 16, 24, 96, 128, 256, 1024, 4096}, fewBits = {8, 24, 136, 256};
  std::vector<SearchGrid::ParamType> cells;
  for (size_t metric = 0; metric < exampleMetrics().size(); ++metric) {
    const ExampleMetric &example = exampleMetrics()[metric];
    for (int types = 0; types < int(std::size(kTypes)); ++types)
      for (int dims : kTypes[types].rows == ANNUDF_ELEMENT_BITS
                          ? device == Device::Cuda || example.bytesOnly ? bits : fewBits
                      : device == Device::Cuda ? all
                      : types < 4              ? some
                                               : few)
        if ((!inParts || example.inParts) && takes(example, kTypes[types].rows) &&
            takes(example, kTypes[types].queries) && dims >= example.leastDims)
          cells.push_back({device, int(metric), types, dims});
  }
  return cells;
}

INSTANTIATE_TEST_SUITE_P(Cpu, SearchGrid, testing::ValuesIn(grid(Device::Cpu)), nameOf);
INSTANTIATE_TEST_SUITE_P(Cuda, SearchGrid, testing::ValuesIn(grid(Device::Cuda)), nameOf);
INSTANTIATE_TEST_SUITE_P(Cpu, SearchGridInParts, testing::ValuesIn(grid(Device::Cpu, true)),
                         nameOf);
INSTANTIATE_TEST_SUITE_P(Cuda, SearchGridInParts, testing::ValuesIn(grid(Device::Cuda, true)),
                         nameOf);
