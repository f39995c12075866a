//===- LowerHooks.cpp - From a metric to the functions of the ABI ---------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "annudf/ABI/annudf_abi.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;
using namespace annudf::lowering;

namespace {

constexpr StringLiteral kElementHook = "annudf1_element";
constexpr StringLiteral kUpdateBody = "annudf_body_update";

/// Builds the functions of one metric.
class HookLowering {
public:
  HookLowering(ModuleOp module, MetricOp metric, const TargetInfo &target, LoweringCounts &counts)
      : module(module), metric(metric), target(target), counts(counts),
        builder(metric.getLoc(), module.getContext()), i32(builder.getI32Type()),
        i64(builder.getI64Type()), slots(LLVM::LLVMPointerType::get(module.getContext())),
        kind(metric.getAccumulatorKind()), accumulator(metric.getAccumulatorType()),
        word(kind == Accumulator::F64 ? i64 : i32),
        suffix(kind == Accumulator::F64 ? "_64" : "_32") {}

  LogicalResult run() {
    builder.setInsertionPointToEnd(module.getBody());
    builder.setLoc(metric.getLoc());
    if (failed(buildUpdateBody()) || failed(buildInit()) || failed(buildUpdate()) ||
        failed(buildFinalize()))
      return failure();
    buildConstant("annudf1_order", int32_t(metric.getOrder()));
    buildConstant("annudf1_dims", metric.getDims().value_or(0));
    return success();
  }

private:
  func::FuncOp beginFunction(StringRef name, ArrayRef<Type> arguments, Type result) {
    builder.setInsertionPointToEnd(module.getBody());
    auto function = func::FuncOp::create(builder, name, builder.getFunctionType(arguments, result));
    builder.setInsertionPointToStart(function.addEntryBlock());
    return function;
  }

  /// Copies the body of a hook to the insertion point. Returns what it yields.
  Value cloneBody(HookOpInterface hook, ValueRange arguments) {
    Block *block = hook.getHookBlock();
    IRMapping mapping;
    mapping.map(block->getArguments(), arguments);
    for (Operation &op : block->without_terminator())
      builder.clone(op, mapping);
    return mapping.lookup(block->getTerminator()->getOperand(0));
  }

  Value decode(Value bits) {
    return isa<FloatType>(accumulator) ? arith::BitcastOp::create(builder, accumulator, bits)
                                       : bits;
  }
  Value encode(Value acc) {
    return isa<FloatType>(accumulator) ? arith::BitcastOp::create(builder, word, acc) : acc;
  }

  // acc, x, y, dim, dims, slots: what a body can see of a hook's arguments.
  LogicalResult buildUpdateBody() {
    Type x = metric.getComputeType();
    func::FuncOp function =
        beginFunction(kUpdateBody, {accumulator, x, x, i32, i32, slots}, accumulator);
    function.setPrivate();
    auto arguments = function.getArguments();
    Value next = cloneBody(metric.getUpdate(), arguments.take_front(3));
    func::ReturnOp::create(builder, next);
    return lowerAccesses(function, metric, {arguments[3], arguments[4], arguments[5]}, target,
                         counts);
  }

  LogicalResult buildInit() {
    func::FuncOp function =
        beginFunction((Twine("annudf1_init") + suffix).str(), {i32, i32, i32, slots}, word);
    func::ReturnOp::create(builder, encode(cloneBody(metric.getInit(), {})));
    return lowerAccesses(function, metric, {{}, function.getArgument(0), function.getArgument(3)},
                         target, counts);
  }

  LogicalResult buildFinalize() {
    func::FuncOp function = beginFunction((Twine("annudf1_finalize") + suffix).str(),
                                          {word, i32, i64, i32, i32, slots}, builder.getF32Type());
    Value acc = decode(function.getArgument(0));
    FinalizeOp finalize = metric.getFinalize();
    func::ReturnOp::create(builder, finalize ? cloneBody(finalize, acc) : toDistance(acc));
    return lowerAccesses(function, metric, {{}, function.getArgument(1), function.getArgument(5)},
                         target, counts);
  }

  Value toDistance(Value acc) {
    Type f32 = builder.getF32Type();
    switch (kind) {
    case Accumulator::F32:
      return acc;
    case Accumulator::F64:
      return arith::TruncFOp::create(builder, f32, acc);
    case Accumulator::I32:
      return arith::SIToFPOp::create(builder, f32, acc);
    case Accumulator::U32:
      return arith::UIToFPOp::create(builder, f32, acc);
    }
    llvm_unreachable("unknown accumulator");
  }

