//===- Forms.cpp - Whether a metric's distance is a quadratic form -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Analysis/Forms.h"

#include "annudf/Dialect/IR/Descriptor.h"

#include "Terms.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;
using Finalize = QuadraticForm::Finalize;

static std::string quoted(Operation *op) { return "'" + op->getName().getStringRef().str() + "'"; }

//===----------------------------------------------------------------------===//
// Finalize
//===----------------------------------------------------------------------===//

namespace {

/// What of a finalize was read so far: how its value goes with the accumulator, of floats that are
/// no NaN.
struct Course {
  bool falls = false;
  bool mayBeNaN = false;   ///< Of an accumulator that is none.
  bool isNotBelow = false; ///< 0, or it is NaN.
};

/// The one chain of ops from the accumulator to what is yielded.
class Finalizes {
public:
  explicit Finalizes(FinalizeOp op) : block(op.getBody().front()) {}

  /// Empty where an op, `at`, is not known to be monotone.
  std::optional<Finalize> run() {
    std::vector<Step> steps;
    for (Value value = block.getTerminator()->getOperand(0); value != block.getArgument(0);
         value = steps.back().op->getOperand(steps.back().through)) {
      std::optional<Step> step = stepTo(value);
      if (!step)
        return std::nullopt;
      steps.push_back(std::move(*step));
    }
    if (steps.empty())
      return Finalize::Identity;
    Course course;
    for (const Step &step : llvm::reverse(steps))
      if (!advance(course, step))
        return std::nullopt;
    return course.falls ? Finalize::Falls : Finalize::Rises;
  }
  Operation *at = nullptr;
  std::string why;

private:
  struct Step {
    Operation *op;
    unsigned through;           ///< The operand that is of the accumulator.
    SmallVector<double> others; ///< The others, in their order.
  };

  std::nullopt_t no(Operation *op, const std::string &text) {
    at = op, why = text;
    return std::nullopt;
  }

  std::nullopt_t unknown(Operation *op) {
    return no(op, quoted(op) + " is not known to rise or fall with the accumulator");
  }

  /// A finite number.
  static std::optional<double> constantOf(Value value) {
    FloatAttr attribute;
    if (!matchPattern(value, m_Constant(&attribute)) || !attribute.getValue().isFinite())
      return std::nullopt;
    return attribute.getValueAsDouble();
  }

  std::optional<Step> stepTo(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != &block)
      return no(block.getParentOp(), "what finalize yields is no function of the accumulator");
    if (mayDiffer(op))
      return no(op, quoted(op) + " has flags by which devices may compute something else");
    Step step{op, 0, {}};
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
  bool advance(Course &course, const Step &step) {
    Operation *op = step.op;
    const double by = step.others.empty() ? 0 : step.others[0];
    const auto scale = [&](double factor) {
      course.falls ^= factor < 0;
      course.isNotBelow &= factor > 0;
      return true;
    };
    if (isa<arith::ExtFOp, arith::TruncFOp>(op))
      return true;
    if (isa<math::SqrtOp>(op)) {
      course.mayBeNaN |= !course.isNotBelow;
      return course.isNotBelow = true;
    }
    if (isa<arith::NegFOp>(op))
      return scale(-1);
    if (by != 0 && (isa<arith::MulFOp>(op) || (isa<arith::DivFOp>(op) && step.through == 0)))
      return scale(by);
    if (isa<arith::AddFOp>(op) || (isa<arith::SubFOp>(op) && step.through == 0)) {
      course.isNotBelow &= isa<arith::AddFOp>(op) ? by >= 0 : by <= 0;
      return true;
    }
    if (isa<arith::SubFOp>(op))
      return scale(-1);
    if (isa<math::FmaOp>(op) && step.through == 2) {
      course.isNotBelow &= (by >= 0) == (step.others[1] >= 0);
      return true;
    }
    if (isa<math::FmaOp>(op) && by != 0) {
      scale(by);
      course.isNotBelow &= step.others[1] >= 0;
      return true;
    }
    // Those that forget a NaN make a number of it, which is not in its place.
    const bool isMaximum =
        isa<arith::MaximumFOp>(op) || (isa<arith::MaxNumFOp>(op) && !course.mayBeNaN);
    const bool isMinimum =
        isa<arith::MinimumFOp>(op) || (isa<arith::MinNumFOp>(op) && !course.mayBeNaN);
    if (!isMaximum && !isMinimum)
      return unknown(op), false;
    course.isNotBelow = isMaximum ? course.isNotBelow || by >= 0 : course.isNotBelow && by >= 0;
    return true;
  }

