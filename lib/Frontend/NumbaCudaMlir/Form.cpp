//===- Form.cpp - Which operations a frontend may emit -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Frontend.h"

#include "annudf/Frontend/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::frontend;
using namespace annudf::ir;

void annudf::registerFrontendDialects(DialectRegistry &registry) {
  registry.insert<AnnudfDialect, arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect,
                  math::MathDialect, memref::MemRefDialect, scf::SCFDialect>();
}

/// Dialects with effects and structure are read op by op; what a body may not hold of the
/// others is for annudf-verify-abi to say.
static bool isOfFrontendForm(Operation *op) {
  return isa<ModuleOp, UnrealizedConversionCastOp, func::FuncOp, func::CallOp, func::ReturnOp,
             memref::AllocaOp, memref::LoadOp, memref::StoreOp, cf::BranchOp, cf::CondBranchOp,
             scf::IfOp, scf::ForOp, scf::YieldOp>(op) ||
         isa_and_nonnull<AnnudfDialect, arith::ArithDialect, math::MathDialect>(op->getDialect());
}

/// ctx itself, or a capture that it holds.
static bool isContextCast(UnrealizedConversionCastOp cast) {
  if (cast.getNumResults() != 1)
    return false;
  if (cast.getNumOperands() == 0)
    return isa<NoneType>(cast.getType(0));
  return cast.getNumOperands() == 1 && isa<NoneType>(cast.getOperand(0).getType()) &&
         isa<CaptureType>(cast.getType(0)) &&
         isa_and_nonnull<StringAttr>(cast->getAttr(kCaptureAttr));
}

LogicalResult frontend::checkForm(ModuleOp module) {
  LogicalResult result = success();
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto cast = dyn_cast<UnrealizedConversionCastOp>(op); cast && !isContextCast(cast)) {
      result =
          op->emitOpError() << "[P5] is no cast of ctx; write a cast without operands to none, "
                               "or one from none to a capture with annudf.capture = \"name\"";
      return WalkResult::skip();
    }
    if (isOfFrontendForm(op) && (!isa<ModuleOp>(op) || op == module))
      return WalkResult::advance();
    result = op->emitOpError()
             << "[P1] cannot be imported; a frontend emits variables (memref.alloca, load, store), "
                "branches (cf.br, cf.cond_br, scf.if, scf.for), calls, and arith, math and annudf";
    return WalkResult::skip();
  });
  return result;
}

/// Whether an op computes in f64, as opposed to moving or converting such a value.
static bool computesInF64(Operation *op) {
  if (!isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op->getDialect()) ||
      isa<CastOpInterface, arith::ConstantOp, arith::SelectOp>(op))
    return false;
  return llvm::any_of(op->getOperandTypes(), [](Type type) { return type.isF64(); });
}

/// Where a metric, a filter or a function has f64 in what it declares.
static bool declaresF64(UdfOpInterface udf) {
  auto isF64 = [](Type type) { return type.isF64(); };
  if (auto function = dyn_cast<FunctionOp>(udf.getOperation())) {
    SmallVector<Type> fields;
    const auto signature = cast<FunctionType>(function.getSignature());
    for (Type type : llvm::concat<const Type>(signature.getInputs(), signature.getResults()))
      FunctionOp::appendFields(type, fields);
    if (llvm::any_of(fields, isF64))
      return true;
  }
  if (auto metric = dyn_cast<MetricOp>(udf.getOperation());
      metric &&
      (llvm::any_of(metric.getAccumulatorTypes(), isF64) || metric.getComputeType().isF64()))
    return true;
  if (auto pairwise = dyn_cast<PairwiseOp>(udf.getOperation());
      pairwise && pairwise.getComputeType().isF64())
    return true;
  return llvm::any_of(udf.getCaptures(), [&](CaptureOp capture) {
    return isF64(capture.getResult().getType().getElementType());
  });
}

void frontend::remarkOnF64(UdfOpInterface metric) {
  if (declaresF64(metric))
    return;
  llvm::DenseSet<std::pair<StringAttr, unsigned>> lines;
  metric->walk([&](Operation *op) {
    if (!computesInF64(op))
      return;
    // One remark a line of the source says it.
    if (auto place = op->getLoc()->findInstanceOf<FileLineColLoc>())
      if (!lines.insert({place.getFilename(), place.getLine()}).second)
        return;
    emitRemark(op->getLoc()) << "[P20] computes in f64, which a GPU does at 1/2 to 1/64 of its f32 "
                                "rate; convert to f32 first, or declare f64";
  });
}
