//===- LowerExterns.cpp - Calls of linked code --------------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "annudf/Conversion/Functions.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;
using namespace annudf::lowering;

/// In NVVM IR only what says so may be declared: rule of lib/Target/NVVMIR.
static LLVM::LLVMFuncOp declare(OpBuilder &builder, ModuleOp module, ExternOp declaration,
                                LLVM::LLVMFunctionType type) {
  builder.setInsertionPointToStart(module.getBody());
  auto function =
      LLVM::LLVMFuncOp::create(builder, declaration.getLoc(), declaration.getCalledSymbol(), type);
  function.setPassthroughAttr(builder.getStrArrayAttr({kLinkedAttribute}));
  return function;
}

LogicalResult annudf::lowering::lowerExterns(ModuleOp module, const TargetInfo &target) {
  SmallVector<ir::CallOp> calls;
  module.walk([&](ir::CallOp call) { calls.push_back(call); });
  if (!calls.empty() && target.kind == TargetKind::Host)
    return calls.front().emitOpError()
           << target.passName << ": calls '" << calls.front().getCallee()
           << "', linked device code, which exists for GPUs only";
  OpBuilder builder(module.getContext());
  llvm::StringMap<LLVM::LLVMFuncOp> declared;
  for (ir::CallOp call : calls) {
    LLVM::LLVMFuncOp &function = declared[call.getCallee()];
    if (!function) {
      auto declaration = module.lookupSymbol<ExternOp>(call.getCallee()); // E6: there is one.
      const auto type = LLVM::LLVMFunctionType::get(call.getResult().getType(),
                                                    llvm::to_vector(call.getValues().getTypes()));
      function = declare(builder, module, declaration, type);
      declaration.erase(); // Its name may be the function's.
    }
    builder.setInsertionPoint(call);
    auto lowered = LLVM::CallOp::create(builder, call.getLoc(), function, call.getValues());
    call.getResult().replaceAllUsesWith(lowered.getResult());
    call.erase();
  }
  for (ExternOp unused : llvm::to_vector(module.getOps<ExternOp>()))
    unused.erase();
  return success();
}

static std::string spellRegister(Type number) {
  return ".b" + std::to_string(number.getIntOrFloatBitWidth());
}

std::vector<LinkedFunction> annudf::linkedFunctionsOf(ModuleOp module) {
  std::vector<LinkedFunction> functions;
  for (auto declaration : module.getOps<ExternOp>()) {
    const FunctionType signature = declaration.getFunctionType();
    std::string arguments;
    for (Type type : signature.getInputs())
      arguments += (arguments.empty() ? "" : ", ") + spellRegister(type);
    LinkedFunction function;
    function.called = declaration.getCalledSymbol();
    function.calledPrototype = spellRegister(signature.getResult(0)) + "(" + arguments + ")";
    function.symbol = declaration.getSymName().str();
    switch (declaration.getConvention()) {
    case ExternConvention::C:
      function.prototype = function.calledPrototype;
      break;
    case ExternConvention::Numba:
      function.prototype = ".b32(.b64" + (arguments.empty() ? "" : ", " + arguments) + ")";
      break;
    }
    functions.push_back(std::move(function));
  }
  return functions;
}
