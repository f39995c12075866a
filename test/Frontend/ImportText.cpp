//===- ImportText.cpp - Runs annudf-import-frontend on text -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ImportText.h"

#include "annudf/Frontend/Source.h"
#include "annudf/Dialect/Transforms/AbiRules.h"
#include "annudf/Frontend/Passes.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::test;

Imported test::importText(const std::string &text) {
  Imported result;
  DialectRegistry registry;
  registerFrontendDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  context.printOpOnDiagnostic(false);
  ScopedDiagnosticHandler keep(&context, [&](Diagnostic &diagnostic) {
    llvm::raw_string_ostream os(result.messages);
    os << diagnostic.getLocation() << ": " << diagnostic << "\n";
    return success();
  });
  OwningOpRef<ModuleOp> module = ir::parseModule(text, "test.mlir", &context);
  result.parsed = bool(module);
  if (!module)
    return result;
  PassManager manager(&context);
  manager.enableVerifier(false); // Done below, to tell it from a refusal.
  manager.addPass(createImportFrontendPass());
  result.imported = succeeded(manager.run(*module));
  if (!result.imported)
    return result;
  result.isValid = succeeded(verify(*module));
  result.accepted = result.isValid && succeeded(verifyAbi(*module));
  llvm::raw_string_ostream os(result.text);
  module->print(os);
  return result;
}
