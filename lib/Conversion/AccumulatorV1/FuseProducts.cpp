//===- FuseProducts.cpp - Products and the sums that take them ------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A fused product is worth up to half of a metric's arithmetic. Left to the code generators, which
// of two products is fused hangs on what else a kernel does with them, so that one family rounds
// otherwise than another; nvJitLink even regroups acc + (a * b + c * d). So it is decided here,
// once for every kernel and for the host, and nothing else is fused (docs/develop/lowering.md).
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::lowering;

namespace {

/// The product that `value` is, if nothing else uses it. A fused f16 product would be rounded
/// twice.
arith::MulFOp productOf(Value value) {
  auto product = value.getDefiningOp<arith::MulFOp>();
  if (!product || !value.hasOneUse() || !(value.getType().isF32() || value.getType().isF64()))
    return nullptr;
  return product;
}

/// A host without the instruction would call a function for llvm.fma, and takes two roundings.
Value fused(OpBuilder &builder, Location loc, Value a, Value b, Value c, const TargetInfo &target) {
  if (target.kind == TargetKind::Host)
    return LLVM::FMulAddOp::create(builder, loc, a, b, c);
  return LLVM::FMAOp::create(builder, loc, a, b, c);
}

/// Fuses the first of two products.
void fuse(Operation *sum, const TargetInfo &target, bool isDifference) {
  const bool first = bool(productOf(sum->getOperand(0)));
  arith::MulFOp product = productOf(sum->getOperand(first ? 0 : 1));
  if (!product)
    return;
  OpBuilder builder(sum);
  const Location loc = sum->getLoc();
  Value a = product.getLhs(), other = sum->getOperand(first ? 1 : 0);
  if (isDifference && first)
    other = arith::NegFOp::create(builder, loc, other);
  else if (isDifference)
    a = arith::NegFOp::create(builder, loc, a);
  sum->getResult(0).replaceAllUsesWith(fused(builder, loc, a, product.getRhs(), other, target));
  sum->erase();
  product->erase();
}

} // namespace

void annudf::lowering::fuseProducts(ModuleOp module, const TargetInfo &target) {
  SmallVector<Operation *> sums;
  module.walk([&](Operation *op) {
    if (isa<arith::AddFOp, arith::SubFOp>(op))
      sums.push_back(op);
  });
  for (Operation *sum : sums)
    fuse(sum, target, isa<arith::SubFOp>(sum));
}
