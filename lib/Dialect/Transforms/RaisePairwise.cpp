//===- RaisePairwise.cpp - Distances of one pass become metrics -----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A distance is raised if its loops over the coordinates do not depend on one another. What they
// carry becomes the accumulator: what it begins with is annudf.init, their bodies together are
// annudf.update, and what follows them is annudf.finalize. Nothing else is proved here, because the
// metric keeps the rules of every metric.
//
//===----------------------------------------------------------------------===//

#include "PairwiseLoops.h"
#include "Rules.h"

#include "annudf/Analysis/Ranges.h"
#include "annudf/Dialect/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;

namespace annudf {
#define GEN_PASS_DEF_RAISEPAIRWISEPASS
#include "annudf/Dialect/Transforms/Passes.h.inc"
} // namespace annudf

static bool isDims(Value value) {
  auto index = withoutCasts(value).getDefiningOp<IndexOp>();
  return index && index.getKind() == ScanIndex::Dims;
}

namespace {
/// A value that a loop carries, which becomes a field of the accumulator.
struct Field {
  scf::ForOp loop;
  unsigned number;
  Type type; ///< In the accumulator; a truth value is an i32 there, a counter an i64.

  Value initial() const { return scf::ForOp(loop).getInitArgs()[number]; }
  Value argument() const { return scf::ForOp(loop).getRegionIterArgs()[number]; }
  Value next() const { return scf::ForOp(loop).getYieldedValues()[number]; }
  Value result() const { return loop->getResult(number); }
};

class Raising {
public:
  explicit Raising(PairwiseOp pairwise)
      : pairwise(pairwise), distance(pairwise.getDistance()), block(*distance.getHookBlock()),
        builder(pairwise), loc(distance.getLoc()) {}

  /// Finds the loops and what they carry, or says what prevents it.
  LogicalResult check();
  void write();

private:
  LogicalResult checkOps();
  LogicalResult checkLoops();
  LogicalResult checkCoordinates();
  LogicalResult checkOrder();
  LogicalResult chooseFields();

  scf::ForOp loopAround(Operation *op) const;
  void follow(Value value, Block &within, Slice &slice);
  void cloneInto(Block &source, const Slice &slice, IRMapping &mapping);
  Value toField(Value value, Type type);
  Value toCarried(Value value, Type type);
  template <typename HookT> Block &begin(TypeRange arguments);
  void writeInit();
  void writeUpdate();
  void writeFinalize();

  Value distanceValue() { return block.getTerminator()->getOperand(0); }

  PairwiseOp pairwise;
  DistanceOp distance;
  Block &block;
  OpBuilder builder;
  Location loc;
  MetricOp metric;
  SmallVector<scf::ForOp> loops;
  SmallVector<Field> fields;
  /// What the distance depends on, as it is found.
  llvm::SetVector<std::pair<Operation *, unsigned>> carried;
};
} // namespace

//===----------------------------------------------------------------------===//
// What can be raised
//===----------------------------------------------------------------------===//

/// Nothing that a metric's bodies cannot hold is dropped unseen.
LogicalResult Raising::checkOps() {
  LogicalResult result = verifyOwnAttributesOnly(distance);
  distance->walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto index = dyn_cast<IndexOp>(op);
    if (index && !distance.hasIndex(index.getKind()))
      (void)rules::refuseIndexOfDistance(index);
    else if (op == distance || isa<AtOp>(op) || succeeded(rules::verifyAllowed(op)))
      return WalkResult::advance();
    result = failure();
    return WalkResult::skip();
  });
  return result;
}

LogicalResult Raising::checkLoops() {
  takeLoopsOutOfBranches(distance);
  for (auto loop : block.getOps<scf::ForOp>()) {
    if (!isOverCoordinates(loop))
      continue;
    if (!countsFromZero(loop) || !isDims(loop.getUpperBound()))
      return emitError(loop.getLoc())
             << "[W5] loops over a part of the coordinates; write a loop from 0 to the number of "
                "dimensions by 1";
    loops.push_back(loop);
  }
  if (loops.empty())
    return emitError(loc) << "[W6] has no loop over the coordinates; write one from 0 to the "
                             "number of dimensions at the top of the distance";
  return success();
}

