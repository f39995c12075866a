//===- Assigned.cpp - No variable is read before it is assigned -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Frontend.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::frontend;
using namespace annudf::ir;

namespace {
/// Follows what variables hold before they are assigned to where it would be used.
class Unassigned {
public:
  LogicalResult run(UdfOpInterface metric) {
    SmallVector<UnrealizedConversionCastOp> markers;
    metric->walk([&](UnrealizedConversionCastOp cast) {
      if (cast->hasAttr(kUnassignedAttr))
        markers.push_back(cast);
    });
    for (UnrealizedConversionCastOp marker : markers)
      reach(marker.getResult(0), marker->getAttrOfType<StringAttr>(kUnassignedAttr));
    LogicalResult result = success();
    while (!pending.empty()) {
      Value value = pending.pop_back_val();
      for (OpOperand &use : value.getUses())
        if (failed(follow(use, names.lookup(value))))
          result = failure();
    }
    if (failed(result))
      return failure();
    // Nobody looks at them.
    for (UnrealizedConversionCastOp marker : markers) {
      OpBuilder builder(marker);
      Type type = marker.getType(0);
      marker.getResult(0).replaceAllUsesWith(
          arith::ConstantOp::create(builder, marker.getLoc(), builder.getZeroAttr(type)));
      marker.erase();
    }
    return success();
  }

private:
  void reach(Value value, StringAttr name) {
    if (names.insert({value, name}).second)
      pending.push_back(value);
  }

  LogicalResult follow(OpOperand &use, StringAttr name) {
    Operation *op = use.getOwner();
    if (isa<arith::SelectOp>(op) && use.getOperandNumber() > 0) {
      reach(op->getResult(0), name);
      return success();
    }
    if (auto loop = dyn_cast<scf::ForOp>(op); loop && use.getOperandNumber() >= 3) {
      // The first iteration sees it; the result is of the last, as there is one:
      // canonicalization has removed the loops that have none.
      reach(loop.getTiedLoopRegionIterArg(&use), name);
      return success();
    }
    if (isa<scf::YieldOp>(op)) {
      unsigned i = use.getOperandNumber();
      reach(op->getParentOp()->getResult(i), name);
      if (auto loop = dyn_cast<scf::ForOp>(op->getParentOp()))
        reach(loop.getRegionIterArg(i), name);
      return success();
    }
    StringRef variable = name.getValue();
    return emitError(op->getLoc())
           << "[P18] uses " << (variable.empty() ? "a variable" : "'" + variable.str() + "'")
           << ", which may be used before it is assigned; assign it on every path to here";
  }

  llvm::DenseMap<Value, StringAttr> names; ///< Values that may be unassigned.
  SmallVector<Value> pending;
};
} // namespace

LogicalResult frontend::checkAssigned(UdfOpInterface metric) { return Unassigned().run(metric); }
