//===- LowerHooks.cpp - From a metric to the functions of the ABI ---------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "annudf/ABI/Hooks.h"
#include "annudf/Dialect/IR/Descriptor.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;
using namespace annudf::lowering;

namespace {

/// A type of the header's prototypes in MLIR.
template <typename T> Type typeFor(Builder &builder) {
  if constexpr (std::is_pointer_v<T>)
    return LLVM::LLVMPointerType::get(builder.getContext());
  else if constexpr (std::is_same_v<T, float>)
    return builder.getF32Type();
  else
    return builder.getIntegerType(8 * sizeof(T));
}

template <typename Result, typename... Parameters>
FunctionType typeFor(Builder &builder, std::type_identity<Result(Parameters...)>) {
  const SmallVector<Type> parameters = {typeFor<Parameters>(builder)...};
  if constexpr (std::is_void_v<Result>)
    return builder.getFunctionType(parameters, {});
  else
    return builder.getFunctionType(parameters, typeFor<Result>(builder));
}

/// What the functions of metrics and filters are built with.
class HookBuilder {
protected:
  HookBuilder(ModuleOp module, UdfOpInterface udf, const TargetInfo &target, LoweringCounts &counts,
              const ProvedFacts &facts)
      : module(module), udf(udf), target(target), counts(counts),
        builder(udf.getLoc(), module.getContext()), descriptor(describeWith(udf, facts)) {}

  static MetricDescriptor describeWith(UdfOpInterface udf, const ProvedFacts &facts) {
    MetricDescriptor descriptor = describe(udf);
    facts.addTo(descriptor);
    return descriptor;
  }

  /// The insertion point is its body.
  func::FuncOp begin(StringRef name, FunctionType type) {
    builder.setInsertionPointToEnd(module.getBody());
    auto function = func::FuncOp::create(builder, name, type);
    builder.setInsertionPointToStart(function.addEntryBlock());
    return function;
  }

  SmallVector<Value> cloneBody(HookOpInterface hook, ValueRange arguments) {
    return lowering::cloneBody(builder, hook, arguments);
  }

  /// Ends the function whose body is the insertion point.
  void returnContract() {
    Value number = arith::ConstantOp::create(
        builder, builder.getIntegerAttr(builder.getI64Type(), APInt(64, contractOf(descriptor))));
    func::ReturnOp::create(builder, number);
  }

  ModuleOp module;
  UdfOpInterface udf;
  const TargetInfo &target;
  LoweringCounts &counts;
  ImplicitLocOpBuilder builder;
  const MetricDescriptor descriptor;
};

/// The two functions of a filter.
class FilterLowering : HookBuilder {
public:
  FilterLowering(ModuleOp module, FilterOp filter, const ProvedFacts &facts,
                 const TargetInfo &target, LoweringCounts &counts)
      : HookBuilder(module, filter, target, counts, facts), filter(filter) {}

  LogicalResult run() {
    LogicalResult result = success();
    forEachFilterHook([&](FilterHook hook, const char *symbol, auto prototype) {
      func::FuncOp function = begin(symbol, typeFor(builder, prototype));
      if (failed(build(hook, function)))
        result = failure();
    });
    return result;
  }

private:
  /// No default: a new hook is built here, and nowhere else.
  LogicalResult build(FilterHook hook, func::FuncOp function) {
    switch (hook) {
    case FilterHook::KEEP: {
      Value kept = cloneBody(filter.getKeep(), {}).front();
      func::ReturnOp::create(
          builder, arith::ExtUIOp::create(builder, builder.getI32Type(), kept).getResult());
      auto argument = [&](unsigned i) { return function.getArgument(i); };
      return lowerAccesses(function, udf,
                           {{}, argument(0), argument(1), argument(2), argument(3), argument(4)},
                           target, counts);
    }
    case FilterHook::CONTRACT:
      returnContract();
      return success();
    }
    llvm_unreachable("a hook that annudf_abi.h does not have");
  }

