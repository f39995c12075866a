//===- Loops.cpp - From loops of blocks to scf.for -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Frontend.h"

#include "annudf/Dialect/Transforms/AbiRules.h"

#include "mlir/Analysis/CFGLoopInfo.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::frontend;

/// Deepest chain of operations that is followed to compute a counter.
static constexpr int kMaxChain = 256;

/// Operands that a branch hands to a successor.
static OperandRange operandsTo(Operation *branch, unsigned successor) {
  return cast<BranchOpInterface>(branch).getSuccessorOperands(successor).getForwardedOperands();
}

/// Sends one edge of a branch elsewhere.
static void redirect(Operation *branch, unsigned successor, Block *to, ValueRange operands) {
  cast<BranchOpInterface>(branch)
      .getSuccessorOperands(successor)
      .getMutableForwardedOperands()
      .assign(operands);
  branch->setSuccessor(to, successor);
}

namespace {
/// An edge between blocks.
struct Edge {
  Operation *branch;
  unsigned successor;
};

/// A loop whose header alone leaves it, which is what `for` over range() is.
class CountedLoop {
public:
  explicit CountedLoop(CFGLoop &loop)
      : header(loop.getHeader()), loc(header->getTerminator()->getLoc()),
        builder(header->getParent()->getContext()) {
    for (Block *block : loop.getBlocks())
      blocks.insert(block);
    for (auto it = header->pred_begin(), end = header->pred_end(); it != end; ++it) {
      Edge edge = {(*it)->getTerminator(), it.getSuccessorIndex()};
      (blocks.contains(*it) ? latches : entries).push_back(edge);
    }
  }

  LogicalResult check();
  LogicalResult count();
  LogicalResult convert();

private:
  using Constant = std::optional<APInt>;
  using Values = llvm::DenseMap<Value, Constant>;

  Constant valueOf(Value value, Values &known, int chain = 0);
  Constant joinOf(ArrayRef<Edge> edges, unsigned argument, Values &known);
  /// Difference between successive values of an argument in the iterations, if it is the same.
  Constant stepOf(unsigned argument) const;
  bool canCount(unsigned argument, const APInt &step) const;
  Value linear(unsigned argument, const APInt &step, Value counter);
  SmallVector<Value> carriedOf(ValueRange all) const;

  // The steps of convert(), in this order.
  void redirectEntries();
  void chooseCounter();
  void detachHeader();
  scf::ForOp createFor();
  IRMapping cloneHeader(scf::ForOp loop);
  LogicalResult moveBody(scf::ForOp loop, const IRMapping &inside);
  void leaveBehind(SmallVector<Value> last);
  void eraseHeader();

  Block *header;
  Location loc;
  OpBuilder builder;
  llvm::SetVector<Block *> blocks;
  SmallVector<Edge> entries, latches;
  cf::CondBranchOp exitBranch;
  unsigned stay = 0, leave = 1; ///< Successors of exitBranch.
  int64_t trips = 0;
  /// For each argument of the header its value each time that the header runs, the last
  /// time included.
  SmallVector<SmallVector<Constant>> history;

  Block *before = nullptr; ///< Where the entries lead once the loop is converted.
  /// Arguments of the header that are not computed from a counter.
  SmallVector<unsigned> carried;
  std::optional<unsigned> own; ///< The argument that scf.for counts with, if one can.
  /// What exitBranch was, once it is erased.
  Value condition;
  Block *bodyStart = nullptr, *exit = nullptr;
  SmallVector<Value> toBody, toExit;
};
} // namespace

LogicalResult CountedLoop::check() {
  for (Block *block : blocks)
    for (Block *next : block->getSuccessors())
      if (block != header && !blocks.contains(next))
        return emitError(block->getTerminator()->getLoc())
               << "[P12] leaves a loop early: break and return make the number of iterations "
                  "unknown; choose inside the loop with if";
  exitBranch = dyn_cast<cf::CondBranchOp>(header->getTerminator());
  if (!exitBranch)
    return emitError(header->getTerminator()->getLoc())
           << "[P13] repeats without an end; a metric's loops are for over range()";
  if (!blocks.contains(exitBranch.getTrueDest()))
    std::swap(stay, leave);
  if (!blocks.contains(exitBranch->getSuccessor(stay)) ||
      blocks.contains(exitBranch->getSuccessor(leave)))
    return emitError(exitBranch.getLoc())
           << "[P13] repeats without an end; a metric's loops are for over range()";
  return success();
}

