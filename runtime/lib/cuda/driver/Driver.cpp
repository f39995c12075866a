//===- Driver.cpp - The CUDA driver, found at run time --------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"

#include <dlfcn.h>

namespace annudf::runtime::cuda {

namespace {

#define ANNUDF_TEXT(NAME) #NAME
#define ANNUDF_EXPANDED(NAME) ANNUDF_TEXT(NAME)

Driver open() {
  // The second name is where container runtimes mount the driver.
  const char *const names[] = {"libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1"};
  void *library = nullptr;
  std::string why;
  for (const char *name : names) {
    library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library)
      break;
    if (why.empty())
      why = dlerror();
  }
  if (!library)
    throw Error(
        ErrorKind::Environment,
        "no CUDA driver on this machine: cannot load libcuda.so.1 (looked in the loader's path "
        "and /usr/local/nvidia/lib64): " +
            why);
  Driver driver;
#define ANNUDF_LOAD(CALL)                                                                          \
  driver.CALL = reinterpret_cast<decltype(driver.CALL)>(dlsym(library, ANNUDF_EXPANDED(CALL)));    \
  if (!driver.CALL)                                                                                \
    throw Error(ErrorKind::Environment, "the CUDA driver libcuda.so.1 has no " ANNUDF_EXPANDED(    \
                                            CALL) ": it is too old, "                              \
                                                  "CUDA 12 or newer is needed");
  ANNUDF_CUDA_CALLS(ANNUDF_LOAD)
#undef ANNUDF_LOAD
  if (const CUresult result = driver.cuInit(0); result != CUDA_SUCCESS) {
    const char *name = nullptr, *text = nullptr;
    (void)driver.cuGetErrorName(result, &name);
    (void)driver.cuGetErrorString(result, &text);
    throw Error(ErrorKind::Environment,
                std::string("the CUDA driver found no usable GPU: cuInit: ") +
                    (text ? text : "unknown error") + " (" +
                    (name ? name : std::to_string(result)) + ")");
  }
  (void)driver.cuDriverGetVersion(&driver.version);
  return driver;
}

int attribute(CUdevice device, CUdevice_attribute which) {
  int value = 0;
  ANNUDF_CUDA(cuDeviceGetAttribute, &value, which, device);
  return value;
}

} // namespace

const Driver &Driver::get() {
  static const Driver driver = open(); // A throw leaves it unset: the next call tries again.
  return driver;
}

bool endsContext(CUresult result) {
  switch (result) {
  case CUDA_ERROR_ASSERT:
  case CUDA_ERROR_ECC_UNCORRECTABLE:
  case CUDA_ERROR_HARDWARE_STACK_ERROR:
  case CUDA_ERROR_ILLEGAL_ADDRESS:
  case CUDA_ERROR_ILLEGAL_INSTRUCTION:
  case CUDA_ERROR_INVALID_ADDRESS_SPACE:
  case CUDA_ERROR_INVALID_PC:
  case CUDA_ERROR_LAUNCH_FAILED:
  case CUDA_ERROR_LAUNCH_TIMEOUT:
  case CUDA_ERROR_MISALIGNED_ADDRESS:
  case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    return true;
  default:
    return false;
  }
}

void check(CUresult result, const char *call) {
  if (result == CUDA_SUCCESS)
    return;
  const char *name = nullptr, *text = nullptr;
  (void)Driver::get().cuGetErrorName(result, &name);
  (void)Driver::get().cuGetErrorString(result, &text);
  throw Error(ErrorKind::Environment,
              std::string("CUDA: ") + call + " failed: " + (text ? text : "unknown error") + " (" +
                  (name ? name : std::to_string(result)) + ")" +
                  (endsContext(result)
                       ? "; this process cannot use the device any more, start it again"
                       : ""));
}

