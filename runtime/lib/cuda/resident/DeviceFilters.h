//===- DeviceFilters.h - Filters in device memory ---------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CUDA_RESIDENT_DEVICEFILTERS_H
#define ANNUDF_RUNTIME_LIB_CUDA_RESIDENT_DEVICEFILTERS_H

#include "RecentCopies.h"

#include "annudf/runtime/engine/Filter.h"
#include "annudf/runtime/engine/Predicate.h"

#include <memory>
#include <mutex>

namespace annudf::runtime::cuda {

/// Copies of the filters that searches used last. Safe for threads.
class FilterCache {
public:
  explicit FilterCache(std::shared_ptr<const Context> context) : context_(std::move(context)) {}
  /// A filter's words; null for no filter.
  std::shared_ptr<const Buffer> get(const RowFilter *filter);
  std::shared_ptr<const Buffer> get(const std::shared_ptr<const QueryBitmap> &bitmap);

private:
  /// Which bitmap, however long it lives: another has another one.
  struct Identity {
    std::weak_ptr<const QueryBitmap> of;
    bool operator==(const Identity &other) const {
      return !of.owner_before(other.of) && !other.of.owner_before(of);
    }
  };

  const std::shared_ptr<const Context> context_;
  std::mutex mutex_;
  RecentCopies<uint64_t> recent_; ///< By the filter's number.
  RecentCopies<Identity> bitmaps_;
};

} // namespace annudf::runtime::cuda

#endif // ANNUDF_RUNTIME_LIB_CUDA_RESIDENT_DEVICEFILTERS_H
