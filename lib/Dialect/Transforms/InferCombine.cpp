//===- InferCombine.cpp - What joins two accumulators -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Dialect/Transforms/Passes.h"

#include "annudf/Dialect/IR/Annudf.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;

namespace annudf {
#define GEN_PASS_DEF_INFERCOMBINEPASS
#include "annudf/Dialect/Transforms/Passes.h.inc"
} // namespace annudf

namespace {

/// What joins the values of a field. Of the last ones joining a value with itself changes nothing,
/// so both parts may begin with the same, whatever it is.
enum class Join {
  None,
  AddF,
  AddI,
  MulF,
  MulI,
  Xor,
  And,
  Or,
  MaxS,
  MinS,
  MaxU,
  MinU,
  Max,
  Min,
  MaxNum,
  MinNum
};

/// How an operation joins its first two operands: of a subtraction, from the first only.
Join joinOf(Operation *op) {
  if (isa<arith::AddFOp, arith::SubFOp>(op))
    return Join::AddF;
  if (isa<arith::AddIOp, arith::SubIOp>(op))
    return Join::AddI;
  if (isa<arith::MulFOp>(op))
    return Join::MulF;
  if (isa<arith::MulIOp>(op))
    return Join::MulI;
  if (isa<arith::XOrIOp>(op))
    return Join::Xor;
  if (isa<arith::AndIOp>(op))
    return Join::And;
  if (isa<arith::OrIOp>(op))
    return Join::Or;
  if (isa<arith::MaxSIOp>(op))
    return Join::MaxS;
  if (isa<arith::MinSIOp>(op))
    return Join::MinS;
  if (isa<arith::MaxUIOp>(op))
    return Join::MaxU;
  if (isa<arith::MinUIOp>(op))
    return Join::MinU;
  if (isa<arith::MaximumFOp>(op))
    return Join::Max;
  if (isa<arith::MinimumFOp>(op))
    return Join::Min;
  if (isa<arith::MaxNumFOp>(op))
    return Join::MaxNum;
  if (isa<arith::MinNumFOp>(op))
    return Join::MinNum;
  return Join::None;
}

Value join(ImplicitLocOpBuilder &b, Join how, Value x, Value y) {
  switch (how) {
  case Join::AddF:
    return arith::AddFOp::create(b, x, y);
  case Join::AddI:
    return arith::AddIOp::create(b, x, y);
  case Join::MulF:
    return arith::MulFOp::create(b, x, y);
  case Join::MulI:
    return arith::MulIOp::create(b, x, y);
  case Join::Xor:
    return arith::XOrIOp::create(b, x, y);
  case Join::And:
    return arith::AndIOp::create(b, x, y);
  case Join::Or:
    return arith::OrIOp::create(b, x, y);
  case Join::MaxS:
    return arith::MaxSIOp::create(b, x, y);
  case Join::MinS:
    return arith::MinSIOp::create(b, x, y);
  case Join::MaxU:
    return arith::MaxUIOp::create(b, x, y);
  case Join::MinU:
    return arith::MinUIOp::create(b, x, y);
  case Join::Max:
    return arith::MaximumFOp::create(b, x, y);
  case Join::Min:
    return arith::MinimumFOp::create(b, x, y);
  case Join::MaxNum:
    return arith::MaxNumFOp::create(b, x, y);
  case Join::MinNum:
    return arith::MinNumFOp::create(b, x, y);
  case Join::None:
    break;
  }
  llvm_unreachable("nothing joins the field");
}

/// Whether a part may begin with `initial` though another begins with it too.
bool isNeutral(Join how, Value initial) {
  switch (how) {
  case Join::AddF:
    return matchPattern(initial, m_AnyZeroFloat());
  case Join::AddI:
  case Join::Xor:
    return matchPattern(initial, m_Zero());
  case Join::MulF:
    return matchPattern(initial, m_OneFloat());
  case Join::MulI:
    return matchPattern(initial, m_One());
  case Join::And:
  case Join::Or:
  case Join::MaxS:
  case Join::MinS:
  case Join::MaxU:
  case Join::MinU:
  case Join::Max:
  case Join::Min:
  case Join::MaxNum:
  case Join::MinNum:
    return true;
  case Join::None:
    break;
  }
  return false;
}

/// The fields of one update, each as what joins it.
class Fields {
public:
  explicit Fields(MetricOp metric)
      : block(metric.getUpdate().getBody().front()), count(metric.getAccumulatorTypes().size()) {
    for (BlockArgument field : block.getArguments().take_front(count))
      dependent.insert(field);
    // In order, so that what an op takes is known when it comes.
    for (Operation &op : block.without_terminator())
      if (reads(op))
        dependent.insert_range(op.getResults());
  }

