//===- EarlyExits.cpp - break, return in a loop, and while -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop that is left in several places becomes one that a counter of its own leaves: rows are
// lanes, so all of them run until the last is done anyway. What left the loop, 0 while nobody did,
// is carried beside what is used after it; once it is set the body is passed by. Constants have to
// say after how many iterations no way leads on: a scan must end.
//
//   before -> first -> [counter: i < trips] -> guard -> header ... -> latch -> counter
//                              |                 `---- left ----------^
//                              `-> after -> where the loop was left to
//
//===----------------------------------------------------------------------===//

#include "Loops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::frontend;
using namespace annudf::ir;

namespace {
class EarlyExits : private LoopBlocks {
public:
  EarlyExits(CFGLoop &loop, DominanceInfo &dominance)
      : LoopBlocks(loop), dominance(dominance), loc(header->getTerminator()->getLoc()),
        builder(header->getParent()->getContext()) {
    for (Block *block : blocks)
      for (auto [i, next] : llvm::enumerate(block->getSuccessors()))
        if (!blocks.contains(next))
          exits.push_back({block->getTerminator(), unsigned(i)});
  }

  /// Where the source has the loop: the first place there that leaves it. The header's is another
  /// where a compiler tests the condition of `while` at the end of the body too, as CPython does.
  Location place() const;
  /// Whether the header does not count the loop alone; fails where nothing counts it.
  FailureOr<bool> isNeeded();
  void route();

private:
  /// Takes ctx.row and its like out of the loop, with their casts: behind the loop an index must
  /// still be known as such.
  void hoistIndices();
  /// Values of the loop that are used after it.
  void collectUsedAfter();
  /// Whether a value has to be known after an exit. What only another exit hands on may be a
  /// variable that has no value here.
  bool isUsedAfter(Value value, Edge exit) const {
    if (llvm::is_contained(operandsTo(exit), value))
      return true;
    auto users = usersAfter.find(value);
    if (users == usersAfter.end() || !dominance.properlyDominates(value, exit.branch))
      return false;
    const auto &reached = behind.at(exit.branch->getSuccessor(exit.successor));
    return llvm::any_of(users->second, [&](Block *user) { return reached.contains(user); });
  }
  /// The blocks that a block leads to without the loop.
  llvm::DenseSet<Block *> reachedFrom(Block *block) const;
  /// Stands for a value where nobody uses it: what the value is in the first iteration, if that is
  /// known, as a range holds all that a value may be, used or not.
  Value filler(Value value);
  void createBlocks();
  void countFromFirst();
  void routeEdges();
  void leave();
  /// The header's operations for the last time, if the header is what counts.
  IRMapping cloneHeader();

  Value integer(int64_t value) {
    return arith::ConstantIntOp::create(builder, loc, builder.getI32Type(), value);
  }
  Value zero(Type type) {
    return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  }

  DominanceInfo &dominance;
  Location loc;
  OpBuilder builder;
  SmallVector<Edge> exits;
  Edge bound = {nullptr, 0};        ///< The header's, if it counts.
  llvm::SetVector<Value> usedAfter; ///< By blocks after the loop, or handed to them by an exit.
  /// The blocks after the loop that use a value, whichever exit leads to them.
  llvm::DenseMap<Value, SmallVector<Block *>> usersAfter;
  llvm::DenseMap<Block *, llvm::DenseSet<Block *>> behind; ///< What each exit leads to.
  /// Arguments of `counter`: the iteration, what left the loop, the header's arguments,
  /// `usedAfter`.
  Block *first = nullptr, *counter = nullptr, *guard = nullptr, *latch = nullptr;
  SmallVector<Value> fillers; ///< One for each argument of `counter` after the first two.
};
} // namespace

