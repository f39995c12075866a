//===- Environment.cpp - What this machine offers the CUDA backend --------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cuda/driver/Driver.h"
#include "cuda/link/Linker.h"

#include "annudf/runtime/cuda/Cuda.h"

namespace annudf::runtime {

CudaEnvironment describeCuda() {
  CudaEnvironment environment;
  environment.built = true;
  try {
    const cuda::Driver &driver = cuda::Driver::get();
    environment.driver =
        std::to_string(driver.version / 1000) + "." + std::to_string(driver.version % 1000 / 10);
    environment.driverFound = true;
    environment.driverVersion = driver.version;
    int count = 0;
    cuda::check(driver.cuDeviceGetCount(&count), "cuDeviceGetCount");
    for (int i = 0; i < count; ++i) {
      const cuda::Context context(i);
      environment.devices.push_back({std::to_string(i) + ": " + context.name() + ", sm_" +
                                         std::to_string(context.sm()) + ", " +
                                         std::to_string(context.processors()) + " multiprocessors",
                                     context.sm()});
    }
  } catch (const Error &error) {
    (environment.driverFound ? environment.devices.emplace_back().description
                             : environment.driver) = error.what();
  }
  try {
    const cuda::LinkerVersion version = cuda::linkerVersion();
    environment.linker = std::to_string(version.major) + "." + std::to_string(version.minor) +
                         " (" + version.path + ")";
    environment.linkerVersion = int(version.major * 1000 + version.minor * 10);
    environment.linkerFound = true;
  } catch (const Error &error) {
    environment.linker = error.what();
  }
  return environment;
}

} // namespace annudf::runtime