  FilterOp filter;
};

/// The two functions of a distance of whole vectors.
class PairwiseLowering : HookBuilder {
public:
  PairwiseLowering(ModuleOp module, PairwiseOp pairwise, const ProvedFacts &facts,
                   const TargetInfo &target, LoweringCounts &counts)
      : HookBuilder(module, pairwise, target, counts, facts), pairwise(pairwise) {}

  LogicalResult run() {
    LogicalResult result = success();
    forEachPairwiseHook(descriptor.computeWidth(),
                        [&](PairwiseHook hook, const char *symbol, auto prototype) {
                          func::FuncOp function = begin(symbol, typeFor(builder, prototype));
                          if (failed(build(hook, function)))
                            result = failure();
                        });
    return result;
  }

private:
  /// No default: a new hook is built here, and nowhere else.
  LogicalResult build(PairwiseHook hook, func::FuncOp function) {
    switch (hook) {
    case PairwiseHook::DISTANCE: {
      auto argument = [&](unsigned i) { return function.getArgument(i); };
      func::ReturnOp::create(builder,
                             cloneBody(pairwise.getDistance(), {argument(0), argument(1)}));
      lowerVectors(function, {argument(0), argument(1), argument(2), argument(7)});
      return lowerAccesses(function, udf,
                           {{}, argument(2), argument(3), argument(4), argument(5), argument(6)},
                           target, counts);
    }
    case PairwiseHook::CONTRACT:
      returnContract();
      return success();
    }
    llvm_unreachable("a hook that annudf_abi.h does not have");
  }

  PairwiseOp pairwise;
};

/// Builds the functions of one metric.
class HookLowering : HookBuilder {
public:
  HookLowering(ModuleOp module, MetricOp metric, const ProvedFacts &facts, const TargetInfo &target,
               LoweringCounts &counts)
      : HookBuilder(module, metric, target, counts, facts), metric(metric),
        fields(metric.getAccumulatorTypes()), compute(metric.getComputeType()),
        widths(descriptor.hookWidths()) {}

  LogicalResult run() {
    if (failed(checkElements()))
      return failure();
    for (ScanHook hook : kScanHooks)
      if (failed(build(hook)))
        return failure();
    return success();
  }

private:
  /// No default: a new hook is built here, and nowhere else.
  LogicalResult build(ScanHook hook) {
    switch (hook) {
    case ScanHook::INIT:
      return buildInit();
    case ScanHook::UPDATE:
      return buildUpdate();
    case ScanHook::FINALIZE:
      return buildFinalize();
    case ScanHook::COMBINE:
      return buildCombine();
    case ScanHook::CONTRACT:
      return buildContract();
    }
    llvm_unreachable("a hook that annudf_abi.h does not have");
  }

  /// A hook by its name and prototype in annudf_abi.h; the insertion point is its body.
  func::FuncOp begin(ScanHook wanted) {
    std::string name;
    FunctionType type;
    forEachScanHook(widths, [&](ScanHook hook, const char *symbol, auto prototype) {
      if (hook == wanted)
        name = symbol, type = typeFor(builder, prototype);
    });
    return HookBuilder::begin(name, type);
  }

  /// Between the word that crosses the link and the value that a body sees. A word may be wider
  /// than a field: then it is the low half.
  Value decode(Value word, Type type) {
    const unsigned bits = type.getIntOrFloatBitWidth();
    if (bits < word.getType().getIntOrFloatBitWidth())
      word = arith::TruncIOp::create(builder, builder.getIntegerType(bits), word);
    return word.getType() == type ? word : arith::BitcastOp::create(builder, type, word);
  }
  Value encode(Value value, Type word) {
    const unsigned bits = value.getType().getIntOrFloatBitWidth();
    if (!value.getType().isInteger())
      value = arith::BitcastOp::create(builder, builder.getIntegerType(bits), value);
    return value.getType() == word ? value : arith::ExtUIOp::create(builder, word, value);
  }

