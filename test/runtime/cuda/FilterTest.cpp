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
#include "SharedBackend.h"

#include "annudf/runtime/cuda/Cuda.h"

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::test;

namespace {

TEST(CudaFilter, EqualsTheSearchWithoutOneStruckOut) {
  REQUIRE_GPU("filters of the CUDA search are");
  for (const char *name : {"l2", "inner_product", "weighted_l2", "minkowski"}) {
    const TestMetric &test = testMetric(name);
    // One query takes the kernel of pairs, 13 and 70 that of tiles.
    for (const annudf_element element : {ANNUDF_ELEMENT_F32, ANNUDF_ELEMENT_U8})
      if (std::count(test.elements.begin(), test.elements.end(), element))
        checkFilters(*sharedBackend(), cudaMetric(test), test, element, {1, 13, 70});
  }
}

TEST(CudaFilter, RefusesTooFewBits) {
  REQUIRE_GPU("filters of the CUDA search are");
  checkRefusedFilters(*sharedBackend(), cudaMetric(testMetric("l2")));
}

} // namespace
