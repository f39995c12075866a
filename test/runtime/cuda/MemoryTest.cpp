//===- MemoryTest.cpp - What a device has no room for ---------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Refused by name, with the bytes asked for, and what is asked for next is there. More than any
// device has is asked for, so that these run on the stand-in for a GPU too.
//
//===----------------------------------------------------------------------===//

#include "DeviceFaults.h"

#include "cuda/resident/DeviceIndex.h"
#include "cuda/search/Workspace.h"

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::runtime::cuda;
using namespace annudf::test;

namespace {

class CudaMemory : public testing::Test {
protected:
  void SetUp() override {
    REQUIRE_GPU("what is said where memory is short is");
    context = std::make_shared<Context>(0);
  }
  std::shared_ptr<const Context> context;
};

} // namespace

TEST_F(CudaMemory, AnIndexWithoutRoomIsRefusedByName) {
  const OwnStream stream(context);
  const std::vector<float> centers(size_t(1000) * 1536), none;
  ListShape shape = {std::vector<uint32_t>(1000, 4000000), 1536, 1536, centers, none};
  const std::string text =
      errorOf([&] { DeviceIndex(shape, context, stream.get()); }, ErrorKind::Environment);
  EXPECT_EQ(bytesAskedFor(text, "the index's 4000000000 rows of 1536 dims", *context),
            IndexBytes(shape).rows)
      << text;
  EXPECT_EQ(IndexBytes(shape).rows, uint64_t(4000000000) * 1536 * 4 + 4096);
  shape.sizes.assign(1000, 1); // As many centers.
  const DeviceIndex next(shape, context, stream.get());
  EXPECT_EQ(next.bytes(), IndexBytes(shape).all());
}

TEST_F(CudaMemory, AWorkspaceWithoutRoomIsRefusedByName) {
  const ContextScope scope(*context); // As a search has it.
  Workspace workspace(context, kUsualWorkspace);
  BatchShape shape;
  shape.queries = 3, shape.lists = 100, shape.probes = 10, shape.groups = uint64_t(1) << 36;
  shape.allGroups = shape.groups;
  const auto prepare = [&] { (void)workspace.prepare(shape); };
  const std::string text = errorOf(prepare, ErrorKind::Environment);
  EXPECT_EQ(bytesAskedFor(text, "a search's workspace", *context), workspaceBytes(shape)) << text;
  shape.groups = shape.allGroups = 1000;
  prepare();
  EXPECT_GE(workspace.arenaBytes(), workspaceBytes(shape));
  const std::string staged =
      errorOf([&] { (void)workspace.staging(size_t(1) << 44); }, ErrorKind::Environment);
  EXPECT_EQ(bytesAskedFor(staged, "a search's queries and results", *context), uint64_t(1) << 44)
      << staged;
  EXPECT_GE(workspace.staging(1000).size(), 1000U);
}

/// Every later call says the same, so this is what its user reads.
TEST_F(CudaMemory, AnEndedContextIsSaidToBeOne) {
  const auto said = [](CUresult result) {
    return errorOf([&] { check(result, "cuStreamSynchronize"); }, ErrorKind::Environment);
  };
  for (const CUresult ended :
       {CUDA_ERROR_LAUNCH_FAILED, CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_ILLEGAL_INSTRUCTION})
    EXPECT_EQ(said(ended), "CUDA: cuStreamSynchronize failed: " + textOf(ended) + kEnded);
  EXPECT_EQ(said(CUDA_ERROR_INVALID_VALUE),
            "CUDA: cuStreamSynchronize failed: " + textOf(CUDA_ERROR_INVALID_VALUE));
}
