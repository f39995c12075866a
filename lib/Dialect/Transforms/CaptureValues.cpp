//===- CaptureValues.cpp - Values for captures, from text -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CaptureValues.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;

FailureOr<DictionaryAttr> annudf::parseCaptureValues(StringRef text, ModuleOp module) {
  MLIRContext *context = module.getContext();
  text = text.trim();
  if (text.empty())
    return DictionaryAttr::get(context);
  // The option parser takes one pair of braces off, a caller in C++ may leave them on.
  std::string dictionary =
      text.starts_with("{") && text.ends_with("}") ? text.str() : "{" + text.str() + "}";
  std::string fault;
  Attribute parsed;
  {
    ScopedDiagnosticHandler collect(context, [&](Diagnostic &diagnostic) {
      if (fault.empty())
        fault = diagnostic.str();
      return success();
    });
    parsed = parseAttribute(dictionary, context);
  }
  auto values = dyn_cast_or_null<DictionaryAttr>(parsed);
  if (!values) {
    module.emitOpError() << "[I1] cannot take values='" << text
                         << "': " << (fault.empty() ? "not a dictionary" : fault)
                         << "; write values={p = 3.0 : f32, w = dense<[1.0, 2.0]> : tensor<2xf32>}";
    return failure();
  }
  for (NamedAttribute entry : values)
    if (!isa<FloatAttr, IntegerAttr, DenseElementsAttr>(entry.getValue())) {
      module.emitOpError() << "[I2] value of '" << entry.getName().getValue() << "' is "
                           << entry.getValue() << "; give a typed number or dense<...>";
      return failure();
    }
  return values;
}

static bool isFinite(TypedAttr value) {
  if (auto number = dyn_cast<FloatAttr>(value))
    return number.getValue().isFinite();
  auto array = dyn_cast<DenseElementsAttr>(value);
  if (!array || !isa<FloatType>(array.getElementType()))
    return true;
  return llvm::all_of(array.getValues<APFloat>(), [](const APFloat &x) { return x.isFinite(); });
}

/// All entries have the same bits; arrays without entries have no value to give.
static bool isUniform(DenseElementsAttr array) {
  if (array.isSplat())
    return true;
  auto values = array.getValues<Attribute>();
  return !array.empty() && llvm::all_of(values, [&](Attribute v) { return v == *values.begin(); });
}

LogicalResult annudf::checkCaptureValue(CaptureOp capture, TypedAttr value, int64_t dims,
                                        int64_t maxArray) {
  CaptureType type = capture.getType();
  Type element = type.getElementType();
  if (capture.getValue())
    return capture.emitOpError() << "[I3] has a value already; leave it out of values";
  if (type.isScalar() && value.getType() != element)
    return capture.emitOpError() << "[I4] is a scalar of type " << element << ", but its value is "
                                 << value << "; write it as a number of type " << element;
  if (!type.isScalar()) {
    if (type.getExtents().size() != 1 || type.getExtents().front() != CaptureType::kDim)
      return capture.emitOpError() << "[I5] of " << type
                                   << " cannot be baked in; only scalars and "
                                      "arrays with the one extent dim can";
    auto array = dyn_cast<DenseElementsAttr>(value);
    if (!array || !isa<RankedTensorType>(array.getType()) || array.getType().getRank() != 1 ||
        array.getElementType() != element)
      return capture.emitOpError()
             << "[I6] is an array of " << element << ", but its value has type " << value.getType()
             << "; write dense<[...]> : tensor<N x " << element << ">";
    int64_t entries = array.getNumElements();
    if (dims == 0)
      return capture.emitOpError() << "[I7] has one entry a dimension, so its value needs the "
                                      "number of dimensions; add dims="
                                   << entries;
    if (entries != dims)
      return capture.emitOpError()
             << "[I8] has a value of " << entries << " entries, but the metric has " << dims
             << " dimensions; give one entry a dimension";
    if (entries > maxArray && !isUniform(array))
      return capture.emitOpError()
             << "[I9] has a value of " << entries << " entries, more than max-array=" << maxArray
             << "; raise max-array, or bind the array at the search";
  }
  if (!isFinite(value))
    return capture.emitOpError() << "[I10] has a value that is not finite; give finite numbers";
  return success();
}

TypedAttr annudf::getUniformValue(CaptureOp capture) {
  TypedAttr value = *capture.getValue();
  if (auto array = dyn_cast<DenseElementsAttr>(value)) {
    if (!isUniform(array))
      return nullptr;
    value = cast<TypedAttr>(*array.getValues<Attribute>().begin());
  }
  return capture.getType().asLoaded(value);
}