  /// A word holds as many coordinates as fit; which element type they have is known
  /// when the kernel is linked, and all other cases go away then.
  LogicalResult buildUpdate() {
    beginFunction(kElementHook, {}, i32);
    func::FuncOp element = cast<func::FuncOp>(module.getBody()->back());
    element.eraseBody();
    element.setPrivate();

    func::FuncOp function =
        beginFunction((Twine("annudf1_update") + suffix).str(),
                      {word, i32, i32, i32, i32, i32, i64, i32, i32, slots}, word);
    Block *entry = builder.getInsertionBlock();
    Value acc = decode(function.getArgument(0));
    Value kindOfElement = func::CallOp::create(builder, element, ValueRange{}).getResult(0);

    auto addBlock = [&](TypeRange types) {
      Block *block = function.addBlock();
      for (Type type : types)
        block->addArgument(type, builder.getLoc());
      return block;
    };
    Block *exit = addBlock(accumulator);
    SmallVector<int32_t> cases;
    SmallVector<Block *> blocks;
    for (auto attr : metric.getElements().getAsRange<ElementAttr>()) {
      cases.push_back(int32_t(attr.getValue()));
      blocks.push_back(addBlock({}));
      builder.setInsertionPointToStart(blocks.back());
      if (failed(buildCoordinates(function, attr.getValue(), acc, exit)))
        return failure();
    }
    builder.setInsertionPointToEnd(entry);
    SmallVector<ValueRange> none(blocks.size());
    cf::SwitchOp::create(builder, kindOfElement, exit, ValueRange(acc), cases, BlockRange(blocks),
                         none);
    builder.setInsertionPointToStart(exit);
    func::ReturnOp::create(builder, encode(exit->getArgument(0)));
    return success();
  }

  LogicalResult buildCoordinates(func::FuncOp function, Element element, Value acc, Block *exit) {
    auto argument = [&](unsigned i) { return function.getArgument(i); };
    unsigned bits = element == Element::F32 ? 32 : element == Element::F16 ? 16 : 8;
    for (unsigned i = 0; i < 32 / bits; ++i) {
      Value dim = argument(3);
      if (i > 0) {
        // Coordinates fill a word from the bottom, so the first that is missing ends it.
        Value index = arith::ConstantIntOp::create(builder, i32, i);
        Value exists =
            arith::CmpIOp::create(builder, arith::CmpIPredicate::sgt, argument(4), index);
        Block *next = function.addBlock();
        cf::CondBranchOp::create(builder, exists, next, ValueRange{}, exit, ValueRange(acc));
        builder.setInsertionPointToStart(next);
        dim = arith::AddIOp::create(builder, dim, index, arith::IntegerOverflowFlags::nsw);
      }
      Value x = unpack(argument(1), element, bits, i), y = unpack(argument(2), element, bits, i);
      if (!x)
        return metric.emitOpError()
               << target.passName << ": element " << stringifyEnum(element)
               << " cannot reach a body that takes coordinates as " << metric.getComputeType();
      auto body = module.lookupSymbol<func::FuncOp>(kUpdateBody);
      acc =
          func::CallOp::create(builder, body, ValueRange{acc, x, y, dim, argument(5), argument(9)})
              .getResult(0);
      ++counts.coordinates;
    }
    cf::BranchOp::create(builder, exit, ValueRange(acc));
    return success();
  }

  /// Coordinate `i` of a word in the compute type; null if the conversion would lose values.
  Value unpack(Value packed, Element element, unsigned bits, unsigned i) {
    Type compute = metric.getComputeType();
    if (i > 0) {
      Value shift = arith::ConstantIntOp::create(builder, i32, i * bits);
      packed = arith::ShRUIOp::create(builder, packed, shift);
    }
    if (element == Element::F32 || element == Element::F16) {
      if (!isa<FloatType>(compute))
        return {};
      Type type = element == Element::F32 ? builder.getF32Type() : builder.getF16Type();
      if (bits < 32)
        packed = arith::TruncIOp::create(builder, builder.getIntegerType(bits), packed);
      Value value = arith::BitcastOp::create(builder, type, packed);
      return type == compute ? value : arith::ExtFOp::create(builder, compute, value);
    }
    Value narrow = arith::TruncIOp::create(builder, builder.getI8Type(), packed);
    if (element == Element::I8) {
      Value wide = arith::ExtSIOp::create(builder, i32, narrow);
      return compute == i32 ? wide : arith::SIToFPOp::create(builder, compute, wide);
    }
    Value wide = arith::ExtUIOp::create(builder, i32, narrow);
    return compute == i32 ? wide : arith::UIToFPOp::create(builder, compute, wide);
  }

  void buildConstant(StringRef name, int32_t value) {
    beginFunction(name, {}, i32);
    func::ReturnOp::create(builder, arith::ConstantIntOp::create(builder, i32, value).getResult());
  }

  ModuleOp module;
  MetricOp metric;
  const TargetInfo &target;
  LoweringCounts &counts;
  ImplicitLocOpBuilder builder;
  Type i32, i64, slots;
  Accumulator kind;
  Type accumulator, word;
  StringRef suffix;
};

} // namespace

LogicalResult annudf::lowering::lowerHooks(ModuleOp module, StringRef name,
                                           const TargetInfo &target, LoweringCounts &counts) {
  FailureOr<MetricOp> metric = isolateMetric(module, name, target);
  if (failed(metric) || failed(proveLoads(*metric, target)))
    return failure();
  for (CaptureOp capture : metric->getCaptures())
    if (!capture.getValue())
      ++counts.slots;
  if (counts.slots > ANNUDF_MAX_CAPTURES)
    return metric->emitOpError() << target.passName << ": binds " << counts.slots
                                 << " captures, the ABI has " << int(ANNUDF_MAX_CAPTURES)
                                 << " slots";
  if (failed(HookLowering(module, *metric, target, counts).run()))
    return failure();
  metric->erase();
  return success();
}
