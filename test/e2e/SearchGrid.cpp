//===- SearchGrid.cpp - Every example metric against a brute force in float64 -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled artifacts of docs/examples/metrics, searched on the CPU and, where
// there is one, on a GPU: every element type, dims with and without a tail, k
// from 1 to 1024, all lists probed and a part of them.
//
// ANNUDF_TEST_ARTIFACTS names the folder of artifacts.
//
//===----------------------------------------------------------------------===//

#include "e2e/Devices.h"
#include "e2e/ExampleMetrics.h"

#include "annudf/runtime/ivf_flat/Index.h"
#include "annudf/runtime/engine/Search.h"

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

constexpr int kRows = 1500, kQueries = 9;
constexpr uint32_t kLists = 6;

/// Vectors as stored and as numbers.
struct Vectors {
  rt::Matrix matrix;
  std::vector<Vector> decoded;
};

uint16_t encodeHalf(float value) {
  // Cuts the mantissa: any half will do, decodeHalf says which it is.
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const int exponent = int(bits >> 23 & 255) - 127 + 15;
  if (exponent <= 0)
    return 0;
  return uint16_t(bits >> 16 & 0x8000) | uint16_t(exponent << 10) | uint16_t(bits >> 13 & 1023);
}

Vectors makeVectors(annudf_element element, int rows, int dims, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::uniform_int_distribution<int> byte(0, 255);
  Vectors out;
  out.matrix.rows = rows, out.matrix.dims = dims, out.matrix.element = element;
  out.matrix.storage.resize(size_t(rows) * dims * elementSize(element));
  std::byte *at = out.matrix.storage.data();
  auto put = [&](auto value) {
    std::memcpy(at, &value, sizeof value);
    at += sizeof value;
  };
  for (int row = 0; row < rows; ++row) {
    Vector &vector = out.decoded.emplace_back();
    for (int dim = 0; dim < dims; ++dim) {
      const float real = normal(random);
      const int integer = byte(random);
      switch (element) {
      case ANNUDF_ELEMENT_F32:
        put(real), vector.push_back(real);
        break;
      case ANNUDF_ELEMENT_F16: {
        const uint16_t half = encodeHalf(real);
        put(half), vector.push_back(decodeHalf(half));
        break;
      }
      case ANNUDF_ELEMENT_I8:
        put(int8_t(integer - 128)), vector.push_back(integer - 128);
        break;
      case ANNUDF_ELEMENT_U8:
        put(uint8_t(integer)), vector.push_back(integer);
        break;
      }
    }
  }
  return out;
}

/// An index and its vectors, built once for each element type and dims.
struct Fixture {
  Vectors base, queries;
  rt::Index index;
};

Fixture &fixture(annudf_element element, int dims) {
  static std::map<std::pair<int, int>, std::unique_ptr<Fixture>> cache;
  std::unique_ptr<Fixture> &slot = cache[{element, dims}];
  if (!slot) {
    slot = std::make_unique<Fixture>();
    slot->base = makeVectors(element, kRows, dims, 1);
    slot->queries = makeVectors(element, kQueries, dims, 2);
    rt::IndexParams params;
    params.nLists = kLists;
    slot->index = rt::Index::build(params, slot->base.matrix.view());
  }
  return *slot;
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

class SearchGrid : public testing::TestWithParam<std::tuple<Device, int, int, int>> {};

} // namespace

