//===- CallerMemory.h - Addresses and streams of callers --------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What callers hand in as numbers is looked at before a kernel relies on it: a wrong
// address would end the context of everyone who uses the device in this process.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CUDA_DRIVER_CALLERMEMORY_H
#define ANNUDF_RUNTIME_LIB_CUDA_DRIVER_CALLERMEMORY_H

#include "Driver.h"

#include "annudf/runtime/cuda/Cuda.h"

namespace annudf::runtime::cuda {

/// Whether `bytes` bytes at `address` are memory of the context's device. Managed memory
/// is; pinned host memory is not, though a kernel could read it. The context is current.
/// \param alignment  in bytes, a power of two.
/// \throws Error(Usage) naming `what` and the fault. Memory that a pool has taken back is
/// not noticed, nor are rows beyond the end of an array that a pool has cut out.
void checkDeviceMemory(const Context &context, uint64_t address, uint64_t bytes, size_t alignment,
                       const char *what);

/// A caller's stream as the driver takes it: 1, the legacy default stream, becomes 0, so
/// that one stream has one handle. The context is current.
/// \throws Error(Usage) for a stream of another device.
CUstream checkStream(const Context &context, void *stream);

std::unique_ptr<DeviceMemory> allocateOnStream(std::shared_ptr<const Context> context,
                                               uint64_t bytes, CUstream stream);
std::unique_ptr<StreamEvent> recordEvent(std::shared_ptr<const Context> context, CUstream stream);

} // namespace annudf::runtime::cuda

#endif // ANNUDF_RUNTIME_LIB_CUDA_DRIVER_CALLERMEMORY_H