Location EarlyExits::place() const {
  Location first = exits.front().branch->getLoc();
  auto known = first->findInstanceOf<FileLineColLoc>();
  for (Edge edge : exits) {
    auto other = edge.branch->getLoc()->findInstanceOf<FileLineColLoc>();
    if (!known || !other || known.getFilename() != other.getFilename())
      continue;
    if (std::pair(other.getLine(), other.getColumn()) <
        std::pair(known.getLine(), known.getColumn()))
      first = edge.branch->getLoc(), known = other;
  }
  return first;
}

FailureOr<bool> EarlyExits::isNeeded() {
  const Bound found = run();
  auto ofHeader =
      llvm::find_if(exits, [&](Edge edge) { return edge.branch->getBlock() == header; });
  const bool isOther = exits.size() > size_t(ofHeader != exits.end());
  if (found == Bound::Known) {
    if (headerCounts)
      bound = *ofHeader;
    return isOther || !headerCounts;
  }
  if (!isOther) // CountedLoop has the words for it.
    return false;
  return found == Bound::TooMany ? refuseTooMany(place()) : refuseUnknown(place());
}

void EarlyExits::hoistIndices() {
  Block &front = header->getParent()->front();
  SmallVector<Operation *> ops;
  for (Block *block : blocks)
    for (Operation &op : *block)
      if (isa<IndexOp>(op))
        ops.push_back(&op);
  for (Operation *op : ops) {
    op->moveBefore(&front, front.begin());
    // Casts of casts, too.
    SmallVector<Operation *> pending = {op};
    while (!pending.empty()) {
      Operation *source = pending.pop_back_val();
      for (Operation *user : llvm::to_vector(source->getUsers()))
        if (isa<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp>(user) &&
            blocks.contains(user->getBlock())) {
          user->moveAfter(source);
          pending.push_back(user);
        }
    }
  }
}

llvm::DenseSet<Block *> EarlyExits::reachedFrom(Block *block) const {
  llvm::DenseSet<Block *> reached = {block};
  SmallVector<Block *> pending = {block};
  while (!pending.empty())
    for (Block *next : pending.pop_back_val()->getSuccessors())
      if (!blocks.contains(next) && reached.insert(next).second)
        pending.push_back(next);
  return reached;
}

Value EarlyExits::filler(Value value) {
  Constant known = integerWidth(value.getType()) ? firstOf(value) : std::nullopt;
  if (!known)
    return zero(value.getType());
  return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(value.getType(), *known));
}

void EarlyExits::collectUsedAfter() {
  auto look = [&](Value value) {
    for (Operation *user : value.getUsers()) {
      // The user may be in a region of an operation of these blocks.
      Block *block = header->getParent()->findAncestorBlockInRegion(*user->getBlock());
      if (!block || !blocks.contains(block)) {
        usedAfter.insert(value);
        usersAfter[value].push_back(block);
      }
    }
  };
  for (Block *block : blocks) {
    for (Value argument : block->getArguments())
      look(argument);
    for (Operation &op : *block)
      for (Value result : op.getResults())
        look(result);
  }
  for (Edge edge : exits) {
    Block *target = edge.branch->getSuccessor(edge.successor);
    behind.try_emplace(target, reachedFrom(target));
  }
  for (Edge edge : exits)
    for (Value operand : operandsTo(edge))
      if (Block *block = operand.getParentBlock(); blocks.contains(block))
        usedAfter.insert(operand);
}

void EarlyExits::createBlocks() {
  SmallVector<Type> types(header->getArgumentTypes());
  first = builder.createBlock(header, types, SmallVector<Location>(types.size(), loc));
  for (Value value : usedAfter)
    types.push_back(value.getType());
  for (Value argument : header->getArguments())
    fillers.push_back(filler(argument));
  for (Value value : usedAfter)
    fillers.push_back(filler(value));
  SmallVector<Value> start = {integer(0), integer(0)};
  start.append(first->args_begin(), first->args_end());
  start.append(fillers.begin() + header->getNumArguments(), fillers.end());
  types.insert(types.begin(), 2, builder.getI32Type());
  SmallVector<Location> locations(types.size(), loc);
  counter = builder.createBlock(header, types, locations);
  latch =
      builder.createBlock(header, TypeRange(types).drop_front(), ArrayRef(locations).drop_front());
  guard = builder.createBlock(header);
  builder.setInsertionPointToEnd(first);
  cf::BranchOp::create(builder, loc, counter, start);
}

