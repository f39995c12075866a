//===- Driver.h - The CUDA driver, found at run time ------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// libcuda is opened at run time, so that one binary serves machines with and without
// a GPU. Every call is checked and becomes Error(Environment) that names the call.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CUDA_DRIVER_DRIVER_H
#define ANNUDF_RUNTIME_LIB_CUDA_DRIVER_DRIVER_H

#include "annudf/Support/Error.h"

#include <cstddef>
#include <cstdint>
#include <cuda.h>
#include <memory>
#include <string>

namespace annudf::runtime::cuda {

// cuda.h renames calls to their current version (cuMemAlloc is cuMemAlloc_v2); the
// list expands to those names, in the table as in dlsym.
// clang-format off: a call a line.
#define ANNUDF_CUDA_CALLS(X) \
  X(cuInit) \
  X(cuDriverGetVersion) \
  X(cuDeviceGet) \
  X(cuDeviceGetCount) \
  X(cuDeviceGetName) \
  X(cuDeviceGetAttribute) \
  X(cuDevicePrimaryCtxRetain) \
  X(cuDevicePrimaryCtxRelease) \
  X(cuCtxPushCurrent) \
  X(cuCtxPopCurrent) \
  X(cuMemAlloc) \
  X(cuMemFree) \
  X(cuMemGetInfo) \
  X(cuMemHostAlloc) \
  X(cuMemFreeHost) \
  X(cuMemcpyHtoD) \
  X(cuMemcpyDtoH) \
  X(cuMemcpyHtoDAsync) \
  X(cuMemcpyDtoHAsync) \
  X(cuMemsetD8) \
  X(cuMemsetD8Async) \
  X(cuStreamCreate) \
  X(cuStreamDestroy) \
  X(cuStreamSynchronize) \
  X(cuStreamWaitEvent) \
  X(cuEventCreate) \
  X(cuEventDestroy) \
  X(cuEventElapsedTime) \
  X(cuEventRecord) \
  X(cuEventQuery) \
  X(cuEventSynchronize) \
  X(cuModuleLoadData) \
  X(cuModuleUnload) \
  X(cuModuleGetFunction) \
  X(cuFuncSetAttribute) \
  X(cuGraphAddNode) \
  X(cuGraphCreate) \
  X(cuGraphDestroy) \
  X(cuGraphExecDestroy) \
  X(cuGraphExecNodeSetParams) \
  X(cuGraphInstantiate) \
  X(cuGraphLaunch) \
  X(cuLaunchKernel) \
  X(cuLaunchKernelEx) \
  X(cuGetErrorName) \
  X(cuGetErrorString) \
  X(cuPointerGetAttributes) \
  X(cuMemGetAddressRange) \
  X(cuMemRetainAllocationHandle) \
  X(cuMemRelease) \
  X(cuStreamGetCtx) \
  X(cuCtxGetDevice) \
  X(cuCtxSynchronize) \
  X(cuCtxEnablePeerAccess) \
  X(cuDeviceCanAccessPeer) \
  X(cuDeviceGetDefaultMemPool) \
  X(cuMemPoolSetAccess) \
  X(cuMemcpyPeerAsync) \
  X(cuMemAllocAsync) \
  X(cuMemFreeAsync) \
  X(cuMemcpyAsync)
// clang-format on

struct Driver {
#define ANNUDF_MEMBER(CALL) decltype(&::CALL) CALL = nullptr;
  ANNUDF_CUDA_CALLS(ANNUDF_MEMBER)
#undef ANNUDF_MEMBER
  int version = 0; ///< 13000 for CUDA 13.0.

  /// Opened and initialised once. \throws Error(Environment), again at every call.
  static const Driver &get();
};

/// Whether a kernel, or the device, has ended the context: the driver answers every later call so.
bool endsContext(CUresult result);
/// \throws Error(Environment) naming `call` and the driver's words for `result`.
void check(CUresult result, const char *call);
#define ANNUDF_CUDA(CALL, ...) check(Driver::get().CALL(__VA_ARGS__), #CALL)

/// The primary context of a device, shared with whoever else uses it (CuPy, Torch).
class Context {
public:
  explicit Context(int device);
  ~Context();
  Context(const Context &) = delete;
  Context &operator=(const Context &) = delete;

  CUcontext handle() const { return handle_; }
  int device() const { return device_; }
  int sm() const { return sm_; } ///< 90 for compute capability 9.0.
  int processors() const { return processors_; }
  int mostSharedBytes() const { return mostSharedBytes_; } ///< A block's, opted in.
  const std::string &name() const { return name_; }
  // As of Machine.
  double memoryBytesPerMs() const { return memoryBytesPerMs_; }
  double clocksPerMs() const { return clocksPerMs_; }

private:
  CUcontext handle_ = nullptr;
  double memoryBytesPerMs_ = 0, clocksPerMs_ = 0;
  int device_, sm_ = 0, processors_ = 0, mostSharedBytes_ = 0;
  std::string name_;
};

/// Makes a context current for a scope.
class ContextScope {
public:
  explicit ContextScope(const Context &context) { ANNUDF_CUDA(cuCtxPushCurrent, context.handle()); }
  ~ContextScope() {
    CUcontext popped;
    (void)Driver::get().cuCtxPopCurrent(&popped);
  }
  ContextScope(const ContextScope &) = delete;
  ContextScope &operator=(const ContextScope &) = delete;
};

/// Device or pinned host memory.
class Buffer {
public:
  enum class Kind { Device, Pinned };
  /// \param what  that it is for, as an error says it where there is no room; "": that is not told.
  Buffer(std::shared_ptr<const Context> context, size_t bytes, Kind kind = Kind::Device,
         const std::string &what = "");
  ~Buffer();
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;

  uint64_t device() const { return device_; }
  std::byte *host() const { return host_; }
  size_t size() const { return size_; }

private:
  std::shared_ptr<const Context> context_;
  CUdeviceptr device_ = 0;
  std::byte *host_ = nullptr;
  size_t size_ = 0;
};

/// A loaded cubin or fatbin.
class Module {
public:
  Module(std::shared_ptr<const Context> context, const void *image);
  ~Module();
  Module(const Module &) = delete;
  Module &operator=(const Module &) = delete;
  CUfunction function(const char *name) const;

private:
  std::shared_ptr<const Context> context_;
  CUmodule module_ = nullptr;
};

} // namespace annudf::runtime::cuda

#endif // ANNUDF_RUNTIME_LIB_CUDA_DRIVER_DRIVER_H
