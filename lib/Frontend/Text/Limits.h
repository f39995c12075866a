//===- Limits.h - What the text of a module may not hold --------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_LIB_FRONTEND_TEXT_LIMITS_H
#define ANNUDF_LIB_FRONTEND_TEXT_LIMITS_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace annudf::ir {

/// Why a text is not given to MLIR's parser, and where.
struct TextFault {
  int line;
  std::string what;
};

/// Looks at the tokens of `source`, in time and memory in proportion to it. What it lets
/// through, MLIR 22's parser reads without crashing and in bounded time and memory, and
/// no type or attribute of it prints longer than kMaxExpandedText.
std::optional<TextFault> findTextFault(llvm::StringRef source);

} // namespace annudf::ir

#endif // ANNUDF_LIB_FRONTEND_TEXT_LIMITS_H
