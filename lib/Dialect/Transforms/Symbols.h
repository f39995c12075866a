//===- Symbols.h - Symbols of a module that passes change -------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_LIB_DIALECT_TRANSFORMS_SYMBOLS_H
#define ANNUDF_LIB_DIALECT_TRANSFORMS_SYMBOLS_H

#include "annudf/Analysis/CallGraph.h"

namespace annudf {

/// Whether a hook, metric or helper calls linked code, itself or by a helper.
bool callsLinkedCode(const CallGraph &graph, mlir::Operation *root);

/// Erases those of `candidates`, symbols of `module`, that nothing uses which stays, and returns
/// how many they are. None is erased where an op that MLIR does not know may name any.
size_t eraseUnused(mlir::Operation *module, llvm::DenseSet<mlir::Operation *> candidates);

} // namespace annudf

#endif // ANNUDF_LIB_DIALECT_TRANSFORMS_SYMBOLS_H
