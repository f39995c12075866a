//===- AnnudfEnum.td - How the dialect defines an enum -*- tablegen -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_ENUM_TD
#define ANNUDF_ENUM_TD

include "annudf/Dialect/IR/AnnudfDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class Annudf_Case<string symbol, int value, string spelling, int minor>
    : I32EnumAttrCase<symbol, value, spelling>, Annudf_Since<minor>;

class Annudf_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::annudf::ir";
  let genSpecializedAttr = 0;
}

// Spelled #annudf.order<min> in the generic form; the custom form has the bare word.
class Annudf_EnumAttr<EnumInfo enum, string mnemonic, int minor = 0>
    : EnumAttr<Annudf_Dialect, enum, mnemonic>, Annudf_Since<minor> {
  let assemblyFormat = "`<` $value `>`";
}

#endif // ANNUDF_ENUM_TD
