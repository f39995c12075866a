//===- AnnudfExternOps.td - Linked code and its calls -*- tablegen -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_EXTERN_OPS_TD
#define ANNUDF_EXTERN_OPS_TD

include "annudf/Dialect/IR/AnnudfAttributes.td"
include "annudf/Dialect/IR/AnnudfOpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Annudf_ExternOp : Annudf_Op<"extern", 0, [Symbol, Annudf_StandsInModule]> {
  let summary = "an existing device function, and the code to link for it";
  let description = [{
    `annudf.call` calls the function. annudf links its code unchanged beside the hooks. `link`
    holds that code: `ltoir`, `ptx`, `cubin` (bytes, escaped as strings are) or `cuda_source`,
    CUDA C++ that is compiled with the metric. The signature is compared with that of the code.
    Nobody verifies what the code *does*, and it runs on GPUs only. It should be pure: a scan
    calls it any number of times, in any order.

    `convention(c)` is `extern "C" float f(float, float)`. `convention(numba)` is that of numba's
    `declare_device`: `extern "C" int f(float *result, float, float)`. Numbers are f32, f64, i32
    and i64 (signed), ui32 and ui64.

    Example:

    ```mlir
    annudf.extern @scaled convention(c) (f32, f32) -> f32
      link(cuda_source "extern \"C\" __device__ float scaled(float x, float y) { return 2 * (x - y); }")
    ```
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name,
    Annudf_ExternConventionAttr:$convention,
    TypeAttrOf<FunctionType>:$signature,
    Annudf_LinkKindsAttr:$kinds,
    StrArrayAttr:$contents);
  let assemblyFormat = [{
    $sym_name `convention` `(` custom<Keyword>($convention) `)` $signature
    `link` `(` custom<Links>($kinds, $contents) `)` attr-dict-with-keyword
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::FunctionType getFunctionType() {
      return ::llvm::cast<::mlir::FunctionType>(getSignature());
    }
    /// What hooks call: the function itself, or what hands its values over as it takes them.
    std::string getCalledSymbol();
    LinkKind getKind(size_t i) { return ::llvm::cast<LinkKindAttr>(getKinds()[i]).getValue(); }
    ::llvm::StringRef getContent(size_t i) {
      return ::llvm::cast<::mlir::StringAttr>(getContents()[i]).getValue();
    }
    static constexpr unsigned kMaxArguments = 32;
  }];
}

// Nobody verifies that linked code is pure, and it may rely on the condition that the call stands
// under. So no pass may drop, merge or move a call.
def Annudf_CallOp : Annudf_Op<"call", 0, [
    MemoryEffects<[MemRead, MemWrite]>, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "calls linked code";
  let description = [{
    Calls an `annudf.extern` of the module; integers are passed without their sign. The op stands
    in hooks of metrics and filters, and in their helpers. Passes treat it as an operation that
    reads and writes memory: they keep every call, in order.

    Example:

    ```mlir
    %d = annudf.call @scaled(%x, %y) : (f32, f32) -> f32
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$values);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$callee `(` $values `)` attr-dict `:` functional-type($values, $result)";
}

#endif // ANNUDF_EXTERN_OPS_TD
