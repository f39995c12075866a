//===- Contract.cu - For which descriptor hooks were made -----------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled to LTO-IR and linked beside every family's kernel, so that none can forget it.
//
//===----------------------------------------------------------------------===//

#include "annudf/ABI/annudf_abi.h"

/// Read once, when the linked hooks are loaded.
extern "C" __global__ void annudf_read_contract(uint64_t *number) {
  *number = annudf1_scan_contract();
}
