//===- DeviceCaptures.cpp - Captures in device memory ---------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceCaptures.h"

#include "annudf/ABI/annudf_abi.h"

namespace annudf::runtime::cuda {

namespace {

constexpr size_t kKept = 16;

} // namespace

std::shared_ptr<const DeviceCaptures> CaptureCache::get(const BoundCaptures &captures) {
  std::lock_guard<std::mutex> lock(mutex_);
  for (auto it = recent_.begin(); it != recent_.end(); ++it)
    if ((*it)->digest == captures.digest()) {
      recent_.splice(recent_.begin(), recent_, it);
      return recent_.front();
    }
  if (captures.size() > ANNUDF_MAX_CAPTURES)
    throw Error(ErrorKind::Usage, std::to_string(captures.size()) +
                                      " captures; a metric has at most " +
                                      std::to_string(ANNUDF_MAX_CAPTURES));
  auto device = std::make_shared<DeviceCaptures>();
  device->digest = captures.digest();
  ContextScope scope(*context_);
  for (size_t i = 0; i < captures.size(); ++i) {
    if (captures.space(i) == MemorySpace::Cuda) {
      if (captures.device(i) != context_->device())
        throw Error(ErrorKind::Usage,
                    "capture '" + captures.declared()[i].name + "' is on CUDA device " +
                        std::to_string(captures.device(i)) + "; this backend searches on device " +
                        std::to_string(context_->device()));
      device->slots.slot[i] = captures.slot(i);
      device->borrowed.push_back(captures.owner(i));
      continue;
    }
    if (captures.isScalar(i)) {
      device->slots.slot[i] = captures.slot(i);
      continue;
    }
    const std::vector<std::byte> &bytes = captures.bytes(i);
    device->arrays.push_back(std::make_unique<Buffer>(context_, bytes.size()));
    ANNUDF_CUDA(cuMemcpyHtoD, device->arrays.back()->device(), bytes.data(), bytes.size());
    device->slots.slot[i] = device->arrays.back()->device();
  }
  // The copies run on the default stream, which other streams do not wait for.
  ANNUDF_CUDA(cuStreamSynchronize, nullptr);
  // Kept, it would hold on to memory that is the caller's.
  if (!device->borrowed.empty())
    return device;
  recent_.push_front(device);
  if (recent_.size() > kKept) // Searches under way hold their own reference.
    recent_.pop_back();
  return device;
}

} // namespace annudf::runtime::cuda
