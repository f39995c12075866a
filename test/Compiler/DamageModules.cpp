//===- DamageModules.cpp - Makes lowerings fail ---------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DamageModules.h"

#include "../../lib/Compiler/Reproducer.h"

#include "annudf/Dialect/IR/Annudf.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

static void damage(ModuleOp module) {
  module.walk([](annudf::ir::UpdateOp update) {
    OpBuilder builder = OpBuilder::atBlockBegin(update.getHookBlock());
    const Value x = update.getHookBlock()->getArgument(1);
    UnrealizedConversionCastOp::create(builder, update.getLoc(), x.getType(), x);
  });
}

DamageModules::DamageModules() { annudf::compiler::afterVerification = damage; }
DamageModules::~DamageModules() { annudf::compiler::afterVerification = nullptr; }
