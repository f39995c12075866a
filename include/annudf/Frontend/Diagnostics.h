//===- Diagnostics.h - What MLIR says, in bounds --------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A message may print a name, a string or a type of the source, of up to 16 MiB, and MLIR
// adds the line that it stands in; a source may hold a million faults. Every tool of annudf
// keeps to the limits below.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_FRONTEND_DIAGNOSTICS_H
#define ANNUDF_FRONTEND_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"

#include <string>

namespace annudf::ir {

/// Most bytes of a message, and most messages.
inline constexpr size_t kMaxMessage = 4096, kMaxMessages = 100;

/// `text` within kMaxMessage, cut at a character's beginning, with what is missing told;
/// no byte of it obeyed by a terminal.
std::string boundedMessage(std::string text);

/// A handler for tools whose driver prints by itself, to be registered after the driver's:
/// what is short goes on to that, the rest is printed here, as `file:line:column: error: ...`
/// without the line of the source.
/// \param source  what is read, looked at once.
mlir::DiagnosticEngine::HandlerTy boundedHandler(llvm::StringRef source, llvm::raw_ostream &os);

} // namespace annudf::ir

#endif // ANNUDF_FRONTEND_DIAGNOSTICS_H