/// The loop over coordinates that `op` stands in, null if it stands in none.
scf::ForOp Raising::loopAround(Operation *op) const {
  Operation *top = block.findAncestorOpInBlock(*op);
  auto loop = dyn_cast_if_present<scf::ForOp>(top);
  return llvm::is_contained(loops, loop) ? loop : scf::ForOp();
}

LogicalResult Raising::checkCoordinates() {
  for (BlockArgument vector : block.getArguments())
    for (Operation *user : vector.getUsers()) {
      auto read = dyn_cast<AtOp>(user);
      if (!read)
        return emitError(user->getLoc())
               << "[W7] takes a vector as a value; read its coordinates with annudf.at";
      scf::ForOp loop = loopAround(read);
      if (!loop || withoutCasts(read.getIndex()) != loop.getInductionVar())
        return emitError(read.getLoc())
               << "[W8] reads another coordinate than that of a loop over all of them; read both "
                  "vectors at the loop's counter";
    }
  return success();
}

/// No loop needs what another one computed.
LogicalResult Raising::checkOrder() {
  llvm::DenseSet<Value> computed;
  for (Operation &op : block) {
    bool needs = false;
    forEachUsed(&op, [&](Value value) { needs |= computed.contains(value); });
    const bool isLoop = loopAround(&op) != scf::ForOp();
    if (isLoop && needs)
      return emitError(op.getLoc())
             << "[W9] loops over the coordinates with what an earlier loop computed, which takes "
                "two passes; compute both in one loop, or divide by it afterwards";
    if (isLoop || needs)
      computed.insert_range(op.getResults());
  }
  return success();
}

/// Adds to `slice` the ops of `within` that compute `value`, and to `carried` what they need of
/// loops.
void Raising::follow(Value value, Block &within, Slice &slice) {
  SmallVector<Value> pending = {value};
  while (!pending.empty()) {
    Value next = pending.pop_back_val();
    scf::ForOp loop;
    unsigned number = 0;
    if (auto argument = dyn_cast<BlockArgument>(next)) {
      loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
      if (argument.getArgNumber() == 0)
        continue; // The counter.
      number = argument.getArgNumber() - 1;
    } else {
      loop = next.getDefiningOp<scf::ForOp>();
      number = cast<OpResult>(next).getResultNumber();
    }
    if (llvm::is_contained(loops, loop)) {
      carried.insert({loop, number});
      continue;
    }
    Operation *op = within.findAncestorOpInBlock(*next.getParentBlock()->getParentOp());
    if (Operation *definer = next.getDefiningOp())
      op = within.findAncestorOpInBlock(*definer);
    if (op && !llvm::is_contained(loops, dyn_cast<scf::ForOp>(op)) && slice.insert(op))
      forEachUsed(op, [&](Value used) { pending.push_back(used); });
  }
}

