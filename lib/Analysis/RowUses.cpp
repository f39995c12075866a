//===- RowUses.cpp - What a metric does with the number of a row ----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Analysis/RowUses.h"

#include "annudf/Analysis/CallGraph.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;

static bool isRowOfCapture(OpOperand &use) {
  auto load = dyn_cast<LoadOp>(use.getOwner());
  // No other axis can have that extent (C9), and a row can index no other extent (L4).
  return load && load.getCapture().getType().getExtents().front() == CaptureType::kRow;
}

static bool rowOnlyIndexesIn(Operation *root) {
  return !root->walk([](IndexOp index) {
                const bool isOther = index.getKind() == ScanIndex::Row &&
                                     !llvm::all_of(index->getUses(), isRowOfCapture);
                return isOther ? WalkResult::interrupt() : WalkResult::advance();
              })
              .wasInterrupted();
}

static bool readsListIn(Operation *root) {
  return root
      ->walk([](IndexOp index) {
        return index.getKind() == ScanIndex::List ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

bool annudf::readsList(UdfOpInterface udf) {
  const CallGraph graph(udf->getParentOfType<ModuleOp>());
  return readsListIn(udf) || llvm::any_of(graph.reachableFrom(udf), readsListIn);
}

bool annudf::rowOnlyIndexes(UdfOpInterface udf) {
  const CallGraph graph(udf->getParentOfType<ModuleOp>());
  return rowOnlyIndexesIn(udf) && llvm::all_of(graph.reachableFrom(udf), rowOnlyIndexesIn);
}
