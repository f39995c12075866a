//===- AnnudfHookCallOps.td - Calls of hooks in kernels -*- tablegen -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_HOOK_CALL_OPS_TD
#define ANNUDF_HOOK_CALL_OPS_TD

include "annudf/Dialect/IR/AnnudfOpBase.td"
include "annudf/Dialect/IR/AnnudfInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// A kernel of anyone calls a hook of a metric or a filter in the same module. Captures are read from
// memory, so that a call does not move over a write.
class Annudf_HookCallOp<string mnemonic, int minor> : Annudf_Op<mnemonic, minor, [
    AttrSizedOperandSegments, MemoryEffects<[MemRead]>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>, Annudf_HookCallOpInterface]> {
  let arguments = (ins
    FlatSymbolRefAttr:$callee,
    Variadic<AnyType>:$values,
    Optional<Index>:$dim,
    Optional<Index>:$dims,
    Optional<Index>:$row,
    Optional<Index>:$query,
    Optional<Index>:$list,
    Variadic<AnyType>:$captures);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    $callee `(` $values `)` `` custom<ScanIndices>($dim, $dims, $row, $query, $list)
    (`captures` `(` $captures^ `:` type($captures) `)`)? attr-dict
    `:` functional-type($values, $results)
  }];
  let extraClassDeclaration = [{ ::llvm::StringRef getHookName(); }];
}

def Annudf_CallInitOp : Annudf_HookCallOp<"call_init", 0> {
  let summary = "the accumulator of a metric before the first dimension";
  let description = [{
    Calls `annudf.init` of a metric in the same module and gives each field of the accumulator.
    `ctx` and `captures` are those of `annudf.call_update`. `annudf-inline-hooks` replaces the op
    by the hook's body.

    Example:

    ```mlir
    annudf.metric @l1 order(min) coarse(l2) elements(f32) {
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
    }
    func.func @begin() -> f32 {
      %acc = annudf.call_init @l1() : () -> f32
      return %acc : f32
    }
    ```
  }];
}

def Annudf_CallUpdateOp : Annudf_HookCallOp<"call_update", 0> {
  let summary = "takes one coordinate into the accumulator of a metric";
  let description = [{
    Calls `annudf.update` of a metric in the same module: all fields of the accumulator, the
    query's coordinate and the stored vector's, both in the metric's compute type.

    `ctx` gives what the hook reads by `annudf.index`, and may give what it does not read. Each
    value has to be in the range of `docs/spec/abi.md`, 1.8.

    `captures` gives the captures that have no value, in the order of their declarations, all or,
    where the hook reads none, none. A
    scalar is a number as the body loads it. An array is a memref of its rank, of any layout and
    memory space; its elements are those of the capture, integers without their sign and i1 as
    i8. An extent that the memref states has to be the capture's.

    Example:

    ```mlir
    annudf.metric @weighted order(min) coarse(l2) elements(f32) {
      %w = annudf.capture "w" : !annudf.capture<dim x f32>
      %scale = annudf.capture "scale" : !annudf.capture<f32>
      annudf.init {
        %0 = arith.constant 0.0 : f32
        annudf.yield %0 : f32
      }
      annudf.update (%acc: f32, %x: f32, %y: f32) {
        %d = annudf.index dim
        %wd = annudf.load %w[%d] : !annudf.capture<dim x f32>
        %s = annudf.load %scale[] : !annudf.capture<f32>
        %t = arith.subf %x, %y : f32
        %u = arith.mulf %t, %s : f32
        %r = math.fma %wd, %u, %acc : f32
        annudf.yield %r : f32
      }
    }
    func.func @step(%a: f32, %x: f32, %y: f32, %d: index, %w: memref<?xf32>, %s: f32) -> f32 {
      %r = annudf.call_update @weighted(%a, %x, %y) ctx(dim = %d)
        captures(%w, %s : memref<?xf32>, f32) : (f32, f32, f32) -> f32
      return %r : f32
    }
    ```
  }];
}

def Annudf_CallCombineOp : Annudf_HookCallOp<"call_combine", 0> {
  let summary = "joins two accumulators of a metric";
  let description = [{
    Calls `annudf.combine` of a metric in the same module: all fields of one accumulator, then all
    of the other. `ctx` and `captures` are those of `annudf.call_update`.

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
    func.func @join(%a: f32, %b: f32) -> f32 {
      %r = annudf.call_combine @long_l1(%a, %b) : (f32, f32) -> f32
      return %r : f32
    }
    ```
  }];
}

def Annudf_CallFinalizeOp : Annudf_HookCallOp<"call_finalize", 0> {
  let summary = "the distance that an accumulator of a metric stands for";
  let description = [{
    Calls `annudf.finalize` of a metric in the same module. A metric without the hook reports its
    accumulator, and has nothing to call. `ctx` and `captures` are those of `annudf.call_update`.

    Example:

    ```mlir
    annudf.metric @euclidean order(min) coarse(l2) elements(f32) {
      annudf.init {
        %0 = arith.constant 0.0 : f32
        annudf.yield %0 : f32
      }
      annudf.update (%acc: f32, %x: f32, %y: f32) {
        %d = arith.subf %x, %y : f32
        %r = math.fma %d, %d, %acc : f32
        annudf.yield %r : f32
      }
      annudf.finalize (%acc: f32) {
        %r = math.sqrt %acc : f32
        annudf.yield %r : f32
      }
    }
    func.func @end(%a: f32) -> f32 {
      %r = annudf.call_finalize @euclidean(%a) : (f32) -> f32
      return %r : f32
    }
    ```
  }];
}

def Annudf_CallKeepOp : Annudf_HookCallOp<"call_keep", 0> {
  let summary = "whether a filter keeps a row";
  let description = [{
    Calls `annudf.keep` of a filter in the same module. `ctx` and `captures` are those of
    `annudf.call_update`; an array of extent `row` has an entry for each id.

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
    func.func @kept(%row: index, %price: memref<?xf32>, %most: f32) -> i1 {
      %b = annudf.call_keep @affordable() ctx(row = %row)
        captures(%price, %most : memref<?xf32>, f32) : () -> i1
      return %b : i1
    }
    ```
  }];
}

#endif // ANNUDF_HOOK_CALL_OPS_TD
