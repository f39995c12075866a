//===- annudf-c/cpp/Device.hpp - Backends and device memory -----*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A part of annudf-c/annudf.hpp, which is to be included.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_C_CPP_DEVICE_HPP
#define ANNUDF_C_CPP_DEVICE_HPP

#include "annudf-c/Device.h"
#include "annudf-c/IvfFlat.h"
#include "annudf-c/cpp/Artifact.hpp"

#include <cstdint>
#include <string>

namespace annudf {
inline namespace v0 {

/// Device memory; it outlives its backend.
class DeviceBuffer {
public:
  uint64_t address() const { return annudf_device_buffer_address(handle_.get()); }
  uint64_t size() const { return annudf_device_buffer_size(handle_.get()); }

private:
  friend class Backend;
  explicit DeviceBuffer(annudf_device_buffer *handle) : handle_(handle) {}
  detail::Owner<annudf_device_buffer, annudf_device_buffer_destroy> handle_;
};

/// Where searches run.
class Backend {
public:
  static Backend cpu(int32_t threads = 0) {
    annudf_backend *made = nullptr;
    detail::check(annudf_backend_create_cpu(threads, &made));
    return Backend(made);
  }
  static Backend cuda(int32_t device = 0) {
    annudf_backend *made = nullptr;
    detail::check(annudf_backend_create_cuda(device, &made));
    return Backend(made);
  }
  std::string describe() const { return annudf_backend_describe(c()); }
  int32_t device() const { return annudf_backend_device(c()); } ///< -1 for the CPU.
  int32_t arch() const { return annudf_backend_arch(c()); }     ///< 90 for sm_90; 0 for the CPU.
  /// Makes the kernel of metric and element type, so that no search waits for it.
  void precompile(const Artifact &artifact, annudf_element element) const {
    detail::check(annudf_ivf_flat_precompile(c(), artifact.c(), element, nullptr));
  }
  DeviceBuffer allocate(uint64_t bytes, uint64_t stream = 0) const {
    annudf_device_buffer *made = nullptr;
    detail::check(annudf_device_allocate(c(), bytes, stream, &made));
    return DeviceBuffer(made);
  }
  void copy(uint64_t destination, uint64_t source, uint64_t bytes, uint64_t stream = 0) const {
    detail::check(annudf_device_copy(c(), destination, source, bytes, stream));
  }
  void synchronize(uint64_t stream = 0) const {
    detail::check(annudf_device_synchronize(c(), stream));
  }
  annudf_backend *c() const { return handle_.get(); }

private:
  explicit Backend(annudf_backend *handle) : handle_(handle) {}
  detail::Owner<annudf_backend, annudf_backend_destroy> handle_;
};

} // namespace v0
} // namespace annudf

#endif // ANNUDF_C_CPP_DEVICE_HPP
