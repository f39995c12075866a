//===- InlineHooks.cpp - Calls of hooks become the hooks' bodies ----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The verifier runs first and bodies are copied op by op, so that what was verified is what is
// inlined. Attributes of other dialects, which nobody verified, stay behind.
//
//===----------------------------------------------------------------------===//

#include "CaptureValues.h"
#include "Symbols.h"

#include "annudf/Analysis/CallGraph.h"
#include "annudf/Dialect/Transforms/AbiRules.h"
#include "annudf/Dialect/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;

namespace annudf {
#define GEN_PASS_DEF_INLINEHOOKSPASS
#include "annudf/Dialect/Transforms/Passes.h.inc"
} // namespace annudf

namespace {

/// Replaces one call by the body of the hook that it names.
class HookInliner {
public:
  HookInliner(HookCallOpInterface call, HookOpInterface hook, const CallGraph &graph,
              bool assertBounds)
      : call(call), hook(hook), udf(cast<UdfOpInterface>(hook->getParentOp())), graph(graph),
        assertBounds(assertBounds), builder(call.getLoc(), call.getContext()) {
    builder.setInsertionPoint(call);
    // A call that takes its own result stands where nothing runs, so any number will do.
    for (OpOperand &operand : call->getOpOperands())
      if (operand.get().getDefiningOp() == call)
        operand.set(constant(builder.getZeroAttr(operand.get().getType())));
    for (CaptureOp capture : udf.getCaptures())
      if (!capture.getValue() && !call.getCaptures().empty()) // Else none is read.
        bound[capture] = call.getCaptures()[bound.size()];
  }

  void run() {
    call->replaceAllUsesWith(copy(*hook.getHookBlock(), call.getValues()));
    // Helpers in helpers, without recursion: a chain of them may be long.
    while (!pending.empty())
      pending.pop_back_val()->walk([&](Operation *op) { finish(op); });
    call->erase();
  }

private:
  /// The ops of `body` with `arguments`, and what its terminator hands on.
  SmallVector<Value> copy(Block &body, ValueRange arguments) {
    IRMapping mapping;
    mapping.map(body.getArguments(), arguments);
    for (Operation &op : body.without_terminator()) {
      Operation *made = builder.clone(op, mapping);
      made->walk([&](Operation *inner) {
        inner->setDiscardableAttrs(DictionaryAttr::get(inner->getContext()));
        inner->setLoc(CallSiteLoc::get(inner->getLoc(), call.getLoc()));
      });
      pending.push_back(made);
    }
    return llvm::map_to_vector(body.getTerminator()->getOperands(),
                               [&](Value value) { return mapping.lookupOrDefault(value); });
  }

  /// What only a hook may hold becomes what any function may.
  void finish(Operation *op) {
    builder.setInsertionPoint(op);
    builder.setLoc(op->getLoc());
    if (auto index = dyn_cast<IndexOp>(op))
      replace(op, call.getIndex(index.getKind()));
    else if (auto load = dyn_cast<LoadOp>(op))
      replace(op, read(load));
    else if (auto helper = dyn_cast<func::CallOp>(op))
      replace(op, copy(graph.callee(helper).getBody().front(), helper.getOperands()));
    else if (isa<arith::FPToSIOp, arith::FPToUIOp>(op))
      saturate(op);
  }

  static void replace(Operation *op, ValueRange values) {
    op->replaceAllUsesWith(values);
    op->erase();
  }

  Value constant(TypedAttr value) { return arith::ConstantOp::create(builder, value); }

  Value read(LoadOp load) {
    auto capture = load.getCapture().getDefiningOp<CaptureOp>();
    const CaptureType type = capture.getType();
    if (TypedAttr uniform = capture.getValue() ? getUniformValue(capture) : TypedAttr())
      return constant(uniform);
    Value given = capture.getValue() ? tableOf(capture) : bound.lookup(capture);
    if (type.isScalar())
      return given;
    if (assertBounds && !capture.getValue())
      assertInside(capture, given, load.getIndices());
    Value stored = memref::LoadOp::create(builder, given, load.getIndices());
    if (stored.getType() == type.getLoadType())
      return stored;
    if (type.getElementType().isBF16())
      return arith::ExtFOp::create(builder, type.getLoadType(), stored);
    Value zero = constant(builder.getZeroAttr(stored.getType())); // Any byte but 0 is true.
    return arith::CmpIOp::create(builder, arith::CmpIPredicate::ne, stored, zero);
  }

  void assertInside(CaptureOp capture, Value memref, ValueRange indices) {
    for (auto [i, index] : llvm::enumerate(indices)) {
      Value size = memref::DimOp::create(builder, memref, static_cast<int64_t>(i));
      Value inside = arith::CmpIOp::create(builder, arith::CmpIPredicate::ult, index, size);
      const std::string what = udf.getSymName().str() + ": an index of capture \"" +
                               capture.getName().str() +
                               "\" is outside its memref; pass a memref of the capture's extents";
      cf::AssertOp::create(builder, inside, what);
    }
  }

