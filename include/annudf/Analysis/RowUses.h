//===- RowUses.h - What a metric does with numbers of rows -----*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_ANALYSIS_ROWUSES_H
#define ANNUDF_ANALYSIS_ROWUSES_H

#include "annudf/Dialect/IR/Annudf.h"

namespace annudf {

/// Whether the number of a row is nothing but the index of captures with an entry a row: if rows
/// get other numbers, and the captures' entries move with them, results stay the same. The module
/// must have been verified.
bool rowOnlyIndexes(ir::UdfOpInterface udf);

/// Whether a hook, or a function that it may call, reads the number of a row's list.
bool readsList(ir::UdfOpInterface udf);

} // namespace annudf

#endif // ANNUDF_ANALYSIS_ROWUSES_H
