//===- BodyRules.cpp - What hooks and helpers may hold -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rules.h"

#include "annudf/Analysis/Ranges.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <algorithm>
#include <string_view>

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;
using namespace annudf::ranges;

// Sorted. An op gets in when both lowerings have it, it is total (or a rule below
// makes it so) and every scalar type that [B2] allows works, or [B3] excludes it.
static constexpr llvm::StringLiteral kAllowedOps[] = {
    "annudf.call",        "annudf.index",   "annudf.load",    "annudf.yield",
    "arith.addf",         "arith.addi",     "arith.andi",     "arith.bitcast",
    "arith.cmpf",         "arith.cmpi",     "arith.constant", "arith.divf",
    "arith.divsi",        "arith.divui",    "arith.extf",     "arith.extsi",
    "arith.extui",        "arith.fptosi",   "arith.fptoui",   "arith.index_cast",
    "arith.index_castui", "arith.maximumf", "arith.maxnumf",  "arith.maxsi",
    "arith.maxui",        "arith.minimumf", "arith.minnumf",  "arith.minsi",
    "arith.minui",        "arith.mulf",     "arith.muli",     "arith.negf",
    "arith.ori",          "arith.remf",     "arith.remsi",    "arith.remui",
    "arith.select",       "arith.shli",     "arith.shrsi",    "arith.shrui",
    "arith.sitofp",       "arith.subf",     "arith.subi",     "arith.truncf",
    "arith.trunci",       "arith.uitofp",   "arith.xori",     "func.call",
    "func.return",        "math.absf",      "math.absi",      "math.acos",
    "math.acosh",         "math.asin",      "math.asinh",     "math.atan",
    "math.atan2",         "math.atanh",     "math.cbrt",      "math.ceil",
    "math.copysign",      "math.cos",       "math.cosh",      "math.ctlz",
    "math.ctpop",         "math.cttz",      "math.erf",       "math.erfc",
    "math.exp",           "math.exp2",      "math.expm1",     "math.floor",
    "math.fma",           "math.isfinite",  "math.isinf",     "math.isnan",
    "math.log",           "math.log10",     "math.log1p",     "math.log2",
    "math.powf",          "math.round",     "math.roundeven", "math.rsqrt",
    "math.sin",           "math.sinh",      "math.sqrt",      "math.tan",
    "math.tanh",          "math.trunc",     "scf.for",        "scf.if",
    "scf.yield"};

// verifyAllowed searches by halves.
static_assert(std::is_sorted(std::begin(kAllowedOps), std::end(kAllowedOps),
                             [](const llvm::StringLiteral &a, const llvm::StringLiteral &b) {
                               return std::string_view(a.data(), a.size()) <
                                      std::string_view(b.data(), b.size());
                             }));

ArrayRef<llvm::StringLiteral> annudf::allowedBodyOps() { return kAllowedOps; }

LogicalResult rules::verifyAllowed(Operation *op) {
  StringRef name = op->getName().getStringRef();
  if (!std::binary_search(std::begin(kAllowedOps), std::end(kAllowedOps), name))
    return op->emitOpError() << "[B1] is not allowed in a body; write it with the scalar ops of "
                                "arith and math, scf.if, scf.for, calls of private helpers, and "
                                "annudf.index, load, call and yield";
  return success();
}

static bool isAllowedType(Type type) {
  return type.isF16() || type.isF32() || type.isF64() || type.isIndex() ||
         type.isSignlessInteger(1) || type.isSignlessInteger(8) || type.isSignlessInteger(16) ||
         type.isSignlessInteger(32) || type.isSignlessInteger(64);
}

/// Ops that only annudf.distance may hold.
static bool isOfDistance(Operation *op) { return isa<AtOp, ScratchOp, GetOp, PutOp>(op); }

static LogicalResult verifyTypes(Operation *op) {
  if (isa<DistanceOp, ScratchOp>(op)) // W3, and the type of scratch itself.
    return success();
  auto check = [op](Type type) -> LogicalResult {
    if (isAllowedType(type))
      return success();
    return op->emitOpError() << "[B2] has a value of type " << type
                             << "; use f16, f32, f64, i1, i8, i16, i32, i64 or index";
  };
  for (Type type : op->getResultTypes())
    if (failed(check(type)))
      return failure();
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Type type : block.getArgumentTypes())
        if (failed(check(type)))
          return failure();
  return success();
}

/// Functions of `math` on f16 would be computed in f32 on one backend, rounded twice
/// (`fma` too), and refused by another, so the author says where the rounding happens. Counting the
/// bits of one bit is a slip.
static LogicalResult verifyMathWidth(Operation *op) {
  if (!isa_and_nonnull<math::MathDialect>(op->getDialect()) ||
      isa<math::AbsFOp, math::CopySignOp>(op))
    return success();
  for (Type type : op->getOperandTypes()) {
    if (type.isF16())
      return op->emitOpError() << "[B3] is not defined for f16 in 1.0; widen with arith.extf, "
                                  "and narrow the result with arith.truncf";
    if (type.isInteger(1))
      return op->emitOpError() << "[B13] is not defined for i1; widen with arith.extui";
  }
  return success();
}

