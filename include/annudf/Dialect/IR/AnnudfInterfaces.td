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
    InterfaceMethod<"Name of the hook in the ABI: init, update, finalize, combine; keep of a filter, body of a function.",
                    "::llvm::StringRef", "getHookName">,
    InterfaceMethod<"The block that computes the values.", "::mlir::Block *", "getHookBlock">,
    InterfaceMethod<"Whether an index of the scan has a meaning in this hook.", "bool", "hasIndex",
                    (ins "::annudf::ir::ScanIndex":$kind)>
  ];
}

def Annudf_UdfOpInterface : OpInterface<"UdfOpInterface"> {
  let cppNamespace = "::annudf::ir";
  let description = [{
    What a module defines for others, a metric, a filter or a device function: a symbol whose block holds captures
    and hooks. What verifies, imports, specialises or lowers either of them walks this interface.
  }];
  let methods = [
    InterfaceMethod<"Its symbol.", "::llvm::StringRef", "getSymName">,
    InterfaceMethod<"Renames it.", "void", "setSymName", (ins "::llvm::StringRef":$name)>,
    InterfaceMethod<"The region of captures and hooks.", "::mlir::Region &", "getBody">,
    InterfaceMethod<"The dimensions that it is for, if they are fixed.", "::std::optional<uint32_t>",
                    "getDims">,
    InterfaceMethod<"Fixes them.", "void", "setDims", (ins "::std::optional<uint32_t>":$dims)>
  ];
  let extraClassDeclaration = [{
    /// Its declarations, in order. (With a number, as the size of what is not declared yet is not known.)
    ::llvm::SmallVector<::annudf::ir::CaptureOp, 4> getCaptures();
  }];
}

def Annudf_HookCallOpInterface : OpInterface<"HookCallOpInterface"> {
  let cppNamespace = "::annudf::ir";
  let description = [{
    A call of a hook of a metric or a filter from other code: values, what the hook reads of
    the scan, and captures by position.
  }];
  let methods = [
    InterfaceMethod<"Name of the hook in the ABI.", "::llvm::StringRef", "getHookName">,
    InterfaceMethod<"The metric or filter.", "::mlir::FlatSymbolRefAttr", "getCalleeAttr">,
    InterfaceMethod<"Arguments of the hook.", "::mlir::OperandRange", "getValues">,
    InterfaceMethod<"Arrays and numbers, one for each capture without a value.",
                    "::mlir::OperandRange", "getCaptures">,
    InterfaceMethod<"What ctx gives for an index of the scan; null if it gives nothing.",
                    "::mlir::Value", "getIndex", (ins "::annudf::ir::ScanIndex":$kind), [{
      switch (kind) {
      case ::annudf::ir::ScanIndex::Dim:
        return $_op.getDim();
      case ::annudf::ir::ScanIndex::Dims:
        return $_op.getDims();
      case ::annudf::ir::ScanIndex::Row:
        return $_op.getRow();
      case ::annudf::ir::ScanIndex::Query:
        return $_op.getQuery();
      case ::annudf::ir::ScanIndex::List:
        return $_op.getList();
      }
      llvm_unreachable("an index that the dialect does not have");
    }]>
  ];
  let extraClassDeclaration = [{
    /// The metric or filter that it names in the nearest module, if there is one with the hook.
    ::annudf::ir::HookOpInterface getHook(::mlir::SymbolTableCollection &symbols);
  }];
}

#endif // ANNUDF_INTERFACES_TD
