//===- AnnudfDialect.cpp - Registration of the annudf dialect -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Dialect/IR/Annudf.h"

#include "annudf/ABI/annudf_abi.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/FoldInterfaces.h"
#include "mlir/Transforms/InliningUtils.h"

using namespace mlir;
using namespace annudf::ir;

#include "annudf/Dialect/IR/AnnudfDialect.cpp.inc"
#include "annudf/Dialect/IR/AnnudfInterfaces.cpp.inc"

std::string annudf::ir::versionName(uint64_t minor) {
  return ANNUDF_ABI_ID " " + std::to_string(ANNUDF_ABI_MAJOR) + "." + std::to_string(minor);
}

LogicalResult annudf::ir::verifyStandsInModule(Operation *op) {
  Operation *parent = op->getParentOp();
  if (parent && parent->hasTrait<OpTrait::SymbolTable>())
    return success();
  const StringRef place = parent ? parent->getName().getStringRef() : "nothing";
  return op->emitOpError() << "[T5] stands in '" << place
                           << "', where no name leads to it; move it to the top of a module, such "
                              "as builtin.module or gpu.module";
}

SmallVector<Operation *> annudf::ir::modulesIn(Operation *root) {
  SmallVector<Operation *> modules;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op->hasTrait<OpTrait::SymbolTable>())
      modules.push_back(op);
  });
  return modules;
}

namespace {
/// Keeps folded constants inside the hook that uses them: a metric's own block
/// holds declarations only.
struct AnnudfFoldInterface : DialectFoldInterface {
  using DialectFoldInterface::DialectFoldInterface;
  bool shouldMaterializeInto(Region *region) const override {
    return isa<HookOpInterface>(region->getParentOp());
  }
};

/// Helpers may be inlined into hooks.
struct AnnudfInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Operation *, bool) const override { return true; }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const override { return true; }
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const override { return true; }
};

/// Bytecode holds properties by position, so what a later minor adds cannot be read.
struct AnnudfBytecodeInterface : BytecodeDialectInterface {
  explicit AnnudfBytecodeInterface(Dialect *dialect) : BytecodeDialectInterface(dialect) {}

  void writeVersion(DialectBytecodeWriter &writer) const override {
    uint64_t minor = ANNUDF_ABI_MINOR;
    FailureOr<const DialectVersion *> chosen = writer.getDialectVersion<AnnudfDialect>();
    if (succeeded(chosen))
      minor = static_cast<const AnnudfVersion *>(*chosen)->minor;
    writer.writeVarInt(minor);
  }

  std::unique_ptr<DialectVersion> readVersion(DialectBytecodeReader &reader) const override {
    uint64_t minor = 0;
    if (failed(reader.readVarInt(minor)))
      return nullptr;
    if (minor > ANNUDF_ABI_MINOR) {
      reader.emitError() << "is of " << versionName(minor) << ", newer than "
                         << versionName(ANNUDF_ABI_MINOR) << ", " << kUseWriter;
      return nullptr;
    }
    return std::make_unique<AnnudfVersion>(minor);
  }
};
} // namespace

namespace {
/// A comparison that asks nothing of its operands. Upstream's canonicalizer of LLVM 22 takes one of
/// a converted integer and a constant for one that cannot be, and crashes; a larger benefit comes
/// first.
struct ConstantComparison : OpRewritePattern<arith::CmpFOp> {
  explicit ConstantComparison(MLIRContext *context) : OpRewritePattern(context, /*benefit=*/100) {}
  LogicalResult matchAndRewrite(arith::CmpFOp op, PatternRewriter &rewriter) const override {
    const bool holds = op.getPredicate() == arith::CmpFPredicate::AlwaysTrue;
    if (!holds && op.getPredicate() != arith::CmpFPredicate::AlwaysFalse)
      return failure();
    TypedAttr value =
        holds ? rewriter.getOneAttr(op.getType()) : rewriter.getZeroAttr(op.getType());
    if (!value)
      return failure();
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, value);
    return success();
  }
};
} // namespace

void AnnudfDialect::getCanonicalizationPatterns(RewritePatternSet &patterns) const {
  patterns.add<ConstantComparison>(getContext());
}

void AnnudfDialect::registerInterfaces() {
  addInterfaces<AnnudfFoldInterface, AnnudfInlinerInterface, AnnudfBytecodeInterface>();
}

void AnnudfDialect::initialize() {
  registerAttributes();
  registerTypes();
  registerOps();
  registerInterfaces();
}
