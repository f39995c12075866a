// Part of the annudf project. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From dist to functions that call hooks of metrics.
#include "Dist.h"

#include <annudf/Dialect/IR/HookCaller.h>

#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/Dialect/MemRef/IR/MemRef.h>
#include <mlir/Dialect/SCF/IR/SCF.h>
#include <mlir/Pass/Pass.h>

using namespace mlir;
using namespace annudf::ir;

// --8<-- [start:kernel]
/// The distance of two vectors: their memrefs, then the captures.
static void writeDistance(dist::DistanceOp op, MetricOp metric) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  const Type vector = MemRefType::get({ShapedType::kDynamic}, metric.getComputeType());
  SmallVector<Type> types = {vector, vector};
  llvm::append_range(types, HookCaller::captureTypes(metric));
  auto function =
      func::FuncOp::create(b, op.getSymName(), b.getFunctionType(types, b.getF32Type()));
  b.setInsertionPointToStart(function.addEntryBlock());

  const ValueRange given = function.getArguments();
  const HookCaller hooks(metric, given.drop_front(2));
  Value zero = arith::ConstantIndexOp::create(b, 0), one = arith::ConstantIndexOp::create(b, 1);
  Value dims = memref::DimOp::create(b, given[0], zero);
  auto loop = scf::ForOp::create(
      b, zero, dims, one, hooks.init(b, {.dims = dims}),
      [&](OpBuilder &parent, Location loc, Value d, ValueRange acc) {
        ImplicitLocOpBuilder inside(loc, parent);
        Value x = memref::LoadOp::create(inside, given[0], d);
        Value y = memref::LoadOp::create(inside, given[1], d);
        scf::YieldOp::create(inside, hooks.update(inside, acc, x, y, {.dim = d, .dims = dims}));
      });
  func::ReturnOp::create(b, hooks.finalize(b, loop.getResults(), {.dims = dims}));
}
// --8<-- [end:kernel]

struct DistKernels : PassWrapper<DistKernels, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DistKernels)
  StringRef getArgument() const override { return "convert-dist-kernels"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<AnnudfDialect, memref::MemRefDialect>();
  }

  void runOnOperation() override {
    for (auto op : llvm::make_early_inc_range(getOperation().getOps<dist::DistanceOp>())) {
      auto metric = getOperation().lookupSymbol<MetricOp>(op.getMetric());
      if (!metric) {
        op.emitOpError() << "names no metric";
        return signalPassFailure();
      }
      writeDistance(op, metric);
      op.erase();
    }
  }
};

void dist::registerDistKernelsPass() { PassRegistration<DistKernels>(); }
