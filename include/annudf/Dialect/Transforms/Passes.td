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
    An accepted metric is safe to run on a CPU and on a GPU. Its loads stay inside their
    captures, its loops end, and no operation traps or computes poison. A hook writes,
    calls and allocates nothing; it only yields a value. Every refusal names a rule of
    `docs/spec/rules.md` and says what to do instead. The pass changes nothing.

    Metrics are found in nested modules too, such as a `gpu.module`. Other code of a module is
    not looked at, but for the functions that a metric calls. With `artifact` the module has to
    be one that `annudf compile` takes: metrics, filters, functions, linked code and private
    helpers, without attributes of other dialects.

    With `target=rapids.cuvs.ivf_flat.metric.v1` a metric must also keep the rules R,
    which are the limits of that ABI.

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
           "ABI to verify against: annudf.accumulator.v1 or rapids.cuvs.ivf_flat.metric.v1">,
    Option<"artifact", "artifact", "bool", /*default=*/"false",
           "Refuse what an artifact cannot hold: attributes and code of other dialects">
  ];
  // createVerifyABIPass() verifies an artifact's module: what a program compiles, it should not
  // have to ask for.
  let constructor = "::annudf::createVerifyAnyModulePass()";
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
    Gives values to the captures that `values` names, and `dims` to the metric.
    A scalar, or an array whose entries are all equal, becomes a constant where it is
    loaded, and its capture is erased. Other arrays become constant tables. With `dims`,
    `annudf.index dims` becomes a constant. Captures without a value keep their order,
    which numbers the slots of the ABI.

    `values` is a dictionary attribute. Each name has a typed number or a dense array:
    `{p = 3.0 : f32, w = dense<[1.0, 2.0]> : tensor<2xf32>}`.

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

def InlineHooksPass : Pass<"annudf-inline-hooks", "::mlir::ModuleOp"> {
  let summary = "replaces calls of hooks by the hooks' verified bodies";
  let description = [{
    `annudf.call_init`, `call_update`, `call_combine`, `call_finalize` and `call_keep` become ops of
    arith, math, scf and memref, so that any pipeline lowers the kernel around them. The rules of
    `annudf-verify-abi` are checked first: what was verified is what is inlined, op by op.

    - `annudf.index` becomes what `ctx` gives, `annudf.load` a `memref.load` or the number.
    - Helpers are inlined. A capture with unequal entries becomes a constant `memref.global`.
    - `arith.fptosi` and `arith.fptoui` saturate, as the ABI says, by comparisons around them.
    - Attributes of other dialects in the body are left out.
    - Metrics, filters and helpers that nothing uses afterwards are erased.

    The indices and memrefs that the kernel passes are taken to be what the ABI says. With
    `assert-bounds` a `cf.assert` before each load compares its indices with the memref.

    Example:

    ```mlir
    annudf.metric @weighted order(min) coarse(l2) elements(f32) {
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
    func.func @step(%a: f32, %x: f32, %y: f32, %d: index, %w: memref<?xf32>) -> f32 {
      %r = annudf.call_update @weighted(%a, %x, %y) ctx(dim = %d)
        captures(%w : memref<?xf32>) : (f32, f32, f32) -> f32
      return %r : f32
    }
    ```
  }];
  let options = [Option<"assertBounds", "assert-bounds", "bool", "false",
                        "Write a cf.assert before each load, that its indices are inside the memref">];
  let statistics = [
    Statistic<"numCalls", "num-calls", "Number of calls replaced by a body">,
    Statistic<"numErased", "num-erased", "Number of metrics, filters and helpers erased">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"
  ];
}

