//===- BoundNodes.cpp - Coefficients of a form as numbers -----------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BoundNodes.h"

#include "vectors/Npy.h"

#include <algorithm>

namespace annudf::runtime::bounds {

Real Source::at(int32_t dim, const std::string &capture) const {
  const Value value = load(values + size_t(size * (first + step * dim)));
  const double real = value.asReal();
  if (!std::isfinite(real))
    refuse("an entry of capture '" + capture + "' is not finite");
  Upper lost;
  if (value.isInteger)
    lost.v = std::abs(static_cast<double>(value.integer - static_cast<Integer>(real)));
  return {real, lost};
}

static Source sourceOf(const Coefficient &node, const BoundCaptures &captures, int32_t dims) {
  const std::vector<CaptureInfo> &declared = captures.declared();
  const auto found = std::find_if(declared.begin(), declared.end(),
                                  [&](const CaptureInfo &c) { return c.name == node.capture; });
  const std::string who = "capture '" + node.capture + "'";
  if (found == declared.end())
    refuse("it reads " + who + ", which the metric does not have");
  const auto number = static_cast<size_t>(found - declared.begin());
  if (captures.space(number) != MemorySpace::Host)
    refuse(who + " is in the memory of a device");
  const std::string dtype = dtypeOf(found->element);
  const std::vector<int64_t> &shape = captures.shape(number);
  if (shape.size() != node.indices.size())
    refuse("it reads " + who + " with " + std::to_string(node.indices.size()) +
           " indices, it has " + std::to_string(shape.size()) + " extents");
  Source source{captures.bytes(number).data(), loadOf(dtype), dtypeSize(dtype)};
  for (size_t i = 0; i < shape.size(); ++i) {
    const EntryIndex &index = node.indices[i];
    source.first *= shape[i], source.step *= shape[i];
    if (index.kind == EntryIndex::Kind::Query)
      refuse(who + " has entries of its own for each query");
    const bool isDim = index.kind == EntryIndex::Kind::Dim;
    const int64_t last = isDim ? dims - 1 : index.number;
    if (last < 0 || last >= shape[i])
      refuse("it reads entry " + std::to_string(last) + " of " + who + ", which has " +
             std::to_string(shape[i]));
    (isDim ? source.step : source.first) += isDim ? 1 : index.number;
  }
  return source;
}

Nodes::Nodes(const QuadraticForm &form, const BoundCaptures &captures, int32_t dims)
    : nodes_(form.nodes), sources_(nodes_.size()), values_(nodes_.size()) {
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const Coefficient &node = nodes_[i];
    if (node.kind == Coefficient::Kind::Entry)
      sources_[i] = sourceOf(node, captures, dims);
    else if (node.kind != Coefficient::Kind::Number && (node.a >= i || node.b >= i))
      refuse("node " + std::to_string(i) + " of its form is not made of nodes before it");
  }
  std::vector<const Quadratic *> polynomials = {&form.exact, &form.size, &form.small,
                                                &form.largest};
  if (form.lengths)
    polynomials.insert(polynomials.end(),
                       {&form.lengths->exact, &form.lengths->size, &form.lengths->small});
  if (form.lengths && form.lengths->means && form.lengths->means->count >= nodes_.size())
    refuse("its form has no node " + std::to_string(form.lengths->means->count));
  for (const Quadratic *poly : polynomials)
    for (uint32_t node : poly->of)
      if (node >= nodes_.size())
        refuse("its form has no node " + std::to_string(node));
}

Real Nodes::valueOf(size_t i, int32_t dim) const {
  const Coefficient &node = nodes_[i];
  switch (node.kind) {
  case Coefficient::Kind::Number:
    return {node.number, {}};
  case Coefficient::Kind::Entry:
    return sources_[i].at(dim, node.capture);
  case Coefficient::Kind::Negated:
    return -values_[node.a];
  case Coefficient::Kind::Sum:
    return values_[node.a] + values_[node.b];
  case Coefficient::Kind::Product:
    return values_[node.a] * values_[node.b];
  case Coefficient::Kind::Quotient:
    return values_[node.a] / values_[node.b];
  case Coefficient::Kind::Absolute:
    return values_[node.a].magnitude();
  }
  refuse("node " + std::to_string(i) + " of its form is of a kind that this annudf does not know");
}

Upper growthOf(const Roundings &n, uint32_t accumulations, int32_t dims) {
  // (1 + u)^n <= e^(n u), and e^t <= 1 + t + t² up to t = 1.7.
  const Upper t = Upper{double(n.f16)} * Upper{0x1p-11} + Upper{double(n.f32)} * Upper{0x1p-24} +
                  Upper{double(n.f64)} * Upper{0x1p-53} +
                  Upper{double(dims) * double(accumulations) + 2} * Upper{0x1p-24};
  if (t.v > 0.5)
    refuse("so many roundings, over " + std::to_string(dims) +
           " dims, leave nothing of a distance");
  return t + t * t;
}

} // namespace annudf::runtime::bounds
