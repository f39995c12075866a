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

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <string>

namespace annudf::compiler {

/// Whether the module holds distances of whole vectors, and none that keeps scratch: what the
/// passes know of values does not hold for what it keeps.
/// \param why  the reason, where there are some.
bool mayRaise(mlir::ModuleOp module, std::string &why);

/// Makes metrics of one pass of the distances of whole vectors in `module`.
/// \param select  leaves the one that is compiled: what distances need of one vector alone is a
/// metric of its own then. False ends all.
/// \param why     what is no single pass; the module is to be dropped then.
bool raiseVectors(mlir::ModuleOp module, const Messages &messages,
                  llvm::function_ref<bool()> select, std::string &why);

/// The message for what a distance that is no single pass has not.
std::string notRaised(llvm::StringRef name, const std::string &what, const std::string &why);

} // namespace annudf::compiler

#endif // ANNUDF_LIB_COMPILER_RAISEVECTORS_H
