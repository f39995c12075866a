//===- Dependents.h - What some arguments of a hook reach -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_ANALYSIS_DEPENDENTS_H
#define ANNUDF_ANALYSIS_DEPENDENTS_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseSet.h"

namespace annudf {

/// Every value that may depend on one of `given`, arguments of one block, and those themselves:
/// through operands, conditions of branches, what loops carry. What is not among them does not.
llvm::DenseSet<mlir::Value> dependentsOf(llvm::ArrayRef<mlir::BlockArgument> given);

} // namespace annudf

#endif // ANNUDF_ANALYSIS_DEPENDENTS_H
