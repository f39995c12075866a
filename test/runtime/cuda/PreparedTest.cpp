//===- PreparedTest.cpp - Prepared searches on a GPU ----------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaMetrics.h"
#include "SharedBackend.h"

#include "annudf/runtime/cuda/Cuda.h"
#include "cuda/driver/Driver.h"
#include "gtest/gtest.h"

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::runtime::cuda;
using namespace annudf::test;

namespace {

constexpr int kK = 10;
constexpr int32_t kDims = 40;

Index buildIndex(const reference::Vectors &base, uint32_t nLists) {
  IndexParams params;
  params.nLists = nLists, params.kmeansIterations = 5;
  return Index::build(params, view(base));
}

class CudaPrepared : public testing::Test {
protected:
  void SetUp() override {
    REQUIRE_GPU("prepared searches are");
    context = std::make_shared<Context>(0);
  }

  struct Arrays {
    std::unique_ptr<Buffer> queries, ids, distances;
  };
  Arrays upload(const reference::Vectors &from) const {
    const ContextScope scope(*context);
    const auto cells = size_t(from.rows) * kK;
    Arrays arrays = {std::make_unique<Buffer>(context, from.encoded.size()),
                     std::make_unique<Buffer>(context, cells * 8),
                     std::make_unique<Buffer>(context, cells * 4)};
    ANNUDF_CUDA(cuMemcpyHtoD, arrays.queries->device(), from.encoded.data(), from.encoded.size());
    ANNUDF_CUDA(cuStreamSynchronize, nullptr);
    return arrays;
  }
  static void run(PreparedSearch &prepared, const Arrays &arrays) {
    prepared.run(reinterpret_cast<const void *>(arrays.queries->device()),
                 reinterpret_cast<int64_t *>(arrays.ids->device()),
                 reinterpret_cast<float *>(arrays.distances->device()));
  }
  /// What a search of the host finds, to the bit.
  void expectFound(const Arrays &arrays, const reference::Vectors &from, const Index &index,
                   const Metric &metric, const SearchParams &params) const {
    const auto cells = size_t(from.rows) * kK;
    std::vector<int64_t> ids(cells), wantIds(cells);
    std::vector<float> distances(cells), wantDistances(cells);
    const ContextScope scope(*context);
    ANNUDF_CUDA(cuCtxSynchronize);
    ANNUDF_CUDA(cuMemcpyDtoH, ids.data(), arrays.ids->device(), cells * 8);
    ANNUDF_CUDA(cuMemcpyDtoH, distances.data(), arrays.distances->device(), cells * 4);
    backend->search(index, metric, bind(metric, kDims), view(from), kK, params, wantIds.data(),
                    wantDistances.data());
    ASSERT_EQ(ids, wantIds) << params.family << ", " << from.rows << " queries";
    ASSERT_EQ(0, std::memcmp(distances.data(), wantDistances.data(), cells * 4));
  }

  CudaBackend *const backend = sharedBackend();
  std::shared_ptr<Context> context;
};

TEST_F(CudaPrepared, FindWhatSearchesFindInEveryFamily) {
  const Metric metric = cudaMetric(testMetric("weighted_l2"));
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, 20000, kDims, 1);
  std::vector<uint32_t> words(size_t(RowFilter::wordsFor(20000)), 0x77777777u);
  const auto filter = std::make_shared<const RowFilter>(words, 20000);
  for (const char *family : {"", "pairs", "tiles", "staged"})
    for (const int64_t rows : {1, 10, 17, 300}) {
      std::unique_ptr<PreparedSearch> prepared;
      SearchParams params = {.candidates = Lists{7}, .family = family};
      if (rows == 10)
        params.filter = filter;
      const auto one = reference::randomVectors(ANNUDF_ELEMENT_F32, rows, kDims, 2);
      const auto other = reference::randomVectors(ANNUDF_ELEMENT_F32, rows, kDims, 3);
      const Index index = buildIndex(base, 50);
      MatrixView shape = view(one);
      shape.data = nullptr;
      prepared =
          backend->prepareDevice(index, metric, bind(metric, kDims), shape, kK, params, nullptr);
      const Arrays first = upload(one), second = upload(other);
      for (int i = 0; i < 3; ++i) { // Others in between, none waited for.
        run(*prepared, first);
        run(*prepared, second);
        run(*prepared, second);
      }
      expectFound(first, one, index, metric, params);
      expectFound(second, other, index, metric, params);
    }
}

/// The device's copy of the index, captures and filter stay; an extend makes another copy.
TEST_F(CudaPrepared, HoldsWhatItReads) {
  const Metric metric = cudaMetric(testMetric("weighted_l2"));
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, 5000, kDims, 1);
  const auto queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 5, kDims, 2);
  const Arrays arrays = upload(queries);
  const SearchParams params = {.candidates = Lists{7}};
  std::unique_ptr<PreparedSearch> prepared;
  {
    Index index = buildIndex(base, 20);
    prepared = backend->prepareDevice(index, metric, bind(metric, kDims), view(queries), kK, params,
                                      nullptr);
    index.extend(view(queries), {});
  }
  run(*prepared, arrays);
  expectFound(arrays, queries, buildIndex(base, 20), metric, params);
}

TEST_F(CudaPrepared, RefusesMemoryThatIsNotTheDevices) {
  const Metric metric = cudaMetric(testMetric("weighted_l2"));
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, 5000, kDims, 1);
  const auto queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 5, kDims, 2);
  const Index index = buildIndex(base, 20);
  const auto prepared = backend->prepareDevice(index, metric, bind(metric, kDims), view(queries),
                                               kK, {.candidates = Lists{7}}, nullptr);
  const Arrays arrays = upload(queries);
  const auto refusal = [&](const void *rows, uint64_t ids) -> std::string {
    try {
      prepared->run(rows, reinterpret_cast<int64_t *>(ids),
                    reinterpret_cast<float *>(arrays.distances->device()));
    } catch (const Error &error) {
      EXPECT_EQ(error.kind(), ErrorKind::Usage);
      const std::string text = error.what();
      return text.substr(0, text.find(" 0x")) + text.substr(text.find(": "));
    }
    return "";
  };
  EXPECT_EQ(refusal(queries.encoded.data(), arrays.ids->device()),
            "queries at address: it is no memory of a CUDA device (host memory, or freed already); "
            "give memory of CUDA device 0");
  EXPECT_EQ(
      refusal(reinterpret_cast<const void *>(arrays.queries->device() + 2), arrays.ids->device()),
      "queries at address: not aligned to 4 bytes");
  EXPECT_EQ(
      refusal(reinterpret_cast<const void *>(arrays.queries->device()), arrays.ids->device() + 4),
      "ids at address: not aligned to 8 bytes");
  run(*prepared, arrays); // None of it did harm.
  expectFound(arrays, queries, index, metric, {.candidates = Lists{7}});
}

} // namespace
