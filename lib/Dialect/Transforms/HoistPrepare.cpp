//===- HoistPrepare.cpp - What depends on one vector alone ----------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop over the coordinates may need what an earlier one computed, such as a mean. If that
// depends on one of the two vectors alone, it is the same for all pairs with that vector. So it
// becomes a distance of its own, which ignores the other vector, and the pair gets it as a capture:
// one entry a query for the first vector, one entry a row for the second.
//
//===----------------------------------------------------------------------===//

#include "PairwiseLoops.h"

#include "annudf/Dialect/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;

namespace annudf {
#define GEN_PASS_DEF_HOISTPREPAREPASS
#include "annudf/Dialect/Transforms/Passes.h.inc"
} // namespace annudf

namespace {
enum Side : unsigned { kQuery, kRow };

/// What a value at the top of a distance is computed of.
struct Sources {
  Slice ops;
  bool vectors[2] = {false, false};
  bool hasLoop = false;
  bool readsScan = false; ///< The number of a row, query or list.
};

class Hoisting {
public:
  explicit Hoisting(PairwiseOp pairwise)
      : pairwise(pairwise), distance(pairwise.getDistance()), block(*distance.getHookBlock()),
        builder(pairwise), last(pairwise) {}

  /// The number of values that became distances of their own.
  unsigned run();

private:
  bool isLoop(Operation *op) const;
  Sources sourcesOf(Value value) const;
  void lookAt(Operation *op, Sources &sources) const;
  SmallVector<scf::ForOp> loops() const;
  Slice loopsThatOthersNeed() const;
  void split(scf::ForOp loop);
  void hoistFrom(Value value);
  void hoist(Value value, Side side, const Sources &sources);
  std::string freeName(Side side);
  void writePrepare(Value value, StringRef name, const Sources &sources);
  void beginWithConstants(scf::ForOp loop);
  void eraseUnused();

  PairwiseOp pairwise;
  DistanceOp distance;
  Block &block;
  OpBuilder builder;
  Operation *last; ///< After which the next distance is written.
  /// Reads of captures that were hoisted here, and their indices.
  llvm::DenseMap<Operation *, Side> reads;
  llvm::DenseSet<Operation *> indices;
  llvm::DenseSet<Value> seen; ///< By hoistFrom().
  unsigned numHoisted = 0;
};
} // namespace

bool Hoisting::isLoop(Operation *op) const {
  auto loop = dyn_cast<scf::ForOp>(op);
  return loop && op->getBlock() == &block && isOverCoordinates(loop);
}

SmallVector<scf::ForOp> Hoisting::loops() const {
  return llvm::to_vector(llvm::make_filter_range(block.getOps<scf::ForOp>(),
                                                 [&](scf::ForOp op) { return isLoop(op); }));
}

void Hoisting::lookAt(Operation *op, Sources &sources) const {
  sources.hasLoop |= isLoop(op);
  op->walk([&](Operation *inner) {
    if (auto read = dyn_cast<AtOp>(inner))
      sources.vectors[read.getVector() == block.getArgument(1)] = true;
    else if (auto index = dyn_cast<IndexOp>(inner))
      sources.readsScan |= index.getKind() != ScanIndex::Dims && !indices.contains(inner);
    else if (auto found = reads.find(inner); found != reads.end())
      sources.vectors[found->second] = true;
  });
}

Sources Hoisting::sourcesOf(Value value) const {
  Sources sources;
  auto add = [&](Value used) {
    if (Operation *definer = used.getDefiningOp())
      if (Operation *top = block.findAncestorOpInBlock(*definer))
        sources.ops.insert(top);
  };
  add(value);
  for (size_t i = 0; i < sources.ops.size(); ++i) {
    lookAt(sources.ops[i], sources);
    forEachUsed(sources.ops[i], add);
  }
  return sources;
}

Slice Hoisting::loopsThatOthersNeed() const {
  Slice needed;
  for (scf::ForOp loop : loops())
    forEachUsed(loop, [&](Value value) {
      for (Operation *op : sourcesOf(value).ops)
        if (op != loop && isLoop(op))
          needed.insert(op);
    });
  return needed;
}

//===----------------------------------------------------------------------===//
// One loop for each thing that a loop computes
//===----------------------------------------------------------------------===//

