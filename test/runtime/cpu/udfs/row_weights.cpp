//===- row_weights.cpp - Capture 0, w: one weight a row
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "udf.h"

extern "C" uint32_t annudf1_scan_init_a32(int32_t, int32_t, int32_t, const uint64_t *) { return 0; }

extern "C" uint32_t annudf1_scan_update_a32_x32(uint32_t acc, uint32_t x, uint32_t y, int32_t,
                                                int32_t, int64_t row, int32_t, int32_t,
                                                const uint64_t *slots) {
  const float apart = __builtin_fabsf(bits<float>(x) - bits<float>(y));
  const float weight = __builtin_sqrtf(arrayOf<float>(slots, 0)[row]);
  return bits<uint32_t>(__builtin_fmaf(weight, apart, bits<float>(acc)));
}

extern "C" uint64_t annudf1_scan_contract(void) {
  return ANNUDF_TEST_CONTRACT_OF(ANNUDF_TEST_METRIC);
}

extern "C" float annudf1_scan_finalize_a32(uint32_t acc, int32_t, int64_t, int32_t, int32_t,
                                           const uint64_t *) {
  return bits<float>(acc);
}
