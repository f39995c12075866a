//===- Descriptor.h - A metric of the dialect as the ABI's descriptor -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_DIALECT_IR_DESCRIPTOR_H
#define ANNUDF_DIALECT_IR_DESCRIPTOR_H

#include "annudf/Artifact/Descriptor.h"
#include "annudf/Dialect/IR/Annudf.h"

namespace annudf::ir {

/// What a verified metric or filter is. Captures with a value are constants of it, not captures.
MetricDescriptor describe(UdfOpInterface udf);

/// "a, b and 3 more": metrics and filters for a message. A module may hold thousands, and until it
/// is verified a name has any length.
std::string listNames(llvm::ArrayRef<UdfOpInterface> udfs);

/// "metrics", "filters", "metrics and filters": what some are.
std::string nounOf(llvm::ArrayRef<UdfOpInterface> udfs);

/// The row of a metric's hook. Every op that implements the interface has one, but annudf.keep: a
/// filter has that one hook, and its role says so.
annudf_hook hookOf(HookOpInterface hook);

/// Types as the dialect writes the rows of the tables: signless inside a body, where the sign is
/// the ops' business. Null for a struct, whose fields have types.
mlir::Type typeOf(annudf_accumulator accumulator, mlir::MLIRContext *context);
mlir::Type typeOf(annudf_compute compute, mlir::MLIRContext *context);
mlir::Type typeOf(annudf_capture_element element, mlir::MLIRContext *context);

/// A metric's attribute `packed`: {dims = {u8 = 258 : i32}, negated, term = "product"}.
mlir::DictionaryAttr toAttribute(const PackedSum &packed, mlir::MLIRContext *context);
/// Nothing where toAttribute would never have made it.
std::optional<PackedSum> packedOf(mlir::DictionaryAttr attribute);

/// Whether a row of the enum's table that may be used is written as `type`.
template <typename Enum> bool isTypeOf(mlir::Type type) {
  for (const TableRow &row : tableOf<Enum>().rows)
    if (row.since != TableRow::kReserved &&
        typeOf(static_cast<Enum>(row.value), type.getContext()) == type)
      return true;
  return false;
}

} // namespace annudf::ir

#endif // ANNUDF_DIALECT_IR_DESCRIPTOR_H
