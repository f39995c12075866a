//===- DeviceMemoryTest.cpp - Who owns what is on the device --------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceApi.h"
#include "Support/TestFiles.h"

#include <atomic>
#include <numeric>
#include <span>

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

/// Ids and columns in memory of the device make the index that those of the host make, and its
/// lists stay there.
TEST_F(CApiDevice, TakesIdsAndColumnsOfTheDevice) {
  struct OnDevice {
    annudf_device_buffer *memory = nullptr;
    ~OnDevice() { annudf_device_buffer_destroy(memory); }
    uint64_t address() const { return annudf_device_buffer_address(memory); }
  };
  const auto send = [&](const auto &values, OnDevice &to) {
    const uint64_t bytes = values.size() * sizeof values[0];
    ASSERT_EQ(outcome(annudf_device_allocate(backend, bytes, kLegacy, &to.memory)), "ok");
    ASSERT_EQ(
        outcome(annudf_device_copy(backend, to.address(), reinterpret_cast<uint64_t>(values.data()),
                                   bytes, kLegacy)),
        "ok");
  };
  const annudf_vectors rows = vectorsOf(queries);
  std::vector<int64_t> ids(kQueries);
  std::vector<float> ages(2 * kQueries);
  for (size_t i = 0; i < ids.size(); ++i)
    ids[i] = int64_t(1000 + 7 * i);
  for (size_t i = 0; i < ages.size(); ++i)
    ages[i] = float(i);
  OnDevice idsThere, agesThere;
  send(ids, idsThere);
  send(ages, agesThere);
  const annudf_place there = {ANNUDF_MEMORY_CUDA, 0, kLegacy};
  const std::span<const int64_t> numbers = {reinterpret_cast<const int64_t *>(idsThere.address()),
                                            ids.size()};
  const int64_t shape[] = {2 * kQueries};
  const annudf_capture_value values = arrayValue("age", ages, shape);
  annudf_capture_value valuesThere = values;
  valuesThere.place = kDevice;
  valuesThere.data = reinterpret_cast<const void *>(agesThere.address());
  const TempDir dir;
  OwnedIndex made[2];
  for (const bool onDevice : {false, true}) {
    OwnedIndex &one = made[onDevice];
    ASSERT_EQ(outcome(annudf_ivf_flat_build(backend, &rows, 4, nullptr, &one, nullptr)), "ok");
    ASSERT_EQ(outcome(annudf_ivf_flat_extend(
                  backend, one, &rows, onDevice ? IdsOf(numbers, there) : IdsOf(ids), nullptr)),
              "ok");
    std::vector<int64_t> all(2 * kQueries);
    std::iota(all.begin(), all.end(), 0);
    std::copy(ids.begin(), ids.end(), all.begin() + kQueries);
    ASSERT_EQ(outcome(annudf_ivf_flat_add_columns(backend, one, IdsOf(all),
                                                  onDevice ? &valuesThere : &values, 1)),
              "ok");
    int64_t removed = 0;
    ASSERT_EQ(outcome(annudf_ivf_flat_remove(backend, one,
                                             onDevice ? IdsOf(numbers.first(9), there)
                                                      : IdsOf(std::span(ids).first(9)),
                                             nullptr, nullptr, &removed)),
              "ok");
    EXPECT_EQ(removed, 9);
    EXPECT_EQ(annudf_ivf_flat_device(one), 0);
    ASSERT_EQ(outcome(annudf_ivf_flat_save(one, (dir / std::to_string(onDevice)).c_str(), nullptr,
                                           nullptr)),
              "ok");
  }
  EXPECT_EQ(readFile(dir / "0", 1 << 20), readFile(dir / "1", 1 << 20));
  EXPECT_TRUE(outcome(annudf_ivf_flat_remove(backend, made[1], IdsOf(ids, there), nullptr, nullptr,
                                             nullptr))
                  .starts_with("usage: ids at address 0x"))
      << annudf_last_error();
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
