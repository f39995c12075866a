//===- Inline.cpp - Puts a frontend's functions into the hooks -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Frontend.h"

#include "annudf/Analysis/CallGraph.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::frontend;
using namespace annudf::ir;

namespace {
/// What inlining a function or hook brings.
struct Size {
  int64_t ops = 0, blocks = 0;
  bool isAllowed() const { return ops <= kMaxImportedOps && blocks <= kMaxImportedBlocks; }
};

class Inliner {
public:
  Inliner(ModuleOp module, int64_t &numSlots) : symbols(module), numSlots(numSlots) {}

  FailureOr<int64_t> run(ModuleOp module) {
    SmallVector<Operation *> hooks;
    module.walk([&](HookOpInterface hook) { hooks.push_back(hook); });
    for (Operation *hook : hooks)
      if (failed(collect(hook)))
        return failure();
    if (failed(flatten(module)))
      return failure();
    for (Operation *hook : hooks)
      if (failed(inlineInto(hook)))
        return failure();
    return numCalls;
  }

private:
  static SmallVector<func::CallOp> callsIn(Operation *root) {
    SmallVector<func::CallOp> calls;
    root->walk([&](func::CallOp call) { calls.push_back(call); });
    return calls;
  }

  func::FuncOp calleeOf(func::CallOp call) {
    return symbols.lookup<func::FuncOp>(call.getCallee());
  }

  /// Finds all functions that `root` reaches, each with a call of it.
  LogicalResult collect(Operation *root) {
    SmallVector<Operation *> pending = {root};
    while (!pending.empty())
      for (func::CallOp call : callsIn(pending.pop_back_val())) {
        func::FuncOp callee = calleeOf(call);
        if (!callee || callee.isExternal())
          return emitError(call.getLoc())
                 << "[P2] calls '" << call.getCallee()
                 << "', which has no body; a metric can call functions of its own module only";
        if (functions.insert({callee, call}).second)
          pending.push_back(callee);
      }
    return success();
  }

  /// Inlines into each function what it calls, callees first, so that one level is left.
  LogicalResult flatten(ModuleOp module) {
    const CallGraph graph(module);
    for (func::FuncOp function : graph.order())
      if (functions.contains(function) && failed(inlineInto(function)))
        return failure();
    for (auto &entry : functions)
      if (!sizes.contains(entry.first))
        return reportRecursion(entry.first);
    return success();
  }

  /// Follows calls of functions that wait for one another until one comes again.
  LogicalResult reportRecursion(func::FuncOp function) {
    llvm::DenseSet<Operation *> seen;
    while (true) {
      for (func::CallOp call : callsIn(function)) {
        func::FuncOp callee = calleeOf(call);
        if (sizes.contains(callee))
          continue;
        if (!seen.insert(callee).second)
          return emitError(call.getLoc()) << "[P3] calls itself through '" << callee.getSymName()
                                          << "'; a metric cannot recurse, use for over range()";
        function = callee;
        break;
      }
    }
  }

  static Size sizeOf(Operation *root) {
    Size size;
    root->walk([&](Operation *) { ++size.ops; });
    root->walk([&](Block *) { ++size.blocks; });
    return size;
  }

  LogicalResult inlineInto(Operation *root) {
    SmallVector<func::CallOp> calls = callsIn(root);
    Size size = sizeOf(root);
    Operation *last = root;
    for (func::CallOp call : calls) {
      if (!size.isAllowed())
        break;
      const Size &callee = sizes.find(calleeOf(call))->second;
      size.ops += callee.ops;
      size.blocks += callee.blocks == 1 ? 0 : callee.blocks;
      last = call;
    }
    copied += size.ops;
    if (!size.isAllowed() || copied > kMaxCopiedOps)
      return emitError(last->getLoc())
             << "[P4] makes the metric larger than " << kMaxImportedOps << " operations or "
             << kMaxImportedBlocks << " blocks; call fewer helpers, or shorten the function";
    for (func::CallOp call : calls)
      inlineCall(call, calleeOf(call));
    numCalls += calls.size();
    if (!isa<func::FuncOp>(root))
      return success();
    // Once here instead of once a call, and among few operations: promoting a slot looks at
    // all that are in its block.
    FailureOr<int64_t> slots = promoteSlots(root);
    if (failed(slots))
      return failure();
    numSlots += *slots;
    sizes[root] = sizeOf(root);
    return success();
  }

  /// The ops keep their own locations: those are the user's lines.
  static void inlineCall(func::CallOp call, func::FuncOp callee) {
    IRMapping mapping;
    Block *block = call->getBlock();
    if (callee.getBody().hasOneBlock()) {
      OpBuilder builder(call);
      mapping.map(callee.getArguments(), call.getOperands());
      Operation *terminator = callee.getBody().front().getTerminator();
      for (Operation &op : callee.getBody().front().without_terminator())
        builder.clone(op, mapping);
      for (auto [result, value] : llvm::zip(call.getResults(), terminator->getOperands()))
        result.replaceAllUsesWith(mapping.lookupOrDefault(value));
      call.erase();
      return;
    }
    Block *rest = block->splitBlock(call);
    Region clone;
    callee.getBody().cloneInto(&clone, mapping);
    for (Block &inlined : clone)
      if (auto ret = dyn_cast<func::ReturnOp>(inlined.getTerminator())) {
        OpBuilder builder(ret);
        cf::BranchOp::create(builder, ret.getLoc(), rest, ret.getOperands());
        ret.erase();
      }
    for (Value result : call.getResults())
      result.replaceAllUsesWith(rest->addArgument(result.getType(), call.getLoc()));
    Block &entry = clone.front();
    for (auto [argument, operand] : llvm::zip(entry.getArguments(), call.getOperands()))
      argument.replaceAllUsesWith(operand);
    block->getOperations().splice(block->end(), entry.getOperations());
    clone.getBlocks().erase(entry.getIterator());
    block->getParent()->getBlocks().splice(rest->getIterator(), clone.getBlocks());
    call.erase();
  }

  SymbolTable symbols;
  llvm::MapVector<func::FuncOp, func::CallOp> functions;
  llvm::DenseMap<Operation *, Size> sizes; ///< Sizes of functions that are flat already.
  int64_t copied = 0;                      ///< Operations of all that was flattened.
  int64_t numCalls = 0, &numSlots;
};
} // namespace

FailureOr<int64_t> frontend::inlineCalls(ModuleOp module, int64_t &slots) {
  FailureOr<int64_t> count = Inliner(module, slots).run(module);
  if (failed(count))
    return failure();
  // Nobody calls them any more; a public one is for annudf-verify-abi to refuse.
  for (auto function : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
    if (function.isPrivate())
      function.erase();
  return count;
}
