//===- Ranges.h - Ranges of a body's integers -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One walk over a hook or helper says what each integer may be where a load, a division
// or a shift uses it. Whatever the walk does not know (an op, an argument of a helper, the
// result of a call) may be anything, so an unverified body is safe to analyse.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_ANALYSIS_RANGES_H
#define ANNUDF_ANALYSIS_RANGES_H

#include "annudf/Analysis/IntRange.h"
#include "annudf/Dialect/IR/Annudf.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include <optional>
#include <string>

namespace annudf {

/// Width of an integer or index (which has 64 bits); 0 for other types.
unsigned integerWidth(mlir::Type type);

class RangeAnalysis {
public:
  /// `root` is a hook or a helper.
  explicit RangeAnalysis(mlir::Operation *root);

  /// What an operand of an annudf.load, at, get or put, of a loop, an integer division or a shift
  /// may be.
  ranges::IntRange at(mlir::OpOperand &use) const;

  /// False for such an op below a condition that never holds, where ranges mean nothing.
  bool isReachable(mlir::Operation *op) const { return !unreachable.contains(op); }

private:
  ranges::IntRangeDomain domain;
  llvm::DenseMap<mlir::OpOperand *, ranges::IntRange> uses;
  llvm::DenseSet<mlir::Operation *> unreachable;
};

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

/// Whether an index lies inside an extent, or which proof is missing.
enum class Inside {
  Yes,
  MayBeBelow, ///< 0
  MayBeAbove, ///< the last entry
  Unknown,    ///< it is not the index of the scan that alone is inside
};

/// The one answer to whether a load may read: an index in `index` of an extent as
/// CaptureType spells it, which `same` says to be an annudf.index, if it is one and nothing was
/// computed of it. What it does not know is not inside.
Inside isInside(const ranges::IntRange &index, std::optional<ir::ScanIndex> same, int64_t extent);

/// The annudf.index whose value a value is, through casts that keep it; null if there is none.
ir::IndexOp sameIndex(mlir::Value value);

/// The indices of loads below `root` come from annudf.index without detours.
void shortenIndices(mlir::Operation *root);

/// The first index of a load that is not proved to be inside its extent.
struct UnprovedIndex {
  Inside why = Inside::Yes; ///< Yes: all are.
  int64_t extent = 0;
  std::string smallest, largest; ///< For messages: "-3", "dims + 1".
  std::string last;              ///< The extent's last index: "dims - 1".
};
UnprovedIndex findUnprovedIndex(const RangeAnalysis &ranges, ir::LoadOp load);

/// The same of an annudf.at, get or put; other ops have no index that may be outside.
UnprovedIndex findUnprovedPlace(const RangeAnalysis &ranges, mlir::Operation *op);

/// How often a loop runs at most; a loop that may never end has none.
struct LoopRuns {
  bool perDim = false; ///< As often as there are dimensions, and `most` times more.
  int64_t most = 0;
};
std::optional<LoopRuns> runsOf(const RangeAnalysis &ranges, mlir::scf::ForOp loop);

/// "from -128 to 127", of signed or unsigned values.
std::string spellRange(const ranges::IntRange &range, bool isSigned);

} // namespace annudf

#endif // ANNUDF_ANALYSIS_RANGES_H