TEST_P(SearchGrid, EqualsBruteForce) {
  const auto [device, metricIndex, elementNumber, dims] = GetParam();
  const ExampleMetric &example = exampleMetrics()[metricIndex];
  const annudf_element element = annudf_element(elementNumber);
  std::string why;
  rt::Backend *engine = backendOf(device, &why);
  if (!engine)
    GTEST_SKIP() << "SKIPPED, NOT RUN: " << why;
  Fixture &f = fixture(element, dims);
  const rt::Metric &metric = metricOf(example.name);

  // Weights are multiples of 1/64, so integer distances are exact in float32.
  Vector weights;
  for (int i = 0; i < dims; ++i)
    weights.push_back(0.25 + (i * 37 % 64) / 64.0);
  const double p = 3;
  std::map<std::string, rt::NumericArray> values;
  const auto give = [&](const char *name, std::vector<int64_t> shape, const auto &numbers) {
    const std::vector<float> narrow(numbers.begin(), numbers.end());
    rt::NumericArray &array = values[name];
    array.dtype = "f32", array.shape = std::move(shape), array.origin = "test";
    array.storage.resize(narrow.size() * 4);
    std::memcpy(array.storage.data(), narrow.data(), array.storage.size());
  };
  // A query's weights are those of the next ones, turned by its number.
  const auto weightsOf = [&](int query, int64_t row) {
    Vector own = weights;
    if (example.needsAges)
      own = {ageOf(row)};
    if (example.needsQueryWeights)
      std::rotate(own.begin(), own.begin() + query % dims, own.end());
    return own;
  };
  if (example.needsWeights)
    give("w", {dims}, weights);
  if (example.needsQueryWeights) {
    Vector all;
    for (int query = 0; query < kQueries; ++query)
      for (double weight : weightsOf(query, 0))
        all.push_back(weight);
    give("w", {kQueries, dims}, all);
  }
  if (example.needsAges) {
    Vector ages;
    for (int64_t row = 0; row < kRows + 5; ++row) // Longer than it has to be.
      ages.push_back(ageOf(row));
    give("age", {kRows + 5}, ages);
    values["half_life"] = rt::readCapture("3");
  }
  if (example.needsOrder)
    values["p"] = rt::readCapture("3");
  const rt::BoundCaptures captures = rt::BoundCaptures::bind(
      metric.artifact.manifest, extentsOf(f.index, f.queries.matrix.view()), values);

  for (uint32_t probes : {kLists, 2u})
    for (int k : {1, 10, 100, 1024}) {
      SCOPED_TRACE("probes " + std::to_string(probes) + ", k " + std::to_string(k));
      std::vector<int64_t> ids(size_t(kQueries) * k);
      std::vector<float> distances(ids.size());
      rt::SearchParams params;
      params.nProbes = probes;
      engine->search(f.index, metric, captures, f.queries.matrix.view(), k, params, ids.data(),
                     distances.data());
      int checked = 0;
      for (int query = 0; query < kQueries; ++query) {
        const Vector &q = f.queries.decoded[query];
        const std::vector<uint32_t> lists = nearestLists(f, metric, q, probes);
        if (lists.empty())
          continue;
        ++checked;
        std::vector<double> expected;
        for (uint32_t list : lists)
          for (int64_t i = 0; i < f.index.list(list).size; ++i)
            expected.push_back(example
                                   .distance(q, f.base.decoded[f.index.list(list).ids[i]],
                                             weightsOf(query, f.index.list(list).ids[i]), p)
                                   .value);
        std::sort(expected.begin(), expected.end());
        if (example.largestFirst)
          std::reverse(expected.begin(), expected.end());
        std::set<int64_t> seen;
        for (int i = 0; i < k; ++i) {
          const int64_t id = ids[size_t(query) * k + i];
          const float got = distances[size_t(query) * k + i];
          if (size_t(i) >= expected.size()) {
            ASSERT_EQ(id, -1) << "query " << query << ", rank " << i;
            ASSERT_EQ(got, example.largestFirst ? -HUGE_VALF : HUGE_VALF);
            continue;
          }
          ASSERT_TRUE(id >= 0 && id < kRows)
              << "query " << query << ", rank " << i << ": id " << id;
          ASSERT_TRUE(seen.insert(id).second) << "query " << query << ": id " << id << " twice";
          // The row's own distance, and the distance that this rank has to have.
          const Distance own = example.distance(q, f.base.decoded[id], weightsOf(query, id), p);
          const bool exact = example.exactOnIntegers && elementSize(element) == 1;
          const double tolerance = exact ? 0 : 1e-5 * own.magnitude + 1e-30;
          ASSERT_NEAR(got, own.value, tolerance) << "query " << query << ", rank " << i;
          ASSERT_NEAR(got, expected[i], tolerance) << "query " << query << ", rank " << i;
        }
      }
      // In one dimension centers of many queries are close; elsewhere a skip is an exception.
      ASSERT_GT(checked, probes == kLists ? kQueries - 1 : dims == 1 ? 0 : kQueries / 2);
    }
}

static std::string nameOf(const testing::TestParamInfo<SearchGrid::ParamType> &info) {
  const auto [device, metric, element, dims] = info.param;
  return std::string(device == Device::Cpu ? "cpu_" : "cuda_") + exampleMetrics()[metric].name +
         "_" + toString(annudf_element(element)) + "_" + std::to_string(dims);
}

static std::vector<SearchGrid::ParamType> grid(Device device) {
  std::vector<SearchGrid::ParamType> cells;
  for (size_t metric = 0; metric < exampleMetrics().size(); ++metric)
    for (int element = 0; element < 4; ++element)
      for (int dims : {1, 3, 16, 17, 33, 128, 257})
        if ((!exampleMetrics()[metric].bytesOnly || element == ANNUDF_ELEMENT_U8) &&
            dims >= exampleMetrics()[metric].leastDims)
          cells.push_back({device, int(metric), element, dims});
  return cells;
}

INSTANTIATE_TEST_SUITE_P(Cpu, SearchGrid, testing::ValuesIn(grid(Device::Cpu)), nameOf);
INSTANTIATE_TEST_SUITE_P(Cuda, SearchGrid, testing::ValuesIn(grid(Device::Cuda)), nameOf);
