//===- VerifyABI.cpp - Does a metric keep the ABI? -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rules.h"

#include "annudf/ABI/Extents.h"
#include "annudf/Analysis/Lanes.h"
#include "annudf/Dialect/IR/Descriptor.h"
#include "annudf/Dialect/Transforms/Passes.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;

namespace annudf {
#define GEN_PASS_DEF_VERIFYABIPASS
#include "annudf/Dialect/Transforms/Passes.h.inc"
} // namespace annudf

bool rules::isIdentifier(StringRef name) {
  auto isWordStart = [](char c) { return llvm::isAlpha(c) || c == '_'; };
  auto isWord = [&](char c) { return isWordStart(c) || llvm::isDigit(c); };
  return !name.empty() && isWordStart(name.front()) && llvm::all_of(name, isWord);
}

//===----------------------------------------------------------------------===//
// Module
//===----------------------------------------------------------------------===//

bool rules::isLeftAlone(NamedAttribute attribute, AbiScope scope) {
  return scope == AbiScope::AnyModule && isOfOtherDialect(attribute);
}

LogicalResult annudf::verifyArtifactModule(ModuleOp module) {
  LogicalResult result = success();
  // A data layout or target on the module would change what the bodies mean.
  for (NamedAttribute attribute : module->getDiscardableAttrs()) {
    module.emitOpError() << "[T1] carries attribute '" << attribute.getName().getValue()
                         << "', which could change what the metrics mean; drop it";
    result = failure();
  }
  for (Operation &op : *module.getBody()) {
    if (isa<UdfOpInterface, func::FuncOp, ExternOp>(op))
      continue;
    op.emitOpError() << "[T2] cannot stand beside a metric; a module holds metrics, filters, "
                        "functions, externs and private helpers (func.func) only";
    result = failure();
  }
  module.walk([&](Operation *op) {
    if (isa_and_nonnull<AnnudfDialect>(op->getDialect()) && failed(verifyOwnAttributesOnly(op)))
      result = failure();
  });
  return result;
}

static LogicalResult verifyAny(ModuleOp module) {
  if (!collectIn<UdfOpInterface>(module).empty())
    return success();
  return module.emitOpError()
         << "[T3] holds no annudf.metric, annudf.filter or annudf.function; write one";
}

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

LogicalResult rules::verifyHelper(func::FuncOp helper, AbiScope scope) {
  if (!helper.isPrivate())
    return helper.emitOpError() << "[F1] is public, but only metrics leave a module; write "
                                   "func.func private";
  if (helper.isExternal())
    return helper.emitOpError() << "[F2] has no body, and nothing outside the module can be "
                                   "called; define it";
  if (!helper.getBody().hasOneBlock())
    return helper.emitOpError() << "[F3] has " << helper.getBody().getBlocks().size()
                                << " blocks; write branches with scf.if and loops with scf.for";
  // Anything else becomes a struct or void, which the NVVM emitter does not print.
  if (helper.getNumResults() != 1)
    return helper.emitOpError() << "[F9] returns " << helper.getNumResults()
                                << " values; return one";
  for (NamedAttribute attribute : helper->getAttrs()) {
    StringRef name = attribute.getName();
    if (name != helper.getSymNameAttrName() && name != helper.getFunctionTypeAttrName() &&
        name != helper.getSymVisibilityAttrName() && !isLeftAlone(attribute, scope))
      return helper.emitOpError() << "[F5] carries attribute '" << name
                                  << "', which has no meaning for a helper; drop it";
  }
  StringRef name = helper.getSymName();
  if (!isIdentifier(name) || name.starts_with("annudf") || name.starts_with("__"))
    return helper.emitOpError() << "[F6] has a name that is no C identifier or is reserved; use "
                                   "letters, digits and _, not beginning with a "
                                   "digit, annudf or __";
  if (name.size() > ANNUDF_MAX_NAME)
    return helper.emitOpError() << "[F10] has a name of " << name.size() << " bytes, more than "
                                << int(ANNUDF_MAX_NAME) << "; shorten it";
  return success();
}

//===----------------------------------------------------------------------===//
// Metrics and captures
//===----------------------------------------------------------------------===//

