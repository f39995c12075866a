//===- AnnudfOps.td - Operations of the annudf dialect -*- tablegen -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_OPS_TD
#define ANNUDF_OPS_TD

include "annudf/Dialect/IR/AnnudfAttributes.td"
include "annudf/Dialect/IR/AnnudfOpBase.td"
include "annudf/Dialect/IR/AnnudfInterfaces.td"
include "annudf/Dialect/IR/AnnudfTypes.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Annudf_HookOp<string mnemonic, int minor, string parent = "MetricOp">
    : Annudf_Op<mnemonic, minor, [HasParent<parent>,
                                  DeclareOpInterfaceMethods<Annudf_HookOpInterface>]> {
  // One block, which ends with annudf.yield: rules H2 and H9 say so better than traits do.
  let regions = (region AnyRegion:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  // After the ops of the body: only then is the terminator known to be well formed.
  let hasRegionVerifier = 1;
  // HookOps.h.
  let extraClassDefinition = [{
    ::mlir::ParseResult $cppClass::parse(::mlir::OpAsmParser &parser,
                                         ::mlir::OperationState &result) {
      return parseHook(parser, result);
    }
    void $cppClass::print(::mlir::OpAsmPrinter &printer) { printHook(printer, *this); }
    ::llvm::LogicalResult $cppClass::verify() { return verifyHookBody(*this); }
    ::mlir::Block *$cppClass::getHookBlock() { return &getBody().front(); }
  }];
}

def Annudf_MetricOp : Annudf_Op<"metric", 0, [
    IsolatedFromAbove, NoTerminator, SingleBlock, NoRegionArguments, Symbol, Annudf_UdfOpInterface,
    Annudf_StandsInModule]> {
  let summary = "a distance: its hooks, captures and policy";
  let description = [{
    - `order`: which distances are best.
    - `coarse`: what ranks the lists before the scan. A second word may turn the ranking
      around: `coarse(l2 max)` probes the farthest lists. By default l2 and cosine rank
      the smallest first, inner_product the largest.
    - `elements`: the element types that the metric accepts. Each coordinate reaches
      `update` converted to the type of its arguments.
    - `accumulator`: needed only for `u32`. With several fields it lists them all:
      `accumulator(f32, u32)`.
    - `numerics(reassociate)`: a scan may update parts of the dimensions separately and
      join them by `combine`. By default (`strict`) `update` sees one dimension after the
      other, ascending.
    - `dims`: a fixed number of dimensions, which `annudf-inline-captures` sets.
    - `missing_values`: `update` handles a coordinate that is NaN. Only such a metric
      searches an index with missing values.
    - `packed`: what `annudf-pack-lanes` proved; the verifier proves it again (M26).

    Example:

    ```mlir
    annudf.metric @l2 order(min) coarse(l2) elements(f32, f16, i8, u8) {
      annudf.init {
        %0 = arith.constant 0.0 : f32
        annudf.yield %0 : f32
      }
      annudf.update (%acc: f32, %x: f32, %y: f32) {
        %d = arith.subf %x, %y : f32
        %r = math.fma %d, %d, %acc : f32
        annudf.yield %r : f32
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
    OptionalAttr<Annudf_AccumulatorOrListAttr>:$accumulator,
    DefaultValuedAttr<Annudf_NumericsAttr, "::annudf::ir::Numerics::Strict">:$numerics,
    OptionalAttr<I32Attr>:$dims,
    UnitAttr:$missing_values,
    OptionalAttr<DictionaryAttr>:$packed);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `order` `(` custom<Keyword>($order) `)`
    `coarse` `(` custom<CoarsePolicy>($coarse, $coarse_order) `)`
    `elements` `(` custom<Elements>($elements) `)`
    (`accumulator` `(` custom<Accumulators>($accumulator)^ `)`)?
    (`numerics` `(` custom<Keyword>($numerics)^ `)`)?
    (`dims` `(` custom<DimsValue>($dims)^ `)`)?
    (`missing_values` $missing_values^)?
    (`packed` $packed^)?
    attr-dict-with-keyword $body
  }];
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    InitOp getInit();
    UpdateOp getUpdate();
    /// Null if the metric has none: the accumulator, converted to f32, is the distance.
    FinalizeOp getFinalize();
    ::llvm::SmallVector<CaptureOp> getCaptures();
    /// Null if the metric has none: then dimensions are taken in one row.
    CombineOp getCombine();
    /// Types of the accumulator's fields in the bodies: one, or several.
    ::llvm::SmallVector<::mlir::Type> getAccumulatorTypes();
    /// Each field's: declared, or what the type of the bodies says (i32 is signed).
    ::llvm::SmallVector<Accumulator> getAccumulatorKinds();
    /// Type in which `update` sees a coordinate.
    ::mlir::Type getComputeType();
    /// Declared, or the coarse metric's own.
    Order getEffectiveCoarseOrder();
  }];
}

def Annudf_FilterOp : Annudf_Op<"filter", 0, [
    IsolatedFromAbove, NoTerminator, SingleBlock, NoRegionArguments, Symbol, Annudf_UdfOpInterface,
    Annudf_StandsInModule]> {
  let summary = "which rows a search may find: a predicate and its captures";
  let description = [{
    A filter holds captures, as a metric does, and one `annudf.keep`. A search with the
    filter finds only rows that it keeps, as if the index held no others. A filter that
    reads `annudf.index query`, or has captures of extent `query`, sees the query: it is
    computed for the candidates of each query. Another filter is computed once for an index
    and values of the captures. `dims` fixes the dimensions, as `annudf-inline-captures` does.

    Example:

    ```mlir
    annudf.filter @affordable {
      %price = annudf.capture "price" : !annudf.capture<row x f32>
      %most = annudf.capture "most" : !annudf.capture<f32>
      annudf.keep {
        %row = annudf.index row
        %p = annudf.load %price[%row] : !annudf.capture<row x f32>
        %m = annudf.load %most[] : !annudf.capture<f32>
        %b = arith.cmpf ole, %p, %m : f32
        annudf.yield %b : i1
      }
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<I32Attr>:$dims);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name (`dims` `(` custom<DimsValue>($dims)^ `)`)? attr-dict-with-keyword $body
  }];
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    KeepOp getKeep();
    ::llvm::SmallVector<CaptureOp> getCaptures();
    /// Whether it reads the number of the query or has captures with an entry a query.
    bool seesQuery();
  }];
}

