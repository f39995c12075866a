//===- Memory.cpp - From variables in memory to values -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Frontend.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "mlir/Transforms/Mem2Reg.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::frontend;
using namespace annudf::ir;

static bool isSlotElement(Type type) {
  return integerWidth(type) || type.isF16() || type.isF32() || type.isF64();
}

/// The entry that a load or store of a slot takes, if it is known and there.
static std::optional<int64_t> entryOf(Operation *access, memref::AllocaOp slot) {
  ValueRange indices;
  if (auto load = dyn_cast<memref::LoadOp>(access))
    indices = load.getIndices();
  else if (auto store = dyn_cast<memref::StoreOp>(access);
           store && store.getValueToStore() != slot.getResult())
    indices = store.getIndices();
  APInt index;
  if (indices.size() != 1 || !matchPattern(indices[0], m_ConstantInt(&index)) ||
      index.uge(slot.getType().getDimSize(0)))
    return std::nullopt;
  return index.getSExtValue();
}

static LogicalResult checkSlot(memref::AllocaOp slot) {
  MemRefType type = slot.getType();
  if (!type.hasStaticShape() || type.getRank() != 1 || type.getDimSize(0) < 1 ||
      type.getDimSize(0) > kMaxSlotEntries || !type.getLayout().isIdentity() ||
      !isSlotElement(type.getElementType()) || slot->getNumOperands())
    return emitError(slot.getLoc())
           << "[P6] has a variable of type " << type
           << "; a metric's variables are numbers: f16, f32, f64, booleans and integers";
  for (Operation *user : slot->getUsers())
    if (!entryOf(user, slot))
      return emitError(user->getLoc())
             << "[P7] takes a variable's address; a metric cannot use lists and arrays of its own";
  return success();
}

static LogicalResult checkSlots(Operation *root) {
  LogicalResult result = success();
  root->walk([&](memref::AllocaOp slot) {
    if (failed(checkSlot(slot)))
      result = failure();
  });
  return result;
}

static void moveAccess(Operation *access, Value slot, Value zero) {
  OpBuilder builder(access);
  if (auto load = dyn_cast<memref::LoadOp>(access))
    load.getResult().replaceAllUsesWith(
        memref::LoadOp::create(builder, load.getLoc(), slot, zero).getResult());
  else
    memref::StoreOp::create(builder, access->getLoc(),
                            cast<memref::StoreOp>(access).getValueToStore(), slot, zero);
  access->erase();
}

/// One slot an entry. The new ones stand where the old one stood, because one inside a
/// loop is a new variable in every iteration.
static void splitSlots(Operation *root) {
  SmallVector<memref::AllocaOp> slots;
  root->walk([&](memref::AllocaOp slot) { slots.push_back(slot); });
  for (memref::AllocaOp slot : slots) {
    OpBuilder builder(slot);
    Value zero = arith::ConstantIndexOp::create(builder, slot.getLoc(), 0);
    SmallVector<memref::AllocaOp> parts(slot.getType().getDimSize(0));
    auto type = MemRefType::get({1}, slot.getType().getElementType());
    for (Operation *user : llvm::make_early_inc_range(slot->getUsers())) {
      memref::AllocaOp &part = parts[*entryOf(user, slot)];
      if (!part) {
        part = memref::AllocaOp::create(builder, slot.getLoc(), type);
        if (Attribute name = slot->getAttr(kVariableAttr))
          part->setAttr(kVariableAttr, name);
      }
      moveAccess(user, part, zero);
    }
    slot.erase();
  }
}

/// Whether an i8 is 0 or 1, given slots that are.
static bool isBoolean(Value value, const llvm::DenseSet<Operation *> &slots) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.ult(2);
  Operation *op = value.getDefiningOp();
  if (auto extend = dyn_cast_or_null<arith::ExtUIOp>(op))
    return extend.getIn().getType().isInteger(1);
  if (auto load = dyn_cast_or_null<memref::LoadOp>(op))
    return slots.contains(load.getMemRef().getDefiningOp());
  return false;
}

/// A frontend keeps booleans as bytes. Slots that never hold anything else become slots of
/// i1, so that what is computed from them does, too.
static void narrowBooleans(Operation *root) {
  llvm::DenseSet<Operation *> slots;
  root->walk([&](memref::AllocaOp slot) {
    if (slot.getType().getElementType().isInteger(8))
      slots.insert(slot);
  });
  bool changed = !slots.empty();
  while (changed) {
    changed = false;
    for (Operation *slot : llvm::to_vector(slots))
      for (Operation *user : slot->getUsers())
        if (auto store = dyn_cast<memref::StoreOp>(user);
            store && !isBoolean(store.getValueToStore(), slots)) {
          changed |= slots.erase(slot);
          break;
        }
  }
  for (Operation *slot : slots) {
    OpBuilder builder(slot);
    Type bit = builder.getI1Type();
    auto narrow = memref::AllocaOp::create(builder, slot->getLoc(), MemRefType::get({1}, bit));
    narrow->setDiscardableAttrs(slot->getDiscardableAttrDictionary());
    for (Operation *user : llvm::make_early_inc_range(slot->getUsers())) {
      builder.setInsertionPoint(user);
      Location loc = user->getLoc();
      if (auto load = dyn_cast<memref::LoadOp>(user)) {
        Value value = memref::LoadOp::create(builder, loc, narrow, load.getIndices());
        load.getResult().replaceAllUsesWith(
            arith::ExtUIOp::create(builder, loc, load.getType(), value));
      } else {
        auto store = cast<memref::StoreOp>(user);
        Value value = arith::TruncIOp::create(builder, loc, bit, store.getValueToStore());
        memref::StoreOp::create(builder, loc, value, narrow, store.getIndices());
      }
      user->erase();
    }
    slot->erase();
  }
}

/// What a variable holds before it is assigned, so that checkAssigned finds who reads it.
static void markUnassigned(memref::AllocaOp slot) {
  OpBuilder builder(slot);
  builder.setInsertionPointAfter(slot);
  Location loc = slot.getLoc();
  auto none = UnrealizedConversionCastOp::create(
      builder, loc, TypeRange(slot.getType().getElementType()), ValueRange());
  auto name = slot->getAttrOfType<StringAttr>(kVariableAttr);
  none->setAttr(kUnassignedAttr, name ? name : builder.getStringAttr(""));
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  memref::StoreOp::create(builder, loc, none.getResult(0), slot, zero);
}

FailureOr<int64_t> frontend::promoteSlots(Operation *root) {
  if (failed(checkSlots(root)))
    return failure();
  splitSlots(root);
  narrowBooleans(root);
  SmallVector<PromotableAllocationOpInterface> slots;
  root->walk([&](memref::AllocaOp slot) {
    markUnassigned(slot);
    slots.push_back(slot);
  });
  int64_t count = slots.size();
  OpBuilder builder(root->getContext());
  DominanceInfo dominance(root);
  (void)tryToPromoteMemorySlots(slots, builder, DataLayout::closest(root), dominance);
  LogicalResult result = success();
  root->walk([&](memref::AllocaOp slot) {
    result = emitError(slot.getLoc())
             << "[P8] has a variable that is assigned inside scf.if or scf.for; branch with "
                "cf.br and cf.cond_br where variables are in memory";
  });
  return failed(result) ? FailureOr<int64_t>() : count;
}
