//===- bad_filter_contract.cpp - Refused: a filter made for another descriptor
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "udf.h"

extern "C" int32_t annudf1_filter_keep(int32_t, int64_t row, int32_t, int32_t, const uint64_t *) {
  return row % 2 == 0;
}
extern "C" uint64_t annudf1_filter_contract(void) { return 0x0123456789abcdefull; }
