//===- UnreadAccumulator.cpp - Does every dimension count? -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rules.h"
#include "annudf/Analysis/Dependents.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;

/// Whether what a hook yields may depend on its arguments `given`: on the safe side, so that what
/// is warned about is one.
static bool dependsOn(Block &body, ArrayRef<BlockArgument> given) {
  const llvm::DenseSet<Value> dependents = dependentsOf(given);
  return llvm::any_of(body.getTerminator()->getOperands(),
                      [&](Value yielded) { return dependents.contains(yielded); });
}

void rules::warnOfUnreadAccumulator(MetricOp metric) {
  if (metric.getDims().value_or(0) == 1)
    return; // With one dimension the last is all.
  for (auto update : metric.getBody().getOps<UpdateOp>())
    if (Block &body = update.getBody().front();
        !dependsOn(body, body.getArguments().drop_back(2))) // The coordinates come last.
      update.emitWarning()
          << "[H11] yields a value that does not depend on the accumulator, so only the "
             "last dimension counts; combine it with the accumulator";
}

void rules::warnOfUnreadPart(MetricOp metric) {
  for (auto combine : metric.getBody().getOps<CombineOp>()) {
    Block &body = combine.getBody().front();
    const ArrayRef<BlockArgument> both = body.getArguments();
    const size_t half = both.size() / 2;
    if (!dependsOn(body, both.take_front(half)) || !dependsOn(body, both.drop_front(half)))
      combine.emitWarning() << "[H14] yields a value that does not depend on both accumulators, so "
                               "the dimensions of one are lost; join both";
  }
}
