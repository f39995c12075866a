//===- Dependents.cpp - What some arguments of a hook reach -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Analysis/Dependents.h"

#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/Operation.h"

using namespace mlir;

llvm::DenseSet<Value> annudf::dependentsOf(ArrayRef<BlockArgument> given) {
  SmallVector<Value> pending(given.begin(), given.end());
  llvm::DenseSet<Value> seen(pending.begin(), pending.end());
  auto reach = [&](ValueRange values) {
    for (Value value : values)
      if (seen.insert(value).second)
        pending.push_back(value);
  };
  while (!pending.empty())
    for (Operation *user : pending.pop_back_val().getUsers()) {
      reach(user->getResults());
      for (Region &region : user->getRegions()) // What a loop carries.
        for (Block &block : region)
          reach(block.getArguments());
      if (user->hasTrait<OpTrait::IsTerminator>()) // A hook's: it has no results.
        reach(user->getParentOp()->getResults());
    }
  return seen;
}
