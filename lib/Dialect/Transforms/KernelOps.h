//===- KernelOps.h - The ops that kernels are written in --------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_LIB_DIALECT_TRANSFORMS_KERNELOPS_H
#define ANNUDF_LIB_DIALECT_TRANSFORMS_KERNELOPS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace annudf::ir {

/// The ops that kernels are written in.
class KernelOps : public mlir::ImplicitLocOpBuilder {
public:
  using mlir::ImplicitLocOpBuilder::ImplicitLocOpBuilder;

protected:
  /// A constant at the top of the kernel, made once.
  mlir::Value index(int64_t value) {
    mlir::Value &made = constants[value];
    if (!made) {
      const InsertionGuard guard(*this);
      setInsertionPointToStart(&kernel.getBody().front());
      if (constants.size() > 1)
        setInsertionPointAfter(lastConstant);
      made = mlir::arith::ConstantIndexOp::create(*this, value);
      lastConstant = made.getDefiningOp();
    }
    return made;
  }
  mlir::Value add(mlir::Value a, mlir::Value b) { return mlir::arith::AddIOp::create(*this, a, b); }
  mlir::Value sub(mlir::Value a, mlir::Value b) { return mlir::arith::SubIOp::create(*this, a, b); }
  mlir::Value mul(mlir::Value a, mlir::Value b) { return mlir::arith::MulIOp::create(*this, a, b); }
  mlir::Value div(mlir::Value a, mlir::Value b) {
    return mlir::arith::DivUIOp::create(*this, a, b);
  }
  mlir::Value rem(mlir::Value a, mlir::Value b) {
    return mlir::arith::RemUIOp::create(*this, a, b);
  }
  mlir::Value min(mlir::Value a, mlir::Value b) {
    return mlir::arith::MinUIOp::create(*this, a, b);
  }
  mlir::Value isLess(mlir::Value a, mlir::Value b) {
    return mlir::arith::CmpIOp::create(*this, mlir::arith::CmpIPredicate::ult, a, b);
  }
  mlir::Value both(mlir::Value a, mlir::Value b) {
    return mlir::arith::AndIOp::create(*this, a, b);
  }
  mlir::Value either(mlir::Value a, mlir::Value b) {
    return mlir::arith::OrIOp::create(*this, a, b);
  }
  mlir::Value dim(mlir::Value memref, int64_t axis) {
    return mlir::memref::DimOp::create(*this, memref, index(axis));
  }
  mlir::Value load(mlir::Value memref, mlir::ValueRange at) {
    return mlir::memref::LoadOp::create(*this, memref, at);
  }
  void store(mlir::Value value, mlir::Value memref, mlir::ValueRange at) {
    mlir::memref::StoreOp::create(*this, value, memref, at);
  }
  void barrier() { mlir::gpu::BarrierOp::create(*this); }

  using Step =
      llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value i, mlir::ValueRange carried)>;
  llvm::SmallVector<mlir::Value> fold(mlir::Value from, mlir::Value to, mlir::Value step,
                                      mlir::ValueRange first, Step body) {
    auto loop = mlir::scf::ForOp::create(
        *this, from, to, step, first,
        [](mlir::OpBuilder &, mlir::Location, mlir::Value, mlir::ValueRange) {});
    const InsertionGuard guard(*this);
    setInsertionPointToStart(loop.getBody());
    mlir::scf::YieldOp::create(*this, body(loop.getInductionVar(), loop.getRegionIterArgs()));
    return loop.getResults();
  }
  void loop(mlir::Value from, mlir::Value to, mlir::Value step,
            llvm::function_ref<void(mlir::Value i)> body) {
    fold(from, to, step, {}, [&](mlir::Value i, mlir::ValueRange) {
      body(i);
      return llvm::SmallVector<mlir::Value>();
    });
  }
  void when(mlir::Value condition, llvm::function_ref<void()> body) {
    auto branch = mlir::scf::IfOp::create(*this, condition, /*withElseRegion=*/false);
    const InsertionGuard guard(*this);
    setInsertionPointToStart(branch.thenBlock());
    body();
  }

  mlir::gpu::GPUFuncOp kernel;

  /// Begins a kernel of blocks of `threads` with `workgroup` memory that a block shares.
  void begin(llvm::StringRef name, int64_t threads, mlir::TypeRange arguments,
             mlir::TypeRange workgroup) {
    kernel = mlir::gpu::GPUFuncOp::create(*this, name, getFunctionType(arguments, {}), workgroup);
    kernel->setAttr(mlir::gpu::GPUDialect::getKernelFuncAttrName(), getUnitAttr());
    // Without one LLVM 22 reads 16 bytes at a time, but aligns arrays as their elements.
    for (unsigned i = 0; i < workgroup.size(); ++i)
      kernel.setWorkgroupAttributionAttr(i, "llvm.align", getI64IntegerAttr(16));
    kernel.setKnownBlockSizeAttr(getDenseI32ArrayAttr({static_cast<int32_t>(threads), 1, 1}));
    setInsertionPointToStart(&kernel.getBody().front());
    constants.clear();
  }
  void end() {
    mlir::gpu::ReturnOp::create(*this);
    setInsertionPointAfter(kernel);
  }

private:
  llvm::DenseMap<int64_t, mlir::Value> constants;
  mlir::Operation *lastConstant = nullptr;
};

} // namespace annudf::ir

#endif // ANNUDF_LIB_DIALECT_TRANSFORMS_KERNELOPS_H
