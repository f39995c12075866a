//===- Forms.h - Whether a metric's distance is a quadratic form -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of Properties.h that a scan may compute with: the whole distance, finalize included.
// Whatever is not understood is no proof. docs/spec/numerics.md derives the bounds. The module must
// have been verified.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_ANALYSIS_FORMS_H
#define ANNUDF_ANALYSIS_FORMS_H

#include "annudf/ABI/TargetAbi.h"
#include "annudf/Artifact/Form.h"
#include "annudf/Dialect/IR/Annudf.h"

#include <optional>
#include <string>

namespace annudf {

struct FormProof {
  std::optional<QuadraticForm> form;
  /// Why there is none, beginning with a small letter, and at which op.
  std::string why;
  mlir::Operation *at = nullptr;
};
FormProof proveForm(ir::MetricOp metric);

} // namespace annudf

#endif // ANNUDF_ANALYSIS_FORMS_H
