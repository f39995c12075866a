//===- LowerFunction.cpp - From a device function to its convention -------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../AccumulatorV1/Lowering.h"

#include "annudf/Conversion/Functions.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;
using namespace annudf::lowering;

namespace {

struct Field {
  Type type; ///< As the signature spells it.
  uint64_t offset;
};

/// A value in memory, as C lays a struct out: every number at a multiple of its own size.
struct Layout {
  SmallVector<Field> fields;
  uint64_t size = 0, alignment = 1;
};

/// An i1 is a byte.
uint64_t sizeOf(Type number) { return llvm::divideCeil(number.getIntOrFloatBitWidth(), 8); }

Layout layOut(Type type) {
  Layout whole;
  auto tuple = dyn_cast<TupleType>(type);
  if (!tuple) {
    whole.size = whole.alignment = sizeOf(type);
    whole.fields.push_back({type, 0});
    return whole;
  }
  for (Type inner : tuple.getTypes()) {
    Layout part = layOut(inner);
    const uint64_t offset = llvm::alignTo(whole.size, part.alignment);
    for (Field field : part.fields)
      whole.fields.push_back({field.type, offset + field.offset});
    whole.size = offset + part.size;
    whole.alignment = std::max(whole.alignment, part.alignment);
  }
  whole.size = llvm::alignTo(whole.size, whole.alignment);
  return whole;
}

class FunctionLowering {
public:
  FunctionLowering(ModuleOp module, FunctionOp function, StringRef symbol, const TargetInfo &target,
                   LoweringCounts &counts)
      : function(function), symbol(symbol), target(target), counts(counts),
        signature(cast<FunctionType>(function.getSignature())),
        builder(function.getLoc(), module.getContext()) {
    builder.setInsertionPointToEnd(module.getBody());
  }

  LogicalResult run() {
    switch (function.getConvention()) {
    case Convention::C:
      return buildC();
    case Convention::Raw:
      return buildRaw();
    }
    llvm_unreachable("a convention that the dialect does not have");
  }

private:
  func::FuncOp begin(ArrayRef<Type> parameters, ArrayRef<Type> results) {
    auto made = func::FuncOp::create(builder, symbol, builder.getFunctionType(parameters, results));
    builder.setInsertionPointToStart(made.addEntryBlock());
    return made;
  }

  SmallVector<Value> cloneBody(ValueRange arguments) {
    return lowering::cloneBody(builder, function.getFunctionBody(), arguments);
  }

  /// A bool is a byte, wherever it is handed over.
  Type storedType(Type number) {
    Type type = FunctionOp::toBodyType(number);
    return type.isInteger(1) ? builder.getI8Type() : type;
  }
  Value fromStored(Value stored, Type number) {
    if (!FunctionOp::toBodyType(number).isInteger(1))
      return stored;
    Value zero = arith::ConstantIntOp::create(builder, stored.getType(), 0);
    return arith::CmpIOp::create(builder, arith::CmpIPredicate::ne, stored, zero);
  }
  Value toStored(Value value) {
    return value.getType().isInteger(1)
               ? arith::ExtUIOp::create(builder, builder.getI8Type(), value).getResult()
               : value;
  }

  /// C widens what is narrower than an int, and both sides rely on it.
  StringRef widening(Type number) {
    auto integer = dyn_cast<IntegerType>(number);
    if (!integer || integer.getWidth() >= 32)
      return "";
    return integer.isUnsigned() || integer.getWidth() == 1 ? LLVM::LLVMDialect::getZExtAttrName()
                                                           : LLVM::LLVMDialect::getSExtAttrName();
  }

