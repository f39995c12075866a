//===- Annudf.h - The annudf dialect: attributes, types, ops -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_DIALECT_IR_ANNUDF_H
#define ANNUDF_DIALECT_IR_ANNUDF_H

#include "annudf/ABI/annudf_abi.h"

#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "annudf/Dialect/IR/AnnudfDialect.h.inc"
#include "annudf/Dialect/IR/AnnudfEnums.h.inc"

namespace annudf::ir {
class CaptureOp;
} // namespace annudf::ir

#include "annudf/Dialect/IR/AnnudfInterfaces.h.inc"

#define GET_ATTRDEF_CLASSES
#include "annudf/Dialect/IR/AnnudfAttributes.h.inc"

#define GET_TYPEDEF_CLASSES
#include "annudf/Dialect/IR/AnnudfTypes.h.inc"

namespace annudf::ir {
class BodyOp;
class CombineOp;
class DistanceOp;
class FinalizeOp;
class InitOp;
class KeepOp;
class UpdateOp;

/// [M15]: `op` has no attribute of annudf but those that it declares. A later version may declare
/// more, and a metric that uses them means something else without them.
mlir::LogicalResult verifyKnownAttributes(mlir::Operation *op);
/// [M15]: `op` has no attribute of another dialect either, as an op of an artifact.
mlir::LogicalResult verifyOwnAttributesOnly(mlir::Operation *op);
/// Whether an attribute belongs to another dialect, by its prefix, so that annudf has no say in it.
bool isOfOtherDialect(mlir::NamedAttribute attribute);
/// [T5]: `op` stands at the top of a module of any dialect.
mlir::LogicalResult verifyStandsInModule(mlir::Operation *op);

template <typename ConcreteType>
class KnownAttributes : public mlir::OpTrait::TraitBase<ConcreteType, KnownAttributes> {
public:
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) { return verifyKnownAttributes(op); }
};

template <typename ConcreteType>
class StandsInModule : public mlir::OpTrait::TraitBase<ConcreteType, StandsInModule> {
public:
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) { return verifyStandsInModule(op); }
};

/// What a kernel hands over for an entry of a capture: an i1 as a byte, other integers without
/// their sign. A scalar is handed over as annudf.load gives it.
mlir::Type memrefElementOf(CaptureType capture);

/// The modules that `root` is or holds, of any dialect, those around others first.
llvm::SmallVector<mlir::Operation *> modulesIn(mlir::Operation *root);

/// The ops of one kind at the top of the modules that `root` is or holds.
template <typename OpT> llvm::SmallVector<OpT> collectIn(mlir::Operation *root) {
  llvm::SmallVector<OpT> found;
  for (mlir::Operation *module : modulesIn(root))
    for (OpT op : module->getRegion(0).getOps<OpT>())
      found.push_back(op);
  return found;
}

/// "annudf.accumulator.v1 1.0", for messages.
std::string versionName(uint64_t minor);
/// What a message about bytecode of a newer version ends with: it is not damaged.
inline constexpr const char *kUseWriter = "which this reader knows; use the version that wrote it";

/// The version of the dialect that bytecode carries: the minor of annudf.accumulator.v1
/// that its metrics need. A writer that knows a smaller one than its own says so by
/// BytecodeWriterConfig::setDialectVersion.
struct AnnudfVersion : mlir::DialectVersion {
  explicit AnnudfVersion(uint64_t minor) : minor(minor) {}
  uint64_t minor;
};
} // namespace annudf::ir

#define GET_OP_CLASSES
#include "annudf/Dialect/IR/AnnudfOps.h.inc"

#endif // ANNUDF_DIALECT_IR_ANNUDF_H
