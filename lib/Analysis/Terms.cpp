//===- Terms.cpp - An update as one expression -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Terms.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

#include <algorithm>
#include <bit>

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;

/// Counts helpers at each place that calls them.
static constexpr int kMostOps = 4096;

static std::string quoted(Operation *op) { return "'" + op->getName().getStringRef().str() + "'"; }

/// Ops whose results their operands give, without attributes. An op that is not here, nor read by
/// Terms::apply, is Unknown.
static TermKind kindOf(Operation *op) {
  static const llvm::StringMap<TermKind> kKinds = {{"arith.negf", TermKind::Negated},
                                                   {"arith.addf", TermKind::Sum},
                                                   {"arith.subf", TermKind::Difference},
                                                   {"arith.mulf", TermKind::Product},
                                                   {"math.fma", TermKind::Fma},
                                                   {"arith.divf", TermKind::Quotient},
                                                   {"math.absf", TermKind::Absolute},
                                                   {"math.sqrt", TermKind::Root},
                                                   {"math.exp", TermKind::Exponential},
                                                   {"math.exp2", TermKind::Exponential},
                                                   {"arith.maximumf", TermKind::Maximum},
                                                   {"arith.minimumf", TermKind::Minimum},
                                                   {"arith.maxnumf", TermKind::MaxNum},
                                                   {"arith.minnumf", TermKind::MinNum},
                                                   {"arith.extf", TermKind::Extended},
                                                   {"arith.truncf", TermKind::Truncated},
                                                   {"arith.sitofp", TermKind::FromSigned},
                                                   {"arith.uitofp", TermKind::FromUnsigned},
                                                   {"arith.select", TermKind::Chosen}};
  return kKinds.lookup(op->getName().getStringRef());
}

bool annudf::mayDiffer(Operation *op) {
  auto flagged = dyn_cast<arith::ArithFastMathInterface>(op);
  if (!flagged || !flagged.getFastMathFlagsAttr())
    return false;
  const arith::FastMathFlags harmless = arith::FastMathFlags::contract;
  return (flagged.getFastMathFlagsAttr().getValue() & ~harmless) != arith::FastMathFlags::none;
}

static bool isCommutative(TermKind kind) {
  return kind == TermKind::Sum || kind == TermKind::Product || kind == TermKind::ExactProduct ||
         kind == TermKind::Maximum || kind == TermKind::Minimum || kind == TermKind::MaxNum ||
         kind == TermKind::MinNum;
}

Terms::Key Terms::keyOf(const Term &term) {
  std::vector<uint32_t> of(term.of.begin(), term.of.end());
  if (isCommutative(term.kind))
    llvm::sort(of);
  if (term.kind == TermKind::Fma)
    std::sort(of.begin(), of.begin() + 2);
  // exp and exp2 are one kind, but not one value.
  const void *type = term.type.getAsOpaquePointer();
  uint64_t more = std::bit_cast<uint64_t>(term.number) ^ static_cast<uint64_t>(term.predicate);
  if (term.kind == TermKind::Exponential)
    more = isa<math::Exp2Op>(term.at);
  return {term.kind, type, std::move(of), more, term.entry};
}

uint32_t Terms::make(Term term) {
  for (uint32_t operand : term.of) {
    term.isOfCoordinates |= all[operand].isOfCoordinates;
    term.hasProduct |= all[operand].hasProduct;
    term.mayFuse |= all[operand].mayFuse;
  }
  if (term.kind == TermKind::Sum || term.kind == TermKind::Difference)
    term.mayFuse |= term.hasProduct;
  // A compiler makes a product of a quotient by a power of two, and of x + x.
  term.hasProduct |= term.kind == TermKind::Product || term.kind == TermKind::ExactProduct ||
                     term.kind == TermKind::Quotient ||
                     (term.kind == TermKind::Sum && term.of[0] == term.of[1]);
  term.isOfCoordinates |= term.kind == TermKind::X || term.kind == TermKind::Y;
  const auto next = static_cast<uint32_t>(all.size());
  if (term.kind != TermKind::Unknown) {
    auto [place, isNew] = known.try_emplace(keyOf(term), next);
    // If two ops look the same, one may be fused and the other not.
    if (!isNew && !term.mayFuse)
      return place->second;
  }
  all.push_back(std::move(term));
  return next;
}

