//===- Pipelines.cpp - annudf-to-nvvm, annudf-to-host ---------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Conversion/Passes.h"
#include "annudf/Dialect/Transforms/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace annudf;

namespace {
struct PipelineOptions : PassPipelineOptions<PipelineOptions> {
  Option<std::string> metric{
      *this, "metric",
      llvm::cl::desc(
          "Symbol name of the metric to lower; may be empty if the module holds only one")};
  Option<std::string> target{*this, "target", llvm::cl::desc("ABI whose functions it becomes"),
                             llvm::cl::init(ANNUDF_ABI_ID)};
  Option<std::string> symbol{
      *this, "symbol",
      llvm::cl::desc("Name of the function, where the ABI leaves it to the metric")};
  Option<bool> form{*this, "form",
                    llvm::cl::desc("Prove the metric's quadratic form, which its contract counts"),
                    llvm::cl::init(true)};
};
} // namespace

// Nothing but the lowering's own patterns runs between the verifier and the code: no
// canonicalizer, no CSE. LLVM and libNVVM simplify what they are given.

void annudf::buildToNVVMPipeline(OpPassManager &manager, StringRef metric,
                                 const CodeTarget &target) {
  manager.addPass(createRaisePairwisePass({/*keep=*/true}));
  manager.addPass(createVerifyABIPass());
  manager.addPass(createInferCombinePass());
  manager.addPass(createPackLanesPass());
  LowerToNVVMPassOptions options;
  options.metric = metric.str();
  options.target = target.abi;
  options.symbol = target.symbol;
  options.form = target.form;
  manager.addPass(createLowerToNVVMPass(options));
}

void annudf::buildToHostPipeline(OpPassManager &manager, StringRef metric,
                                 const CodeTarget &target) {
  manager.addPass(createRaisePairwisePass({/*keep=*/true}));
  manager.addPass(createVerifyABIPass());
  manager.addPass(createInferCombinePass());
  manager.addPass(createPackLanesPass());
  LowerToLLVMPassOptions options;
  options.metric = metric.str();
  options.target = target.abi;
  options.symbol = target.symbol;
  options.form = target.form;
  manager.addPass(createLowerToLLVMPass(options));
}

void annudf::registerConversionPipelines() {
  PassPipelineRegistration<PipelineOptions>(
      "annudf-to-nvvm", "Verifies and lowers one metric for libNVVM",
      [](OpPassManager &manager, const PipelineOptions &options) {
        buildToNVVMPipeline(manager, options.metric,
                            {options.target, options.symbol, options.form});
      });
  PassPipelineRegistration<PipelineOptions>(
      "annudf-to-host", "Verifies and lowers one metric for the host",
      [](OpPassManager &manager, const PipelineOptions &options) {
        buildToHostPipeline(manager, options.metric,
                            {options.target, options.symbol, options.form});
      });
}
