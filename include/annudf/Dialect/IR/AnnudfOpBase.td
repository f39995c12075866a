//===- AnnudfOpBase.td - What every op of the dialect is -*- tablegen -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_OP_BASE_TD
#define ANNUDF_OP_BASE_TD

include "annudf/Dialect/IR/AnnudfDialect.td"
include "mlir/IR/OpBase.td"

// No op of annudf carries an attribute of annudf that it does not declare (M15).
def Annudf_KnownAttributes : NativeOpTrait<"KnownAttributes"> {
  let cppNamespace = "::annudf::ir";
}

// Metrics, filters, functions and linked code stand in a module of any dialect (T5).
def Annudf_StandsInModule : NativeOpTrait<"StandsInModule"> {
  let cppNamespace = "::annudf::ir";
}

class Annudf_Op<string mnemonic, int minor, list<Trait> traits = []>
    : Op<Annudf_Dialect, mnemonic, !listconcat([Annudf_KnownAttributes], traits)>,
      Annudf_Since<minor>;

#endif // ANNUDF_OP_BASE_TD
