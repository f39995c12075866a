//===- RaiseVectors.cpp - Metrics of distances of whole vectors -----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RaiseVectors.h"

#include "annudf/Dialect/IR/Annudf.h"
#include "annudf/Dialect/Transforms/Passes.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::compiler;

bool compiler::mayRaise(ir::UdfOpInterface udf, std::string &why) {
  if (udf->walk([](ir::ScratchOp) { return WalkResult::interrupt(); }).wasInterrupted()) {
    why = "it keeps arrays of its own";
    return false;
  }
  return isa<ir::PairwiseOp>(udf.getOperation());
}

bool compiler::raiseVectors(ModuleOp module, const Messages &messages, std::string &why) {
  MLIRContext *context = module.getContext();
  ScopedDiagnosticHandler refusals(context, [&](mlir::Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
      return failure(); // For who reports it.
    if (why.empty())
      why = messages.inWords(diagnostic);
    return success();
  });
  PassManager manager(context);
  manager.addPass(createReadsToLoopsPass());
  manager.addPass(createCarryPrefixesPass());
  manager.addPass(createCarryEarlierPass());
  manager.addPass(createHoistPreparePass());
  manager.addPass(createRaisePairwisePass());
  return succeeded(manager.run(module));
}

std::string compiler::notRaised(StringRef name, const std::string &what, const std::string &why) {
  return "'" + name.str() + "' has no " + what +
         ": it is no single pass over the coordinates, so CPUs alone compute it; search on a CPU, "
         "or make it one pass" +
         (why.empty() ? "" : ": " + why);
}
