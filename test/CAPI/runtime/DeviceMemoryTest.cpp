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
  OwnedCaptures onHost, onDevice, elsewhere;
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
  value.memory = ANNUDF_MEMORY_CUDA, value.device = 0;
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

  value.device = 7, value.release = nullptr;
  ASSERT_EQ(outcome(annudf_captures_bind(artifact, &extents, &value, 1, nullptr, &elsewhere)),
            "ok");
  Found found = foundFor(queries, kK);
  const annudf_vectors rows = vectorsOf(queries);
  EXPECT_EQ(
      outcome(annudf_ivf_flat_search(backend, index, artifact, elsewhere, &rows, kK, kProbes,
                                     nullptr, found.ids.data(), found.distances.data(), nullptr)),
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
  EXPECT_EQ(search(), "tiles: 20.8 queries a list: up to 8 share a reading");
  rows.rows = 1;
  EXPECT_EQ(search(), "pairs: 0.417 queries a list: each reads it for itself");
}

/// The copy on the device goes with the index, and with the state that it is of.
TEST_F(CApiDevice, TheCopyBelongsToTheIndex) {
  const auto freeBytes = [&] {
    ContextScope scope(*context);
    size_t free = 0, total = 0;
    EXPECT_EQ(Driver::get().cuCtxSynchronize(), CUDA_SUCCESS);
    EXPECT_EQ(Driver::get().cuMemGetInfo(&free, &total), CUDA_SUCCESS);
    return int64_t(free);
  };
  (void)expected(queries); // Workspaces and kernels are there from now on.
  const auto large = reference::randomVectors(ANNUDF_ELEMENT_F32, 200000, kDims, 5);
  const annudf_vectors rows = vectorsOf(large);
  constexpr int64_t kCopy = 200000 * kDims * 4; // Ids and padding not counted.
  const int64_t before = freeBytes();
  OwnedIndex big;
  ASSERT_EQ(outcome(annudf_ivf_flat_build(&rows, 16, nullptr, &big)), "ok");
  auto search = [&] {
    Found found = foundFor(queries, kK);
    const annudf_vectors asked = vectorsOf(queries);
    EXPECT_EQ(
        outcome(annudf_ivf_flat_search(backend, big, artifact, captures, &asked, kK, 1, nullptr,
                                       found.ids.data(), found.distances.data(), nullptr)),
        "ok");
  };
  search();
  const int64_t with = freeBytes();
  EXPECT_GT(before - with, kCopy / 2);
  const annudf_vectors few = {sizeof few, large.encoded.data(), 10, kDims, ANNUDF_ELEMENT_F32};
  ASSERT_EQ(outcome(annudf_ivf_flat_extend(big, &few, nullptr, nullptr, nullptr)), "ok");
  EXPECT_GT(freeBytes() - with, kCopy / 2) << "the copy of the state before is still there";
  search();
  EXPECT_GT(before - freeBytes(), kCopy / 2);
  (void)&big; // Destroyed.
  EXPECT_LT(before - freeBytes(), kCopy / 2) << "the copy outlives its index";
}

} // namespace
