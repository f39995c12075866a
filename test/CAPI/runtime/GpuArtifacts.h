//===- GpuArtifacts.h - Lambdas that GPU tests search with ------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where a GPU is no compiler of ours need be: GpuArtifacts.cpp compiles them beforehand.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_CAPI_RUNTIME_GPUARTIFACTS_H
#define ANNUDF_TEST_CAPI_RUNTIME_GPUARTIFACTS_H

#include "annudf/annudf.hpp"

namespace annudf::test {

inline constexpr const char *kDescriptorSymbol = "theirs";

/// With whole numbers and weights of few bits no rounding depends on what is fused.
inline annudf::metric weightedSizes() {
  return {"weighted",
          [w = annudf::capture<float>("w", annudf::dim)](auto x, auto y, auto acc, auto ctx) {
            return acc + w[ctx.dim] * annudf::abs(x - y);
          }};
}

} // namespace annudf::test

#endif // ANNUDF_TEST_CAPI_RUNTIME_GPUARTIFACTS_H