static LogicalResult verifyCapture(CaptureOp capture) {
  if (!rules::isIdentifier(capture.getName()))
    return capture.emitOpError() << "[C7] name \"" << capture.getName()
                                 << "\" cannot be given on a command line; use letters, digits "
                                    "and _, not beginning with a digit";
  if (capture.getName().size() > ANNUDF_MAX_NAME)
    return capture.emitOpError() << "[C11] has a name of " << capture.getName().size()
                                 << " bytes, more than " << int(ANNUDF_MAX_NAME) << "; shorten it";
  CaptureType type = capture.getType();
  for (int64_t extent : type.getExtents().drop_front(type.isScalar() ? 0 : 1))
    if (isFirstOnly(CaptureType::kindOf(extent)))
      return capture.emitOpError()
             << "[C9] extent " << CaptureType::spellExtent(extent)
             << " stands after another extent, and hooks do not know its size; put it first";
  if (type.getExtents().size() > CaptureType::kMaxRank)
    return capture.emitOpError() << "[C8] has " << type.getExtents().size()
                                 << " extents, more than " << CaptureType::kMaxRank
                                 << "; join some in one";
  Type element = type.getElementType();
  if (!isTypeOf<annudf_capture_element>(element))
    return capture.emitOpError() << "[C10] element type " << element
                                 << " is not supported; use f16, bf16, f32, f64, i1, i8, "
                                    "i16, i32, i64, ui8, ui16, ui32 or ui64";
  return success();
}

template <typename OpT> static LogicalResult verifyElements(OpT udf, StringRef hook) {
  const Type compute = udf.getComputeType();
  for (auto element : udf.getElements().template getAsRange<ElementAttr>())
    if (!isa<FloatType>(compute) &&
        kindOf(static_cast<annudf_element>(element.getValue())) == NumberKind::Float)
      return udf.emitOpError() << "[M13] accepts element type " << stringifyEnum(element.getValue())
                               << ", but annudf." << hook << " takes its coordinates as " << compute
                               << "; take them as f32 or list only " << wholeElements();
  return success();
}

/// For a module whose bodies keep the rules.
static LogicalResult verifyPacked(MetricOp metric) {
  if (!metric.getPacked())
    return success();
  const LaneProof proof = proveLanes(metric);
  if (proof.sum && toAttribute(*proof.sum, metric.getContext()) == *metric.getPacked())
    return success();
  return metric.emitOpError() << "[M26] says packed " << *metric.getPacked() << ", but "
                              << (proof.sum ? packedText(proof.sum) : proof.why)
                              << "; leave it out, annudf-pack-lanes writes it";
}

static LogicalResult verifyUdf(UdfOpInterface udf, AbiCounts &counts, AbiScope scope) {
  LogicalResult result = success();
  auto check = [&](LogicalResult part) {
    if (failed(part))
      result = failure();
  };
  ++counts.metrics;
  if (!rules::isIdentifier(udf.getSymName())) {
    udf->emitOpError() << "[M12] has a name that a device compiler refuses; use letters, digits "
                          "and _, not beginning with a digit";
    result = failure();
  }
  if (udf.getSymName().size() > ANNUDF_MAX_NAME) {
    udf->emitOpError() << "[M16] has a name of " << udf.getSymName().size() << " bytes, more than "
                       << int(ANNUDF_MAX_NAME) << "; shorten it";
    result = failure();
  }
  if (udf.getDims().value_or(0) > ANNUDF_MAX_DIMS) {
    udf->emitOpError() << "[M17] is for " << *udf.getDims() << " dimensions, more than "
                       << int(ANNUDF_MAX_DIMS) << "; fix fewer, or leave dims out";
    result = failure();
  }
  if (auto scanned = dyn_cast<MetricOp>(udf.getOperation()))
    check(verifyElements(scanned, "update"));
  if (auto pairwise = dyn_cast<PairwiseOp>(udf.getOperation())) {
    check(verifyElements(pairwise, "distance"));
    check(rules::verifyScratch(pairwise));
  }
  if (auto function = dyn_cast<FunctionOp>(udf.getOperation()))
    check(rules::verifyFunction(function));
  SmallVector<CaptureOp> captures = udf.getCaptures();
  for (CaptureOp capture : captures)
    check(verifyCapture(capture));
  size_t bound = llvm::count_if(captures, [](CaptureOp capture) { return !capture.getValue(); });
  if (bound > ANNUDF_MAX_CAPTURES) {
    udf->emitOpError() << "[M14] binds " << bound << " captures, more than "
                       << int(ANNUDF_MAX_CAPTURES) << "; bake some in with annudf-inline-captures";
    result = failure();
  }
  for (auto hook : udf.getBody().getOps<HookOpInterface>())
    check(rules::verifyBody(hook, counts, scope));
  return result;
}

