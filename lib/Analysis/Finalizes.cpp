//===- Finalizes.cpp - How a distance goes with what was added up ---------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Finalizes.h"

#include "Choices.h"
#include "Terms.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <cstdlib>

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;
using Lengths = QuadraticForm::Lengths;

/// The longest chain of ops that depend on one another. Proved bodies have few.
static constexpr int kMostDepth = 64;

static std::string quoted(Operation *op) { return "'" + op->getName().getStringRef().str() + "'"; }

/// A finite number.
static std::optional<double> constantOf(Value value) {
  FloatAttr attribute;
  if (!matchPattern(value, m_Constant(&attribute)) || !attribute.getValue().isFinite())
    return std::nullopt;
  return attribute.getValueAsDouble();
}

namespace {
/// One of a value and a constant is chosen, by which is larger.
struct Chosen {
  unsigned through = 0; ///< The operand that is the value.
  double constant = 0;
  bool isLarger = false;
};
} // namespace

/// Empty where \p op chooses nothing so; one that forgets a NaN is none.
static std::optional<Chosen> largerChosen(Operation *op) {
  auto select = dyn_cast<arith::SelectOp>(op);
  if (!select)
    return std::nullopt;
  const bool isFirst = !constantOf(select.getTrueValue());
  const std::optional<Choice> choice =
      choiceOf(select, isFirst ? select.getTrueValue() : select.getFalseValue());
  if (!choice || !choice->keepsNaN)
    return std::nullopt;
  const std::optional<double> constant = constantOf(choice->other);
  if (!constant)
    return std::nullopt;
  return Chosen{isFirst ? 1u : 2u, *constant, choice->isLarger};
}

//===----------------------------------------------------------------------===//
// One value
//===----------------------------------------------------------------------===//

/// The part of a finalize that was read so far: how its value goes with the accumulator, of floats
/// that are no NaN.
struct Finalizes::State {
  bool falls = false;
  bool mayBeNaN = false;   ///< If the accumulator is none.
  bool isNotBelow = false; ///< 0, or it is NaN.
};

std::nullopt_t Finalizes::no(Operation *op, const std::string &text) {
  at = op, why = text;
  return std::nullopt;
}

std::nullopt_t Finalizes::unknown(Operation *op) {
  return no(op, quoted(op) + " is not known to rise or fall with the accumulator");
}

std::optional<Finalizes::Course> Finalizes::ofField() {
  std::vector<Step> steps;
  for (Value value = block.getTerminator()->getOperand(0); value != block.getArgument(0);
       value = steps.back().op->getOperand(steps.back().through)) {
    std::optional<Step> step = stepTo(value);
    if (!step)
      return std::nullopt;
    steps.push_back(std::move(*step));
  }
  return courseOf(steps, false);
}

/// \param steps  the last first.
std::optional<Finalizes::Course> Finalizes::courseOf(ArrayRef<Step> steps, bool isNegated) {
  if (steps.empty() && !isNegated)
    return Course::Identity;
  State state;
  state.falls = isNegated;
  for (const Step &step : llvm::reverse(steps))
    if (!advance(state, step))
      return std::nullopt;
  return state.falls ? Course::Falls : Course::Rises;
}

std::optional<Finalizes::Step> Finalizes::stepTo(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !block.getParentOp()->isProperAncestor(op))
    return no(block.getParentOp(), "what finalize yields is no function of the accumulator");
  if (mayDiffer(op))
    return no(op, quoted(op) + " has flags that let devices give different results");
  Step step{op, 0, {}};
  if (const std::optional<Chosen> chosen = largerChosen(op)) {
    step.through = chosen->through;
    step.others.push_back(chosen->constant);
    return step;
  }
  unsigned found = 0;
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (std::optional<double> constant = constantOf(operand))
      step.others.push_back(*constant);
    else
      step.through = i, ++found;
  if (found != 1 || !isa<FloatType>(op->getOperand(step.through).getType()))
    return unknown(op);
  return step;
}

