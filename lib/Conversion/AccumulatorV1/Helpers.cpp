//===- Helpers.cpp - A module of one metric without helpers -----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Helpers are inlined here, once and flat: rule S5 bounds what that makes of a hook, and
// the work is what it makes. Left to the inliners of LLVM and libNVVM, a chain of n
// helpers would be copied n * n / 2 times. No name of the user's module is left either,
// so none can be taken for a function that a lowering makes or calls.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "annudf/Analysis/CallGraph.h"
#include "annudf/Dialect/IR/Descriptor.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;
using namespace annudf::lowering;

/// Nothing looks a metric up by its name, and no function that a lowering makes has this.
static constexpr StringLiteral kMetricName = "annudf_metric";

/// More than rule S5 lets through: only a module that skipped annudf-verify-abi has it.
static constexpr int64_t kMaxInlinedOps = 1 << 16;

static FailureOr<UdfOpInterface> selectMetric(ModuleOp module, StringRef name,
                                              const TargetInfo &target) {
  auto metrics = llvm::to_vector(module.getOps<UdfOpInterface>());
  if (name.empty()) {
    if (metrics.size() == 1)
      return metrics.front();
    if (metrics.empty())
      return emitError(module.getLoc())
             << target.passName
             << ": the module holds no annudf.metric, annudf.filter or annudf.function";
    return emitError(module.getLoc())
           << target.passName << ": the module holds " << metrics.size() << " " << nounOf(metrics)
           << ", so one must be named; there are " << listNames(metrics);
  }
  for (UdfOpInterface metric : metrics)
    if (metric.getSymName() == name)
      return metric;
  return emitError(module.getLoc())
         << target.passName << ": the module holds no metric '" << name << "'";
}

/// What annudf-verify-abi refuses and inlining cannot do.
static LogicalResult checkHelpers(ModuleOp module, const CallGraph &graph,
                                  const TargetInfo &target) {
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isDeclaration())
      return function.emitOpError() << target.passName << ": function '" << function.getSymName()
                                    << "' has no body; a metric may only call private helpers of "
                                       "its own module";
    if (!function.getBody().hasOneBlock())
      return function.emitOpError() << target.passName << ": function '" << function.getSymName()
                                    << "' has several blocks; write branches with scf.if and "
                                       "loops with scf.for";
  }
  if (func::CallOp cycle = graph.findCycle())
    return cycle.emitOpError() << target.passName << ": closes a recursion through '"
                               << cycle.getCallee() << "', which cannot be inlined";
  return success();
}

/// Puts the body of every helper that `metric` calls in the place of the call.
static LogicalResult inlineHelpers(UdfOpInterface metric, const CallGraph &graph,
                                   const TargetInfo &target) {
  SmallVector<func::CallOp> pending(graph.callsIn(metric));
  int64_t ops = 0;
  while (!pending.empty()) {
    func::CallOp call = pending.pop_back_val();
    Block &body = graph.callee(call).getBody().front();
    OpBuilder builder(call);
    IRMapping mapping;
    mapping.map(body.getArguments(), call.getOperands());
    for (Operation &op : body.without_terminator()) {
      Operation *copy = builder.clone(op, mapping);
      copy->walk([&](Operation *inner) {
        ++ops;
        if (auto nested = dyn_cast<func::CallOp>(inner))
          pending.push_back(nested);
      });
    }
    if (ops > kMaxInlinedOps)
      return metric->emitOpError() << target.passName << ": has more than " << kMaxInlinedOps
                                   << " operations with its helpers inlined";
    for (auto [result, value] : llvm::zip(call.getResults(), body.getTerminator()->getOperands()))
      result.replaceAllUsesWith(mapping.lookupOrDefault(value));
    call.erase();
  }
  return success();
}

FailureOr<UdfOpInterface> annudf::lowering::isolateMetric(ModuleOp module, StringRef name,
                                                          const TargetInfo &target,
                                                          std::string &given, ProvedFacts *facts) {
  FailureOr<UdfOpInterface> metric = selectMetric(module, name, target);
  if (failed(metric))
    return failure();
  given = metric->getSymName().str();
  for (UdfOpInterface other : llvm::to_vector(module.getOps<UdfOpInterface>()))
    if (other != *metric)
      other.erase();
  CallGraph graph(module);
  if (failed(checkHelpers(module, graph, target)))
    return failure();
  if (facts && !isa<FunctionOp>(metric->getOperation()))
    *facts = ProvedFacts::of(*metric, target.code);
  if (failed(inlineHelpers(*metric, graph, target)))
    return failure();
  for (func::FuncOp helper : llvm::to_vector(module.getOps<func::FuncOp>()))
    helper.erase();
  metric->setSymName(kMetricName);
  return metric;
}
