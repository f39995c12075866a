//===- AnnudfDialect.td - The annudf dialect -*- tablegen -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_DIALECT_TD
#define ANNUDF_DIALECT_TD

include "mlir/IR/OpBase.td"

def Annudf_Dialect : Dialect {
  let name = "annudf";
  let cppNamespace = "::annudf::ir";
  let summary = "User-defined functions of a vector search, by contract";
  let description = [{
    A *metric* gives a scan the hooks of the ABI `annudf.accumulator.v1`. They say how
    an accumulator starts (`init`), takes in one coordinate (`update`) and becomes the
    reported distance (`finalize`). Hooks read *captures*: arrays and scalars that are
    bound before a search. Extents of captures are symbolic, so that every load can be
    proved to stay inside. Bodies use `arith`, `math`, `scf` and private `func` helpers.
    `docs/spec/rules.md` lists the rules that a metric keeps.

    Example:

    ```mlir
    annudf.metric @weighted_l2 order(min) coarse(l2) elements(f32, f16, i8, u8) {
      %w = annudf.capture "w" : !annudf.capture<dim x f32>
      annudf.init {
        %0 = arith.constant 0.0 : f32
        annudf.yield %0 : f32
      }
      annudf.update (%acc: f32, %x: f32, %y: f32) {
        %d = annudf.index dim
        %wd = annudf.load %w[%d] : !annudf.capture<dim x f32>
        %t = arith.subf %x, %y : f32
        %t2 = arith.mulf %t, %t : f32
        %r = math.fma %wd, %t2, %acc : f32
        annudf.yield %r : f32
      }
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect"
  ];
  let hasCanonicalizer = 1;
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerTypes();
    void registerAttributes();
    void registerOps();
    void registerInterfaces();
  }];
}

// The minor version of annudf.accumulator.v1 in which an op, type, attribute or enum
// case appeared. Operands and attributes of an op are as old as the op. The generated
// docs print it.
class Annudf_Since<int minor> {
  int since = minor;
}

#endif // ANNUDF_DIALECT_TD
