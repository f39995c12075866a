//===- VectorMath.h - Which functions glibc has for vectors --------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CPU_JIT_VECTORMATH_H
#define ANNUDF_RUNTIME_LIB_CPU_JIT_VECTORMATH_H

#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace annudf::runtime::cpu {

inline constexpr const char *kVectorMathLibrary = "libmvec.so.1";

/// Tells `library` of every function of glibc's libmvec that this host has and `target` can call:
/// LLVM knows of exp, log, pow, sin, cos and tan only.
void addVectorMath(llvm::TargetLibraryInfoImpl &library, llvm::TargetMachine &target);

/// Whether calls of a function, of libm or an intrinsic of LLVM's, may become calls of libmvec.
bool isVectorMath(llvm::StringRef name);

/// Says of the functions of libm that a module calls that they compute and do nothing else; nobody
/// reads errno. Without that a call under a condition would keep its loop from becoming vectors.
void markMathPure(llvm::Module &module);

} // namespace annudf::runtime::cpu

#endif // ANNUDF_RUNTIME_LIB_CPU_JIT_VECTORMATH_H
