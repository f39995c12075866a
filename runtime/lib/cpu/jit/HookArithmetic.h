//===- HookArithmetic.h - Arithmetic that the processor decides ----*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CPU_JIT_HOOKARITHMETIC_H
#define ANNUDF_RUNTIME_LIB_CPU_JIT_HOOKARITHMETIC_H

#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace annudf::runtime::cpu {

/// Before anything is optimised: whether a fused product is one operation or two, and what
/// conversions to integers are made of.
void settleArithmetic(llvm::Module &hooks, llvm::TargetMachine &target);

} // namespace annudf::runtime::cpu

#endif // ANNUDF_RUNTIME_LIB_CPU_JIT_HOOKARITHMETIC_H
