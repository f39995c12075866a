//===- PairwiseLoops.h - Loops of whole-vector distances -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the passes on annudf.pairwise ask about the loops of annudf.distance.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_LIB_DIALECT_TRANSFORMS_PAIRWISELOOPS_H
#define ANNUDF_LIB_DIALECT_TRANSFORMS_PAIRWISELOOPS_H

#include "annudf/Dialect/IR/Annudf.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

#include <optional>

namespace annudf {

/// Ops of a block that a value is computed by.
using Slice = llvm::SetVector<mlir::Operation *>;

/// An integer without the conversions that a frontend puts around a counter.
mlir::Value withoutCasts(mlir::Value value);

/// The value of an integer constant.
std::optional<int64_t> numberOf(mlir::Value value);

/// Whether a loop counts from 0 by 1.
bool countsFromZero(mlir::scf::ForOp loop);

/// Whether a loop is over coordinates, be it over all or not; any metric may have others.
bool isOverCoordinates(mlir::scf::ForOp loop);

/// Takes loops over coordinates out of branches. Bodies compute without an effect, so what a branch
/// does not ask for may be computed; the verifier proves loads and divisors where they are then.
void takeLoopsOutOfBranches(ir::DistanceOp distance);

/// Takes `loop` out of the branches that it stands in, up to the loop or the hook around them.
void takeOutOfBranches(mlir::scf::ForOp loop);

/// Calls `use` with each value that `op` and what it holds take.
template <typename Use> void forEachUsed(mlir::Operation *op, Use use) {
  op->walk([&](mlir::Operation *inner) {
    for (mlir::Value operand : inner->getOperands())
      use(operand);
  });
}

} // namespace annudf

#endif // ANNUDF_LIB_DIALECT_TRANSFORMS_PAIRWISELOOPS_H
