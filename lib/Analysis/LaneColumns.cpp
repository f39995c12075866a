//===- LaneColumns.cpp - A body computed for many pairs at once -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaneColumns.h"

#include "annudf/Analysis/Ranges.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

using namespace mlir;
using namespace annudf;

namespace {

/// More than a term is written with: what a compile spends on a body that is none stays small.
constexpr int kMostOps = 64;

/// Up to here a type holds every whole number, so that no sum, difference or product is rounded,
/// nor would be if it were fused with another.
double exactUpTo(Type type) { return std::ldexp(1.0, type.isF16() ? 11 : type.isF32() ? 24 : 53); }

/// Beside it a double has no fraction; up to it every whole number.
constexpr double kWhole = 4503599627370496.0;

/// As two's complement of so many bits has it.
int64_t wrap(uint64_t value, unsigned width) {
  const unsigned unused = 64 - width;
  return static_cast<int64_t>(value << unused) >> unused;
}

uint64_t asUnsigned(int64_t value, unsigned width) {
  return static_cast<uint64_t>(value) & (~uint64_t(0) >> (64 - width));
}

std::string quoted(Operation &op) { return "'" + op.getName().getStringRef().str() + "'"; }

std::string spell(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.9g", value);
  return text;
}

template <typename F> void each(std::vector<double> &out, const std::vector<double> &a, F f) {
  out.resize(a.size());
  for (size_t i = 0; i < a.size(); ++i)
    out[i] = f(a[i]);
}

template <typename T, typename F>
void each(std::vector<T> &out, const std::vector<T> &a, const std::vector<T> &b, F f) {
  out.resize(a.size());
  for (size_t i = 0; i < a.size(); ++i)
    out[i] = f(a[i], b[i]);
}

/// Which of max and min a NaN would come out of is not told apart: no number comes out.
double ordered(double x, double y, double chosen) {
  return std::isnan(x) || std::isnan(y) ? std::numeric_limits<double>::quiet_NaN() : chosen;
}

double most(const Column &column) {
  double largest = 0;
  for (double value : column.reals)
    largest = std::max(largest, std::abs(value));
  for (int64_t value : column.wholes)
    largest = std::max(largest, std::abs(static_cast<double>(value)));
  return largest;
}

bool compares(arith::CmpFPredicate predicate, double a, double b) {
  using P = arith::CmpFPredicate;
  const bool unordered = std::isnan(a) || std::isnan(b);
  switch (predicate) {
  case P::AlwaysFalse:
    return false;
  case P::AlwaysTrue:
    return true;
  case P::OEQ:
    return a == b;
  case P::OGT:
    return a > b;
  case P::OGE:
    return a >= b;
  case P::OLT:
    return a < b;
  case P::OLE:
    return a <= b;
  case P::ONE:
    return !unordered && a != b;
  case P::ORD:
    return !unordered;
  case P::UEQ:
    return unordered || a == b;
  case P::UGT:
    return unordered || a > b;
  case P::UGE:
    return unordered || a >= b;
  case P::ULT:
    return unordered || a < b;
  case P::ULE:
    return unordered || a <= b;
  case P::UNE:
    return a != b;
  case P::UNO:
    return unordered;
  }
  return false;
}

} // namespace

bool Columns::fail(std::string why) {
  reason = std::move(why);
  return false;
}

bool Columns::isExact(Operation &op, const Column &column, Type type) {
  const double limit = exactUpTo(type);
  bool exact = true; // For all at once: the compiler makes vectors of it.
  for (double value : column.reals)
    exact &= std::abs(value) <= limit && (std::abs(value) + kWhole) - kWhole == std::abs(value);
  if (exact)
    return true;
  for (double value : column.reals)
    if (!(std::abs(value) <= limit) || value != std::trunc(value))
      return fail(quoted(op) + " gives " + spell(value) +
                  " of two coordinates, no whole number "
                  "that its type holds exactly");
  return true;
}

bool Columns::constant(Operation &op, Attribute value) {
  Column &out = columns[op.getResult(0)];
  out = {};
  if (auto number = dyn_cast<FloatAttr>(value))
    out.reals.assign(pairs, number.getValueAsDouble());
  else if (auto whole = dyn_cast<IntegerAttr>(value))
    out.wholes.assign(pairs, whole.getValue().getSExtValue());
  else
    return fail("it holds a constant that is no number");
  return true;
}

