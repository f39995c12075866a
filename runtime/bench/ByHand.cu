//===- ByHand.cu - A scan kernel with the formula written into it ---------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a UDF is compared with: the kernels of Staged.cu and Survivors.cu for float32, in which L2,
// or with ANNUDF_BY_HAND_WEIGHTED weighted L2, stands as somebody would write it who owns the
// kernel, and which nvcc compiles as a whole, without a link. Also the granules' last kernel.
//
//   nvcc -arch=sm_90 -cubin -std=c++17 -O3 -I include -I runtime
//        -DANNUDF_BY_HAND_CONTRACT=$(annudf_cuda_bench --metric l2.annudf --contract) -o l2.cubin
//        runtime/bench/ByHand.cu
//   ANNUDF_MATRIX=0 annudf_cuda_bench --metric l2.annudf --by-hand l2.cubin ...
//
//===----------------------------------------------------------------------===//

#define ANNUDF_ACCUMULATOR_FORM a
#define ANNUDF_ACCUMULATOR_WIDTH 32
#define ANNUDF_COORDINATE_WIDTH 32

#include "kernels/cuda/scan/Hooks.cuh"

extern "C" {

__device__ __forceinline__ uint32_t annudf1_scan_init_a32(int32_t, int32_t, int32_t,
                                                          const uint64_t *) {
  return __float_as_uint(0.f);
}

__device__ __forceinline__ uint32_t annudf1_scan_update_a32_x32(uint32_t acc, uint32_t x,
                                                                uint32_t y, int32_t dim, int32_t,
                                                                int64_t, int32_t, int32_t,
                                                                const uint64_t *captures) {
  const float d = __uint_as_float(x) - __uint_as_float(y);
#ifdef ANNUDF_BY_HAND_WEIGHTED
  const float *weights = reinterpret_cast<const float *>(captures[0]);
  return __float_as_uint(__uint_as_float(acc) + weights[dim] * d * d);
#else
  (void)dim, (void)captures;
  return __float_as_uint(__uint_as_float(acc) + d * d);
#endif
}

__device__ __forceinline__ float annudf1_scan_finalize_a32(uint32_t acc, int32_t, int64_t, int32_t,
                                                           int32_t, const uint64_t *) {
  return __uint_as_float(acc);
}

__device__ __forceinline__ int annudf1_row_element(void) { return ANNUDF_ELEMENT_F32; }
__device__ __forceinline__ int annudf1_query_element(void) { return ANNUDF_ELEMENT_F32; }
__device__ __forceinline__ int annudf1_compute(void) { return ANNUDF_COMPUTE_F32; }

__device__ __forceinline__ uint64_t annudf1_scan_contract(void) { return ANNUDF_BY_HAND_CONTRACT; }

} // extern "C"

#include "kernels/cuda/common/Overlap.cu"
#include "kernels/cuda/scan/Contract.cu"
#include "kernels/cuda/scan/Staged.cu"
#include "kernels/cuda/scan/Survivors.cu"