def Annudf_FunctionOp : Annudf_Op<"function", 0, [
    IsolatedFromAbove, NoTerminator, SingleBlock, NoRegionArguments, Symbol, Annudf_UdfOpInterface,
    Annudf_StandsInModule]> {
  let summary = "a device function: a value computed from values, outside a search";
  let description = [{
    Other libraries call a device function, for example as an operator of cuda.compute. It
    has captures, as a metric has, and one `annudf.body`. A caller links it by its symbol.
    The caller sees the signature: f16, f32, f64, i1 (a byte), i8 to i64, ui8 to ui64, and
    tuples of them, which are structs laid out as in C. The body sees the fields of tuples
    one by one, in order, and integers without their sign.

    `convention(c)` passes every value by itself: `float f(float, unsigned char)`.
    `convention(raw)` passes pointers: `void f(void *a, void *b, void *result)`. If captures
    are bound, it is `void f(void *state, ...)`, where the state holds their slots.

    Example:

    ```mlir
    annudf.function @larger convention(raw) (tuple<f32, ui32>, tuple<f32, ui32>) -> tuple<f32, ui32> {
      annudf.body (%a: f32, %i: i32, %b: f32, %j: i32) {
        %c = arith.cmpf oge, %a, %b : f32
        %r = arith.select %c, %a, %b : f32
        %k = arith.select %c, %i, %j : i32
        annudf.yield %r, %k : f32, i32
      }
    }
    ```
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name,
    Annudf_ConventionAttr:$convention,
    TypeAttrOf<FunctionType>:$signature);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `convention` `(` custom<Keyword>($convention) `)` $signature
    attr-dict-with-keyword $body
  }];
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    BodyOp getFunctionBody();
    ::llvm::SmallVector<CaptureOp> getCaptures();
    /// A search has dimensions, a function has none.
    std::optional<uint32_t> getDims() { return std::nullopt; }
    void setDims(std::optional<uint32_t>) {}
    /// The numbers in `type`, one or a tuple of them, as the signature spells them.
    static void appendFields(::mlir::Type type, ::llvm::SmallVectorImpl<::mlir::Type> &fields);
    /// A number of the signature as the body sees it.
    static ::mlir::Type toBodyType(::mlir::Type field);
    static constexpr unsigned kMaxFields = 64, kMaxNesting = 8;
  }];
}

