//===- Width.h - How wide the vectors of a scan are ----------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CPU_JIT_WIDTH_H
#define ANNUDF_RUNTIME_LIB_CPU_JIT_WIDTH_H

#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace annudf::runtime::cpu {

/// Bits of the vectors that LLVM would use of itself.
unsigned usualBits(llvm::TargetMachine &target);

/// Bits of the widest vectors that scans for `target` use. LLVM goes by the processor's model
/// number, and for those of Intel's with AVX-512 says 256, which was right for the first ones: they
/// slowed down. This goes by what the processor can do.
unsigned vectorBits(llvm::TargetMachine &target);

/// Whether the code of a metric gives the same bits however wide the vectors are: nothing in it
/// becomes a function of libmvec, whose variants differ in the last place, or is computed from an
/// estimate, as a division with `arcp` is, or in an order that LLVM chooses.
bool isSameAtAnyWidth(const llvm::Module &hooks);

/// Has every function use vectors of up to `bits`.
void setVectorBits(llvm::Module &module, unsigned bits);

} // namespace annudf::runtime::cpu

#endif // ANNUDF_RUNTIME_LIB_CPU_JIT_WIDTH_H
