//===- Constant.cu - What a search fixes, as a linked constant ------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled to LTO-IR for every value of every constant that the runtime owns
// (annudf_abi.h). Linking one of each turns the general scan kernel into the kernel of
// those types.
//
//===----------------------------------------------------------------------===//

#include "annudf/ABI/annudf_abi.h"

ANNUDF_HOOK int32_t ANNUDF_CONSTANT(void) { return ANNUDF_VALUE; }