  Block &block;
};

//===----------------------------------------------------------------------===//
// The form
//===----------------------------------------------------------------------===//

class Proof {
public:
  explicit Proof(MetricOp metric) : metric(metric), terms(metric) {}

  FormProof run() {
    QuadraticForm form;
    if (!beginsAndEnds(form) || !findTerms() || !infer(form))
      return std::move(result);
    prune(form);
    if (form.nodes.size() > QuadraticForm::kMostNodes) {
      no(metric.getUpdate(),
         "its coefficients take more than " + std::to_string(QuadraticForm::kMostNodes) + " steps");
      return std::move(result);
    }
    // What no reader would take: an index, say, that is inside for a reason a manifest lacks.
    MetricDescriptor whole = describe(metric);
    whole.form = form;
    if (const std::string fault = faultOf(whole); !fault.empty())
      no(metric.getUpdate(), fault);
    else
      result.form = std::move(form);
    return std::move(result);
  }

private:
  bool no(Operation *at, const std::string &why) {
    result.at = at, result.why = why;
    return false;
  }

  /// The accumulator, init, combine and finalize.
  bool beginsAndEnds(QuadraticForm &form) {
    if (metric.getAccumulatorTypes().size() != 1 || !metric.getAccumulatorTypes()[0].isF32())
      return no(metric, "its accumulator is not one f32");
    if (metric.getMissingValues())
      return no(metric, "it takes missing values, so not every coordinate counts");
    FloatAttr initial;
    if (!matchPattern(metric.getInit().getBody().front().getTerminator()->getOperand(0),
                      m_Constant(&initial)) ||
        !initial.getValue().isFinite())
      return no(metric.getInit(), "init yields no finite constant");
    form.initial = initial.getValueAsDouble() + 0.0; // -0 is 0.
    if (CombineOp combine = metric.getCombine()) {
      Block &block = combine.getBody().front();
      Operation *sum = block.getTerminator()->getOperand(0).getDefiningOp();
      const auto isPart = [&](unsigned a, unsigned b) {
        return sum->getOperand(0) == block.getArgument(a) &&
               sum->getOperand(1) == block.getArgument(b);
      };
      if (!isa_and_present<arith::AddFOp>(sum) || mayDiffer(sum) ||
          !(isPart(0, 1) || isPart(1, 0)) || form.initial != 0)
        return no(combine, "combine is not the sum of two parts that begin with 0");
    }
    if (FinalizeOp finalize = metric.getFinalize()) {
      Finalizes course(finalize);
      const std::optional<Finalize> how = course.run();
      if (!how)
        return no(course.at, course.why);
      form.finalize = *how;
    }
    return true;
  }

  bool findTerms() {
    Joins::Why why;
    const std::optional<JoinedField> joined = Joins(metric).of(0, &why);
    if (!joined)
      return no(why.at, why.text);
    if (!joined->join)
      return no(metric.getUpdate(), "update adds nothing");
    if (*joined->join != Join::Sum)
      return no(joined->terms.front().op, "the field is no sum of floats");
    if (joined->terms.size() > QuadraticForm::kMostAccumulations)
      return no(metric.getUpdate(), "update adds more than " +
                                        std::to_string(QuadraticForm::kMostAccumulations) +
                                        " terms");
    nodes = terms.termsOf(*joined);
    return true;
  }

  bool infer(QuadraticForm &form) {
    Polynomials ofBoth(terms, coefficients);
    const std::optional<PolynomialForm> both = ofBoth.sumOf(nodes);
    if (!both) {
      const Lost lost = ofBoth.lost(nodes);
      return no(lost.at, lost.why);
    }
    // Far from the origin x and y are large, and what is rounded is their difference.
    Polynomials ofDifference(terms, coefficients, Polynomials::Of::Difference);
    const std::optional<PolynomialForm> difference = ofDifference.sumOf(nodes);
    form.ofDifference = difference.has_value();
    PolynomialForm bounds = difference ? *difference : *both;
    // What fma adds is rounded with the field: unlike a sum of two numbers that may lose something
    // below the normal range.
    for (uint32_t node : nodes)
      if (terms.nodes()[node].kind == TermKind::ExactProduct) {
        uint32_t &lost = bounds.small.of[Quadratic::One];
        lost = coefficients.sum(lost, Coefficients::kOne);
        bounds.eta = std::max(bounds.eta, 0x1p-150);
      }
    const std::optional<Quadratic> largest = largestOf(difference ? ofDifference : ofBoth, bounds);
    if (!largest)
      return false;
    form.exact = both->exact;
    form.size = bounds.size;
    form.small = bounds.small;
    form.largest = *largest;
    form.roundings = bounds.roundings;
    form.accumulations = static_cast<uint32_t>(nodes.size());
    form.eta = bounds.eta;
    return true;
  }