CountedLoop::Constant CountedLoop::valueOf(Value value, Values &known, int chain) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant;
  if (auto it = known.find(value); it != known.end())
    return it->second;
  Operation *op = value.getDefiningOp();
  if (!op || !blocks.contains(op->getBlock()) || op->getNumRegions() || chain > kMaxChain)
    return std::nullopt;
  SmallVector<APInt> operands;
  for (Value operand : op->getOperands()) {
    Constant of = valueOf(operand, known, chain + 1);
    if (!of) {
      known[value] = std::nullopt;
      return std::nullopt;
    }
    operands.push_back(*of);
  }
  return known[value] = evaluate(op, operands);
}

CountedLoop::Constant CountedLoop::joinOf(ArrayRef<Edge> edges, unsigned argument, Values &known) {
  Constant joined;
  for (Edge edge : edges) {
    Constant value = valueOf(operandsTo(edge.branch, edge.successor)[argument], known);
    if (!value || (joined && *joined != *value))
      return std::nullopt;
    joined = value;
  }
  return joined;
}

/// Runs the counters of the loop until it ends.
LogicalResult CountedLoop::count() {
  unsigned size = header->getNumArguments();
  history.resize(size);
  SmallVector<Constant> current(size);
  Values outside;
  for (unsigned i = 0; i < size; ++i)
    if (integerWidth(header->getArgument(i).getType()))
      current[i] = joinOf(entries, i, outside);
  for (trips = 0; trips <= kMaxTripCount; ++trips) {
    Values known;
    for (unsigned i = 0; i < size; ++i) {
      known[header->getArgument(i)] = current[i];
      history[i].push_back(current[i]);
    }
    Constant condition = valueOf(exitBranch.getCondition(), known);
    if (!condition)
      return emitError(exitBranch.getLoc())
             << "[P14] repeats a number of times that is not known when the metric is compiled: "
                "range() needs constant bounds";
    if (condition->isZero() == (stay == 0))
      return success();
    for (unsigned i = 0; i < size; ++i)
      if (integerWidth(header->getArgument(i).getType()))
        current[i] = joinOf(latches, i, known);
  }
  return emitError(exitBranch.getLoc())
         << "[P15] repeats more than " << kMaxTripCount
         << " times; split the work over the dimensions or shorten the loop";
}

CountedLoop::Constant CountedLoop::stepOf(unsigned argument) const {
  ArrayRef<Constant> values = history[argument];
  if (llvm::any_of(values, [](const Constant &value) { return !value; }))
    return std::nullopt;
  if (trips < 2)
    return APInt::getZero(values[0]->getBitWidth());
  APInt step = *values[1] - *values[0];
  for (int64_t i = 2; i < trips; ++i)
    if (*values[i] - *values[i - 1] != step)
      return std::nullopt;
  return step;
}

static Value constant(OpBuilder &builder, Location loc, Type type, const APInt &value) {
  return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, value));
}

/// Whether scf.for can count with an argument: it grows, its upper bound is a value of its
/// type, and the body uses it.
bool CountedLoop::canCount(unsigned argument, const APInt &step) const {
  unsigned width = step.getBitWidth();
  if (width < 32 || !step.isStrictlyPositive())
    return false;
  ArrayRef<Constant> values = history[argument];
  // Each call says of itself alone whether it overflows.
  bool distanceWraps = false, upperWraps = false;
  APInt distance = step.smul_ov(APInt(width, trips), distanceWraps);
  (void)values[0]->sadd_ov(distance, upperWraps);
  bool isUsed = llvm::any_of(header->getArgument(argument).getUsers(),
                             [&](Operation *user) { return user->getBlock() != header; });
  return !distanceWraps && !upperWraps && isUsed;
}

/// A counter that starts with 0, as the value of an argument.
Value CountedLoop::linear(unsigned argument, const APInt &step, Value counter) {
  Type type = header->getArgument(argument).getType();
  const APInt &start = *history[argument][0];
  if (step.isZero())
    return constant(builder, loc, type, start);
  unsigned width = integerWidth(type), counted = integerWidth(counter.getType());
  Value value = counter;
  if (type.isIndex())
    value = arith::IndexCastOp::create(builder, loc, type, value);
  else if (width > counted)
    value = arith::ExtSIOp::create(builder, loc, type, value);
  else if (width < counted)
    value = arith::TruncIOp::create(builder, loc, type, value);
  value = arith::MulIOp::create(builder, loc, value, constant(builder, loc, type, step));
  return arith::AddIOp::create(builder, loc, value, constant(builder, loc, type, start));
}

