//===- BoundNodes.cpp - Coefficients of a form as numbers -----------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BoundNodes.h"

#include "../../kernels/Orders.h"

#include <algorithm>

namespace annudf::runtime::bounds {

using annudf_kernels::FormQuadratic;
using annudf_kernels::NodeKind;

namespace {

/// What a node reads, and which of the declared captures that is.
FormNode entryOf(const Coefficient &node, const BoundCaptures &captures, int32_t dims,
                 Entries entries) {
  const std::vector<CaptureInfo> &declared = captures.declared();
  const auto found = std::find_if(declared.begin(), declared.end(),
                                  [&](const CaptureInfo &c) { return c.name == node.capture; });
  const std::string who = "capture '" + node.capture + "'";
  if (found == declared.end())
    refuse("it reads " + who + ", which the metric does not have");
  const auto number = static_cast<size_t>(found - declared.begin());
  const bool isOfQueries = entries == Entries::OfQueries;
  if (!isOfQueries && captures.space(number) != MemorySpace::Host)
    refuse(who + " is in GPU memory");
  const std::vector<int64_t> &shape = captures.shape(number);
  if (shape.size() != node.indices.size())
    refuse("it reads " + who + " with " + std::to_string(node.indices.size()) +
           " indices, it has " + std::to_string(shape.size()) + " extents");
  FormNode entry = {};
  entry.kind = NodeKind::Entry;
  entry.a = static_cast<uint32_t>(number);
  entry.element = found->element;
  entry.isScalar = shape.empty();
  for (size_t i = 0; i < shape.size(); ++i) {
    const EntryIndex &index = node.indices[i];
    entry.first *= shape[i], entry.perDim *= shape[i], entry.perQuery *= shape[i];
    const auto checkLast = [&](int64_t last) {
      if (last < 0 || last >= shape[i])
        refuse("it reads entry " + std::to_string(last) + " of " + who + ", which has " +
               std::to_string(shape[i]));
    };
    switch (index.kind) {
    case EntryIndex::Kind::Query:
      if (!isOfQueries)
        refuse(who + " has one entry a query");
      if (boundBy(found->extents[i].kind) != ExtentBound::Queries)
        refuse("it reads " + who + " by query, but that extent is not query");
      ++entry.perQuery;
      continue;
    case EntryIndex::Kind::Dim:
      checkLast(dims - 1);
      ++entry.perDim;
      continue;
    case EntryIndex::Kind::Number:
      checkLast(index.number);
      entry.first += index.number;
      continue;
    }
    refuse("it reads " + who + " by an index that this annudf does not know");
  }
  return entry;
}

FormNode nodeOf(const QuadraticForm &form, size_t i, const BoundCaptures &captures, int32_t dims,
                Entries entries) {
  const Coefficient &from = form.nodes[i];
  if (from.operands() != 0 && (from.a >= i || from.b >= i))
    refuse("node " + std::to_string(i) + " of the artifact's form refers to a later node");
  FormNode node = {};
  node.kind = from.kind;
  switch (from.kind) {
  case NodeKind::Number:
    node.number = from.number;
    return node;
  case NodeKind::Entry:
    return entryOf(from, captures, dims, entries);
  case NodeKind::Negated:
  case NodeKind::Sum:
  case NodeKind::Product:
  case NodeKind::Quotient:
  case NodeKind::Absolute:
    node.a = from.a, node.b = from.b;
    return node;
  }
  refuse("node " + std::to_string(i) +
         " of the artifact's form has a kind that this annudf does not know");
}

FormQuadratic quadraticOf(const Quadratic &from) {
  using P = FormQuadratic;
  static_assert(int(P::XX) == Quadratic::XX && int(P::XY) == Quadratic::XY &&
                    int(P::YY) == Quadratic::YY && int(P::X) == Quadratic::X &&
                    int(P::Y) == Quadratic::Y && int(P::One) == Quadratic::One,
                "the kernels' powers are the form's");
  FormQuadratic to;
  std::copy(from.of.begin(), from.of.end(), to.of);
  return to;
}

} // namespace

std::vector<FormNode> nodesOf(const QuadraticForm &form, const BoundCaptures &captures,
                              int32_t dims, Entries entries) {
  std::vector<FormNode> nodes;
  nodes.reserve(form.nodes.size());
  for (size_t i = 0; i < form.nodes.size(); ++i)
    nodes.push_back(nodeOf(form, i, captures, dims, entries));
  std::vector<const Quadratic *> polynomials = {&form.exact, &form.size, &form.small,
                                                &form.largest};
  if (form.lengths)
    polynomials.insert(polynomials.end(),
                       {&form.lengths->exact, &form.lengths->size, &form.lengths->small});
  if (form.lengths && form.lengths->means && form.lengths->means->count >= nodes.size())
    refuse("the artifact's form has no node " + std::to_string(form.lengths->means->count));
  for (const Quadratic *poly : polynomials)
    for (uint32_t node : poly->of)
      if (node >= nodes.size())
        refuse("the artifact's form has no node " + std::to_string(node));
  return nodes;
}

FormPolynomials polynomialsOf(const QuadraticForm &form, int32_t dims) {
  FormPolynomials of = {};
  of.exact = quadraticOf(form.exact), of.size = quadraticOf(form.size);
  of.small = quadraticOf(form.small), of.largest = quadraticOf(form.largest);
  of.ofDifference = form.ofDifference;
  const Upper rounding = growthOf(form.roundings, form.accumulations, dims);
  if (!(form.eta >= 0) || !std::isfinite(form.eta))
    refuse("the artifact's form has an underflow of " + std::to_string(form.eta));
  of.rounding = rounding.v;
  of.underflow = ((Upper{1} + rounding) * Upper{form.eta}).v;
  if (!std::isfinite(form.initial))
    refuse("initial is not a finite number");
  return of;
}

double signOf(const QuadraticForm &form, annudf_order order) {
  const bool falls = form.finalize == QuadraticForm::Finalize::Falls;
  return annudf_kernels::isLargestBest(order) != falls ? -1 : 1;
}

// Far below what f32 holds, or f16, for roundings up to a factor of E < 2.
double limitOf(const QuadraticForm &form) { return form.roundings.f16 != 0 ? 0x1p14 : 0x1p123; }

void Nodes::evaluate(int32_t dim) {
  const auto at = [&](uint32_t node) { return values_[node]; };
  const auto entries = [&](const FormNode &node) { return captures_.bytes(node.a).data(); };
  for (size_t i = 0; i < nodes_.size(); ++i) {
    values_[i] = annudf_kernels::valueOf(nodes_[i], dim, 0, at, entries);
    if (nodes_[i].kind == NodeKind::Entry && !values_[i].isFinite())
      refuse("an entry of capture '" + captures_.declared()[nodes_[i].a].name + "' is not finite");
  }
}

Upper growthOf(const Roundings &n, uint32_t accumulations, int32_t dims) {
  // (1 + u)^n <= e^(n u), and e^t <= 1 + t + t² up to t = 1.7.
  const Upper t = Upper{double(n.f16)} * Upper{0x1p-11} + Upper{double(n.f32)} * Upper{0x1p-24} +
                  Upper{double(n.f64)} * Upper{0x1p-53} +
                  Upper{double(dims) * double(accumulations) + 2} * Upper{0x1p-24};
  if (t.v > 0.5)
    refuse("rounding over " + std::to_string(dims) + " dims may be as large as the distance");
  return t + t * t;
}

} // namespace annudf::runtime::bounds
