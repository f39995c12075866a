//===- NVVMIR.h - NVVM IR as libNVVM of CUDA 13 reads it -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// libNVVM reads LLVM 7 for compute_75 to compute_90 and a newer LLVM from
// compute_100, but the text of LLVM 7 everywhere. So modules are printed as that.
// docs/spec/nvvm-ir.md lists what can be printed and what is rewritten first.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TARGET_NVVMIR_H
#define ANNUDF_TARGET_NVVMIR_H

#include "llvm/Support/Error.h"

#include <string>

namespace llvm {
class Module;
} // namespace llvm

namespace annudf {

/// Replaces intrinsics and comparisons that LLVM 7 does not have, or that libNVVM gets wrong, by
/// instructions with the same meaning.
void expandIntrinsics(llvm::Module &module);

/// The text of `module`, after expandIntrinsics. Fails, naming what it met and the
/// function, on anything that is not known to be read as it is meant.
llvm::Expected<std::string> emitNvvmIr(llvm::Module &module);

} // namespace annudf

#endif // ANNUDF_TARGET_NVVMIR_H
