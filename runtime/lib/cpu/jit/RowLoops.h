//===- RowLoops.h - Loops whose lanes are rows ---------------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The scan marks its loops over rows. What keeps them loops until the vectoriser comes, takes
// conditions out of them, unrolls them after it, and tells what it could not make vectors of.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CPU_JIT_ROWLOOPS_H
#define ANNUDF_RUNTIME_LIB_CPU_JIT_ROWLOOPS_H

#include "llvm/IR/Module.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/IR/PassManager.h"

#include <string>

namespace annudf::runtime::cpu {

/// A loop over rows must still be a loop when the vectoriser comes: a cheap metric's
/// would be unrolled before, and stay scalar.
void keepRowLoops(llvm::Module &module);

/// No condition leaves a loop over rows, nor one inside of it, before loops over queries are
/// unrolled: one that differs from row to row would become a branch, which costs more than vectors
/// of both sides. UnswitchRowLoops does it later, for others.
void keepRowLoopsWhole(llvm::PassInstrumentationCallbacks &instrumentation);

/// Before the vectoriser: makes two loops of one over rows whose condition is the same for all of
/// them, where that saves more than the branch costs.
struct UnswitchRowLoops : llvm::PassInfoMixin<UnswitchRowLoops> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

/// Before the vectoriser: it would take half as many rows at once where the widest value is a row's
/// number, which has 64 bits, also if nothing computes with it. For hooks that give the same bits
/// at any width.
struct WidenRowLoops : llvm::PassInfoMixin<WidenRowLoops> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

/// After the vectoriser: tells what of the loops over rows is done for one row at a time.
class RemarkRowLoops : public llvm::PassInfoMixin<RemarkRowLoops> {
public:
  /// \param remark  lives as long as the pass; the first remark is kept, "" while there is none.
  explicit RemarkRowLoops(std::string &remark) : remark(remark) {}
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);

private:
  std::string &remark;
};

/// Once vectors, the few iterations left must go, so that accumulators become registers.
struct UnrollVectorLoops : llvm::PassInfoMixin<UnrollVectorLoops> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

/// After the vectoriser and LICM: takes the reads of captures by row out of the loops over
/// coordinates. LICM moves no gather out of a loop that prefetches, as that counts as a write.
struct HoistGathers : llvm::PassInfoMixin<HoistGathers> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

} // namespace annudf::runtime::cpu

#endif // ANNUDF_RUNTIME_LIB_CPU_JIT_ROWLOOPS_H