namespace {
/// What one carried value of a loop needs in its body.
struct Part {
  llvm::SmallBitVector carried;
  Slice ops;
};
} // namespace

static Part partOf(scf::ForOp loop, unsigned number) {
  Part part = {llvm::SmallBitVector(loop.getNumResults()), {}};
  Block &body = *loop.getBody();
  SmallVector<Value> pending;
  auto carry = [&](unsigned which) {
    if (part.carried.test(which))
      return;
    part.carried.set(which);
    pending.push_back(loop.getYieldedValues()[which]);
  };
  carry(number);
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getOwner() == &body && argument.getArgNumber() > 0)
        carry(argument.getArgNumber() - 1);
      continue;
    }
    Operation *top = body.findAncestorOpInBlock(*value.getDefiningOp());
    if (top && part.ops.insert(top))
      forEachUsed(top, [&](Value used) { pending.push_back(used); });
  }
  return part;
}

/// A loop may carry values of both vectors, such as two sums: afterwards each loop carries only
/// what one of its results needs.
void Hoisting::split(scf::ForOp loop) {
  std::vector<std::pair<llvm::SmallBitVector, scf::ForOp>> made;
  builder.setInsertionPoint(loop);
  for (OpResult result : loop->getResults()) {
    if (result.use_empty())
      continue;
    const unsigned number = result.getResultNumber();
    const Part part = partOf(loop, number);
    auto found = llvm::find_if(made, [&](auto &other) { return other.first == part.carried; });
    if (found == made.end()) {
      SmallVector<Value> initial;
      for (unsigned which : part.carried.set_bits())
        initial.push_back(loop.getInitArgs()[which]);
      auto alone = scf::ForOp::create(builder, loop.getLoc(), loop.getLowerBound(),
                                      loop.getUpperBound(), loop.getStep(), initial);
      IRMapping mapping;
      mapping.map(loop.getInductionVar(), alone.getInductionVar());
      for (auto [i, which] : llvm::enumerate(part.carried.set_bits()))
        mapping.map(loop.getRegionIterArgs()[which], alone.getRegionIterArgs()[i]);
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToEnd(alone.getBody());
      for (Operation &op : *loop.getBody())
        if (part.ops.contains(&op))
          builder.clone(op, mapping);
      SmallVector<Value> next;
      for (unsigned which : part.carried.set_bits())
        next.push_back(mapping.lookupOrDefault(loop.getYieldedValues()[which]));
      scf::YieldOp::create(builder, loop.getLoc(), next);
      made.push_back({part.carried, alone});
      found = std::prev(made.end());
    }
    unsigned place = 0;
    for (unsigned which : part.carried.set_bits())
      place += which < number;
    result.replaceAllUsesWith(found->second.getResult(place));
  }
  loop.erase();
}

//===----------------------------------------------------------------------===//
// Distances of one vector
//===----------------------------------------------------------------------===//

std::string Hoisting::freeName(Side side) {
  llvm::SmallDenseSet<StringRef> taken;
  for (CaptureOp capture : pairwise.getCaptures())
    taken.insert(capture.getName());
  const std::string symbol = pairwise.getSymName().str() + "_";
  for (unsigned number = 0;; ++number) {
    std::string name = (side == kQuery ? "prepared_x_" : "prepared_y_") + std::to_string(number);
    if (!taken.contains(name) &&
        !SymbolTable::lookupSymbolIn(pairwise->getParentOp(), symbol + name))
      return name;
  }
}

void Hoisting::writePrepare(Value value, StringRef name, const Sources &sources) {
  builder.setInsertionPointAfter(last);
  auto prepare = cast<PairwiseOp>(builder.cloneWithoutRegions(*pairwise));
  prepare.setSymName((pairwise.getSymName() + "_" + name).str());
  last = prepare;
  IRMapping mapping;
  builder.setInsertionPointToStart(&prepare.getBody().emplaceBlock());
  for (CaptureOp capture : pairwise.getCaptures())
    if (llvm::any_of(capture->getUsers(), [&](Operation *user) {
          return sources.ops.contains(block.findAncestorOpInBlock(*user));
        }))
      builder.clone(*capture, mapping);
  auto alone = DistanceOp::create(builder, value.getLoc());
  Block &body = alone.getBody().emplaceBlock();
  for (BlockArgument vector : block.getArguments())
    mapping.map(vector, body.addArgument(vector.getType(), vector.getLoc()));
  builder.setInsertionPointToStart(&body);
  for (Operation &op : block)
    if (sources.ops.contains(&op))
      builder.clone(op, mapping);
  YieldOp::create(builder, value.getLoc(), mapping.lookup(value));
}

