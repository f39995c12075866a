//===- Link.h - From two bitcodes to one optimised module ----------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of the CPU backend that works on LLVM IR: checks a metric's bitcode,
// links it with the scan and optimises both. Jit.cpp turns the result into code.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CPU_JIT_LINK_H
#define ANNUDF_RUNTIME_LIB_CPU_JIT_LINK_H

#include "Jit.h"

#include "annudf/runtime/engine/Search.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>
#include <string>
#include <vector>

namespace annudf::runtime::cpu {

/// Name of the scan's entry point for the widths of the metric's accumulator and coordinates.
const char *scanEntryName(const MetricView &metric);

/// Functions outside the module that compiled code may call: libm, its vector
/// variants, and the memory functions that code generation may introduce.
bool isAllowedExternal(llvm::StringRef name);

/// The scan's bitcode as it is carried here.
llvm::StringRef scanBitcode();

/// What linkScan does to it that no other field of a kernel's key tells, for the key.
std::vector<std::string> scanOptions(bool vectorMath);

/// The scan of `metric` over `element`, optimised for `target`; only the entry point is visible.
/// \param vectorMath  calls to libm in a row loop may become calls to glibc's libmvec.
/// \param host        of whose vectorBits 0 is vectorBits(target), or usualBits where those could
/// give other results.
/// \param remark      set to what keeps rows from being the lanes of vectors, "" if nothing does.
/// \throws as compileScan.
std::unique_ptr<llvm::Module> linkScan(llvm::LLVMContext &context, llvm::TargetMachine &target,
                                       const MetricView &metric, ScanElements elements,
                                       bool vectorMath, const ScanTarget &host,
                                       std::string *remark = nullptr);

} // namespace annudf::runtime::cpu

#endif // ANNUDF_RUNTIME_LIB_CPU_JIT_LINK_H
