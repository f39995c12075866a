//===- PlainJit.cpp - Upstream's plain lowering of a body -----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlainJit.h"

#include "PlainCode.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace annudf::test;

struct PlainJit::Implementation {
  std::unique_ptr<PlainCode> code;
};

PlainJit::PlainJit(const std::string &text) : implementation(new Implementation) {
  DialectRegistry registry;
  PlainCode::registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects(); // What a pass would name as its dependencies.
  ScopedDiagnosticHandler keep(&context, [&](Diagnostic &diagnostic) {
    fault += diagnostic.str() + "\n";
    return success();
  });
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (!module) {
    fault += "not parsed\n";
    return;
  }
  implementation->code = std::make_unique<PlainCode>(*module, /*optimize=*/false);
  void *found = implementation->code->find("plain");
  fault += implementation->code->fault;
  function = reinterpret_cast<float (*)(float, float, float, int64_t, int64_t)>(found);
}

PlainJit::~PlainJit() = default;
