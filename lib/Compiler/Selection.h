//===- Selection.h - Which metric of a module is compiled ----------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_LIB_COMPILER_SELECTION_H
#define ANNUDF_LIB_COMPILER_SELECTION_H

#include "Messages.h"

#include "annudf/Compiler/Compiler.h"
#include "annudf/Dialect/IR/Annudf.h"

#include <optional>
#include <string>

namespace annudf::compiler {

/// An artifact holds one metric or filter, so the others leave the module.
class Selection {
public:
  Selection(const std::string &origin, Messages &messages) : origin(origin), messages(messages) {}

  /// Keeps the one that is called `name`, or of which what is called so is prepared, or the only
  /// one where `name` is empty.
  std::optional<Fault> selectSource(mlir::ModuleOp module, llvm::StringRef name,
                                    ir::UdfOpInterface &found) const;
  std::optional<Fault> keepOnly(mlir::ModuleOp module, llvm::StringRef name,
                                ir::UdfOpInterface &kept) const;

private:
  const std::string &origin;
  Messages &messages;
};

} // namespace annudf::compiler

#endif // ANNUDF_LIB_COMPILER_SELECTION_H