Context::Context(int device) : device_(device) {
  int count = 0;
  ANNUDF_CUDA(cuDeviceGetCount, &count);
  if (device < 0 || device >= count)
    throw Error(ErrorKind::Environment, "no CUDA device " + std::to_string(device) +
                                            ": the driver lists " + std::to_string(count) +
                                            (count == 1 ? " device" : " devices"));
  CUdevice id;
  ANNUDF_CUDA(cuDeviceGet, &id, device);
  sm_ = attribute(id, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) * 10 +
        attribute(id, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  processors_ = attribute(id, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  mostSharedBytes_ = attribute(id, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  // In kHz, and two transfers a clock; a driver that does not tell is none to refuse.
  const auto told = [&](CUdevice_attribute which) {
    int value = 0;
    const CUresult result = Driver::get().cuDeviceGetAttribute(&value, which, id);
    return result == CUDA_SUCCESS ? double(value) : 0;
  };
  clocksPerMs_ = told(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
  memoryBytesPerMs_ = told(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE) * 2 *
                      told(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH) / 8;
  char name[256] = {};
  ANNUDF_CUDA(cuDeviceGetName, name, sizeof(name) - 1, id);
  name_ = name;
  if (sm_ < 75)
    throw Error(ErrorKind::Environment, "CUDA device " + std::to_string(device) + " (" + name_ +
                                            ") is sm_" + std::to_string(sm_) +
                                            "; annudf's kernels need sm_75 or newer");
  ANNUDF_CUDA(cuDevicePrimaryCtxRetain, &handle_, id);
}

Context::~Context() { (void)Driver::get().cuDevicePrimaryCtxRelease(device_); }

Buffer::Buffer(std::shared_ptr<const Context> context, size_t bytes, Kind kind,
               const std::string &what)
    : context_(std::move(context)), size_(bytes) {
  ContextScope scope(*context_);
  const size_t rounded = bytes ? bytes : 1;
  const CUresult result = kind == Kind::Device
                              ? Driver::get().cuMemAlloc(&device_, rounded)
                              : Driver::get().cuMemHostAlloc(reinterpret_cast<void **>(&host_),
                                                             rounded, CU_MEMHOSTALLOC_PORTABLE);
  if (result == CUDA_ERROR_OUT_OF_MEMORY) {
    size_t free = 0, total = 0;
    (void)Driver::get().cuMemGetInfo(&free, &total);
    throw Error(
        ErrorKind::Environment,
        std::string(kind == Kind::Device ? "out of GPU memory" : "out of pinned host memory") +
            (what.empty() ? "" : " for " + what) + ": " + std::to_string(bytes) +
            " bytes asked for" +
            (kind == Kind::Device ? ", " + std::to_string(free) + " of " + std::to_string(total) +
                                        " free on " + context_->name()
                                  : std::string()));
  }
  check(result, kind == Kind::Device ? "cuMemAlloc" : "cuMemHostAlloc");
}

Buffer::~Buffer() {
  // Destructors do not throw; a context that is already gone took its memory along.
  const Driver &driver = Driver::get();
  if (driver.cuCtxPushCurrent(context_->handle()) != CUDA_SUCCESS)
    return;
  if (device_)
    (void)driver.cuMemFree(device_);
  if (host_)
    (void)driver.cuMemFreeHost(host_);
  CUcontext popped;
  (void)driver.cuCtxPopCurrent(&popped);
}

Module::Module(std::shared_ptr<const Context> context, const void *image)
    : context_(std::move(context)) {
  ContextScope scope(*context_);
  ANNUDF_CUDA(cuModuleLoadData, &module_, image);
}

Module::~Module() {
  const Driver &driver = Driver::get();
  if (driver.cuCtxPushCurrent(context_->handle()) != CUDA_SUCCESS)
    return;
  (void)driver.cuModuleUnload(module_);
  CUcontext popped;
  (void)driver.cuCtxPopCurrent(&popped);
}

CUfunction Module::function(const char *name) const {
  ContextScope scope(*context_);
  CUfunction function = nullptr;
  ANNUDF_CUDA(cuModuleGetFunction, &function, module_, name);
  return function;
}

} // namespace annudf::runtime::cuda
