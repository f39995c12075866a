//===- CapturesTest.cpp - Captures in device memory -----------------------===//
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

#include "cuda/resident/DeviceCaptures.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace annudf;
using namespace annudf::runtime;

namespace {

std::shared_ptr<const cuda::Context> gpu() {
  try {
    return std::make_shared<const cuda::Context>(0);
  } catch (const Error &error) {
    std::fprintf(stderr, "NO GPU TESTS: %s\n", error.what());
    return nullptr;
  }
}

/// Ages of rows in a capture of that name, and a number beside them.
BoundCaptures bind(const char *name, float first, float number) {
  Manifest manifest;
  manifest.name = name;
  manifest.captures = {{name, ANNUDF_CAPTURE_F32, {{ANNUDF_EXTENT_ROW, 0}}},
                       {"number", ANNUDF_CAPTURE_F32, {}}};
  const float ages[] = {first, 2, 3};
  NumericArray array{"f32", {3}, std::vector<std::byte>(sizeof ages), "ages"};
  std::memcpy(array.storage.data(), &ages[0], sizeof ages);
  NumericArray scalar{"f32", {}, std::vector<std::byte>(sizeof number), "number"};
  std::memcpy(scalar.storage.data(), &number, sizeof number);
  return BoundCaptures::bind(manifest, {4, 3, 0}, {{name, array}, {"number", scalar}});
}

TEST(CudaCaptures, AnArrayIsCopiedOnceWhateverElseChanges) {
  const std::shared_ptr<const cuda::Context> context = gpu();
  if (!context)
    GTEST_SKIP() << "no usable GPU on this machine: copies of captures are NOT checked";
  cuda::CaptureCache cache(context);
  const auto one = cache.get(bind("age", 1, 1));
  // Another number beside it, and another metric.
  EXPECT_EQ(cache.get(bind("age", 1, 2))->slots.slot[0], one->slots.slot[0]);
  EXPECT_EQ(cache.get(bind("old", 1, 1))->slots.slot[0], one->slots.slot[0]);
  EXPECT_NE(cache.get(bind("age", 1, 2))->slots.slot[1], one->slots.slot[1]);
  EXPECT_NE(cache.get(bind("age", 5, 1))->slots.slot[0], one->slots.slot[0]);
}

} // namespace
