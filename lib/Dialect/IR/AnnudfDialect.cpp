//===- AnnudfDialect.cpp - Registration of the annudf dialect -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Dialect/IR/Annudf.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/FoldInterfaces.h"
#include "mlir/Transforms/InliningUtils.h"

using namespace mlir;
using namespace annudf::ir;

#include "annudf/Dialect/IR/AnnudfDialect.cpp.inc"
#include "annudf/Dialect/IR/AnnudfInterfaces.cpp.inc"

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
} // namespace

void AnnudfDialect::registerInterfaces() {
  addInterfaces<AnnudfFoldInterface, AnnudfInlinerInterface>();
}

void AnnudfDialect::initialize() {
  registerAttributes();
  registerTypes();
  registerOps();
  registerInterfaces();
}
