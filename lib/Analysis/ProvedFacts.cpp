//===- ProvedFacts.cpp - What artifacts tell that was proved --------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Analysis/ProvedFacts.h"

#include "annudf/Analysis/Forms.h"
#include "annudf/Analysis/RowUses.h"
#include "annudf/Dialect/IR/Descriptor.h"

using namespace annudf;
using namespace annudf::ir;

ProvedFacts ProvedFacts::of(UdfOpInterface udf, const CodeTarget &target) {
  ProvedFacts facts;
  facts.rowOnlyIndexes = describe(udf).hasRowCaptures() && annudf::rowOnlyIndexes(udf);
  auto metric = dyn_cast<MetricOp>(udf.getOperation());
  facts.readsList = !isa<FilterOp>(udf.getOperation()) && annudf::readsList(udf);
  if (metric && target.form)
    facts.form = proveForm(metric).form;
  return facts;
}
