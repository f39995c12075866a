//===- RefineTest.cpp - Candidates ranked again on a GPU ------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Needs a GPU; without one every test is skipped and says so.
//
//===----------------------------------------------------------------------===//

#include "../RefineTesting.h"

#include "CudaMetrics.h"
#include "SharedBackend.h"
#include "cuda/link/Linker.h"

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::test;

namespace {

constexpr int64_t kRows = 700;

/// Arrays of a call, of which any may be on the device.
struct Arrays {
  const reference::Vectors &base, &queries;
  const std::vector<int64_t> &candidates;
  uint64_t shift = 0; ///< Bytes before the rows in device memory.

  Found refine(const Metric &metric, int k, bool rowsThere, bool candidatesThere, bool queriesThere,
               SearchStats *stats = nullptr) const {
    CudaBackend &gpu = *sharedBackend();
    const auto put = [&](const void *from, size_t bytes, uint64_t by = 0) {
      auto memory = gpu.allocate(bytes + by, nullptr);
      gpu.copy(memory->address() + by, reinterpret_cast<uint64_t>(from), bytes, nullptr);
      return memory;
    };
    const auto rows = put(base.encoded.data(), base.encoded.size(), shift),
               asked = put(queries.encoded.data(), queries.encoded.size()),
               given = put(candidates.data(), candidates.size() * 8);
    MatrixView from = view(base), of = view(queries);
    CandidateRows ids = {candidates.data(), queries.rows,
                         int64_t(candidates.size()) / queries.rows};
    if (rowsThere)
      from.data = reinterpret_cast<const void *>(rows->address() + shift);
    if (queriesThere)
      of.data = reinterpret_cast<const void *>(asked->address());
    if (candidatesThere)
      ids.ids = reinterpret_cast<const int64_t *>(given->address());
    Found found;
    found.ids.assign(size_t(queries.rows) * size_t(k), -777);
    found.distances.assign(found.ids.size(), -777);
    const auto outIds = put(found.ids.data(), found.ids.size() * 8),
               outDistances = put(found.distances.data(), found.distances.size() * 4);
    gpu.refine(from, {rowsThere, nullptr}, ids, {candidatesThere, nullptr}, metric,
               bind(metric, base.dims, queries.rows), of, {queriesThere, nullptr}, k, {},
               queriesThere ? reinterpret_cast<int64_t *>(outIds->address()) : found.ids.data(),
               queriesThere ? reinterpret_cast<float *>(outDistances->address())
                            : found.distances.data(),
               stats);
    if (queriesThere) {
      gpu.copy(reinterpret_cast<uint64_t>(found.ids.data()), outIds->address(),
               found.ids.size() * 8, nullptr);
      gpu.copy(reinterpret_cast<uint64_t>(found.distances.data()), outDistances->address(),
               found.distances.size() * 4, nullptr);
      gpu.synchronize(nullptr);
    }
    return found;
  }
};

/// Rows of whole chunks are read where they are, others, and those that are shifted, from a copy.
TEST(CudaRefine, EqualsAnExactSearchOfTheCandidates) {
  REQUIRE_GPU("candidates are ranked there");
  for (const TestMetric &test : testMetrics())
    for (const annudf_element element : test.elements)
      for (const int32_t dims : {16, 24, 128}) {
        const Metric metric = unfusedMetric(test);
        const auto base = reference::randomVectors(element, kRows, dims, 1);
        const Index index = sharedBackend()->storeRows(view(base), {}, {});
        for (const int64_t asked : {1, 10, 1000}) {
          const auto queries = reference::randomVectors(element, asked, dims, 2);
          for (const int64_t columns : {1, 33, 200}) {
            const auto candidates = someCandidates(asked, columns, kRows);
            const int k = int(std::min<int64_t>(columns, 10));
            SCOPED_TRACE(test.name + " " + toString(element) + ", " + std::to_string(dims) +
                         " dims, " + std::to_string(asked) + " queries, " +
                         std::to_string(columns) + " columns");
            for (const bool onDevice : {false, true}) {
              SearchStats stats;
              const Found found =
                  Arrays{base, queries, candidates, onDevice ? uint64_t(alignmentOf(element)) : 0}
                      .refine(metric, k, true, true, onDevice, &stats);
              EXPECT_EQ(stats.family, "candidates");
              expectRestricted(*sharedBackend(), index, metric, queries, candidates, k, found);
              if (asked < 1000)
                expectReference(test, base, queries, candidates, k, found);
            }
          }
        }
      }
}

TEST(CudaRefine, ArraysMayBeInSeveralPlaces) {
  REQUIRE_GPU("candidates are ranked there");
  const Metric metric = unfusedMetric(testMetric("weighted_l2"));
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, kRows, 32, 1),
             queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 77, 32, 2);
  const auto candidates = someCandidates(77, 90, kRows);
  const Arrays arrays = {base, queries, candidates};
  const Found expected = arrays.refine(metric, 20, false, false, false);
  expectReference(testMetric("weighted_l2"), base, queries, candidates, 20, expected);
  for (int places = 1; places < 8; ++places) {
    const Found found = arrays.refine(metric, 20, places & 1, places & 2, places & 4);
    EXPECT_EQ(found.ids, expected.ids) << places;
    EXPECT_EQ(found.distances, expected.distances) << places;
  }
}

/// More than a piece, and more candidates than a block of threads has room for.
TEST(CudaRefine, ManyCandidates) {
  REQUIRE_GPU("candidates are ranked there");
  const Metric metric = unfusedMetric(testMetric("l2"));
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, 20000, 3, 1);
  const Index index = sharedBackend()->storeRows(view(base), {}, {});
  for (const auto &[asked, columns, k] :
       {std::tuple(20000, 700, 10), {9, 9000, 10}, {40, 512, 512}, {40, 513, 500}}) {
    const auto queries = reference::randomVectors(ANNUDF_ELEMENT_F32, asked, 3, 2);
    const auto candidates = someCandidates(asked, columns, base.rows);
    const Found found = Arrays{base, queries, candidates}.refine(metric, k, true, true, false);
    expectRestricted(*sharedBackend(), index, metric, queries, candidates, k, found);
  }
}

/// Which needs no GPU.
TEST(CudaRefineLinks, EveryMetricLinks) {
  for (const TestMetric &test : testMetrics())
    for (const auto &[kernel, sm] : {std::pair("annudf_scan_candidates", 75),
                                     {"annudf_rank_candidates", 75},
                                     {"annudf_rank_candidates", 90}}) {
      const cuda::ScanTarget target = {
          test.elements.front(), sm, {cuda::ScanSource::Candidates, kernel}};
      EXPECT_EQ(cuda::linkScanKernel(unfusedMetric(test).artifact, target).substr(1, 3), "ELF")
          << test.name << ", " << kernel << ", sm_" << sm;
    }
}

} // namespace
