//===- udf.h - Hooks written by hand, as the compiler would emit them -----===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A metric defines MetricBody and ends with ANNUDF_TEST_HOOKS(width, order):
//   struct MetricBody {
//     using Acc = float;  using Compute = float;
//     static Acc init(); static Acc update(Acc, Compute x, Compute y, int dim, const uint64_t *);
//     static float finalize(Acc, const uint64_t *);
//   };
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_RUNTIME_CPU_UDFS_UDF_H
#define ANNUDF_TEST_RUNTIME_CPU_UDFS_UDF_H

#include "annudf/ABI/annudf_abi.h"

#define UDF_INLINE static inline __attribute__((always_inline))

template <class To, class From> UDF_INLINE To bits(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  __builtin_memcpy(&to, &from, sizeof(to));
  return to;
}

/// Coordinate i of a word. The element is a constant once the scan is linked.
template <class Compute> UDF_INLINE Compute unpack(uint32_t word, int i) {
  switch (annudf1_element()) {
  case ANNUDF_ELEMENT_F32:
    return Compute(bits<float>(word));
  case ANNUDF_ELEMENT_F16:
    return Compute(bits<_Float16>(uint16_t(word >> (16 * i))));
  case ANNUDF_ELEMENT_I8:
    return Compute(int8_t(word >> (8 * i)));
  default:
    return Compute(uint8_t(word >> (8 * i)));
  }
}

template <class T> UDF_INLINE const T *arrayOf(const uint64_t *slots, int i) {
  return reinterpret_cast<const T *>(slots[i]);
}
template <class T> UDF_INLINE T scalarOf(const uint64_t *slots, int i) {
  return bits<T>(uint32_t(slots[i]));
}

#define ANNUDF_TEST_HOOKS(WIDTH, ORDER)                                                            \
  extern "C" uint##WIDTH##_t annudf1_init_##WIDTH(int32_t, int32_t, int32_t, const uint64_t *) {   \
    return bits<uint##WIDTH##_t>(MetricBody::init());                                              \
  }                                                                                                \
  extern "C" uint##WIDTH##_t annudf1_update_##WIDTH(                                               \
      uint##WIDTH##_t word, uint32_t x, uint32_t y, int32_t dim, int32_t count, int32_t, int64_t,  \
      int32_t, int32_t, const uint64_t *slots) {                                                   \
    auto acc = bits<MetricBody::Acc>(word);                                                        \
    _Pragma("unroll") for (int i = 0; i < 4; ++i) if (i < count) acc = MetricBody::update(  \
        acc, unpack<MetricBody::Compute>(x, i), unpack<MetricBody::Compute>(y, i), dim + i,        \
        slots);                                                                                    \
    return bits<uint##WIDTH##_t>(acc);                                                             \
  }                                                                                                \
  extern "C" float annudf1_finalize_##WIDTH(uint##WIDTH##_t word, int32_t, int64_t, int32_t,       \
                                            int32_t, const uint64_t *slots) {                      \
    return MetricBody::finalize(bits<MetricBody::Acc>(word), slots);                               \
  }                                                                                                \
  extern "C" int32_t annudf1_order(void) { return ANNUDF_ORDER_##ORDER; }                          \
  extern "C" int32_t annudf1_dims(void) { return 0; }

#endif // ANNUDF_TEST_RUNTIME_CPU_UDFS_UDF_H
