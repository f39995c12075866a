//===- Environment.cpp - This machine in the C API ------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handles.h"

using namespace annudf;
using namespace annudf::capi;

annudf_status annudf_environment_describe(annudf_environment **environment) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(environment, "environment");
    auto found = std::make_unique<annudf_environment>();
    const runtime::CudaEnvironment &cuda = found->cuda = runtime::describeCuda();
    annudf_environment_info &info = found->info;
    info.size = sizeof info;
    try {
      found->cpu = runtime::makeCpuBackend()->describe();
      info.has_cpu = 1;
    } catch (const Error &error) {
      found->cpu = error.what();
    }
    info.cpu = found->cpu.c_str(), info.has_cuda = cuda.built;
    info.driver = cuda.driver.c_str(), info.linker = cuda.linker.c_str();
    info.driver_found = cuda.driverFound, info.linker_found = cuda.linkerFound;
    info.driver_version = cuda.driverVersion, info.linker_version = cuda.linkerVersion;
    for (const runtime::CudaDevice &device : cuda.devices) {
      found->devices.push_back(device.description.c_str());
      found->archs.push_back(device.arch);
    }
    info.device_count = cuda.devices.size();
    info.devices = found->devices.data(), info.device_archs = found->archs.data();
    *environment = found.release();
  });
}

const annudf_environment_info *annudf_environment_get(const annudf_environment *environment) {
  return environment ? &environment->info : nullptr;
}

void annudf_environment_destroy(annudf_environment *environment) { delete environment; }
