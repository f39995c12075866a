//===- Loops.h - What is known of a loop of blocks -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_LIB_FRONTEND_NUMBACUDAMLIR_LOOPS_H
#define ANNUDF_LIB_FRONTEND_NUMBACUDAMLIR_LOOPS_H

#include "Frontend.h"

#include "mlir/Analysis/CFGLoopInfo.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

namespace annudf::frontend {

/// An edge between blocks.
struct Edge {
  mlir::Operation *branch;
  unsigned successor;
};

/// Operands that a branch hands to a successor.
mlir::OperandRange operandsTo(Edge edge);
/// Sends an edge elsewhere.
void redirect(Edge edge, mlir::Block *to, mlir::ValueRange operands);

/// A loop of blocks that is entered through its header, and its counters on constants.
class LoopBlocks {
public:
  using Constant = std::optional<llvm::APInt>;
  /// For each argument of the header its value each time that the header runs, the last
  /// time included.
  using History = llvm::SmallVector<llvm::SmallVector<Constant>>;
  enum class Bound { Known, Unknown, TooMany };

  explicit LoopBlocks(mlir::CFGLoop &loop);

  /// Runs the loop on constants until no way leads back to its header.
  Bound run();
  /// Difference between successive values of an argument in the iterations, if it is the same.
  static Constant stepOf(llvm::ArrayRef<Constant> values, int64_t trips);

protected:
  /// An integer of the loop in its first iteration, if it is known; after run().
  Constant firstOf(mlir::Value value) { return valueOf(value, firstTime); }

  mlir::Block *header;
  llvm::SetVector<mlir::Block *> blocks;
  llvm::SmallVector<Edge> entries, latches;
  // What run() finds.
  int64_t trips = 0; ///< How often the loop goes back to its header, at most.
  History history;
  bool headerCounts = false; ///< The header leaves then, and not before.

private:
  using Values = llvm::DenseMap<mlir::Value, Constant>;
  Values firstTime;
  struct Iteration;
  Constant valueOf(mlir::Value value, Values &known, int chain = 0) const;
  void follow(Edge edge, Iteration &iteration) const;
  bool runOnce(Iteration &iteration) const;

  llvm::SmallVector<mlir::Block *> order; ///< Each block after those that lead to it.
};

/// The number of iterations depends on data, or is too large.
mlir::LogicalResult refuseUnknown(mlir::Location loc);
mlir::LogicalResult refuseTooMany(mlir::Location loc);

/// Has all exits of a loop whose header is not the only one pass through the header, and says
/// whether there was something to do (EarlyExits.cpp).
mlir::FailureOr<bool> routeExits(mlir::CFGLoop &loop, mlir::DominanceInfo &dominance);

} // namespace annudf::frontend

#endif // ANNUDF_LIB_FRONTEND_NUMBACUDAMLIR_LOOPS_H
