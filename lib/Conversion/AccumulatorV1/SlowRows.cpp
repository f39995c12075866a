//===- SlowRows.cpp - What a CPU may have to do row by row ----------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whether LLVM makes vectors of rows is known where a scan is linked, and what the user wrote is
// known here. So a host's code carries what may keep it from that, with lines of the source.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "annudf/ABI/SlowRows.h"
#include "annudf/Analysis/Size.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;
using namespace annudf::lowering;

/// So many are told.
static constexpr size_t kMostCauses = 3;

/// Whether it differs from row to row by more than the row's number.
static bool ofCoordinates(Value index) {
  SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.inclusive = true;
  (void)getBackwardSlice(index, &slice, options);
  auto isCoordinate = [](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && isa<HookOpInterface>(argument.getOwner()->getParentOp());
  };
  return isCoordinate(index) || llvm::any_of(slice, [&](Operation *op) {
           return llvm::any_of(op->getOperands(), isCoordinate);
         });
}

static std::string causeOf(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    const std::optional<LoopBounds> bounds = LoopBounds::of(loop);
    return "a loop of " + std::to_string(bounds ? bounds->trips() : 0) + " turns";
  }
  if (isa<arith::RemFOp>(op))
    return "fmod";
  if (isa<scf::IfOp>(op))
    return "a branch";
  auto load = dyn_cast<LoadOp>(op);
  if (load && llvm::any_of(load.getIndices(), ofCoordinates))
    return "a table that coordinates index";
  return "";
}

void annudf::lowering::tellSlowRows(ModuleOp module, UdfOpInterface metric) {
  SmallVector<std::string> causes;
  // Loops first, which no vectors are made around.
  for (bool loops : {true, false})
    for (auto hook : metric.getBody().getOps<HookOpInterface>())
      hook->walk<WalkOrder::PreOrder>([&](Operation *op) {
        std::string cause = isa<scf::ForOp>(op) == loops ? causeOf(op) : "";
        if (cause.empty() || causes.size() == kMostCauses)
          return;
        if (auto place = op->getLoc()->findInstanceOf<FileLineColLoc>())
          cause += " in line " + std::to_string(place.getLine());
        if (!llvm::is_contained(causes, cause))
          causes.push_back(std::move(cause));
      });
  if (causes.empty())
    return;
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  const std::string text = llvm::join(causes, ", ");
  LLVM::GlobalOp::create(
      builder, metric.getLoc(), LLVM::LLVMArrayType::get(builder.getI8Type(), text.size()),
      /*isConstant=*/true, LLVM::Linkage::Internal, kSlowRowsSymbol, builder.getStringAttr(text));
}
