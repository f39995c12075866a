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

#include "contracts.h"

#ifdef ANNUDF_NOT_INLINED // What a bad compiler would emit; LinkTest must notice.
#define HOOK extern "C" __device__ __noinline__
#else // Kept by `used`, because nothing in this file calls it; inlined once it is linked.
#define HOOK extern "C" __device__ __forceinline__ __attribute__((used))
#endif

struct l2 {
  using Acc = float;
  using Compute = float;
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
  static __device__ Acc update(Acc a, float x, float y, int, const uint64_t *) {
    return fmaf(x, y, a);
  }
};
struct equal {
  using Acc = float;
  using Compute = float;
  static __device__ Acc init() { return 7; }
  static __device__ Acc update(Acc a, float x, float y, int, const uint64_t *) {
    return x != y ? a - 1 : a;
  }
  static __device__ float finalize(Acc a, const uint64_t *) { return a / 2; }
};
struct hamming {
  using Acc = int;
  using Compute = int;
  static __device__ Acc init() { return 0; }
  static __device__ Acc update(Acc a, int x, int y, int, const uint64_t *) {
    return a + __popc((x ^ y) & 0xFF);
  }
  static __device__ float finalize(Acc a, const uint64_t *) { return static_cast<float>(a); }
};
struct agreement { // Padding would count, since zero agrees with zero.
  using Acc = int;
  using Compute = float;
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

struct cosine {
  struct Acc {
    float xy, xx, yy;
  };
  using Compute = float;
  static __device__ Acc init() { return {0, 0, 0}; }
  static __device__ Acc update(Acc a, float x, float y, int, const uint64_t *) {
    return {fmaf(x, y, a.xy), fmaf(x, x, a.xx), fmaf(y, y, a.yy)};
  }
  static __device__ float finalize(Acc a, const uint64_t *) {
    return 1 - a.xy / sqrtf(a.xx * a.yy);
  }
};
struct bray_curtis {
  struct Acc {
    double apart, together;
  };
  using Compute = double;
  static __device__ Acc init() { return {0, 0}; }
  static __device__ Acc update(Acc a, double x, double y, int, const uint64_t *) {
    return {a.apart + fabs(x - y), a.together + fabs(x + y)};
  }
  static __device__ float finalize(Acc a, const uint64_t *) {
    return static_cast<float>(a.apart / a.together);
  }
};
struct tanimoto {
  struct Acc {
    uint32_t both, either;
    int last;
    float weight;
  };
  using Compute = int;
  static __device__ Acc init() { return {0, 0, -1, 0.5f}; }
  static __device__ Acc update(Acc a, int x, int y, int dim, const uint64_t *) {
    return {a.both + __popc(x & y & 0xFF), a.either + __popc((x | y) & 0xFF), dim, a.weight};
  }
  static __device__ float finalize(Acc a, const uint64_t *) {
    return 1 - (static_cast<float>(a.both) + a.weight) / (static_cast<float>(a.either) + a.weight) +
           0.001f * static_cast<float>(a.last % 7);
  }
};

using Metric = ANNUDF_METRIC;

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

template <class T, class Word> __device__ __forceinline__ T valueOf(Word word) {
  T value;
  valueOf(word, value);
  return value;
}

#define JOIN(A, B) A##B
#ifndef ANNUDF_METRIC_CONTRACT // Else the number of a variant of the metric.
#define ANNUDF_METRIC_CONTRACT ANNUDF_METRIC
#endif
#define CONTRACT_OF(NAME) JOIN(ANNUDF_TEST_CONTRACT_, NAME)

#define HOOKS(A, X)                                                                                \
  HOOK uint##A##_t annudf1_scan_init_a##A(int32_t, int32_t, int32_t, const uint64_t *) {           \
    return wordOf(Metric::init());                                                                 \
  }                                                                                                \
  HOOK uint##A##_t annudf1_scan_update_a##A##_x##X(uint##A##_t acc, uint##X##_t x, uint##X##_t y,  \
                                                   int32_t dim, int32_t, int64_t, int32_t,         \
                                                   int32_t, const uint64_t *slots) {               \
    return wordOf(Metric::update(valueOf<Metric::Acc>(acc), valueOf<Metric::Compute>(x),           \
                                 valueOf<Metric::Compute>(y), dim, slots));                        \
  }                                                                                                \
  HOOK uint64_t annudf1_scan_contract(void) { return CONTRACT_OF(ANNUDF_METRIC_CONTRACT); }

