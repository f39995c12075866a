//===- bad_prototype.cpp - Refused: finalize returns double
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <stdint.h>

extern "C" uint32_t annudf1_scan_init_a32(int32_t, int32_t, int32_t, const uint64_t *) { return 0; }
extern "C" uint32_t annudf1_scan_update_a32_x32(uint32_t acc, uint32_t, uint32_t, int32_t, int32_t,
                                                int64_t, int32_t, int32_t, const uint64_t *) {
  return acc;
}
extern "C" double annudf1_scan_finalize_a32(uint32_t acc, int32_t, int64_t, int32_t, int32_t,
                                            const uint64_t *) {
  return acc;
}
extern "C" uint64_t annudf1_scan_contract(void) { return 0; }
