//===- DeviceCaptures.cpp - Captures in device memory ---------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceCaptures.h"

#include <algorithm>
#include <cstring>

namespace annudf::runtime::cuda {

namespace {

constexpr size_t kKept = 16;

bool same(const DeviceCaptures &device, const BoundCaptures &captures) {
  if (device.bytes.size() != captures.size())
    return false;
  for (size_t i = 0; i < captures.size(); ++i)
    if (device.scalar[i] != captures.isScalar(i) || device.bytes[i] != captures.bytes(i))
      return false;
  return true;
}

} // namespace

std::shared_ptr<const DeviceCaptures> CaptureCache::get(const BoundCaptures &captures) {
  std::lock_guard<std::mutex> lock(mutex_);
  for (auto it = recent_.begin(); it != recent_.end(); ++it)
    if (same(**it, captures)) {
      recent_.splice(recent_.begin(), recent_, it);
      return recent_.front();
    }
  if (captures.size() > ANNUDF_MAX_CAPTURES)
    throw Error(ErrorKind::Usage, std::to_string(captures.size()) +
                                      " captures; a metric has at most " +
                                      std::to_string(ANNUDF_MAX_CAPTURES));
  auto device = std::make_shared<DeviceCaptures>();
  ContextScope scope(*context_);
  for (size_t i = 0; i < captures.size(); ++i) {
    const std::vector<std::byte> &bytes = captures.bytes(i);
    device->bytes.push_back(bytes);
    device->scalar.push_back(captures.isScalar(i));
    if (captures.isScalar(i)) {
      std::memcpy(&device->slots.slot[i], bytes.data(), std::min(bytes.size(), sizeof(uint64_t)));
      continue;
    }
    device->arrays.push_back(std::make_unique<Buffer>(context_, bytes.size()));
    ANNUDF_CUDA(cuMemcpyHtoD, device->arrays.back()->device(), bytes.data(), bytes.size());
    device->slots.slot[i] = device->arrays.back()->device();
  }
  // The copies run on the default stream, which other streams do not wait for.
  ANNUDF_CUDA(cuStreamSynchronize, nullptr);
  recent_.push_front(device);
  if (recent_.size() > kKept) // Searches under way hold their own reference.
    recent_.pop_back();
  return device;
}

} // namespace annudf::runtime::cuda
