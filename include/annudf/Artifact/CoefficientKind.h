//===- CoefficientKind.h - What a coefficient is made by ----------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Apart from Form.h, as kernels of a GPU evaluate coefficients too, and read no more than this.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_ARTIFACT_COEFFICIENTKIND_H
#define ANNUDF_ARTIFACT_COEFFICIENTKIND_H

#include <stdint.h>

namespace annudf {

enum class CoefficientKind : uint32_t { Number, Entry, Negated, Sum, Product, Quotient, Absolute };

} // namespace annudf

#endif // ANNUDF_ARTIFACT_COEFFICIENTKIND_H
