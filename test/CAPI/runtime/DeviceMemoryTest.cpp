//===- DeviceMemoryTest.cpp - Who owns what is on the device --------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceApi.h"

#include <atomic>

using namespace annudf;
using namespace annudf::test;

namespace {

/// What is on the device already is read where it is, and kept until no search needs it.
TEST_F(CApiDevice, CapturesInDeviceMemory) {
  const std::vector<float> weights = someWeights(kDims, 3);
  const int64_t shape[] = {kDims};
  const annudf_extents extents = {sizeof extents, kDims, 0, 0};
  annudf_capture_value value = arrayValue("w", weights, shape);
  OwnedCaptures onHost, onDevice, ofHost, elsewhere;
  ASSERT_EQ(outcome(annudf_captures_bind(artifact, &extents, &value, 1, nullptr, &onHost)), "ok");

  annudf_device_buffer *memory = nullptr;
  ASSERT_EQ(outcome(annudf_device_allocate(backend, value.bytes, kLegacy, &memory)), "ok");
  ASSERT_EQ(
      outcome(annudf_device_copy(backend, annudf_device_buffer_address(memory),
                                 reinterpret_cast<uint64_t>(weights.data()), value.bytes, kLegacy)),
      "ok");
  ASSERT_EQ(outcome(annudf_device_synchronize(backend, kLegacy)), "ok");
  struct Owner {
    annudf_device_buffer *memory;
    std::atomic<int> released{0};
  } owner{memory};
  value.place = {ANNUDF_MEMORY_CUDA, 0, 0};
  value.data = reinterpret_cast<const void *>(annudf_device_buffer_address(memory));
  value.owner = &owner;
  value.release = [](void *kept) {
    auto &owner = *static_cast<Owner *>(kept);
    annudf_device_buffer_destroy(owner.memory);
    ++owner.released;
  };
  ASSERT_EQ(outcome(annudf_captures_bind(artifact, &extents, &value, 1, nullptr, &onDevice)), "ok");
  const Found want = expected(queries, onHost);
  EXPECT_EQ(want, expected(queries, onDevice));
  EXPECT_FALSE(want == expected(queries)) << "the weights make no difference";

  const Stream stream(context);
  Arrays arrays;
  upload(queries, stream.handle(), arrays);
  ASSERT_EQ(enqueue(arrays, stream.handle(), onDevice), "ok");
  (void)&onDevice; // Destroyed at once: the search under way holds the memory.
  EXPECT_EQ(want, download(arrays, stream.handle()));
  // Another search lets go of what finished ones held.
  for (int i = 0; i < 8 && owner.released == 0; ++i)
    (void)expected(queries);
  EXPECT_LE(owner.released, 1);

  const auto refusal = [&](annudf_captures *captures) {
    Found found = foundFor(queries, kK);
    const annudf_vectors rows = vectorsOf(queries);
    return outcome(annudf_ivf_flat_search(backend, index, artifact, captures, &rows, kK, kProbes,
                                          nullptr, found.ids.data(), found.distances.data(),
                                          nullptr));
  };
  // Memory of the host would be read by kernels, which ends the device's context.
  value.data = weights.data(), value.release = nullptr;
  ASSERT_EQ(outcome(annudf_captures_bind(artifact, &extents, &value, 1, nullptr, &ofHost)), "ok");
  const std::string host = refusal(ofHost);
  EXPECT_TRUE(host.starts_with("usage: capture 'w' at address 0x")) << host;
  EXPECT_TRUE(host.ends_with(
      ": it is no memory of a CUDA device (host memory, or freed already); give memory of CUDA "
      "device 0"))
      << host;
  value.place.device = 7;
  ASSERT_EQ(outcome(annudf_captures_bind(artifact, &extents, &value, 1, nullptr, &elsewhere)),
            "ok");
  EXPECT_EQ(refusal(elsewhere),
            "usage: capture 'w' is on CUDA device 7; this backend searches on device 0");
}

TEST_F(CApiDevice, TellsWhichKernelsRan) {
  Found found = foundFor(queries, kK);
  annudf_ivf_flat_search_stats stats = {};
  stats.size = sizeof stats;
  annudf_vectors rows = vectorsOf(queries);
  auto search = [&] {
    EXPECT_EQ(
        outcome(annudf_ivf_flat_search(backend, index, artifact, captures, &rows, kK, kProbes,
                                       nullptr, found.ids.data(), found.distances.data(), &stats)),
        "ok");
    return std::string(stats.family) + ": " + stats.why;
  };
  const std::string many = search(); // And how many a row, where lists are unequal enough.
  EXPECT_TRUE(many.starts_with("tiles: 20.8 queries a list")) << many;
  EXPECT_TRUE(many.ends_with(": up to 8 share a read")) << many;
  rows.rows = 1;
  EXPECT_EQ(search(), "pairs: 0.417 queries a list: each reads its rows alone");
}

/// Rows and queries on the host or on the device: one function, the same neighbours.
TEST_F(CApiDevice, KnnTakesEachArrayWhereItIs) {
  const Stream own(context);
  const uint64_t stream = own.handle();
  const annudf_vectors rows = vectorsOf(base), asked = vectorsOf(queries);
  Arrays arrays;
  upload(queries, stream, arrays);
  OwnedDeviceBuffer dataset;
  ASSERT_EQ(outcome(annudf_device_allocate(backend, base.encoded.size(), stream, &dataset)), "ok");
  ASSERT_EQ(outcome(annudf_device_copy(backend, annudf_device_buffer_address(dataset),
                                       reinterpret_cast<uint64_t>(rows.data), base.encoded.size(),
                                       stream)),
            "ok");
  annudf_vectors rowsThere = onDevice(rows, stream), askedThere = onDevice(asked, stream);
  rowsThere.data = reinterpret_cast<const void *>(annudf_device_buffer_address(dataset));
  askedThere.data = reinterpret_cast<const void *>(annudf_device_buffer_address(arrays.queries));
  const auto knn = [&](const annudf_vectors &from, const annudf_vectors &of, int64_t *ids,
                       float *distances) {
    return outcome(annudf_brute_force_knn(backend, artifact, captures, &from, &of, kK, nullptr, ids,
                                          distances, nullptr));
  };
  Found all = foundFor(queries, kK), found = all;
  ASSERT_EQ(knn(rows, asked, all.ids.data(), all.distances.data()), "ok");
  ASSERT_EQ(knn(rowsThere, asked, found.ids.data(), found.distances.data()), "ok");
  EXPECT_EQ(found, all);
  for (const annudf_vectors &from : {rows, rowsThere}) {
    ASSERT_EQ(knn(from, askedThere,
                  reinterpret_cast<int64_t *>(annudf_device_buffer_address(arrays.ids)),
                  reinterpret_cast<float *>(annudf_device_buffer_address(arrays.distances))),
              "ok");
    EXPECT_EQ(download(arrays, stream), all);
  }
  rowsThere.place.device = 1;
  EXPECT_EQ(
      knn(rowsThere, asked, found.ids.data(), found.distances.data()),
      "usage: annudf_brute_force_knn: dataset is in memory of CUDA device 1, the backend is " +
          std::string(annudf_backend_get(backend)->description) +
          "; give the backend of that device");
}

} // namespace
