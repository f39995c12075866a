//===- Lanes.cpp - Whether a metric is a sum that may be packed -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Analysis/Lanes.h"

#include "LaneColumns.h"

#include "annudf/Dialect/IR/Descriptor.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;

namespace {

/// Up to here f32 counts by ones.
constexpr double kMostSum = 1 << 24;
/// Pairs that are computed at once: their columns stay in the nearest cache.
constexpr int64_t kPairs = 4096;

int64_t valueOf(annudf_packed_term term, int64_t x, int64_t y) {
  switch (term) {
  case ANNUDF_PACKED_ABSOLUTE_DIFFERENCE:
    return std::abs(x - y);
  case ANNUDF_PACKED_SQUARED_DIFFERENCE:
    return (x - y) * (x - y);
  case ANNUDF_PACKED_PRODUCT:
    return x * y;
  case ANNUDF_PACKED_DIFFERENT:
    return x != y;
  case ANNUDF_PACKED_DIFFERENT_BITS:
    return std::popcount(static_cast<uint64_t>((x ^ y) & 0xFF));
  }
  llvm_unreachable("a term that the tables do not have");
}

/// Terms, added or subtracted, that what an update adds may still be.
class Candidates {
public:
  struct Candidate {
    annudf_packed_term term;
    bool negated;
  };
  Candidates() {
    for (const TableRow &row : tableOf<annudf_packed_term>().rows)
      for (bool negated : {false, true})
        left.push_back({static_cast<annudf_packed_term>(row.value), negated});
  }
  bool none() const { return left.empty(); }
  /// Drops those that are another number.
  void see(int64_t x, int64_t y, double added) {
    if (left.size() == 1 && valueOf(left[0], x, y) == added)
      return;
    llvm::erase_if(left, [&](const Candidate &one) { return valueOf(one, x, y) != added; });
  }
  bool has(const PackedSum &sum) const {
    return llvm::any_of(left, [&](const Candidate &one) {
      return one.term == sum.term && one.negated == sum.negated;
    });
  }
  const Candidate &first() const { return left.front(); }

private:
  static double valueOf(const Candidate &one, int64_t x, int64_t y) {
    const auto value = static_cast<double>(::valueOf(one.term, x, y));
    return one.negated ? -value : value;
  }
  SmallVector<Candidate> left;
};

struct Range {
  int64_t first, count;
};
Range rangeOf(annudf_element element) {
  const int64_t count = int64_t(1) << bitsOf(element);
  return {kindOf(element) == NumberKind::Signed ? -count / 2 : 0, count};
}

std::string spell(double value) { return std::to_string(static_cast<int64_t>(value)); }

/// One metric, element by element.
class Prover {
public:
  explicit Prover(MetricOp metric) : metric(metric) {}

  LaneProof run() {
    const SmallVector<Accumulator> fields = metric.getAccumulatorKinds();
    if (fields.size() != 1)
      return no("its accumulator has " + std::to_string(fields.size()) + " fields");
    accumulator = static_cast<annudf_accumulator>(fields.front());
    if (accumulator != ANNUDF_ACCUMULATOR_F32 && accumulator != ANNUDF_ACCUMULATOR_I32 &&
        accumulator != ANNUDF_ACCUMULATOR_U32)
      return no(std::string("it accumulates in ") + toString(accumulator) + ", not in 32 bits");
    SmallVector<annudf_element> elements;
    for (auto attr : metric.getElements().getAsRange<ElementAttr>())
      if (const auto element = static_cast<annudf_element>(attr.getValue());
          kindOf(element) != NumberKind::Float && bitsOf(element) <= 8)
        elements.push_back(element);
    if (elements.empty())
      return no("it takes no integers of 8 bits or fewer");
    llvm::sort(elements);
    if (accumulator == ANNUDF_ACCUMULATOR_F32 && !readInitial())
      return no("it does not begin with a whole constant");
    LaneProof proof;
    for (annudf_element element : elements) {
      std::string why;
      if (!add(element, why) && proof.why.empty())
        proof.why = std::move(why);
    }
    if (!sum.elements.empty())
      proof.sum = std::move(sum);
    return proof;
  }

private:
  static LaneProof no(std::string why) { return {std::nullopt, std::move(why)}; }

