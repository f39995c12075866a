//===- Passes.td - Passes on the annudf dialect -*- tablegen -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TRANSFORMS_PASSES_TD
#define ANNUDF_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def VerifyABIPass : Pass<"annudf-verify-abi", "::mlir::ModuleOp"> {
  let summary = "checks that every metric keeps the ABI, so that it is safe to run";
  let description = [{
    Accepted means safe, on a CPU and on a GPU: loads stay inside their captures,
    loops end, no operation traps or computes poison, nothing is written, called
    or allocated but the value a hook yields. Every refusal names its rule, as
    numbered in `docs/spec/rules.md`, and says what to do instead. Nothing is changed.

    With `target=rapids.cuvs.ivf_flat.metric.v1` a metric has also to need no more
    than that ABI has: rules R.

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
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"annudf.accumulator.v1\"",
           "ABI to verify against: annudf.accumulator.v1 or rapids.cuvs.ivf_flat.metric.v1">
  ];
  let statistics = [
    Statistic<"numMetrics", "num-metrics", "Number of metrics verified">,
    Statistic<"numOps", "num-ops", "Number of operations checked in hooks and helpers">,
    Statistic<"maxUnrolled", "max-unrolled",
              "Operations of the largest hook, loops unrolled and helpers inlined">
  ];
}

