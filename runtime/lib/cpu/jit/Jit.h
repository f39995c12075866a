//===- Jit.h - A scan specialised for one metric and element -------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Links the scan's bitcode with a metric's, optimises both as one program for the
// host's vector unit, and loads the result. No LLVM header is needed to use it.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CPU_JIT_JIT_H
#define ANNUDF_RUNTIME_LIB_CPU_JIT_JIT_H

#include "annudf/runtime/engine/KernelKey.h"
#include "annudf/runtime/engine/Search.h"

#include <memory>
#include <string>

struct annudf_cpu_scan;

// UBSan looks for a signature in front of a function called through a pointer; code from
// the JIT has none.
#if defined(__clang__)
#define ANNUDF_CALLS_JIT __attribute__((no_sanitize("function")))
#else
#define ANNUDF_CALLS_JIT
#endif

namespace annudf::runtime::cpu {

/// A compiled scan. The code lives as long as the object.
class ScanKernel {
public:
  virtual ~ScanKernel() = default;
  using Entry = void(const annudf_cpu_scan *);
  /// Scans one list. May run on any number of threads at once.
  ANNUDF_CALLS_JIT void run(const annudf_cpu_scan &scan) const { entry(&scan); }
  double linkMs = 0;    ///< Time from bitcode to callable code.
  std::string remark;   ///< What is done for one row at a time, "" if nothing is.
  bool isWhole = false; ///< Takes up to dims steps a coordinate: whole vectors.
  int64_t scratchBytes = 0, scratchPerDim = 0; ///< What a pair of whole vectors needs.

  /// Words of 64 bits of scratch for vectors of so many dims.
  size_t scratchWords(int32_t dims) const {
    return size_t((scratchBytes + scratchPerDim * dims + 7) / 8);
  }

protected:
  Entry *entry = nullptr;
};

/// What code is made for, so that tests reach what other hosts run.
struct ScanTarget {
  std::string cpu = "";    ///< LLVM's name of an older processor; "": this one.
  unsigned vectorBits = 0; ///< The widest vectors'; 0: as the processor and the metric are.
  bool explains = false;   ///< Whether it is no scan but shows accumulators.
  bool isThisOne() const { return cpu.empty() && vectorBits == 0; }
};

/// \throws Error(Input) naming `metric.origin`: no host bitcode, bitcode of another
/// processor, a hook that is missing or has another prototype, a call to a function
/// that a hook may not call. Error(Environment) if LLVM cannot serve this host.
std::shared_ptr<const ScanKernel> compileScan(const MetricView &metric, ScanElements elements,
                                              const ScanTarget &host = {});

/// The key of what compileScan makes; the payload's digest is that of nothing where there is no
/// host bitcode, which compileScan refuses.
KernelKey scanKey(const MetricView &metric, ScanElements elements, const ScanTarget &host = {});

/// The same scan as assembly text, for tests and for looking at what was vectorised.
std::string scanAssembly(const MetricView &metric, ScanElements elements,
                         const ScanTarget &host = {});

/// "x86_64-pc-linux-gnu, znver4, 512-bit vectors, LLVM 22.1.8".
std::string describeHost();

} // namespace annudf::runtime::cpu

#endif // ANNUDF_RUNTIME_LIB_CPU_JIT_JIT_H
