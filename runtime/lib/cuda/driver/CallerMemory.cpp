//===- CallerMemory.cpp - Addresses and streams of callers ----------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CallerMemory.h"

#include <cstdio>
#include <iterator>

namespace annudf::runtime::cuda {

namespace {

std::string hex(uint64_t address) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
  return text;
}

[[noreturn]] void refuse(const char *what, uint64_t address, const std::string &fault) {
  throw Error(ErrorKind::Usage, std::string(what) + " at address " + hex(address) + ": " + fault);
}

/// What the driver knows of an address; memory type 0 for one that it does not know.
struct Pointer {
  unsigned type = 0;
  int device = -1;
  unsigned managed = 0;

  explicit Pointer(uint64_t address) {
    CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                        CU_POINTER_ATTRIBUTE_IS_MANAGED};
    void *values[] = {&type, &device, &managed};
    // Unlike the call for one attribute, this one has no error for unknown addresses.
    const CUresult result =
        Driver::get().cuPointerGetAttributes(std::size(attributes), attributes, values, address);
    if (endsContext(result)) // Which says nothing of the address.
      check(result, "cuPointerGetAttributes");
    if (result != CUDA_SUCCESS)
      type = 0;
  }
};

/// Memory that was reserved and mapped piece by piece: the range that the driver tells is
/// that of a piece, and an array may span several (Torch's expandable segments).
bool isMappedInPieces(uint64_t address) {
  CUmemGenericAllocationHandle handle = 0;
  if (Driver::get().cuMemRetainAllocationHandle(&handle, reinterpret_cast<void *>(address)) !=
      CUDA_SUCCESS)
    return false;
  (void)Driver::get().cuMemRelease(handle);
  return true;
}

} // namespace

void checkDeviceMemory(const Context &context, uint64_t address, uint64_t bytes, size_t alignment,
                       const char *what) {
  const std::string device = "CUDA device " + std::to_string(context.device());
  if (address % alignment != 0)
    refuse(what, address, "not aligned to " + std::to_string(alignment) + " bytes");
  auto check = [&](uint64_t at) {
    const Pointer pointer(at);
    if (pointer.managed)
      return; // Migrates to whatever device reads it.
    if (pointer.type == CU_MEMORYTYPE_HOST)
      refuse(what, address, "it is host memory; copy it to " + device + " first");
    if (pointer.type != CU_MEMORYTYPE_DEVICE)
      refuse(what, address,
             "it is no memory of a CUDA device (host memory, or freed already); give memory of " +
                 device);
    if (pointer.device != context.device())
      refuse(what, address,
             "it is memory of CUDA device " + std::to_string(pointer.device) +
                 "; the backend searches on device " + std::to_string(context.device()));
  };
  check(address);
  CUdeviceptr base = 0;
  size_t size = 0;
  if (bytes == 0 || Driver::get().cuMemGetAddressRange(&base, &size, address) != CUDA_SUCCESS)
    return; // Where it ends is not known.
  const uint64_t room = base + size - address;
  if (bytes <= room)
    return;
  if (!isMappedInPieces(address))
    refuse(what, address,
           std::to_string(bytes) + " bytes are needed, its allocation ends after " +
               std::to_string(room));
  check(address + bytes - 1);
}

CUstream checkStream(const Context &context, void *stream) {
  const auto handle = static_cast<CUstream>(stream);
  if (handle == CU_STREAM_LEGACY)
    return nullptr;
  if (handle == nullptr || handle == CU_STREAM_PER_THREAD)
    return handle;
  const std::string who = "stream " + hex(reinterpret_cast<uint64_t>(stream)) + ": ";
  CUcontext owner = nullptr;
  const CUresult got = Driver::get().cuStreamGetCtx(handle, &owner);
  if (endsContext(got))
    check(got, "cuStreamGetCtx");
  if (got != CUDA_SUCCESS)
    throw Error(ErrorKind::Usage, who + "the driver knows no such stream (destroyed already?)");
  if (owner == context.handle())
    return handle;
  CUdevice device = -1;
  ANNUDF_CUDA(cuCtxPushCurrent, owner);
  const CUresult result = Driver::get().cuCtxGetDevice(&device);
  CUcontext popped;
  (void)Driver::get().cuCtxPopCurrent(&popped);
  check(result, "cuCtxGetDevice");
  if (device != context.device())
    throw Error(ErrorKind::Usage, who + "it belongs to CUDA device " + std::to_string(device) +
                                      ", the backend searches on device " +
                                      std::to_string(context.device()));
  return handle;
}

