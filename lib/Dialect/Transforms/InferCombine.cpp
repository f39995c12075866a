//===- InferCombine.cpp - What joins two accumulators -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dependents.h"

#include "annudf/Dialect/IR/Annudf.h"
#include "annudf/Dialect/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"

#include <iterator>

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;

namespace annudf {
#define GEN_PASS_DEF_INFERCOMBINEPASS
#include "annudf/Dialect/Transforms/Passes.h.inc"
} // namespace annudf

namespace {

/// An operation that joins the values of a field: x op (y op z) is (x op y) op z, but for rounding,
/// and the order of operands does not matter.
struct Join {
  /// Whether an op joins its first two operands so; of a subtraction, from the first only.
  bool (*is)(Operation *);
  Value (*create)(ImplicitLocOpBuilder &, Value, Value);
  /// Whether both parts may begin with the value.
  bool (*isNeutral)(Value initial);
};

bool isZero(Value initial) { return matchPattern(initial, m_Zero()); }
bool isOne(Value initial) { return matchPattern(initial, m_One()); }
bool isZeroFloat(Value initial) { return matchPattern(initial, m_AnyZeroFloat()); }
bool isOneFloat(Value initial) { return matchPattern(initial, m_OneFloat()); }
/// Joining a value with itself changes nothing, whatever it is.
bool isAny(Value) { return true; }

/// \tparam Also  other operations that join in the same way.
template <typename Op, typename... Also> constexpr Join joinBy(bool (*isNeutral)(Value)) {
  return {[](Operation *op) { return isa<Op, Also...>(op); },
          [](ImplicitLocOpBuilder &b, Value x, Value y) -> Value { return Op::create(b, x, y); },
          isNeutral};
}

constexpr Join kJoins[] = {joinBy<arith::AddFOp, arith::SubFOp>(isZeroFloat),
                           joinBy<arith::AddIOp, arith::SubIOp>(isZero),
                           joinBy<arith::MulFOp>(isOneFloat),
                           joinBy<arith::MulIOp>(isOne),
                           joinBy<arith::XOrIOp>(isZero),
                           joinBy<arith::AndIOp>(isAny),
                           joinBy<arith::OrIOp>(isAny),
                           joinBy<arith::MaxSIOp>(isAny),
                           joinBy<arith::MinSIOp>(isAny),
                           joinBy<arith::MaxUIOp>(isAny),
                           joinBy<arith::MinUIOp>(isAny),
                           joinBy<arith::MaximumFOp>(isAny),
                           joinBy<arith::MinimumFOp>(isAny),
                           joinBy<arith::MaxNumFOp>(isAny),
                           joinBy<arith::MinNumFOp>(isAny)};
/// What math.fma does to its last operand.
constexpr const Join *kSum = &kJoins[0];

/// Null for what is none.
const Join *joinOf(Operation *op) {
  const Join *found = llvm::find_if(kJoins, [&](const Join &join) { return join.is(op); });
  return found == std::end(kJoins) ? nullptr : found;
}

/// The fields of one update, each as what joins it.
class Fields {
public:
  explicit Fields(MetricOp metric)
      : block(metric.getUpdate().getBody().front()),
        dependent(
            dependentsOf(block.getArguments().take_front(metric.getAccumulatorTypes().size()))) {}

  /// Null where the field is more than joined with terms.
  const Join *of(unsigned field) const {
    const Join *how = nullptr;
    const Value acc = block.getArgument(field);
    // Down the chain of operations from what is yielded to the field.
    for (Value value = block.getTerminator()->getOperand(field); value != acc;) {
      Operation *op = value.getDefiningOp();
      if (!op || op->getBlock() != &block)
        return nullptr;
      const Join *here = joinOf(op);
      unsigned through = 0;
      if (isa<math::FmaOp>(op))
        here = kSum, through = 2;
      else if (here && !dependent.contains(op->getOperand(0)))
        through = 1;
      if (!here || (how && here != how))
        return nullptr;
      // A term that is subtracted from is no sum; and the others must be terms.
      if (through == 1 && isa<arith::SubFOp, arith::SubIOp>(op))
        return nullptr;
      for (auto [i, operand] : llvm::enumerate(op->getOperands()))
        if (i != through && dependent.contains(operand))
          return nullptr;
      how = here;
      value = op->getOperand(through);
    }
    return how;
  }

private:
  Block &block;
  const llvm::DenseSet<Value> dependent; ///< On any field.
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
    SmallVector<const Join *> joins;
    for (unsigned i = 0; i < types.size(); ++i) {
      joins.push_back(fields.of(i));
      const Join *how = joins.back();
      if (how && how->isNeutral(initial[i]))
        continue;
      metric.getUpdate().emitWarning()
          << "[N1] numerics(reassociate) has no effect: field " << i << " of the accumulator "
          << (how ? "does not begin with the constant that changes nothing"
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
          how->create(builder, block.getArgument(i), block.getArgument(types.size() + i)));
    YieldOp::create(builder, values);
    ++numInferred;
  }
};
} // namespace
