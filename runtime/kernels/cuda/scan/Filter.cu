//===- Filter.cu - The hooks that a scan calls around a filter's ----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled to LTO-IR and linked beside a filter's code: a row's distance is 0 where it is kept,
// else NaN, of any coordinates, which the linker's optimiser then reads no more.
//
//===----------------------------------------------------------------------===//

#include "annudf/ABI/annudf_abi.h"

#define ANNUDF_X(NAME, VALUE, SPELLING, PRESENCE, SINCE) +1
static_assert(
    0 ANNUDF_HOOKS(ANNUDF_X) == 4, // Combine is called by no kernel that is linked with a filter.
    "annudf_tables.h has a hook that is not defined for filters; define it, then count it");
#undef ANNUDF_X

ANNUDF_HOOK uint32_t annudf1_scan_init_a32(int32_t, int32_t, int32_t, const uint64_t *) {
  return 0;
}

ANNUDF_HOOK uint32_t annudf1_scan_update_a32_x32(uint32_t acc, uint32_t, uint32_t, int32_t, int32_t,
                                                 int64_t, int32_t, int32_t, const uint64_t *) {
  return acc;
}

ANNUDF_HOOK float annudf1_scan_finalize_a32(uint32_t, int32_t dims, int64_t row, int32_t query,
                                            int32_t list, const uint64_t *slots) {
  return annudf1_filter_keep(dims, row, query, list, slots) != 0 ? 0.0f
                                                                 : __uint_as_float(0x7FC00000);
}

ANNUDF_HOOK uint64_t annudf1_scan_contract(void) { return annudf1_filter_contract(); }
