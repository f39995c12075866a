//===- LinkedCode.h - Code of somebody else beside the hooks ------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the annudf.extern of a module hold becomes payloads. A linker matches names only, so
// prototypes are read back, and a program that calls everything is linked once.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_LIB_COMPILER_LINKEDCODE_H
#define ANNUDF_LIB_COMPILER_LINKEDCODE_H

#include "Messages.h"

#include "annudf/Conversion/Functions.h"
#include "annudf/Target/LibNvvm.h"
#include "annudf/Target/NvJitLink.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"

namespace annudf::compiler {

class LinkedCode {
public:
  LinkedCode(mlir::ModuleOp module, const std::string &origin, Messages &messages)
      : module(module), origin(origin), messages(messages) {}

  /// Drops every annudf.extern that nothing calls.
  void dropUncalled();
  bool isEmpty() const;

  /// Compiles what is source, for the oldest of `versions`, from which those are removed that
  /// the code is too new for; they are refused instead if somebody asked for them.
  std::optional<Fault> prepare(llvm::SmallVectorImpl<int> &versions, bool isAsked);

  /// Looks at the prototypes, and links with the hooks.
  /// \param ir     of the hooks.
  /// \param hooks  LTO-IR for `sm`.
  std::optional<Fault> check(const LibNvvm &nvvm, llvm::StringRef ir, llvm::StringRef hooks,
                             int sm);

  std::vector<Payload> takePayloads();

private:
  struct Piece {
    std::string symbol; ///< The extern that it is for.
    Payload payload;
  };

  std::optional<Fault> compile(llvm::StringRef symbol, const std::string &program,
                               const std::string &source, int sm);
  std::optional<Fault> add(ir::ExternOp declaration, ir::LinkKind kind, llvm::StringRef content,
                           int sm);
  /// \param linked  PTX of all LTO-IR.
  std::optional<Fault> checkPrototype(const LinkedFunction &function, const std::string &linked);
  std::optional<Fault> checkNames(const NvJitLink &linker, llvm::StringRef probe,
                                  const std::string &linked, int sm);
  std::optional<Fault> checkTwice(const std::string &linked);
  /// Each once, as several functions may have one piece.
  llvm::SmallVector<const Piece *> distinct() const;
  /// At the extern's place.
  Fault refuse(const std::string &symbol, const std::string &what);

  mlir::ModuleOp module;
  const std::string &origin;
  Messages &messages;
  llvm::SmallVector<Piece> pieces;
};

} // namespace annudf::compiler

#endif // ANNUDF_LIB_COMPILER_LINKEDCODE_H
