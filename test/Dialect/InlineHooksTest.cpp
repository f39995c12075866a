//===- InlineHooksTest.cpp - What is inlined is what was verified ---------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Calls every hook of many metrics in a function, runs annudf-inline-hooks, and compares the
// function with the hook's body op by op.
//
//===----------------------------------------------------------------------===//

#include "annudf/Dialect/IR/Annudf.h"
#include "annudf/Dialect/Transforms/AbiRules.h"
#include "annudf/Dialect/Transforms/Passes.h"
#include "annudf/InitAll.h"

#include "Compiler/RandomBody.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

#include <filesystem>
#include <fstream>
#include <iterator>

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;

namespace {

constexpr const char *kIndices[] = {"dim", "dims", "row", "query", "list"};

template <typename T> std::string spell(T &&value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

/// A function that calls `hook` with its own arguments: the hook's, indices, then captures.
std::string functionThatCalls(HookOpInterface hook) {
  auto udf = cast<UdfOpInterface>(hook->getParentOp());
  const std::string name = hook.getHookName().str();
  std::string arguments, values, types, ctx, captures, captureTypes;
  auto join = [](std::string &list, const std::string &one) {
    list += (list.empty() ? "" : ", ") + one;
  };
  for (auto [i, type] : llvm::enumerate(hook.getHookBlock()->getArgumentTypes())) {
    join(arguments, "%a" + std::to_string(i) + ": " + spell(type));
    join(values, "%a" + std::to_string(i));
    join(types, spell(type));
  }
  for (const char *index : kIndices) {
    join(arguments, "%" + std::string(index) + ": index");
    if (hook.hasIndex(*symbolizeScanIndex(index)))
      join(ctx, std::string(index) + " = %" + index);
  }
  for (CaptureOp capture : udf.getCaptures()) {
    if (capture.getValue())
      continue;
    const CaptureType type = capture.getType();
    const std::string value = "%c" + capture.getName().str();
    std::string passed = spell(type.getLoadType());
    if (!type.isScalar()) {
      passed = "memref<";
      for (size_t i = 0; i < type.getExtents().size(); ++i)
        passed += "?x";
      passed += spell(memrefElementOf(type));
      passed += '>';
    }
    join(arguments, llvm::join_items(": ", value, passed));
    join(captures, value);
    join(captureTypes, passed);
  }
  std::string results;
  for (Type type : hook.getHookBlock()->getTerminator()->getOperandTypes())
    join(results, spell(type));
  const size_t count = hook.getHookBlock()->getTerminator()->getNumOperands();
  return "func.func @call_" + name + "(" + arguments + ") -> (" + results +
         ") {\n  %r:" + std::to_string(count) + " = annudf.call_" + name + " @" +
         udf.getSymName().str() + "(" + values + ") ctx(" + ctx + ")" +
         (captures.empty() ? "" : " captures(" + captures + " : " + captureTypes + ")") + " : (" +
         types + ") -> (" + results + ")\n  return " +
         [&] {
           std::string all;
           for (size_t i = 0; i < count; ++i)
             join(all, "%r#" + std::to_string(i));
           return all;
         }() +
         " : " + results + "\n}\n";
}

std::string metricOf(const test::RandomBody &body) {
  return body.helper() +
         "annudf.metric @m order(min) coarse(l2) elements(f32) {\n  annudf.init {\n"
         "    %0 = arith.constant 0.0 : f32\n    annudf.yield %0 : f32\n  }\n"
         "  annudf.update (%acc: f32, %x: f32, %y: f32) {\n"
         "    %dim = annudf.index dim\n    %dims = annudf.index dims\n" +
         body.ops() + "    annudf.yield %result : f32\n  }\n}\n";
}

/// Compares a body with the ops that it became, in their order.
class Lockstep {
public:
  Lockstep(HookOpInterface hook, func::FuncOp function) : hook(hook), function(function) {}

  std::string difference() {
    Block &body = *hook.getHookBlock(), &inlined = function.getBody().front();
    const size_t taken = body.getNumArguments();
    map.map(body.getArguments(), inlined.getArguments().take_front(taken));
    for (auto [i, index] : llvm::enumerate(kIndices))
      indices[index] = inlined.getArgument(taken + i);
    size_t next = taken + std::size(kIndices);
    for (CaptureOp capture : cast<UdfOpInterface>(hook->getParentOp()).getCaptures())
      if (!capture.getValue())
        captures[capture] = inlined.getArgument(next++);
    at = inlined.begin();
    if (!follow(body) || !expectValues(body.getTerminator(), &*at))
      return why + " in " + spell(*function);
    return std::next(at) == inlined.end() ? "" : "ops are left in " + spell(*function);
  }

private:
  bool fail(const std::string &text) {
    why = text;
    return false;
  }

  bool expectValues(Operation *op, Operation *made) {
    if (op->getNumOperands() != made->getNumOperands())
      return fail("another number of operands of " + spell(*op));
    for (auto [value, other] : llvm::zip(op->getOperands(), made->getOperands()))
      if (map.lookupOrNull(value) != other)
        return fail("another operand of " + spell(*op) + ", " + spell(*made));
    return true;
  }

  /// All ops of `body` but its terminator.
  bool follow(Block &body) {
    for (Operation &op : body.without_terminator())
      if (!followOne(&op))
        return false;
    return true;
  }

  bool followOne(Operation *op) {
    if (auto index = dyn_cast<IndexOp>(op)) {
      map.map(index.getResult(), indices.lookup(stringifyEnum(index.getKind())));
      return true;
    }
    if (auto load = dyn_cast<LoadOp>(op))
      return followLoad(load);
    if (auto call = dyn_cast<func::CallOp>(op))
      return followHelper(call);
    if (isa<arith::FPToSIOp, arith::FPToUIOp>(op))
      return followConversion(op);
    return expectSame(op, &*at++);
  }

  bool expectSame(Operation *op, Operation *made) {
    if (op->getName() != made->getName() || op->getAttrDictionary() != made->getAttrDictionary() ||
        op->getResultTypes() != made->getResultTypes())
      return fail(spell(*op) + " became " + spell(*made));
    if (!expectValues(op, made))
      return false;
    map.map(op->getResults(), made->getResults());
    for (auto [region, other] : llvm::zip(op->getRegions(), made->getRegions())) {
      if (region.empty() != other.empty())
        return fail("another region of " + spell(*op));
      if (region.empty())
        continue;
      map.map(region.front().getArguments(), other.front().getArguments());
      const Block::iterator after = at;
      at = other.front().begin();
      if (!follow(region.front()) || !expectSame(region.front().getTerminator(), &*at))
        return false;
      at = after;
    }
    return true;
  }

  bool followLoad(LoadOp load) {
    auto capture = load.getCapture().getDefiningOp<CaptureOp>();
    if (load.getIndices().empty()) {
      map.map(load.getResult(), captures.lookup(capture));
      return true;
    }
    auto made = dyn_cast<memref::LoadOp>(&*at++);
    if (!made || made.getMemref() != captures.lookup(capture))
      return fail("no load of the memref for " + spell(load));
    for (auto [index, other] : llvm::zip(load.getIndices(), made.getIndices()))
      if (map.lookupOrNull(index) != other)
        return fail("another index of " + spell(load));
    map.map(load.getResult(), made.getResult());
    return true;
  }

  bool followHelper(func::CallOp call) {
    auto helper = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
    Block &body = helper.getBody().front();
    for (auto [argument, value] : llvm::zip(body.getArguments(), call.getOperands()))
      map.map(argument, map.lookup(value));
    if (!follow(body))
      return false;
    for (auto [value, result] : llvm::zip(body.getTerminator()->getOperands(), call.getResults()))
      map.map(result, map.lookup(value));
    return true;
  }

  /// Eleven ops keep the operand in range and four choose the result, as inline-hooks.mlir has
  /// them.
  bool followConversion(Operation *op) {
    std::advance(at, 11);
    if (at->getName() != op->getName())
      return fail("no " + spell(*op));
    std::advance(at, 4);
    map.map(op->getResult(0), at->getResult(0));
    ++at;
    return true;
  }

  HookOpInterface hook;
  func::FuncOp function;
  IRMapping map;
  llvm::StringMap<Value> indices;
  llvm::DenseMap<Operation *, Value> captures;
  Block::iterator at;
  std::string why;
};

class InlineHooks : public ::testing::Test {
protected:
  InlineHooks() {
    DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// How many hooks of `text` were compared.
  size_t compare(const std::string &text) {
    OwningOpRef<ModuleOp> verified = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(verified) << text;
    if (!verified)
      return 0;
    SmallVector<HookOpInterface> hooks;
    verified->walk([&](HookOpInterface hook) { hooks.push_back(hook); });
    std::string calls;
    for (HookOpInterface hook : hooks)
      calls += functionThatCalls(hook);
    OwningOpRef<ModuleOp> inlined = parseSourceString<ModuleOp>(text + calls, &context);
    EXPECT_TRUE(inlined) << calls;
    PassManager passes(&context);
    passes.addPass(createInlineHooksPass());
    if (!inlined || failed(passes.run(*inlined))) {
      ADD_FAILURE() << calls;
      return 0;
    }
    inlined->walk([](Operation *op) {
      EXPECT_FALSE(isa_and_nonnull<AnnudfDialect>(op->getDialect())) << spell(*op);
    });
    for (HookOpInterface hook : hooks) {
      auto function = inlined->lookupSymbol<func::FuncOp>("call_" + hook.getHookName().str());
      EXPECT_EQ(Lockstep(hook, function).difference(), "") << text;
    }
    return hooks.size();
  }

  MLIRContext context;
};

TEST_F(InlineHooks, AreTheBodiesOfMetricsAndFilters) {
  size_t hooks = 0;
  for (const char *folder : {ANNUDF_METRICS, ANNUDF_EXAMPLES, ANNUDF_EXAMPLES "/../filters"})
    for (const auto &entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() != ".mlir")
        continue;
      SCOPED_TRACE(entry.path().string());
      std::ifstream file(entry.path());
      hooks += compare({std::istreambuf_iterator<char>(file), {}});
    }
  EXPECT_GT(hooks, 80u);
}

TEST_F(InlineHooks, AreRandomBodies) {
  size_t compared = 0;
  for (uint32_t seed = 0; seed < 200 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const test::RandomBody body(seed);
    const std::string text = metricOf(body);
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module) << text;
    ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) { return success(); });
    if (succeeded(verifyAbi(*module))) // Some have too many loops.
      compared += compare(text);
  }
  EXPECT_GT(compared, 200u);
}

