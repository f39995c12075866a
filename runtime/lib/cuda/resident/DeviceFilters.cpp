//===- DeviceFilters.cpp - Filters in device memory -----------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceFilters.h"

namespace annudf::runtime::cuda {

std::shared_ptr<const Buffer> FilterCache::get(const RowFilter *filter) {
  if (!filter)
    return nullptr;
  std::lock_guard<std::mutex> lock(mutex_);
  ContextScope scope(*context_);
  auto words = recent_.get(context_, filter->number(), filter->words());
  constexpr size_t kKept = 8;
  recent_.trim(kKept);
  return words;
}

std::shared_ptr<const Buffer> FilterCache::get(const std::shared_ptr<const QueryBitmap> &bitmap) {
  std::lock_guard<std::mutex> lock(mutex_);
  ContextScope scope(*context_);
  auto words = bitmaps_.get(context_, {bitmap}, bitmap->words());
  constexpr size_t kKept = 2; // They are larger than filters.
  bitmaps_.trim(kKept);
  return words;
}

} // namespace annudf::runtime::cuda
