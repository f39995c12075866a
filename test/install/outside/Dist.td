// Part of the annudf project. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The dialect dist: distances as some other compiler thinks of them.
include "annudf/Dialect/IR/AnnudfTables.td" // For the enum of the order.
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"

def Dist_Dialect : Dialect {
  let name = "dist";
  let cppNamespace = "::dist";
  let summary = "distances, declared";
  let dependentDialects = ["::annudf::ir::AnnudfDialect"]; // Whose attribute an op here has.
}

def Dist_WeightedSumOp : Op<Dist_Dialect, "weighted_sum", [Symbol]> {
  let summary = "the sum over the dimensions of weight * |x - y|^power, or a root of it";
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$power, StrAttr:$weights,
                       Annudf_OrderAttr:$order, UnitAttr:$root);
  let assemblyFormat = [{
    $sym_name `power` $power `weights` $weights `order` $order (`root` $root^)? attr-dict
  }];
}

def Dist_AtMostOp : Op<Dist_Dialect, "at_most", [Symbol]> {
  let summary = "the rows whose value in an array is at most a number";
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$array, F32Attr:$limit);
  let assemblyFormat = "$sym_name $array $limit attr-dict";
}

def Dist_SimilarityOp : Op<Dist_Dialect, "similarity", [Symbol]> {
  let summary = "a function that turns a distance into a number from 0 to 1";
  let arguments = (ins SymbolNameAttr:$sym_name, F32Attr:$scale);
  let assemblyFormat = "$sym_name $scale attr-dict";
}

def Dist_DistanceOp : Op<Dist_Dialect, "distance", [Symbol]> {
  let summary = "a function that gives the distance of two vectors by a metric";
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$metric);
  let assemblyFormat = "$sym_name `by` $metric attr-dict";
}
