//===- InitAll.h - All of annudf that a compiler registers ------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_INITALL_H
#define ANNUDF_INITALL_H

#include "mlir/IR/DialectRegistry.h"

namespace annudf {

/// The dialect annudf, those that its bodies and its lowerings are written in, those of the
/// frontend form, and what inlines its helpers.
void registerAllDialects(mlir::DialectRegistry &registry);

/// Every pass and every pipeline whose name begins with annudf-. May be called again.
void registerAllPasses();

} // namespace annudf

#endif // ANNUDF_INITALL_H
