//===- AnnudfPairwiseOps.td - Distances of whole vectors -*- tablegen -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_PAIRWISE_OPS_TD
#define ANNUDF_PAIRWISE_OPS_TD

// Included by AnnudfOps.td, which has the bases.

def Annudf_PairwiseOp : Annudf_Op<"pairwise", 0, [
    IsolatedFromAbove, NoTerminator, SingleBlock, NoRegionArguments, Symbol, Annudf_UdfOpInterface,
    Annudf_StandsInModule]> {
  let summary = "a distance of two whole vectors";
  let description = [{
    A pairwise holds captures, as a metric does, and one `annudf.distance`, which reads any
    coordinate of both vectors. `annudf-raise-pairwise` makes an `annudf.metric` of one pass; other
    distances are compiled as they are, for CPUs. `order`, `coarse`, `elements`, `numerics`, `dims` and `missing_values` are
    those of the metric.

    Example:

    ```mlir
    annudf.pairwise @manhattan order(min) coarse(l2) elements(f32, f16) {
      annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
        %begin = arith.constant 0 : index
        %step = arith.constant 1 : index
        %dims = annudf.index dims
        %zero = arith.constant 0.0 : f32
        %sum = scf.for %i = %begin to %dims step %step iter_args(%acc = %zero) -> (f32) {
          %xi = annudf.at %x[%i] : !annudf.vector<f32>
          %yi = annudf.at %y[%i] : !annudf.vector<f32>
          %d = arith.subf %xi, %yi : f32
          %a = math.absf %d : f32
          %next = arith.addf %acc, %a : f32
          scf.yield %next : f32
        }
        annudf.yield %sum : f32
      }
    }
    ```
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name,
    Annudf_OrderAttr:$order,
    Annudf_CoarseAttr:$coarse,
    OptionalAttr<Annudf_OrderAttr>:$coarse_order,
    Annudf_ElementsAttr:$elements,
    DefaultValuedAttr<Annudf_NumericsAttr, "::annudf::ir::Numerics::Strict">:$numerics,
    OptionalAttr<I32Attr>:$dims,
    UnitAttr:$missing_values);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `order` `(` custom<Keyword>($order) `)`
    `coarse` `(` custom<CoarsePolicy>($coarse, $coarse_order) `)`
    `elements` `(` custom<Elements>($elements) `)`
    (`numerics` `(` custom<Keyword>($numerics)^ `)`)?
    (`dims` `(` custom<DimsValue>($dims)^ `)`)?
    (`missing_values` $missing_values^)?
    attr-dict-with-keyword $body
  }];
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    DistanceOp getDistance();
    ::llvm::SmallVector<CaptureOp> getCaptures();
    /// Type in which the distance sees a coordinate.
    ::mlir::Type getComputeType();
  }];
}

def Annudf_DistanceOp : Annudf_HookOp<"distance", 0, "PairwiseOp"> {
  let summary = "the distance of the query and a stored vector";
  let description = [{
    The arguments are the query and the stored vector, of one type. The hook yields the distance,
    an f32. It may read `annudf.index dims`, `row`, `query` and `list`.

    Example:

    ```mlir
    annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
      %begin = arith.constant 0 : index
      %step = arith.constant 1 : index
      %dims = annudf.index dims
      %zero = arith.constant 0.0 : f32
      %dot = scf.for %i = %begin to %dims step %step iter_args(%acc = %zero) -> (f32) {
        %xi = annudf.at %x[%i] : !annudf.vector<f32>
        %yi = annudf.at %y[%i] : !annudf.vector<f32>
        %next = math.fma %xi, %yi, %acc : f32
        scf.yield %next : f32
      }
      annudf.yield %dot : f32
    }
    ```
  }];
}

// Not Pure: where a condition proves the index, the read must not move before it.
def Annudf_AtOp : Annudf_Op<"at", 0, [
    NoMemoryEffect,
    TypesMatchWith<"result is the type of the vector's coordinates", "vector", "result",
                   "::llvm::cast<::annudf::ir::CoordinatesType>($_self).getElementType()">]> {
  let summary = "reads a coordinate of a vector";
  let description = [{
    Example:

    ```mlir
    %v = annudf.at %x[%i] : !annudf.vector<f32>
    ```
  }];
  let arguments = (ins Annudf_CoordinatesType:$vector, Index:$index);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$vector `[` $index `]` attr-dict `:` qualified(type($vector))";
}

def Annudf_ScratchOp : Annudf_Op<"scratch", 0, [
    MemoryEffects<[MemAlloc, MemWrite]>,
    TypesMatchWith<"fill is an entry", "result", "fill",
                   "::llvm::cast<::annudf::ir::ScratchType>($_self).getElementType()">]> {
  let summary = "memory of one pair, each entry of which begins with a value";
  let description = [{
    Each pair of vectors has scratch of its own. The op stands at the top of `annudf.distance`
    (rule W23).

    Example:

    ```mlir
    %costs = annudf.scratch fill(%inf) : !annudf.scratch<dim + 1 x f64>
    ```
  }];
  let arguments = (ins AnyType:$fill);
  let results = (outs Annudf_ScratchType:$result);
  let assemblyFormat = "`fill` `(` $fill `)` attr-dict `:` qualified(type($result))";
}

def Annudf_GetOp : Annudf_Op<"get", 0, [
    MemoryEffects<[MemRead]>,
    TypesMatchWith<"result is an entry", "scratch", "result",
                   "::llvm::cast<::annudf::ir::ScratchType>($_self).getElementType()">]> {
  let summary = "reads an entry of scratch";
  let description = [{
    Example:

    ```mlir
    %v = annudf.get %costs[%i] : !annudf.scratch<dim + 1 x f64>
    ```
  }];
  let arguments = (ins Annudf_ScratchType:$scratch, Index:$index);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$scratch `[` $index `]` attr-dict `:` qualified(type($scratch))";
}

def Annudf_PutOp : Annudf_Op<"put", 0, [
    MemoryEffects<[MemWrite]>,
    TypesMatchWith<"value is an entry", "scratch", "value",
                   "::llvm::cast<::annudf::ir::ScratchType>($_self).getElementType()">]> {
  let summary = "writes an entry of scratch";
  let description = [{
    Example:

    ```mlir
    annudf.put %v, %costs[%i] : !annudf.scratch<dim + 1 x f64>
    ```
  }];
  let arguments = (ins AnyType:$value, Annudf_ScratchType:$scratch, Index:$index);
  let assemblyFormat = "$value `,` $scratch `[` $index `]` attr-dict `:` qualified(type($scratch))";
}

#endif // ANNUDF_PAIRWISE_OPS_TD
