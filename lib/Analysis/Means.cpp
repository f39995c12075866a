//===- Means.cpp - What finalize leaves of sums less their means ----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// docs/spec/numerics.md, "Less their means", says why each step holds.
//
//===----------------------------------------------------------------------===//

#include "Finalizes.h"
#include "Terms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cstdlib>

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;
using Lengths = QuadraticForm::Lengths;

/// The longest chain of ops that depend on one another. Proved bodies have few.
static constexpr int kMostDepth = 16;

static bool isFloat(Value value) { return value.getType().isF32() || value.getType().isF64(); }

/// A value before conversions that round nothing.
static Value widened(Value value) {
  while (auto op = value.getDefiningOp<arith::ExtFOp>()) {
    if (mayDiffer(op))
      break;
    value = op.getIn();
  }
  return value;
}

std::optional<unsigned> Means::fieldOf(Value value) const {
  auto argument = dyn_cast<BlockArgument>(widened(value));
  if (!argument || argument.getOwner() != &block)
    return std::nullopt;
  return argument.getArgNumber();
}

/// An entry of a capture that is the same for all rows and queries.
static std::optional<Coefficient> entryOf(Value value) {
  auto load = value.getDefiningOp<LoadOp>();
  auto capture = load ? load.getCapture().getDefiningOp<CaptureOp>() : CaptureOp();
  if (!capture)
    return std::nullopt;
  Coefficient entry{Coefficient::Kind::Entry, 0, 0, 0, capture.getName().str(), {}};
  for (Value index : load.getIndices()) {
    auto fixed = index.getDefiningOp<arith::ConstantIndexOp>();
    if (!fixed)
      return std::nullopt;
    entry.indices.push_back({EntryIndex::Kind::Number, fixed.value()});
  }
  return entry;
}

/// n, converted to a float as often as it likes: it is a number of dims, at most 2^20, or a search
/// does not go by the form, so that no format rounds it, and none of its integers is negative.
bool Means::isCount(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp, arith::IndexCastOp,
             arith::IndexCastUIOp, arith::ExtSIOp, arith::ExtUIOp>(op))
      break;
    const Type from = op->getOperand(0).getType(), type = op->getResult(0).getType();
    // In fewer bits it may be another number.
    if (mayDiffer(op) || (isa<FloatType>(type) && !type.isF32() && !type.isF64()) ||
        (from.isInteger() && from.getIntOrFloatBitWidth() < 32))
      return false;
    value = op->getOperand(0);
  }
  std::optional<Coefficient> found;
  FloatAttr constant;
  if (auto index = value.getDefiningOp<IndexOp>()) {
    if (index.getKind() != ScanIndex::Dims)
      return false;
  } else if (matchPattern(value, m_Constant(&constant)) && constant.getValue().isFinite()) {
    found = Coefficient{Coefficient::Kind::Number, constant.getValueAsDouble(), 0, 0, {}, {}};
    if (found->number < 1)
      return false;
  } else {
    found = entryOf(value);
    if (!found)
      return false;
  }
  // One n, written as it was before.
  if (isCounted)
    return count == found;
  isCounted = true;
  count = std::move(found);
  return true;
}

std::optional<Means::Product> Means::productOf(Value value, int depth) {
  if (depth == kMostDepth || !isFloat(value))
    return std::nullopt;
  Product made;
  if (const std::optional<unsigned> field = fieldOf(value)) {
    const auto *const sum = llvm::find(sums, *field);
    if (sum == sums.end())
      return std::nullopt;
    ++made.powers[size_t(sum - sums.begin())];
    return made;
  }
  Operation *op = value.getDefiningOp();
  if (op && isa<arith::MulFOp, arith::DivFOp>(op)) {
    const bool divides = isa<arith::DivFOp>(op);
    if (mayDiffer(op))
      return std::nullopt;
    const auto a = productOf(op->getOperand(0), depth + 1),
               b = productOf(op->getOperand(1), depth + 1);
    // Sums are in numerators alone, so that nothing becomes infinite where they are 0.
    if (!a || !b || (divides && b->powers[0] + b->powers[1] != 0))
      return std::nullopt;
    for (size_t i = 0; i < 2; ++i)
      made.powers[i] = a->powers[i] + b->powers[i];
    made.count = a->count + (divides ? -b->count : b->count);
    made.roundings = {0, a->roundings.f32 + b->roundings.f32, a->roundings.f64 + b->roundings.f64};
    ++(value.getType().isF32() ? made.roundings.f32 : made.roundings.f64);
    // Far from over- and underflow: sums are below 2^43, n is at most 2^20.
    if (made.powers[0] + made.powers[1] > 2 || std::abs(made.count) > 1)
      return std::nullopt;
    return made;
  }
  if (auto narrowed = value.getDefiningOp<arith::TruncFOp>(); narrowed && !mayDiffer(narrowed))
    if (auto product = productOf(narrowed.getIn(), depth + 1);
        product && product->powers[0] + product->powers[1] != 0) {
      ++product->roundings.f32;
      return product;
    }
  if (auto wide = value.getDefiningOp<arith::ExtFOp>(); wide && !mayDiffer(wide))
    if (auto product = productOf(wide.getIn(), depth + 1))
      return product;
  if (!isCount(value))
    return std::nullopt;
  made.count = 1;
  return made;
}

std::optional<unsigned> Means::lessMeans(arith::SubFOp op) {
  const std::optional<unsigned> field = fieldOf(op.getLhs());
  const auto *const square = field ? llvm::find(squares, *field) : squares.end();
  if (square == squares.end())
    return std::nullopt;
  // x², x y and y² have this many x and y.
  const int ofY = static_cast<int>(square - squares.begin());
  const std::optional<Product> product = productOf(op.getRhs());
  if (!product || product->count != -1 || product->powers != std::array{2 - ofY, ofY})
    return std::nullopt;
  Roundings own = product->roundings;
  ++(op.getType().isF32() ? own.f32 : own.f64);
  if (own.f32 > Lengths::kMostRoundings || own.f64 > Lengths::kMostRoundings)
    return std::nullopt;
  roundings.f32 = std::max(roundings.f32, own.f32);
  roundings.f64 = std::max(roundings.f64, own.f64);
  return static_cast<unsigned>(ofY);
}
