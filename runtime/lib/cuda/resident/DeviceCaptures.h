//===- DeviceCaptures.h - Captures in device memory -------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CUDA_RESIDENT_DEVICECAPTURES_H
#define ANNUDF_RUNTIME_LIB_CUDA_RESIDENT_DEVICECAPTURES_H

#include "RecentCopies.h"

#include "annudf/runtime/captures/Captures.h"

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace annudf::runtime::cuda {

/// Captures as a scan takes them, and the memory behind them.
struct DeviceCaptures {
  annudf_slots slots = {};
  std::vector<std::shared_ptr<const Buffer>> arrays; ///< Copies of host values.
  std::vector<std::shared_ptr<const void>> borrowed; ///< Memory that was on the device already.
};

/// The arrays of recent searches on the device, by what they hold (BoundCaptures::digest(i)): the
/// ages of a million rows are copied once, whatever other captures change beside them, and
/// whichever metrics read them. A search compares 64 characters an array.
class CaptureCache {
public:
  explicit CaptureCache(std::shared_ptr<const Context> context) : context_(std::move(context)) {}
  std::shared_ptr<const DeviceCaptures> get(const BoundCaptures &captures);

private:
  const std::shared_ptr<const Context> context_;
  std::mutex mutex_;
  RecentCopies<std::string> recent_; ///< By the digest of what they hold.
};

} // namespace annudf::runtime::cuda

#endif // ANNUDF_RUNTIME_LIB_CUDA_RESIDENT_DEVICECAPTURES_H
