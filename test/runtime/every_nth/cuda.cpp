//===- cuda.cpp - Every n-th list on a GPU --------------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EveryNthTesting.h"

#include "annudf/runtime/cuda/Cuda.h"
#include "runtime/cuda/CudaMetrics.h"
#include "runtime/cuda/SharedBackend.h"

#include <algorithm>
#include <cstdlib>

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::test;

namespace {

/// A few queries, and more than the coarse kernel for few takes.
TEST(CudaEveryNth, EqualsASort) {
  REQUIRE_GPU("every n-th list is");
  for (const char *name : {"l2", "inner_product", "weighted_l2"})
    for (const annudf_element element : {ANNUDF_ELEMENT_F32, ANNUDF_ELEMENT_U8})
      for (const int64_t asked : {1, 13, 300}) {
        const EveryNthWorld world(element, 2000, asked, 19);
        checkEveryNth(*sharedBackend(), cudaMetric(testMetric(name)), testMetric(name), world);
      }
}

TEST(CudaEveryNth, EqualsASortInEachFamily) {
  REQUIRE_GPU("every n-th list is");
  const EveryNthWorld world(ANNUDF_ELEMENT_F32, 2000, 70, 32);
  const auto proved = std::find_if(provedMetrics().begin(), provedMetrics().end(),
                                   [](const TestMetric &one) { return one.name == "proved_l2"; });
  ASSERT_NE(proved, provedMetrics().end());
  std::vector<std::string> families = {"pairs", "tiles", "staged", "staged_granules"};
  if (sharedBackend()->arch() == 90)
    families.push_back("matrix");
  for (const std::string &family : families)
    checkEveryNth(*sharedBackend(), unfusedMetric(*proved), *proved, world, family);
}

/// The rows of the table go on from batch to batch.
TEST(CudaEveryNth, EqualsASortInBatches) {
  REQUIRE_GPU("every n-th list is");
  ::setenv("ANNUDF_WORKSPACE_MIB", "1", 1);
  const auto backend = makeCudaDeviceBackend();
  ::unsetenv("ANNUDF_WORKSPACE_MIB");
  const EveryNthWorld world(ANNUDF_ELEMENT_F32, 4000, 500, 8);
  checkEveryNth(*backend, cudaMetric(testMetric("l2")), testMetric("l2"), world);
}

/// The table is read by the call that prepares, not by the runs.
TEST(CudaEveryNth, APreparedSearchKeepsTheTable) {
  REQUIRE_GPU("every n-th list is");
  CudaBackend &backend = *sharedBackend();
  constexpr int k = 10;
  constexpr uint32_t n = 4;
  const EveryNthWorld world(ANNUDF_ELEMENT_F32, 2000, 60, 16);
  const TestMetric &test = testMetric("l2");
  const Metric metric = cudaMetric(test);
  const size_t results = size_t(world.queries.rows) * k;
  const auto queries = backend.allocate(world.queries.encoded.size(), nullptr),
             ids = backend.allocate(results * sizeof(int64_t), nullptr),
             distances = backend.allocate(results * sizeof(float), nullptr);
  backend.copy(queries->address(), reinterpret_cast<uint64_t>(world.queries.encoded.data()),
               queries->size(), nullptr);
  const MatrixView there = {reinterpret_cast<const void *>(queries->address()), world.queries.rows,
                            world.queries.dims, world.queries.element};
  std::vector<uint32_t> table = world.store.table(world.queries.rows, n);
  const auto prepared =
      backend.prepareDevice(world.store, metric, bind(metric, world.base.dims), there, k,
                            {.candidates = world.store.candidates(table, n)}, nullptr);
  std::fill(table.begin(), table.end(), 0xFFFFFFFFU);
  std::vector<int64_t> foundIds(results);
  std::vector<float> foundDistances(results);
  for (int run = 0; run < 2; ++run) {
    prepared->run(there.data, reinterpret_cast<int64_t *>(ids->address()),
                  reinterpret_cast<float *>(distances->address()));
    backend.copy(reinterpret_cast<uint64_t>(foundIds.data()), ids->address(), ids->size(), nullptr);
    backend.copy(reinterpret_cast<uint64_t>(foundDistances.data()), distances->address(),
                 distances->size(), nullptr);
    backend.synchronize(nullptr);
    world.check(test, k, n, false, foundIds, foundDistances);
  }
}

} // namespace
