//===- MatrixStages.cuh - Panels in a block's shared memory -------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How the scan of Matrix.cu divides shared memory among panels that are multiplied and panels that
// are on their way.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CUDA_MATRIXSTAGES_CUH
#define ANNUDF_KERNELS_CUDA_MATRIXSTAGES_CUH

#include "MatrixArgs.h"

#include <algorithm>
#include <cstdint>

namespace {

/// Of an item's queries.
struct Numbers {
  float scale[ANNUDF_MATRIX_QUERIES], factor[ANNUDF_MATRIX_QUERIES], added[ANNUDF_MATRIX_QUERIES];
  uint32_t query[ANNUDF_MATRIX_QUERIES];
  uint64_t place[ANNUDF_MATRIX_QUERIES]; ///< Group of the workspace, of the item's first row.
};

/// A block's shared memory. Panels of rows come through stages; those of queries stay for the item,
/// or, kLong, come with the rows.
struct Memory {
  uint4 panels[ANNUDF_MATRIX_STAGE_BYTES / 16];
  float terms[4][ANNUDF_MATRIX_TERMS]; ///< Of tiles; three ahead of the one in use, at most.
  Numbers numbers;
  uint64_t full[ANNUDF_MATRIX_MOST_STAGES];
  uint32_t ticket;
};

/// How an item divides the memory for panels: the fewer queries it has, the more stages, as rows
/// are on their way for a microsecond however little is done with them. A panel of queries ends
/// after the last 32 that are there. wgmma reads 64: what it finds behind them goes to results of
/// no query.
template <bool kLong> struct Stages {
  static constexpr int kPanel = ANNUDF_MATRIX_PANEL_BYTES / 16;
  static constexpr int kAll = ANNUDF_MATRIX_STAGE_BYTES / 16;
  template <int kLines>
  static constexpr int kCount =
      std::min(ANNUDF_MATRIX_MOST_STAGES,
               kLong ? kAll / (kPanel + kLines * 8)
                     : (kAll - ANNUDF_MATRIX_RESIDENT_PANELS * kLines * 8) / kPanel);
  static_assert(kCount<128> >= 3, "one in use, one free, one on its way");
  int queryPanel, count;
  __device__ explicit Stages(int queries)
      : queryPanel((queries <= 32   ? 32
                    : queries <= 64 ? 64
                                    : 128) *
                   8),
        count(queries <= 32   ? kCount<32>
              : queries <= 64 ? kCount<64>
                              : kCount<128>) {}
  /// Of the stage's rows; behind them, kLong, its queries.
  __device__ int rows(int stage) const {
    return kLong ? stage * (kPanel + queryPanel)
                 : ANNUDF_MATRIX_RESIDENT_PANELS * queryPanel + stage * kPanel;
  }
  __device__ int queries(int stage, int panel) const {
    return kLong ? rows(stage) + kPanel : panel * queryPanel;
  }
  __device__ int next(int stage) const { return stage + 1 == count ? 0 : stage + 1; }
  /// Steps whose copies are on their way. The stage of the last step but one is free.
  __device__ int ahead() const { return count - 2; }
  /// Waits for this thread's copies of a step: all but those of the steps behind it.
  __device__ void waitForQueries() const {
    static_assert(ANNUDF_MATRIX_MOST_STAGES == 5, "three cases");
    if (count == 3)
      asm volatile("cp.async.wait_group 0;" ::: "memory");
    else if (count == 4)
      asm volatile("cp.async.wait_group 1;" ::: "memory");
    else
      asm volatile("cp.async.wait_group 2;" ::: "memory");
  }
};

} // namespace

#endif // ANNUDF_KERNELS_CUDA_MATRIXSTAGES_CUH
