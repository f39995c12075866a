//===- AnnudfAttributes.td - Attributes of the annudf dialect -*- tablegen -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_ATTRIBUTES_TD
#define ANNUDF_ATTRIBUTES_TD

include "annudf/Dialect/IR/AnnudfTables.td"

def Annudf_ElementsAttr : TypedArrayAttrBase<Annudf_ElementAttr, "element types a metric accepts">;

// For an accumulator of several fields. A single field is written without a list.
def Annudf_AccumulatorListAttr : ConfinedAttr<
    TypedArrayAttrBase<Annudf_AccumulatorAttr, "accumulators of several fields">,
    [ArrayMinCount<2>]>;
def Annudf_AccumulatorOrListAttr : AnyAttrOf<
    [Annudf_AccumulatorAttr, Annudf_AccumulatorListAttr],
    "an accumulator, or an array of two or more">;

// Not in annudf_tables.h: only bodies say it, and lowered they say it no more.
def Annudf_ScanIndex : Annudf_Enum<"ScanIndex", "which index of the running scan", [
  Annudf_Case<"Dim", 0, "dim", 0>,
  Annudf_Case<"Dims", 1, "dims", 0>,
  Annudf_Case<"Row", 2, "row", 0>,
  Annudf_Case<"Query", 3, "query", 0>,
  Annudf_Case<"List", 4, "list", 0>
]>;
def Annudf_ScanIndexAttr : Annudf_EnumAttr<Annudf_ScanIndex, "index_kind">;

// Nor this: no artifact holds a device function.
def Annudf_Convention : Annudf_Enum<"Convention", "how a caller hands a device function its values", [
  Annudf_Case<"C", 0, "c", 0>,
  Annudf_Case<"Raw", 1, "raw", 0>
]>;
def Annudf_ConventionAttr : Annudf_EnumAttr<Annudf_Convention, "convention">;

// Nor these: linked code is carried as it is, in payloads of its kinds.
def Annudf_LinkKind : Annudf_Enum<"LinkKind", "what is linked for an extern", [
  Annudf_Case<"LtoIr", 0, "ltoir", 0>,
  Annudf_Case<"Ptx", 1, "ptx", 0>,
  Annudf_Case<"Cubin", 2, "cubin", 0>,
  Annudf_Case<"CudaSource", 3, "cuda_source", 0>
]>;
def Annudf_LinkKindAttr : Annudf_EnumAttr<Annudf_LinkKind, "link_kind">;
def Annudf_LinkKindsAttr : TypedArrayAttrBase<Annudf_LinkKindAttr, "kinds of what is linked">;

def Annudf_ExternConvention : Annudf_Enum<"ExternConvention", "how linked code takes its values", [
  Annudf_Case<"C", 0, "c", 0>,
  Annudf_Case<"Numba", 1, "numba", 0>
]>;
def Annudf_ExternConventionAttr : Annudf_EnumAttr<Annudf_ExternConvention, "extern_convention">;

#endif // ANNUDF_ATTRIBUTES_TD
