//===- Orders.h - Which end of the distances is best --------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For the kernels of every backend and for the host, as Coordinates.h: an order without
// its specialisation does not compile.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_ORDERS_H
#define ANNUDF_KERNELS_ORDERS_H

#include "annudf/ABI/annudf_abi.h"

#if defined(__CUDACC__)
#define ANNUDF_ORDERING __host__ __device__ __forceinline__
#else
#define ANNUDF_ORDERING inline __attribute__((always_inline))
#endif

namespace annudf_kernels {

template <int order> struct OrderOf;
template <> struct OrderOf<ANNUDF_ORDER_MIN> {
  static constexpr bool kLargestIsBest = false;
};
template <> struct OrderOf<ANNUDF_ORDER_MAX> {
  static constexpr bool kLargestIsBest = true;
};

/// Whether the largest distance is the best one, else the smallest is.
ANNUDF_ORDERING constexpr bool isLargestBest(int32_t order) {
  switch (order) {
#define ANNUDF_X(NAME, VALUE, SPELLING, SINCE)                                                     \
  case VALUE:                                                                                      \
    return OrderOf<VALUE>::kLargestIsBest;
    ANNUDF_ORDERS(ANNUDF_X)
#undef ANNUDF_X
  }
  return false;
}

} // namespace annudf_kernels

#endif // ANNUDF_KERNELS_ORDERS_H