  /// From -0 a sum of zeros would stay -0, which finalize can tell from 0.
  bool readInitial() {
    Block &block = metric.getInit().getBody().front();
    Columns columns(1);
    if (!columns.run(block))
      return false;
    initial = columns.at(block.getTerminator()->getOperand(0)).reals.front();
    return initial == std::trunc(initial) && std::abs(initial) <= kMostSum &&
           !(initial == 0 && std::signbit(initial));
  }

  /// Adds to the dims whose sums are surely exact.
  bool add(annudf_element element, std::string &why) {
    Candidates candidates;
    double bound = 0;
    const Range range = rangeOf(element);
    const int64_t rows = std::min(range.count, std::max<int64_t>(1, kPairs / range.count));
    for (int64_t x = 0; x < range.count; x += rows)
      if (!see(element, range, x, rows, candidates, bound, why))
        return false;
    if (!sum.elements.empty() && !candidates.has(sum)) {
      why = std::string("of ") + toString(element) + " its term is another than of " +
            toString(sum.elements.front().element);
      return false;
    }
    double dims = ANNUDF_MAX_DIMS; // Sums of integers wrap around, packed or not.
    if (accumulator == ANNUDF_ACCUMULATOR_F32)
      dims = std::min(dims, std::floor((kMostSum - std::abs(initial)) / bound));
    if (dims < 1) {
      why = std::string("of ") + toString(element) + " one dimension may add " + spell(bound) +
            " to " + spell(initial) + ", and f32 counts up to " + spell(kMostSum);
      return false;
    }
    if (sum.elements.empty())
      sum.term = candidates.first().term, sum.negated = candidates.first().negated;
    sum.elements.push_back({element, static_cast<int32_t>(dims)});
    return true;
  }

  /// The pairs of `rows` values of x, from range.first + from on, with all values of y.
  bool see(annudf_element element, Range range, int64_t from, int64_t rows, Candidates &candidates,
           double &bound, std::string &why) {
    Block &block = metric.getUpdate().getBody().front();
    const bool isFloat = isa<FloatType>(metric.getComputeType());
    const auto pairs = static_cast<size_t>(rows * range.count);
    Column x, y, acc;
    acc.onAccumulator = true;
    if (accumulator == ANNUDF_ACCUMULATOR_F32)
      acc.reals.assign(pairs, 0);
    else
      acc.wholes.assign(pairs, 0);
    const auto xOf = [&](size_t i) { return range.first + from + int64_t(i) / range.count; };
    const auto yOf = [&](size_t i) { return range.first + int64_t(i) % range.count; };
    for (Column *column : {&x, &y}) {
      if (isFloat)
        column->reals.resize(pairs);
      else
        column->wholes.resize(pairs);
    }
    for (size_t i = 0; i < pairs; ++i) {
      if (isFloat)
        x.reals[i] = static_cast<double>(xOf(i)), y.reals[i] = static_cast<double>(yOf(i));
      else
        x.wholes[i] = xOf(i), y.wholes[i] = yOf(i);
    }
    Columns columns(pairs);
    columns.set(block.getArgument(0), std::move(acc));
    columns.set(block.getArgument(1), std::move(x));
    columns.set(block.getArgument(2), std::move(y));
    if (!columns.run(block)) {
      why = columns.why();
      return false;
    }
    const Column &next = columns.at(block.getTerminator()->getOperand(0));
    if (!next.onAccumulator) {
      why = "it does not yield the accumulator plus a term";
      return false;
    }
    bound = std::max(bound, next.bound);
    for (size_t i = 0; i < pairs; ++i) {
      const double added = next.reals.empty() ? static_cast<double>(next.wholes[i]) : next.reals[i];
      candidates.see(xOf(i), yOf(i), added);
      if (!candidates.none())
        continue;
      why = std::string("of ") + toString(element) + " it adds " + spell(added) + " for " +
            std::to_string(xOf(i)) + " and " + std::to_string(yOf(i)) + ", which is none of " +
            tableOf<annudf_packed_term>().listing();
      return false;
    }
    return true;
  }

  MetricOp metric;
  annudf_accumulator accumulator = ANNUDF_ACCUMULATOR_F32;
  double initial = 0;
  PackedSum sum;
};

} // namespace

LaneProof annudf::proveLanes(MetricOp metric) { return Prover(metric).run(); }
