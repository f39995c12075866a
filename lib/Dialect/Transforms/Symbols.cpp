//===- Symbols.cpp - Symbols of a module that passes change ---------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Symbols.h"

using namespace mlir;
using namespace annudf;

bool annudf::callsLinkedCode(const CallGraph &graph, Operation *root) {
  auto holdsCall = [](Operation *op) {
    return op->walk([](ir::CallOp) { return WalkResult::interrupt(); }).wasInterrupted();
  };
  return holdsCall(root) || llvm::any_of(graph.reachableFrom(root), holdsCall);
}

size_t annudf::eraseUnused(Operation *module, llvm::DenseSet<Operation *> candidates) {
  llvm::DenseMap<StringAttr, Operation *> byName;
  for (Operation *candidate : candidates)
    byName[SymbolTable::getSymbolName(candidate)] = candidate;
  SmallVector<Operation *> users; // What stays, once each.
  for (Operation &op : module->getRegion(0).getOps())
    if (!candidates.contains(&op))
      users.push_back(&op);
  while (!users.empty()) {
    const auto uses = SymbolTable::getSymbolUses(users.pop_back_val());
    if (!uses)
      return 0;
    for (const SymbolTable::SymbolUse &use : *uses)
      if (Operation *used = byName.lookup(use.getSymbolRef().getRootReference()))
        if (candidates.erase(used))
          users.push_back(used);
  }
  for (Operation *unused : candidates)
    unused->erase();
  return candidates.size();
}
