//===- PackedTest.cpp - Sums of packed coordinates on a GPU ---------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Needs a GPU; without one the test is skipped and says so.
//
//===----------------------------------------------------------------------===//

#include "AgainstPairs.h"
#include "SharedBackend.h"

#include "annudf/runtime/cuda/Cuda.h"
#include "gtest/gtest.h"

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::test;

namespace {

/// Searches by packed sums.
class Searches {
public:
  Searches(Backend &backend, const TestMetric &test, const reference::Vectors &base)
      : backend(backend), metric(cudaMetric(test)), index(build(base, base.dims % 2 ? 1 : 20)) {}

  std::string difference(const reference::Vectors &queries,
                         const std::shared_ptr<const RowFilter> &filter) {
    return differenceFromPairs(
        backend, index, metric, queries, kK,
        {.candidates = Lists{std::min(5u, index.nLists())}, .filter = filter}, "packed");
  }

private:
  static constexpr int kK = 50;
  Backend &backend;
  const Metric metric;
  const Index index;
};

TEST(CudaPacked, AgreesWithPairsToTheBit) {
  REQUIRE_GPU("packed sums are");
  constexpr int64_t kRows = 2500;
  std::vector<uint32_t> words(size_t(RowFilter::wordsFor(kRows)));
  for (int64_t id = 0; id < kRows; ++id)
    words[size_t(id / 32)] |= uint32_t(id % 7 == 2 || id > 2400) << (id % 32);
  const auto filter = std::make_shared<const RowFilter>(words, kRows);
  for (const TestMetric &test : testMetrics())
    for (const PackedElement &of : test.packed.value_or(PackedSum()).elements)
      for (int32_t bytes : {1, 4, 17, 31, 64, 100, 128, 129, 255, 257, 1000}) {
        const int32_t dims = bytes * 8 / bitsOf(of.element);
        if (dims > of.dims)
          continue;
        Searches searches(*sharedBackend(), test,
                          reference::randomVectors(of.element, kRows, dims, uint64_t(dims) + 1));
        // Stages of 32 queries and of 64.
        for (int64_t count : {5, 150}) {
          const auto queries = reference::randomVectors(of.element, count, dims, 9);
          EXPECT_EQ(searches.difference(queries, {}), "")
              << test.name << " " << toString(of.element) << " " << dims << " dims, " << count;
          if (count == 150) {
            EXPECT_EQ(searches.difference(queries, filter), "")
                << test.name << " " << toString(of.element) << " " << dims << " dims, filtered";
          }
        }
      }
}

} // namespace
