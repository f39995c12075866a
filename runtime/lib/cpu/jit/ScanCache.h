//===- ScanCache.h - Compiled scans, kept in memory ----------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CPU_JIT_SCANCACHE_H
#define ANNUDF_RUNTIME_LIB_CPU_JIT_SCANCACHE_H

#include "Jit.h"
#include "Processor.h"

#include "annudf/runtime/engine/KernelKey.h"

#include <memory>

namespace annudf::runtime::cpu {

/// Compiled scans by their KernelKey.
class ScanCache {
public:
  using Kernel = std::shared_ptr<const ScanKernel>;

  explicit ScanCache(size_t capacity = 64) : kernels_(capacity) {}

  /// \param compiled  set to whether this very call compiled the scan.
  /// \throws what compileScan throws, in every thread that waited. A failure is not
  /// kept: the next call tries again.
  Kernel get(const MetricView &metric, ScanElements elements, bool &compiled) {
    const ScanTarget host{.cpu = askedProcessor()};
    return kernels_.get(
        metric, elements, host.cpu, [&] { return scanKey(metric, elements, host); },
        [&](const std::string &) { return compileScan(metric, elements, host); }, compiled);
  }

  size_t size() const { return kernels_.size(); }

private:
  KernelCache<const ScanKernel> kernels_;
};

} // namespace annudf::runtime::cpu

#endif // ANNUDF_RUNTIME_LIB_CPU_JIT_SCANCACHE_H
