//===- ProvedFacts.h - What artifacts tell that was proved ------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_ANALYSIS_PROVEDFACTS_H
#define ANNUDF_ANALYSIS_PROVEDFACTS_H

#include "annudf/ABI/TargetAbi.h"
#include "annudf/Artifact/Descriptor.h"
#include "annudf/Dialect/IR/Annudf.h"

#include <optional>

namespace annudf {

/// What artifacts tell of a metric or filter beside what it is.
struct ProvedFacts {
  std::optional<QuadraticForm> form;
  bool rowOnlyIndexes = false; ///< Only where it has captures with an entry a row.
  bool readsList = false;      ///< Never of a filter.

  /// What the target wants told.
  static ProvedFacts of(ir::UdfOpInterface udf, const CodeTarget &target);
  void addTo(MetricDescriptor &metric) const {
    metric.form = form, metric.rowOnlyIndexes = rowOnlyIndexes, metric.readsList = readsList;
  }
};

} // namespace annudf

#endif // ANNUDF_ANALYSIS_PROVEDFACTS_H
