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
    found->cuda = runtime::describeCuda();
    try {
      found->cpu = runtime::makeCpuBackend()->describe();
      found->hasCpu = true;
    } catch (const Error &error) {
      found->cpu = error.what();
    }
    *environment = found.release();
  });
}

bool annudf_environment_has_cpu(const annudf_environment *environment) {
  return environment && environment->hasCpu;
}

bool annudf_environment_has_cuda(const annudf_environment *environment) {
  return environment && environment->cuda.built;
}

const char *annudf_environment_cpu(const annudf_environment *environment) {
  return environment ? environment->cpu.c_str() : "";
}

bool annudf_environment_driver_found(const annudf_environment *environment) {
  return environment && environment->cuda.driverFound;
}

const char *annudf_environment_driver(const annudf_environment *environment) {
  return environment ? environment->cuda.driver.c_str() : "";
}

bool annudf_environment_linker_found(const annudf_environment *environment) {
  return environment && environment->cuda.linkerFound;
}

int32_t annudf_environment_driver_version(const annudf_environment *environment) {
  return environment ? environment->cuda.driverVersion : 0;
}

int32_t annudf_environment_linker_version(const annudf_environment *environment) {
  return environment ? environment->cuda.linkerVersion : 0;
}

int32_t annudf_environment_device_arch(const annudf_environment *environment, size_t index) {
  return index < annudf_environment_device_count(environment)
             ? environment->cuda.devices[index].arch
             : 0;
}

const char *annudf_environment_linker(const annudf_environment *environment) {
  return environment ? environment->cuda.linker.c_str() : "";
}

size_t annudf_environment_device_count(const annudf_environment *environment) {
  return environment ? environment->cuda.devices.size() : 0;
}

const char *annudf_environment_device(const annudf_environment *environment, size_t index) {
  return index < annudf_environment_device_count(environment)
             ? environment->cuda.devices[index].description.c_str()
             : nullptr;
}

void annudf_environment_destroy(annudf_environment *environment) { delete environment; }
