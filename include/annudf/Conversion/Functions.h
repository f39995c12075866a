//===- Functions.h - What callers of device functions see ---------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_CONVERSION_FUNCTIONS_H
#define ANNUDF_CONVERSION_FUNCTIONS_H

#include "annudf/Dialect/IR/Annudf.h"

#include <string>

namespace annudf {

/// How PTX spells the prototype of a verified function, as checkFunctionPrototype compares it:
/// ".b32(.b32, .b64)". Captures that are given values since are no part of it.
std::string ptxPrototypeOf(ir::FunctionOp function);

} // namespace annudf

#endif // ANNUDF_CONVERSION_FUNCTIONS_H