include "annudf/Dialect/IR/AnnudfExternOps.td"
include "annudf/Dialect/IR/AnnudfHookCallOps.td"
include "annudf/Dialect/IR/AnnudfPairwiseOps.td"

// Not Pure: a capture that no hook reads is still one that a user may bind, and keeps its slot.
def Annudf_CaptureOp : Annudf_Op<"capture", 0, [ParentOneOf<["MetricOp", "FilterOp", "FunctionOp",
                                                        "PairwiseOp"]>]> {
  let summary = "declares a capture";
  let description = [{
    Captures are numbered in the order of their declarations. A capture without `value`
    takes one slot of the ABI. `annudf-inline-captures` sets `value`: the capture is then
    a constant of the metric or the filter, and nothing is bound for it.

    Example:

    ```mlir
    %w = annudf.capture "w" : !annudf.capture<dim x f32>
    %p = annudf.capture "p" = 3.0 : f32 : !annudf.capture<f32>
    ```
  }];
  let arguments = (ins StrAttr:$name, OptionalAttr<TypedAttrInterface>:$value);
  let results = (outs Annudf_CaptureType:$result);
  let assemblyFormat = "$name (`=` $value^)? attr-dict `:` qualified(type($result))";
  let hasVerifier = 1;
}

def Annudf_InitOp : Annudf_HookOp<"init", 0> {
  let summary = "the accumulator before the first dimension";
  let description = [{
    The accumulator is a constant, which may be infinite, or is computed from the query,
    the list and their captures. With several fields, the hook yields them all.

    Example:

    ```mlir
    annudf.init {
      %0 = arith.constant 0xFF800000 : f32
      annudf.yield %0 : f32
    }
    ```
  }];
}

def Annudf_UpdateOp : Annudf_HookOp<"update", 0> {
  let summary = "takes one coordinate into the accumulator";
  let description = [{
    The last two arguments are the coordinates: `x` of the query and `y` of the stored
    vector. The accumulator, or its two to six fields, comes before them. The hook yields
    as many values. Dimensions come in ascending order, each once.

    Example:

    ```mlir
    annudf.update (%acc: f32, %x: f32, %y: f32) {
      %d = arith.subf %x, %y : f32
      %a = math.absf %d : f32
      %r = arith.addf %acc, %a : f32
      annudf.yield %r : f32
    }
    ```

    With several fields, here sums of differences and of sums (Bray-Curtis):

    ```mlir
    annudf.metric @braycurtis order(min) coarse(l2) elements(f32) {
      annudf.init {
        %0 = arith.constant 0.0 : f32
        annudf.yield %0, %0 : f32, f32
      }
      annudf.update (%apart: f32, %whole: f32, %x: f32, %y: f32) {
        %d = arith.subf %x, %y : f32
        %s = arith.addf %x, %y : f32
        %ad = math.absf %d : f32
        %as = math.absf %s : f32
        %0 = arith.addf %apart, %ad : f32
        %1 = arith.addf %whole, %as : f32
        annudf.yield %0, %1 : f32, f32
      }
      annudf.finalize (%apart: f32, %whole: f32) {
        %r = arith.divf %apart, %whole : f32
        annudf.yield %r : f32
      }
    }
    ```
  }];
}

def Annudf_FinalizeOp : Annudf_HookOp<"finalize", 0> {
  let summary = "the reported distance, as f32";
  let description = [{
    A scan calls the hook for every row, before rows are ranked. It takes the accumulator,
    or all of its fields. A metric with several fields must have it.

    Example:

    ```mlir
    annudf.finalize (%acc: f32) {
      %r = math.sqrt %acc : f32
      annudf.yield %r : f32
    }
    ```
  }];
}

def Annudf_CombineOp : Annudf_HookOp<"combine", 0> {
  let summary = "joins the accumulators of two parts of the dimensions";
  let description = [{
    Only metrics with `numerics(reassociate)` have it. It takes two accumulators of one
    query and row: all fields of the first, then all fields of the second. Each began with
    `init` and took its own dimensions, in ascending order. The hook yields the joined
    accumulator, which further calls of `update` may take. `annudf-infer-combine` writes a
    missing `combine` if every field is a sum, a product, a minimum or maximum, or joined
    bits.

    Example:

    ```mlir
    annudf.metric @long_l1 order(min) coarse(l2) elements(f32) numerics(reassociate) {
      annudf.init {
        %0 = arith.constant 0.0 : f32
        annudf.yield %0 : f32
      }
      annudf.update (%acc: f32, %x: f32, %y: f32) {
        %d = arith.subf %x, %y : f32
        %a = math.absf %d : f32
        %r = arith.addf %acc, %a : f32
        annudf.yield %r : f32
      }
      annudf.combine (%acc: f32, %other: f32) {
        %r = arith.addf %acc, %other : f32
        annudf.yield %r : f32
      }
    }
    ```
  }];
}

