//===- StreamsTest.cpp - Searches on several streams ----------------------===//
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

#include "CudaMetrics.h"
#include "SharedBackend.h"

#include "annudf/runtime/cuda/Cuda.h"
#include "cuda/driver/Driver.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cstring>

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::test;

namespace {

/// Queries and results on the device, several streams at once, captures that change
/// from one search to the next: each search must see its own.
TEST(CudaStreams, EachSearchSeesItsOwnCaptures) {
  REQUIRE_GPU("the CUDA search is");
  using namespace annudf::runtime::cuda;
  auto context = std::make_shared<Context>(0);
  ContextScope scope(*context);
  CudaBackend &backend = *sharedBackend();
  const TestMetric &test = testMetric("weighted_l2");
  const Metric metric = cudaMetric(test);
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, 40000, 32, 21);
  IndexParams params;
  params.nLists = 64;
  params.kmeansIterations = 5;
  const Index index = Index::build(params, view(base));
  const auto queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 64, 32, 22);
  constexpr int kStreams = 6, kRounds = 8, k = 10;
  const size_t cells = size_t(queries.rows) * k;
  Buffer data(context, queries.encoded.size());
  ANNUDF_CUDA(cuMemcpyHtoD, data.device(), queries.encoded.data(), queries.encoded.size());
  ANNUDF_CUDA(cuStreamSynchronize, nullptr);
  Buffer ids(context, kStreams * kRounds * cells * 8),
      distances(context, kStreams * kRounds * cells * 4);
  const MatrixView onDevice{reinterpret_cast<const void *>(data.device()), queries.rows, 32,
                            ANNUDF_ELEMENT_F32};
  auto capturesOf = [&](int i) {
    std::vector<float> w(32);
    for (int d = 0; d < 32; ++d)
      w[d] = 1 + float((d * (i + 1)) % 5);
    NumericArray array{"f32", {32}, std::vector<std::byte>(128), "test"};
    std::memcpy(array.storage.data(), w.data(), 128);
    return BoundCaptures::bind(metric.artifact.manifest, 32, {{"w", array}});
  };
  std::vector<CUstream> streams(kStreams);
  for (CUstream &stream : streams)
    ANNUDF_CUDA(cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
  for (int round = 0; round < kRounds; ++round)
    for (int s = 0; s < kStreams; ++s) {
      const size_t at = (size_t(round) * kStreams + s) * cells;
      backend.searchDevice(index, metric, capturesOf(round * kStreams + s), onDevice, k, {Lists{6}},
                           reinterpret_cast<int64_t *>(ids.device()) + at,
                           reinterpret_cast<float *>(distances.device()) + at, streams[s]);
    }
  for (CUstream stream : streams) {
    ANNUDF_CUDA(cuStreamSynchronize, stream);
    ANNUDF_CUDA(cuStreamDestroy, stream);
  }
  std::vector<int64_t> gotIds(kStreams * kRounds * cells);
  std::vector<float> gotDistances(gotIds.size());
  ANNUDF_CUDA(cuMemcpyDtoH, gotIds.data(), ids.device(), gotIds.size() * 8);
  ANNUDF_CUDA(cuMemcpyDtoH, gotDistances.data(), distances.device(), gotDistances.size() * 4);
  std::vector<int64_t> wantIds(cells);
  std::vector<float> wantDistances(cells);
  for (int i = 0; i < kStreams * kRounds; ++i) {
    backend.search(index, metric, capturesOf(i), view(queries), k, {Lists{6}}, wantIds.data(),
                   wantDistances.data());
    EXPECT_TRUE(std::equal(wantIds.begin(), wantIds.end(), gotIds.begin() + i * cells)) << i;
    EXPECT_TRUE(
        std::equal(wantDistances.begin(), wantDistances.end(), gotDistances.begin() + i * cells))
        << i;
  }
}

} // namespace