/// Of a value for each argument of the header, those that scf.for carries.
SmallVector<Value> CountedLoop::carriedOf(ValueRange all) const {
  SmallVector<Value> some;
  for (unsigned i : carried)
    some.push_back(all[i]);
  return some;
}

/// Makes a block with the header's arguments and has all who enter the loop come there.
void CountedLoop::redirectEntries() {
  before = builder.createBlock(header, header->getArgumentTypes(),
                               SmallVector<Location>(header->getNumArguments(), loc));
  for (Edge edge : entries)
    redirect(edge.branch, edge.successor, before,
             SmallVector<Value>(operandsTo(edge.branch, edge.successor)));
}

/// Counters are computed from the one that scf.for has; the rest is carried.
/// Where the program counts upwards, its own counter is the best one.
void CountedLoop::chooseCounter() {
  for (unsigned i = 0; i < header->getNumArguments(); ++i) {
    Constant step = stepOf(i);
    if (!step)
      carried.push_back(i);
    else if (!own && canCount(i, *step))
      own = i;
  }
}

/// Takes the branch off the header: nothing may refer to the blocks of the body once they
/// have moved.
void CountedLoop::detachHeader() {
  condition = exitBranch.getCondition();
  bodyStart = exitBranch->getSuccessor(stay);
  exit = exitBranch->getSuccessor(leave);
  toBody.assign(operandsTo(exitBranch, stay).begin(), operandsTo(exitBranch, stay).end());
  toExit.assign(operandsTo(exitBranch, leave).begin(), operandsTo(exitBranch, leave).end());
  llvm::erase_if(latches, [&](Edge edge) { return edge.branch == exitBranch; });
  exitBranch.erase();
}

/// An scf.for at the end of the block before, with nothing in its body yet.
scf::ForOp CountedLoop::createFor() {
  builder.setInsertionPointToEnd(before);
  Type type = own ? header->getArgument(*own).getType() : Type(builder.getI32Type());
  unsigned width = integerWidth(type);
  APInt start = own ? *history[*own][0] : APInt(width, 0);
  APInt step = own ? *stepOf(*own) : APInt(width, 1);
  Value lower = constant(builder, loc, type, start);
  Value upper = constant(builder, loc, type, start + step * APInt(width, trips));
  Value by = constant(builder, loc, type, step);
  auto loop = scf::ForOp::create(builder, loc, lower, upper, by, carriedOf(before->getArguments()));
  // Where nothing is carried it comes with a terminator.
  Block *body = loop.getBody();
  if (!body->empty() && body->back().hasTrait<OpTrait::IsTerminator>())
    body->back().erase();
  return loop;
}

/// Computes in the body of scf.for what the header computes in an iteration; the result says
/// what stands there for the header's values.
IRMapping CountedLoop::cloneHeader(scf::ForOp loop) {
  builder.setInsertionPointToEnd(loop.getBody());
  unsigned size = header->getNumArguments();
  Value counter = loop.getInductionVar();
  if (own && llvm::any_of(llvm::seq<unsigned>(0, size), [&](unsigned i) {
        return i != *own && stepOf(i) && !stepOf(i)->isZero();
      })) {
    counter = arith::SubIOp::create(builder, loc, counter, loop.getLowerBound());
    counter = arith::DivUIOp::create(builder, loc, counter, loop.getStep());
  }
  IRMapping inside;
  for (unsigned i = 0; i < size; ++i)
    if (i == own)
      inside.map(header->getArgument(i), loop.getInductionVar());
    else if (const Constant step = stepOf(i))
      inside.map(header->getArgument(i), linear(i, *step, counter));
  for (auto [argument, i] : llvm::zip(loop.getRegionIterArgs(), carried))
    inside.map(header->getArgument(i), argument);
  for (Operation &op : *header)
    builder.clone(op, inside);
  Value goesOn = constant(builder, loc, builder.getI1Type(), APInt(1, stay == 0));
  inside.map(condition, goesOn);
  return inside;
}

