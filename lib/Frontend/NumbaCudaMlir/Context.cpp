//===- Context.cpp - From ctx to captures and indices -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Frontend.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::frontend;
using namespace annudf::ir;

/// The capture that a cast of ctx names.
static FailureOr<CaptureOp> findCapture(UnrealizedConversionCastOp cast,
                                        const llvm::StringMap<CaptureOp> &captures,
                                        StringRef known) {
  StringRef name = cast->getAttrOfType<StringAttr>(kCaptureAttr).getValue();
  CaptureOp capture = captures.lookup(name);
  if (!capture)
    return emitError(cast.getLoc())
           << "[P9] ctx has no '" << name << "'; it has dim, dims, row, query, list" << known;
  if (capture.getResult().getType() != cast.getType(0))
    return emitError(cast.getLoc()) << "[P10] takes ctx." << name << " as " << cast.getType(0)
                                    << ", but it is declared as " << capture.getResult().getType();
  return capture;
}

/// ctx and captures are handles: they have no place where values join or are computed.
static LogicalResult checkUses(Value handle, function_ref<bool(Operation *)> isAllowed) {
  for (Operation *user : handle.getUsers())
    if (!isAllowed(user))
      return emitError(user->getLoc()) << "[P11] takes ctx or a capture as a value; read a number "
                                          "from it with ctx.name or ctx.name[ctx.dim]";
  return success();
}

LogicalResult frontend::resolveContext(UdfOpInterface metric) {
  llvm::StringMap<CaptureOp> captures;
  std::string known;
  for (CaptureOp capture : metric.getCaptures()) {
    captures[capture.getName()] = capture;
    known += ", " + capture.getName().str();
    if (failed(checkUses(capture.getResult(), [](Operation *user) { return isa<LoadOp>(user); })))
      return failure();
  }
  LogicalResult result = success();
  SmallVector<UnrealizedConversionCastOp> casts, contexts;
  metric->walk([&](UnrealizedConversionCastOp cast) {
    if (!cast->hasAttr(kUnassignedAttr)) // A variable's, of a function that was inlined.
      (cast.getNumOperands() ? casts : contexts).push_back(cast);
  });
  for (UnrealizedConversionCastOp cast : contexts)
    if (failed(checkUses(cast.getResult(0),
                         [](Operation *user) { return isa<UnrealizedConversionCastOp>(user); })))
      return failure();
  for (UnrealizedConversionCastOp cast : casts) {
    if (failed(checkUses(cast.getResult(0), [](Operation *user) { return isa<LoadOp>(user); })))
      return failure();
    FailureOr<CaptureOp> capture = findCapture(cast, captures, known);
    if (failed(capture)) {
      result = failure();
      continue;
    }
    cast.getResult(0).replaceAllUsesWith(capture->getResult());
    cast.erase();
  }
  if (succeeded(result))
    for (UnrealizedConversionCastOp cast : contexts)
      cast.erase();
  return result;
}