bool Columns::realOp(Operation &op, Column &out, bool &known) {
  const std::vector<double> &a = at(op.getOperand(0)).reals;
  const std::vector<double> &b = at(op.getOperand(op.getNumOperands() > 1 ? 1 : 0)).reals;
  if (isa<arith::AddFOp>(op))
    each(out.reals, a, b, [](double x, double y) { return x + y; });
  else if (isa<arith::SubFOp>(op))
    each(out.reals, a, b, [](double x, double y) { return x - y; });
  else if (isa<arith::MulFOp>(op))
    each(out.reals, a, b, [](double x, double y) { return x * y; });
  else if (isa<arith::NegFOp>(op))
    each(out.reals, a, [](double x) { return -x; });
  else if (isa<math::AbsFOp>(op))
    each(out.reals, a, [](double x) { return std::abs(x); });
  // For numbers they are all the same; which zero they give shows nowhere.
  else if (isa<arith::MaximumFOp, arith::MaxNumFOp>(op))
    each(out.reals, a, b, [](double x, double y) { return ordered(x, y, std::max(x, y)); });
  else if (isa<arith::MinimumFOp, arith::MinNumFOp>(op))
    each(out.reals, a, b, [](double x, double y) { return ordered(x, y, std::min(x, y)); });
  else if (isa<math::FmaOp>(op)) {
    const std::vector<double> &c = at(op.getOperand(2)).reals;
    each(out.reals, a, b, [](double x, double y) { return x * y; });
    if (!isExact(op, out, op.getResult(0).getType()))
      return false;
    each(out.reals, out.reals, c, [](double x, double y) { return x + y; });
  } else {
    known = false;
    return true;
  }
  return isExact(op, out, op.getResult(0).getType());
}

bool Columns::wholeOp(Operation &op, Column &out, bool &known) {
  const unsigned width = integerWidth(op.getResult(0).getType());
  const std::vector<int64_t> &a = at(op.getOperand(0)).wholes;
  const std::vector<int64_t> &b = at(op.getOperand(op.getNumOperands() > 1 ? 1 : 0)).wholes;
  auto with = [&](auto f) {
    each(out.wholes, a, b, [&](int64_t x, int64_t y) {
      return wrap(f(static_cast<uint64_t>(x), static_cast<uint64_t>(y)), width);
    });
  };
  auto choosing = [&](auto takesFirst) {
    each(out.wholes, a, b, [&](int64_t x, int64_t y) { return takesFirst(x, y) ? x : y; });
  };
  auto below = [width](int64_t x, int64_t y) {
    return asUnsigned(x, width) < asUnsigned(y, width);
  };
  if (isa<arith::AddIOp>(op))
    with([](uint64_t x, uint64_t y) { return x + y; });
  else if (isa<arith::SubIOp>(op))
    with([](uint64_t x, uint64_t y) { return x - y; });
  else if (isa<arith::MulIOp>(op))
    with([](uint64_t x, uint64_t y) { return x * y; });
  else if (isa<arith::AndIOp>(op))
    with([](uint64_t x, uint64_t y) { return x & y; });
  else if (isa<arith::OrIOp>(op))
    with([](uint64_t x, uint64_t y) { return x | y; });
  else if (isa<arith::XOrIOp>(op))
    with([](uint64_t x, uint64_t y) { return x ^ y; });
  else if (isa<math::AbsIOp>(op))
    with([](uint64_t x, uint64_t) { return static_cast<int64_t>(x) < 0 ? 0 - x : x; });
  else if (isa<math::CtPopOp>(op))
    with([width](uint64_t x, uint64_t) {
      return static_cast<uint64_t>(std::popcount(asUnsigned(static_cast<int64_t>(x), width)));
    });
  else if (isa<arith::MaxSIOp>(op))
    choosing([](int64_t x, int64_t y) { return x > y; });
  else if (isa<arith::MinSIOp>(op))
    choosing([](int64_t x, int64_t y) { return x < y; });
  else if (isa<arith::MaxUIOp>(op))
    choosing([&](int64_t x, int64_t y) { return below(y, x); });
  else if (isa<arith::MinUIOp>(op))
    choosing([&](int64_t x, int64_t y) { return below(x, y); });
  else
    known = false;
  return true;
}

