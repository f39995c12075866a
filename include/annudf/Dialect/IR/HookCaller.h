//===- HookCaller.h - Calls of hooks, built in kernels ----------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   HookCaller hooks(metric, captures);          // values of HookCaller::captureTypes(metric)
//   SmallVector<Value> acc = hooks.init(b, {.dims = dims});
//   acc = hooks.update(b, acc, x, y, {.dim = d, .dims = dims});
//   Value distance = hooks.finalize(b, acc, {.dims = dims});
//
// Result types, ctx and captures of an op annudf.call_* follow from the hook. The metric stands in
// the module of the kernel. What is passed wrongly is refused by the op's verifier (rules U).
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_DIALECT_IR_HOOKCALLER_H
#define ANNUDF_DIALECT_IR_HOOKCALLER_H

#include "annudf/Dialect/IR/Annudf.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace annudf::ir {

/// Where a kernel is in its scan: values of type index, or null for what no hook reads. A call
/// passes what its hook reads.
struct ScanPlace {
  mlir::Value dim = {}, dims = {}, row = {}, query = {}, list = {};
  mlir::Value &of(ScanIndex kind);
};

/// The indices that ops below `root` read, each once, in the order of ScanIndex.
llvm::SmallVector<ScanIndex> indicesReadIn(mlir::Operation *root);
/// Whether a hook reads a capture that a caller has to pass.
bool readsBoundCapture(HookOpInterface hook);

/// Calls hooks of one metric or filter.
class HookCaller {
public:
  /// \param captures  one value for each type of captureTypes(udf).
  HookCaller(UdfOpInterface udf, mlir::ValueRange captures);

  /// What a kernel takes for the captures without a value, in the order of their declarations:
  /// numbers, and memrefs in the default memory space. Other layouts and spaces are allowed, too.
  static llvm::SmallVector<mlir::Type> captureTypes(UdfOpInterface udf);

  llvm::SmallVector<mlir::Value> init(mlir::ImplicitLocOpBuilder &b, const ScanPlace &at) const;
  llvm::SmallVector<mlir::Value> update(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange acc,
                                        mlir::Value x, mlir::Value y, const ScanPlace &at) const;
  llvm::SmallVector<mlir::Value> combine(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange acc,
                                         mlir::ValueRange other, const ScanPlace &at) const;
  /// The distance, f32. The accumulator is converted where the metric has no such hook.
  mlir::Value finalize(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange acc,
                       const ScanPlace &at) const;
  /// Whether a filter keeps the row, i1.
  mlir::Value keep(mlir::ImplicitLocOpBuilder &b, const ScanPlace &at) const;

private:
  template <typename CallT>
  llvm::SmallVector<mlir::Value> call(mlir::ImplicitLocOpBuilder &b, HookOpInterface hook,
                                      mlir::TypeRange results, mlir::ValueRange values,
                                      ScanPlace at) const;
  MetricOp metric() const;

  mutable UdfOpInterface udf; ///< Methods of ops are not const.
  llvm::SmallVector<mlir::Value> captures;
};

} // namespace annudf::ir

#endif // ANNUDF_DIALECT_IR_HOOKCALLER_H