constexpr const char *kMetric = R"(
annudf.metric @m order(min) coarse(l2) elements(f32) dims(8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = annudf.index dim
    %v = annudf.load %w[%d] : !annudf.capture<dim x f32>
    %t = arith.subf %x, %y : f32
    %r = math.fma %t, %v, %acc : f32
    annudf.yield %r : f32
  }
}
)";

TEST_F(InlineHooks, LockstepSeesADifference) {
  const std::string head =
                        "func.func @call_update(%acc: f32, %x: f32, %y: f32, %dim: index, %dims: "
                        "index, %row: index, %query: index, %list: index, %w: memref<?xf32>) -> "
                        "f32 {\n",
                    load = "  %v = memref.load %w[%dim] : memref<?xf32>\n",
                    difference = "  %t = arith.subf %x, %y : f32\n",
                    sum = "  %r = math.fma %t, %v, %acc : f32\n", end = "  return %r : f32\n}\n";
  auto find = [&](const std::string &function) -> std::string {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(kMetric + function, &context);
    if (!module)
      return "it is not read";
    auto metric = *module->getOps<MetricOp>().begin();
    return Lockstep(cast<HookOpInterface>(metric.getUpdate().getOperation()),
                    *module->getOps<func::FuncOp>().begin())
        .difference();
  };
  EXPECT_EQ(find(head + load + difference + sum + end), "");
  for (const std::string &other :
       {llvm::join_items("", head, load, "  %t = arith.subf %y, %x : f32\n", sum, end),
        llvm::join_items("", head, load, "  %t = arith.subf %x, %y fastmath<reassoc> : f32\n", sum,
                         end),
        llvm::join_items("", head, "  %v = memref.load %w[%row] : memref<?xf32>\n", difference, sum,
                         end),
        llvm::join_items("", head, load, difference, sum, "  %s = arith.addf %r, %r : f32\n", end),
        llvm::join_items("", head, load, difference, sum, "  return %t : f32\n}\n")})
    EXPECT_NE(find(other), "") << other;
}

