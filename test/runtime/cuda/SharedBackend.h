//===- SharedBackend.h - The GPU that tests search on -----------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_RUNTIME_CUDA_SHAREDBACKEND_H
#define ANNUDF_TEST_RUNTIME_CUDA_SHAREDBACKEND_H

#include "annudf/runtime/cuda/Cuda.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

namespace annudf::test {

/// The GPU's backend, made once a program. Null, with the reason on standard error, where there is
/// no usable GPU; with ANNUDF_REQUIRE_GPU=1 (scripts/gpu check) that is an error.
inline runtime::CudaBackend *sharedBackend() {
  static const std::unique_ptr<runtime::CudaBackend> backend = [] {
    try {
      return runtime::makeCudaDeviceBackend();
    } catch (const Error &error) {
      const char *required = std::getenv("ANNUDF_REQUIRE_GPU");
      if (required && *required == '1')
        throw;
      std::fprintf(stderr, "NO GPU TESTS: %s\n", error.what());
      return std::unique_ptr<runtime::CudaBackend>();
    }
  }();
  return backend.get();
}

/// Values in the memory of its device.
template <class T> std::vector<T> readBack(uint64_t from, size_t count) {
  std::vector<T> values(count);
  sharedBackend()->copy(reinterpret_cast<uint64_t>(values.data()), from, count * sizeof(T),
                        nullptr);
  sharedBackend()->synchronize(nullptr);
  return values;
}

/// Whether it is the stand-in of host/, on which a test takes fewer rows.
inline bool onStandIn() { return std::getenv("ANNUDF_TEST_STAND_IN") != nullptr; }

} // namespace annudf::test

/// Skips the test where there is no GPU, and says what stays unchecked: "searches there are".
#define REQUIRE_GPU(WHAT)                                                                          \
  if (!sharedBackend())                                                                            \
  GTEST_SKIP() << "no usable GPU on this machine: " WHAT " NOT checked"

#endif // ANNUDF_TEST_RUNTIME_CUDA_SHAREDBACKEND_H
