//===- HostDriver.cpp - A libcuda that runs builds on the host ------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Stands in for libcuda.so.1 where there is no GPU: the calls of Driver.h, of which those that a
// build, an extend and a remove make do what the driver's do, on memory of the host. It knows the
// kernels of Build.cu; one that it does not know, and a graph, is an error. All is done when a call
// returns. Memory that is allocated holds no zeros, and ends where a page begins that is not there.
//
//===----------------------------------------------------------------------===//

#include "HostKernels.h"

#include "cuda/driver/Driver.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <sys/mman.h>

namespace {

using annudf::test::HostKernel;

std::mutex mutex;

constexpr const char *kName = "a stand-in, which runs the kernels of Build.cu on the host";

constexpr size_t kPage = 4096, kMemory = size_t(8) << 30;

struct Allocation {
  char *pages;
  size_t mapped, bytes;
};
/// By address. Never destroyed, as backends that are may free their memory at the program's end.
std::map<CUdeviceptr, Allocation> &allocations() {
  static auto *const all = new std::map<CUdeviceptr, Allocation>;
  return *all;
}
size_t used = 0;

/// The allocation that an address is in; null for none.
const std::pair<const CUdeviceptr, Allocation> *allocationAt(CUdeviceptr address) {
  auto next = allocations().upper_bound(address);
  if (next == allocations().begin())
    return nullptr;
  const auto &found = *std::prev(next);
  return address < found.first + found.second.bytes ? &found : nullptr;
}

/// What a context, a module, a stream and an event are: something that is not null.
template <class Handle> CUresult give(Handle *handle) {
  static char one;
  *handle = reinterpret_cast<Handle>(&one);
  return CUDA_SUCCESS;
}

CUresult copy(uint64_t to, uint64_t from, size_t bytes) {
  std::memcpy(reinterpret_cast<void *>(to), reinterpret_cast<const void *>(from), bytes);
  return CUDA_SUCCESS;
}
uint64_t addressOf(const void *memory) { return reinterpret_cast<uint64_t>(memory); }

} // namespace

extern "C" {

CUresult cuInit(unsigned) {
  std::fprintf(stderr, "NO GPU: %s\n", kName);
  return CUDA_SUCCESS;
}
CUresult cuDriverGetVersion(int *version) {
  *version = CUDA_VERSION;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGet(CUdevice *device, int number) {
  *device = number;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetCount(int *count) {
  *count = 1;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetName(char *name, int length, CUdevice) {
  std::snprintf(name, size_t(length), "%s", kName);
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute which, CUdevice) {
  switch (which) {
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
    *value = 9;
    break;
  case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
    *value = 4;
    break;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
    *value = 227 << 10;
    break;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
  case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
  case CU_DEVICE_ATTRIBUTE_CLOCK_RATE: // The plan then takes none of these three.
  case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
  case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
    *value = 0;
    break;
  default:
    std::fprintf(stderr, "the stand-in for libcuda does not know device attribute %d\n",
                 int(which));
    return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice) { return give(context); }
CUresult cuDevicePrimaryCtxRelease(CUdevice) { return CUDA_SUCCESS; }
CUresult cuCtxPushCurrent(CUcontext) { return CUDA_SUCCESS; }
CUresult cuCtxPopCurrent(CUcontext *context) { return give(context); }
CUresult cuCtxGetDevice(CUdevice *device) { return cuDeviceGet(device, 0); }
CUresult cuCtxSynchronize() { return CUDA_SUCCESS; }

CUresult cuMemAlloc(CUdeviceptr *address, size_t bytes) {
  const std::lock_guard lock(mutex);
  if (used + bytes > kMemory)
    return CUDA_ERROR_OUT_OF_MEMORY;
  const size_t whole = (bytes + kPage - 1) / kPage * kPage;
  void *pages =
      mmap(nullptr, whole + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED || mprotect(static_cast<char *>(pages) + whole, kPage, PROT_NONE) != 0)
    return CUDA_ERROR_OUT_OF_MEMORY;
  std::memset(pages, 0xAB, whole);
  constexpr size_t kAlignment = 16; // The driver's is larger; kernels count on this one.
  *address = addressOf(pages) + whole - (bytes + kAlignment - 1) / kAlignment * kAlignment;
  allocations()[*address] = {static_cast<char *>(pages), whole + kPage, bytes};
  used += bytes;
  return CUDA_SUCCESS;
}
CUresult cuMemFree(CUdeviceptr address) {
  const std::lock_guard lock(mutex);
  const auto found = allocations().find(address);
  if (found == allocations().end())
    return CUDA_ERROR_INVALID_VALUE;
  munmap(found->second.pages, found->second.mapped);
  used -= found->second.bytes;
  allocations().erase(found);
  return CUDA_SUCCESS;
}
CUresult cuMemGetInfo(size_t *free, size_t *total) {
  const std::lock_guard lock(mutex);
  *free = kMemory - used, *total = kMemory;
  return CUDA_SUCCESS;
}
CUresult cuMemHostAlloc(void **memory, size_t bytes, unsigned) {
  *memory = std::malloc(bytes);
  return *memory ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
CUresult cuMemFreeHost(void *memory) {
  std::free(memory);
  return CUDA_SUCCESS;
}
CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute *which, void **values,
                                CUdeviceptr address) {
  const std::lock_guard lock(mutex);
  const bool isDevice = allocationAt(address) != nullptr;
  for (unsigned i = 0; i < count; ++i)
    switch (which[i]) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      *static_cast<unsigned *>(values[i]) = isDevice ? CU_MEMORYTYPE_DEVICE : 0;
      break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      *static_cast<int *>(values[i]) = isDevice ? 0 : -2;
      break;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      *static_cast<unsigned *>(values[i]) = 0;
      break;
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
    }
  return CUDA_SUCCESS;
}
CUresult cuPointerGetAttribute(void *value, CUpointer_attribute which, CUdeviceptr address) {
  return cuPointerGetAttributes(1, &which, &value, address);
}
CUresult cuMemGetAddressRange(CUdeviceptr *base, size_t *bytes, CUdeviceptr address) {
  const std::lock_guard lock(mutex);
  const auto *found = allocationAt(address);
  if (!found)
    return CUDA_ERROR_NOT_FOUND;
  *base = found->first, *bytes = found->second.bytes;
  return CUDA_SUCCESS;
}
CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *, void *) {
  return CUDA_ERROR_INVALID_VALUE; // None is mapped in pieces.
}
CUresult cuMemRelease(CUmemGenericAllocationHandle) { return CUDA_ERROR_INVALID_VALUE; }

CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes) {
  return copy(to, addressOf(from), bytes);
}
CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes) {
  return copy(addressOf(to), from, bytes);
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes, CUstream) {
  return copy(to, addressOf(from), bytes);
}
CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream) {
  return copy(addressOf(to), from, bytes);
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream) {
  return copy(to, from, bytes);
}
CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, size_t bytes) {
  std::memset(reinterpret_cast<void *>(to), value, bytes);
  return CUDA_SUCCESS;
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes, CUstream) {
  return cuMemsetD8(to, value, bytes);
}

