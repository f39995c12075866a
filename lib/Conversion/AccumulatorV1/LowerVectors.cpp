//===- LowerVectors.cpp - Coordinates and scratch of whole vectors --------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Coordinates are read by functions of the scan, which knows where they lie and what their element
// type is. Scratch is one block of memory: arrays of 8 bytes an entry first, so that all are
// aligned.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "annudf/ABI/Hooks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <algorithm>

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;
using namespace annudf::lowering;

namespace {

class VectorLowering {
public:
  VectorLowering(func::FuncOp function, const VectorArguments &arguments)
      : function(function), arguments(arguments),
        builder(function.getLoc(), function.getContext()) {}

  void run() {
    lowerScratch();
    function.walk([&](Operation *op) {
      if (isa<AtOp, GetOp, PutOp>(op))
        pending.push_back(op);
    });
    for (Operation *op : pending) {
      builder.setInsertionPoint(op);
      builder.setLoc(op->getLoc());
      if (auto read = dyn_cast<AtOp>(op))
        read.getResult().replaceAllUsesWith(lower(read));
      else if (auto get = dyn_cast<GetOp>(op))
        get.getResult().replaceAllUsesWith(lower(get));
      else
        lower(cast<PutOp>(op));
      op->erase();
    }
  }

private:
  Type i64() { return builder.getI64Type(); }
  Value number(int64_t value) { return arith::ConstantIntOp::create(builder, i64(), value); }
  Value toI64(Value index) { return arith::IndexCastOp::create(builder, i64(), index); }

  LLVM::LLVMFuncOp accessor(PairwiseAccessor which, int width) {
    auto module = function->getParentOfType<ModuleOp>();
    const char *name = symbolOf(which, width);
    if (auto declared = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
      return declared;
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    const auto type = LLVM::LLVMFunctionType::get(
        builder.getIntegerType(width),
        {LLVM::LLVMPointerType::get(builder.getContext()), builder.getI32Type()});
    return LLVM::LLVMFuncOp::create(builder, name, type);
  }

  Value lower(AtOp read) {
    const Type type = read.getResult().getType();
    const int width = int(type.getIntOrFloatBitWidth());
    Value vector = read->getOperand(0); // An argument of the function by now.
    LLVM::LLVMFuncOp called = accessor(
        vector == arguments.query ? PairwiseAccessor::QUERY : PairwiseAccessor::STORED, width);
    Value dim = arith::IndexCastOp::create(builder, builder.getI32Type(), read.getIndex());
    Value word = LLVM::CallOp::create(builder, called, ValueRange{vector, dim}).getResult();
    return type.isInteger() ? word : arith::BitcastOp::create(builder, type, word).getResult();
  }

  Value addressOf(Value array, Type element, Value index) {
    return LLVM::GEPOp::create(builder, array.getType(), element, array, ValueRange(toI64(index)),
                               LLVM::GEPNoWrapFlags::inbounds);
  }
  static unsigned bytesOf(Type element) { return element.getIntOrFloatBitWidth() / 8; }

  Value lower(GetOp get) {
    const Type element = get.getResult().getType();
    return LLVM::LoadOp::create(
        builder, element, addressOf(get->getOperand(0), element, get.getIndex()), bytesOf(element));
  }

  void lower(PutOp put) {
    const Type element = put.getValue().getType();
    LLVM::StoreOp::create(builder, put.getValue(),
                          addressOf(put->getOperand(1), element, put.getIndex()), bytesOf(element));
  }

  /// Where each array begins, and its entries are filled.
  void lowerScratch() {
    SmallVector<ScratchOp> all, narrow;
    function.walk(
        [&](ScratchOp op) { (op.getType().getElementBytes() == 8 ? all : narrow).push_back(op); });
    llvm::append_range(all, narrow); // Words of 64 bits first, which keeps each aligned.
    int64_t fixed = 0, perDim = 0;
    for (ScratchOp op : all) {
      const ScratchType type = op.getType();
      const int64_t size = type.getElementBytes();
      builder.setInsertionPoint(op);
      builder.setLoc(op.getLoc());
      Value dims = arith::ExtSIOp::create(builder, i64(), arguments.dims);
      auto linear = [&](int64_t each, int64_t more) -> Value {
        Value product = arith::MulIOp::create(builder, dims, number(each));
        return arith::AddIOp::create(builder, product, number(more));
      };
      Value array = LLVM::GEPOp::create(builder, arguments.scratch.getType(), builder.getI8Type(),
                                        arguments.scratch, ValueRange(linear(perDim, fixed)),
                                        LLVM::GEPNoWrapFlags::inbounds);
      fill(op, array, linear(type.getPerDim() ? 1 : 0, type.getEntries()));
      // What reads and writes it is lowered next, and sees an address until then.
      op.getResult().replaceAllUsesWith(array);
      op.erase();
      fixed += type.getEntries() * size;
      perDim += type.getPerDim() ? size : 0;
    }
  }

  void fill(ScratchOp op, Value array, Value entries) {
    const Type element = op.getFill().getType();
    auto loop = scf::ForOp::create(builder, number(0), entries, number(1));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value address =
        LLVM::GEPOp::create(builder, array.getType(), element, array,
                            ValueRange(loop.getInductionVar()), LLVM::GEPNoWrapFlags::inbounds);
    LLVM::StoreOp::create(builder, op.getFill(), address, bytesOf(element));
  }

  func::FuncOp function;
  const VectorArguments &arguments;
  ImplicitLocOpBuilder builder;
  SmallVector<Operation *> pending;
};

} // namespace

void annudf::lowering::lowerVectors(func::FuncOp function, const VectorArguments &arguments) {
  VectorLowering(function, arguments).run();
}

LogicalResult annudf::lowering::proveVectors(PairwiseOp pairwise, const TargetInfo &target) {
  const RangeAnalysis ranges(pairwise.getDistance());
  auto isInside = [&](Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return runsOf(ranges, loop).has_value();
    if (isa<ScratchOp>(op)) // The descriptor counts what stands there.
      return isa<DistanceOp>(op->getParentOp());
    return findUnprovedPlace(ranges, op).why == Inside::Yes;
  };
  const WalkResult result = pairwise.getDistance().walk([&](Operation *op) -> WalkResult {
    if (isInside(op))
      return WalkResult::advance();
    return op->emitOpError() << target.passName
                             << ": is not proved to stay inside its array or to end; "
                                "annudf-verify-abi says what is missing";
  });
  return failure(result.wasInterrupted());
}
