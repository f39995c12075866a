//===- DeviceFilters.h - Filters in device memory ---------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CUDA_DEVICEFILTERS_H
#define ANNUDF_RUNTIME_LIB_CUDA_DEVICEFILTERS_H

#include "Driver.h"

#include "annudf/runtime/engine/Filter.h"

#include <list>
#include <memory>
#include <mutex>

namespace annudf::runtime::cuda {

/// A filter's bits on the device.
struct DeviceFilter {
  DeviceFilter(const RowFilter &filter, const std::shared_ptr<const Context> &context)
      : number(filter.number()), words(context, filter.words().size() * sizeof(uint32_t)) {}
  const uint64_t number;
  const Buffer words;
};

/// Copies of the filters that searches used last. Safe for threads.
class FilterCache {
public:
  explicit FilterCache(std::shared_ptr<const Context> context) : context_(std::move(context)) {}
  /// \returns null for no filter.
  std::shared_ptr<const DeviceFilter> get(const RowFilter *filter);

private:
  const std::shared_ptr<const Context> context_;
  std::mutex mutex_;
  std::list<std::shared_ptr<const DeviceFilter>> recent_; ///< Last used first.
};

} // namespace annudf::runtime::cuda

#endif // ANNUDF_RUNTIME_LIB_CUDA_DEVICEFILTERS_H