uint32_t Terms::unknown(Operation *op, std::string why) {
  Term term;
  term.at = op;
  term.why = std::move(why);
  term.isOfCoordinates = term.hasProduct = term.mayFuse = true;
  return make(std::move(term));
}

Terms::Terms(MetricOp metric) : update(metric.getUpdate()) {
  unknown(update, "it is not computed by the update"); // Node 0: of values that are not here.
  Block &block = metric.getUpdate().getBody().front();
  const size_t fields = block.getNumArguments() - 2;
  for (BlockArgument field : block.getArguments().take_front(fields))
    values[field] = unknown(update, "it is the accumulator");
  for (auto [kind, i] : {std::pair(TermKind::X, fields), std::pair(TermKind::Y, fields + 1)}) {
    Term term;
    term.kind = kind;
    term.type = block.getArgument(i).getType();
    term.at = update;
    values[block.getArgument(i)] =
        isa<FloatType>(term.type)
            ? make(std::move(term))
            : unknown(update, "the update takes its coordinates as integers, which wrap around");
  }
  run(block);
}

void Terms::run(Block &block) {
  for (Operation &op : block.without_terminator())
    apply(op);
}

/// Indices that are the same for all rows of a query, and the entry's number as the body sees it.
uint32_t Terms::load(LoadOp op) {
  auto capture = op.getCapture().getDefiningOp<CaptureOp>();
  if (!capture)
    return unknown(op, "it loads from no capture");
  TermEntry entry{capture.getName().str(), {}, false};
  for (Value index : op.getIndices()) {
    if (IndexOp same = index.getDefiningOp<IndexOp>();
        same && (same.getKind() == ScanIndex::Dim || same.getKind() == ScanIndex::Query))
      entry.indices.push_back(
          {same.getKind() == ScanIndex::Dim ? EntryIndex::Kind::Dim : EntryIndex::Kind::Query});
    else if (auto fixed = index.getDefiningOp<arith::ConstantIndexOp>())
      entry.indices.push_back({EntryIndex::Kind::Number, fixed.value()});
    else
      return unknown(op, "it loads \"" + entry.capture +
                             "\" at an index that is not dim, query or a constant");
  }
  const Type stored = capture.getResult().getType().getElementType();
  entry.isUnsigned = stored.isUnsignedInteger() || stored.isInteger(1);
  Term term;
  term.kind = TermKind::Entry;
  term.type = op.getResult().getType();
  term.at = op;
  const auto same = llvm::find_if(entries, [&](const TermEntry &one) {
    return one.capture == entry.capture && one.indices == entry.indices;
  });
  term.entry = static_cast<uint32_t>(same - entries.begin());
  if (same == entries.end())
    entries.push_back(std::move(entry));
  return make(std::move(term));
}

/// d < 0 ? -d : d, and the like.
uint32_t Terms::choose(Term term) {
  using P = arith::CmpFPredicate;
  const Term &condition = all[term.of[0]];
  if (condition.kind != TermKind::Compared)
    return make(std::move(term));
  uint32_t of = condition.of[0];
  const Term &zero = all[condition.of[1]];
  uint32_t negative = 0, positive = 0;
  if (llvm::is_contained({P::OLT, P::OLE, P::ULT, P::ULE}, condition.predicate))
    negative = term.of[1], positive = term.of[2];
  else if (llvm::is_contained({P::OGT, P::OGE, P::UGT, P::UGE}, condition.predicate))
    negative = term.of[2], positive = term.of[1];
  const bool isMagnitude = positive == of && zero.kind == TermKind::Constant && zero.number == 0 &&
                           all[negative].kind == TermKind::Negated && all[negative].of[0] == of;
  if (isMagnitude)
    term.kind = TermKind::Magnitude, term.of = {of};
  return make(std::move(term));
}

