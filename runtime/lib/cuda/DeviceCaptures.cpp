//===- DeviceCaptures.cpp - Captures in device memory ---------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceCaptures.h"

#include "annudf/ABI/annudf_abi.h"

#include <algorithm>

namespace annudf::runtime::cuda {

namespace {

/// Arrays that are kept; one search may have more.
constexpr size_t kKept = 16;

} // namespace

std::shared_ptr<const Buffer> CaptureCache::arrayOf(const BoundCaptures &captures, size_t i) {
  const auto found = std::find_if(recent_.begin(), recent_.end(), [&](const Kept &one) {
    return one.digest == captures.digest(i);
  });
  if (found != recent_.end()) {
    recent_.splice(recent_.begin(), recent_, found);
    return recent_.front().array;
  }
  const std::vector<std::byte> &bytes = captures.bytes(i);
  auto array = std::make_shared<const Buffer>(context_, bytes.size());
  ANNUDF_CUDA(cuMemcpyHtoD, array->device(), bytes.data(), bytes.size());
  // The copy runs on the default stream, which other streams do not wait for.
  ANNUDF_CUDA(cuStreamSynchronize, nullptr);
  recent_.push_front({captures.digest(i), array});
  return array;
}

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
      device->slots.slot[i] = captures.slot(i);
      device->borrowed.push_back(captures.owner(i));
    } else if (captures.isScalar(i)) {
      device->slots.slot[i] = captures.slot(i);
    } else {
      device->arrays.push_back(arrayOf(captures, i));
      device->slots.slot[i] = device->arrays.back()->device();
    }
  }
  // Searches under way hold references of their own.
  while (recent_.size() > std::max(kKept, device->arrays.size()))
    recent_.pop_back();
  return device;
}

} // namespace annudf::runtime::cuda
