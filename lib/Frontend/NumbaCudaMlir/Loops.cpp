//===- Loops.cpp - From loops of blocks to scf.for -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Loops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::frontend;
using namespace annudf::ir;

namespace {
/// A loop whose header alone leaves it, which is what `for` over range() is.
class CountedLoop : private LoopBlocks {
public:
  explicit CountedLoop(CFGLoop &loop)
      : LoopBlocks(loop), loc(header->getTerminator()->getLoc()),
        builder(header->getParent()->getContext()) {}

  LogicalResult check();
  LogicalResult count();
  /// Whether the loop counts up to a value, which vectors' loops may do.
  bool findEnd();
  LogicalResult convert();

private:
  Constant stepOf(unsigned argument) const {
    return end ? std::nullopt : LoopBlocks::stepOf(history[argument], trips);
  }
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

  Location loc;
  OpBuilder builder;
  cf::CondBranchOp exitBranch;
  unsigned stay = 0, leave = 1; ///< Successors of exitBranch.

  Block *before = nullptr; ///< Where the entries lead once the loop is converted.
  /// Arguments of the header that are not computed from a counter.
  SmallVector<unsigned> carried;
  std::optional<unsigned> own; ///< The argument that scf.for counts with, if one can.
  std::optional<APInt> start;  ///< What that argument begins with, where it is a constant.
  APInt step;                  ///< What it grows by.
  Value end;                   ///< A value that it counts up to, null where constants say it.
  /// What exitBranch was, once it is erased.
  Value condition;
  Block *bodyStart = nullptr, *exit = nullptr;
  SmallVector<Value> toBody, toExit;
};
} // namespace

LogicalResult CountedLoop::check() {
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

LogicalResult CountedLoop::count() {
  switch (run()) {
  case Bound::Known:
    return success();
  case Bound::Unknown:
    return refuseUnknown(exitBranch.getLoc());
  case Bound::TooMany:
    return refuseTooMany(exitBranch.getLoc());
  }
  llvm_unreachable("a bound");
}

/// The counter's first value and its step are constants, and the header alone compares it.
bool CountedLoop::findEnd() {
  auto isOutside = [&](Block *block) { return !blocks.contains(block); };
  exitBranch = dyn_cast<cf::CondBranchOp>(header->getTerminator());
  if (!exitBranch || isOutside(exitBranch.getTrueDest()) || !isOutside(exitBranch.getFalseDest()) ||
      llvm::any_of(blocks, [&](Block *block) {
        return block != header && llvm::any_of(block->getSuccessors(), isOutside);
      }))
    return false;
  auto compare = exitBranch.getCondition().getDefiningOp<arith::CmpIOp>();
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::slt)
    return false;
  auto counter = dyn_cast<BlockArgument>(compare.getLhs());
  if (!counter || counter.getOwner() != header || !isOutside(compare.getRhs().getParentBlock()))
    return false;
  const unsigned number = counter.getArgNumber();
  Constant first, by;
  APInt found;
  bool isConstant = true; // Else the loop begins with what its entries bring.
  for (Edge edge : entries) {
    isConstant = isConstant && matchPattern(operandsTo(edge)[number], m_ConstantInt(&found)) &&
                 (!first || *first == found);
    if (isConstant)
      first = found;
  }
  for (Edge edge : latches) {
    auto sum = operandsTo(edge)[number].getDefiningOp<arith::AddIOp>();
    if (!sum || sum.getLhs() != counter || !matchPattern(sum.getRhs(), m_ConstantInt(&found)) ||
        !found.isStrictlyPositive() || (by && *by != found))
      return false;
    by = found;
  }
  if (!by)
    return false;
  if (isConstant)
    start = first;
  step = *by;
  own = number;
  end = compare.getRhs();
  return true;
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

/// From a value for each argument of the header, those that scf.for carries.
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
    redirect(edge, before, SmallVector<Value>(operandsTo(edge)));
}

/// Counters are computed from the one that scf.for has; the rest is carried.
/// Where the program counts upwards, its own counter is the best one.
void CountedLoop::chooseCounter() {
  for (unsigned i = 0; i < header->getNumArguments(); ++i) {
    Constant step = stepOf(i);
    if (!step) {
      carried.push_back(i);
    } else if (!own && canCount(i, *step)) {
      own = i;
      start = *history[i][0];
      this->step = *step;
    }
  }
}

/// Takes the branch off the header: nothing may refer to the blocks of the body once they
/// have moved.
void CountedLoop::detachHeader() {
  condition = exitBranch.getCondition();
  bodyStart = exitBranch->getSuccessor(stay);
  exit = exitBranch->getSuccessor(leave);
  toBody.assign(operandsTo({exitBranch, stay}).begin(), operandsTo({exitBranch, stay}).end());
  toExit.assign(operandsTo({exitBranch, leave}).begin(), operandsTo({exitBranch, leave}).end());
  llvm::erase_if(latches, [&](Edge edge) { return edge.branch == exitBranch; });
  exitBranch.erase();
}

/// An scf.for at the end of the block before, with nothing in its body yet.
scf::ForOp CountedLoop::createFor() {
  builder.setInsertionPointToEnd(before);
  Type type = own ? header->getArgument(*own).getType() : Type(builder.getI32Type());
  unsigned width = integerWidth(type);
  if (!own) {
    start = APInt(width, 0);
    step = APInt(width, 1);
  }
  Value lower = start ? constant(builder, loc, type, *start) : Value(before->getArgument(*own));
  Value upper = end ? end : constant(builder, loc, type, *start + step * APInt(width, trips));
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
    if (i != own)
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
    redirect(edge, last, carriedOf(SmallVector<Value>(operandsTo(edge))));
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
    if (const Constant value = end ? std::nullopt : history[i][trips])
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
  if (!end && trips == 0) {
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
  if (end || trips > 0) {
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
  Operation *parent = region.getParentOp();
  const bool isOfVectors = isa<DistanceOp>(parent) || parent->getParentOfType<DistanceOp>();
  int64_t converted = 0;
  while (!region.hasOneBlock()) {
    DominanceInfo dominance(region.getParentOp());
    CFGLoopInfo info(dominance.getDomTree(&region));
    SmallVector<CFGLoop *> loops = info.getLoopsInPreorder();
    auto innermost = llvm::find_if(loops, [](CFGLoop *loop) { return loop->isInnermost(); });
    if (innermost == loops.end())
      break;
    CountedLoop loop(**innermost);
    if (!isOfVectors || !loop.findEnd()) {
      FailureOr<bool> changed = routeExits(**innermost, dominance);
      if (failed(changed))
        return failure();
      if (*changed)
        continue; // The loop has another header now.
      if (failed(loop.check()) || failed(loop.count()))
        return failure();
    }
    if (failed(loop.convert()))
      return failure();
    ++converted;
  }
  return converted;
}
