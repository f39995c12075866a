//===- Limits.h - What the text of a module may not hold --------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_LIB_FRONTEND_TEXT_LIMITS_H
#define ANNUDF_LIB_FRONTEND_TEXT_LIMITS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace annudf::ir {

/// Why a text is not given to MLIR's parser, and where.
struct TextFault {
  int line;
  std::string what;
};

/// Whether an operation has an inherent attribute of that name; true where nobody knows.
using HasProperty = llvm::function_ref<bool(llvm::StringRef op, llvm::StringRef property)>;

/// Looks at the tokens of `source`, in time and memory in proportion to it. What it lets
/// through, MLIR 22's parser reads without crashing and in bounded time and memory, and
/// no type or attribute of it prints longer than kMaxExpandedText.
/// Properties of the generic form, `"arith.addf"(%a, %b) <{name = ...}>`, are compared with
/// what their operation has, since MLIR drops others without a word.
std::optional<TextFault> findTextFault(llvm::StringRef source, HasProperty hasProperty);

} // namespace annudf::ir

#endif // ANNUDF_LIB_FRONTEND_TEXT_LIMITS_H
