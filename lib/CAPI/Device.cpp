//===- Device.cpp - Backends, device memory and streams in the C API ------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handles.h"

using namespace annudf;
using namespace annudf::capi;

static runtime::CudaBackend &cudaOf(const Call &call, const annudf_backend *backend) {
  call.refuseNull(backend, "backend");
  if (!backend->cuda)
    call.refuse("the backend is " + backend->description + "; give a CUDA backend");
  return *backend->cuda;
}

static void *toStream(uint64_t stream) { return reinterpret_cast<void *>(stream); }

static annudf_backend *makeBackend(std::shared_ptr<runtime::Backend> value,
                                   runtime::CudaBackend *cuda) {
  std::string description = value->describe();
  auto *made = new annudf_backend{std::move(value), cuda, std::move(description), {}};
  made->info = {sizeof made->info, made->description.c_str(), cuda ? cuda->device() : -1,
                cuda ? cuda->arch() : 0};
  return made;
}

annudf_status annudf_backend_create(const annudf_place *place, int32_t threads,
                                    annudf_backend **backend) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(backend, "backend");
    if (!place || !isOnDevice(call, *place, "place")) {
      *backend = makeBackend(runtime::makeCpuBackend(threads), nullptr);
      return;
    }
    if (threads != 0)
      call.refuse("threads is " + std::to_string(threads) +
                  ", but place is memory of a CUDA device; set it to 0");
    auto made = runtime::makeCudaDeviceBackend(place->device);
    runtime::CudaBackend *cuda = made.get();
    *backend = makeBackend(std::move(made), cuda);
  });
}

annudf_status annudf_backend_create_multi_device(const int32_t *devices, size_t count, int32_t mode,
                                                 annudf_backend **backend) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(backend, "backend");
    if (count != 0)
      call.refuseNull(devices, "devices");
    if (mode != ANNUDF_DEVICES_REPLICATED && mode != ANNUDF_DEVICES_SHARDED)
      call.refuse("mode is " + std::to_string(mode) + "; use a value of enum annudf_devices_mode");
    const std::vector<int> numbers(devices, devices + count);
    auto made = runtime::makeCudaTeamBackend(numbers, mode == ANNUDF_DEVICES_SHARDED
                                                          ? runtime::TeamMode::Sharded
                                                          : runtime::TeamMode::Replicated);
    runtime::CudaBackend *cuda = made.get();
    *backend = makeBackend(std::move(made), cuda);
  });
}

const annudf_backend_info *annudf_backend_get(const annudf_backend *backend) {
  return backend ? &backend->info : nullptr;
}

void annudf_backend_destroy(annudf_backend *backend) { delete backend; }

annudf_status annudf_device_allocate(annudf_backend *backend, uint64_t bytes, uint64_t stream,
                                     annudf_device_buffer **buffer) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(buffer, "buffer");
    *buffer = new annudf_device_buffer{cudaOf(call, backend).allocate(bytes, toStream(stream))};
  });
}

uint64_t annudf_device_buffer_address(const annudf_device_buffer *buffer) {
  return buffer ? buffer->value->address() : 0;
}

void annudf_device_buffer_destroy(annudf_device_buffer *buffer) { delete buffer; }

annudf_status annudf_device_copy(annudf_backend *backend, uint64_t destination, uint64_t source,
                                 uint64_t bytes, uint64_t stream) {
  return guard(__func__, [&](Call call) {
    runtime::CudaBackend &cuda = cudaOf(call, backend);
    if (bytes != 0 && (destination == 0 || source == 0))
      call.refuse(std::string(destination == 0 ? "destination" : "source") + " is address 0");
    cuda.copy(destination, source, bytes, toStream(stream));
  });
}

annudf_status annudf_device_synchronize(annudf_backend *backend, uint64_t stream) {
  return guard(__func__, [&](Call call) { cudaOf(call, backend).synchronize(toStream(stream)); });
}

annudf_status annudf_event_record(annudf_backend *backend, uint64_t stream, annudf_event **event) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(event, "event");
    *event = new annudf_event{cudaOf(call, backend).record(toStream(stream))};
  });
}

annudf_status annudf_event_done(const annudf_event *event, bool *done) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(event, "event");
    call.refuseNull(done, "done");
    *done = event->value->done();
  });
}

annudf_status annudf_event_wait(const annudf_event *event) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(event, "event");
    event->value->wait();
  });
}

void annudf_event_destroy(annudf_event *event) { delete event; }