/// Moves the other blocks of the loop to the end of the body of scf.for, as one block.
LogicalResult CountedLoop::moveBody(scf::ForOp loop, const IRMapping &inside) {
  // The blocks of the loop, in an op that may hold several.
  builder.setInsertionPointToEnd(loop.getBody());
  SmallVector<Type> types(loop.getResultTypes());
  auto blocksOp = scf::ExecuteRegionOp::create(builder, loc, types);
  scf::YieldOp::create(builder, loc, blocksOp.getResults());
  Region &inner = blocksOp.getRegion();
  Block *entry = &inner.emplaceBlock();
  Block *last =
      builder.createBlock(&inner, inner.end(), types, SmallVector<Location>(types.size(), loc));
  scf::YieldOp::create(builder, loc, last->getArguments());
  for (Edge edge : latches)
    redirect(edge.branch, edge.successor, last,
             carriedOf(SmallVector<Value>(operandsTo(edge.branch, edge.successor))));
  SmallVector<Value> first = bodyStart == header ? carriedOf(toBody) : toBody;
  for (Value &operand : first)
    operand = inside.lookupOrDefault(operand);
  builder.setInsertionPointToEnd(entry);
  cf::BranchOp::create(builder, loc, bodyStart == header ? last : bodyStart, first);
  for (Block *block : blocks)
    if (block != header)
      block->moveBefore(last);
  for (auto [from, to] : llvm::to_vector(inside.getValueMap()))
    from.replaceUsesWithIf(
        to, [&](OpOperand &use) { return inner.isAncestor(use.getOwner()->getParentRegion()); });

  if (failed(structureRegion(inner)))
    return failure();
  Operation *yield = inner.front().getTerminator();
  blocksOp->replaceAllUsesWith(SmallVector<Value>(yield->getOperands()));
  yield->erase();
  loop.getBody()->getOperations().splice(blocksOp->getIterator(), inner.front().getOperations());
  blocksOp.erase();
  return success();
}

/// Computes after scf.for what the header computes when the loop ends, for those who use it
/// later, and goes to where the loop leaves to. `last` are its arguments at that time.
void CountedLoop::leaveBehind(SmallVector<Value> last) {
  builder.setInsertionPointToEnd(before);
  for (unsigned i = 0; i < last.size(); ++i)
    if (const Constant &value = history[i][trips])
      last[i] = constant(builder, loc, header->getArgument(i).getType(), *value);
  IRMapping after;
  after.map(header->getArguments(), last);
  for (Operation &op : *header)
    builder.clone(op, after);
  SmallVector<Value> operands;
  for (Value operand : toExit)
    operands.push_back(after.lookupOrDefault(operand));
  cf::BranchOp::create(builder, loc, exit, operands);
  for (auto [from, to] : llvm::to_vector(after.getValueMap()))
    from.replaceUsesWithIf(to,
                           [&](OpOperand &use) { return use.getOwner()->getBlock() != header; });
}

/// Erases the header, and the body too where it never runs and so was not moved.
void CountedLoop::eraseHeader() {
  if (trips == 0) {
    blocks.remove(header);
    for (Block *block : blocks) {
      block->dropAllDefinedValueUses();
      block->dropAllReferences();
    }
    for (Block *block : blocks)
      block->erase();
  }
  header->dropAllDefinedValueUses();
  header->erase();
}

LogicalResult CountedLoop::convert() {
  redirectEntries();
  chooseCounter();
  detachHeader();
  SmallVector<Value> last(before->getArguments().begin(), before->getArguments().end());
  if (trips > 0) {
    scf::ForOp loop = createFor();
    if (failed(moveBody(loop, cloneHeader(loop))))
      return failure();
    for (auto [result, i] : llvm::zip(loop.getResults(), carried))
      last[i] = result;
  }
  leaveBehind(std::move(last));
  eraseHeader();
  return success();
}

FailureOr<int64_t> frontend::convertLoops(Region &region) {
  int64_t converted = 0;
  while (!region.hasOneBlock()) {
    DominanceInfo dominance(region.getParentOp());
    CFGLoopInfo info(dominance.getDomTree(&region));
    SmallVector<CFGLoop *> loops = info.getLoopsInPreorder();
    auto innermost = llvm::find_if(loops, [](CFGLoop *loop) { return loop->isInnermost(); });
    if (innermost == loops.end())
      break;
    CountedLoop loop(**innermost);
    if (failed(loop.check()) || failed(loop.count()) || failed(loop.convert()))
      return failure();
    ++converted;
  }
  return converted;
}
