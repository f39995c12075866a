//===- Reduce.cpp - How a metric becomes smaller --------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR's own pass, reduction-tree, erases operations that others use, and LLVM 22's crashes on what
// is left. In a hook every value is used, from the coordinates to annudf.yield, so this pass
// replaces a value by another before the operation goes: what is tested is a module that verifies.
//
//===----------------------------------------------------------------------===//

#include "Reduce.h"

#include "annudf/Dialect/IR/Annudf.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Reducer/Tester.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;
using namespace annudf::ir;

/// A change of one operation, which may be impossible; then nothing has changed.
using Edit = bool (*)(Operation *);

static bool eraseUnused(Operation *op) {
  if (!op->use_empty() || op->hasTrait<OpTrait::IsTerminator>())
    return false;
  op->erase();
  return true;
}

template <unsigned index> static bool useOperand(Operation *op) {
  if (op->getNumResults() != 1 || index >= op->getNumOperands() ||
      op->getOperand(index).getType() != op->getResult(0).getType())
    return false;
  op->getResult(0).replaceAllUsesWith(op->getOperand(index));
  op->erase();
  return true;
}

static bool useZero(Operation *op) {
  if (op->getNumResults() != 1 || op->use_empty() || isa<arith::ConstantOp>(op) ||
      !op->getResult(0).getType().isIntOrIndexOrFloat())
    return false;
  OpBuilder builder(op);
  Value zero = arith::ConstantOp::create(builder, op->getLoc(),
                                         builder.getZeroAttr(op->getResult(0).getType()));
  op->getResult(0).replaceAllUsesWith(zero);
  op->erase();
  return true;
}

/// One element type is enough, and what else a metric says may be left out.
static bool useDefaults(Operation *op) {
  auto metric = dyn_cast<MetricOp>(op);
  if (!metric)
    return false;
  const Attribute before = op->getAttrDictionary();
  metric.setElementsAttr(ArrayAttr::get(op->getContext(), metric.getElements()[0]));
  metric.removeCoarseOrderAttr();
  metric.setNumerics(Numerics::Strict);
  metric.removeDimsAttr();
  metric.setMissingValues(false);
  return op->getAttrDictionary() != before;
}

static constexpr Edit kEdits[] = {eraseUnused,   useOperand<0>, useOperand<1>,
                                  useOperand<2>, useZero,       useDefaults};

/// In the order of the text, which a copy of the module has too.
static SmallVector<Operation *> operationsOf(ModuleOp module) {
  SmallVector<Operation *> all;
  module->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != module)
      all.push_back(op);
  });
  return all;
}

namespace {
struct ReducePass : PassWrapper<ReducePass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ReducePass)

  ReducePass() = default;
  ReducePass(const ReducePass &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "annudf-reduce"; }
  StringRef getDescription() const override {
    return "makes a module smaller as long as `test` exits with 1";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect>();
  }

  void runOnOperation() override {
    // The tester itself would abort.
    if (const std::error_code why =
            llvm::sys::fs::access(StringRef(test), llvm::sys::fs::AccessMode::Execute)) {
      getOperation().emitError() << "the test '" << test << "' cannot be run: " << why.message()
                                 << "; give the path of a program";
      return signalPassFailure();
    }
    const SmallVector<std::string> arguments(testArguments.begin(), testArguments.end());
    const Tester tester(test, arguments);
    if (tester.isInteresting(getOperation()).first != Tester::Interestingness::True) {
      getOperation().emitError() << "the test '" << test
                                 << "' does not exit with 1 for the module as it is, so there is "
                                    "nothing to keep while it becomes smaller";
      return signalPassFailure();
    }
    // An edit may make room for one that was impossible before.
    while (reduceOnce(tester))
      ;
  }

private:
  /// Tries every edit of every operation, users before what they use.
  bool reduceOnce(const Tester &tester) {
    bool changed = false;
    for (size_t at = operationsOf(getOperation()).size(); at-- > 0;)
      for (Edit edit : kEdits)
        if (accept(edit, at, tester)) {
          changed = true;
          // What stands here now is another operation.
          at = std::min(at + 1, operationsOf(getOperation()).size());
          break;
        }
    return changed;
  }

  bool accept(Edit edit, size_t at, const Tester &tester) {
    OwningOpRef<ModuleOp> copy(cast<ModuleOp>(getOperation()->clone()));
    SmallVector<Operation *> operations = operationsOf(*copy);
    if (at >= operations.size() || !edit(operations[at]))
      return false;
    // What breaks the structure is no candidate, and not worth a word.
    const ScopedDiagnosticHandler quiet(&getContext(), [](Diagnostic &) { return success(); });
    if (failed(verify(*copy)) || tester.isInteresting(*copy).first != Tester::Interestingness::True)
      return false;
    getOperation().getBodyRegion().takeBody(copy->getBodyRegion());
    return true;
  }

  Option<std::string> test{
      *this, "test",
      llvm::cl::desc("Program that takes a file and exits with 1 while it still "
                     "shows the fault")};
  ListOption<std::string> testArguments{*this, "test-arg",
                                        llvm::cl::desc("Arguments of the test before the file")};
};
} // namespace

void annudf::reduce::registerReducePass() { PassRegistration<ReducePass>(); }