/// Where an argument of the header is the same in a given iteration however it comes to it, it is
/// computed from the counter, so that its range is known.
void EarlyExits::countFromFirst() {
  builder.setInsertionPointToStart(guard);
  for (BlockArgument argument : header->getArguments()) {
    ArrayRef<Constant> values = history[argument.getArgNumber()];
    // Unless the header counts, it runs once more.
    Constant step = stepOf(values, trips + !headerCounts);
    if (!step)
      continue;
    Type type = argument.getType();
    Value value = counter->getArgument(0);
    unsigned width = integerWidth(type);
    if (type.isIndex())
      value = arith::IndexCastOp::create(builder, loc, type, value);
    else if (width > 32)
      value = arith::ExtSIOp::create(builder, loc, type, value);
    else if (width < 32)
      value = arith::TruncIOp::create(builder, loc, type, value);
    auto constant = [&](const APInt &of) {
      return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, of));
    };
    value = arith::MulIOp::create(builder, loc, value, constant(*step));
    value = arith::AddIOp::create(builder, loc, value, constant(*values[0]));
    argument.replaceUsesWithIf(value, [&](OpOperand &use) {
      Block *block = header->getParent()->findAncestorBlockInRegion(*use.getOwner()->getBlock());
      return block && blocks.contains(block);
    });
  }
}

void EarlyExits::routeEdges() {
  auto arguments = counter->getArguments();
  size_t numHeader = header->getNumArguments();
  auto kept = arguments.drop_front(2 + numHeader);
  for (Edge edge : entries)
    redirect(edge, first, SmallVector<Value>(operandsTo(edge)));
  for (Edge edge : latches) {
    builder.setInsertionPoint(edge.branch);
    SmallVector<Value> to = {integer(0)};
    llvm::append_range(to, operandsTo(edge));
    llvm::append_range(to, kept);
    redirect(edge, latch, to);
  }
  for (auto [i, edge] : llvm::enumerate(exits)) {
    if (headerCounts && edge.branch == bound.branch)
      continue;
    builder.setInsertionPoint(edge.branch);
    SmallVector<Value> to = {integer(int64_t(i) + 1)};
    to.append(fillers.begin(), fillers.begin() + numHeader); // Nobody asks for them any more.
    for (auto [value, before] : llvm::zip(usedAfter, kept))
      to.push_back(isUsedAfter(value, edge) ? value : Value(before));
    redirect(edge, latch, to);
  }
  builder.setInsertionPointToEnd(guard);
  Value left = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                     counter->getArgument(1), integer(0));
  SmallVector<Value> same = {counter->getArgument(1)};
  same.append(fillers.begin(), fillers.begin() + numHeader);
  llvm::append_range(same, kept);
  cf::CondBranchOp::create(builder, loc, left, latch, same, header,
                           SmallVector<Value>(arguments.slice(2, numHeader)));
  builder.setInsertionPointToEnd(latch);
  SmallVector<Value> next = {arith::AddIOp::create(builder, loc, arguments[0], integer(1))};
  llvm::append_range(next, latch->getArguments());
  cf::BranchOp::create(builder, loc, counter, next);
}

IRMapping EarlyExits::cloneHeader() {
  IRMapping last;
  for (auto [argument, of] :
       llvm::zip(header->getArguments(), counter->getArguments().drop_front(2))) {
    const Constant &value = history[argument.getArgNumber()][trips];
    Value mapped = of;
    if (value)
      mapped = arith::ConstantOp::create(builder, loc,
                                         builder.getIntegerAttr(argument.getType(), *value));
    last.map(argument, mapped);
  }
  return last;
}