/// Functions that keep the rules of helpers: all in an artifact, else those that a metric reaches.
static llvm::DenseSet<Operation *> helpersOf(Operation *module, const CallGraph &graph,
                                             AbiScope scope) {
  llvm::DenseSet<Operation *> helpers;
  if (scope == AbiScope::Artifact)
    helpers.insert(graph.functions().begin(), graph.functions().end());
  else
    for (auto udf : module->getRegion(0).getOps<UdfOpInterface>())
      helpers.insert_range(graph.reachableFrom(udf));
  return helpers;
}

/// The metrics at the top of `module`, and what they reach.
static LogicalResult verifyTop(Operation *module, AbiCounts &counts, AbiScope scope) {
  Region &top = module->getRegion(0);
  const CallGraph graph(module);
  const llvm::DenseSet<Operation *> helpers = helpersOf(module, graph, scope);
  SmallVector<Operation *> ours;
  for (Operation &op : top.getOps())
    if (helpers.contains(&op) || isa<UdfOpInterface>(op))
      ours.push_back(&op);
  if (scope == AbiScope::AnyModule && failed(rules::verifyModuleSize(module, ours)))
    return failure();
  bool ok = true;
  for (auto helper : top.getOps<func::FuncOp>())
    if (helpers.contains(helper))
      ok &= succeeded(rules::verifyHelper(helper, scope)) &&
            succeeded(rules::verifyBody(helper, counts, scope));
  for (auto udf : top.getOps<UdfOpInterface>())
    ok &= succeeded(verifyUdf(udf, counts, scope));
  for (auto declaration : top.getOps<ExternOp>())
    ok &= succeeded(rules::verifyExtern(declaration));
  for (auto function : top.getOps<FunctionOp>())
    ok &= succeeded(rules::verifyNoLinkedCode(graph, function));
  ok = ok && succeeded(rules::verifyNoRecursion(graph, helpers)) &&
       succeeded(rules::verifySize(module, counts));
  if (ok)
    for (auto metric : top.getOps<MetricOp>())
      ok &= succeeded(verifyPacked(metric));
  return success(ok);
}

LogicalResult annudf::verifyAbi(ModuleOp module, AbiCounts *counts, AbiScope scope) {
  AbiCounts local;
  AbiCounts &total = counts ? *counts : local;
  const bool isArtifact = scope == AbiScope::Artifact;
  if (isArtifact && failed(rules::verifyModuleSize(module, module.getOperation())))
    return failure();
  bool ok = !isArtifact || succeeded(verifyArtifactModule(module));
  ok &= succeeded(verifyAny(module));
  for (Operation *each : isArtifact ? SmallVector<Operation *>{module} : modulesIn(module))
    ok &= succeeded(verifyTop(each, total, scope));
  return success(ok);
}

LogicalResult annudf::checkTargetAbi(ModuleOp module, StringRef abi) {
  if (CodeTarget{abi.str(), ""}.isKnown())
    return success();
  return module.emitOpError() << "[T4] cannot be verified against '" << abi
                              << "'; the ABIs known are: " << kTargetAbis;
}

namespace {
struct VerifyABIPass : annudf::impl::VerifyABIPassBase<VerifyABIPass> {
  using VerifyABIPassBase::VerifyABIPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    markAllAnalysesPreserved();
    if (failed(checkTargetAbi(module, target)))
      return signalPassFailure();
    AbiCounts counts;
    LogicalResult result =
        annudf::verifyAbi(module, &counts, artifact ? AbiScope::Artifact : AbiScope::AnyModule);
    numMetrics += counts.metrics;
    numOps += counts.ops;
    maxUnrolled.updateMax(counts.maxUnrolled);
    if (succeeded(result) && target == ANNUDF_CUVS_METRIC_ABI_ID)
      for (auto udf : collectIn<UdfOpInterface>(module))
        if (failed(verifyCuvsMetric(udf)))
          result = failure();
    if (failed(result))
      return signalPassFailure();
    for (auto metric : collectIn<MetricOp>(module)) {
      rules::warnOfUnreadAccumulator(metric);
      rules::warnOfUnreadPart(metric);
    }
  }
};
} // namespace

std::unique_ptr<Pass> annudf::createVerifyABIPass() {
  VerifyABIPassOptions options;
  options.artifact = true;
  return createVerifyABIPass(options);
}

std::unique_ptr<Pass> annudf::createVerifyABIPass(VerifyABIPassOptions options) {
  return std::make_unique<VerifyABIPass>(std::move(options));
}

std::unique_ptr<Pass> annudf::createVerifyAnyModulePass() {
  return std::make_unique<VerifyABIPass>();
}
