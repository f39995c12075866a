//===- NoCuda.cpp - The CUDA backend of a build without CUDA --------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/cuda/Cuda.h"

namespace annudf::runtime {

std::unique_ptr<CudaBackend> makeCudaDeviceBackend(int) {
  throw Error(ErrorKind::Environment, "annudf was built without CUDA: " ANNUDF_CUDA_WHY_NOT);
}

std::unique_ptr<CudaBackend> makeCudaTeamBackend(std::span<const int>, TeamMode) {
  return makeCudaDeviceBackend(0);
}

std::unique_ptr<Backend> makeCudaBackend(int device) { return makeCudaDeviceBackend(device); }

void precompileForCuda(const MetricView &, ScanElements, int, SearchStats *) {
  throw Error(ErrorKind::Environment, "annudf was built without CUDA: " ANNUDF_CUDA_WHY_NOT);
}

CudaEnvironment describeCuda() {
  CudaEnvironment environment;
  environment.driver = environment.linker =
      "not looked for: annudf was built without CUDA (" ANNUDF_CUDA_WHY_NOT ")";
  return environment;
}

} // namespace annudf::runtime