def InlineCapturesPass : Pass<"annudf-inline-captures", "::mlir::ModuleOp"> {
  let summary = "bakes capture values and the number of dimensions into metrics";
  let description = [{
    Sets the value of the captures that `values` names and `dims` on the metric.
    Loads of a scalar, or of an array whose entries are all equal, become a
    constant and the capture goes away; other arrays stay as constant tables. With
    `dims` known, `annudf.index dims` becomes a constant. What is left without a
    value keeps its order, which numbers the slots of the ABI.

    `values` is written as a dictionary attribute: names, and a typed number or a
    dense array for each, `{p = 3.0 : f32, w = dense<[1.0, 2.0]> : tensor<2xf32>}`.

    Example, with `--annudf-inline-captures="dims=2 values={p = 3.0 : f32}"`:

    ```mlir
    annudf.metric @power order(min) coarse(l2) elements(f32) {
      %p = annudf.capture "p" : !annudf.capture<f32>
      annudf.init {
        %0 = arith.constant 0.0 : f32
        annudf.yield %0 : f32
      }
      annudf.update (%acc: f32, %x: f32, %y: f32) {
        %e = annudf.load %p[] : !annudf.capture<f32>
        %d = arith.subf %x, %y : f32
        %a = math.absf %d : f32
        %t = math.powf %a, %e : f32
        %r = arith.addf %acc, %t : f32
        annudf.yield %r : f32
      }
    }
    ```
  }];
  let options = [
    Option<"values", "values", "std::string", /*default=*/"\"\"",
           "Values by capture name, as a dictionary attribute in braces">,
    Option<"dims", "dims", "int64_t", /*default=*/"0",
           "Number of dimensions to specialise for; 0 leaves it open">,
    Option<"maxArray", "max-array", "int64_t", /*default=*/"64",
           "Most entries an array may have to be baked in">
  ];
  let statistics = [
    Statistic<"numBaked", "num-baked", "Number of captures given a value">,
    Statistic<"numErased", "num-erased", "Number of captures left without a use and erased">,
    Statistic<"numLoads", "num-loads", "Number of loads replaced by a constant">,
    Statistic<"numDims", "num-dims", "Number of annudf.index dims replaced by a constant">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def InferCombinePass : Pass<"annudf-infer-combine", "::mlir::ModuleOp"> {
  let summary = "writes annudf.combine where numerics(reassociate) and update show it";
  let description = [{
    A metric with `numerics(reassociate)` and no `combine` gets one if each field of the
    accumulator is joined with terms that depend on no accumulator, by one operation that
    can be regrouped: `+` (`math.fma` and subtraction of terms too), `*`, least or greatest
    value, `and`, `or`, `xor`. Both parts begin with what `init` yields, so for `+`, `*` and
    `xor` that must be the constant 0 or 1 that changes nothing. Otherwise a warning says
    which field is not such a one. What the pass adds keeps every rule of `docs/spec/rules.md`.

    Example, which gets a `combine` of one `arith.addf`:

    ```mlir
    annudf.metric @l1 order(min) coarse(l2) elements(f32) numerics(reassociate) {
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
    ```
  }];
  let statistics = [Statistic<"numInferred", "num-inferred", "Number of annudf.combine written">];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def PackLanesPass : Pass<"annudf-pack-lanes", "::mlir::ModuleOp"> {
  let summary = "proves which metrics add up a term of two small integers";
  let description = [{
    A metric whose `update` is proved to add (or subtract) one term of two coordinates to an
    accumulator of 32 bits gets the attribute `packed`: the term, one of `|x - y|`, `(x - y)^2`,
    `x y`, `x != y` and the set bits of `x ^ y`, and for each element type of 8 bits or one how many
    dimensions it holds for. Kernels then take the coordinates of a word at a time.

    The proof computes `update` for every pair of elements, all 65,536 of u8, so how it is
    written does not matter: helpers, branches, conversions, the order of operands. A value
    that is rounded, a capture, an index, a loop or an op that is not computed ends it. With an f32
    accumulator, `init` must be a whole constant, and so many dimensions are allowed that no sum on
    the way is above 2^24, up to which f32 holds every whole number; the sum of integers is then
    the same to the bit. Accumulators i32 and u32 wrap around either way.

    Example, which gets `packed {dims = {i8 = 258 : i32, u8 = 258 : i32}, term = "squared_difference"}`:

    ```mlir
    annudf.metric @l2 order(min) coarse(l2) elements(f32, i8, u8) {
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
  let options = [Option<"explain", "explain", "bool", "false",
                        "Say of each metric that is not packed why (a remark, N2)">];
  let statistics = [Statistic<"numPacked", "num-packed", "Number of metrics that may be packed">];
}

def InferPropertiesPass : Pass<"annudf-infer-properties", "::mlir::ModuleOp"> {
  let summary = "says what is proved of the formula of each metric";
  let description = [{
    For each field of the accumulator that `update` joins with terms (`acc + term`, the field once,
    at the root of what is yielded), a remark N4 says what is proved of the terms, however they
    are written: through helpers, branches that agree, `math.fma`, conversions, either order of
    operands.

    - A polynomial αx² + βxy + γy² + δx + εy + ζ, whose coefficients are expressions over entries
      of captures at `dim`, `query` and constants, and how many roundings lie between it and what
      is computed.
    - Symmetric, a function of x - y: to the bit, or but for rounding, of the polynomial.
    - Terms of one sign, and a field that never falls or never grows; both may depend on the signs of
      captures' entries.

    `docs/spec/numerics.md` says what each means and why it holds. With `explain` a remark N3 says of
    everything that is not proved why, at the op where it is lost. With `form` a remark N5 says
    that the distance as a whole is a quadratic form, which artifacts tell, or N6 at which op that is
    lost. An op that is not in the tables
    of `lib/Analysis/Terms.cpp` proves nothing. Nothing is changed, and nothing is taken from the
    source: the module must have been verified.

    Example, of which it says `adds w[dim] x^2 - 2 w[dim] x y + w[dim] y^2 (roundings: 4 of f32);
    symmetric; a function of x - y; terms >= 0 where w >= 0; never falls where w >= 0`:

    ```mlir
    annudf.metric @weighted_l2 order(min) coarse(l2) elements(f32) {
      %w = annudf.capture "w" : !annudf.capture<dim x f32>
      annudf.init {
        %0 = arith.constant 0.0 : f32
        annudf.yield %0 : f32
      }
      annudf.update (%acc: f32, %x: f32, %y: f32) {
        %i = annudf.index dim
        %v = annudf.load %w[%i] : !annudf.capture<dim x f32>
        %d = arith.subf %x, %y : f32
        %s = arith.mulf %d, %d : f32
        %t = arith.mulf %v, %s : f32
        %r = arith.addf %acc, %t : f32
        annudf.yield %r : f32
      }
    }
    ```
  }];
  let options = [Option<"explain", "explain", "bool", "false",
                        "Say of what is not proved why (remarks, N3)">,
                 Option<"form", "form", "bool", "false",
                        "Say of each metric what form its distance has, or why none (remarks, N5 and N6)">];
  let statistics = [
    Statistic<"numPolynomials", "num-polynomials", "Number of fields that add a polynomial">,
    Statistic<"numMonotone", "num-monotone", "Number of fields that never fall, or never grow">
  ];
}

#endif // ANNUDF_TRANSFORMS_PASSES_TD
