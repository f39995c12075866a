//===- AnnudfAttributes.td - Attributes of the annudf dialect -*- tablegen -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_ATTRIBUTES_TD
#define ANNUDF_ATTRIBUTES_TD

include "annudf/Dialect/IR/AnnudfDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

// Values are those of the C enums in annudf_abi.h; a static_assert in
// AnnudfAttributes.cpp keeps them so.
class Annudf_Case<string symbol, int value, string spelling, int minor>
    : I32EnumAttrCase<symbol, value, spelling>, Annudf_Since<minor>;

class Annudf_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::annudf::ir";
  let genSpecializedAttr = 0;
}

// Spelled #annudf.order<min> in the generic form; the custom form has the bare word.
class Annudf_EnumAttr<EnumInfo enum, string mnemonic>
    : EnumAttr<Annudf_Dialect, enum, mnemonic>, Annudf_Since<0> {
  let assemblyFormat = "`<` $value `>`";
}

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
  Annudf_Case<"U8", 3, "u8", 0>
]>;
def Annudf_ElementAttr : Annudf_EnumAttr<Annudf_Element, "element">;
def Annudf_ElementsAttr : TypedArrayAttrBase<Annudf_ElementAttr, "element types a metric accepts">;

def Annudf_Accumulator : Annudf_Enum<"Accumulator", "type of the accumulator, signedness included", [
  Annudf_Case<"F32", 0, "f32", 0>,
  Annudf_Case<"F64", 1, "f64", 0>,
  Annudf_Case<"I32", 2, "i32", 0>,
  Annudf_Case<"U32", 3, "u32", 0>
]>;
def Annudf_AccumulatorAttr : Annudf_EnumAttr<Annudf_Accumulator, "accumulator">;

def Annudf_IndexKind : Annudf_Enum<"IndexKind", "which index of the running scan", [
  Annudf_Case<"Dim", 0, "dim", 0>,
  Annudf_Case<"Dims", 1, "dims", 0>
]>;
def Annudf_IndexKindAttr : Annudf_EnumAttr<Annudf_IndexKind, "index_kind">;

#endif // ANNUDF_ATTRIBUTES_TD
