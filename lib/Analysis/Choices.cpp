//===- Choices.cpp - The larger or smaller of two by comparison -----------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Choices.h"

#include "Terms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace annudf;

std::optional<Choice> annudf::choiceOf(Value value, Value v) {
  using P = arith::CmpFPredicate;
  auto select = value.getDefiningOp<arith::SelectOp>();
  auto compare = select ? select.getCondition().getDefiningOp<arith::CmpFOp>() : nullptr;
  if (!compare || mayDiffer(compare))
    return std::nullopt;
  const bool isFirst = select.getTrueValue() == v;
  if (!isFirst && select.getFalseValue() != v)
    return std::nullopt;
  const Value c = isFirst ? select.getFalseValue() : select.getTrueValue();
  const bool swapped = compare.getLhs() == c;
  if (compare.getLhs() != (swapped ? c : v) || compare.getRhs() != (swapped ? v : c))
    return std::nullopt;
  const P predicate = compare.getPredicate();
  const bool isBelow = llvm::is_contained({P::OLT, P::OLE, P::ULT, P::ULE}, predicate);
  if (!isBelow && !llvm::is_contained({P::OGT, P::OGE, P::UGT, P::UGE}, predicate))
    return std::nullopt;
  // An ordered comparison with NaN is false.
  const bool isOrdered = llvm::is_contained({P::OLT, P::OLE, P::OGT, P::OGE}, predicate);
  return Choice{c, (isBelow != swapped) != isFirst, isOrdered != isFirst};
}
