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
#include <vector>

namespace annudf {

/// How PTX spells the prototype of a verified function, as checkFunctionPrototype compares it:
/// ".b32(.b32, .b64)". Captures that are given values since are no part of it.
std::string ptxPrototypeOf(ir::FunctionOp function);

/// Function attribute of LLVM by which a declared function is linked code.
inline constexpr const char *kLinkedAttribute = "annudf-linked";

/// Linked code as PTX spells it.
struct LinkedFunction {
  std::string symbol, prototype;       ///< What the code defines.
  std::string called, calledPrototype; ///< What hooks call: the same, or annudf's own function.
};

/// Every annudf.extern of a verified module.
std::vector<LinkedFunction> linkedFunctionsOf(mlir::ModuleOp module);

} // namespace annudf

#endif // ANNUDF_CONVERSION_FUNCTIONS_H
