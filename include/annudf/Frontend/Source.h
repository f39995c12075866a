//===- Source.h - Reading a module from bytes that may be damaged -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR's readers trust their input in two ways that a tool cannot afford: the text
// parser recurses on more than brackets and makes room for whatever a few digits ask
// for, and the bytecode reader of LLVM 22 crashes, writes out of bounds or does not end
// on some damaged files (27 of the 5456 single-bit flips of a small metric).
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_FRONTEND_SOURCE_H
#define ANNUDF_FRONTEND_SOURCE_H

#include "annudf/ABI/annudf_limits.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <optional>
#include <string>

namespace annudf::ir {

/// Deepest nesting of brackets in text, aliases written out.
inline constexpr int kMaxSourceNesting = 256;
inline constexpr uint64_t kMaxSourceText = ANNUDF_MAX_SOURCE_BYTES;
/// Most words, numbers, strings and signs of a text.
inline constexpr uint64_t kMaxSourceTokens = 1'000'000;
/// What all uses of aliases may add up to, written out.
inline constexpr uint64_t kMaxExpandedText = uint64_t(1) << 20;
/// Most characters of a number; a float64 needs 25.
inline constexpr uint64_t kMaxNumberText = 128;
inline constexpr unsigned kMaxIntegerWidth = 128;
/// Most results of an operation.
inline constexpr unsigned kMaxResults = 1024;
/// Most elements of a vector, a tensor or a memref.
inline constexpr uint64_t kMaxElements = uint64_t(1) << 24;

/// How long the caller waits for bytecode to be read, in seconds.
inline constexpr int kBytecodeSeconds = 10;

/// Parses and verifies `source`, the text or the bytecode of a module of annudf,
/// arith, func, math and scf, which `context` must have loaded. A text may hold other
/// dialects of the context, such as those of the frontend form. Null after a diagnostic
/// located in `origin`.
///
/// Text is refused before it is parsed where it exceeds the limits above, or holds what no
/// metric needs and MLIR reads without bounds: affine maps, resources, sparse elements.
///
/// Bytecode is read in a child process, within one second of CPU time, kBytecodeSeconds
/// and 2 GiB on top of what the caller has mapped. It hands the module over as text:
/// nothing it does reaches the caller. The child is no sandbox: someone who builds
/// bytecode to attack MLIR may do what the user may. Threads may call this at once, each
/// with its own context; SIGCHLD may be handled or ignored.
mlir::OwningOpRef<mlir::ModuleOp> parseModule(llvm::StringRef source, llvm::StringRef origin,
                                              mlir::MLIRContext *context);

/// The text that parseModule would parse, for tools with a parser of their own. Nothing
/// after a diagnostic.
std::optional<std::string> readText(llvm::StringRef source, llvm::StringRef origin,
                                    mlir::MLIRContext *context);

} // namespace annudf::ir

#endif // ANNUDF_FRONTEND_SOURCE_H
