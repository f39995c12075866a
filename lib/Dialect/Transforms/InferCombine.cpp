//===- InferCombine.cpp - What joins two accumulators -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Analysis/Joins.h"
#include "annudf/Dialect/IR/Annudf.h"
#include "annudf/Dialect/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;

namespace annudf {
#define GEN_PASS_DEF_INFERCOMBINEPASS
#include "annudf/Dialect/Transforms/Passes.h.inc"
} // namespace annudf

namespace {

/// What becomes of a field that is joined so.
struct Joining {
  Join join;
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

template <typename Op> constexpr Joining joinBy(Join join, bool (*isNeutral)(Value)) {
  return {join,
          [](ImplicitLocOpBuilder &b, Value x, Value y) -> Value { return Op::create(b, x, y); },
          isNeutral};
}

constexpr Joining kJoinings[] = {joinBy<arith::AddFOp>(Join::Sum, isZeroFloat),
                                 joinBy<arith::AddIOp>(Join::SumI, isZero),
                                 joinBy<arith::MulFOp>(Join::Product, isOneFloat),
                                 joinBy<arith::MulIOp>(Join::ProductI, isOne),
                                 joinBy<arith::XOrIOp>(Join::Xor, isZero),
                                 joinBy<arith::AndIOp>(Join::And, isAny),
                                 joinBy<arith::OrIOp>(Join::Or, isAny),
                                 joinBy<arith::MaxSIOp>(Join::MaxSI, isAny),
                                 joinBy<arith::MinSIOp>(Join::MinSI, isAny),
                                 joinBy<arith::MaxUIOp>(Join::MaxUI, isAny),
                                 joinBy<arith::MinUIOp>(Join::MinUI, isAny),
                                 joinBy<arith::MaximumFOp>(Join::Maximum, isAny),
                                 joinBy<arith::MinimumFOp>(Join::Minimum, isAny),
                                 joinBy<arith::MaxNumFOp>(Join::MaxNum, isAny),
                                 joinBy<arith::MinNumFOp>(Join::MinNum, isAny)};

/// Null where the field is more than joined with terms, or yielded as it came.
const Joining *joiningOf(const Joins &joins, unsigned field) {
  const std::optional<JoinedField> found = joins.of(field);
  if (!found || !found->join)
    return nullptr;
  return llvm::find_if(kJoinings, [&](const Joining &one) { return one.join == *found->join; });
}

struct InferCombinePass : annudf::impl::InferCombinePassBase<InferCombinePass> {
  using InferCombinePassBase::InferCombinePassBase;

  void runOnOperation() override {
    for (auto metric : collectIn<MetricOp>(getOperation()))
      if (metric.getNumerics() == Numerics::Reassociate && !metric.getCombine())
        infer(metric);
  }

private:
  void infer(MetricOp metric) {
    const Joins fields(metric);
    const OperandRange initial = metric.getInit().getBody().front().getTerminator()->getOperands();
    const SmallVector<Type> types = metric.getAccumulatorTypes();
    SmallVector<const Joining *> joins;
    for (unsigned i = 0; i < types.size(); ++i) {
      joins.push_back(joiningOf(fields, i));
      const Joining *how = joins.back();
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
