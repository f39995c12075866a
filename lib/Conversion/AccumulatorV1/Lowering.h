//===- Lowering.h - What both lowerings of a metric share -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A metric is lowered in two steps: first its hooks become functions of the ABI
// whose bodies still hold arith, math and scf (LowerHooks), then those bodies
// become the LLVM dialect (LowerBodies). Targets differ only in what is below; of
// another ABI (CuvsMetricV1) the first step alone is another.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_LIB_CONVERSION_ACCUMULATORV1_LOWERING_H
#define ANNUDF_LIB_CONVERSION_ACCUMULATORV1_LOWERING_H

#include "annudf/Analysis/ProvedFacts.h"
#include "annudf/Analysis/Ranges.h"
#include "annudf/Conversion/Passes.h"

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Transforms/DialectConversion.h"

namespace annudf::lowering {

enum class TargetKind { Nvvm, Host };

struct TargetInfo {
  TargetKind kind;
  const char *passName;        ///< For messages.
  unsigned globalAddressSpace; ///< A capture's array's.
  unsigned tableAddressSpace;  ///< For a constant table that fits kMaxConstantTable.
  const char *triple, *dataLayout;
  CodeTarget code; ///< The ABI.
};

/// Larger tables go to global memory: a GPU has 64 KiB of constant memory for a
/// whole kernel, and a table is one metric's share.
inline constexpr int64_t kMaxConstantTable = 16 * 1024;

struct LoweringCounts {
  int slots = 0, tables = 0;
};

/// Arguments of a hook's function that its body may use; null where the hook has none.
struct HookArguments {
  mlir::Value dim, dims, row, query, list, slots;
  /// Address of the one array that is bound, where an ABI hands over that instead of slots.
  mlir::Value capture = {};
};

/// Leaves in the module the metric called `name` (empty: the only one) alone, with its
/// helpers inlined and under a name that no function of the ABI has.
/// \param given  what it was called.
/// \param facts  what is proved of it as it was written, and the target wants told.
mlir::FailureOr<ir::UdfOpInterface> isolateMetric(mlir::ModuleOp module, llvm::StringRef name,
                                                  const TargetInfo &target, std::string &given,
                                                  ProvedFacts *facts = nullptr);

/// Replaces the metric called `name` (empty: the only one) by functions of the ABI
/// and removes all other metrics.
/// \param exported  gets the symbol of a device function.
mlir::LogicalResult lowerHooks(mlir::ModuleOp module, llvm::StringRef name,
                               const TargetInfo &target, LoweringCounts &counts,
                               std::string &exported);

/// Builds the function that callers know as `symbol`.
mlir::LogicalResult lowerFunction(mlir::ModuleOp module, ir::FunctionOp function,
                                  llvm::StringRef symbol, const TargetInfo &target,
                                  LoweringCounts &counts);

/// Copies the body of a hook to the insertion point. Returns what it yields.
llvm::SmallVector<mlir::Value> cloneBody(mlir::OpBuilder &builder, ir::HookOpInterface hook,
                                         mlir::ValueRange arguments);

/// Replaces it by the function of ANNUDF_CUVS_METRIC_ABI_ID, if it needs no more than that ABI has.
/// The function's name is left in `target`.
mlir::LogicalResult lowerToCuvsMetric(mlir::ModuleOp module, llvm::StringRef name,
                                      TargetInfo &target, LoweringCounts &counts);

/// Every load of the metric's hooks reads inside its capture, by the same proof as the
/// verifier's: what comes here may have been changed since, or never have been verified.
mlir::LogicalResult proveLoads(ir::UdfOpInterface metric, const TargetInfo &target);

/// Makes one operation of a product and the one addition or subtraction that uses it. It comes
/// before anything that a target alone does, so that all fuse the same.
void fuseProducts(mlir::ModuleOp module, const TargetInfo &target);

/// Makes selects of the branches of the metric's hooks, for a GPU of small ones. For a host, whose
/// lanes are rows, it unrolls short loops first. What comes of it has to be proved again.
void straightenBranches(ir::UdfOpInterface metric, const TargetInfo &target);

/// Adds a constant, kSlowRowsSymbol, where something may keep rows from being lanes.
void tellSlowRows(mlir::ModuleOp module, ir::UdfOpInterface metric);

/// Replaces every annudf.index and annudf.load in `function`, which proveLoads has seen.
mlir::LogicalResult lowerAccesses(mlir::func::FuncOp function, ir::UdfOpInterface metric,
                                  const HookArguments &arguments, const TargetInfo &target,
                                  LoweringCounts &counts);

/// Arguments of the hook of a distance of whole vectors.
struct VectorArguments {
  mlir::Value query, stored, dims, scratch;
};

/// Replaces what reads coordinates, and scratch, in a function that proveVectors has seen.
void lowerVectors(mlir::func::FuncOp function, const VectorArguments &arguments);

/// Every coordinate and entry of scratch is inside, and loops end, by the same proof as the
/// verifier's.
mlir::LogicalResult proveVectors(ir::PairwiseOp pairwise, const TargetInfo &target);

/// Replaces every annudf.call by a call of the declared function, every annudf.extern by that.
mlir::LogicalResult lowerExterns(mlir::ModuleOp module, const TargetInfo &target);

/// Converts all functions of the module to the LLVM dialect.
mlir::LogicalResult lowerBodies(mlir::ModuleOp module, const TargetInfo &target);

/// Patterns for arith and for calls.
void populateArithPatterns(mlir::LLVMTypeConverter &converter, mlir::RewritePatternSet &patterns);

/// Patterns for math, and for the arith ops whose meaning annudf fixes more tightly
/// than arith does or that LLVM gets wrong on a GPU.
void populateMathPatterns(mlir::LLVMTypeConverter &converter, mlir::RewritePatternSet &patterns,
                          const TargetInfo &target);

/// Both steps, and the attributes of the result.
mlir::LogicalResult lowerMetric(mlir::ModuleOp module, llvm::StringRef name, TargetInfo target,
                                LoweringCounts &counts);

} // namespace annudf::lowering

#endif // ANNUDF_LIB_CONVERSION_ACCUMULATORV1_LOWERING_H
