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

// The dialect's enums go into manifests and hooks as the C enums of the ABI.
static_assert(int(Order::Min) == ANNUDF_ORDER_MIN && int(Order::Max) == ANNUDF_ORDER_MAX);
static_assert(int(Coarse::L2) == ANNUDF_COARSE_L2 &&
              int(Coarse::InnerProduct) == ANNUDF_COARSE_INNER_PRODUCT &&
              int(Coarse::Cosine) == ANNUDF_COARSE_COSINE);
static_assert(int(Element::F32) == ANNUDF_ELEMENT_F32 && int(Element::F16) == ANNUDF_ELEMENT_F16 &&
              int(Element::I8) == ANNUDF_ELEMENT_I8 && int(Element::U8) == ANNUDF_ELEMENT_U8);
static_assert(int(Accumulator::F32) == ANNUDF_ACCUMULATOR_F32 &&
              int(Accumulator::F64) == ANNUDF_ACCUMULATOR_F64 &&
              int(Accumulator::I32) == ANNUDF_ACCUMULATOR_I32 &&
              int(Accumulator::U32) == ANNUDF_ACCUMULATOR_U32);

void AnnudfDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "annudf/Dialect/IR/AnnudfAttributes.cpp.inc"
      >();
}
