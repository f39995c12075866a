//===- Diagnostic.h - What is wrong with a source -----------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_SUPPORT_DIAGNOSTIC_H
#define ANNUDF_SUPPORT_DIAGNOSTIC_H

#include <cstdint>
#include <string>

namespace annudf {

/// What was found in a source, in parts.
struct Diagnostic {
  enum class Severity { Error, Warning, Remark };
  Severity severity = Severity::Error;
  std::string rule;              ///< Label in docs/spec/rules.md, "L2"; empty if none.
  std::string message;           ///< One line without the place; notes follow after "; ".
  std::string file;              ///< Where the source says it comes from, or the origin.
  uint32_t line = 0, column = 0; ///< From 1; 0: unknown.
};

} // namespace annudf

#endif // ANNUDF_SUPPORT_DIAGNOSTIC_H
