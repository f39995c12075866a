//===- udf.h - Hooks written by hand, as the compiler would emit them -----===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A metric defines MetricBody and ends with ANNUDF_TEST_HOOKS(A, X), the bits of its
// accumulator and coordinates, and ANNUDF_TEST_FINALIZE(A) if it has a finalize:
//   struct MetricBody {
//     using Acc = float;  using Compute = float;
//     static Acc init(); static Acc update(Acc, Compute x, Compute y, int dim, const uint64_t *);
//     static float finalize(Acc, const uint64_t *);
//   };
// With several fields Acc is a struct of them, all as wide as a word, and the macros are
// ANNUDF_TEST_FIELDS_HOOKS(A, X) and ANNUDF_TEST_FIELDS_FINALIZE(A).
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

template <class T> UDF_INLINE const T *arrayOf(const uint64_t *slots, int i) {
  return reinterpret_cast<const T *>(slots[i]);
}
template <class T> UDF_INLINE T scalarOf(const uint64_t *slots, int i) {
  return bits<T>(uint32_t(slots[i]));
}

// The build passes the metric's name and makes the header.
#include "contracts.h"
#define ANNUDF_TEST_JOIN(A, B) A##B
#define ANNUDF_TEST_CONTRACT_OF(NAME) ANNUDF_TEST_JOIN(ANNUDF_TEST_CONTRACT_, NAME)

#define ANNUDF_TEST_HOOKS(A, X)                                                                    \
  extern "C" uint##A##_t annudf1_scan_init_a##A(int32_t, int32_t, int32_t, const uint64_t *) {     \
    return bits<uint##A##_t>(MetricBody::init());                                                  \
  }                                                                                                \
  extern "C" uint##A##_t annudf1_scan_update_a##A##_x##X(                                          \
      uint##A##_t acc, uint##X##_t x, uint##X##_t y, int32_t dim, int32_t, int64_t, int32_t,       \
      int32_t, const uint64_t *slots) {                                                            \
    return bits<uint##A##_t>(MetricBody::update(bits<MetricBody::Acc>(acc),                        \
                                                bits<MetricBody::Compute>(x),                      \
                                                bits<MetricBody::Compute>(y), dim, slots));        \
  }                                                                                                \
  extern "C" uint64_t annudf1_scan_contract(void) {                                                \
    return ANNUDF_TEST_CONTRACT_OF(ANNUDF_TEST_METRIC);                                            \
  }

#define ANNUDF_TEST_FINALIZE(A)                                                                    \
  extern "C" float annudf1_scan_finalize_a##A(uint##A##_t acc, int32_t, int64_t, int32_t, int32_t, \
                                              const uint64_t *slots) {                             \
    return MetricBody::finalize(bits<MetricBody::Acc>(acc), slots);                                \
  }

// Words past the fields are not touched.
#define ANNUDF_TEST_FIELDS_HOOKS(A, X)                                                             \
  extern "C" void annudf1_scan_init_s##A(uint##A##_t *acc, int32_t, int32_t, int32_t,              \
                                         const uint64_t *) {                                       \
    const MetricBody::Acc first = MetricBody::init();                                              \
    __builtin_memcpy(acc, &first, sizeof first);                                                   \
  }                                                                                                \
  extern "C" void annudf1_scan_update_s##A##_x##X(uint##A##_t *acc, uint##X##_t x, uint##X##_t y,  \
                                                  int32_t dim, int32_t, int64_t, int32_t, int32_t, \
                                                  const uint64_t *slots) {                         \
    MetricBody::Acc fields;                                                                        \
    __builtin_memcpy(&fields, acc, sizeof fields);                                                 \
    fields = MetricBody::update(fields, bits<MetricBody::Compute>(x),                              \
                                bits<MetricBody::Compute>(y), dim, slots);                         \
    __builtin_memcpy(acc, &fields, sizeof fields);                                                 \
  }                                                                                                \
  extern "C" uint64_t annudf1_scan_contract(void) {                                                \
    return ANNUDF_TEST_CONTRACT_OF(ANNUDF_TEST_METRIC);                                            \
  }

#define ANNUDF_TEST_FIELDS_FINALIZE(A)                                                             \
  extern "C" float annudf1_scan_finalize_s##A(const uint##A##_t *acc, int32_t, int64_t, int32_t,   \
                                              int32_t, const uint64_t *slots) {                    \
    MetricBody::Acc fields;                                                                        \
    __builtin_memcpy(&fields, acc, sizeof fields);                                                 \
    return MetricBody::finalize(fields, slots);                                                    \
  }

#endif // ANNUDF_TEST_RUNTIME_CPU_UDFS_UDF_H
