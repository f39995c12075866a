//===- InferProperties.cpp - What is proved of a metric, in words -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Analysis/Forms.h"
#include "annudf/Analysis/Properties.h"
#include "annudf/Dialect/Transforms/Passes.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;

namespace annudf {
#define GEN_PASS_DEF_INFERPROPERTIESPASS
#include "annudf/Dialect/Transforms/Passes.h.inc"
} // namespace annudf

namespace {

struct InferPropertiesPass : annudf::impl::InferPropertiesPassBase<InferPropertiesPass> {
  using InferPropertiesPassBase::InferPropertiesPassBase;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    for (auto metric : collectIn<MetricOp>(getOperation())) {
      report(metric);
      if (form)
        reportForm(metric);
    }
  }

private:
  void report(MetricOp metric) {
    const MetricProperties properties = inferProperties(metric);
    for (auto [i, field] : llvm::enumerate(properties.fields)) {
      numPolynomials += field.polynomial.has_value();
      numMonotone += field.monotone != Monotone::Unknown;
      if (const std::string all = spell(field, properties.coefficients); !all.empty())
        metric.getUpdate().emitRemark() << "[N4] field " << i << ": " << all;
      if (!explain)
        continue;
      for (size_t first = 0; first < field.unproved.size(); ++first)
        explainOne(field.unproved, first, i);
    }
  }

  static void reportForm(MetricOp metric) {
    const FormProof proof = proveForm(metric);
    if (proof.form)
      metric.emitRemark() << "[N5] has the form " << formText(proof.form);
    else
      proof.at->emitRemark() << "[N6] has no form: " << proof.why;
  }

  /// One remark for all that one op is the reason of.
  static void explainOne(ArrayRef<Unproved> all, size_t first, size_t field) {
    const auto isSame = [&](const Unproved &other) {
      return other.at == all[first].at && other.why == all[first].why;
    };
    if (llvm::any_of(all.take_front(first), isSame))
      return;
    std::string phrases;
    for (const Unproved &one : llvm::make_filter_range(all, isSame))
      phrases += (phrases.empty() ? "" : ", ") + std::string(phraseOf(one.property));
    all[first].at->emitRemark() << "[N3] field " << field << " is not proved " << phrases << ": "
                                << all[first].why;
  }
};

} // namespace
