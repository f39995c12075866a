//===- Monotone.h - Whether a distance only gets worse ----------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of Properties.h that lets a scan leave a row before its last dimension: the one field,
// finalize and the order together. docs/spec/numerics.md, "A distance that only gets worse", says
// why it holds. The module must have been verified.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_ANALYSIS_MONOTONE_H
#define ANNUDF_ANALYSIS_MONOTONE_H

#include "annudf/ABI/TargetAbi.h"
#include "annudf/Artifact/Descriptor.h"
#include "annudf/Dialect/IR/Annudf.h"

#include <optional>
#include <string>

namespace annudf {

struct MonotoneProof {
  std::optional<MonotoneDistance> monotone;
  /// Why it is not proved, beginning with a small letter, and at which op.
  std::string why;
  mlir::Operation *at = nullptr;
};
MonotoneProof proveMonotone(ir::MetricOp metric);

/// What artifacts tell of a metric beside what it is.
struct ProvedFacts {
  std::optional<QuadraticForm> form;
  std::optional<MonotoneDistance> monotone;

  /// What the target wants told.
  static ProvedFacts of(ir::MetricOp metric, const CodeTarget &target);
  void addTo(MetricDescriptor &metric) const { metric.form = form, metric.monotone = monotone; }
};

} // namespace annudf

#endif // ANNUDF_ANALYSIS_MONOTONE_H