/// What follows the loop: goes on where it was left to.
void EarlyExits::leave() {
  SmallVector<Type> types = {builder.getI32Type()};
  for (Value value : usedAfter)
    types.push_back(value.getType());
  // It comes after `counter` in dominance, and before everything that uses what the loop gives.
  Block *after = builder.createBlock(header, types, SmallVector<Location>(types.size(), loc));
  auto arguments = counter->getArguments();
  SmallVector<Value> early = {arguments[1]};
  llvm::append_range(early, arguments.drop_front(2 + header->getNumArguments()));
  Block *done = after;
  SmallVector<Value> toDone = early;
  if (headerCounts) {
    Block *counted = builder.createBlock(after);
    IRMapping last = cloneHeader();
    for (Operation &op : header->without_terminator())
      builder.clone(op, last);
    SmallVector<Value> values = {integer(0)};
    for (auto [used, none] :
         llvm::zip(usedAfter, ArrayRef(fillers).drop_front(header->getNumArguments())))
      values.push_back(isUsedAfter(used, bound) ? last.lookup(used) : none);
    cf::BranchOp::create(builder, loc, after, values);
    done = builder.createBlock(counted);
    Value left =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, arguments[1], integer(0));
    cf::CondBranchOp::create(builder, loc, left, after, early, counted, ValueRange());
    toDone.clear();
  }
  builder.setInsertionPointToEnd(counter);
  Value goesOn = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, arguments[0],
                                       integer(trips + !headerCounts));
  cf::CondBranchOp::create(builder, loc, goesOn, guard, ValueRange(), done, toDone);

  IRMapping inside; // What the loop computes, as it is after the loop.
  for (auto [value, argument] : llvm::zip(usedAfter, after->getArguments().drop_front()))
    inside.map(value, argument);
  // The targets, before the edges are redirected.
  Block *at = after;
  builder.setInsertionPointToEnd(at);
  for (auto [i, edge] : llvm::enumerate(exits)) {
    SmallVector<Value> operands;
    for (Value operand : operandsTo(edge))
      operands.push_back(inside.lookupOrDefault(operand));
    Block *target = edge.branch->getSuccessor(edge.successor);
    if (i + 1 == exits.size()) {
      cf::BranchOp::create(builder, loc, target, operands);
      break;
    }
    bool isCounted = headerCounts && edge.branch == bound.branch;
    Value isThis =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, after->getArgument(0),
                              integer(isCounted ? 0 : int64_t(i) + 1));
    Block *next = builder.createBlock(header);
    builder.setInsertionPointToEnd(at);
    cf::CondBranchOp::create(builder, loc, isThis, target, operands, next, ValueRange());
    at = next;
    builder.setInsertionPointToEnd(at);
  }
  for (auto [from, to] : inside.getValueMap())
    Value(from).replaceUsesWithIf(to, [&](OpOperand &use) {
      Block *block = header->getParent()->findAncestorBlockInRegion(*use.getOwner()->getBlock());
      bool isNew = block == counter || block == latch || block == guard;
      return !isNew && (!block || !blocks.contains(block));
    });
}

void EarlyExits::route() {
  hoistIndices();
  collectUsedAfter();
  createBlocks();
  leave();
  routeEdges();
  countFromFirst();
  if (!headerCounts)
    return;
  // In the iterations that are left the header does not leave the loop.
  auto branch = cast<cf::CondBranchOp>(bound.branch);
  unsigned stay = 1 - bound.successor;
  builder.setInsertionPoint(branch);
  cf::BranchOp::create(builder, branch.getLoc(), branch->getSuccessor(stay),
                       SmallVector<Value>(operandsTo({branch, stay})));
  branch.erase();
}

FailureOr<bool> frontend::routeExits(CFGLoop &loop, DominanceInfo &dominance) {
  EarlyExits exits(loop, dominance);
  FailureOr<bool> isNeeded = exits.isNeeded();
  if (succeeded(isNeeded) && *isNeeded)
    exits.route();
  return isNeeded;
}
