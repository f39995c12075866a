//===- same_tenant.cpp - A filter: rows of the query's tenant
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "udf.h"

extern "C" int32_t annudf1_filter_keep(int32_t, int64_t row, int32_t query, int32_t,
                                       const uint64_t *slots) {
  const auto *tenant = reinterpret_cast<const int32_t *>(slots[0]);
  const auto *mine = reinterpret_cast<const int32_t *>(slots[1]);
  return tenant[row] == mine[query];
}
extern "C" uint64_t annudf1_filter_contract(void) { return ANNUDF_TEST_CONTRACT_same_tenant; }
