//===- CoarseKernel.h - Keys of rows to centers, blocked for registers *- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_COARSE_COARSEKERNEL_H
#define ANNUDF_RUNTIME_LIB_COARSE_COARSEKERNEL_H

#include <cstdint>
#include <span>

namespace annudf::runtime {

/// Operands of the kernel; layouts as CoarseRanker documents them.
struct CoarseOperands {
  const float *rows; ///< count x dims.
  int64_t count;
  int32_t dims;
  int64_t panels;
  const float *factors;
  const float *biases;
  float *out; ///< count x panels * CoarseRanker::kPanel.
};

/// out[r][c] = biases[c] + sum_d rows[r][d] * factors[c][d]. The sum runs over d in
/// order, whatever the blocking: a row's keys depend on nothing but row and centers.
void coarseKeys(const CoarseOperands &operands);

/// Index of the smallest of `count` values, a multiple of CoarseRanker::kPanel; the
/// first one of equals; 0 if none is below +inf.
uint32_t indexOfSmallest(const float *values, int64_t count);

/// One compilation of both functions for an instruction set.
struct CoarseKernels {
  const char *name;
  void (*keys)(const CoarseOperands &);
  uint32_t (*smallest)(const float *, int64_t);
};
/// Those this processor runs, the one in use first.
std::span<const CoarseKernels> availableCoarseKernels();

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_LIB_COARSE_COARSEKERNEL_H
