//===- Translate.h - From a metric to code of a target -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A whole pipeline each, from the annudf dialect; `module` is left as it is. Faults
// are diagnostics of its context. `metric` names one of several, or is empty.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TARGET_TRANSLATE_H
#define ANNUDF_TARGET_TRANSLATE_H

#include "annudf/Dialect/IR/Annudf.h"
#include "annudf/Target/LibNvvm.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace annudf {

/// The dialects that a module with metrics may hold, and what translates them.
void registerCompilerDialects(mlir::DialectRegistry &registry);

/// Text that libNVVM reads for every supported architecture.
/// \param target  whose functions the metric becomes.
mlir::FailureOr<std::string> translateToNvvmIr(mlir::ModuleOp module, llvm::StringRef metric = "",
                                               const CodeTarget &target = {});

/// LLVM bitcode of the default target's architecture, without its features: who
/// runs it knows the machine.
/// \param triple  names another target. The code is the same: nothing in it depends on one.
mlir::FailureOr<std::string> translateToHostBitcode(mlir::ModuleOp module,
                                                    llvm::StringRef metric = "",
                                                    llvm::StringRef triple = "",
                                                    const CodeTarget &target = {});

/// LLVM bitcode of NVPTX, of this LLVM's version: for a program that compiles it with an LLVM of
/// its own. Functions of libdevice, which it may call, are left to that program.
mlir::FailureOr<std::string> translateToDeviceBitcode(mlir::ModuleOp module,
                                                      llvm::StringRef metric = "",
                                                      const CodeTarget &target = {});

/// Whether `ptx`, made of `ir` with DeviceCode::Prototypes, defines what callers of `udf` know: the
/// hooks of a metric or a filter, which `shape` says, or the symbol of a function.
llvm::Error checkDefinitions(llvm::StringRef ptx, ir::UdfOpInterface udf, const HookShape &shape);

/// A metric as PTX by LLVM's NVPTX backend, which needs no CUDA toolkit. Its prototypes are checked
/// as those of libNVVM's code.
/// \param sm  as supportedSmVersions().
mlir::FailureOr<std::string> translateToPtxByNvptx(mlir::ModuleOp module, llvm::StringRef metric,
                                                   const CodeTarget &target, int sm,
                                                   const HookShape &shape);

/// Makes --annudf-to-nvvmir, -ltoir, -ptx, -device-bitcode and -host-bitcode known to
/// mlirTranslateMain.
void registerTranslations();

} // namespace annudf

#endif // ANNUDF_TARGET_TRANSLATE_H
