//===- PackLanes.cpp - Sums of coordinates that may be packed -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Analysis/Lanes.h"
#include "annudf/Dialect/IR/Descriptor.h"
#include "annudf/Dialect/Transforms/Passes.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;

namespace annudf {
#define GEN_PASS_DEF_PACKLANESPASS
#include "annudf/Dialect/Transforms/Passes.h.inc"
} // namespace annudf

namespace {

struct PackLanesPass : annudf::impl::PackLanesPassBase<PackLanesPass> {
  using PackLanesPassBase::PackLanesPassBase;

  void runOnOperation() override {
    for (auto metric : collectIn<MetricOp>(getOperation())) {
      if (metric.getPacked()) // Which annudf-verify-abi has proved.
        continue;
      const LaneProof proof = proveLanes(metric);
      if (proof.sum) {
        metric.setPackedAttr(toAttribute(*proof.sum, &getContext()));
        ++numPacked;
      }
      if (explain && !proof.why.empty())
        metric.getUpdate().emitRemark()
            << "[N2] is not packed" << (proof.sum ? " for every element" : "") << ": " << proof.why;
    }
  }
};

} // namespace
