//===- CallGraph.cpp - Which helper calls which -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Analysis/CallGraph.h"

using namespace mlir;
using namespace annudf;

CallGraph::CallGraph(Operation *module) {
  Region &top = module->getRegion(0);
  for (auto helper : top.getOps<func::FuncOp>()) {
    helpers.push_back(helper);
    byName[helper.getSymNameAttr()] = helper;
  }
  // A call belongs to the helper, or to the hook and its metric, that it stands in.
  for (Operation &op : top.getOps())
    op.walk([&](func::CallOp call) {
      calls[&op].push_back(call);
      if (auto hook = call->getParentOfType<ir::HookOpInterface>())
        calls[hook].push_back(call);
    });
  sort();
}

void CallGraph::sort() {
  llvm::DenseMap<Operation *, size_t> pending;
  llvm::DenseMap<Operation *, SmallVector<func::FuncOp>> callers;
  SmallVector<func::FuncOp> ready;
  for (func::FuncOp helper : helpers) {
    ArrayRef<func::CallOp> own = callsIn(helper);
    pending[helper] = own.size();
    for (func::CallOp call : own)
      callers[callee(call)].push_back(helper);
    if (own.empty())
      ready.push_back(helper);
  }
  while (!ready.empty()) {
    func::FuncOp helper = ready.pop_back_val();
    ordered.push_back(helper);
    acyclic.insert(helper);
    for (func::FuncOp caller : callers.lookup(helper))
      if (--pending[caller] == 0)
        ready.push_back(caller);
  }
}

func::FuncOp CallGraph::callee(func::CallOp call) const {
  return byName.lookup(call.getCalleeAttr().getAttr());
}

ArrayRef<func::CallOp> CallGraph::callsIn(Operation *root) const & {
  auto found = calls.find(root);
  return found == calls.end() ? ArrayRef<func::CallOp>() : ArrayRef(found->second);
}

func::CallOp CallGraph::findCycle(const llvm::DenseSet<Operation *> *among) const {
  auto *start = llvm::find_if(helpers, [&](func::FuncOp helper) {
    return (!among || among->contains(helper)) && !acyclic.contains(helper);
  });
  if (start == helpers.end())
    return nullptr;
  // What is not acyclic calls something that is not; so the walk comes back.
  llvm::DenseSet<Operation *> path;
  func::FuncOp helper = *start;
  while (true) {
    path.insert(helper);
    const auto *next = llvm::find_if(
        callsIn(helper), [&](func::CallOp call) { return !acyclic.contains(callee(call)); });
    helper = callee(*next);
    if (path.contains(helper))
      return *next;
  }
}

llvm::DenseSet<Operation *> CallGraph::reachableFrom(Operation *root) const {
  llvm::DenseSet<Operation *> reached;
  SmallVector<Operation *> pending = {root};
  while (!pending.empty())
    for (func::CallOp call : callsIn(pending.pop_back_val()))
      if (func::FuncOp helper = callee(call); helper && reached.insert(helper).second)
        pending.push_back(helper);
  return reached;
}
