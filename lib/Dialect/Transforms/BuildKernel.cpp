//===- BuildKernel.cpp - Kernels of exact search for a metric ------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelWriter.h"
#include "Rules.h"
#include "Symbols.h"

#include "annudf/Dialect/IR/Descriptor.h"
#include "annudf/Dialect/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;

namespace annudf {
#define GEN_PASS_DEF_BUILDKERNELPASS
#include "annudf/Dialect/Transforms/Passes.h.inc"
} // namespace annudf

namespace {
struct BuildKernelPass : annudf::impl::BuildKernelPassBase<BuildKernelPass> {
  using BuildKernelPassBase::BuildKernelPassBase;

  void runOnOperation() override {
    if (failed(checkOptions()))
      return signalPassFailure();
    FailureOr<MetricOp> chosen = chooseMetric();
    if (failed(chosen))
      return signalPassFailure();
    if (failed(verifyAbi(getOperation(), nullptr, AbiScope::AnyModule)))
      return signalPassFailure();
    FailureOr<Element> read = chooseElement(*chosen);
    FailureOr<gpu::GPUModuleOp> home =
        failed(read) ? FailureOr<gpu::GPUModuleOp>(failure()) : moveToGpuModule(*chosen);
    if (failed(home))
      return signalPassFailure();
    OpBuilder builder = OpBuilder::atBlockEnd(home->getBody());
    if (isKNearest())
      writeKNearest(builder, *chosen, *read, kernelName(), k);
    else
      writeAllDistances(builder, *chosen, *read, kernelName());
    numKernels += isKNearest() ? 2 : 1;
  }

private:
  static constexpr StringLiteral kAllDistances = "all-distances", kKNearest = "k-nearest";
  bool isKNearest() const { return StringRef(kind) == kKNearest; }
  std::string kernelName() const {
    return !name.empty() ? name.getValue() : isKNearest() ? "k_nearest" : "all_distances";
  }

  LogicalResult checkOptions() {
    ModuleOp module = getOperation();
    if (!isKNearest() && StringRef(kind) != kAllDistances)
      return module.emitOpError() << "cannot get a kernel of kind=" << kind.getValue()
                                  << "; write kind=all-distances or kind=k-nearest";
    if (isKNearest() && (k < 1 || k > kMaxNeighbors))
      return module.emitOpError() << "cannot get a kernel that finds k=" << k.getValue()
                                  << " rows; give a number from 1 to " << kMaxNeighbors;
    if (!isKNearest() && k != 0)
      return module.emitOpError() << "gets a kernel of all distances, which has no k="
                                  << k.getValue() << "; leave k out or write kind=k-nearest";
    for (StringRef each : {StringRef(name), StringRef(gpuModule)})
      if (!each.empty() && !rules::isIdentifier(each))
        return module.emitOpError() << "cannot get a kernel or gpu.module named '" << each
                                    << "'; use letters, digits and _, not beginning with a digit";
    return success();
  }

  FailureOr<MetricOp> chooseMetric() {
    ModuleOp module = getOperation();
    SmallVector<UdfOpInterface> metrics;
    for (MetricOp each : collectIn<MetricOp>(module))
      metrics.push_back(each);
    if (metrics.empty())
      return module.emitOpError() << "holds no annudf.metric to build a kernel for; write one";
    if (metric.empty() && metrics.size() > 1)
      return module.emitOpError() << "holds " << metrics.size()
                                  << " metrics, and a kernel calls one; give metric= one of "
                                  << listNames(metrics);
    for (UdfOpInterface each : metrics)
      if (metric.empty() || each.getSymName() == StringRef(metric))
        return cast<MetricOp>(each.getOperation());
    return module.emitOpError() << "holds no metric '" << metric.getValue()
                                << "'; give metric= one of " << listNames(metrics);
  }

  FailureOr<Element> chooseElement(MetricOp chosen) {
    SmallVector<Element> known;
    std::string names;
    for (auto each : chosen.getElements().getAsRange<ElementAttr>())
      if (each.getValue() != Element::Bits) {
        known.push_back(each.getValue());
        names += (names.empty() ? "" : ", ") + stringifyEnum(each.getValue()).str();
      }
    if (known.empty())
      return chosen.emitOpError() << "lists bits alone, which no memref holds; list u8, too";
    if (element.empty() && known.size() > 1)
      return chosen.emitOpError() << "lists " << known.size()
                                  << " element types, and a kernel reads one; give element= one of "
                                  << names;
    for (Element each : known)
      if (element.empty() || stringifyEnum(each) == StringRef(element))
        return each;
    return chosen.emitOpError() << "cannot get a kernel for element type '" << element.getValue()
                                << "'; give element= one of " << names;
  }

  /// The metric with its helpers: a kernel finds a name in its own module only.
  FailureOr<gpu::GPUModuleOp> moveToGpuModule(MetricOp chosen) {
    Operation *parent = chosen->getParentOp();
    const CallGraph graph(parent);
    if (callsLinkedCode(graph, chosen))
      return chosen.emitOpError() << "calls linked code, which no kernel can hold; write what it "
                                     "computes as a helper";
    auto home = dyn_cast<gpu::GPUModuleOp>(parent);
    for (const std::string &made : {kernelName(), kernelName() + "_merge"})
      if (home && SymbolTable::lookupSymbolIn(home, made))
        return chosen.emitOpError() << "stands beside '" << made << "' already; give another name=";
    if (home)
      return home;
    if (SymbolTable::lookupSymbolIn(parent, gpuModule))
      return chosen.emitOpError() << "stands beside '" << gpuModule.getValue()
                                  << "' already; give another gpu-module=";
    OpBuilder builder = OpBuilder::atBlockEnd(&parent->getRegion(0).front());
    SmallVector<Attribute> targets;
    if (!chip.empty())
      targets.push_back(NVVM::NVVMTargetAttr::get(&getContext(), 2, "nvptx64-nvidia-cuda", chip));
    home = gpu::GPUModuleOp::create(builder, chosen.getLoc(), gpuModule, targets);
    parent->setAttr(gpu::GPUDialect::getContainerModuleAttrName(), builder.getUnitAttr());
    builder.setInsertionPointToEnd(home.getBody());
    const llvm::DenseSet<Operation *> helpers = graph.reachableFrom(chosen);
    for (func::FuncOp helper : graph.order())
      if (helpers.contains(helper))
        builder.clone(*helper);
    chosen->moveBefore(home.getBody(), home.getBody()->end());
    eraseUnused(parent, helpers);
    return home;
  }
};

} // namespace
