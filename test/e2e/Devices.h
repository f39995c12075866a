//===- Devices.h - The devices that tests search on -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_E2E_DEVICES_H
#define ANNUDF_TEST_E2E_DEVICES_H

#include "annudf/runtime/engine/Search.h"

#include <cstdlib>
#include <map>
#include <memory>
#include <string>

namespace annudf::test {

enum class Device { Cpu, Cuda };

/// The device's backend, made once. Null, with the reason in `why`, where the device is
/// missing; with ANNUDF_REQUIRE_GPU=1 (scripts/gpu check) a missing GPU is an error.
inline runtime::Backend *backendOf(Device device, std::string *why) {
  struct Entry {
    std::unique_ptr<runtime::Backend> backend;
    std::string why;
  };
  static std::map<Device, Entry> cache;
  auto [it, isNew] = cache.try_emplace(device);
  if (isNew)
    try {
      it->second.backend =
          device == Device::Cpu ? runtime::makeCpuBackend() : runtime::makeCudaBackend();
    } catch (const Error &error) {
      const char *required = std::getenv("ANNUDF_REQUIRE_GPU");
      if (device == Device::Cuda && required && *required == '1')
        throw;
      it->second.why = error.what();
    }
  *why = it->second.why;
  return it->second.backend.get();
}

} // namespace annudf::test

#endif // ANNUDF_TEST_E2E_DEVICES_H