/// Rounding is monotone: what rises in real numbers rises as computed.
bool Finalizes::advance(State &state, const Step &step) {
  Operation *op = step.op;
  const double by = step.others.empty() ? 0 : step.others[0];
  const auto scale = [&](double factor) {
    state.falls ^= factor < 0;
    state.isNotBelow &= factor > 0;
    return true;
  };
  if (isa<arith::ExtFOp, arith::TruncFOp>(op))
    return true;
  if (isa<math::SqrtOp>(op)) {
    state.mayBeNaN |= !state.isNotBelow;
    return state.isNotBelow = true;
  }
  if (isa<arith::NegFOp>(op))
    return scale(-1);
  if (by != 0 && (isa<arith::MulFOp>(op) || (isa<arith::DivFOp>(op) && step.through == 0)))
    return scale(by);
  if (isa<arith::AddFOp>(op) || (isa<arith::SubFOp>(op) && step.through == 0)) {
    state.isNotBelow &= isa<arith::AddFOp>(op) ? by >= 0 : by <= 0;
    return true;
  }
  if (isa<arith::SubFOp>(op))
    return scale(-1);
  if (isa<math::FmaOp>(op) && step.through == 2) {
    state.isNotBelow &= (by >= 0) == (step.others[1] >= 0);
    return true;
  }
  if (isa<math::FmaOp>(op) && by != 0) {
    scale(by);
    state.isNotBelow &= step.others[1] >= 0;
    return true;
  }
  // Those that forget a NaN make a number of it, which is not in its place.
  const std::optional<Chosen> chosen = largerChosen(op);
  const bool isMaximum = isa<arith::MaximumFOp>(op) ||
                         (isa<arith::MaxNumFOp>(op) && !state.mayBeNaN) ||
                         (chosen && chosen->isLarger);
  const bool isMinimum = isa<arith::MinimumFOp>(op) ||
                         (isa<arith::MinNumFOp>(op) && !state.mayBeNaN) ||
                         (chosen && !chosen->isLarger);
  if (!isMaximum && !isMinimum)
    return unknown(op), false;
  state.isNotBelow = isMaximum ? state.isNotBelow || by >= 0 : state.isNotBelow && by >= 0;
  return true;
}

//===----------------------------------------------------------------------===//
// Three fields, or five
//===----------------------------------------------------------------------===//

std::optional<Finalizes::Course> Finalizes::ofRatio(Means &of, Ratio &ratio) {
  means = &of;
  return ofRatio(Means::kProduct, ratio);
}

std::optional<Finalizes::Course> Finalizes::ofRatio(unsigned field, Ratio &ratio) {
  product = field, least = Lengths::kLeast;
  std::vector<Step> steps;
  for (Value value = block.getTerminator()->getOperand(0);;
       value = steps.back().op->getOperand(steps.back().through)) {
    value = taken(value);
    const std::optional<Monomial> found = monomialOf(value);
    if (!found) {
      std::optional<Step> step = stepTo(value);
      if (!step)
        return std::nullopt;
      steps.push_back(std::move(*step));
      continue;
    }
    for (auto [i, power] : llvm::enumerate(found->quarters))
      if (power != (i == product ? 4 : -2))
        return no(block.getParentOp(), "finalize does not divide the product by both lengths");
    ratio = {found->roundings, least};
    return courseOf(steps, found->isNegated);
  }
}

/// What a value is where a condition that it depends on is decided.
Value Finalizes::taken(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<arith::SelectOp, scf::IfOp>(op))
      break;
    const std::optional<bool> is = isTrue(op->getOperand(0));
    if (!is)
      break;
    if (auto select = dyn_cast<arith::SelectOp>(op)) {
      value = *is ? select.getTrueValue() : select.getFalseValue();
      continue;
    }
    auto branch = cast<scf::IfOp>(op);
    const unsigned number = cast<OpResult>(value).getResultNumber();
    value = (*is ? branch.thenYield() : branch.elseYield()).getOperand(number);
  }
  return value;
}

/// A condition, of squares of lengths that are neither too small nor too large.
std::optional<bool> Finalizes::isTrue(Value condition) {
  const auto known = conditions.find(condition);
  if (known != conditions.end())
    return known->second;
  if (depth == kMostDepth)
    return std::nullopt;
  ++depth;
  const std::optional<bool> is = decide(condition);
  --depth;
  conditions[condition] = is;
  return is;
}

std::optional<bool> Finalizes::decide(Value condition) {
  condition = taken(condition);
  APInt constant;
  if (matchPattern(condition, m_ConstantInt(&constant)))
    return !constant.isZero();
  Operation *op = condition.getDefiningOp();
  if (!op || mayDiffer(op))
    return std::nullopt;
  if (isa<arith::CmpFOp>(op))
    return compared(op);
  if (!isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op))
    return std::nullopt;
  const std::optional<bool> a = isTrue(op->getOperand(0)), b = isTrue(op->getOperand(1));
  if (!a || !b)
    return std::nullopt;
  return isa<arith::AndIOp>(op) ? *a && *b : isa<arith::OrIOp>(op) ? *a || *b : *a != *b;
}

/// Lengths with a number that they are above.
std::optional<bool> Finalizes::compared(Operation *op) {
  using P = arith::CmpFPredicate;
  const bool swapped = constantOf(op->getOperand(0)).has_value();
  const std::optional<double> bound = constantOf(op->getOperand(swapped ? 0 : 1));
  const std::optional<Monomial> lengths = monomialOf(op->getOperand(swapped ? 1 : 0));
  if (!bound || !lengths || !isAbove(*lengths, *bound))
    return std::nullopt;
  switch (cast<arith::CmpFOp>(op).getPredicate()) {
  case P::OGT:
  case P::OGE:
  case P::UGT:
  case P::UGE:
    return !swapped;
  case P::OLT:
  case P::OLE:
  case P::ULT:
  case P::ULE:
    return swapped;
  case P::ONE:
  case P::UNE:
  case P::ORD:
  case P::AlwaysTrue:
    return true;
  case P::OEQ:
  case P::UEQ:
  case P::UNO:
  case P::AlwaysFalse:
    return false;
  }
  return std::nullopt;
}

