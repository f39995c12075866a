//===- StraightenBranches.cpp - Branches that become selects --------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A CPU's scan has rows as its lanes, and LLVM makes no vectors of a loop over rows that loads, or
// calls a function of libm, below a condition. Here it is known that both are safe: an index can
// be kept inside its extent, which has an entry at least, and arithmetic has no effect. So both
// sides of a branch are computed and its results selected.
//
// A GPU's threads skip a side that none of them takes, but a branch keeps the coordinates that a
// scan has unrolled from being computed side by side. So only its small branches become selects.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "annudf/Analysis/Ranges.h"
#include "annudf/Analysis/Size.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;
using namespace annudf::lowering;

namespace {

/// What a loop may weigh that is unrolled. LLVM makes no vectors of rows around a loop, and unrolls
/// fewer by itself; of larger ones the copies would take long to optimise.
constexpr uint64_t kMostUnrolled = 256;

/// Up to this weight of both sides a GPU selects. Lighter branches took up to 5.8 times as long as
/// selects, heavier ones less than twice. The price: a side of this weight that no thread takes is
/// 1.6 times as dear as it was (docs/results/reasons.md, "Branches and selects").
constexpr uint64_t kMostSelectedOnGpu = 19;

class Straightening {
public:
  Straightening(HookOpInterface hook, const TargetInfo &target)
      : hook(hook), target(target), builder(hook->getLoc(), hook->getContext()) {}

  void run() {
    if (target.kind == TargetKind::Host) {
      SmallVector<scf::ForOp> loops; // Inner ones first.
      hook->walk([&](scf::ForOp loop) { loops.push_back(loop); });
      for (scf::ForOp loop : loops)
        unroll(loop);
    }
    SmallVector<scf::IfOp> branches; // Here, too.
    hook->walk([&](scf::IfOp branch) { branches.push_back(branch); });
    for (scf::IfOp branch : branches)
      if (isSmall(branch) && isSpeculatable(branch.getThenRegion()) &&
          isSpeculatable(branch.getElseRegion())) {
        straighten(branch);
        changed = true;
      }
    if (changed)
      guard();
  }

private:
  /// Whether to compute both sides costs no more than to branch.
  bool isSmall(scf::IfOp branch) const {
    uint64_t weight = 0;
    branch->walk([&](Operation *op) {
      if (op != branch && !isa<arith::ConstantOp, scf::YieldOp>(op))
        weight += weightOf(op);
    });
    return target.kind == TargetKind::Host || weight <= kMostSelectedOnGpu;
  }

  bool isSpeculatable(Region &region) const {
    return region.empty() || llvm::all_of(region.front().without_terminator(),
                                          [&](Operation &op) { return isSpeculatable(&op); });
  }

  /// Whether it may be computed where nobody wants its result, once guarded.
  bool isSpeculatable(Operation *op) const {
    if (auto load = dyn_cast<LoadOp>(op))
      return canClamp(load);
    // The host has it for one row at a time: where few rows want it, few should pay.
    if (isa<arith::RemFOp>(op))
      return false;
    if (isa_and_present<math::MathDialect>(op->getDialect()))
      return target.kind == TargetKind::Nvvm || hasVectorMath();
    return isa<IndexOp, LLVM::FMAOp, LLVM::FMulAddOp>(op) ||
           isa_and_present<arith::ArithDialect>(op->getDialect());
  }

  static bool canClamp(LoadOp load) {
    return llvm::all_of(
        llvm::zip(load.getCapture().getType().getExtents(), load.getIndices()),
        [](auto pair) { return canClamp(std::get<0>(pair), sameIndex(std::get<1>(pair))); });
  }

  /// How many rows or queries there are is not known here.
  static bool canClamp(int64_t extent, IndexOp same) {
    switch (CaptureType::kindOf(extent)) {
    case ANNUDF_EXTENT_CONSTANT:
    case ANNUDF_EXTENT_DIM:
      return true;
    case ANNUDF_EXTENT_ROW:
      return same && same.getKind() == ScanIndex::Row;
    case ANNUDF_EXTENT_QUERY:
      return same && same.getKind() == ScanIndex::Query;
    }
    return false;
  }

  /// Asked of a host. Without it a function of libm is called for one row at a time
  /// (VectorMath.cpp).
  bool hasVectorMath() const {
    const llvm::Triple triple(target.triple);
    return triple.isOSLinux() && triple.getArch() == llvm::Triple::x86_64;
  }

  static uint64_t weigh(Operation *op) {
    uint64_t weight = 0;
    op->walk([&](Operation *inner) { weight += weightOf(inner); });
    return weight;
  }

