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
    Extents are constants or symbols: `dim` (one entry per dimension), `row` (one per id, up
    to the largest of the index), `query` (one per query of the search). A scalar has no
    extents. A metric declares at most three, and `row` and `query` only in the first place
    (rules C8, C9). Arrays are row-major. Elements are f16, bf16, f32, f64, i1 (a byte each),
    i8 to i64 and ui8 to ui64 (C10).

    Example:

    ```mlir
    !annudf.capture<f32>             // a scalar
    !annudf.capture<dim x f32>          // one weight a dimension
    !annudf.capture<row x f32>          // the age of every row
    !annudf.capture<query x dim x f32>  // weights of each query
    !annudf.capture<16 x 16 x f32>      // a constant table
    !annudf.capture<row x ui8>          // a code of every row
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
    /// What annudf.load gives: the element type, an integer without its sign, bf16 as f32.
    ::mlir::Type getLoadType() const;
    /// A number of the element type as annudf.load gives it.
    ::mlir::TypedAttr asLoaded(::mlir::TypedAttr number) const;
    /// The most extents that a metric may declare; the type itself holds more.
    static constexpr unsigned kMaxRank = 3;
    /// What an extent stands for.
    static annudf_extent kindOf(int64_t extent) {
      return extent > 0 ? ANNUDF_EXTENT_CONSTANT : static_cast<annudf_extent>(-extent);
    }
    /// "dim", "row", "query" or the number.
    static std::string spellExtent(int64_t extent);
  }];
}

def Annudf_CoordinatesType : TypeDef<Annudf_Dialect, "Coordinates">, Annudf_Since<0> {
  let mnemonic = "vector";
  let summary = "a vector of a search, of which annudf.at reads coordinates";
  let description = [{
    It has `annudf.index dims` coordinates, each converted to f32, f64 or i32 as `annudf.update`
    would see it.

    Example:

    ```mlir
    !annudf.vector<f32>
    ```
  }];
  let parameters = (ins "::mlir::Type":$elementType);
  let assemblyFormat = "`<` $elementType `>`";
  let genVerifyDecl = 1;
}

def Annudf_ScratchType : TypeDef<Annudf_Dialect, "Scratch">, Annudf_Since<0> {
  let mnemonic = "scratch";
  let summary = "memory of one pair of vectors, which annudf.get reads and annudf.put writes";
  let description = [{
    It has a constant number of entries, one a dimension, or some more than that, of f32, f64, i32
    or i64.

    Example:

    ```mlir
    !annudf.scratch<dim x f32>
    !annudf.scratch<dim + 1 x f64>
    !annudf.scratch<16 x i32>
    ```
  }];
  // `entries` come beside those that each dimension has.
  let parameters = (ins "bool":$perDim, "int64_t":$entries, "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getElementBytes() const;
    /// "dim", "dim + 1" or "16".
    std::string spellEntries() const;
  }];
}

#endif // ANNUDF_TYPES_TD