def BuildKernelPass : Pass<"annudf-build-kernel", "::mlir::ModuleOp"> {
  let summary = "writes a kernel of all distances, or of the k nearest rows, for a metric";
  let description = [{
    The pass writes a `gpu.func` that calls the hooks of a metric by the ops `annudf.call_*`.
    `annudf-inline-hooks` and upstream's passes lower it. The metric and its helpers move into the
    `gpu.module` of the kernel, unless they stand in one already.

    All kernels take row-major `queries` and `rows` of `element` and the captures without a value,
    then their outputs. Blocks have 128 threads. Block y stands for eight queries, and the blocks
    x share the rows in tiles of 128, so any number of them is right.

    - `kind=all-distances` writes `distances[query][row]`, f32.
    - `kind=k-nearest` writes `distances[query][block x][k]` and ids, i64: the k best rows of each
      block x in the order (distance, id). A second kernel, with the suffix `_merge`, joins them to
      `distances[query][k]` and ids. Block x stands for one query there.

    As in a search, ids are numbers of rows, a row whose distance is NaN is no result, and of equal
    distances the lower id is first. Where there are fewer than k rows, the others have id -1 and
    the worst distance.

    Example, with `--annudf-build-kernel="kind=k-nearest k=10"`:

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
    Option<"metric", "metric", "std::string", /*default=*/"\"\"",
           "Metric to call; may be left out where the module holds one">,
    Option<"kind", "kind", "std::string", /*default=*/"\"all-distances\"",
           "all-distances or k-nearest">,
    Option<"element", "element", "std::string", /*default=*/"\"\"",
           "Element type of queries and rows; may be left out where the metric lists one">,
    Option<"k", "k", "int64_t", /*default=*/"0", "Rows to find for a query, from 1 to 128">,
    Option<"name", "name", "std::string", /*default=*/"\"\"",
           "Name of the kernel; all_distances or k_nearest by default">,
    Option<"gpuModule", "gpu-module", "std::string", /*default=*/"\"kernels\"",
           "Name of a new gpu.module">,
    Option<"chip", "chip", "std::string", /*default=*/"\"sm_90\"",
           "Target of a new gpu.module; empty for none">
  ];
  let statistics = [Statistic<"numKernels", "num-kernels", "Number of kernels written">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect",
    "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect"
  ];
}

def ReadsToLoopsPass : Pass<"annudf-reads-to-loops", "::mlir::ModuleOp"> {
  let summary = "reads single coordinates of whole vectors by loops";
  let description = [{
    An `annudf.at` of an `annudf.distance` whose index is a constant becomes a loop over the
    coordinates that adds up zeros and that one coordinate, as `annudf-raise-pairwise` takes it. The
    coordinate must be there: below `dims` of the `annudf.pairwise`, or 0. Other reads stay.

    Example:

    ```mlir
    annudf.pairwise @first order(min) coarse(l2) elements(f32) {
      annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
        %begin = arith.constant 0 : index
        %a = annudf.at %x[%begin] : !annudf.vector<f32>
        %b = annudf.at %y[%begin] : !annudf.vector<f32>
        %d = arith.subf %a, %b : f32
        annudf.yield %d : f32
      }
    }
    ```
  }];
  let statistics = [Statistic<"numReplaced", "num-replaced", "Number of reads replaced by loops">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def CarryEarlierPass : Pass<"annudf-carry-earlier", "::mlir::ModuleOp"> {
  let summary = "carries coordinates that a loop has read in earlier turns";
  let description = [{
    In a loop over the coordinates of an `annudf.distance` that counts from 0 by 1, a read at the
    counter less a constant, up to 4, becomes a value that the loop carries. A condition around the
    read must say that the counter is large enough: `arith.cmpi sge` and the like with a constant. A
    read at the counter plus and less the same number becomes one at the counter. Other reads stay.

    Example:

    ```mlir
    annudf.pairwise @steps order(min) coarse(l2) elements(f32) {
      annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
        %begin = arith.constant 0 : index
        %step = arith.constant 1 : index
        %dims = annudf.index dims
        %zero = arith.constant 0.0 : f32
        %sum = scf.for %i = %begin to %dims step %step iter_args(%acc = %zero) -> (f32) {
          %later = arith.cmpi sge, %i, %step : index
          %next = scf.if %later -> (f32) {
            %before = arith.subi %i, %step : index
            %u = annudf.at %x[%before] : !annudf.vector<f32>
            %v = annudf.at %y[%i] : !annudf.vector<f32>
            %d = arith.subf %u, %v : f32
            %more = math.fma %d, %d, %acc : f32
            scf.yield %more : f32
          } else {
            scf.yield %acc : f32
          }
          scf.yield %next : f32
        }
        annudf.yield %sum : f32
      }
    }
    ```
  }];
  let statistics = [Statistic<"numCarried", "num-carried", "Number of reads replaced">];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def CarryPrefixesPass : Pass<"annudf-carry-prefixes", "::mlir::ModuleOp"> {
  let summary = "carries what loops over the coordinates so far compute";
  let description = [{
    In an `annudf.distance`, a loop from 0 to one more than the counter of the loop around it is a
    cumulative sum, or the like. If its turns need nothing that differs between the turns of the loop
    around, beside their own counter, then that loop carries what it computes, by the same operations
    in the same order. Both loops count from 0 by 1.

    Example:

    ```mlir
    annudf.pairwise @cumulative order(min) coarse(l2) elements(f32) {
      annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
        %begin = arith.constant 0 : index
        %step = arith.constant 1 : index
        %dims = annudf.index dims
        %zero = arith.constant 0.0 : f32
        %sum = scf.for %i = %begin to %dims step %step iter_args(%acc = %zero) -> (f32) {
          %end = arith.addi %i, %step : index
          %cdf = scf.for %j = %begin to %end step %step iter_args(%c = %zero) -> (f32) {
            %yj = annudf.at %y[%j] : !annudf.vector<f32>
            %more = arith.addf %c, %yj : f32
            scf.yield %more : f32
          }
          %xi = annudf.at %x[%i] : !annudf.vector<f32>
          %next = math.fma %xi, %cdf, %acc : f32
          scf.yield %next : f32
        }
        annudf.yield %sum : f32
      }
    }
    ```
  }];
  let statistics = [Statistic<"numCarried", "num-carried", "Number of loops that became carried">];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def HoistPreparePass : Pass<"annudf-hoist-prepare", "::mlir::ModuleOp"> {
  let summary = "prepares what a distance needs of one vector alone";
  let description = [{
    If a loop over the coordinates of an `annudf.distance` needs a value of an earlier loop, such as
    a mean, a scan would take two passes. Where the value is an f32 that depends on one vector
    alone, this pass takes it out: it becomes an `annudf.pairwise` of its own, which ignores the
    other vector, and the distance reads it from a capture. The capture `prepared_x_0` has one entry
    a query, the value for the query; `prepared_y_0` one entry a row. The symbol of the new distance
    is that of the old one, `_` and the capture's name. A prepared value may read others. A loop that
    begins with a prepared value of a row takes it in its first turn.

    The caller computes the values before a search, and again for rows that are added. A distance
    that is one pass already stays as it is.

    Example:

    ```mlir
    annudf.pairwise @centered order(min) coarse(l2) elements(f32) {
      annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
        %begin = arith.constant 0 : index
        %step = arith.constant 1 : index
        %dims = annudf.index dims
        %zero = arith.constant 0.0 : f32
        %most = scf.for %i = %begin to %dims step %step iter_args(%acc = %zero) -> (f32) {
          %yi = annudf.at %y[%i] : !annudf.vector<f32>
          %next = arith.maximumf %acc, %yi : f32
          scf.yield %next : f32
        }
        %sum = scf.for %i = %begin to %dims step %step iter_args(%acc = %zero) -> (f32) {
          %xi = annudf.at %x[%i] : !annudf.vector<f32>
          %yi = annudf.at %y[%i] : !annudf.vector<f32>
          %d = arith.subf %most, %yi : f32
          %next = math.fma %xi, %d, %acc : f32
          scf.yield %next : f32
        }
        annudf.yield %sum : f32
      }
    }
    ```
  }];
  let statistics = [Statistic<"numPrepared", "num-prepared", "Number of values that are prepared">];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def RaisePairwisePass : Pass<"annudf-raise-pairwise", "::mlir::ModuleOp"> {
  let summary = "makes metrics of distances that are one pass over the coordinates";
  let description = [{
    An `annudf.pairwise` whose loops over the coordinates do not depend on one another becomes an
    `annudf.metric` of the same name. The loops stand at the top of `annudf.distance`, go from 0 to
    `annudf.index dims` by 1, and read both vectors at their counter. What they carry becomes the
    accumulator: up to 6 values that the distance depends on. Their bodies become one
    `annudf.update`, what follows them `annudf.finalize`. Every other distance is refused (rules
    W), or left alone with `keep`. The metric is not verified here; `annudf-verify-abi` looks at it as at any other.

    The metric computes what the loops compute, in the same order. Values that nothing needs are
    dropped.

    Example:

    ```mlir
    annudf.pairwise @euclidean order(min) coarse(l2) elements(f32) {
      annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
        %begin = arith.constant 0 : index
        %step = arith.constant 1 : index
        %dims = annudf.index dims
        %zero = arith.constant 0.0 : f32
        %sum = scf.for %i = %begin to %dims step %step iter_args(%acc = %zero) -> (f32) {
          %xi = annudf.at %x[%i] : !annudf.vector<f32>
          %yi = annudf.at %y[%i] : !annudf.vector<f32>
          %d = arith.subf %xi, %yi : f32
          %next = math.fma %d, %d, %acc : f32
          scf.yield %next : f32
        }
        %r = math.sqrt %sum : f32
        annudf.yield %r : f32
      }
    }
    ```
  }];
  let options = [Option<"keep", "keep", "bool", /*default=*/"false",
                        "Leave other distances as they are, which CPUs compute">];
  let statistics = [Statistic<"numRaised", "num-raised", "Number of distances raised to metrics">];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

include "annudf/Dialect/Transforms/InferencePasses.td"

#endif // ANNUDF_TRANSFORMS_PASSES_TD
