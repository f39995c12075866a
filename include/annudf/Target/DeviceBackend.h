//===- DeviceBackend.h - Who makes code for GPUs ----------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TARGET_DEVICEBACKEND_H
#define ANNUDF_TARGET_DEVICEBACKEND_H

#include <optional>
#include <string_view>

namespace annudf {

enum class DeviceBackend {
  LibNvvm, ///< NVIDIA's compiler: LTO-IR, which nvJitLink inlines into the scan.
  Nvptx,   ///< LLVM's backend: PTX, which the scan calls. Needs no CUDA toolkit.
};

#define ANNUDF_LIBNVVM_NAME "libnvvm"
#define ANNUDF_NVPTX_NAME "nvptx"

/// All names, for messages.
inline constexpr const char *kDeviceBackends = ANNUDF_LIBNVVM_NAME ", " ANNUDF_NVPTX_NAME;

inline std::optional<DeviceBackend> parseDeviceBackend(std::string_view name) {
  if (name == ANNUDF_LIBNVVM_NAME)
    return DeviceBackend::LibNvvm;
  if (name == ANNUDF_NVPTX_NAME)
    return DeviceBackend::Nvptx;
  return std::nullopt;
}

} // namespace annudf

#endif // ANNUDF_TARGET_DEVICEBACKEND_H