static LogicalResult verifyDivision(Operation *op, const RangeAnalysis &ranges) {
  if (!isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op) ||
      !ranges.isReachable(op))
    return success();
  const bool isSigned = isa<arith::DivSIOp, arith::RemSIOp>(op);
  const IntRange dividend = ranges.at(op->getOpOperand(0));
  const IntRange divisor = ranges.at(op->getOpOperand(1));
  if (divisor.mayBeUnsigned(0))
    return op->emitOpError() << "[B4] may divide by zero, which stops the process on a CPU: the "
                                "divisor is "
                             << spellRange(divisor, isSigned)
                             << "; divide by what cannot be 0, as max(y, 1), or in floating point";
  if (isSigned && divisor.mayBeSigned(-1) && dividend.mayBeSmallest())
    return op->emitOpError() << "[B5] may divide the smallest integer by -1, which overflows: the "
                                "divisor is "
                             << spellRange(divisor, isSigned)
                             << "; divide by what cannot be -1, or subtract from 0 instead";
  return success();
}

static LogicalResult verifyShift(Operation *op, const RangeAnalysis &ranges) {
  if (!isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op) || !ranges.isReachable(op))
    return success();
  Type type = op->getResult(0).getType();
  const unsigned width = integerWidth(type);
  const IntRange amount = ranges.at(op->getOpOperand(1));
  if (amount.umax >= width)
    return op->emitOpError() << "[B6] may shift " << type << " by " << width
                             << " or more bits, which has no value: the amount is "
                             << spellRange(amount, /*isSigned=*/amount.smin < 0)
                             << "; shift by 0 to " << width - 1 << ", such as y & " << width - 1;
  return success();
}

/// Flags promise something about values that nobody checks; a broken promise is poison.
static LogicalResult verifyFlags(Operation *op) {
  if (auto flags = dyn_cast<arith::ArithIntegerOverflowFlagsInterface>(op))
    if (flags.hasNoSignedWrap() || flags.hasNoUnsignedWrap())
      return op->emitOpError() << "[B7] promises not to overflow; drop overflow<nsw, nuw>, "
                                  "integers wrap around";
  if (op->getAttr("isExact"))
    return op->emitOpError() << "[B8] promises an exact result; drop exact";
  if (auto fast = dyn_cast<arith::ArithFastMathInterface>(op))
    if (arith::FastMathFlagsAttr flags = fast.getFastMathFlagsAttr())
      if (arith::bitEnumContainsAny(flags.getValue(),
                                    arith::FastMathFlags::nnan | arith::FastMathFlags::ninf))
        return op->emitOpError() << "[B9] promises that no NaN or infinity occurs; drop nnan, ninf "
                                    "and fast, and keep reassoc, nsz, arcp, contract or afn";
  return success();
}

static LogicalResult verifyConversion(Operation *op) {
  if (isa<arith::FPToSIOp, arith::FPToUIOp>(op) && op->getResult(0).getType().isInteger(1))
    return op->emitOpError() << "[B10] converts to i1; compare with arith.cmpf instead";
  if (auto truncate = dyn_cast<arith::TruncFOp>(op))
    if (truncate.getRoundingmode().value_or(arith::RoundingMode::to_nearest_even) !=
        arith::RoundingMode::to_nearest_even)
      return op->emitOpError() << "[B11] rounds "
                               << arith::stringifyRoundingMode(*truncate.getRoundingmode())
                               << "; only to_nearest_even is the same on every device, so drop it";
  return success();
}

/// A lowering copies attributes that it does not know, and LLVM might. Those of annudf's own ops
/// are rule M15's.
static LogicalResult verifyAttributes(Operation *op, AbiScope scope) {
  if (isa_and_nonnull<AnnudfDialect>(op->getDialect()))
    return success();
  for (NamedAttribute attribute : op->getDiscardableAttrs())
    if (!rules::isLeftAlone(attribute, scope))
      return op->emitOpError() << "[B12] carries attribute '" << attribute.getName().getValue()
                               << "', which has no meaning in a body; drop it";
  return success();
}

static LogicalResult verifyCall(Operation *op, AbiScope scope) {
  auto call = dyn_cast<func::CallOp>(op);
  if (!call)
    return success();
  for (NamedAttribute attribute : call->getAttrs())
    if (attribute.getName() != call.getCalleeAttrName() && !rules::isLeftAlone(attribute, scope))
      return call.emitOpError() << "[F8] carries attribute '" << attribute.getName().getValue()
                                << "', which has no meaning for a call; drop it";
  return success();
}

