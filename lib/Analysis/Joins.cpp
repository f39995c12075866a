//===- Joins.cpp - How an update joins a field with terms -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Analysis/Joins.h"

#include "annudf/Analysis/Dependents.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;

/// How an op joins its first two operands; a subtraction joins from the first only.
static std::optional<Join> joinOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<Join>>(op)
      .Case<arith::AddFOp, arith::SubFOp>([](auto) { return Join::Sum; })
      .Case<arith::AddIOp, arith::SubIOp>([](auto) { return Join::SumI; })
      .Case<arith::MulFOp>([](auto) { return Join::Product; })
      .Case<arith::MulIOp>([](auto) { return Join::ProductI; })
      .Case<arith::XOrIOp>([](auto) { return Join::Xor; })
      .Case<arith::AndIOp>([](auto) { return Join::And; })
      .Case<arith::OrIOp>([](auto) { return Join::Or; })
      .Case<arith::MaxSIOp>([](auto) { return Join::MaxSI; })
      .Case<arith::MinSIOp>([](auto) { return Join::MinSI; })
      .Case<arith::MaxUIOp>([](auto) { return Join::MaxUI; })
      .Case<arith::MinUIOp>([](auto) { return Join::MinUI; })
      .Case<arith::MaximumFOp>([](auto) { return Join::Maximum; })
      .Case<arith::MinimumFOp>([](auto) { return Join::Minimum; })
      .Case<arith::MaxNumFOp>([](auto) { return Join::MaxNum; })
      .Case<arith::MinNumFOp>([](auto) { return Join::MinNum; })
      .Default([](auto) { return std::nullopt; });
}

Joins::Joins(MetricOp metric)
    : update(metric.getUpdate()), block(metric.getUpdate().getBody().front()),
      dependent(
          dependentsOf(block.getArguments().take_front(metric.getAccumulatorTypes().size()))) {}

std::optional<JoinedField> Joins::of(unsigned field, Why *why) const {
  JoinedField found;
  const Value acc = block.getArgument(field);
  auto no = [&](Operation *at, const Twine &text) -> std::optional<JoinedField> {
    if (why)
      *why = {at, text.str()};
    return std::nullopt;
  };
  auto quoted = [](Operation *op) { return "'" + op->getName().getStringRef().str() + "'"; };
  // Down the chain of operations from what is yielded to the field.
  for (Value value = block.getTerminator()->getOperand(field); value != acc;) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != &block)
      return no(update, "the hook yields another argument in place of the field");
    if (!dependent.contains(value))
      return no(op, "the yielded value does not depend on the field");
    std::optional<Join> here = joinOf(op);
    unsigned through = 0;
    if (isa<math::FmaOp>(op))
      here = Join::Sum, through = 2;
    else if (here && !dependent.contains(op->getOperand(0)))
      through = 1;
    if (!here)
      return no(op, quoted(op) +
                        " does not join the field with a term by +, *, min, max, and, or, xor");
    if (found.join && *here != *found.join)
      return no(op, quoted(op) + " joins the field by another operation than the last one does");
    // A term that is subtracted from is no sum; and the others must be terms.
    if (through == 1 && isa<arith::SubFOp, arith::SubIOp>(op))
      return no(op, quoted(op) + " subtracts the field from a term");
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      if (i != through && dependent.contains(operand))
        return no(op, quoted(op) + " joins the field with what depends on the accumulator");
    found.join = here;
    found.terms.push_back({op, through});
    value = op->getOperand(through);
  }
  std::reverse(found.terms.begin(), found.terms.end());
  return found;
}
