//===- Lower.cpp - annudf-lower-to-nvvm, annudf-lower-to-llvm -------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AccumulatorV1/Lowering.h"

#include "llvm/TargetParser/Host.h"

namespace annudf {
#define GEN_PASS_DEF_LOWERTONVVMPASS
#define GEN_PASS_DEF_LOWERTOLLVMPASS
#include "annudf/Conversion/Passes.h.inc"
} // namespace annudf

using namespace mlir;
using namespace annudf;
using namespace annudf::lowering;

namespace {

// libNVVM verifies the layout; this one it takes for every architecture.
constexpr const char *kNvvmDataLayout =
    "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-"
    "v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64";

template <typename Base> struct LoweringPass : Base {
  using Base::Base;
  void lower(TargetInfo target) {
    target.code = {this->target, this->symbol, this->form};
    LoweringCounts counts;
    if (failed(lowerMetric(this->getOperation(), this->metric, target, counts)))
      return this->signalPassFailure();
    this->numSlots += counts.slots;
    this->numTables += counts.tables;
  }
};

struct LowerToNVVM : LoweringPass<annudf::impl::LowerToNVVMPassBase<LowerToNVVM>> {
  using LoweringPass::LoweringPass;
  void runOnOperation() override {
    lower({TargetKind::Nvvm,
           "annudf-lower-to-nvvm",
           1,
           4,
           "nvptx64-nvidia-cuda",
           kNvvmDataLayout,
           {}});
  }
};

struct LowerToLLVM : LoweringPass<annudf::impl::LowerToLLVMPassBase<LowerToLLVM>> {
  using LoweringPass::LoweringPass;
  void runOnOperation() override {
    // No features and no layout: the machine that runs the bitcode decides them.
    std::string triple = llvm::sys::getDefaultTargetTriple();
    lower({TargetKind::Host, "annudf-lower-to-llvm", 0, 0, triple.c_str(), "", {}});
  }
};

} // namespace
