//===- ExternOps.cpp - Linked code and its calls -----------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/ABI/Hooks.h"
#include "annudf/Dialect/IR/Annudf.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;

/// A number of the signature as a body sees it.
static Type toBodyType(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  return integer ? IntegerType::get(type.getContext(), integer.getWidth()) : type;
}

/// Compilers agree on how these are passed; what is narrower is widened in several ways.
static bool isNumber(Type type) {
  return type.isF32() || type.isF64() || type.isSignlessInteger(32) || type.isSignlessInteger(64) ||
         type.isUnsignedInteger(32) || type.isUnsignedInteger(64);
}

static LogicalResult verifySignature(ExternOp op) {
  const FunctionType signature = op.getFunctionType();
  if (signature.getNumResults() != 1)
    return op.emitOpError() << "[E1] returns " << signature.getNumResults()
                            << " values; declare a function that returns one";
  if (signature.getNumInputs() > ExternOp::kMaxArguments)
    return op.emitOpError() << "[E2] takes " << signature.getNumInputs() << " arguments, more than "
                            << ExternOp::kMaxArguments << "; pass fewer";
  for (Type type : llvm::concat<const Type>(signature.getInputs(), signature.getResults()))
    if (!isNumber(type))
      return op.emitOpError() << "[E3] has " << type
                              << " in its signature; use f32, f64, i32, i64, ui32 and ui64";
  return success();
}

/// What nvJitLink and NVRTC are handed: they end the process on some garbage.
static bool isOfKind(LinkKind kind, StringRef content) {
  constexpr size_t kSmallest = 32; // A header's bytes.
  switch (kind) {
  case LinkKind::LtoIr:
    return content.size() > kSmallest && content.starts_with("\xED"
                                                             "CN\x7F");
  case LinkKind::Ptx:
    return content.contains(".version") && content.contains(".target") && !content.contains('\0');
  case LinkKind::Cubin:
    return content.size() > 64 && content.starts_with("\x7F"
                                                      "ELF");
  case LinkKind::CudaSource:
    return !content.trim().empty() && !content.contains('\0');
  }
  llvm_unreachable("a kind that the dialect does not have");
}

static StringRef describe(LinkKind kind) {
  switch (kind) {
  case LinkKind::LtoIr:
    return "LTO-IR begins with ed 43 4e 7f";
  case LinkKind::Ptx:
    return "PTX is text with .version and .target";
  case LinkKind::Cubin:
    return "a cubin is an ELF file";
  case LinkKind::CudaSource:
    return "CUDA C++ is text without NUL";
  }
  llvm_unreachable("a kind that the dialect does not have");
}

LogicalResult ExternOp::verify() {
  if (failed(verifySignature(*this)))
    return failure();
  if (getKinds().empty() || getKinds().size() != getContents().size())
    return emitOpError() << "[E4] has " << getKinds().size() << " kinds and "
                         << getContents().size()
                         << " contents of code to link; give at least one, with its kind";
  for (size_t i = 0; i < getKinds().size(); ++i)
    if (!isOfKind(getKind(i), getContent(i)))
      return emitOpError() << "[E5] links " << getContent(i).size() << " bytes that are not "
                           << stringifyEnum(getKind(i)) << ": " << describe(getKind(i));
  return success();
}

std::string ExternOp::getCalledSymbol() {
  switch (getConvention()) {
  case ExternConvention::C:
    return getSymName().str();
  case ExternConvention::Numba:
    return kByValuePrefix + getSymName().str();
  }
  llvm_unreachable("a convention that the dialect does not have");
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto callee = symbols.lookupNearestSymbolFrom<ExternOp>(*this, getCalleeAttr());
  if (!callee)
    return emitOpError() << "[E6] calls '" << getCallee()
                         << "', which is no annudf.extern of the module; declare it";
  const FunctionType signature = callee.getFunctionType();
  const auto expected =
      FunctionType::get(getContext(), llvm::map_to_vector(signature.getInputs(), toBodyType),
                        llvm::map_to_vector(signature.getResults(), toBodyType));
  const auto given = FunctionType::get(getContext(), getValues().getTypes(), getResult().getType());
  if (given != expected)
    return emitOpError() << "[E7] calls '" << getCallee() << "' as " << given
                         << ", but it is declared as " << expected << "; call it as that";
  return success();
}
