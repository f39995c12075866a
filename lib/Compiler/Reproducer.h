//===- Reproducer.h - What is told where a pass of annudf fails -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_LIB_COMPILER_REPRODUCER_H
#define ANNUDF_LIB_COMPILER_REPRODUCER_H

#include "CompileModule.h"

#include "mlir/IR/BuiltinOps.h"

namespace annudf::compiler {

/// The fault of annudf that `pipeline` is not able to lower `module`, which the verifier has
/// accepted. Writes a file that annudf-opt --run-reproducer takes, if `path` or else the
/// environment variable ANNUDF_REPRODUCER names one.
/// \param errors  what was said, lines with their places.
Fault internalFault(mlir::ModuleOp module, llvm::StringRef pipeline, const std::string &errors,
                    std::string path);

/// For tests, which are to see such a fault: called with every module between the verifier and the
/// lowerings, if it is not null.
extern void (*afterVerification)(mlir::ModuleOp module);

} // namespace annudf::compiler

#endif // ANNUDF_LIB_COMPILER_REPRODUCER_H
