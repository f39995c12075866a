//===- filters.cu - Hooks of filters, as the compiler would emit them -------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As udfs.cu: LTO-IR of the filters of runtime/cpu/TestMetrics.h.
//
//===----------------------------------------------------------------------===//

#include "annudf/ABI/annudf_abi.h"

#include "contracts.h"

#define HOOK extern "C" __device__ __forceinline__ __attribute__((used))

#ifdef ANNUDF_FILTER_same_tenant
HOOK int32_t annudf1_filter_keep(int32_t, int64_t row, int32_t query, int32_t,
                                 const uint64_t *slots) {
  return reinterpret_cast<const int32_t *>(slots[0])[row] ==
         reinterpret_cast<const int32_t *>(slots[1])[query];
}
HOOK uint64_t annudf1_filter_contract(void) { return ANNUDF_TEST_CONTRACT_same_tenant; }
#else
HOOK int32_t annudf1_filter_keep(int32_t, int64_t row, int32_t, int32_t, const uint64_t *) {
  return row % 2 == 0;
}
HOOK uint64_t annudf1_filter_contract(void) { return ANNUDF_TEST_CONTRACT_even_rows; }
#endif
