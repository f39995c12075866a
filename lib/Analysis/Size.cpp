//===- Size.cpp - How often loops run and what hooks weigh -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Analysis/Size.h"

#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace annudf;

std::optional<LoopBounds> LoopBounds::of(scf::ForOp loop) {
  LoopBounds bounds;
  if (!matchPattern(loop.getLowerBound(), m_ConstantInt(&bounds.lower)) ||
      !matchPattern(loop.getUpperBound(), m_ConstantInt(&bounds.upper)) ||
      !matchPattern(loop.getStep(), m_ConstantInt(&bounds.step)))
    return std::nullopt;
  bounds.isUnsigned = loop.getUnsignedCmp();
  return bounds;
}

int64_t LoopBounds::trips() const {
  auto wide = [&](const APInt &value) { return isUnsigned ? value.zext(128) : value.sext(128); };
  APInt span = wide(upper) - wide(lower);
  if (!span.isStrictlyPositive())
    return 0;
  APInt by = step.zext(128);
  return (span + by - 1).udiv(by).getLimitedValue(INT64_MAX);
}

namespace {
struct Weight {
  llvm::StringLiteral op;
  uint64_t weight;
};
} // namespace

// Ops that become more than a few instructions, by what one more of them in a chain of 400
// costs libNVVM 13.0 (sm_75 and sm_100, the dearer of f32 and f64) in eighths of a
// millisecond: libdevice's functions are inlined, slow paths and all. An addition costs a
// tenth of the unit, a branch a third.
static constexpr Weight kWeights[] = {
    {"arith.remf", 10}, {"math.acos", 6},  {"math.acosh", 8}, {"math.asin", 5},  {"math.asinh", 8},
    {"math.atan", 3},   {"math.atan2", 5}, {"math.atanh", 6}, {"math.cbrt", 3},  {"math.cos", 24},
    {"math.cosh", 4},   {"math.erf", 3},   {"math.erfc", 5},  {"math.exp", 3},   {"math.exp2", 4},
    {"math.expm1", 5},  {"math.log", 5},   {"math.log10", 5}, {"math.log1p", 6}, {"math.log2", 5},
    {"math.powf", 16},  {"math.sin", 24},  {"math.sinh", 4},  {"math.tan", 20},  {"math.tanh", 4},
};

uint64_t annudf::weightOf(Operation *op) {
  StringRef name = op->getName().getStringRef();
  const auto *found =
      llvm::find_if(kWeights, [&](const Weight &entry) { return entry.op == name; });
  return found == std::end(kWeights) ? 1 : found->weight;
}

SizeCounter::SizeCounter(Operation *module) : graph(module) {
  llvm::DenseSet<Operation *> reached;
  for (auto udf : module->getRegion(0).getOps<ir::UdfOpInterface>())
    for (Operation *helper : graph.reachableFrom(udf))
      reached.insert(helper);
  for (func::FuncOp helper : graph.order())
    if (reached.contains(helper))
      helpers[helper] = below(helper);
}

uint64_t SizeCounter::below(Operation *root) const {
  uint64_t size = 0;
  for (Region &region : root->getRegions())
    for (Block &block : region)
      for (Operation &op : block)
        size = llvm::SaturatingAdd(size, of(&op));
  return size;
}

uint64_t SizeCounter::of(Operation *op) const {
  uint64_t size = below(op);
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    const std::optional<LoopBounds> bounds = LoopBounds::of(loop);
    const uint64_t trips = bounds ? static_cast<uint64_t>(bounds->trips()) : runs.lookup(op);
    size = llvm::SaturatingMultiply(size, std::max<uint64_t>(1, trips));
  }
  if (auto call = dyn_cast<func::CallOp>(op))
    size = helpers.lookup(graph.callee(call));
  return llvm::SaturatingAdd(size, weightOf(op));
}