LogicalResult Raising::chooseFields() {
  Slice unused;
  follow(distanceValue(), block, unused);
  // Grows on the way: a carried value needs what its next value is computed of.
  for (size_t i = 0; i < carried.size(); ++i) {
    auto loop = cast<scf::ForOp>(carried[i].first);
    follow(loop.getYieldedValues()[carried[i].second], *loop.getBody(), unused);
  }
  for (scf::ForOp loop : loops)
    for (OpResult result : loop->getResults())
      if (carried.contains({loop, result.getResultNumber()}))
        fields.push_back({loop, result.getResultNumber(), result.getType()});
  if (fields.empty())
    return emitError(loc) << "[W10] does not depend on a loop over the coordinates; return what "
                             "the loop computes";
  if (fields.size() > ANNUDF_MAX_FIELDS)
    return emitError(loc) << "[W11] carries " << fields.size()
                          << " values through its loops, more than " << int(ANNUDF_MAX_FIELDS)
                          << "; compute some from others";
  for (Field &field : fields) {
    Slice slice;
    follow(field.initial(), block, slice);
    for (Operation *op : slice)
      if (op->walk([](IndexOp index) {
              return index.getKind() == ScanIndex::Row ? WalkResult::interrupt()
                                                       : WalkResult::advance();
            }).wasInterrupted())
        return emitError(op->getLoc())
               << "[W15] begins a loop over the coordinates with a value of the row; begin with a "
                  "constant or a value of the query, and add the row's after the loop";
    Type &type = field.type;
    if (type.isInteger(1))
      type = builder.getI32Type();
    else if (type.isIndex())
      type = builder.getI64Type();
    else if (!type.isF32() && !type.isF64() && !type.isInteger(32) && !type.isInteger(64))
      return emitError(field.loop.getLoc())
             << "[W12] carries a value of type " << type
             << " through a loop over the coordinates; use f32, f64, i32, i64, i1 or index";
  }
  return success();
}

LogicalResult Raising::check() {
  if (failed(checkOps()) || failed(checkLoops()) || failed(checkCoordinates()) ||
      failed(checkOrder()))
    return failure();
  return chooseFields();
}

//===----------------------------------------------------------------------===//
// The metric
//===----------------------------------------------------------------------===//

void Raising::cloneInto(Block &source, const Slice &slice, IRMapping &mapping) {
  for (Operation &op : source)
    if (slice.contains(&op))
      builder.clone(op, mapping);
}

Value Raising::toField(Value value, Type type) {
  if (value.getType().isInteger(1))
    return arith::ExtUIOp::create(builder, loc, type, value);
  if (value.getType().isIndex())
    return arith::IndexCastOp::create(builder, loc, type, value);
  return value;
}

Value Raising::toCarried(Value value, Type type) {
  if (type.isInteger(1))
    return arith::TruncIOp::create(builder, loc, type, value);
  if (type.isIndex())
    return arith::IndexCastOp::create(builder, loc, type, value);
  return value;
}

template <typename HookT> Block &Raising::begin(TypeRange arguments) {
  builder.setInsertionPointToEnd(&metric.getBody().front());
  auto hook = HookT::create(builder, loc);
  Block &hookBlock = hook.getBody().emplaceBlock();
  for (Type type : arguments)
    hookBlock.addArgument(type, loc);
  builder.setInsertionPointToStart(&hookBlock);
  return hookBlock;
}

void Raising::writeInit() {
  begin<InitOp>({});
  Slice slice;
  for (const Field &field : fields)
    follow(field.initial(), block, slice);
  IRMapping mapping;
  cloneInto(block, slice, mapping);
  SmallVector<Value> values;
  for (const Field &field : fields)
    values.push_back(toField(mapping.lookup(field.initial()), field.type));
  YieldOp::create(builder, loc, values);
}

