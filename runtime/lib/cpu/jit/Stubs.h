//===- Stubs.h - Hooks that a scan calls and code does not define *- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CPU_JIT_STUBS_H
#define ANNUDF_RUNTIME_LIB_CPU_JIT_STUBS_H

#include "annudf/runtime/engine/Search.h"

#include "llvm/IR/Module.h"

namespace annudf::runtime::cpu {

/// Defines in `scan`, with which the code of a metric or filter has been linked, the hooks that
/// this code lacks: a finalize that its manifest does not list, and of a filter all of them, as a
/// metric whose distance is 0 where the filter keeps a row and NaN elsewhere.
/// \throws Error(Input) for a metric without a hook that every metric has.
void defineStubs(llvm::Module &scan, const MetricView &metric);

} // namespace annudf::runtime::cpu

#endif // ANNUDF_RUNTIME_LIB_CPU_JIT_STUBS_H