/// Whether a product of lengths is above a number, whatever it is rounded; from now on of squares
/// that are large enough.
bool Finalizes::isAbove(const Monomial &lengths, double bound) {
  if (lengths.isNegated || lengths.quarters[product] != 0)
    return false;
  if (bound <= 0)
    return true; // What fits() is in the normal range.
  int power = 0;
  for (int one : lengths.quarters) {
    if (one < 0)
      return false;
    power += one;
  }
  if (power == 0)
    return false;
  // It is at least 2^(least power / 4 - 1), as the roundings are few, and the bound is below
  // 2^(ilogb + 1).
  const int wanted = static_cast<int>(std::ceil((std::ilogb(bound) + 2) * 4.0 / power));
  if (wanted > Lengths::kMostLeast)
    return false;
  least = std::max(least, wanted);
  return true;
}

std::optional<Monomial> Finalizes::monomialOf(Value value) {
  const auto known = monomials.find(value);
  if (known != monomials.end())
    return known->second;
  if (depth == kMostDepth)
    return std::nullopt;
  ++depth;
  std::optional<Monomial> made = compute(taken(value));
  --depth;
  if (made && !fits(*made))
    made = std::nullopt;
  monomials[value] = made;
  return made;
}

/// Whether it is far from under- and overflow: the product is at most some times both lengths, so a
/// factor of it counts as half of each square, and squares are between 2^-60 and 2^60.
bool Finalizes::fits(const Monomial &monomial) const {
  const int ofProduct = monomial.quarters[product];
  if ((ofProduct != 0 && ofProduct != 4) || monomial.roundings.f32 > Lengths::kMostRoundings ||
      monomial.roundings.f64 > Lengths::kMostRoundings)
    return false;
  int size = 0;
  for (auto [i, power] : llvm::enumerate(monomial.quarters))
    if (i != product)
      size += std::abs(power + ofProduct / 2);
  return size <= 8;
}

std::optional<Monomial> Finalizes::compute(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    // With five fields, a field is not yet less its means.
    if (argument.getOwner() != &block || argument.getArgNumber() >= 3 || means)
      return std::nullopt;
    Monomial field;
    field.quarters[argument.getArgNumber()] = 4;
    return field;
  }
  if (const std::optional<double> constant = constantOf(value))
    return *constant == 1 ? std::optional(Monomial()) : std::nullopt;
  Operation *op = value.getDefiningOp();
  if (mayDiffer(op) || !(value.getType().isF32() || value.getType().isF64()))
    return std::nullopt;
  if (isa<arith::MaximumFOp, arith::MaxNumFOp>(op)) {
    // The larger of a length and a number.
    const unsigned of = constantOf(op->getOperand(0)) ? 1 : 0;
    const std::optional<double> bound = constantOf(op->getOperand(1 - of));
    const std::optional<Monomial> length = monomialOf(op->getOperand(of));
    return bound && length && isAbove(*length, *bound) ? length : std::nullopt;
  }
  if (auto difference = dyn_cast<arith::SubFOp>(op); difference && means) {
    const std::optional<unsigned> square = means->lessMeans(difference);
    if (!square)
      return std::nullopt;
    Monomial less;
    less.quarters[*square] = 4;
    return less;
  }
  return multiplied(op);
}

std::optional<Monomial> Finalizes::multiplied(Operation *op) {
  if (!isa<arith::MulFOp, arith::DivFOp, arith::NegFOp, arith::ExtFOp, arith::TruncFOp,
           math::SqrtOp, math::RsqrtOp>(op))
    return std::nullopt;
  std::optional<Monomial> made = monomialOf(op->getOperand(0));
  if (!made || isa<arith::ExtFOp>(op))
    return made;
  if (isa<arith::NegFOp>(op)) {
    made->isNegated = !made->isNegated;
    return made;
  }
  Roundings &roundings = made->roundings;
  uint32_t &own = op->getResult(0).getType().isF32() ? roundings.f32 : roundings.f64;
  if (isa<math::SqrtOp, math::RsqrtOp>(op)) {
    // The root of the product's square is no product: it has lost the sign.
    if (made->isNegated || made->quarters[product] != 0)
      return std::nullopt;
    for (int &power : made->quarters) {
      if (power % 2 != 0)
        return std::nullopt;
      power /= isa<math::SqrtOp>(op) ? 2 : -2;
    }
    own += isa<math::RsqrtOp>(op); // It is 1 / sqrt, as lowered.
  }
  if (isa<arith::MulFOp, arith::DivFOp>(op)) {
    const std::optional<Monomial> by = monomialOf(op->getOperand(1));
    if (!by)
      return std::nullopt;
    for (auto [power, other] : llvm::zip_equal(made->quarters, by->quarters))
      power += isa<arith::MulFOp>(op) ? other : -other;
    made->isNegated ^= by->isNegated;
    roundings.f32 += by->roundings.f32;
    roundings.f64 += by->roundings.f64;
  }
  ++own;
  return made;
}