def Annudf_KeepOp : Annudf_HookOp<"keep", 0, "FilterOp"> {
  let summary = "whether a row may be found";
  let description = [{
    The hook takes no arguments, because it reads no coordinates. It yields one i1: true if
    the row may be found. It may read `annudf.index row`, `query`, `list` and `dims`.

    Example:

    ```mlir
    annudf.keep {
      %row = annudf.index row
      %two = arith.constant 2 : index
      %rest = arith.remui %row, %two : index
      %zero = arith.constant 0 : index
      %b = arith.cmpi eq, %rest, %zero : index
      annudf.yield %b : i1
    }
    ```
  }];
}

def Annudf_BodyOp : Annudf_HookOp<"body", 0, "FunctionOp"> {
  let summary = "what a device function computes";
  let description = [{
    The body takes every number of the function's arguments and yields every number of its
    result. It may read captures with constant extents.

    Example:

    ```mlir
    annudf.body (%a: f32, %b: f32) {
      %r = arith.addf %a, %b : f32
      annudf.yield %r : f32
    }
    ```
  }];
}

def Annudf_IndexOp : Annudf_Op<"index", 0, [
    Pure, DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "an index of the running scan";
  let description = [{
    - `dim`: the dimension of the coordinates; in `update` only.
    - `dims`: the number of dimensions.
    - `row`: the id of the stored vector, from 0 to 2^63 - 1; not in `init`, which may be
      called once for many rows.
    - `query`: the number of the query in its search, from 0 to 2^31 - 1.
    - `list`: the number of the list in the index, from 0 to 2^31 - 1.

    Example:

    ```mlir
    %d = annudf.index dim
    %row = annudf.index row
    ```
  }];
  let arguments = (ins Annudf_ScanIndexAttr:$kind);
  let results = (outs Index:$result);
  let assemblyFormat = "custom<Keyword>($kind) attr-dict";
}

// Not Pure: where a condition proves the index, the load must not move before it.
def Annudf_LoadOp : Annudf_Op<"load", 0, [
    NoMemoryEffect, DeclareOpInterfaceMethods<InferTypeOpInterface>,
    PredOpTrait<"result is the capture's element type, signless, or f32 of bf16",
                CPred<"getCapture().getType().getLoadType() == getResult().getType()">>]> {
  let summary = "reads a capture";
  let description = [{
    The op takes one index for each extent, and none for a scalar. Each index must be
    proved to be inside its extent (rules L2 to L4). The ranges of integers prove
    `annudf.index dim`, `dims - 1 - dim`, or an index below a condition that compares it
    with `dims`. For the extents `row` and `query` only `annudf.index row` and
    `annudf.index query` are inside. Captures never change during a search, so the op has
    no effects.

    An unsigned element is read as the signless integer of its width. `arith.extui` and
    `arith.index_castui` give its value, which for `ui8` is proved to be below 256. An `i1`
    is read as `i1`, and a bf16 as the f32 of the same value.

    Example:

    ```mlir
    %v = annudf.load %w[%d] : !annudf.capture<dim x f32>
    %p = annudf.load %s[] : !annudf.capture<f32>
    %a = annudf.load %age[%row] : !annudf.capture<row x f32>
    ```
  }];
  let arguments = (ins Annudf_CaptureType:$capture, Variadic<Index>:$indices);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$capture `[` $indices `]` attr-dict `:` qualified(type($capture))";
  let hasVerifier = 1;
}

def Annudf_YieldOp : Annudf_Op<"yield", 0, [
    Pure, Terminator, ReturnLike, ParentOneOf<["InitOp", "UpdateOp", "FinalizeOp", "CombineOp",
                                          "KeepOp", "BodyOp", "DistanceOp"]>]> {
  let summary = "the value of a hook, or the fields of its accumulator";
  let description = [{
    Example:

    ```mlir
    annudf.yield %r : f32
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "$values attr-dict `:` type($values)";
}

#endif // ANNUDF_OPS_TD