  /// The accumulator that a hook's first argument is, as the body takes it.
  SmallVector<Value> loadAccumulator(Value argument) {
    if (widths.form == AccumulatorForm::Word)
      return {decode(argument, fields.front())};
    SmallVector<Value> values;
    for (auto [i, field] : llvm::enumerate(fields))
      values.push_back(
          decode(LLVM::LoadOp::create(builder, word(), wordAt(argument, i), widths.accumulator / 8),
                 field));
    return values;
  }

  /// Ends a hook that gives an accumulator: as its result, or in the words of its first argument.
  void returnAccumulator(func::FuncOp function, ArrayRef<Value> values) {
    if (widths.form == AccumulatorForm::Word) {
      func::ReturnOp::create(builder, encode(values.front(), word()));
      return;
    }
    for (auto [i, value] : llvm::enumerate(values))
      LLVM::StoreOp::create(builder, encode(value, word()), wordAt(function.getArgument(0), i),
                            widths.accumulator / 8);
    func::ReturnOp::create(builder);
  }

  Type word() { return builder.getIntegerType(widths.accumulator); }
  Value wordAt(Value pointer, int64_t i) {
    return LLVM::GEPOp::create(builder, pointer.getType(), word(), pointer,
                               ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)},
                               LLVM::GEPNoWrapFlags::inbounds);
  }

  /// The kernel converts; but code whose manifest promised a conversion that loses values
  /// should not exist.
  LogicalResult checkElements() {
    const annudf_compute kind = descriptor.compute;
    for (auto attr : metric.getElements().getAsRange<ElementAttr>())
      if (!converts(static_cast<annudf_element>(attr.getValue()), kind))
        return metric.emitOpError()
               << target.passName << ": element " << stringifyEnum(attr.getValue())
               << " cannot reach a body that takes coordinates as " << compute;
    return success();
  }

  LogicalResult buildInit() {
    func::FuncOp function = begin(ScanHook::INIT);
    returnAccumulator(function, cloneBody(metric.getInit(), {}));
    // Words by pointer come before what every init takes.
    const unsigned first = widths.form == AccumulatorForm::Words;
    auto argument = [&](unsigned i) { return function.getArgument(first + i); };
    return lowerAccesses(function, metric,
                         {{}, argument(0), {}, argument(1), argument(2), argument(3)}, target,
                         counts);
  }

  LogicalResult buildUpdate() {
    func::FuncOp function = begin(ScanHook::UPDATE);
    auto argument = [&](unsigned i) { return function.getArgument(i); };
    SmallVector<Value> values = loadAccumulator(argument(0));
    values.append({decode(argument(1), compute), decode(argument(2), compute)});
    returnAccumulator(function, cloneBody(metric.getUpdate(), values));
    return lowerAccesses(
        function, metric,
        {argument(3), argument(4), argument(5), argument(6), argument(7), argument(8)}, target,
        counts);
  }

  /// Without one the runtime links its own, which converts the accumulator.
  LogicalResult buildFinalize() {
    FinalizeOp finalize = metric.getFinalize();
    if (!finalize)
      return success();
    func::FuncOp function = begin(ScanHook::FINALIZE);
    func::ReturnOp::create(builder, cloneBody(finalize, loadAccumulator(function.getArgument(0))));
    auto argument = [&](unsigned i) { return function.getArgument(i); };
    return lowerAccesses(function, metric,
                         {{}, argument(1), argument(2), argument(3), argument(4), argument(5)},
                         target, counts);
  }

  /// A kernel calls it only of metrics that have one.
  LogicalResult buildCombine() {
    CombineOp combine = metric.getCombine();
    if (!combine)
      return success();
    func::FuncOp function = begin(ScanHook::COMBINE);
    auto argument = [&](unsigned i) { return function.getArgument(i); };
    SmallVector<Value> values = loadAccumulator(argument(0));
    values.append(loadAccumulator(argument(1)));
    returnAccumulator(function, cloneBody(combine, values));
    return lowerAccesses(function, metric,
                         {{}, argument(2), argument(3), argument(4), argument(5), argument(6)},
                         target, counts);
  }

  LogicalResult buildContract() {
    begin(ScanHook::CONTRACT);
    returnContract();
    return success();
  }

  MetricOp metric;
  SmallVector<Type> fields; ///< The accumulator's; one that is no struct has one.
  Type compute;
  const HookWidths widths;
};

} // namespace