  static Quadratic add(Coefficients &c, const Quadratic &a, const Quadratic &b) {
    Quadratic sum;
    for (size_t i = 0; i < sum.of.size(); ++i)
      sum.of[i] = c.sum(a.of[i], b.of[i]);
    return sum;
  }

  /// Of all values that the terms are made of, their sum included: the size, and what they lose
  /// below the normal range. Every one must be a number of f32 or f64, whatever finite values are.
  std::optional<Quadratic> largestOf(const Polynomials &polynomials, const PolynomialForm &whole) {
    Coefficients &c = coefficients;
    Quadratic size = whole.size, small = whole.small;
    std::vector<bool> seen(terms.nodes().size());
    std::vector<uint32_t> left(nodes.rbegin(), nodes.rend());
    while (!left.empty()) {
      const uint32_t node = left.back();
      left.pop_back();
      if (seen[node])
        continue;
      seen[node] = true;
      const Term &term = terms.nodes()[node];
      const PolynomialForm *form = polynomials.find(node);
      if (!form) {
        no(term.at, "a side of a branch is no finite number");
        return std::nullopt;
      }
      const bool isRead = term.kind == TermKind::Entry || term.kind == TermKind::Constant;
      if (!isRead && !term.type.isF32() && !term.type.isF64()) {
        no(term.at, "a value is neither f32 nor f64, and may be too large for its format");
        return std::nullopt;
      }
      size = add(c, size, form->size);
      small = add(c, small, form->small);
      if (term.kind == TermKind::FromSigned || term.kind == TermKind::FromUnsigned ||
          polynomials.isDifference(term))
        continue; // Of an integer that is read, or of x and y.
      if (term.kind == TermKind::Quotient) {
        // 0 / z is in no size, and no number where z is 0.
        const uint32_t divisor = polynomials.find(term.of[1])->exact.of[Quadratic::One];
        if (polynomials.find(term.of[0])->size == Quadratic())
          size.of[Quadratic::One] =
              c.sum(size.of[Quadratic::One], c.absolute(c.quotient(Coefficients::kOne, divisor)));
      }
      // Of what decides nothing is asked: the sides agree.
      const size_t first = term.kind == TermKind::Chosen ? 1 : 0;
      for (size_t i = term.of.size(); i > first; --i)
        left.push_back(term.of[i - 1]);
    }
    const uint32_t eta = c.number(whole.eta);
    for (size_t i = 0; i < size.of.size(); ++i)
      size.of[i] = c.sum(size.of[i], c.product(eta, small.of[i]));
    return size;
  }

  /// Leaves the nodes that the polynomials use, in their order.
  void prune(QuadraticForm &form) const {
    const std::vector<Coefficient> &all = coefficients.nodes();
    std::vector<bool> used(all.size());
    used[Coefficients::kZero] = true;
    Quadratic *const polynomials[] = {&form.exact, &form.size, &form.small, &form.largest};
    for (const Quadratic *polynomial : polynomials)
      for (uint32_t node : polynomial->of)
        used[node] = true;
    for (size_t i = all.size(); i-- > 0;)
      if (used[i] && all[i].operands() > 0) {
        used[all[i].a] = true;
        if (all[i].operands() > 1)
          used[all[i].b] = true;
      }
    std::vector<uint32_t> places(all.size());
    for (size_t i = 0; i < all.size(); ++i) {
      if (!used[i])
        continue;
      Coefficient node = all[i];
      if (node.operands() > 0)
        node.a = places[node.a];
      if (node.operands() > 1)
        node.b = places[node.b];
      places[i] = static_cast<uint32_t>(form.nodes.size());
      form.nodes.push_back(std::move(node));
    }
    for (Quadratic *polynomial : polynomials)
      for (uint32_t &node : polynomial->of)
        node = places[node];
  }

  MetricOp metric;
  Terms terms;
  std::vector<uint32_t> nodes;
  Coefficients coefficients;
  FormProof result;
};

} // namespace

FormProof annudf::proveForm(MetricOp metric) { return Proof(metric).run(); }
