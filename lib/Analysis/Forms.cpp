//===- Forms.cpp - Whether a metric's distance is a quadratic form -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Analysis/Forms.h"

#include "annudf/Dialect/IR/Descriptor.h"

#include "Finalizes.h"
#include "Terms.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;
using Lengths = QuadraticForm::Lengths;

namespace {

//===----------------------------------------------------------------------===//
// The form
//===----------------------------------------------------------------------===//

class Proof {
public:
  explicit Proof(MetricOp metric) : metric(metric), terms(metric) {}

  FormProof run() {
    QuadraticForm form;
    if (!begins(form) || !combines(form) ||
        !(metric.getAccumulatorTypes().size() == 1 ? ofOne(form) : ofSeveral(form)))
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

  /// The accumulator and init.
  bool begins(QuadraticForm &form) {
    const auto types = metric.getAccumulatorTypes();
    if ((types.size() != 1 && types.size() != 3 && types.size() != 5) ||
        !llvm::all_of(types, [](Type type) { return type.isF32(); }))
      return no(metric, "its accumulator is not one, three or five f32");
    if (metric.getMissingValues())
      return no(metric, "it takes missing values, so not every coordinate counts");
    for (Value value : metric.getInit().getBody().front().getTerminator()->getOperands()) {
      FloatAttr initial;
      if (!matchPattern(value, m_Constant(&initial)) || !initial.getValue().isFinite())
        return no(metric.getInit(), "init yields no finite constant");
      form.initial = initial.getValueAsDouble() + 0.0; // -0 is 0.
      if (types.size() > 1 && form.initial != 0)
        return no(metric.getInit(), "a field does not begin with 0, as each of several must");
    }
    return true;
  }

  bool combines(const QuadraticForm &form) {
    CombineOp combine = metric.getCombine();
    if (!combine)
      return true;
    Block &block = combine.getBody().front();
    const unsigned fields = block.getNumArguments() / 2;
    for (auto [i, value] : llvm::enumerate(block.getTerminator()->getOperands())) {
      Operation *sum = value.getDefiningOp();
      const auto isPart = [&](size_t a, size_t b) {
        return sum->getOperand(0) == block.getArgument(a) &&
               sum->getOperand(1) == block.getArgument(b);
      };
      if (!isa_and_present<arith::AddFOp>(sum) || mayDiffer(sum) ||
          !(isPart(i, i + fields) || isPart(i + fields, i)) || form.initial != 0)
        return no(combine, "combine is not the sum of two parts that begin with 0");
    }
    return true;
  }

  bool ends(Finalizes &finalize, std::optional<Finalizes::Course> how, QuadraticForm &form) {
    if (!how)
      return no(finalize.at, finalize.why);
    form.finalize = *how;
    return true;
  }

  /// The terms of a field, or nothing.
  std::optional<std::vector<uint32_t>> termsOf(unsigned field) {
    Joins::Why why;
    const std::optional<JoinedField> joined = Joins(metric).of(field, &why);
    std::string lost;
    Operation *at = metric.getUpdate();
    if (!joined)
      at = why.at, lost = why.text;
    else if (!joined->join)
      lost = "update adds nothing";
    else if (*joined->join != Join::Sum)
      at = joined->terms.front().op, lost = "the field is no sum of floats";
    else if (joined->terms.size() > QuadraticForm::kMostAccumulations)
      lost =
          "update adds more than " + std::to_string(QuadraticForm::kMostAccumulations) + " terms";
    if (lost.empty())
      return terms.termsOf(*joined);
    no(at, lost);
    return std::nullopt;
  }

  /// What fma adds is rounded with the field: unlike a sum of two numbers that may lose something
  /// below the normal range.
  void countFused(PolynomialForm &bounds, ArrayRef<uint32_t> added) {
    for (uint32_t node : added)
      if (terms.nodes()[node].kind == TermKind::ExactProduct) {
        uint32_t &lost = bounds.small.of[Quadratic::One];
        lost = coefficients.sum(lost, Coefficients::kOne);
        bounds.eta = std::max(bounds.eta, 0x1p-150);
      }
  }

  static void set(QuadraticForm &form, const PolynomialForm &bounds, size_t added) {
    form.size = bounds.size;
    form.small = bounds.small;
    form.roundings = bounds.roundings;
    form.accumulations = static_cast<uint32_t>(added);
    form.eta = bounds.eta;
  }

  bool ofOne(QuadraticForm &form) {
    if (FinalizeOp op = metric.getFinalize()) {
      Finalizes finalize(op);
      if (!ends(finalize, finalize.ofField(), form))
        return false;
    }
    const auto nodes = termsOf(0);
    if (!nodes)
      return false;
    Polynomials ofBoth(terms, coefficients);
    const std::optional<PolynomialForm> both = ofBoth.sumOf(*nodes);
    if (!both) {
      const Lost lost = ofBoth.lost(*nodes);
      return no(lost.at, lost.why);
    }
    // Far from the origin x and y are large, and what is rounded is their difference.
    Polynomials ofDifference(terms, coefficients, Polynomials::Of::Difference);
    const std::optional<PolynomialForm> difference = ofDifference.sumOf(*nodes);
    form.ofDifference = difference.has_value();
    PolynomialForm bounds = difference ? *difference : *both;
    countFused(bounds, *nodes);
    form.exact = both->exact;
    set(form, bounds, nodes->size());
    return setLargest(form, difference ? ofDifference : ofBoth, bounds, *nodes);
  }

  /// A product, and the squares of two lengths; of five fields also the sums of x and y.
  bool ofSeveral(QuadraticForm &form) {
    const size_t count = metric.getAccumulatorTypes().size();
    const bool ofFive = count == 5;
    std::vector<std::vector<uint32_t>> nodes(count);
    std::vector<PolynomialForm> fields(count);
    std::array<std::optional<unsigned>, 5> found; // The fields of XX, XY, YY, X and Y.
    for (unsigned i = 0; i < count; ++i) {
      auto some = termsOf(i);
      if (!some)
        return false;
      nodes[i] = *std::move(some);
    }
    Polynomials polynomials(terms, coefficients);
    for (unsigned i = 0; i < count; ++i) {
      const std::optional<PolynomialForm> sum = polynomials.sumOf(nodes[i]);
      if (!sum) {
        const Lost lost = polynomials.lost(nodes[i]);
        return no(lost.at, lost.why);
      }
      fields[i] = *sum;
      countFused(fields[i], nodes[i]);
      for (Quadratic::Power power :
           {Quadratic::XX, Quadratic::XY, Quadratic::YY, Quadratic::X, Quadratic::Y})
        if (ofFive ? isJust(*sum, power, nodes[i].size())
                   : isOnly(sum->exact, power) && isOnly(sum->size, power))
          found[power] = i;
    }
    if (!found[0] || !found[1] || !found[2] || (ofFive && (!found[3] || !found[4])))
      return no(metric.getUpdate(),
                ofFive ? "its fields are not the sums of x, of y, of x^2, of y^2 and of x y"
                       : "its fields are not a sum of x y, one of x^2 and one of y^2");
    if (!metric.getFinalize())
      return no(metric, "it has no finalize that divides by lengths");
    Lengths lengths;
    lengths.product = *found[1];
    if (!divides(form, lengths, found))
      return false;
    setLengths(lengths, fields[*found[0]], fields[*found[2]],
               std::max(nodes[*found[0]].size(), nodes[*found[2]].size()));
    form.exact = fields[lengths.product].exact;
    set(form, fields[lengths.product], nodes[lengths.product].size());
    form.lengths = lengths;
    PolynomialForm all = fields[lengths.product];
    all.size = add(coefficients, all.size, lengths.size);
    all.small = add(coefficients, all.small, lengths.small);
    all.eta = std::max(all.eta, lengths.eta);
    for (unsigned i = 3; ofFive && i < 5; ++i) // Sums of x or y alone lose nothing small.
      all.size = add(coefficients, all.size, fields[*found[i]].size);
    std::vector<uint32_t> of;
    for (const std::vector<uint32_t> &some : nodes)
      of.insert(of.end(), some.begin(), some.end());
    return setLargest(form, polynomials, all, of);
  }

  /// What finalize does with them.
  bool divides(QuadraticForm &form, Lengths &lengths,
               const std::array<std::optional<unsigned>, 5> &found) {
    Finalizes finalize(metric.getFinalize());
    Ratio ratio;
    if (!found[3]) {
      if (!ends(finalize, finalize.ofRatio(lengths.product, ratio), form))
        return false;
    } else {
      Means means(metric.getFinalize().getBody().front(), {*found[3], *found[4]},
                  {*found[0], *found[1], *found[2]});
      if (!ends(finalize, finalize.ofRatio(means, ratio), form)) {
        if (means.roundings.f32 == 0 && means.roundings.f64 == 0) // No sum is less its mean.
          result.why += "; if it is a correlation, write xy - x * y / n, not n * xy - x * y";
        return false;
      }
      lengths.means = Lengths::Means{*found[3], *found[4], Coefficients::kZero, means.roundings};
      if (const auto &count = means.count)
        lengths.means->count = count->kind == Coefficient::Kind::Number
                                   ? coefficients.number(count->number)
                                   : coefficients.entry(count->capture, count->indices);
    }
    lengths.ratio = ratio.roundings;
    lengths.least = ratio.least;
    return true;
  }

  /// The larger ones of both squares.
  void setLengths(Lengths &lengths, const PolynomialForm &xx, const PolynomialForm &yy,
                  size_t added) {
    lengths.exact = add(coefficients, xx.exact, yy.exact);
    lengths.size = add(coefficients, xx.size, yy.size);
    lengths.small = add(coefficients, xx.small, yy.small);
    lengths.eta = std::max(xx.eta, yy.eta);
    lengths.roundings = {std::max(xx.roundings.f16, yy.roundings.f16),
                         std::max(xx.roundings.f32, yy.roundings.f32),
                         std::max(xx.roundings.f64, yy.roundings.f64)};
    lengths.accumulations = static_cast<uint32_t>(added);
  }

  /// A sum of what x and y make as they are; of x or y alone one that rounds nothing beside.
  static bool isJust(const PolynomialForm &sum, Quadratic::Power power, size_t added) {
    if (!isOnly(sum.exact, power) || !isOnly(sum.size, power) ||
        sum.exact.of[power] != Coefficients::kOne || sum.size.of[power] != Coefficients::kOne)
      return false;
    const bool isSquare =
        power == Quadratic::XX || power == Quadratic::XY || power == Quadratic::YY;
    return isSquare || (sum.roundings == Roundings() && sum.small == Quadratic() && added == 1);
  }

  static bool isOnly(const Quadratic &polynomial, Quadratic::Power power) {
    for (auto [i, node] : llvm::enumerate(polynomial.of))
      if ((i == power) == (node == Coefficients::kZero))
        return false;
    return true;
  }

  static Quadratic add(Coefficients &c, const Quadratic &a, const Quadratic &b) {
    Quadratic sum;
    for (size_t i = 0; i < sum.of.size(); ++i)
      sum.of[i] = c.sum(a.of[i], b.of[i]);
    return sum;
  }

  /// Sets the size of all values that the terms are made of, their sum included, and what they lose
  /// below the normal range. Every one must be a number of f32 or f64, whatever finite values are.
  bool setLargest(QuadraticForm &form, const Polynomials &polynomials, const PolynomialForm &whole,
                  ArrayRef<uint32_t> nodes) {
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
      const PolynomialForm *value = polynomials.find(node);
      if (!value)
        return no(term.at, "a side of a branch is no finite number");
      const bool isRead = term.kind == TermKind::Entry || term.kind == TermKind::Constant;
      if (!isRead && !term.type.isF32() && !term.type.isF64())
        return no(term.at, "a value is neither f32 nor f64, and may be too large for its format");
      size = add(c, size, value->size);
      small = add(c, small, value->small);
      if (term.kind == TermKind::FromSigned || term.kind == TermKind::FromUnsigned ||
          polynomials.isDifference(term))
        continue; // A conversion of an integer that is read, or of x and y.
      if (term.kind == TermKind::Quotient) {
        // 0 / z is in no size, and no number where z is 0.
        const uint32_t divisor = polynomials.find(term.of[1])->exact.of[Quadratic::One];
        if (polynomials.find(term.of[0])->size == Quadratic())
          size.of[Quadratic::One] =
              c.sum(size.of[Quadratic::One], c.absolute(c.quotient(Coefficients::kOne, divisor)));
      }
      // The condition does not matter: the sides agree.
      const size_t first = term.kind == TermKind::Chosen ? 1 : 0;
      for (size_t i = term.of.size(); i > first; --i)
        left.push_back(term.of[i - 1]);
    }
    const uint32_t eta = c.number(whole.eta);
    for (size_t i = 0; i < size.of.size(); ++i)
      size.of[i] = c.sum(size.of[i], c.product(eta, small.of[i]));
    form.largest = size;
    return true;
  }

  /// Leaves the nodes that the polynomials use, in their order.
  void prune(QuadraticForm &form) const {
    const std::vector<Coefficient> &all = coefficients.nodes();
    std::vector<bool> used(all.size());
    used[Coefficients::kZero] = true;
    SmallVector<Quadratic *> polynomials = {&form.exact, &form.size, &form.small, &form.largest};
    if (form.lengths)
      polynomials.append({&form.lengths->exact, &form.lengths->size, &form.lengths->small});
    uint32_t *const count =
        form.lengths && form.lengths->means ? &form.lengths->means->count : nullptr;
    if (count)
      used[*count] = true;
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
    if (count)
      *count = places[*count];
  }

  MetricOp metric;
  Terms terms;
  Coefficients coefficients;
  FormProof result;
};

} // namespace

FormProof annudf::proveForm(MetricOp metric) { return Proof(metric).run(); }
