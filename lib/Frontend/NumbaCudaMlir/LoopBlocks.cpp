//===- LoopBlocks.cpp - The counters of a loop of blocks -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Loops.h"

#include "annudf/Dialect/Transforms/AbiRules.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::frontend;

/// Deepest chain of operations that is followed to compute a counter.
static constexpr int kMaxChain = 256;

OperandRange frontend::operandsTo(Edge edge) {
  return cast<BranchOpInterface>(edge.branch)
      .getSuccessorOperands(edge.successor)
      .getForwardedOperands();
}

void frontend::redirect(Edge edge, Block *to, ValueRange operands) {
  cast<BranchOpInterface>(edge.branch)
      .getSuccessorOperands(edge.successor)
      .getMutableForwardedOperands()
      .assign(operands);
  edge.branch->setSuccessor(to, edge.successor);
}

LogicalResult frontend::refuseUnknown(Location loc) {
  return emitError(loc)
         << "[P14] repeats a number of times that is unknown at compile time; use range() with "
            "constant bounds, or while with a counter from one constant to another";
}

LogicalResult frontend::refuseTooMany(Location loc) {
  return emitError(loc) << "[P15] repeats more than " << kMaxTripCount
                        << " times; split the work over the dimensions or shorten the loop";
}

LoopBlocks::LoopBlocks(CFGLoop &loop) : header(loop.getHeader()) {
  for (Block *block : loop.getBlocks())
    blocks.insert(block);
  for (auto it = header->pred_begin(), end = header->pred_end(); it != end; ++it) {
    Edge edge = {(*it)->getTerminator(), it.getSuccessorIndex()};
    (blocks.contains(*it) ? latches : entries).push_back(edge);
  }
  // Reverse post-order, without the edges back to the header.
  llvm::DenseSet<Block *> seen = {header};
  SmallVector<std::pair<Block *, unsigned>> stack = {{header, 0}};
  while (!stack.empty()) {
    auto &[block, successor] = stack.back();
    if (successor == block->getNumSuccessors()) {
      order.push_back(block);
      stack.pop_back();
      continue;
    }
    Block *next = block->getSuccessor(successor++);
    if (blocks.contains(next) && seen.insert(next).second)
      stack.push_back({next, 0});
  }
  std::reverse(order.begin(), order.end());
}

LoopBlocks::Constant LoopBlocks::valueOf(Value value, Values &known, int chain) const {
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

/// One iteration: which ways can be taken, and what is known on them.
struct LoopBlocks::Iteration {
  Values known;
  llvm::DenseSet<Block *> reached, done;
  SmallVector<Constant> next; ///< What the header's arguments are after it.
  bool goesOn = false, isAcyclic = true;
  bool isExitKnown = false; ///< Whether it is known of some exit that it is taken or not.
  Constant headerLeaves;
};

void LoopBlocks::follow(Edge edge, Iteration &iteration) const {
  Block *to = edge.branch->getSuccessor(edge.successor);
  if (!blocks.contains(to))
    return;
  const bool isFirst = to == header ? !iteration.goesOn : iteration.reached.insert(to).second;
  iteration.goesOn |= to == header;
  iteration.isAcyclic &= to == header || !iteration.done.contains(to);
  for (auto [argument, operand] : llvm::zip(to->getArguments(), operandsTo(edge))) {
    Constant value;
    if (integerWidth(argument.getType()))
      value = valueOf(operand, iteration.known);
    Constant &joined =
        to == header ? iteration.next[argument.getArgNumber()] : iteration.known[argument];
    if (isFirst)
      joined = value;
    else if (joined && (!value || *joined != *value))
      joined = std::nullopt;
  }
}

bool LoopBlocks::runOnce(Iteration &iteration) const {
  iteration.next.resize(header->getNumArguments());
  iteration.reached.insert(header);
  for (Block *block : order) {
    if (!iteration.reached.contains(block))
      continue;
    iteration.done.insert(block);
    Operation *branch = block->getTerminator();
    std::optional<unsigned> taken;
    if (auto conditional = dyn_cast<cf::CondBranchOp>(branch)) {
      Constant condition = valueOf(conditional.getCondition(), iteration.known);
      if (condition)
        taken = condition->isZero() ? 1 : 0;
      bool isExit = !blocks.contains(conditional.getTrueDest()) ||
                    !blocks.contains(conditional.getFalseDest());
      iteration.isExitKnown |= isExit && taken;
      if (taken && isExit && block == header)
        iteration.headerLeaves = APInt(1, !blocks.contains(branch->getSuccessor(*taken)));
    }
    for (unsigned i = 0; i < branch->getNumSuccessors(); ++i)
      if (!taken || *taken == i)
        follow({branch, i}, iteration);
  }
  return iteration.isAcyclic;
}

LoopBlocks::Bound LoopBlocks::run() {
  unsigned size = header->getNumArguments();
  history.assign(size, {});
  SmallVector<Constant> current(size);
  Values outside;
  for (unsigned i = 0; i < size; ++i) {
    if (!integerWidth(header->getArgument(i).getType()))
      continue;
    current[i] = valueOf(operandsTo(entries.front())[i], outside);
    for (Edge edge : llvm::drop_begin(entries))
      if (current[i] != valueOf(operandsTo(edge)[i], outside))
        current[i] = std::nullopt;
  }
  headerCounts = true;
  bool isExitKnown = false;
  for (trips = 0; trips <= kMaxTripCount; ++trips) {
    Iteration iteration;
    for (unsigned i = 0; i < size; ++i) {
      iteration.known[header->getArgument(i)] = current[i];
      history[i].push_back(current[i]);
    }
    if (!runOnce(iteration))
      return Bound::Unknown;
    if (trips == 0)
      firstTime = iteration.known;
    headerCounts &= iteration.headerLeaves && iteration.headerLeaves->isOne() == !iteration.goesOn;
    isExitKnown |= iteration.isExitKnown;
    if (!iteration.goesOn)
      return Bound::Known;
    current = iteration.next;
  }
  return isExitKnown ? Bound::TooMany : Bound::Unknown;
}

LoopBlocks::Constant LoopBlocks::stepOf(ArrayRef<Constant> values, int64_t trips) {
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
