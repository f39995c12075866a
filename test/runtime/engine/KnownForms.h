//===- KnownForms.h - Forms of known metrics, written by hand ---*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_RUNTIME_ENGINE_KNOWNFORMS_H
#define ANNUDF_TEST_RUNTIME_ENGINE_KNOWNFORMS_H

#include "annudf/Artifact/Form.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace annudf::runtime::test {

using Node = Coefficient;

/// Nodes of a form; the first is 0, which no sum and no product has.
class Nodes {
public:
  explicit Nodes(std::vector<Node> &nodes) : nodes_(nodes) { number(0); }
  uint32_t number(double value) {
    Node node{};
    node.kind = Node::Kind::Number, node.number = value;
    return push(std::move(node));
  }
  uint32_t entry(const std::string &capture, std::vector<EntryIndex> indices) {
    Node node{};
    node.kind = Node::Kind::Entry, node.capture = capture, node.indices = std::move(indices);
    return push(std::move(node));
  }
  uint32_t one(Node::Kind kind, uint32_t a) { return a ? made(kind, a, 0) : 0; }
  uint32_t sum(uint32_t a, uint32_t b) { return a && b ? made(Node::Kind::Sum, a, b) : a + b; }
  uint32_t product(uint32_t a, uint32_t b) { return a && b ? made(Node::Kind::Product, a, b) : 0; }
  uint32_t quotient(uint32_t a, uint32_t b) { return a ? made(Node::Kind::Quotient, a, b) : 0; }

private:
  uint32_t made(Node::Kind kind, uint32_t a, uint32_t b) {
    Node node{};
    node.kind = kind, node.a = a, node.b = b;
    return push(std::move(node));
  }
  uint32_t push(Node node) {
    nodes_.push_back(std::move(node));
    return uint32_t(nodes_.size() - 1);
  }
  std::vector<Node> &nodes_;
};

inline const EntryIndex kDim{EntryIndex::Kind::Dim};

/// acc + w (x - y)², as docs/examples/metrics/weighted_l2.mlir.
inline QuadraticForm weightedL2() {
  QuadraticForm form;
  Nodes nodes(form.nodes);
  const uint32_t w = nodes.entry("w", {kDim}), size = nodes.one(Node::Kind::Absolute, w);
  form.exact.of = {w, nodes.product(nodes.number(-2), w), w, 0, 0, 0};
  form.ofDifference = true;
  form.size.of = {size, 0, 0, 0, 0, 0};
  form.small.of = {0, 0, 0, 1, 0, nodes.number(1)};
  form.nodes.push_back(form.nodes.front()), form.nodes.back().number = 1;
  form.small.of[Quadratic::X] = size;
  form.largest.of = {size, 0, 0, uint32_t(form.nodes.size() - 1), 0, 0};
  form.roundings.f32 = 3, form.eta = 0x1p-150;
  return form;
}

inline QuadraticForm innerProduct() {
  QuadraticForm form;
  Nodes nodes(form.nodes);
  const uint32_t one = nodes.number(1);
  form.exact.of = form.size.of = form.largest.of = {0, one, 0, 0, 0, 0};
  form.small.of = {0, 0, 0, 0, 0, one};
  form.roundings.f32 = 1, form.eta = 0x1p-150;
  return form;
}

/// acc + (w x) (w y): a coefficient that may be beyond what floats hold.
inline QuadraticForm productOfTwoWeighted() {
  QuadraticForm form;
  Nodes nodes(form.nodes);
  const uint32_t w = nodes.entry("w", {kDim}), size = nodes.one(Node::Kind::Absolute, w),
                 square = nodes.product(w, w), one = nodes.number(1);
  form.exact.of = form.size.of = {0, square, 0, 0, 0, 0};
  form.small.of = {0, 0, 0, size, size, one};
  form.largest.of = {0, square, 0, size, size, one};
  form.roundings.f32 = 3, form.eta = 0x1p-150;
  return form;
}

/// acc + (x - y)².
inline QuadraticForm plainL2() {
  QuadraticForm form = weightedL2();
  form.nodes[1].kind = Node::Kind::Number, form.nodes[1].number = 1;
  return form;
}

/// As annudf-infer-properties has it of (w x) y, (w x) x and (w y) y, each rounded three times.
inline QuadraticForm weightedCosine() {
  QuadraticForm form;
  Nodes nodes(form.nodes);
  const uint32_t w = nodes.entry("w", {kDim}), one = nodes.number(1), two = nodes.number(2);
  const uint32_t size = nodes.one(Node::Kind::Absolute, w),
                 both = nodes.sum(nodes.product(two, size), one);
  using Q = Quadratic;
  form.exact.of[Q::XY] = w;
  form.size.of[Q::XY] = size;
  form.small.of[Q::Y] = form.small.of[Q::One] = one;
  form.largest.of = {both, both, both, both, both, both};
  form.roundings.f32 = 2;
  form.eta = 0x1p-150;
  form.finalize = QuadraticForm::Finalize::Falls;
  QuadraticForm::Lengths lengths;
  lengths.exact.of = {w, 0, w, 0, 0, 0};
  lengths.size.of = {size, 0, size, 0, 0, 0};
  lengths.small.of = {0, 0, 0, one, one, two};
  lengths.roundings.f32 = 2;
  lengths.eta = 0x1p-150;
  lengths.ratio.f32 = 4;
  form.lengths = lengths;
  return form;
}

/// The same without weights.
inline QuadraticForm plainCosine() {
  QuadraticForm form = weightedCosine();
  form.nodes[form.exact.of[Quadratic::XY]] = {Coefficient::Kind::Number, 1, 0, 0, {}, {}};
  return form;
}

/// From the sums of x, y, x², y² and x y, in this order: P / √(X Y), less their means.
/// \param count  what finalize divides by; empty: the dims that it is told.
inline QuadraticForm correlation(std::optional<double> count = std::nullopt) {
  QuadraticForm form;
  Nodes nodes(form.nodes);
  const uint32_t one = nodes.number(1), two = nodes.number(2);
  using Q = Quadratic;
  form.exact.of[Q::XY] = form.size.of[Q::XY] = one;
  form.largest.of = {two, two, two, two, two, one};
  form.small.of[Q::One] = one;
  form.eta = 0x1p-150;
  form.finalize = QuadraticForm::Finalize::Falls;
  QuadraticForm::Lengths lengths;
  lengths.product = 4;
  lengths.exact.of = lengths.size.of = {one, 0, one, 0, 0, 0};
  lengths.small.of[Q::One] = two;
  lengths.eta = 0x1p-150;
  lengths.ratio.f32 = 3;
  lengths.means = {0, 1, count ? nodes.number(*count) : 0, {0, 3, 0}};
  form.lengths = lengths;
  return form;
}

} // namespace annudf::runtime::test

#endif // ANNUDF_TEST_RUNTIME_ENGINE_KNOWNFORMS_H