  /// The entries of a capture with a value, made at the first use in a module.
  Value tableOf(CaptureOp capture) {
    auto dense = cast<DenseElementsAttr>(*capture.getValue());
    Type element = memrefElementOf(capture.getType());
    if (dense.getElementType().isInteger(1)) {
      SmallVector<int8_t> bytes(dense.getValues<bool>());
      dense = DenseElementsAttr::get(dense.getType().clone(element), ArrayRef(bytes));
    } else if (dense.getElementType() != element) {
      dense = dense.bitcast(element);
    }
    const auto type = MemRefType::get(dense.getType().getShape(), element);
    Operation *module = udf->getParentOp();
    const std::string name =
        "annudf_table_" + udf.getSymName().str() + "_" + capture.getName().str();
    auto table = dyn_cast_or_null<memref::GlobalOp>(SymbolTable::lookupSymbolIn(module, name));
    if (!table || table.getInitialValueAttr() != dense || !table.getConstant()) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPoint(udf);
      table = memref::GlobalOp::create(builder, name, builder.getStringAttr("private"), type, dense,
                                       /*constant=*/true, /*alignment=*/IntegerAttr());
      SymbolTable(module).insert(table); // Renames it if the name is taken.
    }
    return memref::GetGlobalOp::create(builder, type, table.getSymName());
  }

  /// The ABI saturates where arith has no value: an index that is bounded later could be anything.
  void saturate(Operation *op) {
    const bool isSigned = isa<arith::FPToSIOp>(op);
    Value x = op->getOperand(0);
    Type to = op->getResult(0).getType();
    const unsigned width = to.getIntOrFloatBitWidth();
    const APInt least = isSigned ? APInt::getSignedMinValue(width) : APInt::getMinValue(width);
    const APInt most = isSigned ? APInt::getSignedMaxValue(width) : APInt::getMaxValue(width);
    // Powers of two, so exact, or infinite where the type holds none so large.
    APFloat low(cast<FloatType>(x.getType()).getFloatSemantics());
    APFloat past = low;
    low.convertFromAPInt(least, isSigned, APFloat::rmNearestTiesToEven);
    past.convertFromAPInt(most.zext(width + 1) + 1, false, APFloat::rmNearestTiesToEven);
    auto compare = [&](arith::CmpFPredicate predicate, const APFloat &with) -> Value {
      return arith::CmpFOp::create(builder, predicate, x,
                                   constant(builder.getFloatAttr(x.getType(), with)));
    };
    auto choose = [&](Value condition, Value first, Value second) {
      return arith::SelectOp::create(builder, condition, first, second);
    };
    const bool isOpen = low.isInfinity();
    Value below = compare(isOpen ? arith::CmpFPredicate::OLE : arith::CmpFPredicate::OLT, low);
    Value above = compare(arith::CmpFPredicate::OGE, past);
    Value atLeast = compare(isOpen ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OGE, low);
    Value inside =
        arith::AndIOp::create(builder, atLeast, compare(arith::CmpFPredicate::OLT, past));
    op->setOperand(0, choose(inside, x, constant(builder.getZeroAttr(x.getType()))));
    builder.setInsertionPointAfter(op);
    auto bounded = choose(below, constant(builder.getIntegerAttr(to, least)), op->getResult(0));
    Value result = choose(above, constant(builder.getIntegerAttr(to, most)), bounded);
    op->getResult(0).replaceAllUsesExcept(result, bounded);
  }

  HookCallOpInterface call;
  HookOpInterface hook;
  UdfOpInterface udf;
  const CallGraph &graph;
  const bool assertBounds;
  ImplicitLocOpBuilder builder;
  llvm::DenseMap<Operation *, Value> bound;
  SmallVector<Operation *> pending;
};

struct InlineHooksPass : annudf::impl::InlineHooksPassBase<InlineHooksPass> {
  using InlineHooksPassBase::InlineHooksPassBase;

  void runOnOperation() override {
    SmallVector<HookCallOpInterface> calls;
    getOperation()->walk([&](HookCallOpInterface call) { calls.push_back(call); });
    if (calls.empty())
      return markAllAnalysesPreserved();
    // Also what a program changed after it had read the module.
    if (failed(mlir::verify(getOperation())) ||
        failed(verifyAbi(getOperation(), nullptr, AbiScope::AnyModule)))
      return signalPassFailure();
    SymbolTableCollection symbols;
    llvm::MapVector<Operation *, SmallVector<HookCallOpInterface>> byModule;
    for (HookCallOpInterface call : calls)
      byModule[call.getHook(symbols)->getParentOp()->getParentOp()].push_back(call);
    for (auto &[module, own] : byModule)
      if (failed(inlineIn(module, own, symbols)))
        return signalPassFailure();
  }

private:
  LogicalResult inlineIn(Operation *module, ArrayRef<HookCallOpInterface> calls,
                         SymbolTableCollection &symbols) {
    const CallGraph graph(module);
    llvm::SetVector<Operation *> udfs;
    for (HookCallOpInterface call : calls)
      if (failed(verifyNoLinkedCode(call, call.getHook(symbols), graph)))
        return failure();
    for (HookCallOpInterface call : calls) {
      HookOpInterface hook = call.getHook(symbols);
      udfs.insert(hook->getParentOp());
      HookInliner(call, hook, graph, assertBounds).run();
      ++numCalls;
    }
    // What was inlined has served its purpose, and other dialects' passes do not know it.
    llvm::DenseSet<Operation *> inlined(udfs.begin(), udfs.end());
    for (Operation *udf : udfs) // A helper keeps rule F1, so nobody outside calls it.
      inlined.insert_range(graph.reachableFrom(udf));
    numErased += eraseUnused(module, std::move(inlined));
    return success();
  }

  static LogicalResult verifyNoLinkedCode(HookCallOpInterface call, HookOpInterface hook,
                                          const CallGraph &graph) {
    if (!callsLinkedCode(graph, hook))
      return success();
    return call->emitOpError() << "[U10] calls annudf." << hook.getHookName() << " of "
                               << call.getCalleeAttr()
                               << ", which calls linked code, and that is no code of the module; "
                                  "write what it computes as a helper";
  }
};

} // namespace
