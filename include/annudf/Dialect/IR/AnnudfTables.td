//===- AnnudfTables.td - Enums of the annudf dialect -*- tablegen -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Made from annudf_tables.h by scripts/check tables --update; edit the tables.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TABLES_TD
#define ANNUDF_TABLES_TD

include "annudf/Dialect/IR/AnnudfEnum.td"

def Annudf_Order : Annudf_Enum<"Order", "which end of the distances is best", [
  Annudf_Case<"Min", 0, "min", 0>,
  Annudf_Case<"Max", 1, "max", 0>
]>;
def Annudf_OrderAttr : Annudf_EnumAttr<Annudf_Order, "order">;

def Annudf_Coarse : Annudf_Enum<"Coarse", "what ranks the lists before the scan", [
  Annudf_Case<"L2", 0, "l2", 0>,
  Annudf_Case<"InnerProduct", 1, "inner_product", 0>,
  Annudf_Case<"Cosine", 2, "cosine", 0>
]>;
def Annudf_CoarseAttr : Annudf_EnumAttr<Annudf_Coarse, "coarse">;

def Annudf_Element : Annudf_Enum<"Element", "element type of stored vectors and queries", [
  Annudf_Case<"F32", 0, "f32", 0>,
  Annudf_Case<"F16", 1, "f16", 0>,
  Annudf_Case<"I8", 2, "i8", 0>,
  Annudf_Case<"U8", 3, "u8", 0>,
  Annudf_Case<"Bf16", 4, "bf16", 0>,
  Annudf_Case<"Bits", 5, "bits", 0>
]>;
def Annudf_ElementAttr : Annudf_EnumAttr<Annudf_Element, "element">;

def Annudf_Accumulator : Annudf_Enum<"Accumulator", "type of the accumulator, signedness included", [
  Annudf_Case<"F32", 0, "f32", 0>,
  Annudf_Case<"F64", 1, "f64", 0>,
  Annudf_Case<"I32", 2, "i32", 0>,
  Annudf_Case<"U32", 3, "u32", 0>,
  Annudf_Case<"I64", 4, "i64", 0>,
  Annudf_Case<"Struct", 5, "struct", 0>
]>;
def Annudf_AccumulatorAttr : Annudf_EnumAttr<Annudf_Accumulator, "accumulator">;

def Annudf_Numerics : Annudf_Enum<"Numerics", "whether partial sums over dimensions may be combined", [
  Annudf_Case<"Strict", 0, "strict", 0>,
  Annudf_Case<"Reassociate", 1, "reassociate", 0>
]>;
def Annudf_NumericsAttr : Annudf_EnumAttr<Annudf_Numerics, "numerics">;

#endif // ANNUDF_TABLES_TD