void Raising::writeUpdate() {
  SmallVector<Type> types = llvm::map_to_vector(fields, [](const Field &f) { return f.type; });
  types.append(2, pairwise.getComputeType());
  Block &update = begin<UpdateOp>(types);
  // What precedes the loops reads no coordinate; compilers take it out of the scan again.
  Slice before;
  llvm::DenseMap<Operation *, Slice> bodies;
  for (Field &field : fields) {
    Slice &body = bodies[field.loop];
    follow(field.next(), *field.loop.getBody(), body);
    follow(field.next(), block, before);
    for (Operation *op : body)
      forEachUsed(op, [&](Value value) { follow(value, block, before); });
  }
  IRMapping mapping;
  cloneInto(block, before, mapping);
  for (auto [field, argument] : llvm::zip(fields, update.getArguments()))
    mapping.map(field.argument(), toCarried(argument, field.argument().getType()));
  Value dim = IndexOp::create(builder, loc, ScanIndex::Dim);
  for (scf::ForOp loop : loops) {
    Value counter = loop.getInductionVar(), as = dim;
    if (!counter.getType().isIndex())
      as = arith::IndexCastOp::create(builder, loc, counter.getType(), dim);
    mapping.map(counter, as);
    cloneInto(*loop.getBody(), bodies[loop], mapping);
  }
  SmallVector<Value> values;
  for (const Field &field : fields)
    values.push_back(toField(mapping.lookup(field.next()), field.type));
  YieldOp::create(builder, loc, values);

  const Value x = update.getArgument(fields.size()), y = update.getArgument(fields.size() + 1);
  update.walk([&](AtOp read) {
    read.getResult().replaceAllUsesWith(read.getVector() == block.getArgument(0) ? x : y);
    read.erase();
  });
}

void Raising::writeFinalize() {
  const Value given = distanceValue();
  if (fields.size() == 1 && given == fields.front().result())
    return; // The accumulator is the distance.
  Block &finalize =
      begin<FinalizeOp>(llvm::map_to_vector(fields, [](const Field &field) { return field.type; }));
  Slice slice;
  follow(given, block, slice);
  IRMapping mapping;
  for (auto [field, argument] : llvm::zip(fields, finalize.getArguments()))
    mapping.map(field.result(), toCarried(argument, field.result().getType()));
  cloneInto(block, slice, mapping);
  YieldOp::create(builder, loc, ValueRange{mapping.lookup(given)});
}

void Raising::write() {
  metric = MetricOp::create(builder, pairwise.getLoc(), pairwise.getSymNameAttr(),
                            pairwise.getOrderAttr(), pairwise.getCoarseAttr(),
                            pairwise.getCoarseOrderAttr(), pairwise.getElementsAttr(),
                            /*accumulator=*/Attribute(), pairwise.getNumericsAttr(),
                            pairwise.getDimsAttr(), pairwise.getMissingValuesAttr(),
                            /*packed=*/DictionaryAttr());
  metric->setDiscardableAttrs(pairwise->getDiscardableAttrDictionary());
  Block &body = metric.getBody().emplaceBlock();
  for (CaptureOp capture : pairwise.getCaptures())
    capture->moveBefore(&body, body.end());
  writeInit();
  writeUpdate();
  writeFinalize();
  // A capture of extent dim is read by annudf.index dim itself.
  shortenIndices(metric);
  Block &update = *metric.getUpdate().getHookBlock();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(update)))
    if (isOpTriviallyDead(&op)) // Such as conversions of the counter.
      op.erase();
  pairwise.erase();
}

namespace {
struct RaisePairwisePass : annudf::impl::RaisePairwisePassBase<RaisePairwisePass> {
  using RaisePairwisePassBase::RaisePairwisePassBase;

  void runOnOperation() override {
    for (auto pairwise : collectIn<PairwiseOp>(getOperation())) {
      if (keep ? raiseOrKeep(pairwise) : succeeded(raise(pairwise)))
        ++numRaised;
      else if (!keep)
        signalPassFailure();
    }
  }

private:
  static LogicalResult raise(PairwiseOp pairwise) {
    Raising raising(pairwise);
    if (failed(raising.check()))
      return failure();
    raising.write();
    return success();
  }

  /// Looking for what can be raised moves loops, so what is kept is a copy.
  bool raiseOrKeep(PairwiseOp pairwise) {
    const ScopedDiagnosticHandler refusals(&getContext(), [](Diagnostic &) { return success(); });
    OpBuilder builder(pairwise);
    Operation *copy = builder.clone(*pairwise);
    const bool isRaised = succeeded(raise(pairwise));
    if (isRaised)
      copy->erase();
    else
      pairwise.erase();
    return isRaised;
  }
};
} // namespace
