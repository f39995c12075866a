//===- RuntimeApi.h - What the runtime's C API tests share ----------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_CAPI_RUNTIME_RUNTIMEAPI_H
#define ANNUDF_TEST_CAPI_RUNTIME_RUNTIMEAPI_H

#include "CAPI/CApi.h"
#include "annudf-c/annudf.h"
#include "runtime/cuda/CudaMetrics.h"

#include <numeric>
#include <span>

namespace annudf::test {

using OwnedIndex = Owner<annudf_ivf_flat_index, annudf_ivf_flat_destroy>;
using OwnedCaptures = Owner<annudf_captures, annudf_captures_destroy>;
using OwnedBackend = Owner<annudf_backend, annudf_backend_destroy>;
using OwnedFilter = Owner<annudf_filter, annudf_filter_destroy>;
using OwnedRadius = Owner<annudf_radius_result, annudf_radius_result_destroy>;
using OwnedDeviceBuffer = Owner<annudf_device_buffer, annudf_device_buffer_destroy>;
using OwnedEvent = Owner<annudf_event, annudf_event_destroy>;
using OwnedEnvironment = Owner<annudf_environment, annudf_environment_destroy>;

inline annudf_vectors vectorsOf(const reference::Vectors &from) {
  return {sizeof(annudf_vectors), from.encoded.data(), from.rows, from.dims, from.element, {}};
}

inline annudf_ivf_flat_info infoOf(const annudf_ivf_flat_index *index) {
  annudf_ivf_flat_info info = {};
  info.size = sizeof info;
  EXPECT_EQ(outcome(annudf_ivf_flat_get(index, &info)), "ok");
  return info;
}

/// The same matrix, said to be in device memory.
inline annudf_vectors onDevice(annudf_vectors vectors, uint64_t stream = 0, int32_t device = 0) {
  vectors.place = {ANNUDF_MEMORY_CUDA, device, stream};
  return vectors;
}

/// An index of 400 rows in 8 lists, once build() has been called.
class SmallIndex : public testing::Test {
protected:
  const reference::Vectors base = reference::randomVectors(ANNUDF_ELEMENT_F32, 400, 5, 1);
  annudf_vectors vectors = vectorsOf(base);
  TempDir folder;
  OwnedIndex index;

  void build() {
    ASSERT_EQ(outcome(annudf_ivf_flat_build(nullptr, &vectors, 8, nullptr, &index, nullptr)), "ok");
  }
};

/// An artifact as a file would bring it.
inline void toHandle(const Artifact &artifact, annudf_artifact **out) {
  const std::string bytes = serializeArtifact(artifact);
  ASSERT_EQ(outcome(annudf_artifact_from_bytes(bytes.data(), bytes.size(), "test", out)), "ok");
}

/// The artifact of a metric of the tests, with host bitcode.
inline void load(const std::string &name, annudf_artifact **out) {
  toHandle(artifactOf(testMetric(name), readBitcode(name)), out);
}

/// Where this build has the CPU backend it must open; else the test is skipped, and it stays null.
inline void openCpu(int32_t threads, annudf_backend **out) {
  const annudf_status status = annudf_backend_create(nullptr, threads, out);
  if (status == ANNUDF_OK)
    return;
#ifdef ANNUDF_TEST_HAS_CPU
  FAIL() << annudf_last_error();
#else
  EXPECT_EQ(status, ANNUDF_ENVIRONMENT);
  GTEST_SKIP() << annudf_last_error();
#endif
}

/// Ids as the C API takes them; the array must outlive it.
class IdsOf {
public:
  explicit IdsOf(std::span<const int64_t> ids, const annudf_place &place = {})
      : ids_{sizeof ids_, ids.data(), int64_t(ids.size()), place} {}
  operator const annudf_ids *() const { return &ids_; }

private:
  annudf_ids ids_;
};

inline annudf_capture_value arrayValue(const char *name, const std::vector<float> &values,
                                       const int64_t *shape) {
  annudf_capture_value value = {};
  value.size = sizeof value, value.name = name, value.dtype = "f32";
  value.shape = shape, value.rank = 1;
  value.data = values.data(), value.bytes = values.size() * sizeof(float);
  return value;
}

inline std::vector<float> someWeights(int64_t dims, int variant = 0) {
  std::vector<float> weights(static_cast<size_t>(dims));
  for (size_t d = 0; d < weights.size(); ++d)
    weights[d] = 0.5f + float((d + 3 * variant) % 7);
  return weights;
}

/// Binds `weights` to capture "w".
inline void bindWeights(const annudf_artifact *artifact, const std::vector<float> &weights,
                        annudf_captures **out) {
  const int64_t shape[] = {int64_t(weights.size())};
  const annudf_capture_value value = arrayValue("w", weights, shape);
  const annudf_extents extents = {sizeof extents, shape[0], 0, 0};
  ASSERT_EQ(outcome(annudf_captures_bind(artifact, &extents, &value, 1, nullptr, out)), "ok");
}

/// A CPU backend, vectors, and the metric weighted_l2 with its weights.
class WeightedVectors : public testing::Test {
protected:
  static constexpr int64_t kDims = 12, kRows = 1003, kQueries = 45;

  /// Without a CPU backend the test is skipped, and `backend` stays null.
  void SetUp() override {
    openCpu(2, &backend);
    if (!backend)
      return;
    load("weighted_l2", &artifact);
    bindWeights(artifact, weights, &captures);
  }

  const reference::Vectors base = reference::randomVectors(ANNUDF_ELEMENT_F32, kRows, kDims, 1);
  const reference::Vectors queries =
      reference::randomVectors(ANNUDF_ELEMENT_F32, kQueries, kDims, 2);
  annudf_vectors rows = vectorsOf(base), asked = vectorsOf(queries);
  const std::vector<float> weights = someWeights(kDims);
  OwnedArtifact artifact;
  OwnedCaptures captures;
  OwnedBackend backend;
};

struct Found {
  std::vector<int64_t> ids;
  std::vector<float> distances;
  bool operator==(const Found &) const = default;
};

inline Found foundFor(const reference::Vectors &queries, int64_t k) {
  // Poisoned, so that an entry nobody wrote is seen.
  return {std::vector<int64_t>(size_t(queries.rows * k), -777),
          std::vector<float>(size_t(queries.rows * k), -777.0f)};
}

} // namespace annudf::test

#endif // ANNUDF_TEST_CAPI_RUNTIME_RUNTIMEAPI_H
