//===- Messages.h - What a compile says, and where ----------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_LIB_COMPILER_MESSAGES_H
#define ANNUDF_LIB_COMPILER_MESSAGES_H

#include "CompileModule.h"

#include "mlir/IR/Diagnostics.h"

namespace annudf::compiler {

/// Takes what MLIR says in a context, for as long as it lives.
class Messages {
public:
  /// \param origin  what a place is called that has no file.
  Messages(mlir::MLIRContext &context, const std::string &origin, Findings &findings)
      : origin(origin), findings(findings),
        handler(&context, [this](mlir::Diagnostic &diagnostic) { return record(diagnostic); }) {}

  /// The fault made of all errors that MLIR reported.
  Fault fault();
  /// A fault of the source that MLIR has not told.
  Fault refuse(const std::string &what);
  Fault refuse(mlir::Location where, const std::string &what);
  void warn(const std::string &what);
  /// "metric.mlir:3:5: what" of a message that is not recorded.
  std::string inWords(mlir::Diagnostic &diagnostic) const;
  const std::string &errors() const { return told; }
  /// Nothing but the place: the source's own file, or the origin.
  annudf::Diagnostic at(mlir::Location where) const;

private:
  mlir::LogicalResult record(mlir::Diagnostic &diagnostic);
  Fault refuse(annudf::Diagnostic found);

  const std::string &origin;
  Findings &findings;
  std::string told;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace annudf::compiler

#endif // ANNUDF_LIB_COMPILER_MESSAGES_H
