//===- Routines.h - What LLVM calls for what a processor lacks --*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A compiler's support library has these, which a program may have linked so that nobody else
// finds it (in Python it is its extensions' own). So linked scans get this library's.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CPU_JIT_ROUTINES_H
#define ANNUDF_RUNTIME_LIB_CPU_JIT_ROUTINES_H

#include <span>

namespace annudf::runtime::cpu {

struct Routine {
  const char *name;
  void (*address)(); ///< To be called as what the name stands for.
};

std::span<const Routine> compilerRoutines();

} // namespace annudf::runtime::cpu

#endif // ANNUDF_RUNTIME_LIB_CPU_JIT_ROUTINES_H
