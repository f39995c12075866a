//===- Size.h - How often loops run and what hooks weigh -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_ANALYSIS_SIZE_H
#define ANNUDF_ANALYSIS_SIZE_H

#include "annudf/Analysis/CallGraph.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/APInt.h"

#include <optional>

namespace annudf {

/// Bounds of a loop as they are compared, signed or unsigned; an index has 64 bits.
struct LoopBounds {
  llvm::APInt lower, upper, step;
  bool isUnsigned = false;

  /// Empty unless all three are constants.
  static std::optional<LoopBounds> of(mlir::scf::ForOp loop);
  /// Iterations, for a positive step; at most INT64_MAX.
  int64_t trips() const;
};

/// What an op weighs by itself: 1, and more where it becomes many instructions. A unit is
/// about an eighth of a millisecond of libNVVM.
uint64_t weightOf(mlir::Operation *op);

/// Weighs what is left of bodies once loops are unrolled and helpers inlined. Bodies,
/// loops and calls of what metrics reach must have been accepted before.
class SizeCounter {
public:
  explicit SizeCounter(mlir::Operation *module);

  /// The weight of all ops below `root`, saturating. A loop without iterations weighs as one with
  /// one: it is compiled too.
  uint64_t below(mlir::Operation *root) const;

  /// Says how often a loop without constant bounds counts; else it counts once.
  void setRuns(mlir::scf::ForOp loop, uint64_t most) { runs[loop] = most; }

private:
  uint64_t of(mlir::Operation *op) const;

  CallGraph graph;
  llvm::DenseMap<mlir::Operation *, uint64_t> helpers, runs;
};

} // namespace annudf

#endif // ANNUDF_ANALYSIS_SIZE_H
