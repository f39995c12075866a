//===- LoadOp.cpp - annudf.load and the type that it gives ----------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Dialect/IR/Annudf.h"

using namespace mlir;
using namespace annudf::ir;

LogicalResult LoadOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                       ValueRange operands, DictionaryAttr, OpaqueProperties,
                                       RegionRange, SmallVectorImpl<Type> &types) {
  if (operands.empty()) // Which the operation's own constraints say.
    return failure();
  auto capture = dyn_cast<CaptureType>(operands[0].getType());
  if (!capture) // The same words as those of the operand's constraint, which text comes to later.
    return emitOptionalError(location,
                             "'annudf.load' op operand #0 must be a read-only array or scalar "
                             "bound before a search, but got ",
                             operands[0].getType());
  types.push_back(capture.getLoadType());
  return success();
}

LogicalResult LoadOp::verify() {
  CaptureType type = getCapture().getType();
  if (getIndices().size() != type.getExtents().size())
    return emitOpError() << "[L1] gives " << getIndices().size()
                         << (getIndices().size() == 1 ? " index" : " indices") << " for " << type
                         << "; give " << type.getExtents().size();
  return success();
}