void Terms::branch(Operation &op) {
  auto split = cast<scf::IfOp>(op);
  for (Region &region : op.getRegions())
    if (!region.empty())
      run(region.front());
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    Term term;
    term.kind = TermKind::Chosen;
    term.type = result.getType();
    term.of = {at(split.getCondition()), at(split.thenYield()->getOperand(i)),
               at(split.elseYield()->getOperand(i))};
    term.at = &op;
    values[result] = choose(std::move(term));
  }
}

bool Terms::call(Operation &op) {
  auto made = cast<func::CallOp>(op);
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(&op, made.getCalleeAttr());
  if (!callee || callee.isExternal())
    return false;
  Block &body = callee.getBody().front();
  for (auto [argument, operand] : llvm::zip(body.getArguments(), op.getOperands()))
    values[argument] = at(operand);
  run(body);
  for (auto [result, value] : llvm::zip(op.getResults(), body.getTerminator()->getOperands()))
    values[result] = at(value);
  return true;
}

void Terms::apply(Operation &op) {
  auto unknownResults = [&](const std::string &why) {
    for (Value result : op.getResults())
      values[result] = unknown(&op, why);
  };
  if (++ops > kMostOps)
    return unknownResults("the update takes more than " + std::to_string(kMostOps) + " operations");
  if (mayDiffer(&op))
    return unknownResults(quoted(&op) + " has flags that let devices give different results");
  if (isa<scf::IfOp>(op))
    return branch(op);
  if (isa<func::CallOp>(op) && call(op))
    return;
  if (auto read = dyn_cast<LoadOp>(op)) {
    values[read.getResult()] = load(read);
    return;
  }
  Term term;
  term.at = &op;
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (auto value = dyn_cast<FloatAttr>(constant.getValue())) {
      term.kind = TermKind::Constant;
      term.number = value.getValueAsDouble();
    }
  } else if (auto compare = dyn_cast<arith::CmpFOp>(op)) {
    term.kind = TermKind::Compared;
    term.predicate = compare.getPredicate();
  } else {
    term.kind = kindOf(&op);
  }
  if (term.kind == TermKind::Unknown || op.getNumResults() != 1)
    return unknownResults(quoted(&op) + " is not known to this analysis");
  term.type = op.getResult(0).getType();
  for (Value operand : op.getOperands())
    term.of.push_back(at(operand));
  values[op.getResult(0)] =
      term.kind == TermKind::Chosen ? choose(std::move(term)) : make(std::move(term));
}

std::vector<uint32_t> Terms::termsOf(const JoinedField &field) {
  std::vector<uint32_t> found;
  for (const JoinedTerm &step : field.terms) {
    Operation *op = step.op;
    if (mayDiffer(op)) {
      found.push_back(
          unknown(op, quoted(op) + " has flags that let devices give different results"));
      continue;
    }
    if (isa<math::FmaOp>(op)) {
      Term product;
      product.kind = TermKind::ExactProduct;
      product.type = op->getResult(0).getType();
      product.of = {at(op->getOperand(0)), at(op->getOperand(1))};
      product.at = op;
      found.push_back(make(std::move(product)));
      continue;
    }
    uint32_t term = at(op->getOperand(1 - step.through));
    if (isa<arith::SubFOp, arith::SubIOp>(op)) {
      Term negated;
      negated.kind = TermKind::Negated;
      negated.type = op->getResult(0).getType();
      negated.of = {term};
      negated.at = op;
      term = make(std::move(negated));
    }
    found.push_back(term);
  }
  return found;
}

std::optional<uint32_t> Terms::find(const Term &term) const {
  const auto found = known.find(keyOf(term));
  return found == known.end() ? std::nullopt : std::optional(found->second);
}