/// Index and load belong to the hook, whose arguments they stand for.
static LogicalResult verifyScanOps(Operation *op, HookOpInterface hook) {
  if (isa<IndexOp, LoadOp>(op) && !hook)
    return op->emitOpError() << "[F7] cannot stand in a helper; pass its result as an argument";
  auto index = dyn_cast<IndexOp>(op);
  if (!index || hook.hasIndex(index.getKind()))
    return success();
  if (isa<DistanceOp>(hook.getOperation()))
    return rules::refuseIndexOfDistance(index);
  if (isa<KeepOp>(hook.getOperation()))
    return op->emitOpError() << "[K7] " << stringifyEnum(index.getKind())
                             << " has no meaning in a filter, which sees no coordinates; read row, "
                                "query, list or dims";
  if (isa<BodyOp>(hook.getOperation()))
    return op->emitOpError() << "[D7] " << stringifyEnum(index.getKind())
                             << " has no meaning in a function, which is called outside a search; "
                                "take what it needs as an argument";
  return op->emitOpError() << "[H8] " << stringifyEnum(index.getKind())
                           << " has no meaning in annudf." << hook.getHookName()
                           << "; read it in annudf.update"
                           << (index.getKind() == ScanIndex::Row ? " or annudf.finalize" : "");
}

/// A load stays inside its capture, whatever the data.
static LogicalResult verifyLoad(Operation *op, const RangeAnalysis &ranges) {
  auto load = dyn_cast<LoadOp>(op);
  if (!load)
    return success();
  const UnprovedIndex index = findUnprovedIndex(ranges, load);
  switch (index.why) {
  case Inside::Yes:
    return success();
  case Inside::MayBeBelow:
    return op->emitOpError() << "[L2] index of extent " << CaptureType::spellExtent(index.extent)
                             << " may be " << index.smallest
                             << ", but the extent begins at 0; bound it below, as max(i, 0) does";
  case Inside::MayBeAbove:
    return op->emitOpError() << "[L3] index of extent " << CaptureType::spellExtent(index.extent)
                             << " may be as large as " << index.largest
                             << ", but the extent ends at " << index.last
                             << "; bound it above, as min(i, " << index.last << ") does";
  case Inside::Unknown: {
    const std::string extent = CaptureType::spellExtent(index.extent);
    return op->emitOpError() << "[L4] index of extent " << extent
                             << " cannot be proved to be inside it: only annudf.index " << extent
                             << " itself is; index that extent by it, without arithmetic";
  }
  }
  llvm_unreachable("unknown answer");
}

LogicalResult rules::refuseIndexOfDistance(IndexOp index) {
  return index.emitOpError() << "[W14] " << stringifyEnum(index.getKind())
                             << " has no meaning in annudf.distance; use the counter of its loop";
}

/// Coordinates and scratch are read and written where they are, whatever the data.
static LogicalResult verifyPlaces(Operation *op, const RangeAnalysis &ranges) {
  if (isa<ScratchOp>(op) && !isa<DistanceOp>(op->getParentOp()))
    return op->emitOpError() << "[W23] is made in a loop or a branch; make it at the top of the "
                                "distance";
  const UnprovedIndex index = findUnprovedPlace(ranges, op);
  if (index.why == Inside::Yes)
    return success();
  const bool isBelow = index.why == Inside::MayBeBelow, isCoordinate = isa<AtOp>(op);
  if (isCoordinate && isBelow)
    return op->emitOpError() << "[W16] index of a coordinate may be " << index.smallest
                             << ", but the first is 0; bound it below, as max(i, 0) does";
  if (isCoordinate)
    return op->emitOpError() << "[W17] index of a coordinate may be as large as " << index.largest
                             << ", but the last is " << index.last << "; bound it above, as min(i, "
                             << index.last << ") does";
  if (isBelow)
    return op->emitOpError() << "[W18] index of scratch may be " << index.smallest
                             << ", but the first entry is 0; bound it below, as max(i, 0) does";
  return op->emitOpError() << "[W19] index of scratch may be as large as " << index.largest
                           << ", but the last entry is " << index.last
                           << "; bound it above, as min(i, " << index.last << ") does";
}

static LogicalResult verifyOp(Operation *op, HookOpInterface hook, const RangeAnalysis &ranges,
                              AbiScope scope) {
  const bool isInDistance = hook && isa<DistanceOp>(hook.getOperation());
  if (isInDistance && isOfDistance(op))
    return verifyPlaces(op, ranges);
  if (failed(rules::verifyAllowed(op)) || failed(verifyScanOps(op, hook)) ||
      failed(verifyTypes(op)) || failed(verifyLoad(op, ranges)) || failed(verifyMathWidth(op)) ||
      failed(verifyDivision(op, ranges)) || failed(verifyShift(op, ranges)) ||
      failed(verifyFlags(op)) || failed(verifyConversion(op)) || failed(verifyCall(op, scope)) ||
      failed(verifyAttributes(op, scope)))
    return failure();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return isInDistance ? rules::verifyLoopOfDistance(loop, ranges) : rules::verifyLoop(loop);
  return success();
}

LogicalResult rules::verifyBody(Operation *root, AbiCounts &counts, AbiScope scope) {
  auto hook = dyn_cast<HookOpInterface>(root);
  LogicalResult result = verifyTypes(root);
  const RangeAnalysis ranges(root);
  // Ops below a refused op say nothing new.
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == root)
      return WalkResult::advance();
    ++counts.ops;
    if (succeeded(verifyOp(op, hook, ranges, scope)))
      return WalkResult::advance();
    result = failure();
    return WalkResult::skip();
  });
  return result;
}
