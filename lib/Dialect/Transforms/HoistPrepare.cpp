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

/// What is known of a value at the top of a distance, by the ops that it is computed by.
struct Sources {
  bool vectors[2] = {false, false};
  bool hasLoop = false;
  bool readsScan = false;    ///< The number of a row, query or list.
  bool readsHoisted = false; ///< What was hoisted for each row.

  Sources &operator|=(const Sources &other) {
    for (unsigned side : {kQuery, kRow})
      vectors[side] |= other.vectors[side];
    hasLoop |= other.hasLoop;
    readsScan |= other.readsScan;
    readsHoisted |= other.readsHoisted;
    return *this;
  }
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
  Operation *topOf(Value value) const;
  Sources sourcesOf(Value value);
  Sources lookAt(Operation *op) const;
  void forget(Operation *op);
  Slice opsOf(Value value) const;
  SmallVector<scf::ForOp> loops() const;
  SmallVector<scf::ForOp> loopsThatOthersNeed() const;
  void split(scf::ForOp loop);
  void hoistFrom(Value first);
  void hoist(Value value, Side side);
  std::string freeName(Side side);
  void writePrepare(Value value, StringRef name);
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
  llvm::DenseSet<Value> seen;                 ///< By hoistFrom().
  llvm::DenseMap<Operation *, Sources> known; ///< Those of an op hold those of all that it uses.
  unsigned nextName[2] = {0, 0};
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

/// The op of the distance's block that computes it; null where there is none.
Operation *Hoisting::topOf(Value value) const {
  Operation *definer = value.getDefiningOp();
  return definer ? block.findAncestorOpInBlock(*definer) : nullptr;
}

/// What the op itself reads.
Sources Hoisting::lookAt(Operation *op) const {
  Sources sources;
  sources.hasLoop = isLoop(op);
  op->walk([&](Operation *inner) {
    if (auto read = dyn_cast<AtOp>(inner)) {
      sources.vectors[read.getVector() == block.getArgument(1)] = true;
    } else if (auto index = dyn_cast<IndexOp>(inner)) {
      sources.readsScan |= index.getKind() != ScanIndex::Dims && !indices.contains(inner);
    } else if (auto found = reads.find(inner); found != reads.end()) {
      sources.vectors[found->second] = true;
      sources.readsHoisted |= found->second == kRow;
    }
  });
  return sources;
}

/// Looks at each op once, and without recursion: a chain of ops may be long.
Sources Hoisting::sourcesOf(Value value) {
  Operation *wanted = topOf(value);
  if (!wanted)
    return {};
  SmallVector<Operation *> pending{wanted};
  while (!pending.empty()) {
    Operation *op = pending.back();
    const size_t before = pending.size();
    if (!known.contains(op))
      forEachUsed(op, [&](Value used) {
        if (Operation *top = topOf(used); top && top != op && !known.contains(top))
          pending.push_back(top);
      });
    if (pending.size() != before)
      continue;
    pending.pop_back();
    if (known.contains(op))
      continue;
    Sources sources = lookAt(op);
    forEachUsed(op, [&](Value used) {
      if (Operation *top = topOf(used); top && top != op)
        sources |= known.at(top);
    });
    known[op] = sources;
  }
  return known.at(wanted);
}

/// Forgets what is known of an op, and of all that use it.
void Hoisting::forget(Operation *op) {
  SmallVector<Operation *> pending{op};
  while (!pending.empty()) {
    Operation *each = pending.pop_back_val();
    if (known.erase(each))
      for (Operation *user : each->getUsers())
        if (Operation *top = block.findAncestorOpInBlock(*user))
          pending.push_back(top);
  }
}

/// The ops that a value is computed by.
Slice Hoisting::opsOf(Value value) const {
  Slice ops;
  auto add = [&](Value used) {
    if (Operation *top = topOf(used))
      ops.insert(top);
  };
  add(value);
  for (size_t i = 0; i < ops.size(); ++i)
    forEachUsed(ops[i], add);
  return ops;
}

SmallVector<scf::ForOp> Hoisting::loopsThatOthersNeed() const {
  Slice needed;
  auto addUsedBy = [&](Operation *op) {
    forEachUsed(op, [&](Value used) {
      if (Operation *top = topOf(used); top && top != op)
        needed.insert(top);
    });
  };
  for (scf::ForOp loop : loops())
    addUsedBy(loop);
  for (size_t i = 0; i < needed.size(); ++i)
    addUsedBy(needed[i]);
  return llvm::filter_to_vector(loops(), [&](scf::ForOp loop) { return needed.contains(loop); });
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
  while (true) {
    std::string name =
        (kPrepared.drop_front() + (side == kQuery ? "x_" : "y_") + std::to_string(nextName[side]++))
            .str();
    if (!taken.contains(name) &&
        !SymbolTable::lookupSymbolIn(pairwise->getParentOp(), symbol + name))
      return name;
  }
}

void Hoisting::writePrepare(Value value, StringRef name) {
  const Slice ops = opsOf(value);
  builder.setInsertionPointAfter(last);
  auto prepare = cast<PairwiseOp>(builder.cloneWithoutRegions(*pairwise));
  prepare.setSymName((pairwise.getSymName() + "_" + name).str());
  last = prepare;
  IRMapping mapping;
  builder.setInsertionPointToStart(&prepare.getBody().emplaceBlock());
  for (CaptureOp capture : pairwise.getCaptures())
    if (llvm::any_of(capture->getUsers(), [&](Operation *user) {
          return ops.contains(block.findAncestorOpInBlock(*user));
        }))
      builder.clone(*capture, mapping);
  auto alone = DistanceOp::create(builder, value.getLoc());
  Block &body = alone.getBody().emplaceBlock();
  for (BlockArgument vector : block.getArguments())
    mapping.map(vector, body.addArgument(vector.getType(), vector.getLoc()));
  builder.setInsertionPointToStart(&body);
  for (Operation &op : block)
    if (ops.contains(&op))
      builder.clone(op, mapping);
  YieldOp::create(builder, value.getLoc(), mapping.lookup(value));
}

void Hoisting::hoist(Value value, Side side) {
  const std::string name = freeName(side);
  writePrepare(value, name);
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
  forget(topOf(value)); // While the users are its own.
  value.replaceAllUsesWith(read);
  ++numHoisted;
}

/// Hoists a value where a loop needs it, or what it is computed of if it needs both vectors.
void Hoisting::hoistFrom(Value first) {
  SmallVector<Value> pending{first};
  while (!pending.empty()) {
    const Value value = pending.pop_back_val();
    Operation *definer = value.getDefiningOp();
    if (!definer || definer->getBlock() != &block || !seen.insert(value).second)
      continue;
    const Sources sources = sourcesOf(value);
    if (!sources.hasLoop)
      continue;
    const bool ofBoth = sources.vectors[0] && sources.vectors[1];
    // A scan reports distances as f32, so a capture has no other values.
    if (!ofBoth && !sources.readsScan && value.getType().isF32()) {
      hoist(value, sources.vectors[1] ? kRow : kQuery);
      continue;
    }
    if (isLoop(definer))
      continue;
    SmallVector<Value> used;
    forEachUsed(definer, [&](Value each) { used.push_back(each); });
    llvm::append_range(pending, llvm::reverse(used)); // The first of them comes first.
  }
}

/// No accumulator begins with a value of a row. So the first turn takes the value in place of what
/// the loop carries, and the loop begins with zero.
void Hoisting::beginWithConstants(scf::ForOp loop) {
  for (unsigned number = 0; number < loop.getNumResults(); ++number) {
    const Value initial = loop.getInitArgs()[number];
    if (!sourcesOf(initial).readsHoisted)
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
  const SmallVector<scf::ForOp> needed = loopsThatOthersNeed();
  if (needed.empty())
    return 0;
  for (scf::ForOp loop : needed)
    if (loop->getNumResults() > 1)
      split(loop);
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
