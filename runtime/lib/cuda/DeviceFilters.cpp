//===- DeviceFilters.cpp - Filters in device memory -----------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceFilters.h"

#include <algorithm>

namespace annudf::runtime::cuda {

namespace {

constexpr size_t kKept = 8;

} // namespace

std::shared_ptr<const DeviceFilter> FilterCache::get(const RowFilter *filter) {
  if (!filter)
    return nullptr;
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = std::find_if(recent_.begin(), recent_.end(),
                                  [&](const auto &one) { return one->number == filter->number(); });
  if (found != recent_.end()) {
    recent_.splice(recent_.begin(), recent_, found);
    return recent_.front();
  }
  ContextScope scope(*context_);
  auto made = std::make_shared<const DeviceFilter>(*filter, context_);
  ANNUDF_CUDA(cuMemcpyHtoD, made->words.device(), filter->words().data(), made->words.size());
  // The copy runs on the default stream, which other streams do not wait for.
  ANNUDF_CUDA(cuStreamSynchronize, nullptr);
  recent_.push_front(made);
  if (recent_.size() > kKept) // Searches under way hold their own reference.
    recent_.pop_back();
  return made;
}

} // namespace annudf::runtime::cuda
