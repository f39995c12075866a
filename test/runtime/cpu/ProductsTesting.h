//===- ProductsTesting.h - Searches by products and without --------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_RUNTIME_CPU_PRODUCTSTESTING_H
#define ANNUDF_TEST_RUNTIME_CPU_PRODUCTSTESTING_H

#include "Support/TestFiles.h"
#include "TestMetrics.h"
#include "annudf/runtime/ivf_flat/Index.h"
#include "cpu/products/ProductScan.h"
#include "runtime/TestData.h"

#include <cmath>
#include <cstdlib>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annudf::test {

using namespace runtime;

inline const TestMetric &provedMetric(const std::string &name) {
  for (const TestMetric &metric : provedMetrics())
    if (metric.name == name)
      return metric;
  throw std::runtime_error("no proved metric " + name);
}

struct Data {
  std::vector<float> values;
  int64_t rows;
  int32_t dims;
  MatrixView view() const { return {values.data(), rows, dims, ANNUDF_ELEMENT_F32}; }
};

using Kind = float (*)(std::mt19937 &, int64_t row);

inline Data dataOf(const Kind &kind, int64_t rows, int32_t dims, uint32_t seed) {
  std::mt19937 random(seed);
  Data data{{}, rows, dims};
  for (int64_t row = 0; row < rows; ++row)
    for (int32_t d = 0; d < dims; ++d)
      data.values.push_back(kind(random, row));
  return data;
}

inline float normal(std::mt19937 &random) { return std::normal_distribution<float>()(random); }

inline constexpr std::string_view kBeyond = "beyond what floats hold", kHuge = "one huge row";
inline constexpr std::pair<std::string_view, Kind> kKinds[] = {
    {"normal", [](std::mt19937 &random, int64_t) { return normal(random); }},
    {"far from 0", [](std::mt19937 &random, int64_t) { return normal(random) + 1e4f; }},
    {"all equal", [](std::mt19937 &, int64_t) { return 0.1f; }},
    {"duplicates and ties", [](std::mt19937 &random, int64_t) { return float(random() % 2); }},
    {kHuge,
     [](std::mt19937 &random, int64_t row) { return normal(random) * (row == 7 ? 1e15f : 1); }},
    {kBeyond,
     [](std::mt19937 &random, int64_t row) { return normal(random) * (row % 3 ? 1 : 3e20f); }},
    {"denormal", [](std::mt19937 &random, int64_t) { return normal(random) * 1e-40f; }},
    {"squares below the normal range",
     [](std::mt19937 &random, int64_t) { return normal(random) * 1e-22f; }},
    {"some rows of zeros",
     [](std::mt19937 &random, int64_t row) { return row % 3 ? normal(random) : 0; }},
    {"lengths of every size",
     [](std::mt19937 &random, int64_t row) {
       return normal(random) * std::exp2(float(row % 40) * -2);
     }},
    {"almost parallel",
     [](std::mt19937 &random, int64_t row) {
       return (1 + normal(random) * 1e-4f) * float(1 + row % 9);
     }},
};

inline FoundBits search(Backend &backend, const Index &index, const Metric &metric,
                        const Data &queries, int k, SearchParams params, const std::string &family,
                        SearchStats *stats = nullptr) {
  FoundBits found{std::vector<int64_t>(size_t(queries.rows * k)),
                  std::vector<float>(size_t(queries.rows * k))};
  params.family = family;
  backend.search(index, metric, bind(metric, queries.dims), queries.view(), k, params,
                 found.ids.data(), found.distances.data(), stats);
  return found;
}

/// With an environment variable, which is what it was after.
struct With {
  With(const char *name, const char *value) : name(name) {
    if (const char *const given = std::getenv(name))
      before = given;
    setenv(name, value, 1);
  }
  ~With() {
    if (before)
      setenv(name, before->c_str(), 1);
    else
      unsetenv(name);
  }
  With(const With &) = delete;
  With &operator=(const With &) = delete;
  const char *name;
  std::optional<std::string> before;
};
struct WithProducts : With {
  explicit WithProducts(const char *kernels) : With("ANNUDF_PRODUCTS", kernels) {}
};

/// A filter of 1,000 ids that about one in four passes.
inline std::shared_ptr<const RowFilter> aQuarterOf1000() {
  std::mt19937 random(3);
  std::vector<uint32_t> words(32);
  for (uint32_t &word : words)
    word = random() & random();
  return std::make_shared<RowFilter>(words, 1000);
}

inline Index indexOf(const Data &base, uint32_t lists) {
  IndexParams params;
  params.nLists = lists, params.kmeansIterations = 3, params.threads = 2;
  return Index::build(params, base.view());
}

} // namespace annudf::test

#endif // ANNUDF_TEST_RUNTIME_CPU_PRODUCTSTESTING_H
