//===- LaneColumns.h - A body computed for many pairs at once -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_LIB_ANALYSIS_LANECOLUMNS_H
#define ANNUDF_LIB_ANALYSIS_LANECOLUMNS_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

#include <string>
#include <vector>

namespace annudf {

/// A value of a body for each pair of coordinates.
struct Column {
  /// The numbers are what was added to the accumulator so far.
  bool onAccumulator = false;
  /// Then: no sum of any of what was added is larger than that.
  double bound = 0;
  /// A float column's: whole numbers that their type holds, or any constant.
  std::vector<double> reals;
  /// An integer column's, signed at their width; a truth value is 0 or -1.
  std::vector<int64_t> wholes;
};

/// Computes blocks exactly, or not at all: a float that is rounded, or an op that it does not know,
/// ends it.
class Columns {
public:
  explicit Columns(size_t pairs) : pairs(pairs) {}

  void set(mlir::Value value, Column column) { columns[value] = std::move(column); }
  const Column &at(mlir::Value value) { return columns[value]; }

  /// All ops of a block but its terminator. \returns false where why() says what ended it.
  bool run(mlir::Block &block);
  const std::string &why() const { return reason; }

private:
  bool apply(mlir::Operation &op);
  bool constant(mlir::Operation &op, mlir::Attribute value);
  bool realOp(mlir::Operation &op, Column &out, bool &known);
  bool wholeOp(mlir::Operation &op, Column &out, bool &known);
  bool convert(mlir::Operation &op, Column &out, bool &known);
  bool compare(mlir::Operation &op, Column &out, bool &known);
  bool accumulate(mlir::Operation &op, Column &out);
  bool merge(mlir::Operation &op, const Column &condition, const Column &a, const Column &b,
             Column &out);
  bool branch(mlir::Operation &op);
  bool call(mlir::Operation &op);
  /// Whether all are whole and held by the type.
  bool isExact(mlir::Operation &op, const Column &column, mlir::Type type);
  bool fail(std::string why);

  const size_t pairs;
  int ops = 0;
  llvm::DenseMap<mlir::Value, Column> columns;
  std::string reason;
};

} // namespace annudf

#endif // ANNUDF_LIB_ANALYSIS_LANECOLUMNS_H