  /// None where the field is more than joined with terms.
  Join of(unsigned field) const {
    Join how = Join::None;
    const Value acc = block.getArgument(field);
    // Down the chain of operations from what is yielded to the field.
    for (Value value = block.getTerminator()->getOperand(field); value != acc;) {
      Operation *op = value.getDefiningOp();
      if (!op || op->getBlock() != &block)
        return Join::None;
      Join here = joinOf(op);
      unsigned through = 0;
      if (isa<math::FmaOp>(op))
        here = Join::AddF, through = 2;
      else if (here != Join::None && !dependent.contains(op->getOperand(0)))
        through = 1;
      if (here == Join::None || (how != Join::None && here != how))
        return Join::None;
      // A term that is subtracted from is no sum; and the others must be terms.
      if (through == 1 && isa<arith::SubFOp, arith::SubIOp>(op))
        return Join::None;
      for (auto [i, operand] : llvm::enumerate(op->getOperands()))
        if (i != through && dependent.contains(operand))
          return Join::None;
      how = here;
      value = op->getOperand(through);
    }
    return how;
  }

private:
  bool reads(Operation &op) const {
    return op
        .walk([&](Operation *inner) {
          return llvm::any_of(inner->getOperands(),
                              [&](Value operand) { return dependent.contains(operand); })
                     ? WalkResult::interrupt()
                     : WalkResult::advance();
        })
        .wasInterrupted();
  }

  Block &block;
  const unsigned count;
  llvm::DenseSet<Value> dependent; ///< On any field.
};

struct InferCombinePass : annudf::impl::InferCombinePassBase<InferCombinePass> {
  using InferCombinePassBase::InferCombinePassBase;

  void runOnOperation() override {
    for (auto metric : getOperation().getOps<MetricOp>())
      if (metric.getNumerics() == Numerics::Reassociate && !metric.getCombine())
        infer(metric);
  }

private:
  void infer(MetricOp metric) {
    const Fields fields(metric);
    const OperandRange initial = metric.getInit().getBody().front().getTerminator()->getOperands();
    const SmallVector<Type> types = metric.getAccumulatorTypes();
    SmallVector<Join> joins;
    for (unsigned i = 0; i < types.size(); ++i) {
      joins.push_back(fields.of(i));
      const bool joined = joins.back() != Join::None;
      if (joined && isNeutral(joins.back(), initial[i]))
        continue;
      metric.getUpdate().emitWarning()
          << "[N1] numerics(reassociate) has no effect: field " << i << " of the accumulator "
          << (joined ? "does not begin with the constant that changes nothing"
                     : "is not joined with terms by one of +, *, min, max, and, or, xor")
          << "; write annudf.combine";
      return;
    }
    auto builder =
        ImplicitLocOpBuilder::atBlockEnd(metric.getUpdate().getLoc(), &metric.getBody().front());
    auto combine = CombineOp::create(builder);
    Block &block = combine.getBody().emplaceBlock();
    for (unsigned i = 0; i < 2 * types.size(); ++i)
      block.addArgument(types[i % types.size()], builder.getLoc());
    builder.setInsertionPointToStart(&block);
    SmallVector<Value> values;
    for (auto [i, how] : llvm::enumerate(joins))
      values.push_back(
          join(builder, how, block.getArgument(i), block.getArgument(types.size() + i)));
    YieldOp::create(builder, values);
    ++numInferred;
  }
};
} // namespace