bool Columns::convert(Operation &op, Column &out, bool &known) {
  const Column &from = at(op.getOperand(0));
  const Type type = op.getResult(0).getType();
  const unsigned before = integerWidth(op.getOperand(0).getType()), width = integerWidth(type);
  auto toReals = [&](auto f) {
    out.reals.reserve(pairs);
    for (int64_t value : from.wholes)
      out.reals.push_back(f(value));
    return isExact(op, out, type);
  };
  constexpr double kMost = 9007199254740992.0; // 2^53, exact in a double; a constant may be more.
  auto toWholes = [&](double least, double largest) {
    out.wholes.reserve(pairs);
    for (double value : from.reals) {
      if (!(std::abs(value) <= kMost))
        return fail(quoted(op) + " converts " + spell(value));
      const double inside = std::clamp(std::trunc(value), least, largest);
      out.wholes.push_back(wrap(static_cast<uint64_t>(static_cast<int64_t>(inside)), width));
    }
    return true;
  };
  if (isa<arith::ExtFOp, arith::TruncFOp>(op)) {
    out.reals = from.reals;
    return isExact(op, out, type);
  }
  if (isa<arith::SIToFPOp>(op))
    return toReals([](int64_t value) { return static_cast<double>(value); });
  if (isa<arith::UIToFPOp>(op))
    return toReals([&](int64_t value) { return static_cast<double>(asUnsigned(value, before)); });
  // Saturating, as both lowerings have it.
  if (isa<arith::FPToSIOp>(op))
    return toWholes(std::max(-kMost, -std::ldexp(1.0, int(width) - 1)),
                    std::min(kMost, std::ldexp(1.0, int(width) - 1) - 1));
  if (isa<arith::FPToUIOp>(op))
    return toWholes(0, std::min(kMost, std::ldexp(1.0, int(width)) - 1));
  const bool isUnsigned = isa<arith::ExtUIOp, arith::IndexCastUIOp>(op);
  if (!isUnsigned && !isa<arith::ExtSIOp, arith::TruncIOp, arith::IndexCastOp>(op)) {
    known = false;
    return true;
  }
  out.wholes.reserve(pairs);
  for (int64_t value : from.wholes)
    out.wholes.push_back(
        wrap(isUnsigned ? asUnsigned(value, before) : static_cast<uint64_t>(value), width));
  return true;
}

bool Columns::compare(Operation &op, Column &out, bool &known) {
  if (!isa<arith::CmpFOp, arith::CmpIOp>(op)) {
    known = false;
    return true;
  }
  const Column &a = at(op.getOperand(0)), &b = at(op.getOperand(1));
  out.wholes.resize(pairs);
  if (auto reals = dyn_cast<arith::CmpFOp>(op)) {
    for (size_t i = 0; i < pairs; ++i)
      out.wholes[i] = -int64_t(compares(reals.getPredicate(), a.reals[i], b.reals[i]));
    return true;
  }
  auto wholes = cast<arith::CmpIOp>(op);
  const unsigned width = integerWidth(op.getOperand(0).getType());
  for (size_t i = 0; i < pairs; ++i)
    out.wholes[i] = -int64_t(arith::applyCmpPredicate(
        wholes.getPredicate(), APInt(width, asUnsigned(a.wholes[i], width)),
        APInt(width, asUnsigned(b.wholes[i], width))));
  return true;
}

/// Follows an op on the accumulator, which may be added to and subtracted from.
bool Columns::accumulate(Operation &op, Column &out) {
  unsigned through = 0;
  if (isa<math::FmaOp>(op))
    through = 2;
  else if (isa<arith::AddFOp, arith::AddIOp>(op) && !at(op.getOperand(0)).onAccumulator)
    through = 1;
  // What is made wider here is made narrow again: an accumulator has 32 bits.
  const bool recast = isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(op);
  bool others = true;
  for (auto [i, operand] : llvm::enumerate(op.getOperands()))
    others &= i == through || !at(operand).onAccumulator;
  if (!at(op.getOperand(through)).onAccumulator || !others ||
      !(recast || isa<arith::AddFOp, arith::AddIOp, arith::SubFOp, arith::SubIOp, math::FmaOp>(op)))
    return fail(quoted(op) + " does more with the accumulator than add to it");
  const unsigned width = integerWidth(op.getResult(0).getType());
  if (recast && (width < 32 || integerWidth(op.getOperand(0).getType()) < 32))
    return fail(quoted(op) + " makes the accumulator narrower");
  const Column &before = at(op.getOperand(through));
  out.onAccumulator = true;
  if (recast) {
    for (int64_t value : before.wholes)
      out.wholes.push_back(wrap(static_cast<uint64_t>(value), width));
    return true;
  }
  Column term;
  if (isa<math::FmaOp>(op)) {
    each(term.reals, at(op.getOperand(0)).reals, at(op.getOperand(1)).reals,
         [](double x, double y) { return x * y; });
  } else {
    term = at(op.getOperand(1 - through));
  }
  // A constant, or the product.
  if (!isExact(op, term, op.getResult(0).getType()))
    return false;
  const bool minus = isa<arith::SubFOp, arith::SubIOp>(op);
  each(out.reals, before.reals, term.reals,
       [&](double x, double y) { return minus ? x - y : x + y; });
  each(out.wholes, before.wholes, term.wholes, [&](int64_t x, int64_t y) {
    const auto a = static_cast<uint64_t>(x), b = static_cast<uint64_t>(y);
    return wrap(minus ? a - b : a + b, width);
  });
  out.bound = before.bound + most(term);
  return isExact(op, out, op.getResult(0).getType());
}

