//===- AnnudfAttributes.cpp - Attributes and enums of the annudf dialect -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Dialect/IR/Annudf.h"

#include "annudf/ABI/annudf_abi.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace annudf::ir;

#include "annudf/Dialect/IR/AnnudfEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "annudf/Dialect/IR/AnnudfAttributes.cpp.inc"

// The dialect's enums go into manifests and hooks as the C enums of the ABI: AnnudfTables.td is
// made from the tables, and these see at once where it was not made again.
#define COUNT(...) +1
#define ANNUDF_EVERY_ACCUMULATOR(X) ANNUDF_ACCUMULATORS(X) ANNUDF_ACCUMULATORS_STRUCT(X)
#define SAME_ROWS(TABLE, ENUM)                                                                     \
  static_assert(getMaxEnumValFor##ENUM() + 1 == 0 ANNUDF_##TABLE(COUNT),                           \
                #ENUM " is not what annudf_tables.h says; run scripts/check tables --update")
SAME_ROWS(ORDERS, Order);
SAME_ROWS(COARSES, Coarse);
SAME_ROWS(ELEMENTS, Element);
SAME_ROWS(EVERY_ACCUMULATOR, Accumulator);
SAME_ROWS(NUMERICS, Numerics);
#undef SAME_ROWS
#undef ANNUDF_EVERY_ACCUMULATOR
#undef COUNT

void AnnudfDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "annudf/Dialect/IR/AnnudfAttributes.cpp.inc"
      >();
}
