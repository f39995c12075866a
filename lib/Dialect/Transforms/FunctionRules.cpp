//===- FunctionRules.cpp - What a device function may be ------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rules.h"

#include "annudf/ABI/annudf_abi.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;

/// A linker knows it by its name, which none of the ABI or of a device compiler may have.
static LogicalResult verifyName(FunctionOp function) {
  StringRef name = function.getSymName();
  if (!name.starts_with("annudf") && !name.starts_with("__"))
    return success();
  return function.emitOpError() << "[D10] has a reserved name; begin it with neither annudf nor __";
}

/// Compilers differ in how they pass these by value.
static LogicalResult verifyByValue(FunctionOp function) {
  if (function.getConvention() != Convention::C)
    return success();
  const auto signature = cast<FunctionType>(function.getSignature());
  for (Type type : llvm::concat<const Type>(signature.getInputs(), signature.getResults()))
    if (isa<TupleType>(type) || type.isF16())
      return function.emitOpError() << "[D8] passes " << type
                                    << " by value, which compilers do in several ways; use "
                                       "convention(raw)";
  return success();
}

static LogicalResult verifyExtents(CaptureOp capture) {
  for (int64_t extent : capture.getType().getExtents())
    if (CaptureType::kindOf(extent) != ANNUDF_EXTENT_CONSTANT)
      return capture.emitOpError() << "[D6] has extent " << CaptureType::spellExtent(extent)
                                   << ", but a function is called outside a search; write the "
                                      "number of entries";
  return success();
}

LogicalResult rules::verifyFunction(FunctionOp function) {
  bool ok = succeeded(verifyName(function));
  ok &= succeeded(verifyByValue(function));
  for (CaptureOp capture : function.getCaptures())
    ok &= succeeded(verifyExtents(capture));
  return success(ok);
}
