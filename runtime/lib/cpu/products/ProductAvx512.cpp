//===- ProductAvx512.cpp - The matrix path's loops for AVX-512 -----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled for AVX-512, whatever the rest is; nothing here runs before availableKernels() has found
// it.
//
//===----------------------------------------------------------------------===//

#include "ProductBounds512.h"
#include "ProductFma.h"

namespace annudf::runtime::cpu {

extern const ProductKernels kAvx512Kernels;
const ProductKernels kAvx512Kernels{"avx512",
                                    4,
                                    0.6,
                                    convertBlock,
                                    multiply<8, 2>,
                                    {survivors<false>, sample<false>},
                                    {survivors<true>, sample<true>}};

} // namespace annudf::runtime::cpu
