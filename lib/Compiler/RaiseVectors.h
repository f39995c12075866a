//===- RaiseVectors.h - Metrics of distances of whole vectors ------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_LIB_COMPILER_RAISEVECTORS_H
#define ANNUDF_LIB_COMPILER_RAISEVECTORS_H

#include "Messages.h"

#include "annudf/Dialect/IR/Annudf.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace annudf::compiler {

/// Whether it is a distance of whole vectors that keeps no scratch: what the passes know of values
/// does not hold for what it keeps.
/// \param why  the reason, where it does.
bool mayRaise(ir::UdfOpInterface udf, std::string &why);

/// Makes metrics of one pass of the distance of whole vectors in `module`, and of what it needs of
/// one vector alone.
/// \param why  what is no single pass; the module is to be dropped then.
bool raiseVectors(mlir::ModuleOp module, const Messages &messages, std::string &why);

/// The message for what a distance that is no single pass has not.
std::string notRaised(llvm::StringRef name, const std::string &what, const std::string &why);

} // namespace annudf::compiler

#endif // ANNUDF_LIB_COMPILER_RAISEVECTORS_H