#define FINALIZE(A)                                                                                \
  HOOK float annudf1_scan_finalize_a##A(uint##A##_t acc, int32_t, int64_t, int32_t, int32_t,       \
                                        const uint64_t *slots) {                                   \
    return Metric::finalize(valueOf<Metric::Acc>(acc), slots);                                     \
  }

/// For a metric whose accumulator is a sum.
#define COMBINE(A)                                                                                 \
  HOOK uint##A##_t annudf1_scan_combine_a##A(uint##A##_t acc, uint##A##_t other, int32_t, int64_t, \
                                             int32_t, int32_t, const uint64_t *) {                 \
    return wordOf(valueOf<Metric::Acc>(acc) + valueOf<Metric::Acc>(other));                        \
  }

/// Several fields: all are as wide as a word.
template <class Word> __device__ __forceinline__ Metric::Acc load(const Word *words) {
  Metric::Acc fields;
  memcpy(&fields, words, sizeof fields);
  return fields;
}
template <class Word> __device__ __forceinline__ void store(Word *words, Metric::Acc fields) {
  memcpy(words, &fields, sizeof fields);
}

#define FIELDS_HOOKS(A, X)                                                                         \
  HOOK void annudf1_scan_init_s##A(uint##A##_t *acc, int32_t, int32_t, int32_t,                    \
                                   const uint64_t *) {                                             \
    store(acc, Metric::init());                                                                    \
  }                                                                                                \
  HOOK void annudf1_scan_update_s##A##_x##X(uint##A##_t *acc, uint##X##_t x, uint##X##_t y,        \
                                            int32_t dim, int32_t, int64_t, int32_t, int32_t,       \
                                            const uint64_t *slots) {                               \
    store(acc, Metric::update(load(acc), valueOf<Metric::Compute>(x), valueOf<Metric::Compute>(y), \
                              dim, slots));                                                        \
  }                                                                                                \
  HOOK float annudf1_scan_finalize_s##A(const uint##A##_t *acc, int32_t, int64_t, int32_t,         \
                                        int32_t, const uint64_t *slots) {                          \
    return Metric::finalize(load(acc), slots);                                                     \
  }                                                                                                \
  HOOK uint64_t annudf1_scan_contract(void) { return CONTRACT_OF(ANNUDF_METRIC_CONTRACT); }

#define FIELDS_HOOKS_OF(A, X) FIELDS_HOOKS(A, X)
#define HOOKS_OF(A, X) HOOKS(A, X)
#define FINALIZE_OF(A) FINALIZE(A)
#define COMBINE_OF(A) COMBINE(A)
#ifdef ANNUDF_FIELDS
FIELDS_HOOKS_OF(ANNUDF_METRIC_A, ANNUDF_METRIC_X)
constexpr bool kFields = true;
#else
HOOKS_OF(ANNUDF_METRIC_A, ANNUDF_METRIC_X)
constexpr bool kFields = false;
#ifndef ANNUDF_NO_FINALIZE
FINALIZE_OF(ANNUDF_METRIC_A)
#endif
#ifdef ANNUDF_COMBINE
COMBINE_OF(ANNUDF_METRIC_A)
#endif
#endif
static_assert((kFields ? sizeof(Metric::Acc) * 8 % ANNUDF_METRIC_A == 0
                       : sizeof(Metric::Acc) * 8 == ANNUDF_METRIC_A) &&
                  sizeof(Metric::Compute) * 8 == ANNUDF_METRIC_X,
              "the build passes the widths");
