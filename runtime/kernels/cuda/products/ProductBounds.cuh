//===- ProductBounds.cuh - From products to bounds ----------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of Products.cu, apart from it so that tests can run it where there is no GPU.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CUDA_PRODUCTS_PRODUCTBOUNDS_CUH
#define ANNUDF_KERNELS_CUDA_PRODUCTS_PRODUCTBOUNDS_CUH

#include "../common/Passes.cuh"
#include "ProductRows.cuh"
#include "ProductStages.cuh"

#include <cfloat>

namespace {

__device__ __forceinline__ float leastOrNan(float a, float b) {
#ifdef __CUDACC__
  float least;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(least) : "f"(a), "f"(b));
  return least;
#else
  return a != a || b != b ? NAN : fminf(a, b);
#endif
}

/// What this thread's two queries may find of group `threadIdx.x % 4` of a tile.
struct PassingRows {
  uint32_t word[2];

  /// \pre args.scan.work.passing != 0
  __device__ __forceinline__ void read(const annudf_matrix_args &args, const Numbers &numbers,
                                       int firstQuery, int count, uint32_t group, uint32_t groups) {
    const uint32_t mine = threadIdx.x % 4;
#pragma unroll
    for (int o = 0; o < 2; ++o) {
      const int q = firstQuery + 8 * o;
      word[o] = q < count && mine < groups
                    ? passingAt(args.scan.work, numbers.place[q] + group + mine)
                    : 0;
    }
  }
  /// Puts infinity in place of the products of all other rows: no bound is then of them.
  __device__ __forceinline__ void leaveOut(float (&sum)[64]) const {
#pragma unroll
    for (int o = 0; o < 2; ++o)
#pragma unroll
      for (int pair = 0; pair < 16; ++pair) // Neighbours.
#pragma unroll
        for (int r = 0; r < 2; ++r)
          if (!(word[o] >> (pair * 2 + r) & 1))
            sum[pair * 4 + o * 2 + r] = INFINITY;
  }
};

/// Writes the bounds of a tile for this thread's two queries. \tparam kRatio  of a normalised form:
/// what a row gives is a factor, and what a query adds is within it.
template <bool kRatio>
__device__ __forceinline__ void writeBounds(const annudf_matrix_args &args, const Numbers &numbers,
                                            const float *terms, const float (&sum)[64],
                                            int firstQuery, int count, float listScale,
                                            uint32_t group, uint32_t groups) {
  const int lane = static_cast<int>(threadIdx.x) & 31, mine = lane % 4;
  const float4 longest = reinterpret_cast<const float4 *>(terms + kRows)[mine];
  const float most[4] = {longest.x, longest.y, longest.z, longest.w};
#pragma unroll
  for (int o = 0; o < 2; ++o) {
    const int q = firstQuery + 8 * o;
    const float scale = numbers.scale[q] * listScale, factor = numbers.factor[q];
    // If query and list are far apart in different dimensions, no float may hold it: then
    // nothing is said, as an infinite product would leave rows out.
    const float added = scale < INFINITY ? numbers.added[q] : NAN;
    float bound[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      float low = INFINITY;
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const float2 row = *reinterpret_cast<const float2 *>(terms + (i * 4 + j) * 8 + mine * 2);
        const float *product = &sum[(i * 4 + j) * 4 + o * 2];
        const float first = kRatio ? fmaf(product[0], scale, added) * row.x
                                   : fmaf(product[0], scale, row.x),
                    second = kRatio ? fmaf(product[1], scale, added) * row.y
                                    : fmaf(product[1], scale, row.y);
        low = leastOrNan(low, leastOrNan(first, second));
      }
      bound[i] = fmaf(-factor, most[i], kRatio ? low - args.ratio.error : low + added);
      // NaN too, and -infinity: a row that a filter leaves out may be as long as floats allow.
      if (!(bound[i] >= (kRatio ? -ANNUDF_MATRIX_MOST_RATIO : -FLT_MAX)))
        bound[i] = -FLT_MAX;
    }
    if (q < count && mine < static_cast<int>(groups))
      *reinterpret_cast<float4 *>(pointer<float>(args.scan.work.keys) +
                                  (numbers.place[q] + group + static_cast<uint32_t>(mine)) *
                                      ANNUDF_GRANULES) =
          make_float4(bound[0], bound[1], bound[2], bound[3]);
  }
}

} // namespace

#endif // ANNUDF_KERNELS_CUDA_PRODUCTS_PRODUCTBOUNDS_CUH
