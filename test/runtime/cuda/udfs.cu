//===- udfs.cu - Hooks written by hand, as the compiler would emit them -----===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled to LTO-IR once for each metric of runtime/cpu/TestMetrics.h, which has the
// same distances in float64. ANNUDF_METRIC picks one; the backend's tests then need no
// compiler of ours.
//
//===----------------------------------------------------------------------===//

#include "annudf/ABI/annudf_abi.h"

#include <cuda_fp16.h>

#ifdef ANNUDF_NOT_INLINED // What a bad compiler would emit; LinkTest must notice.
#define HOOK extern "C" __device__ __noinline__
#else // Kept by `used`, because nothing in this file calls it; inlined once it is linked.
#define HOOK extern "C" __device__ __forceinline__ __attribute__((used))
#endif

struct l2 {
  using Acc = float;
  using Compute = float;
  static constexpr int kOrder = ANNUDF_ORDER_MIN;
  static __device__ Acc init() { return 0; }
  static __device__ Acc update(Acc a, float x, float y, int, const uint64_t *) {
    return fmaf(x - y, x - y, a);
  }
  static __device__ float finalize(Acc a, const uint64_t *) { return a; }
};
struct weighted_l2 : l2 {
  static __device__ Acc update(Acc a, float x, float y, int dim, const uint64_t *slots) {
    return fmaf(__ldg(reinterpret_cast<const float *>(slots[0]) + dim), (x - y) * (x - y), a);
  }
};
struct l1 : l2 {
  static __device__ Acc update(Acc a, float x, float y, int, const uint64_t *) {
    return a + fabsf(x - y);
  }
};
struct chebyshev : l2 {
  static __device__ Acc update(Acc a, float x, float y, int, const uint64_t *) {
    return fmaxf(a, fabsf(x - y));
  }
};
struct inner_product : l2 {
  static constexpr int kOrder = ANNUDF_ORDER_MAX;
  static __device__ Acc update(Acc a, float x, float y, int, const uint64_t *) {
    return fmaf(x, y, a);
  }
};
struct hamming {
  using Acc = int;
  using Compute = int;
  static constexpr int kOrder = ANNUDF_ORDER_MIN;
  static __device__ Acc init() { return 0; }
  static __device__ Acc update(Acc a, int x, int y, int, const uint64_t *) {
    return a + __popc((x ^ y) & 0xFF);
  }
  static __device__ float finalize(Acc a, const uint64_t *) { return static_cast<float>(a); }
};
struct agreement { // Padding would count, since zero agrees with zero.
  using Acc = int;
  using Compute = float;
  static constexpr int kOrder = ANNUDF_ORDER_MAX;
  static __device__ Acc init() { return -5; }
  static __device__ Acc update(Acc a, float x, float y, int, const uint64_t *) {
    return a + (fabsf(x - y) < 20.0f ? 1 : 0);
  }
  static __device__ float finalize(Acc a, const uint64_t *) { return static_cast<float>(a); }
};
struct minkowski : l2 {
  static __device__ float p(const uint64_t *slots) {
    return __uint_as_float(static_cast<uint32_t>(slots[0]));
  }
  static __device__ Acc update(Acc a, float x, float y, int, const uint64_t *slots) {
    return a + powf(fabsf(x - y), p(slots));
  }
  static __device__ float finalize(Acc a, const uint64_t *slots) { return powf(a, 1 / p(slots)); }
};
struct l2_f64 {
  using Acc = double;
  using Compute = double;
  static constexpr int kOrder = ANNUDF_ORDER_MIN;
  static __device__ Acc init() { return 0; }
  static __device__ Acc update(Acc a, double x, double y, int, const uint64_t *) {
    return fma(x - y, x - y, a);
  }
  static __device__ float finalize(Acc a, const uint64_t *) { return static_cast<float>(a); }
};
struct asymmetric : l2 {
  static __device__ Acc update(Acc a, float x, float y, int dim, const uint64_t *) {
    return a + (x < y ? 2 * (y - x) : (dim % 3 == 0 ? 0.5f : 1.0f) * (x - y));
  }
};

using Metric = ANNUDF_METRIC;
constexpr int kWidth = sizeof(Metric::Acc) * 8;

__device__ __forceinline__ uint32_t wordOf(float v) { return __float_as_uint(v); }
__device__ __forceinline__ uint32_t wordOf(int v) { return static_cast<uint32_t>(v); }
__device__ __forceinline__ uint64_t wordOf(double v) {
  return static_cast<uint64_t>(__double_as_longlong(v));
}
__device__ __forceinline__ void valueOf(uint32_t w, float &v) { v = __uint_as_float(w); }
__device__ __forceinline__ void valueOf(uint32_t w, int &v) { v = static_cast<int>(w); }
__device__ __forceinline__ void valueOf(uint64_t w, double &v) {
  v = __longlong_as_double(static_cast<long long>(w));
}

__device__ __forceinline__ Metric::Compute unpack(uint32_t word, int i) {
  switch (annudf1_element()) {
  case ANNUDF_ELEMENT_F32:
    return static_cast<Metric::Compute>(__uint_as_float(word));
  case ANNUDF_ELEMENT_F16:
    return static_cast<Metric::Compute>(
        __half2float(__ushort_as_half(static_cast<unsigned short>(word >> (16 * i)))));
  case ANNUDF_ELEMENT_I8:
    return static_cast<Metric::Compute>(static_cast<int8_t>(word >> (8 * i)));
  default:
    return static_cast<Metric::Compute>(static_cast<uint8_t>(word >> (8 * i)));
  }
}

#define HOOKS(WIDTH)                                                                               \
  HOOK uint##WIDTH##_t annudf1_init_##WIDTH(int32_t, int32_t, int32_t, const uint64_t *) {         \
    return wordOf(Metric::init());                                                                 \
  }                                                                                                \
  HOOK uint##WIDTH##_t annudf1_update_##WIDTH(uint##WIDTH##_t word, uint32_t x, uint32_t y,        \
                                              int32_t dim, int32_t count, int32_t, int64_t,        \
                                              int32_t, int32_t, const uint64_t *slots) {           \
    Metric::Acc acc;                                                                               \
    valueOf(word, acc);                                                                            \
    _Pragma("unroll") for (int i = 0; i < 4; ++i) if (i < count) acc =                             \
        Metric::update(acc, unpack(x, i), unpack(y, i), dim + i, slots);                           \
    return wordOf(acc);                                                                            \
  }                                                                                                \
  HOOK float annudf1_finalize_##WIDTH(uint##WIDTH##_t word, int32_t, int64_t, int32_t, int32_t,    \
                                      const uint64_t *slots) {                                     \
    Metric::Acc acc;                                                                               \
    valueOf(word, acc);                                                                            \
    return Metric::finalize(acc, slots);                                                           \
  }

#if ANNUDF_METRIC_WIDTH == 64
HOOKS(64)
#else
HOOKS(32)
#endif
static_assert(kWidth == ANNUDF_METRIC_WIDTH, "the build passes the accumulator's width");

HOOK int32_t annudf1_order(void) { return Metric::kOrder; }
HOOK int32_t annudf1_dims(void) { return 0; }
