//===- DeviceCaptures.cpp - Captures in device memory ---------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceCaptures.h"

#include "cuda/driver/CallerMemory.h"

#include "annudf/ABI/annudf_abi.h"
#include "annudf/runtime/rows/Columns.h"

#include <algorithm>

namespace annudf::runtime::cuda {

namespace {

/// Arrays that are kept; one search may have more.
constexpr size_t kKept = 16;

/// That array `i` takes.
uint64_t bytesOf(const BoundCaptures &captures, size_t i) {
  uint64_t bytes = runtime::bytesOf(captures.declared()[i].element);
  for (const int64_t entries : captures.shape(i))
    bytes *= static_cast<uint64_t>(entries);
  return bytes;
}

} // namespace

std::shared_ptr<const DeviceCaptures> CaptureCache::get(const BoundCaptures &captures) {
  if (captures.size() > ANNUDF_MAX_CAPTURES)
    throw Error(ErrorKind::Usage, std::to_string(captures.size()) +
                                      " captures; a metric has at most " +
                                      std::to_string(ANNUDF_MAX_CAPTURES));
  auto device = std::make_shared<DeviceCaptures>();
  std::lock_guard<std::mutex> lock(mutex_);
  ContextScope scope(*context_);
  for (size_t i = 0; i < captures.size(); ++i) {
    if (captures.space(i) == MemorySpace::Cuda) {
      if (captures.device(i) != context_->device())
        throw Error(ErrorKind::Usage,
                    "capture '" + captures.declared()[i].name + "' is on CUDA device " +
                        std::to_string(captures.device(i)) + "; this backend searches on device " +
                        std::to_string(context_->device()));
      if (const uint64_t bytes = bytesOf(captures, i)) // Its alignment was looked at when bound.
        checkDeviceMemory(*context_, captures.slot(i), bytes, 1,
                          ("capture '" + captures.declared()[i].name + "'").c_str());
      device->slots.slot[i] = captures.slot(i);
      device->borrowed.push_back(captures.owner(i));
    } else if (captures.isScalar(i)) {
      device->slots.slot[i] = captures.slot(i);
    } else {
      device->arrays.push_back(recent_.get(context_, captures.digest(i), captures.bytes(i)));
      device->slots.slot[i] = device->arrays.back()->device();
    }
  }
  recent_.trim(std::max(kKept, device->arrays.size()));
  return device;
}

} // namespace annudf::runtime::cuda
