//===- HookFunctions.h - Hooks as functions for kernels ---------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_LIB_COMPILER_HOOKFUNCTIONS_H
#define ANNUDF_LIB_COMPILER_HOOKFUNCTIONS_H

#include "annudf/Dialect/IR/Annudf.h"

namespace annudf::compiler {

/// Adds a private func.func NAME_HOOK for each hook of a metric or a filter, which calls it:
/// `annudf-inline-hooks` makes plain functions of them. A function takes the hook's arguments, as
/// i64 each index that the hook reads (dim, dims, row, query, list), then, where it reads any, all
/// captures without a value. Its attribute `arguments` lists them. NAME_finalize is there for every
/// metric.
void addHookFunctions(ir::UdfOpInterface udf);

} // namespace annudf::compiler

#endif // ANNUDF_LIB_COMPILER_HOOKFUNCTIONS_H
