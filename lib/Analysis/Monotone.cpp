//===- Monotone.cpp - Whether a distance only gets worse ------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Analysis/Monotone.h"

#include "annudf/Analysis/Forms.h"
#include "annudf/Analysis/Properties.h"
#include "annudf/Dialect/IR/Descriptor.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;

static MonotoneProof no(Operation *at, const std::string &why) { return {std::nullopt, why, at}; }

/// One that makes a number of a NaN: the field may end as NaN, which is the worst.
static Operation *forgetsNaN(FinalizeOp finalize) {
  Operation *found = nullptr;
  finalize.getBody().walk([&](Operation *op) {
    if (isa<arith::MaxNumFOp, arith::MinNumFOp>(op))
      found = op;
  });
  return found;
}

MonotoneProof annudf::proveMonotone(MetricOp metric) {
  if (metric.getAccumulatorTypes().size() != 1)
    return no(metric, "its accumulator has several fields");
  const MetricProperties properties = inferProperties(metric);
  const FieldProperties &field = properties.fields.front();
  if (field.monotone == Monotone::Unknown) {
    const auto isOf = [&](Property property) {
      return llvm::find_if(field.unproved,
                           [=](const Unproved &one) { return one.property == property; });
    };
    auto why = isOf(Property::Monotone);
    if (why == field.unproved.end())
      why = isOf(Property::Canonical);
    return no(why->at, why->why);
  }
  if (field.joined && !field.joined->join)
    return no(metric.getUpdate(), "update changes nothing");
  bool falls = false;
  if (FinalizeOp finalize = metric.getFinalize()) {
    const FinalizeProof proof = proveFinalize(finalize);
    if (!proof.course)
      return no(proof.at, proof.why);
    if (Operation *op = forgetsNaN(finalize))
      return no(op, "'" + op->getName().getStringRef().str() + "' turns NaN into a number");
    falls = *proof.course == QuadraticForm::Finalize::Falls;
  }
  const bool rises = (field.monotone == Monotone::Grows) != falls;
  const bool isMin = static_cast<annudf_order>(metric.getOrder()) == ANNUDF_ORDER_MIN;
  if (rises != isMin)
    return no(metric.getUpdate(),
              "the distance gets better from dimension to dimension, not worse");
  // What no reader would take: something asked of a capture whose value is compiled in.
  MetricDescriptor whole = describe(metric);
  const bool isSum = field.joined && *field.joined->join == Join::Sum;
  whole.monotone = MonotoneDistance{field.monotoneIf, !isSum};
  if (const std::string fault = faultOf(whole); !fault.empty())
    return no(metric.getUpdate(), fault);
  return {whole.monotone, "", nullptr};
}

ProvedFacts ProvedFacts::of(MetricOp metric, const CodeTarget &target) {
  ProvedFacts facts;
  if (target.form)
    facts.form = formOf(metric);
  if (target.monotone)
    facts.monotone = proveMonotone(metric).monotone;
  return facts;
}