  void unroll(scf::ForOp loop) {
    const std::optional<LoopBounds> bounds = LoopBounds::of(loop);
    if (!bounds || llvm::SaturatingMultiply<uint64_t>(bounds->trips(), weigh(loop)) > kMostUnrolled)
      return;
    builder.setInsertionPoint(loop);
    builder.setLoc(loop.getLoc());
    SmallVector<Value> carried(loop.getInitArgs());
    llvm::APInt counter = bounds->lower;
    for (int64_t trip = 0; trip < bounds->trips(); ++trip, counter += bounds->step) {
      IRMapping mapping;
      mapping.map(loop.getInductionVar(), constant(loop.getInductionVar(), counter));
      mapping.map(loop.getRegionIterArgs(), carried);
      for (Operation &op : loop.getBody()->without_terminator())
        builder.clone(op, mapping);
      for (auto [value, yielded] : llvm::zip(carried, loop.getYieldedValues()))
        value = mapping.lookupOrDefault(yielded);
    }
    loop.replaceAllUsesWith(carried);
    loop.erase();
    changed = true;
  }

  void straighten(scf::IfOp branch) {
    SmallVector<Value> sides[2];
    for (Region *region : {&branch.getThenRegion(), &branch.getElseRegion()}) {
      if (region->empty())
        continue;
      Block &block = region->front();
      for (Operation &op : llvm::make_early_inc_range(block.without_terminator()))
        op.moveBefore(branch);
      llvm::append_range(sides[region == &branch.getElseRegion()],
                         block.getTerminator()->getOperands());
    }
    builder.setInsertionPoint(branch);
    builder.setLoc(branch.getLoc());
    for (auto [result, taken, other] : llvm::zip(branch.getResults(), sides[0], sides[1]))
      result.replaceAllUsesWith(
          arith::SelectOp::create(builder, branch.getCondition(), taken, other).getResult());
    branch.erase();
  }

  /// What a condition had proved is proved again without it. Where the condition holds nothing
  /// changes, so no result does.
  void guard() {
    const RangeAnalysis ranges(hook);
    SmallVector<Operation *> ops;
    hook->walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops) {
      if (!ranges.isReachable(op))
        continue;
      builder.setInsertionPoint(op);
      builder.setLoc(op->getLoc());
      if (auto load = dyn_cast<LoadOp>(op))
        clamp(load, ranges);
      else if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op))
        guardDivision(op, ranges);
      else if (isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op))
        guardShift(op, ranges);
    }
  }

  void clamp(LoadOp load, const RangeAnalysis &ranges) {
    ArrayRef<int64_t> extents = load.getCapture().getType().getExtents();
    for (OpOperand &index : load.getIndicesMutable()) {
      const int64_t extent = extents[index.getOperandNumber() - 1]; // The first is the capture.
      IndexOp same = sameIndex(index.get());
      if (isInside(ranges.at(index), same ? std::optional(same.getKind()) : std::nullopt, extent) ==
          Inside::Yes)
        continue;
      index.set(arith::MinUIOp::create(builder, index.get(), lastOf(extent)));
    }
  }

  /// Its last entry; canClamp lets no other extent come here.
  Value lastOf(int64_t extent) {
    if (extent > 0)
      return arith::ConstantIndexOp::create(builder, extent - 1);
    return arith::SubIOp::create(builder,
                                 IndexOp::create(builder, builder.getIndexType(), ScanIndex::Dims),
                                 arith::ConstantIndexOp::create(builder, 1));
  }

  void guardDivision(Operation *op, const RangeAnalysis &ranges) {
    const bool isSigned = isa<arith::DivSIOp, arith::RemSIOp>(op);
    const ranges::IntRange dividend = ranges.at(op->getOpOperand(0));
    const ranges::IntRange divisor = ranges.at(op->getOpOperand(1));
    const bool mayOverflow = isSigned && divisor.mayBeSigned(-1) && dividend.mayBeSmallest();
    if (!divisor.mayBeUnsigned(0) && !mayOverflow)
      return;
    Value by = op->getOperand(1);
    Value refused = isEqual(by, llvm::APInt(divisor.width, 0));
    if (mayOverflow)
      refused = arith::OrIOp::create(
          builder, refused,
          arith::AndIOp::create(
              builder, isEqual(by, llvm::APInt::getAllOnes(divisor.width)),
              isEqual(op->getOperand(0), llvm::APInt::getSignedMinValue(divisor.width))));
    op->setOperand(1, arith::SelectOp::create(builder, refused,
                                              constant(by, llvm::APInt(divisor.width, 1)), by));
  }

  void guardShift(Operation *op, const RangeAnalysis &ranges) {
    const ranges::IntRange amount = ranges.at(op->getOpOperand(1));
    if (amount.umax < amount.width)
      return;
    Value by = op->getOperand(1); // A width is a power of two.
    op->setOperand(1, arith::AndIOp::create(
                          builder, by, constant(by, llvm::APInt(amount.width, amount.width - 1))));
  }

  Value constant(Value like, const llvm::APInt &value) {
    return arith::ConstantOp::create(builder, builder.getIntegerAttr(like.getType(), value));
  }
  Value isEqual(Value value, const llvm::APInt &to) {
    return arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, value, constant(value, to));
  }

  HookOpInterface hook;
  const TargetInfo &target;
  ImplicitLocOpBuilder builder;
  bool changed = false;
};

} // namespace

void annudf::lowering::straightenBranches(UdfOpInterface metric, const TargetInfo &target) {
  for (auto hook : metric.getBody().getOps<HookOpInterface>())
    Straightening(hook, target).run();
}
