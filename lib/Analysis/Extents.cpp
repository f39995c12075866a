//===- Extents.cpp - Which index lies inside which extent -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Analysis/Ranges.h"

#include "annudf/ABI/annudf_abi.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;
using namespace annudf::ranges;

Inside annudf::isInside(const IntRange &index, int64_t extent) {
  if (extent != CaptureType::kDim && extent <= 0)
    return Inside::Unknown;
  if (index.smin < 0)
    return Inside::MayBeBelow;
  if (extent == CaptureType::kDim)
    return index.dmax < 0 ? Inside::Yes : Inside::MayBeAbove;
  return index.smax < extent ? Inside::Yes : Inside::MayBeAbove;
}

static std::string spell(Wide value) {
  return value < 0 ? std::to_string(int64_t(value)) : std::to_string(uint64_t(value));
}

/// dims + k where that says more than the number does.
static std::string spellLargest(const IntRange &index) {
  const Wide largestDims = ANNUDF_MAX_DIMS;
  if (index.smax < index.dmax + largestDims || index.smin == index.smax)
    return spell(index.smax);
  if (index.dmax == 0)
    return "dims";
  return index.dmax > 0 ? "dims + " + spell(index.dmax) : "dims - " + spell(-index.dmax);
}

UnprovedIndex annudf::findUnprovedIndex(const RangeAnalysis &ranges, LoadOp load) {
  if (!ranges.isReachable(load))
    return {};
  ArrayRef<int64_t> extents = load.getCapture().getType().getExtents();
  for (unsigned i = 0; i < extents.size(); ++i) {
    const IntRange index = ranges.at(load.getIndicesMutable()[i]);
    if (Inside why = isInside(index, extents[i]); why != Inside::Yes)
      return {why, extents[i], spell(index.smin), spellLargest(index),
              extents[i] > 0 ? spell(extents[i] - 1) : "dims - 1"};
  }
  return {};
}

std::string annudf::spellRange(const IntRange &range, bool isSigned) {
  const Wide low = isSigned ? range.smin : range.umin, high = isSigned ? range.smax : range.umax;
  return low == high ? spell(low) : "from " + spell(low) + " to " + spell(high);
}