CUresult cuStreamCreate(CUstream *stream, unsigned) { return give(stream); }
CUresult cuStreamDestroy(CUstream) { return CUDA_SUCCESS; }
CUresult cuStreamSynchronize(CUstream) { return CUDA_SUCCESS; }
CUresult cuStreamWaitEvent(CUstream, CUevent, unsigned) { return CUDA_SUCCESS; }
CUresult cuStreamGetCtx(CUstream, CUcontext *context) { return give(context); }
CUresult cuEventCreate(CUevent *event, unsigned) { return give(event); }
CUresult cuEventDestroy(CUevent) { return CUDA_SUCCESS; }
CUresult cuEventElapsedTime(float *ms, CUevent, CUevent) {
  *ms = 0;
  return CUDA_SUCCESS;
}
CUresult cuEventRecord(CUevent, CUstream) { return CUDA_SUCCESS; }
CUresult cuEventQuery(CUevent) { return CUDA_SUCCESS; }
CUresult cuEventSynchronize(CUevent) { return CUDA_SUCCESS; }

CUresult cuModuleLoadData(CUmodule *module, const void *) { return give(module); }
CUresult cuModuleUnload(CUmodule) { return CUDA_SUCCESS; }
CUresult cuModuleGetFunction(CUfunction *function, CUmodule, const char *name) {
  // One that is not known is one that nobody may call.
  static const HostKernel none;
  const HostKernel *kernel = annudf::test::hostKernel(name);
  *function = reinterpret_cast<CUfunction>(const_cast<HostKernel *>(kernel ? kernel : &none));
  return CUDA_SUCCESS;
}
CUresult cuFuncSetAttribute(CUfunction, CUfunction_attribute, int) { return CUDA_SUCCESS; }
CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **arguments,
                          void **) {
  const auto &kernel = *reinterpret_cast<const HostKernel *>(function);
  if (!kernel)
    return CUDA_ERROR_NOT_SUPPORTED;
  if (config->gridDimX == 0 || config->gridDimX > 0x7FFFFFFF || config->gridDimY != 1 ||
      config->gridDimZ != 1 || config->blockDimX == 0 || config->blockDimX % 32 != 0 ||
      config->blockDimX > 1024)
    return CUDA_ERROR_INVALID_VALUE;
  const std::lock_guard lock(mutex);
  annudf::test::launchOnHost(kernel, config->gridDimX, config->blockDimX, arguments);
  return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult, const char **text) {
  *text = "CUDA_ERROR_OF_THE_STAND_IN";
  return CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult result, const char **text) {
  *text = result == CUDA_ERROR_NOT_SUPPORTED ? "the stand-in does not do this" : "bad argument";
  return CUDA_SUCCESS;
}

CUresult annudfNotHere() { return CUDA_ERROR_NOT_SUPPORTED; }

// What searches alone call, and what is for pools of memory.
#define ANNUDF_NOT_HERE(CALL) decltype(CALL) CALL __attribute__((alias("annudfNotHere")));
ANNUDF_NOT_HERE(cuCtxEnablePeerAccess)
ANNUDF_NOT_HERE(cuDeviceCanAccessPeer)
ANNUDF_NOT_HERE(cuDeviceGetDefaultMemPool)
ANNUDF_NOT_HERE(cuMemPoolSetAccess)
ANNUDF_NOT_HERE(cuMemcpyPeerAsync)
ANNUDF_NOT_HERE(cuGraphAddNode)
ANNUDF_NOT_HERE(cuGraphCreate)
ANNUDF_NOT_HERE(cuGraphDestroy)
ANNUDF_NOT_HERE(cuGraphExecDestroy)
ANNUDF_NOT_HERE(cuGraphExecNodeSetParams)
ANNUDF_NOT_HERE(cuGraphInstantiate)
ANNUDF_NOT_HERE(cuGraphLaunch)
ANNUDF_NOT_HERE(cuLaunchKernel)
ANNUDF_NOT_HERE(cuMemAllocAsync)
ANNUDF_NOT_HERE(cuMemFreeAsync)

} // extern "C"