SmallVector<Value> annudf::lowering::cloneBody(OpBuilder &builder, HookOpInterface hook,
                                               ValueRange arguments) {
  Block *block = hook.getHookBlock();
  IRMapping mapping;
  mapping.map(block->getArguments(), arguments);
  for (Operation &op : block->without_terminator())
    builder.clone(op, mapping);
  return llvm::map_to_vector(block->getTerminator()->getOperands(),
                             [&](Value value) { return mapping.lookup(value); });
}

/// By what it is. No default: what is none of these is no UdfOpInterface that is known here.
static LogicalResult lowerUdf(ModuleOp module, UdfOpInterface udf, StringRef name,
                              const ProvedFacts &facts, const TargetInfo &target,
                              LoweringCounts &counts) {
  if (auto metric = dyn_cast<MetricOp>(udf.getOperation()))
    return HookLowering(module, metric, facts, target, counts).run();
  if (auto filter = dyn_cast<FilterOp>(udf.getOperation()))
    return FilterLowering(module, filter, facts, target, counts).run();
  if (auto pairwise = dyn_cast<PairwiseOp>(udf.getOperation()))
    return PairwiseLowering(module, pairwise, facts, target, counts).run();
  if (auto function = dyn_cast<FunctionOp>(udf.getOperation()))
    return lowerFunction(module, function, name, target, counts);
  return udf->emitOpError() << target.passName << ": has no lowering";
}

LogicalResult annudf::lowering::lowerHooks(ModuleOp module, StringRef name,
                                           const TargetInfo &target, LoweringCounts &counts,
                                           std::string &exported) {
  std::string given;
  ProvedFacts facts;
  FailureOr<UdfOpInterface> udf = isolateMetric(module, name, target, given, &facts);
  if (failed(udf) || failed(proveLoads(*udf, target)))
    return failure();
  auto pairwise = dyn_cast<PairwiseOp>(udf->getOperation());
  if (pairwise && target.kind == TargetKind::Nvvm)
    return pairwise.emitOpError() << target.passName
                                  << ": is computed as it is written, which CPUs alone do; make it "
                                     "one pass over the coordinates";
  if (pairwise && failed(proveVectors(pairwise, target)))
    return failure();
  fuseProducts(module, target); // Before anything that only one target does.
  // Who calls a device function may have bound arrays without entries. Whole vectors are computed
  // one row at a time.
  if (!isa<FunctionOp, PairwiseOp>(udf->getOperation())) {
    straightenBranches(*udf, target);
    if (failed(proveLoads(*udf, target)))
      return failure();
    if (target.kind == TargetKind::Host)
      tellSlowRows(module, *udf);
  }
  for (CaptureOp capture : udf->getCaptures())
    if (!capture.getValue())
      ++counts.slots;
  if (counts.slots > ANNUDF_MAX_CAPTURES)
    return (*udf)->emitOpError() << target.passName << ": binds " << counts.slots
                                 << " captures, the ABI has " << int(ANNUDF_MAX_CAPTURES)
                                 << " slots";
  if (failed(lowerUdf(module, *udf, given, facts, target, counts)))
    return failure();
  if (isa<FunctionOp>(udf->getOperation()))
    exported = given;
  (*udf)->erase();
  return success();
}
