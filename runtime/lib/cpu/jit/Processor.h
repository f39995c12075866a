//===- Processor.h - The processor that scans are made for ---------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Knows no header of LLVM.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CPU_JIT_PROCESSOR_H
#define ANNUDF_RUNTIME_LIB_CPU_JIT_PROCESSOR_H

#include <string>

namespace annudf::runtime::cpu {

/// LLVM's name of the processor in ANNUDF_PROCESSOR, an older one than this machine's, so that one
/// machine tests what others run; "": it names none, and scans are made for this machine.
/// \throws Error(Usage) if LLVM does not know it, or this machine lacks what it has.
std::string askedProcessor();

} // namespace annudf::runtime::cpu

#endif // ANNUDF_RUNTIME_LIB_CPU_JIT_PROCESSOR_H
