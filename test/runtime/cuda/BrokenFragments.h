//===- BrokenFragments.h - Code of metrics that does not link ---*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_RUNTIME_CUDA_BROKENFRAGMENTS_H
#define ANNUDF_TEST_RUNTIME_CUDA_BROKENFRAGMENTS_H

#include "CudaMetrics.h"
#include "cuda/link/Linker.h"

namespace annudf::test {

struct BrokenFragment {
  std::string bytes;
  std::string said; ///< After "cannot link metric 'l2' for sm_90: ".
  std::string log;  ///< The linker's own words, those of nvJitLink 13.0.
};

/// Fragments of the metric "l2".
inline std::vector<BrokenFragment> brokenFragments() {
  std::string half = readFatbin("l2");
  half.resize(half.size() / 2);
  return {{std::move(half), "metric: not a valid fragment (nvJitLink error 3)",
           "ERROR 5: bad input:metric"},
          // Names of hooks carry the widths, and its manifest says 32 bits.
          {readFatbin("l2_f64"), "linking: the assembler failed (nvJitLink error 4)",
           "ptxas fatal   : Unresolved extern function 'annudf1_scan_init_a32' "
           "ERROR NVJITLINK_ERROR_PTX_COMPILE: JIT the PTX (ltoPtx)"}};
}

/// "" if that is what is said of the fragment, else what is.
inline std::string otherThanExpected(const std::string &error, const BrokenFragment &fragment,
                                     int sm) {
  const std::string before =
      "cannot link metric 'l2' for sm_" + std::to_string(sm) + ": " + fragment.said + ": ";
  const runtime::cuda::LinkerVersion version = runtime::cuda::linkerVersion();
  const bool known = version.major == 13 && version.minor == 0;
  const bool is = known ? error == before + fragment.log
                        : error.starts_with(before) && error.size() > before.size();
  return is ? "" : error;
}

} // namespace annudf::test

#endif // ANNUDF_TEST_RUNTIME_CUDA_BROKENFRAGMENTS_H
