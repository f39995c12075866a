//===- Joins.h - How an update joins a field with terms -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The canonical form of a field: acc ⊕ term ⊕ term ..., one operation ⊕, the field once, at the
// root of what is yielded, and terms that depend on no field.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_ANALYSIS_JOINS_H
#define ANNUDF_ANALYSIS_JOINS_H

#include "annudf/Dialect/IR/Annudf.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>
#include <string>

namespace annudf {

/// An operation that joins the values of a field: x op (y op z) is (x op y) op z, but for rounding,
/// and the order of operands does not matter.
enum class Join {
  Sum,  ///< arith.addf and subf, and what math.fma does to its last operand.
  SumI, ///< addi, subi: modulo 2^width.
  Product,
  ProductI,
  Xor,
  And,
  Or,
  MaxSI,
  MinSI,
  MaxUI,
  MinUI,
  Maximum, ///< NaN and a number give NaN.
  Minimum,
  MaxNum, ///< The number.
  MinNum,
};

/// One op on the way from what is yielded to the field.
struct JoinedTerm {
  mlir::Operation *op;
  unsigned through; ///< The operand that is on the way; the others are terms.
};

struct JoinedField {
  /// Empty where the field is yielded as it came: then there are no terms.
  std::optional<Join> join;
  llvm::SmallVector<JoinedTerm> terms; ///< From the field to what is yielded.
};

/// The fields of one update.
class Joins {
public:
  explicit Joins(ir::MetricOp metric);

  /// Empty where the field is more than joined with terms; `why` then says so of an op of the
  /// update, or of the update.
  struct Why {
    mlir::Operation *at = nullptr;
    std::string text;
  };
  std::optional<JoinedField> of(unsigned field, Why *why = nullptr) const;

private:
  mlir::Operation *update;
  mlir::Block &block;
  const llvm::DenseSet<mlir::Value> dependent; ///< On any field.
};

} // namespace annudf

#endif // ANNUDF_ANALYSIS_JOINS_H
