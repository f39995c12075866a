//===- Choices.h - The larger or smaller of two by comparison --*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_LIB_ANALYSIS_CHOICES_H
#define ANNUDF_LIB_ANALYSIS_CHOICES_H

#include "mlir/IR/Value.h"

#include <optional>

namespace annudf {

/// v < c ? c : v and its like, as which Python's max and min arrive.
struct Choice {
  mlir::Value other; ///< c
  bool isLarger;     ///< Which of them it is where both are numbers.
  bool keepsNaN;     ///< Whether it is NaN where v is; else it is c then.
};

/// What `value` chooses of v and something else.
std::optional<Choice> choiceOf(mlir::Value value, mlir::Value v);

} // namespace annudf

#endif // ANNUDF_LIB_ANALYSIS_CHOICES_H
