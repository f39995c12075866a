//===- KernelWriter.h - Kernels of exact search -*- C++ -*- --------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_LIB_DIALECT_TRANSFORMS_KERNELWRITER_H
#define ANNUDF_LIB_DIALECT_TRANSFORMS_KERNELWRITER_H

#include "annudf/Dialect/IR/Annudf.h"

#include "mlir/IR/Builders.h"

namespace annudf {

/// The most rows that a kernel finds for a query: a thread keeps one.
inline constexpr int64_t kMaxNeighbors = 128;

/// Write gpu.funcs where `builder` stands, as annudf-build-kernel describes them. The metric has to
/// keep the rules and to stand in the same module; `element` is none but bits.
void writeAllDistances(mlir::OpBuilder &builder, ir::MetricOp metric, ir::Element element,
                       llvm::StringRef name);
void writeKNearest(mlir::OpBuilder &builder, ir::MetricOp metric, ir::Element element,
                   llvm::StringRef name, int64_t k);

} // namespace annudf

#endif // ANNUDF_LIB_DIALECT_TRANSFORMS_KERNELWRITER_H
