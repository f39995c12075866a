//===- FilterTest.cpp - Filtered searches of the CUDA backend -------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Needs a GPU; without one every test is skipped and says so.
//
//===----------------------------------------------------------------------===//

#include "../FilterTesting.h"
#include "CudaMetrics.h"

#include "annudf/runtime/cuda/Cuda.h"

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::test;

namespace {

std::unique_ptr<CudaBackend> gpu() {
  try {
    return makeCudaDeviceBackend();
  } catch (const Error &error) {
    std::fprintf(stderr, "NO GPU TESTS: %s\n", error.what());
    return nullptr;
  }
}

TEST(CudaFilter, EqualsTheSearchWithoutOneStruckOut) {
  const auto backend = gpu();
  if (!backend)
    GTEST_SKIP() << "no usable GPU on this machine: filters of the CUDA search are NOT checked";
  for (const char *name : {"l2", "inner_product", "weighted_l2", "minkowski"}) {
    const TestMetric &test = testMetric(name);
    // One query takes the kernel of pairs, 13 and 70 that of tiles.
    for (const annudf_element element : {ANNUDF_ELEMENT_F32, ANNUDF_ELEMENT_U8})
      if (std::count(test.elements.begin(), test.elements.end(), element))
        checkFilters(*backend, cudaMetric(test), test, element, {1, 13, 70});
  }
}

TEST(CudaFilter, RefusesTooFewBits) {
  const auto backend = gpu();
  if (!backend)
    GTEST_SKIP() << "no usable GPU on this machine: filters of the CUDA search are NOT checked";
  checkRefusedFilters(*backend, cudaMetric(testMetric("l2")));
}

} // namespace
