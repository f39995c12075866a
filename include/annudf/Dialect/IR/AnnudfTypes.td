//===- AnnudfTypes.td - Types of the annudf dialect -*- tablegen -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TYPES_TD
#define ANNUDF_TYPES_TD

include "annudf/Dialect/IR/AnnudfDialect.td"
include "mlir/IR/AttrTypeBase.td"

def Annudf_CaptureType : TypeDef<Annudf_Dialect, "Capture">, Annudf_Since<0> {
  let mnemonic = "capture";
  let summary = "a read-only array or scalar bound before a search";
  let description = [{
    Extents are constants or symbols: `dim` (one entry a dimension), `row` (one a
    source row), `query` (one a query of the batch). No extent is a scalar. The ABI
    has `row` and `query` reserved: the type holds them, rule C9 refuses them.

    Example:

    ```mlir
    !annudf.capture<f32>             // a scalar
    !annudf.capture<dim x f32>       // one weight a dimension
    !annudf.capture<16 x 16 x f32>   // a constant table
    ```
  }];
  // Symbols are the negative numbers below; a constant extent is itself.
  let parameters = (ins ArrayRefParameter<"int64_t">:$extents, "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    static constexpr int64_t kDim = -1;
    static constexpr int64_t kRow = -2;
    static constexpr int64_t kQuery = -3;
    bool isScalar() const { return getExtents().empty(); }
    /// What annudf.load gives: the element type, an integer without its sign.
    ::mlir::Type getLoadType() const;
    /// "dim", "row", "query" or the number.
    static std::string spellExtent(int64_t extent);
  }];
}

#endif // ANNUDF_TYPES_TD
