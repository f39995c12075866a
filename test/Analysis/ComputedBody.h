//===- ComputedBody.h - A body computed op by op ----------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_ANALYSIS_COMPUTEDBODY_H
#define ANNUDF_TEST_ANALYSIS_COMPUTEDBODY_H

#include "RandomMetrics.h"

#include "mlir/IR/Matchers.h"

#include <cmath>
#include <vector>

namespace annudf::test {

/// Computes a body, each op rounded to its type; where asked, products are fused with sums.
class ComputedBody {
public:
  ComputedBody(mlir::Block &block, std::vector<float> arguments, double w, bool fused)
      : w(w), fused(fused) {
    for (auto [argument, value] : llvm::zip_equal(block.getArguments(), arguments))
      values[argument] = value;
    run(block);
  }
  std::vector<float> yielded;

private:
  void run(mlir::Block &block) {
    for (mlir::Operation &op : block)
      apply(op);
  }
  double of(mlir::Value value) const { return values.lookup(value); }
  static double rounded(mlir::Value value, Quad exact) {
    return value.getType().isF32() ? static_cast<float>(exact) : static_cast<double>(exact);
  }

  void apply(mlir::Operation &op) {
    if (llvm::isa<ir::YieldOp, mlir::scf::YieldOp>(op)) {
      yielded.clear();
      for (mlir::Value value : op.getOperands())
        yielded.push_back(static_cast<float>(of(value)));
      return;
    }
    if (auto branch = llvm::dyn_cast<mlir::scf::IfOp>(op)) {
      run(of(branch.getCondition()) != 0 ? *branch.thenBlock() : *branch.elseBlock());
      mlir::Operation *end =
          (of(branch.getCondition()) != 0 ? branch.thenYield() : branch.elseYield());
      for (auto [result, value] : llvm::zip_equal(op.getResults(), end->getOperands()))
        values[result] = of(value);
      return;
    }
    if (op.getNumResults() == 1)
      values[op.getResult(0)] = compute(op);
  }

  /// The exact value of an operand that is a product and is fused.
  Quad addend(mlir::Value value) const {
    mlir::Operation *product = value.getDefiningOp();
    if (fused && llvm::isa_and_present<mlir::arith::MulFOp>(product))
      return static_cast<Quad>(of(product->getOperand(0))) * of(product->getOperand(1));
    return of(value);
  }

  double compute(mlir::Operation &op) const {
    mlir::FloatAttr number;
    if (matchPattern(&op, m_Constant(&number)))
      return number.getValueAsDouble();
    if (llvm::isa<ir::IndexOp>(op))
      return 0;
    if (llvm::isa<ir::LoadOp>(op))
      return w;
    const auto in = [&](unsigned i) { return of(op.getOperand(i)); };
    const mlir::Value out = op.getResult(0);
    const double a = in(0), b = op.getNumOperands() > 1 ? in(1) : 0;
    const bool isNan = std::isnan(a) || std::isnan(b);
    if (llvm::isa<mlir::arith::AddFOp>(op))
      return isInfinite(a, b) ? a + b : rounded(out, addend(op.getOperand(0)) + b);
    if (llvm::isa<mlir::arith::SubFOp>(op))
      return isInfinite(a, b) ? a - b : rounded(out, a - addend(op.getOperand(1)));
    if (llvm::isa<mlir::arith::MulFOp>(op))
      return isInfinite(a, b) ? a * b : rounded(out, static_cast<Quad>(a) * b);
    if (llvm::isa<mlir::arith::DivFOp>(op))
      return isInfinite(a, b) || b == 0 ? a / b : rounded(out, static_cast<Quad>(a) / b);
    if (llvm::isa<mlir::math::FmaOp>(op))
      return rounded(out, static_cast<Quad>(a) * b + in(2));
    if (llvm::isa<mlir::math::SqrtOp>(op))
      return out.getType().isF32() ? std::sqrt(static_cast<float>(a)) : std::sqrt(a);
    if (llvm::isa<mlir::math::RsqrtOp>(op))
      return 1 / std::sqrt(static_cast<float>(a));
    if (llvm::isa<mlir::arith::NegFOp>(op))
      return -a;
    if (llvm::isa<mlir::arith::ExtFOp, mlir::arith::TruncFOp>(op))
      return rounded(out, a);
    if (llvm::isa<mlir::arith::MaximumFOp>(op))
      return isNan ? NAN : std::max(a, b);
    if (llvm::isa<mlir::arith::MaxNumFOp>(op))
      return std::fmax(a, b);
    if (llvm::isa<mlir::arith::SelectOp>(op))
      return a != 0 ? b : in(2);
    if (llvm::isa<mlir::arith::AndIOp>(op))
      return a != 0 && b != 0;
    if (llvm::isa<mlir::arith::OrIOp>(op))
      return a != 0 || b != 0;
    if (auto compare = llvm::dyn_cast<mlir::arith::CmpFOp>(op))
      return mlir::arith::applyCmpPredicate(compare.getPredicate(), llvm::APFloat(a),
                                            llvm::APFloat(b));
    ADD_FAILURE() << "no op that is computed: " << op.getName().getStringRef().str();
    return NAN;
  }
  static bool isInfinite(double a, double b) { return !std::isfinite(a) || !std::isfinite(b); }

  llvm::DenseMap<mlir::Value, double> values;
  const double w;
  const bool fused;
};

} // namespace annudf::test

#endif // ANNUDF_TEST_ANALYSIS_COMPUTEDBODY_H