void Hoisting::hoist(Value value, Side side, const Sources &sources) {
  const std::string name = freeName(side);
  writePrepare(value, name, sources);
  const Location loc = value.getLoc();
  auto type = CaptureType::get(builder.getContext(),
                               {side == kQuery ? CaptureType::kQuery : CaptureType::kRow},
                               builder.getF32Type());
  builder.setInsertionPoint(distance);
  Value capture = CaptureOp::create(builder, loc, type, name, /*value=*/TypedAttr());
  builder.setInsertionPoint(block.findAncestorOpInBlock(*value.getDefiningOp()));
  auto index = IndexOp::create(builder, loc, side == kQuery ? ScanIndex::Query : ScanIndex::Row);
  auto read = LoadOp::create(builder, loc, capture, ValueRange{index});
  indices.insert(index);
  reads[read] = side;
  value.replaceAllUsesWith(read);
  ++numHoisted;
}

/// Hoists `value` where a loop needs it, or what it is computed of if it needs both vectors.
void Hoisting::hoistFrom(Value value) {
  Operation *definer = value.getDefiningOp();
  if (!definer || definer->getBlock() != &block || !seen.insert(value).second)
    return;
  const Sources sources = sourcesOf(value);
  if (!sources.hasLoop)
    return;
  const bool ofBoth = sources.vectors[0] && sources.vectors[1];
  // A scan reports distances as f32, so a capture has no other values.
  if (!ofBoth && !sources.readsScan && value.getType().isF32()) {
    hoist(value, sources.vectors[1] ? kRow : kQuery, sources);
    return;
  }
  if (isLoop(definer))
    return;
  SmallVector<Value> used;
  forEachUsed(definer, [&](Value each) { used.push_back(each); });
  for (Value each : used)
    hoistFrom(each);
}

/// No accumulator begins with a value of a row. So the first turn takes the value in place of what
/// the loop carries, and the loop begins with zero.
void Hoisting::beginWithConstants(scf::ForOp loop) {
  for (unsigned number = 0; number < loop.getNumResults(); ++number) {
    const Value initial = loop.getInitArgs()[number];
    const Slice ops = sourcesOf(initial).ops;
    if (llvm::none_of(
            ops, [&](Operation *op) { return reads.lookup(op) == kRow && reads.contains(op); }))
      continue;
    builder.setInsertionPoint(loop);
    const Location loc = initial.getLoc();
    const Type type = initial.getType(), counts = loop.getInductionVar().getType();
    Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
    Value first = arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(counts, 0));
    builder.setInsertionPointToStart(loop.getBody());
    Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                          loop.getInductionVar(), first);
    BlockArgument carried = loop.getRegionIterArgs()[number];
    auto begun = arith::SelectOp::create(builder, loc, isFirst, initial, carried);
    carried.replaceAllUsesExcept(begun, begun);
    loop.getInitArgsMutable()[number].set(zero);
  }
}

void Hoisting::eraseUnused() {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

unsigned Hoisting::run() {
  takeLoopsOutOfBranches(distance);
  const Slice needed = loopsThatOthersNeed();
  if (needed.empty())
    return 0;
  for (Operation *loop : needed)
    if (loop->getNumResults() > 1)
      split(cast<scf::ForOp>(loop));
  for (scf::ForOp loop : loops()) {
    SmallVector<Value> used;
    forEachUsed(loop, [&](Value value) { used.push_back(value); });
    for (Value value : used)
      hoistFrom(value);
    beginWithConstants(loop);
  }
  eraseUnused();
  return numHoisted;
}

namespace {
struct HoistPreparePass : annudf::impl::HoistPreparePassBase<HoistPreparePass> {
  void runOnOperation() override {
    for (auto pairwise : collectIn<PairwiseOp>(getOperation()))
      numPrepared += Hoisting(pairwise).run();
  }
};
} // namespace
