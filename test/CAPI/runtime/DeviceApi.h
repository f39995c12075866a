//===- DeviceApi.h - What the device tests of the C API share ---*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_CAPI_RUNTIME_DEVICEAPI_H
#define ANNUDF_TEST_CAPI_RUNTIME_DEVICEAPI_H

#include "RuntimeApi.h"
#include "cuda/driver/Driver.h"

#include <cstdlib>

namespace annudf::test {

using runtime::cuda::check;
using runtime::cuda::Context;
using runtime::cuda::ContextScope;
using runtime::cuda::Driver;

inline constexpr int64_t kDims = 16, kQueries = 50, kK = 8, kProbes = 5;
inline constexpr uint64_t kLegacy = 1, kPerThread = 2;
inline constexpr annudf_place kDevice = {ANNUDF_MEMORY_CUDA, 0, 0};

class CApiDevice : public testing::Test {
protected:
  void SetUp() override {
    const annudf_status status = annudf_backend_create(&kDevice, 0, &backend);
    if (status == ANNUDF_ENVIRONMENT) {
      const char *required = std::getenv("ANNUDF_REQUIRE_GPU");
      if (required && *required == '1')
        FAIL() << annudf_last_error();
      std::fprintf(stderr, "NO GPU TESTS: %s\n", annudf_last_error());
      GTEST_SKIP() << "no usable GPU on this machine: the C API's device search is NOT checked";
    }
    ASSERT_EQ(outcome(status), "ok");
    context = std::make_shared<Context>(0);
    const TestMetric &test = testMetric("weighted_l2");
    toHandle(cudaArtifact(test, readFatbin(test.name)), &artifact);
    const annudf_vectors rows = vectorsOf(base);
    ASSERT_EQ(outcome(annudf_ivf_flat_build(nullptr, &rows, 12, nullptr, &index, nullptr)), "ok");
    bindWeights(artifact, someWeights(kDims), &captures);
  }

  /// On the host path, which the runtime's own tests compare with brute force.
  Found expected(const reference::Vectors &from, const annudf_captures *with = nullptr) {
    Found found = foundFor(from, kK);
    const annudf_vectors rows = vectorsOf(from);
    EXPECT_EQ(outcome(annudf_ivf_flat_search(backend, index, artifact, with ? with : captures,
                                             &rows, kK, kProbes, nullptr, found.ids.data(),
                                             found.distances.data(), nullptr)),
              "ok");
    return found;
  }

  /// Queries and results on the device, made and read on one stream.
  struct Arrays {
    OwnedDeviceBuffer queries, ids, distances;
    int64_t rows = 0;
  };
  void upload(const reference::Vectors &from, uint64_t stream, Arrays &arrays) {
    arrays.rows = from.rows;
    const uint64_t cells = uint64_t(from.rows * kK);
    ASSERT_EQ(
        outcome(annudf_device_allocate(backend, from.encoded.size(), stream, &arrays.queries)),
        "ok");
    ASSERT_EQ(outcome(annudf_device_allocate(backend, cells * 8, stream, &arrays.ids)), "ok");
    ASSERT_EQ(outcome(annudf_device_allocate(backend, cells * 4, stream, &arrays.distances)), "ok");
    ASSERT_EQ(outcome(annudf_device_copy(backend, annudf_device_buffer_address(arrays.queries),
                                         reinterpret_cast<uint64_t>(from.encoded.data()),
                                         from.encoded.size(), stream)),
              "ok");
  }
  std::string enqueue(uint64_t queries, int64_t rows, uint64_t ids, uint64_t distances,
                      uint64_t stream, const annudf_captures *with = nullptr,
                      annudf_ivf_flat_search_stats *stats = nullptr) {
    const annudf_vectors view = {
        sizeof view,        reinterpret_cast<const void *>(queries), rows, kDims,
        ANNUDF_ELEMENT_F32, {ANNUDF_MEMORY_CUDA, 0, stream}};
    return outcome(annudf_ivf_flat_search(backend, index, artifact, with ? with : captures, &view,
                                          kK, kProbes, nullptr, reinterpret_cast<int64_t *>(ids),
                                          reinterpret_cast<float *>(distances), stats));
  }
  std::string enqueue(const Arrays &arrays, uint64_t stream, const annudf_captures *with = nullptr,
                      annudf_ivf_flat_search_stats *stats = nullptr) {
    return enqueue(annudf_device_buffer_address(arrays.queries), arrays.rows,
                   annudf_device_buffer_address(arrays.ids),
                   annudf_device_buffer_address(arrays.distances), stream, with, stats);
  }
  Found download(const Arrays &arrays, uint64_t stream) {
    Found found{std::vector<int64_t>(size_t(arrays.rows * kK)),
                std::vector<float>(size_t(arrays.rows * kK))};
    EXPECT_EQ(outcome(annudf_device_copy(backend, reinterpret_cast<uint64_t>(found.ids.data()),
                                         annudf_device_buffer_address(arrays.ids),
                                         found.ids.size() * 8, stream)),
              "ok");
    EXPECT_EQ(
        outcome(annudf_device_copy(backend, reinterpret_cast<uint64_t>(found.distances.data()),
                                   annudf_device_buffer_address(arrays.distances),
                                   found.distances.size() * 4, stream)),
        "ok");
    EXPECT_EQ(outcome(annudf_device_synchronize(backend, stream)), "ok");
    return found;
  }

  const reference::Vectors base = reference::randomVectors(ANNUDF_ELEMENT_F32, 5000, kDims, 1);
  const reference::Vectors queries =
      reference::randomVectors(ANNUDF_ELEMENT_F32, kQueries, kDims, 2);
  OwnedArtifact artifact;
  OwnedIndex index;
  OwnedCaptures captures;
  OwnedBackend backend;
  std::shared_ptr<Context> context;
};

/// A stream of the caller's, as CuPy and Torch make them.
class Stream {
public:
  explicit Stream(std::shared_ptr<Context> context) : context_(std::move(context)) {
    ContextScope scope(*context_);
    ANNUDF_CUDA(cuStreamCreate, &stream_, CU_STREAM_NON_BLOCKING);
  }
  ~Stream() {
    ContextScope scope(*context_);
    (void)Driver::get().cuStreamDestroy(stream_);
  }
  uint64_t handle() const { return reinterpret_cast<uint64_t>(stream_); }

private:
  std::shared_ptr<Context> context_;
  CUstream stream_ = nullptr;
};

} // namespace annudf::test

#endif // ANNUDF_TEST_CAPI_RUNTIME_DEVICEAPI_H
