//===- Element.cu - The element type of a search, as a linked constant ------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled once for each enum annudf_element to LTO-IR. Linking one of them turns
// the general scan kernel into the kernel of that element.
//
//===----------------------------------------------------------------------===//

#include "annudf/ABI/annudf_abi.h"

ANNUDF_HOOK int32_t annudf1_element(void) { return ANNUDF_ELEMENT; }
