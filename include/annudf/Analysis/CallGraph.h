//===- CallGraph.h - Which helper calls which -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every walk over helpers goes through this graph: one look at the module, no recursion
// (a chain of helpers may be long), and work that grows with the number of calls.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_ANALYSIS_CALLGRAPH_H
#define ANNUDF_ANALYSIS_CALLGRAPH_H

#include "annudf/Dialect/IR/Annudf.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace annudf {

class CallGraph {
public:
  /// `module` is one of any dialect; functions of modules in it are not part of the graph.
  explicit CallGraph(mlir::Operation *module);

  mlir::func::FuncOp callee(mlir::func::CallOp call) const;

  /// Calls in a helper, hook or metric of the module, in their order.
  llvm::ArrayRef<mlir::func::CallOp> callsIn(mlir::Operation *root) const &;

  /// Helpers that reach no recursion, callees before callers.
  llvm::ArrayRef<mlir::func::FuncOp> order() const & { return ordered; }
  llvm::ArrayRef<mlir::func::FuncOp> order() const && = delete; // Would outlive the graph.

  /// A call that closes a circle, null if there is none. With `among`, which hold all that they
  /// call, a circle of others does not count.
  mlir::func::CallOp findCycle(const llvm::DenseSet<mlir::Operation *> *among = nullptr) const;

  /// All functions of the module.
  llvm::ArrayRef<mlir::func::FuncOp> functions() const & { return helpers; }

  /// Helpers that a helper, hook or metric calls, directly or not.
  llvm::DenseSet<mlir::Operation *> reachableFrom(mlir::Operation *root) const;

private:
  void sort();

  llvm::SmallVector<mlir::func::FuncOp> helpers;
  llvm::DenseMap<mlir::StringAttr, mlir::func::FuncOp> byName;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::func::CallOp>> calls;
  llvm::SmallVector<mlir::func::FuncOp> ordered;
  llvm::DenseSet<mlir::Operation *> acyclic;
};

} // namespace annudf

#endif // ANNUDF_ANALYSIS_CALLGRAPH_H
