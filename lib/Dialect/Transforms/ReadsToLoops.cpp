//===- ReadsToLoops.cpp - Loops that read one coordinate ------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A scan gives a metric each coordinate once. So a read at a constant becomes a loop over all
// coordinates that adds up zeros and the one coordinate, which is that coordinate to the bit.
//
//===----------------------------------------------------------------------===//

#include "PairwiseLoops.h"

#include "annudf/Dialect/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"

#include <map>

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;

namespace annudf {
#define GEN_PASS_DEF_READSTOLOOPSPASS
#include "annudf/Dialect/Transforms/Passes.h.inc"
} // namespace annudf

/// The coordinate that is read, if it is the same in every pair and there for any number of
/// dimensions that the metric takes.
static std::optional<int64_t> constantCoordinate(AtOp read, uint32_t dims) {
  APInt index;
  if (!matchPattern(withoutCasts(read.getIndex()), m_ConstantInt(&index)))
    return std::nullopt;
  const int64_t number = index.getSExtValue();
  return number >= 0 && number < dims ? std::optional(number) : std::nullopt;
}

static Value readByLoop(ImplicitLocOpBuilder &builder, Value vector, int64_t coordinate) {
  const Type type = cast<CoordinatesType>(vector.getType()).getElementType();
  Value begin = arith::ConstantIndexOp::create(builder, 0);
  Value step = arith::ConstantIndexOp::create(builder, 1);
  Value wanted = arith::ConstantIndexOp::create(builder, coordinate);
  Value dims = IndexOp::create(builder, ScanIndex::Dims);
  // -0.0 + v is v for every v; 0.0 + -0.0 is not.
  const TypedAttr nothing = isa<FloatType>(type) ? TypedAttr(builder.getFloatAttr(type, -0.0))
                                                 : builder.getZeroAttr(type);
  Value none = arith::ConstantOp::create(builder, nothing);
  auto loop = scf::ForOp::create(builder, begin, dims, step, ValueRange{none});
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(loop.getBody());
  Value each = AtOp::create(builder, vector, loop.getInductionVar());
  Value isWanted =
      arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, loop.getInductionVar(), wanted);
  Value term = arith::SelectOp::create(builder, isWanted, each, none);
  Value carried = loop.getRegionIterArgs().front();
  Value next = isa<FloatType>(type) ? arith::AddFOp::create(builder, carried, term).getResult()
                                    : arith::AddIOp::create(builder, carried, term).getResult();
  scf::YieldOp::create(builder, next);
  return loop.getResult(0);
}

namespace {
struct ReadsToLoopsPass : annudf::impl::ReadsToLoopsPassBase<ReadsToLoopsPass> {
  void runOnOperation() override {
    for (auto pairwise : collectIn<PairwiseOp>(getOperation()))
      replaceIn(pairwise);
  }

private:
  void replaceIn(PairwiseOp pairwise) {
    DistanceOp distance = pairwise.getDistance();
    Block &block = *distance.getHookBlock();
    auto builder = ImplicitLocOpBuilder::atBlockBegin(distance.getLoc(), &block);
    std::map<std::pair<unsigned, int64_t>, Value> loops;
    SmallVector<AtOp> reads;
    distance->walk([&](AtOp read) { reads.push_back(read); });
    for (AtOp read : reads) {
      auto vector = dyn_cast<BlockArgument>(read.getVector());
      const std::optional<int64_t> coordinate =
          constantCoordinate(read, pairwise.getDims().value_or(1)); // Any vector has one.
      if (!vector || !coordinate)
        continue;
      Value &value = loops[{vector.getArgNumber(), *coordinate}];
      builder.setLoc(read.getLoc());
      if (!value)
        value = readByLoop(builder, vector, *coordinate);
      read.getResult().replaceAllUsesWith(value);
      read.erase();
      ++numReplaced;
    }
  }
};
} // namespace
