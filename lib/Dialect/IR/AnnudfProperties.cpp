//===- AnnudfProperties.cpp - Which attributes ops of annudf have -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An attribute of annudf that this version does not know, or that is said twice, is refused
// wherever text is read: upstream drops the first and lets the second replace what the syntax says.
//
//===----------------------------------------------------------------------===//

#include "annudf/Dialect/IR/Annudf.h"

#include "annudf/ABI/annudf_abi.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;

static LogicalResult refuseUnknown(StringRef name, function_ref<InFlightDiagnostic()> emitError) {
  return emitError() << "[M15] carries attribute '" << name << "', which "
                     << versionName(ANNUDF_ABI_MINOR)
                     << " does not know; drop it, or use the version that wrote it";
}

static LogicalResult refuseSecond(StringRef name, function_ref<InFlightDiagnostic()> emitError) {
  return emitError() << "[M18] has '" << name
                     << "' among its other attributes; say it once, in its own place";
}

bool annudf::ir::isOfOtherDialect(NamedAttribute attribute) {
  auto [dialect, name] = attribute.getName().strref().split('.');
  return !name.empty() && dialect != AnnudfDialect::getDialectNamespace();
}

LogicalResult annudf::ir::verifyKnownAttributes(Operation *op) {
  for (NamedAttribute attribute : op->getDiscardableAttrs())
    if (!isOfOtherDialect(attribute))
      return refuseUnknown(attribute.getName(), [&] { return op->emitOpError(); });
  return success();
}

LogicalResult annudf::ir::verifyOwnAttributesOnly(Operation *op) {
  for (NamedAttribute attribute : op->getDiscardableAttrs())
    return refuseUnknown(attribute.getName(), [&] { return op->emitOpError(); });
  return success();
}

template <typename OpT> static bool isKnown(StringRef name) {
  return llvm::is_contained(OpT::getAttributeNames(), name);
}

/// `properties` are those of an op that is there already, made from what followed `<{...}>`.
template <typename OpT>
static LogicalResult setKnownProperties(OpaqueProperties properties, Attribute attributes,
                                        function_ref<InFlightDiagnostic()> emitError) {
  using Properties = OpT::Properties;
  auto &present = *properties.as<Properties *>();
  if (auto entries = dyn_cast_if_present<DictionaryAttr>(attributes)) {
    MLIRContext *context = entries.getContext();
    for (NamedAttribute entry : entries)
      if (!isKnown<OpT>(entry.getName()))
        return refuseUnknown(entry.getName(), emitError);
    Properties defaults{};
    OpT::populateDefaultProperties(OperationName(OpT::getOperationName(), context), defaults);
    auto toDictionary = [&](const Properties &from) {
      return cast_if_present<DictionaryAttr>(OpT::getPropertiesAsAttr(context, from));
    };
    DictionaryAttr unsaid = toDictionary(defaults);
    if (DictionaryAttr said = toDictionary(present))
      for (NamedAttribute entry : said)
        if (!unsaid || unsaid.get(entry.getName()) != entry.getValue())
          return refuseSecond(entry.getName(), emitError);
  }
  return OpT::setPropertiesFromAttr(present, attributes, emitError);
}

/// The custom form has a place for each attribute that an op knows, so none is left for `{...}`.
template <typename OpT> static ParseResult parseOnce(OpAsmParser &parser, OperationState &result) {
  SMLoc loc = parser.getNameLoc();
  if (OpT::parse(parser, result))
    return failure();
  for (NamedAttribute attribute : result.attributes)
    if (isKnown<OpT>(attribute.getName()))
      return refuseSecond(attribute.getName(), [&] { return parser.emitError(loc); });
  return success();
}

// Members of upstream's model of an op, for the ops of annudf that have properties.
#define ANNUDF_READ_ONCE(OP)                                                                       \
  template <>                                                                                      \
  OperationName::ParseAssemblyFn RegisteredOperationName::Model<OP>::getParseAssemblyFn() {        \
    return parseOnce<OP>;                                                                          \
  }                                                                                                \
  template <>                                                                                      \
  LogicalResult RegisteredOperationName::Model<OP>::setPropertiesFromAttr(                         \
      OperationName, OpaqueProperties properties, Attribute attributes,                            \
      function_ref<InFlightDiagnostic()> emitError) {                                              \
    return setKnownProperties<OP>(properties, attributes, emitError);                              \
  }
namespace mlir {
ANNUDF_READ_ONCE(MetricOp)
ANNUDF_READ_ONCE(FilterOp)
ANNUDF_READ_ONCE(FunctionOp)
ANNUDF_READ_ONCE(CaptureOp)
ANNUDF_READ_ONCE(IndexOp)
ANNUDF_READ_ONCE(ExternOp)
ANNUDF_READ_ONCE(CallOp)
ANNUDF_READ_ONCE(CallInitOp)
ANNUDF_READ_ONCE(CallUpdateOp)
ANNUDF_READ_ONCE(CallCombineOp)
ANNUDF_READ_ONCE(CallFinalizeOp)
ANNUDF_READ_ONCE(CallKeepOp)
} // namespace mlir
#undef ANNUDF_READ_ONCE

// Here, as only here the members above are known.
void AnnudfDialect::registerOps() {
  addOperations<
#define GET_OP_LIST
#include "annudf/Dialect/IR/AnnudfOps.cpp.inc"
      >();
}
