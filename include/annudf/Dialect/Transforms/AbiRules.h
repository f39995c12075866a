//===- AbiRules.h - The rules of annudf.accumulator.v1 -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules behind annudf-verify-abi, for callers that hold a module and want no
// pass manager, and the limits of docs/spec/abi.md, 5. A lowering may rely on
// whatever these rules refuse not to reach it.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_DIALECT_TRANSFORMS_ABIRULES_H
#define ANNUDF_DIALECT_TRANSFORMS_ABIRULES_H

#include "annudf/ABI/TargetAbi.h"
#include "annudf/Dialect/IR/Annudf.h"

#include <cstdint>

namespace annudf {

class SizeCounter;

/// Most iterations of one loop.
inline constexpr int64_t kMaxTripCount = ANNUDF_MAX_TRIP_COUNT;
/// Most weight of one hook, its loops unrolled and its helpers inlined.
inline constexpr int64_t kMaxUnrolledOps = ANNUDF_MAX_UNROLLED_OPS;
/// Most operations of a module, helpers that nothing calls included.
inline constexpr int64_t kMaxModuleOps = ANNUDF_MAX_MODULE_OPS;

/// What a module may hold beside metrics.
enum class AbiScope {
  Artifact,  ///< Helpers and linked code: the module is compiled for a scan, which knows no others.
  AnyModule, ///< Anything, metrics in nested modules too: only what a metric reaches is checked.
};

/// What a verification looked at.
struct AbiCounts {
  int64_t metrics = 0;
  int64_t ops = 0;         ///< In hooks and helpers.
  int64_t maxUnrolled = 0; ///< Weight of the largest hook.
};

/// Checks every metric of `module`. Each broken rule is one diagnostic that starts
/// with the rule's label.
mlir::LogicalResult verifyAbi(mlir::ModuleOp module, AbiCounts *counts = nullptr,
                              AbiScope scope = AbiScope::Artifact);

/// Whether `module` holds only what an artifact may hold beside metrics [T1], [T2], and no
/// attribute of another dialect on ops of annudf [M15]. Lowerings ask again.
mlir::LogicalResult verifyArtifactModule(mlir::ModuleOp module);

/// The power of dims that the steps of a verified distance of whole vectors grow with: 0 to 2.
/// \param counter  told how often loops run.
int costOf(ir::DistanceOp distance, SizeCounter *counter = nullptr);

/// Fails where annudf makes code for no ABI of that name [T4].
mlir::LogicalResult checkTargetAbi(mlir::ModuleOp module, llvm::StringRef abi);

/// Whether a verified metric or filter needs no more than ANNUDF_CUVS_METRIC_ABI_ID has [R...].
mlir::LogicalResult verifyCuvsMetric(ir::UdfOpInterface udf);

/// Whether the function of that ABI may be called so [R13].
mlir::LogicalResult verifyCuvsSymbol(ir::UdfOpInterface udf, llvm::StringRef symbol);

/// Names of all ops that a hook or helper may hold, sorted. A lowering has to know them all.
llvm::ArrayRef<llvm::StringLiteral> allowedBodyOps();

} // namespace annudf

#endif // ANNUDF_DIALECT_TRANSFORMS_ABIRULES_H
