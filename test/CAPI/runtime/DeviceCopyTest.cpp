//===- DeviceCopyTest.cpp - An index and its copy on the device -----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceApi.h"

using namespace annudf;
using namespace annudf::test;

namespace {

/// The copy on the device goes with the index, and with the state that it is of.
TEST_F(CApiDevice, TheCopyBelongsToTheIndex) {
  const auto freeBytes = [&] {
    ContextScope scope(*context);
    size_t free = 0, total = 0;
    EXPECT_EQ(Driver::get().cuCtxSynchronize(), CUDA_SUCCESS);
    EXPECT_EQ(Driver::get().cuMemGetInfo(&free, &total), CUDA_SUCCESS);
    return int64_t(free);
  };
  const auto large = reference::randomVectors(ANNUDF_ELEMENT_F32, 200000, kDims, 5);
  const annudf_vectors rows = vectorsOf(large);
  constexpr int64_t kCopy = 200000 * kDims * 4; // Ids and padding not counted.
  OwnedIndex big;
  auto build = [&] {
    return outcome(annudf_ivf_flat_build(nullptr, &rows, 16, nullptr, &big, nullptr));
  };
  auto search = [&] {
    Found found = foundFor(queries, kK);
    const annudf_vectors asked = vectorsOf(queries);
    EXPECT_EQ(
        outcome(annudf_ivf_flat_search(backend, big, artifact, captures, &asked, kK, 1, nullptr,
                                       found.ids.data(), found.distances.data(), nullptr)),
        "ok");
  };
  ASSERT_EQ(build(), "ok");
  search();
  (void)&big; // Destroyed: kernels and workspaces of such a search are there from now on.
  const int64_t before = freeBytes();
  ASSERT_EQ(build(), "ok");
  search();
  const int64_t with = freeBytes();
  EXPECT_GT(before - with, kCopy / 2);
  const annudf_vectors few = {sizeof few, large.encoded.data(), 10, kDims, ANNUDF_ELEMENT_F32, {}};
  ASSERT_EQ(outcome(annudf_ivf_flat_extend(nullptr, big, &few, nullptr, nullptr)), "ok");
  EXPECT_GT(freeBytes() - with, kCopy / 2) << "the copy of the state before is still there";
  search();
  EXPECT_GT(before - freeBytes(), kCopy / 2);
  const int64_t id = 5;
  ASSERT_EQ(
      outcome(annudf_ivf_flat_remove(nullptr, big, IdsOf({&id, 1}), nullptr, nullptr, nullptr)),
      "ok");
  EXPECT_LT(before - freeBytes(), kCopy / 2) << "the copy of the state before is still there";
  search();
  EXPECT_GT(before - freeBytes(), kCopy / 2);
  (void)&big; // Destroyed.
  EXPECT_LT(before - freeBytes(), kCopy / 2) << "the copy outlives its index";
}

/// All memory of the device but `left` bytes and what is too small a piece.
class Filled {
public:
  Filled(std::shared_ptr<const Context> context, size_t left) : context(std::move(context)) {
    const ContextScope scope(*this->context);
    CUdeviceptr kept = 0;
    check(Driver::get().cuMemAlloc(&kept, left), "cuMemAlloc");
    for (size_t bytes = size_t(64) << 30; bytes >= size_t(2) << 20; bytes /= 2)
      for (CUdeviceptr piece; Driver::get().cuMemAlloc(&piece, bytes) == CUDA_SUCCESS;)
        pieces.push_back(piece);
    check(Driver::get().cuMemFree(kept), "cuMemFree");
  }
  ~Filled() {
    const ContextScope scope(*context);
    for (const CUdeviceptr piece : pieces)
      (void)Driver::get().cuMemFree(piece);
  }

private:
  const std::shared_ptr<const Context> context;
  std::vector<CUdeviceptr> pieces;
};

/// Rows are removed on the host where the device has no room for the lists before and after.
TEST_F(CApiDevice, RemovesOnTheHostWhereTheDeviceIsFull) {
  const auto large = reference::randomVectors(ANNUDF_ELEMENT_F32, 400000, 4 * kDims, 5);
  const annudf_vectors rows = vectorsOf(large); // 102 MB.
  OwnedIndex there;
  ASSERT_EQ(outcome(annudf_ivf_flat_build(backend, &rows, 16, nullptr, &there, nullptr)), "ok");
  ASSERT_EQ(annudf_ivf_flat_device(there), 0);
  const int64_t ids[] = {7, 399999};
  int64_t removed = 0;
  {
    const Filled filled(context, size_t(48) << 20); // The lists go to the host 32 MiB at a time.
    ASSERT_EQ(
        outcome(annudf_ivf_flat_remove(backend, there, IdsOf(ids), nullptr, nullptr, &removed)),
        "ok");
  }
  EXPECT_EQ(removed, 2);
  EXPECT_EQ(infoOf(there).rows, 399998);
  EXPECT_EQ(annudf_ivf_flat_device(there), -1);
}

} // namespace
