//===- ProductStages.cuh - Panels in a block's shared memory ------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How the scan of Products.cu divides shared memory among panels that are multiplied and panels
// that are on their way. What multiplies them, Products, is Warpgroups (Wgmma.cuh) or Warps
// (Mma.cuh).
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CUDA_PRODUCTS_PRODUCTSTAGES_CUH
#define ANNUDF_KERNELS_CUDA_PRODUCTS_PRODUCTSTAGES_CUH

#include "../common/ProductArgs.h"

#include <algorithm>
#include <cstdint>

namespace {

/// Place of 8 dimensions of a panel's line, in uint4: what wgmma calls the 128-byte swizzle. Eight
/// lines have the same dimensions in 32 banks, as ldmatrix reads them.
__device__ __forceinline__ int placeOf(int line, int eight) {
  return line * 8 + (eight ^ (line & 7));
}

#ifdef __CUDACC__
__device__ __forceinline__ uint32_t sharedAddress(const void *address) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(address));
}
__device__ __forceinline__ void copyLine(uint4 *to, const uint4 *from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(sharedAddress(to)), "l"(from)
               : "memory");
}
__device__ __forceinline__ void commitCopies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int kLeft> __device__ __forceinline__ void waitForCopies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory");
}
extern __shared__ __align__(1024) uint8_t matrixMemory[];
#else // On the host, where tests run it, nothing is copied later than it is asked for.
inline void copyLine(uint4 *to, const uint4 *from) { *to = *from; }
inline void commitCopies() {}
template <int> void waitForCopies() {}
alignas(1024) uint8_t matrixMemory[ANNUDF_MATRIX_SHARED_BYTES];
#endif

/// Numbers of an item's queries.
struct Numbers {
  float scale[ANNUDF_MATRIX_QUERIES], factor[ANNUDF_MATRIX_QUERIES], added[ANNUDF_MATRIX_QUERIES];
  uint32_t query[ANNUDF_MATRIX_QUERIES];
  uint64_t place[ANNUDF_MATRIX_QUERIES]; ///< Group of the workspace, of the item's first row.
};

/// A block's shared memory. Panels of rows come through stages; those of queries stay for the item,
/// or, kLong, come with the rows.
template <class Products> struct Memory {
  uint4 panels[Products::kStageBytes / 16];
  float terms[4][ANNUDF_MATRIX_TERMS]; ///< Terms of tiles; kMostAhead of the one in use, at most.
  Numbers numbers;
  typename Products::Arrivals arrivals;
  uint32_t ticket;
};
constexpr int kMostAhead = 3;

/// How an item divides the memory for panels: the fewer queries it has, the more stages, as rows
/// are on their way for a microsecond however little is done with them. A panel of queries ends
/// after the last 32 that are there. wgmma reads 64: what it finds behind them goes to results of
/// no query.
template <bool kLong, class Products> struct Stages {
  static constexpr int kPanel = ANNUDF_MATRIX_PANEL_BYTES / 16;
  static constexpr int kAll = Products::kStageBytes / 16;
  static constexpr int kBusy = Products::kBusyStages;
  template <int kLines>
  static constexpr int kCount = std::min(
      kBusy + kMostAhead, kLong ? kAll / (kPanel + kLines * 8)
                                : (kAll - ANNUDF_MATRIX_RESIDENT_PANELS * kLines * 8) / kPanel);
  static_assert(kCount<128> > kBusy && kBusy + kMostAhead <= ANNUDF_MATRIX_MOST_STAGES,
                "one is on its way");
  int queryPanel, count;
  __device__ explicit Stages(int queries)
      : queryPanel((queries <= 32   ? 32
                    : queries <= 64 ? 64
                                    : 128) *
                   8),
        count(queries <= 32   ? kCount<32>
              : queries <= 64 ? kCount<64>
                              : kCount<128>) {}
  /// Where the stage's rows are; behind them, kLong, its queries.
  __device__ int rows(int stage) const {
    return kLong ? stage * (kPanel + queryPanel)
                 : ANNUDF_MATRIX_RESIDENT_PANELS * queryPanel + stage * kPanel;
  }
  __device__ int queries(int stage, int panel) const {
    return kLong ? rows(stage) + kPanel : panel * queryPanel;
  }
  __device__ int next(int stage) const { return stage + 1 == count ? 0 : stage + 1; }
  /// Steps whose copies are on their way.
  __device__ int ahead() const { return count - kBusy; }
  /// Waits for this thread's copies of a step: all but those of the steps behind it.
  __device__ void waitForQueries() const {
    static_assert(kMostAhead == 3, "three cases");
    if (ahead() == 1)
      waitForCopies<0>();
    else if (ahead() == 2)
      waitForCopies<1>();
    else
      waitForCopies<2>();
  }
};

} // namespace

#endif // ANNUDF_KERNELS_CUDA_PRODUCTS_PRODUCTSTAGES_CUH
