//===- AnnudfTypes.cpp - Types of the annudf dialect -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Artifact/Descriptor.h"
#include "annudf/Dialect/IR/Annudf.h"
#include "annudf/Dialect/IR/Descriptor.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include <limits>

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;

#define GET_TYPEDEF_CLASSES
#include "annudf/Dialect/IR/AnnudfTypes.cpp.inc"

void AnnudfDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "annudf/Dialect/IR/AnnudfTypes.cpp.inc"
      >();
}

Type CaptureType::getLoadType() const {
  if (getElementType().isBF16()) // Bodies have no arithmetic on it; every value is one of f32.
    return Float32Type::get(getContext());
  auto integer = dyn_cast<IntegerType>(getElementType());
  return integer ? IntegerType::get(getContext(), integer.getWidth()) : getElementType();
}

TypedAttr CaptureType::asLoaded(TypedAttr number) const {
  if (auto integer = dyn_cast<IntegerAttr>(number))
    return IntegerAttr::get(getLoadType(), integer.getValue());
  if (getElementType().isBF16())
    return FloatAttr::get(getLoadType(), cast<FloatAttr>(number).getValueAsDouble());
  return number;
}

// Symbols are written as the negated numbers of the table.
static_assert(CaptureType::kDim == -ANNUDF_EXTENT_DIM && CaptureType::kRow == -ANNUDF_EXTENT_ROW &&
              CaptureType::kQuery == -ANNUDF_EXTENT_QUERY);

static const TableRow *symbolRow(int64_t extent) {
  const bool isNegated = extent < 0 && extent != std::numeric_limits<int64_t>::min();
  return isNegated ? tableOf<annudf_extent>().find(-extent) : nullptr;
}

std::string CaptureType::spellExtent(int64_t extent) {
  const TableRow *symbol = symbolRow(extent);
  return symbol ? symbol->spelling : std::to_string(extent);
}

/// A symbol of the table if one follows, else 0.
static int64_t parseSymbol(AsmParser &parser) {
  for (const TableRow &row : tableOf<annudf_extent>().rows)
    if (row.value != ANNUDF_EXTENT_CONSTANT && succeeded(parser.parseOptionalKeyword(row.spelling)))
      return -row.value;
  return 0;
}

// `<` (extent `x`)* type `>`. Extents and `x` are separate tokens: the lexer would
// read `16x16xf32` as one number and one word.
Type CaptureType::parse(AsmParser &parser) {
  SmallVector<int64_t> extents;
  Type element;
  SMLoc start = parser.getCurrentLocation();
  if (parser.parseLess())
    return {};
  while (true) {
    int64_t extent = 0;
    OptionalParseResult number = parser.parseOptionalInteger(extent);
    if (number.has_value()) {
      if (failed(*number))
        return {};
      if (extent <= 0) {
        parser.emitError(start, "a constant extent must be positive, got ") << extent;
        return {};
      }
    } else if ((extent = parseSymbol(parser)) == 0) {
      break;
    }
    extents.push_back(extent);
    if (parser.parseKeyword("x", " between the extents and the element type"))
      return {};
  }
  if (parser.parseType(element) || parser.parseGreater())
    return {};
  return parser.getChecked<CaptureType>(start, parser.getContext(), extents, element);
}

void CaptureType::print(AsmPrinter &printer) const {
  printer << "<";
  for (int64_t extent : getExtents())
    printer << spellExtent(extent) << " x ";
  printer << getElementType() << ">";
}

LogicalResult CaptureType::verify(function_ref<InFlightDiagnostic()> emitError,
                                  ArrayRef<int64_t> extents, Type element) {
  for (int64_t extent : extents)
    if (extent <= 0 && !symbolRow(extent))
      return emitError() << "extent " << extent << " is neither positive nor a symbol";
  bool isInteger = element.isSignlessInteger(1) || element.isInteger(8) || element.isInteger(16) ||
                   element.isInteger(32) || element.isInteger(64);
  if (!isInteger && !element.isF16() && !element.isBF16() && !element.isF32() && !element.isF64())
    return emitError() << "element type " << element
                       << " of a capture must be f16, bf16, f32, f64 or an integer of 1, 8, 16, 32 "
                          "or 64 bits";
  return success();
}

Type ScratchType::parse(AsmParser &parser) {
  SMLoc start = parser.getCurrentLocation();
  int64_t entries = 0;
  Type element;
  if (parser.parseLess())
    return {};
  const bool perDim = succeeded(parser.parseOptionalKeyword("dim"));
  if ((!perDim || succeeded(parser.parseOptionalPlus())) && parser.parseInteger(entries))
    return {};
  if (parser.parseKeyword("x", " between the entries and the element type") ||
      parser.parseType(element) || parser.parseGreater())
    return {};
  return parser.getChecked<ScratchType>(start, parser.getContext(), perDim, entries, element);
}

void ScratchType::print(AsmPrinter &printer) const {
  printer << "<" << spellEntries() << " x " << getElementType() << ">";
}

std::string ScratchType::spellEntries() const {
  if (!getPerDim())
    return std::to_string(getEntries());
  return getEntries() == 0 ? "dim" : "dim + " + std::to_string(getEntries());
}

int64_t ScratchType::getElementBytes() const {
  return int64_t(getElementType().getIntOrFloatBitWidth()) / 8;
}

LogicalResult ScratchType::verify(function_ref<InFlightDiagnostic()> emitError, bool perDim,
                                  int64_t entries, Type element) {
  if (!element.isF32() && !element.isF64() && !element.isSignlessInteger(32) &&
      !element.isSignlessInteger(64))
    return emitError() << "scratch of type " << element << "; use f32, f64, i32 or i64";
  if (entries < (perDim ? 0 : 1) || entries > ANNUDF_MAX_SCRATCH)
    return emitError() << "scratch of " << entries << (perDim ? " more than dim" : "")
                       << " entries; have 1 to " << int(ANNUDF_MAX_SCRATCH);
  return success();
}

LogicalResult CoordinatesType::verify(function_ref<InFlightDiagnostic()> emitError, Type element) {
  if (!isTypeOf<annudf_compute>(element))
    return emitError() << "coordinates of type " << element << "; use f32, f64 or i32";
  return success();
}
