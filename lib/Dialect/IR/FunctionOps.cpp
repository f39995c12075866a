//===- FunctionOps.cpp - Device functions and their bodies ----------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HookOps.h"

#include "annudf/Dialect/IR/Descriptor.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;

BodyOp FunctionOp::getFunctionBody() {
  auto bodies = getBody().front().getOps<BodyOp>();
  return bodies.empty() ? BodyOp() : *bodies.begin();
}

SmallVector<CaptureOp> FunctionOp::getCaptures() { return UdfOpInterface(*this).getCaptures(); }

void FunctionOp::appendFields(Type type, SmallVectorImpl<Type> &fields) {
  if (auto tuple = dyn_cast<TupleType>(type))
    for (Type inner : tuple.getTypes())
      appendFields(inner, fields);
  else
    fields.push_back(type);
}

Type FunctionOp::toBodyType(Type field) {
  return CaptureType::get(field.getContext(), {}, field).getLoadType();
}

/// Structs as C has them: not empty, and no deeper than anyone writes them.
static LogicalResult verifyValue(FunctionOp function, Type type, unsigned depth = 0) {
  if (auto tuple = dyn_cast<TupleType>(type)) {
    if (depth == FunctionOp::kMaxNesting)
      return function.emitOpError()
             << "[D11] nests tuples more than " << FunctionOp::kMaxNesting << " deep; flatten some";
    for (Type inner : tuple.getTypes())
      if (failed(verifyValue(function, inner, depth + 1)))
        return failure();
    if (tuple.size() != 0)
      return success();
  }
  // Rounding to bf16 is in no table of bodies.
  if (isTypeOf<annudf_capture_element>(type) && !type.isBF16())
    return success();
  return function.emitOpError() << "[D3] has " << type
                                << " in its signature; use f16, f32, f64, i1, i8, i16, i32, i64, "
                                   "ui8, ui16, ui32, ui64 and tuples of them";
}

SmallVector<Type> ir::bodyTypes(ArrayRef<Type> types) {
  SmallVector<Type> fields;
  for (Type type : types)
    FunctionOp::appendFields(type, fields);
  for (Type &field : fields)
    field = FunctionOp::toBodyType(field);
  return fields;
}

static LogicalResult verifySignature(FunctionOp function) {
  const auto signature = cast<FunctionType>(function.getSignature());
  if (signature.getNumResults() != 1)
    return function.emitOpError() << "[D9] returns " << signature.getNumResults()
                                  << " values; return one, or a tuple";
  for (Type type : llvm::concat<const Type>(signature.getInputs(), signature.getResults()))
    if (failed(verifyValue(function, type)))
      return failure();
  const SmallVector<Type> taken = bodyTypes(signature.getInputs());
  const SmallVector<Type> given = bodyTypes(signature.getResults());
  if (taken.size() + given.size() > FunctionOp::kMaxFields)
    return function.emitOpError() << "[D12] has " << taken.size() + given.size()
                                  << " numbers in its signature, more than "
                                  << FunctionOp::kMaxFields << "; pass fewer";
  BodyOp body = function.getFunctionBody();
  Block &block = body.getBody().front();
  if (block.getArgumentTypes() != TypeRange(taken))
    return body.emitOpError() << "[D4] takes " << listTypes(block.getArgumentTypes())
                              << ", but its function has " << listTypes(taken) << "; take those";
  const TypeRange yielded = block.getTerminator()->getOperandTypes();
  if (yielded != TypeRange(given))
    return body.emitOpError() << "[D5] yields " << listTypes(yielded)
                              << ", but its function returns " << listTypes(given)
                              << "; yield those";
  return success();
}

LogicalResult FunctionOp::verifyRegions() {
  int found = 0;
  for (Operation &op : getBody().front()) {
    found += isa<BodyOp>(op);
    if (!isa<BodyOp, CaptureOp>(op))
      return op.emitOpError() << "[D1] cannot stand in a function; only captures and annudf.body "
                                 "can, so move it into annudf.body";
  }
  if (found != 1)
    return emitOpError() << "[D2] needs exactly one annudf.body, found " << found
                         << (found == 0 ? "; write one" : "; keep one");
  return failed(verifyDeclarations(*this)) ? failure() : verifySignature(*this);
}

/// Its function looks at what it takes and yields.
LogicalResult BodyOp::verifyRegions() { return success(); }
StringRef BodyOp::getHookName() { return "body"; }
bool BodyOp::hasIndex(ScanIndex) { return false; } // There is no scan.