bool Columns::merge(Operation &op, const Column &condition, const Column &a, const Column &b,
                    Column &out) {
  if (condition.onAccumulator || a.onAccumulator != b.onAccumulator)
    return fail(quoted(op) + " does more with the accumulator than add to it");
  out.onAccumulator = a.onAccumulator;
  out.bound = std::max(a.bound, b.bound);
  out.reals.resize(a.reals.size());
  for (size_t i = 0; i < a.reals.size(); ++i)
    out.reals[i] = condition.wholes[i] ? a.reals[i] : b.reals[i];
  out.wholes.resize(a.wholes.size());
  for (size_t i = 0; i < a.wholes.size(); ++i)
    out.wholes[i] = condition.wholes[i] ? a.wholes[i] : b.wholes[i];
  return true;
}

/// Both sides are computed for every pair: ops that bodies may hold have no effects.
bool Columns::branch(Operation &op) {
  auto split = cast<scf::IfOp>(op);
  for (Region &region : op.getRegions())
    if (!region.empty() && !run(region.front()))
      return false;
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    Column out;
    if (!merge(op, at(split.getCondition()), at(split.thenYield()->getOperand(i)),
               at(split.elseYield()->getOperand(i)), out))
      return false;
    set(result, std::move(out));
  }
  return true;
}

bool Columns::call(Operation &op) {
  auto made = cast<func::CallOp>(op);
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(&op, made.getCalleeAttr());
  if (!callee || callee.isExternal())
    return fail("it calls what has no body");
  Block &body = callee.getBody().front();
  for (auto [argument, operand] : llvm::zip(body.getArguments(), op.getOperands()))
    set(argument, Column(at(operand)));
  if (!run(body))
    return false;
  for (auto [result, value] : llvm::zip(op.getResults(), body.getTerminator()->getOperands()))
    set(result, Column(at(value)));
  return true;
}

bool Columns::apply(Operation &op) {
  if (++ops > kMostOps)
    return fail("it takes more than " + std::to_string(kMostOps) + " operations");
  if (auto value = dyn_cast<arith::ConstantOp>(op))
    return constant(op, value.getValue());
  if (isa<scf::IfOp>(op))
    return branch(op);
  if (isa<func::CallOp>(op))
    return call(op);
  const bool isKnown = op.getNumResults() == 1 && op.getNumOperands() > 0 &&
                       llvm::all_of(op.getOperands(), [&](Value v) { return columns.contains(v); });
  if (!isKnown)
    return fail("it holds " + quoted(op) + ", which depends on more than two coordinates");
  Column out;
  bool known = true;
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    if (!merge(op, at(select.getCondition()), at(select.getTrueValue()), at(select.getFalseValue()),
               out))
      return false;
  } else if (llvm::any_of(op.getOperands(), [&](Value v) { return at(v).onAccumulator; })) {
    if (!accumulate(op, out))
      return false;
  } else {
    using Step = bool (Columns::*)(Operation &, Column &, bool &);
    const bool isReal = isa<FloatType>(op.getOperand(0).getType());
    const Step steps[] = {isReal ? &Columns::realOp : &Columns::wholeOp, &Columns::convert,
                          &Columns::compare};
    for (Step step : steps) {
      known = true;
      if (!(this->*step)(op, out, known))
        return false;
      if (known)
        break;
    }
  }
  if (!known)
    return fail("it holds " + quoted(op) + ", which is not computed for every pair");
  set(op.getResult(0), std::move(out));
  return true;
}

bool Columns::run(Block &block) {
  for (Operation &op : block.without_terminator())
    if (!apply(op))
      return false;
  return true;
}
