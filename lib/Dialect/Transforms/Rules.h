//===- Rules.h - Parts of annudf-verify-abi -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each function checks a group of rules of docs/spec/rules.md, reports every broken one as
// a diagnostic, and fails if there was any.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_LIB_DIALECT_TRANSFORMS_RULES_H
#define ANNUDF_LIB_DIALECT_TRANSFORMS_RULES_H

#include "annudf/Analysis/CallGraph.h"
#include "annudf/Analysis/Ranges.h"
#include "annudf/Dialect/Transforms/AbiRules.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace annudf::rules {

/// [B...]: every op below `root` (a hook or a helper), and every type there.
mlir::LogicalResult verifyBody(mlir::Operation *root, AbiCounts &counts, AbiScope scope);
/// [B1]: an op that a body may hold.
mlir::LogicalResult verifyAllowed(mlir::Operation *op);
/// [W14]: an index that a distance of whole vectors does not have.
mlir::LogicalResult refuseIndexOfDistance(ir::IndexOp index);
/// [S...], [W20]: the same of a distance of whole vectors.
mlir::LogicalResult verifyLoopOfDistance(mlir::scf::ForOp loop, const RangeAnalysis &ranges);
/// [W22]: how much scratch a pair takes.
mlir::LogicalResult verifyScratch(ir::PairwiseOp pairwise);
/// [S...]: what a loop runs over.
mlir::LogicalResult verifyLoop(mlir::scf::ForOp loop);
/// [F...]: a helper's name, shape and attributes.
mlir::LogicalResult verifyHelper(mlir::func::FuncOp helper, AbiScope scope);
/// [D6], [D8], [D10]: what a device function's name, captures and values are.
mlir::LogicalResult verifyFunction(ir::FunctionOp function);
/// [E8]: a name that a linker takes for nothing else.
mlir::LogicalResult verifyExtern(ir::ExternOp declaration);
/// [D13]: a function reaches no linked code.
mlir::LogicalResult verifyNoLinkedCode(const CallGraph &graph, ir::FunctionOp function);
/// [F4]: `helpers`, with all that they call, must not reach themselves.
mlir::LogicalResult verifyNoRecursion(const CallGraph &graph,
                                      const llvm::DenseSet<mlir::Operation *> &helpers);
/// [S6]: ops at and below `roots`, before anything else looks at them.
mlir::LogicalResult verifyModuleSize(mlir::Operation *module,
                                     llvm::ArrayRef<mlir::Operation *> roots);
/// [S5]: unrolled size of every hook at the top of `module`. Bodies, loops and the call graph must
/// have been accepted before.
mlir::LogicalResult verifySize(mlir::Operation *module, AbiCounts &counts);

/// [H11]: warns of an update whose result the accumulator has no part in.
void warnOfUnreadAccumulator(ir::MetricOp metric);
/// [H14]: warns of a combine whose result one of the two accumulators has no part in.
void warnOfUnreadPart(ir::MetricOp metric);

/// Whether an attribute is other dialects' own business: annudf keeps it where it stands, and
/// copies it nowhere.
bool isLeftAlone(mlir::NamedAttribute attribute, AbiScope scope);

/// [a-zA-Z_][a-zA-Z0-9_]*: what libNVVM takes as a symbol and a command line as a name.
bool isIdentifier(llvm::StringRef name);

} // namespace annudf::rules

#endif // ANNUDF_LIB_DIALECT_TRANSFORMS_RULES_H
