//===- DeviceCaptures.h - Captures in device memory -------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CUDA_DEVICECAPTURES_H
#define ANNUDF_RUNTIME_LIB_CUDA_DEVICECAPTURES_H

#include "Driver.h"

#include "annudf/runtime/captures/Captures.h"

#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace annudf::runtime::cuda {

/// Captures as a scan takes them, and the memory behind them.
struct DeviceCaptures {
  annudf_slots slots = {};
  std::vector<std::unique_ptr<Buffer>> arrays;       ///< Copies of host values.
  std::vector<std::shared_ptr<const void>> borrowed; ///< Memory that was on the device already.
  std::string digest;
};

/// The captures of recent searches, by BoundCaptures::digest(): a search with the weights of
/// the last one copies nothing, and compares 64 characters.
class CaptureCache {
public:
  explicit CaptureCache(std::shared_ptr<const Context> context) : context_(std::move(context)) {}
  std::shared_ptr<const DeviceCaptures> get(const BoundCaptures &captures);

private:
  const std::shared_ptr<const Context> context_;
  std::mutex mutex_;
  std::list<std::shared_ptr<const DeviceCaptures>> recent_; ///< Most recent first.
};

} // namespace annudf::runtime::cuda

#endif // ANNUDF_RUNTIME_LIB_CUDA_DEVICECAPTURES_H
