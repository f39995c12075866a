//===- PlainCode.h - Code of upstream's dialects, compiled for this machine -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// No pattern of annudf's lowering takes part, and nothing is folded.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_COMPILER_PLAINCODE_H
#define ANNUDF_TEST_COMPILER_PLAINCODE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "llvm/IR/Module.h"

#include <functional>
#include <memory>
#include <string>

namespace annudf::test {

class PlainCode {
public:
  /// Dialects that a context needs, from arith to memref.
  static void registerDialects(mlir::DialectRegistry &registry);

  /// \param module  functions of func, arith, cf, math, memref and scf; changed.
  /// \param edit    what else the code needs before it is compiled.
  PlainCode(mlir::ModuleOp module, bool optimize,
            const std::function<void(llvm::Module &)> &edit = {});
  ~PlainCode();

  /// Null, with a fault, for a symbol that there is not.
  void *find(const std::string &symbol);

  /// What went wrong, empty if nothing did.
  std::string fault;

private:
  struct Implementation;
  void compile(std::unique_ptr<llvm::Module> code, std::unique_ptr<llvm::LLVMContext> context,
               bool optimize);
  std::unique_ptr<Implementation> implementation;
};

} // namespace annudf::test

#endif // ANNUDF_TEST_COMPILER_PLAINCODE_H
