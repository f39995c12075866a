//===- Frontend.h - Steps of annudf-import-frontend -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The steps, in the order in which the pass takes them. Each reports what it cannot do
// as a diagnostic with a label P of docs/spec/rules.md, at a location that the frontend gave,
// and fails. Between the steps a hook may have several blocks, so nothing verifies
// before the last.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_LIB_FRONTEND_NUMBACUDAMLIR_FRONTEND_H
#define ANNUDF_LIB_FRONTEND_NUMBACUDAMLIR_FRONTEND_H

#include "annudf/Dialect/IR/Annudf.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"
#include "llvm/ADT/APInt.h"

#include <optional>

namespace annudf::frontend {

/// Most operations of one hook with its functions inlined: twice over what a body of the
/// largest size that S5 allows needs, so that chains of helpers cannot eat the memory.
inline constexpr int64_t kMaxImportedOps = 32768;
/// Most operations that inlining writes on the way, in functions that call functions.
inline constexpr int64_t kMaxCopiedOps = 8 * kMaxImportedOps;
/// Most blocks of one hook with its functions inlined.
inline constexpr int64_t kMaxImportedBlocks = 2048;
/// Deepest nesting of branches and loops, so that every reader of the result, who may
/// recurse, has room.
inline constexpr int kMaxNesting = 48;
/// Most values of one slot.
inline constexpr int64_t kMaxSlotEntries = 16;

/// Names of attributes of the frontend form.
inline constexpr llvm::StringLiteral kCaptureAttr = "annudf.capture";
inline constexpr llvm::StringLiteral kVariableAttr = "annudf.variable";
/// On a cast without operands: the value that a variable has before it is assigned.
inline constexpr llvm::StringLiteral kUnassignedAttr = "annudf.unassigned";

/// On a cast of two numbers to one: the shift that it stands for.
inline constexpr llvm::StringLiteral kShiftAttr = "annudf.shift";

/// Every op is one of the frontend form (Form.cpp).
mlir::LogicalResult checkForm(mlir::ModuleOp module);

/// Replaces all calls in hooks by the functions' bodies, blocks and all, and counts those;
/// the functions' slots are values by then, and counted in `slots` (Inline.cpp).
mlir::FailureOr<int64_t> inlineCalls(mlir::ModuleOp module, int64_t &slots);

/// Replaces what hooks get from `ctx` by the metric's captures (Context.cpp).
mlir::LogicalResult resolveContext(ir::UdfOpInterface metric);

/// Replaces the slots of a hook or function by values (Memory.cpp).
mlir::FailureOr<int64_t> promoteSlots(mlir::Operation *root);

/// Makes every region below `root` one block: loops to scf.for, branches to scf.if
/// (ControlFlow.cpp).
mlir::FailureOr<int64_t> structureRegions(mlir::Operation *root);
mlir::FailureOr<int64_t> structureRegion(mlir::Region &region);
/// Turns the loops of a region into scf.for; the region keeps its other blocks (Loops.cpp).
mlir::FailureOr<int64_t> convertLoops(mlir::Region &region);

/// `a and b`, `a or b` and `a < b < c` become one branch (ShortCircuit.cpp).
void mergeConditions(mlir::Region &region);

/// Unrolls loops whose counter is an amount to shift by or a divisor; whether there was
/// one (Unroll.cpp).
bool unrollForConstants(ir::UdfOpInterface metric);

/// No variable is read before it is assigned (Assigned.cpp).
mlir::LogicalResult checkAssigned(ir::UdfOpInterface metric);

/// Remarks on arithmetic that is slow on a GPU and was probably not meant (Form.cpp).
void remarkOnF64(ir::UdfOpInterface metric);

/// Simplification that keeps every bit (Simplify.cpp).
mlir::FrozenRewritePatternSet getSimplifications(mlir::MLIRContext *context);
void simplify(ir::UdfOpInterface metric, const mlir::FrozenRewritePatternSet &patterns);

/// Puts casts in the place of shifts. Simplification makes shifts of those whose amount
/// is a constant below the width; of the others upstream's folding would make poison, and
/// of that any value (Shifts.cpp).
void guardShifts(ir::UdfOpInterface metric);
void addShiftPatterns(mlir::RewritePatternSet &patterns);
/// Makes shifts of what is left, for annudf-verify-abi to look at (Shifts.cpp).
mlir::LogicalResult restoreShifts(ir::UdfOpInterface metric);

/// The result of an operation on integers, if it is one that computes only (Evaluate.cpp).
std::optional<llvm::APInt> evaluate(mlir::Operation *op, llvm::ArrayRef<llvm::APInt> operands);
/// Width of an integer or index, 0 for other types (Evaluate.cpp).
unsigned integerWidth(mlir::Type type);

} // namespace annudf::frontend

#endif // ANNUDF_LIB_FRONTEND_NUMBACUDAMLIR_FRONTEND_H