  LogicalResult buildC() {
    if (counts.slots != 0)
      return function.emitOpError()
             << target.passName << ": binds " << counts.slots
             << (counts.slots == 1 ? " capture" : " captures")
             << ", which convention(c) has no argument for; give them values with "
                "annudf-inline-captures, or use convention(raw)";
    const SmallVector<Type> parameters =
        llvm::map_to_vector(signature.getInputs(), [&](Type type) { return storedType(type); });
    const Type result = signature.getResult(0);
    func::FuncOp made = begin(parameters, storedType(result));
    for (auto [i, type] : llvm::enumerate(signature.getInputs()))
      if (StringRef attribute = widening(type); !attribute.empty())
        made.setArgAttr(i, attribute, builder.getUnitAttr());
    if (StringRef attribute = widening(result); !attribute.empty())
      made.setResultAttr(0, attribute, builder.getUnitAttr());
    SmallVector<Value> arguments;
    for (auto [argument, type] : llvm::zip(made.getArguments(), signature.getInputs()))
      arguments.push_back(fromStored(argument, type));
    func::ReturnOp::create(builder, toStored(cloneBody(arguments).front()));
    return lowerAccesses(made, cast<UdfOpInterface>(function.getOperation()), {}, target, counts);
  }

  Value addressOf(Value pointer, uint64_t offset) {
    return LLVM::GEPOp::create(builder, pointer.getType(), builder.getI8Type(), pointer,
                               ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)},
                               LLVM::GEPNoWrapFlags::inbounds);
  }

  /// All arguments are read before the result is written: a caller may hand over one as the other.
  LogicalResult buildRaw() {
    const unsigned state = counts.slots != 0;
    const SmallVector<Type> pointers(state + signature.getNumInputs() + 1,
                                     LLVM::LLVMPointerType::get(builder.getContext()));
    func::FuncOp made = begin(pointers, {});
    SmallVector<Value> arguments;
    for (auto [i, type] : llvm::enumerate(signature.getInputs()))
      for (Field field : layOut(type).fields)
        arguments.push_back(
            fromStored(LLVM::LoadOp::create(builder, storedType(field.type),
                                            addressOf(made.getArgument(state + i), field.offset),
                                            sizeOf(field.type)),
                       field.type));
    const SmallVector<Value> yielded = cloneBody(arguments);
    const Layout result = layOut(signature.getResult(0));
    for (auto [value, field] : llvm::zip(yielded, result.fields))
      LLVM::StoreOp::create(builder, toStored(value),
                            addressOf(made.getArguments().back(), field.offset),
                            sizeOf(field.type));
    func::ReturnOp::create(builder);
    return lowerAccesses(made, cast<UdfOpInterface>(function.getOperation()),
                         {{}, {}, {}, {}, {}, state ? made.getArgument(0) : Value()}, target,
                         counts);
  }

  FunctionOp function;
  StringRef symbol;
  const TargetInfo &target;
  LoweringCounts &counts;
  FunctionType signature;
  ImplicitLocOpBuilder builder;
};

} // namespace

LogicalResult annudf::lowering::lowerFunction(ModuleOp module, FunctionOp function,
                                              StringRef symbol, const TargetInfo &target,
                                              LoweringCounts &counts) {
  return FunctionLowering(module, function, symbol, target, counts).run();
}

/// PTX has registers of a width and no type, and widens what is narrower than 32 bits.
static std::string spellRegister(Type number) {
  return ".b" + std::to_string(std::max(32u, number.getIntOrFloatBitWidth()));
}

std::string annudf::ptxPrototypeOf(FunctionOp function) {
  const auto signature = cast<FunctionType>(function.getSignature());
  std::string text, separator;
  auto add = [&](const std::string &parameter) {
    text += separator + parameter;
    separator = ", ";
  };
  switch (function.getConvention()) {
  case Convention::C:
    for (Type type : signature.getInputs())
      add(spellRegister(type));
    return spellRegister(signature.getResult(0)) + "(" + text + ")";
  case Convention::Raw: {
    const bool state =
        llvm::any_of(function.getCaptures(), [](CaptureOp capture) { return !capture.getValue(); });
    for (unsigned i = 0; i < state + signature.getNumInputs() + 1; ++i)
      add(".b64");
    return "(" + text + ")";
  }
  }
  llvm_unreachable("a convention that the dialect does not have");
}
