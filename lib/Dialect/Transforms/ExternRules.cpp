//===- ExternRules.cpp - May a metric link this code? -------------------------===//
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

LogicalResult rules::verifyExtern(ExternOp declaration) {
  StringRef name = declaration.getSymName();
  if (isIdentifier(name) && !name.starts_with("annudf") && !name.starts_with("__") &&
      name.size() <= 2 * ANNUDF_MAX_NAME)
    return success();
  return declaration.emitOpError()
         << "[E8] has a name that is no C identifier or is reserved; use letters, digits and _, at "
            "most "
         << 2 * ANNUDF_MAX_NAME << ", not beginning with a digit, annudf or __";
}

/// What a function becomes is handed out alone.
LogicalResult rules::verifyNoLinkedCode(const CallGraph &graph, FunctionOp function) {
  LogicalResult result = success();
  auto refuse = [&](CallOp call) {
    call.emitOpError() << "[D13] calls linked code, which a device function cannot contain; call '"
                       << call.getCallee() << "' outside it and pass the result as an argument";
    result = failure();
  };
  function.walk(refuse);
  for (Operation *helper : graph.reachableFrom(function))
    helper->walk(refuse);
  return result;
}
