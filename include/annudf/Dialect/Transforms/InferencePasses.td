//===- InferencePasses.td - Passes that prove things of metrics -*- tablegen -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TRANSFORMS_INFERENCEPASSES_TD
#define ANNUDF_TRANSFORMS_INFERENCEPASSES_TD

include "mlir/Pass/PassBase.td"

def InferCombinePass : Pass<"annudf-infer-combine", "::mlir::ModuleOp"> {
  let summary = "writes annudf.combine where it follows from update";
  let description = [{
    The pass looks at metrics with `numerics(reassociate)` and without `combine`. A metric
    gets a `combine` if its `update` joins each field of the accumulator with a term by one
    operation that can be regrouped. The term must not depend on the accumulator.

    The operations are `+` (also `math.fma`, and the subtraction of a term), `*`, minimum,
    maximum, `and`, `or` and `xor`. Both parts begin with what `init` yields. For `+`, `*`
    and `xor` it must therefore be the constant 0 or 1 that changes nothing.

    A warning names a field for which this does not hold. The `combine` keeps every rule
    of `docs/spec/rules.md`.

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
  let summary = "finds metrics that add up a term of two small integers";
  let description = [{
    The pass proves that `update` adds (or subtracts) one term of two coordinates to an
    accumulator of 32 bits. The metric then gets the attribute `packed`, and kernels take the
    coordinates of a word at a time. The attribute holds:

    - the term: `|x - y|`, `(x - y)^2`, `x y`, `x != y` or the set bits of `x ^ y`;
    - the most dimensions for which it holds, for each element type of 8 bits or of one.

    The proof computes `update` for every pair of elements, such as all 65,536 of u8. It
    therefore sees through helpers, branches, conversions and the order of operands. A value
    that is rounded, a capture, an index, a loop or an op that the pass cannot compute ends it.

    With an f32 accumulator, `init` must be a whole constant. The dimensions are then limited
    so that no partial sum exceeds 2^24. Up to there f32 holds every whole number, so the sum
    of integers is the same to the bit. Accumulators i32 and u32 wrap around either way.

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
                        "Say why a metric is not packed (a remark, N2)">];
  let statistics = [Statistic<"numPacked", "num-packed", "Number of metrics that may be packed">];
}

def InferPropertiesPass : Pass<"annudf-infer-properties", "::mlir::ModuleOp"> {
  let summary = "says what is proved about the formula of each metric";
  let description = [{
    The pass looks at each field of the accumulator that `update` joins with a term, such as
    `acc + term`. The field must occur once, at the root of the yielded value. A remark N4 lists
    what is proved about the terms. The proof sees through helpers, branches that agree,
    `math.fma`, conversions and either order of operands. The remark can say:

    - The term is a polynomial αx² + βxy + γy² + δx + εy + ζ. Its coefficients are expressions
      over constants and entries of captures at `dim` and `query`. The remark counts the
      roundings between the polynomial and the computed value.
    - The term is symmetric, or a function of x - y. This holds to the bit, or only for the
      polynomial, without its roundings.
    - The terms have one sign, and the field never falls or never grows. Both may depend on the
      signs of captures' entries.

    `docs/spec/numerics.md` says what each statement means and why it holds. With `explain`, a
    remark N3 names the op at which a proof fails, and why. With `form`, a remark N5 says that the
    whole distance is a quadratic form, as artifacts do; or N6 names the op that prevents it.
    An op that is not in the tables of `lib/Analysis/Terms.cpp` proves nothing. The module must
    have been verified. The pass changes nothing.

    Example, for which the remark is `adds w[dim] x^2 - 2 w[dim] x y + w[dim] y^2 (roundings: 4 of f32);
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
                        "Say why a statement is not proved (remarks, N3)">,
                 Option<"form", "form", "bool", "false",
                        "Say which form the distance of each metric has, or why none (remarks, N5 and N6)">];
  let statistics = [
    Statistic<"numPolynomials", "num-polynomials", "Number of fields that add a polynomial">,
    Statistic<"numMonotone", "num-monotone", "Number of fields that never fall, or never grow">
  ];
}

#endif // ANNUDF_TRANSFORMS_INFERENCEPASSES_TD