/// A program may change a module after it was read: the pass verifies what it inlines.
TEST_F(InlineHooks, VerifyFirst) {
  const std::string text = std::string(kMetric) + R"(
func.func @kernel(%a: f32, %d: index, %w: memref<?xf32>) -> f32 {
  %r = annudf.call_update @m(%a, %a, %a) ctx(dim = %d, dims = %d) captures(%w : memref<?xf32>)
    : (f32, f32, f32) -> f32
  return %r : f32
}
)";
  auto runAfter = [&](function_ref<void(ModuleOp)> change) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    std::string said;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      said += diagnostic.str() + "\n";
      return success();
    });
    change(*module);
    PassManager passes(&context);
    passes.enableVerifier(false);
    passes.addPass(createInlineHooksPass());
    return failed(passes.run(*module)) ? said : "accepted";
  };
  EXPECT_EQ(runAfter([](ModuleOp) {}), "accepted");
  EXPECT_NE(runAfter([](ModuleOp module) {
              module->walk([](IndexOp index) {
                index.setKindAttr(ScanIndexAttr::get(index.getContext(), ScanIndex::Dims));
              });
            }).find("[L3]"),
            std::string::npos);
  EXPECT_NE(
      runAfter([](ModuleOp module) {
        auto kernel = *module.getOps<func::FuncOp>().begin();
        kernel.getArgument(2).setType(MemRefType::get({7}, Float32Type::get(module.getContext())));
        kernel.setFunctionType(FunctionType::get(
            module.getContext(), kernel.getBody().getArgumentTypes(), kernel.getResultTypes()));
      }).find("[U9]"),
      std::string::npos);
}

} // namespace
