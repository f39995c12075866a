//===- GatheredTest.cpp - Searches of the rows alone that pass ------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../GatheredTesting.h"
#include "cpu/Gathering.h"

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::test;

namespace {

TEST(CpuGathered, EqualsTheSearchOfAllLists) {
  const auto backend = makeCpuBackend(2);
  for (const char *name : {"l2", "inner_product", "cosine", "l2_f64"}) {
    SCOPED_TRACE(name);
    compareGathered(*backend, compiled(testMetric(name)), ANNUDF_ELEMENT_F32, 9, {""});
  }
  for (const auto element : {ANNUDF_ELEMENT_F16, ANNUDF_ELEMENT_I8}) {
    SCOPED_TRACE(toString(element));
    compareGathered(*backend, compiled(testMetric("l2")), element, 9, {"", "groups"});
  }
}

TEST(CpuGathered, OnlyWhereAllListsAreScannedByOneFilter) {
  const auto backend = makeCpuBackend(2);
  Metric metric = compiled(testMetric("l2"));
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, kGatheredRows, 8, 7);
  const auto queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 33, 8, 8);
  IndexParams params;
  params.nLists = 16, params.kmeansIterations = 2, params.threads = 2;
  const Index index = Index::build(params, view(base));
  const auto filter = filterOf(kGatheredRows, [](int64_t id) { return id % 100 == 0; });
  const auto isFor = [&](const SearchParams &how) {
    return isGathered(answerOf(*backend, index, metric, queries, 5, how));
  };
  EXPECT_TRUE(isFor({.candidates = Lists{16}, .filter = filter})); // By its cost.
  const Gather gather(true);
  expectListsAreScanned(isFor, filter, queries.rows);
}

/// All of 1,024 lists.
Workload filtered(int64_t queries, double pass) {
  Workload work;
  work.lists = work.probes = 1024, work.rows = 1024000, work.dims = 128, work.rowBytes = 512;
  work.queries = queries, work.k = 10, work.pass = pass;
  return work;
}

TEST(CpuGathered, AsCostsSay) {
  const auto backend = makeCpuBackend(2);
  const auto is = [&](const Workload &work) {
    return cpu::isWorthGathering(backend->families(), work, {.processors = 2});
  };
  EXPECT_TRUE(is(filtered(1000, 0.001)));
  EXPECT_FALSE(is(filtered(1, 0.001)));
  EXPECT_FALSE(is(filtered(1000, 1)));
  EXPECT_TRUE(is(filtered(1000, 0.1)));
  EXPECT_FALSE(is(filtered(1000, 0.2))); // More than is gathered.
  Workload named = filtered(1000, 0.001);
  named.family = "matrix";
  EXPECT_FALSE(is(named));
}

} // namespace
