//===- PairwiseOps.cpp - Distances of whole vectors -----------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HookOps.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;

DistanceOp PairwiseOp::getDistance() { return *getBody().front().getOps<DistanceOp>().begin(); }
SmallVector<CaptureOp> PairwiseOp::getCaptures() { return UdfOpInterface(*this).getCaptures(); }
Type PairwiseOp::getComputeType() {
  return cast<CoordinatesType>(getDistance().getBody().getArgument(0).getType()).getElementType();
}

LogicalResult PairwiseOp::verifyRegions() {
  int found = 0;
  for (Operation &op : getBody().front()) {
    found += isa<DistanceOp>(op);
    if (!isa<DistanceOp, CaptureOp>(op))
      return op.emitOpError() << "[W1] cannot stand in a pairwise; only captures and "
                                 "annudf.distance can, so move it into annudf.distance";
  }
  if (found != 1)
    return emitOpError() << "[W2] needs exactly one annudf.distance, found " << found
                         << (found == 0 ? "; write one" : "; keep one");
  return failed(verifyElementList(*this, getElements(), getMissingValues()))
             ? failure()
             : verifyDeclarations(*this);
}

LogicalResult DistanceOp::verifyRegions() {
  Block &block = getBody().front();
  const TypeRange taken = block.getArgumentTypes();
  if (taken.size() != 2 || !llvm::all_of(taken, llvm::IsaPred<CoordinatesType>) ||
      taken[0] != taken[1])
    return emitOpError() << "[W3] takes " << listTypes(taken)
                         << "; take the query and the stored vector, both as "
                            "!annudf.vector<f32>, of f64 or of i32";
  const TypeRange yielded = block.getTerminator()->getOperandTypes();
  if (yielded.size() != 1 || !yielded.front().isF32())
    return emitOpError() << "[W4] yields " << listTypes(yielded) << "; yield the distance as f32";
  return success();
}

StringRef DistanceOp::getHookName() { return "distance"; }
/// Its loops count the dimensions.
bool DistanceOp::hasIndex(ScanIndex kind) { return kind != ScanIndex::Dim; }
