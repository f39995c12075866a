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
  auto build = [&] { return outcome(annudf_ivf_flat_build(&rows, 16, nullptr, &big)); };
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
  const annudf_vectors few = {sizeof few, large.encoded.data(), 10, kDims, ANNUDF_ELEMENT_F32};
  ASSERT_EQ(outcome(annudf_ivf_flat_extend(big, &few, nullptr, nullptr)), "ok");
  EXPECT_GT(freeBytes() - with, kCopy / 2) << "the copy of the state before is still there";
  search();
  EXPECT_GT(before - freeBytes(), kCopy / 2);
  const int64_t id = 5;
  ASSERT_EQ(outcome(annudf_ivf_flat_remove(big, &id, 1, nullptr, nullptr, nullptr)), "ok");
  EXPECT_LT(before - freeBytes(), kCopy / 2) << "the copy of the state before is still there";
  search();
  EXPECT_GT(before - freeBytes(), kCopy / 2);
  (void)&big; // Destroyed.
  EXPECT_LT(before - freeBytes(), kCopy / 2) << "the copy outlives its index";
}

} // namespace