namespace {

/// Allocated and freed in the order of the legacy default stream, which never goes away.
class StreamOrdered final : public DeviceMemory {
public:
  StreamOrdered(std::shared_ptr<const Context> context, uint64_t bytes)
      : context_(std::move(context)), size_(bytes) {
    ANNUDF_CUDA(cuMemAllocAsync, &address_, bytes ? bytes : 1, nullptr);
  }
  ~StreamOrdered() override {
    const Driver &driver = Driver::get();
    if (driver.cuCtxPushCurrent(context_->handle()) != CUDA_SUCCESS)
      return;
    (void)driver.cuMemFreeAsync(address_, nullptr);
    CUcontext popped;
    (void)driver.cuCtxPopCurrent(&popped);
  }
  uint64_t address() const override { return address_; }
  uint64_t size() const override { return size_; }

private:
  std::shared_ptr<const Context> context_;
  CUdeviceptr address_ = 0;
  uint64_t size_;
};

/// For streams that may be gone when the memory is freed: all work is waited for instead.
class Waiting final : public DeviceMemory {
public:
  Waiting(std::shared_ptr<const Context> context, uint64_t bytes)
      : context_(std::move(context)), buffer_(std::make_unique<Buffer>(context_, bytes)),
        size_(bytes) {}
  ~Waiting() override {
    const Driver &driver = Driver::get();
    if (driver.cuCtxPushCurrent(context_->handle()) != CUDA_SUCCESS)
      return;
    (void)driver.cuCtxSynchronize(); // cuMemFree only says that it may wait.
    buffer_.reset();
    CUcontext popped;
    (void)driver.cuCtxPopCurrent(&popped);
  }
  uint64_t address() const override { return buffer_->device(); }
  uint64_t size() const override { return size_; }

private:
  std::shared_ptr<const Context> context_;
  std::unique_ptr<Buffer> buffer_;
  uint64_t size_;
};

class Event final : public StreamEvent {
public:
  Event(std::shared_ptr<const Context> context, CUstream stream) : context_(std::move(context)) {
    ANNUDF_CUDA(cuEventCreate, &event_, CU_EVENT_DISABLE_TIMING);
    if (const CUresult result = Driver::get().cuEventRecord(event_, stream);
        result != CUDA_SUCCESS) {
      (void)Driver::get().cuEventDestroy(event_); // A constructor that throws has no destructor.
      check(result, "cuEventRecord");
    }
  }
  ~Event() override {
    const Driver &driver = Driver::get();
    if (driver.cuCtxPushCurrent(context_->handle()) != CUDA_SUCCESS)
      return;
    (void)driver.cuEventDestroy(event_);
    CUcontext popped;
    (void)driver.cuCtxPopCurrent(&popped);
  }
  bool done() const override {
    ContextScope scope(*context_);
    const CUresult result = Driver::get().cuEventQuery(event_);
    if (result == CUDA_ERROR_NOT_READY)
      return false;
    check(result, "cuEventQuery");
    return true;
  }
  void wait() const override {
    ContextScope scope(*context_);
    ANNUDF_CUDA(cuEventSynchronize, event_);
  }

private:
  std::shared_ptr<const Context> context_;
  CUevent event_ = nullptr;
};

bool hasMemoryPools(const Context &context) {
  int has = 0;
  return Driver::get().cuDeviceGetAttribute(&has, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED,
                                            context.device()) == CUDA_SUCCESS &&
         has != 0;
}

} // namespace

std::unique_ptr<DeviceMemory> allocateOnStream(std::shared_ptr<const Context> context,
                                               uint64_t bytes, CUstream stream) {
  if (stream == nullptr && hasMemoryPools(*context))
    return std::make_unique<StreamOrdered>(std::move(context), bytes);
  return std::make_unique<Waiting>(std::move(context), bytes);
}

std::unique_ptr<StreamEvent> recordEvent(std::shared_ptr<const Context> context, CUstream stream) {
  return std::make_unique<Event>(std::move(context), stream);
}

} // namespace annudf::runtime::cuda
