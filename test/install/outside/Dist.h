// Part of the annudf project. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The dialect dist and its lowering.
#ifndef DIST_H
#define DIST_H

#include <annudf/Dialect/IR/Annudf.h>

#include <mlir/IR/Dialect.h>
#include <mlir/IR/OpDefinition.h>
#include <mlir/IR/OpImplementation.h>
#include <mlir/IR/SymbolTable.h>

#include "DistDialect.h.inc"

#define GET_OP_CLASSES
#include "Dist.h.inc"

namespace dist {
/// Makes --convert-dist-to-annudf known.
void registerDistToAnnudfPass();
/// Makes --convert-dist-kernels known, for what calls hooks of metrics.
void registerDistKernelsPass();
} // namespace dist

#endif
