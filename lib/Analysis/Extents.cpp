//===- Extents.cpp - Which index lies inside which extent -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Analysis/Ranges.h"

#include "annudf/ABI/annudf_abi.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <algorithm>

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;
using namespace annudf::ranges;

/// Bits that hold every value of an index, and a sign that is not set.
static unsigned bitsOf(ScanIndex kind) {
  switch (kind) {
  case ScanIndex::Dim:
  case ScanIndex::Dims:
  case ScanIndex::Query:
  case ScanIndex::List:
    return 32;
  case ScanIndex::Row:
    return 64;
  }
  llvm_unreachable("an index that the dialect does not have");
}

IndexOp annudf::sameIndex(Value value) {
  unsigned narrowest = 64;
  while (Operation *op = value.getDefiningOp()) {
    if (auto index = dyn_cast<IndexOp>(op))
      return bitsOf(index.getKind()) <= narrowest ? index : nullptr;
    if (!isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp, arith::ExtUIOp,
             arith::TruncIOp>(op))
      break;
    narrowest = std::min(narrowest, integerWidth(op->getResult(0).getType()));
    value = op->getOperand(0);
  }
  return nullptr;
}

void annudf::shortenIndices(Operation *root) {
  root->walk([](LoadOp load) {
    for (OpOperand &operand : load.getIndicesMutable())
      if (IndexOp index = sameIndex(operand.get()))
        operand.set(index.getResult());
  });
}

// No default: how an index of a new extent is proved to be inside has to be said here.
Inside annudf::isInside(const IntRange &index, std::optional<ScanIndex> same, int64_t extent) {
  switch (CaptureType::kindOf(extent)) {
  case ANNUDF_EXTENT_CONSTANT:
  case ANNUDF_EXTENT_DIM:
    if (index.smin < 0)
      return Inside::MayBeBelow;
    if (extent == CaptureType::kDim)
      return index.dmax < 0 ? Inside::Yes : Inside::MayBeAbove;
    return index.smax < extent ? Inside::Yes : Inside::MayBeAbove;
  // How many there are is known to nobody; that a search has as many, the runtime sees to.
  case ANNUDF_EXTENT_ROW:
    return same == ScanIndex::Row ? Inside::Yes : Inside::Unknown;
  case ANNUDF_EXTENT_QUERY:
    return same == ScanIndex::Query ? Inside::Yes : Inside::Unknown;
  }
  return Inside::Unknown;
}

static std::string spell(Wide value) {
  return value < 0 ? std::to_string(int64_t(value)) : std::to_string(uint64_t(value));
}

/// dims + k where that says more than the number does.
static std::string spellLargest(const IntRange &index) {
  const Wide largestDims = ANNUDF_MAX_DIMS;
  if (index.smax < index.dmax + largestDims || index.smin == index.smax)
    return spell(index.smax);
  if (index.dmax == 0)
    return "dims";
  return index.dmax > 0 ? "dims + " + spell(index.dmax) : "dims - " + spell(-index.dmax);
}

UnprovedIndex annudf::findUnprovedIndex(const RangeAnalysis &ranges, LoadOp load) {
  if (!ranges.isReachable(load))
    return {};
  ArrayRef<int64_t> extents = load.getCapture().getType().getExtents();
  for (unsigned i = 0; i < extents.size(); ++i) {
    const IntRange index = ranges.at(load.getIndicesMutable()[i]);
    IndexOp same = sameIndex(load.getIndices()[i]);
    const auto kind = same ? std::optional(same.getKind()) : std::nullopt;
    if (Inside why = isInside(index, kind, extents[i]); why != Inside::Yes)
      return {why, extents[i], spell(index.smin), spellLargest(index),
              extents[i] > 0 ? spell(extents[i] - 1) : "dims - 1"};
  }
  return {};
}

static UnprovedIndex findUnprovedCoordinate(const RangeAnalysis &ranges, AtOp read) {
  const IntRange index = ranges.at(read.getIndexMutable());
  return {isInside(index, std::nullopt, CaptureType::kDim), CaptureType::kDim, spell(index.smin),
          spellLargest(index), "dims - 1"};
}

static UnprovedIndex findUnprovedEntry(const RangeAnalysis &ranges, OpOperand &operand,
                                       ScratchType scratch) {
  const IntRange index = ranges.at(operand);
  const int64_t entries = scratch.getEntries(), more = entries - 1;
  const bool isBelow = scratch.getPerDim() ? index.dmax < entries : index.smax < entries;
  UnprovedIndex found{Inside::Yes, CaptureType::kDim, spell(index.smin), spellLargest(index),
                      std::to_string(more)};
  if (scratch.getPerDim())
    found.last = more == 0 ? "dims" : more < 0 ? "dims - 1" : "dims + " + std::to_string(more);
  if (index.smin < 0)
    found.why = Inside::MayBeBelow;
  else if (!isBelow)
    found.why = Inside::MayBeAbove;
  return found;
}

UnprovedIndex annudf::findUnprovedPlace(const RangeAnalysis &ranges, Operation *op) {
  if (!ranges.isReachable(op))
    return {};
  if (auto read = dyn_cast<AtOp>(op))
    return findUnprovedCoordinate(ranges, read);
  if (auto get = dyn_cast<GetOp>(op))
    return findUnprovedEntry(ranges, get.getIndexMutable(), get.getScratch().getType());
  if (auto put = dyn_cast<PutOp>(op))
    return findUnprovedEntry(ranges, put.getIndexMutable(), put.getScratch().getType());
  return {};
}

std::optional<LoopRuns> annudf::runsOf(const RangeAnalysis &ranges, scf::ForOp loop) {
  if (!ranges.isReachable(loop))
    return LoopRuns{};
  const IntRange lower = ranges.at(loop->getOpOperand(0)), upper = ranges.at(loop->getOpOperand(1)),
                 step = ranges.at(loop->getOpOperand(2));
  const Wide largest = (Wide(1) << (step.width - 1)) - 1;
  if (!step.isConstant() || step.smin <= 0)
    return std::nullopt;
  // The counter is stepped once more before the last comparison, and must not wrap around.
  if (upper.smax + step.smax > largest ||
      (loop.getUnsignedCmp() && (lower.smin < 0 || upper.smin < 0)))
    return std::nullopt;
  const Wide runs = (upper.smax - lower.smin + step.smin - 1) / step.smin;
  if (runs <= ANNUDF_MAX_TRIP_COUNT)
    return LoopRuns{false, int64_t(std::max<Wide>(runs, 0))};
  const Wide more = upper.dmax - lower.smin;
  if (more > ANNUDF_MAX_TRIP_COUNT)
    return std::nullopt;
  return LoopRuns{true, int64_t(std::max<Wide>(more, 0))};
}

std::string annudf::spellRange(const IntRange &range, bool isSigned) {
  const Wide low = isSigned ? range.smin : range.umin, high = isSigned ? range.smax : range.umax;
  return low == high ? spell(low) : "from " + spell(low) + " to " + spell(high);
}
