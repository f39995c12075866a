//===- Rules.h - The rules of the ABI, for editors ------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TOOLS_ANNUDFLSPSERVER_RULES_H
#define ANNUDF_TOOLS_ANNUDFLSPSERVER_RULES_H

#include "mlir/IR/DialectRegistry.h"
#include "llvm/Support/JSON.h"

#include <string>

namespace annudf::lsp {

/// What annudf-verify-abi says of `text`, as diagnostics of the protocol: the server itself looks
/// at the structure only.
llvm::json::Array verify(llvm::StringRef text, llvm::StringRef uri,
                         const mlir::DialectRegistry &registry);

/// Gives a diagnostic whose message names a rule its label as code, and where it is explained:
/// the rule's line of `page` if that is a file, else the address `page`.
void linkRule(llvm::json::Object &diagnostic, llvm::StringRef page);

} // namespace annudf::lsp

#endif // ANNUDF_TOOLS_ANNUDFLSPSERVER_RULES_H
