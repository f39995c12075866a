//===- Mma.cuh - Products of warps, and copies to them ------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What Wgmma.cuh is, by instructions that every architecture from sm_80 on has (PTX ISA 7.0: mma,
// ldmatrix, cp.async). A warp multiplies 16 queries, as a warp of a warpgroup does, and leaves the
// same sums in the same registers of the same lanes.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CUDA_PRODUCTS_MMA_CUH
#define ANNUDF_KERNELS_CUDA_PRODUCTS_MMA_CUH

#include "ProductStages.cuh"

namespace {

#ifdef __CUDACC__
/// Four matrices of 8 lines of 16 bytes; lane l brings the place of line l % 8 of matrix l / 8, and
/// gets of each the 4 bytes l % 4 of line l / 4.
__device__ __forceinline__ uint4 loadMatrices(const uint4 *line) {
  uint4 to;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to.x), "=r"(to.y), "=r"(to.z), "=r"(to.w)
               : "r"(sharedAddress(line))
               : "memory");
  return to;
}

/// 16 queries by 8 rows, 16 dimensions, are added to four sums.
__device__ __forceinline__ void multiplyBlock(float *sum, uint4 queries, uint32_t low,
                                              uint32_t high) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
               "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
               : "r"(queries.x), "r"(queries.y), "r"(queries.z), "r"(queries.w), "r"(low),
                 "r"(high));
}
#endif

/// As Warpgroups, whose members say what these are for; sums are there when a call returns.
class Warps {
public:
  static constexpr int kStageBytes = ANNUDF_MATRIX_MMA_STAGE_BYTES;
  static constexpr int kBusyStages = 1;
  struct Arrivals {};

  __device__ Warps(Arrivals &, int warp) : warp(warp) {}
  __device__ bool has(int queries) const { return warp * 16 < queries; }
  __device__ static bool brings(int) { return true; }
  __device__ void bring(int, uint4 *panel, const uint4 *panelFrom, bool withTerms, float *terms,
                        const float *termsFrom) {
    const int t = static_cast<int>(threadIdx.x);
#pragma unroll
    for (int i = 0; i < ANNUDF_MATRIX_PANEL_BYTES / 16; i += ANNUDF_MATRIX_THREADS)
      copyLine(panel + i + t, panelFrom + i + t);
    if (withTerms && t < ANNUDF_MATRIX_TERMS / 4)
      copyLine(reinterpret_cast<uint4 *>(terms) + t,
               reinterpret_cast<const uint4 *>(termsFrom) + t);
  }
  /// Rows arrive with the step's queries.
  __device__ void waitFor(int) {}
  __device__ void multiplyPanel(float (&sum)[64], const uint4 *queries, const uint4 *rows,
                                bool isFirst) const {
    if (isFirst)
#pragma unroll
      for (float &one : sum)
        one = 0;
    const int lane = static_cast<int>(threadIdx.x) & 31;
    const uint4 *const mine = queries + warp * 16 * 8;
#pragma unroll 2
    for (int k = 0; k < ANNUDF_MATRIX_PANEL_DIMS / 16; ++k) {
      // Queries 0 to 7 and 8 to 15 of 8 dimensions, then of 8 more.
      const uint4 x = loadMatrices(mine + placeOf(lane % 16, 2 * k + lane / 16));
#pragma unroll
      for (int block = 0; block < ANNUDF_MATRIX_ROWS / 8; block += 2) {
        // 8 dimensions of 8 rows and 8 more, then those of 8 more rows.
        const uint4 y = loadMatrices(
            rows + placeOf(block * 8 + lane / 16 * 8 + lane % 8, 2 * k + lane / 8 % 2));
        multiplyBlock(&sum[block * 4], x, y.x, y.y);
        multiplyBlock(&sum[block * 4 + 4], x, y.z, y.w);
      }
    }
  }
  __device__ void endPanel(float (&)[64]) const {}
  __device__ void endTile(float (&)[64]) const {}

private:
  const int warp;
};

} // namespace

#endif // ANNUDF_KERNELS_CUDA_PRODUCTS_MMA_CUH
