//===- AnnudfInterfaces.td - Interfaces of the annudf dialect -*- tablegen -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_INTERFACES_TD
#define ANNUDF_INTERFACES_TD

include "mlir/IR/OpBase.td"

def Annudf_HookOpInterface : OpInterface<"HookOpInterface"> {
  let cppNamespace = "::annudf::ir";
  let description = [{
    A hook of the ABI: an op with one single-block region that computes values of
    declared types from its arguments: one, or the fields of an accumulator. What verifies, inlines or lowers hooks
    walks this interface, so that a new hook needs no new walk.
  }];
  let methods = [
    InterfaceMethod<"Name of the hook in the ABI: init, update, finalize, combine.",
                    "::llvm::StringRef", "getHookName">,
    InterfaceMethod<"The block that computes the values.", "::mlir::Block *", "getHookBlock">,
    InterfaceMethod<"Whether an index of the scan has a meaning in this hook.", "bool", "hasIndex",
                    (ins "::annudf::ir::IndexKind":$kind)>
  ];
}

#endif // ANNUDF_INTERFACES_TD
