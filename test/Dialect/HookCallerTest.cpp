//===- HookCallerTest.cpp - Calls of hooks, built in kernels --------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Dialect/IR/HookCaller.h"
#include "annudf/InitAll.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace annudf::ir;

namespace {

constexpr const char *kModule = R"(
annudf.metric @m order(min) coarse(l2) elements(f32) accumulator(f32, u32) numerics(reassociate) {
  %w = annudf.capture "w" : !annudf.capture<query x dim x ui16>
  %p = annudf.capture "p" = 3.0 : f32 : !annudf.capture<f32>
  %t = annudf.capture "t" : !annudf.capture<4 x i1>
  %s = annudf.capture "s" : !annudf.capture<bf16>
  annudf.init {
    %l = annudf.index list
    %0 = arith.constant 0.0 : f32
    %1 = arith.constant 0 : i32
    annudf.yield %0, %1 : f32, i32
  }
  annudf.update (%a: f32, %n: i32, %x: f32, %y: f32) {
    %q = annudf.index query
    %d = annudf.index dim
    %v = annudf.load %w[%q, %d] : !annudf.capture<query x dim x ui16>
    annudf.yield %a, %n : f32, i32
  }
  annudf.combine (%a: f32, %n: i32, %b: f32, %k: i32) {
    annudf.yield %a, %n : f32, i32
  }
  annudf.finalize (%a: f32, %n: i32) {
    %r = annudf.index row
    %n2 = annudf.index dims
    annudf.yield %a : f32
  }
}
annudf.filter @f {
  %age = annudf.capture "age" : !annudf.capture<row x f32>
  annudf.keep {
    %r = annudf.index row
    %a = annudf.load %age[%r] : !annudf.capture<row x f32>
    %0 = arith.constant true
    annudf.yield %0 : i1
  }
}
)";

class HookCallerTest : public ::testing::Test {
protected:
  HookCallerTest()
      : handler(&context, [this](Diagnostic &diagnostic) {
          said += (said.empty() ? "" : "\n") + diagnostic.str();
          return success();
        }) {
    DialectRegistry registry;
    annudf::registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  void parse(StringRef text) {
    module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module) << said;
  }
  UdfOpInterface find(StringRef name) { return module->lookupSymbol<UdfOpInterface>(name); }

  /// A function with `types` as arguments, whose ops `write` creates; its text.
  std::string kernel(TypeRange types,
                     llvm::function_ref<void(ImplicitLocOpBuilder &, ValueRange)> write) {
    OpBuilder outside = OpBuilder::atBlockEnd(module->getBody());
    auto function =
        func::FuncOp::create(outside, module->getLoc(), "k", outside.getFunctionType(types, {}));
    ImplicitLocOpBuilder b =
        ImplicitLocOpBuilder::atBlockEnd(module->getLoc(), function.addEntryBlock());
    write(b, function.getArguments());
    func::ReturnOp::create(b);
    std::string text;
    llvm::raw_string_ostream os(text);
    for (Operation &op : function.getBody().front().without_terminator())
      os << op << "\n";
    return text;
  }

  MLIRContext context;
  std::string said;
  ScopedDiagnosticHandler handler;
  OwningOpRef<ModuleOp> module;
};

TEST_F(HookCallerTest, EveryHook) {
  parse(kModule);
  UdfOpInterface metric = find("m"), filter = find("f");
  const Type f32 = Float32Type::get(&context), index = IndexType::get(&context);
  SmallVector<Type> types(5, index);
  types.append({f32, f32});
  llvm::append_range(types, HookCaller::captureTypes(metric));
  llvm::append_range(types, HookCaller::captureTypes(filter));
  const std::string text = kernel(types, [&](ImplicitLocOpBuilder &b, ValueRange given) {
    const ScanPlace at = {given[0], given[1], given[2], given[3], given[4]};
    const HookCaller hooks(metric, given.slice(7, 3));
    SmallVector<Value> acc = hooks.init(b, at);
    acc = hooks.update(b, acc, given[5], given[6], at);
    acc = hooks.combine(b, acc, acc, at);
    EXPECT_EQ(hooks.finalize(b, acc, at).getType(), f32);
    EXPECT_EQ(HookCaller(filter, given.drop_front(10)).keep(b, at).getType(), b.getI1Type());
  });
  EXPECT_TRUE(succeeded(verify(*module))) << said;
  EXPECT_EQ(
      text,
      "%0:2 = annudf.call_init @m() ctx(list = %arg4) : () -> (f32, i32)\n"
      "%1:2 = annudf.call_update @m(%0#0, %0#1, %arg5, %arg6) ctx(dim = %arg0, query = %arg3) "
      "captures(%arg7, %arg8, %arg9 : memref<?x?xi16>, memref<4xi8>, f32) : (f32, i32, f32, f32) "
      "-> (f32, i32)\n"
      "%2:2 = annudf.call_combine @m(%1#0, %1#1, %1#0, %1#1) : (f32, i32, f32, i32) -> (f32, "
      "i32)\n"
      "%3 = annudf.call_finalize @m(%2#0, %2#1) ctx(dims = %arg1, row = %arg2) : (f32, i32) -> "
      "f32\n"
      "%4 = annudf.call_keep @f() ctx(row = %arg2) captures(%arg10 : memref<?xf32>) : () -> i1\n");
}

/// A metric without finalize, whose accumulator becomes the distance.
TEST_F(HookCallerTest, ConvertsWhereThereIsNoFinalize) {
  const std::pair<const char *, const char *> cases[] = {
      {"f32", ""},
      {"f64", "%0 = arith.truncf %arg0 : f64 to f32\n"},
      {"i32", "%0 = arith.sitofp %arg0 : i32 to f32\n"},
      {"u32", "%0 = arith.uitofp %arg0 : i32 to f32\n"},
      {"i64", "%0 = arith.sitofp %arg0 : i64 to f32\n"}};
  for (auto [accumulator, expected] : cases) {
    const std::string type = accumulator == std::string("u32") ? "i32" : accumulator;
    const std::string zero = type[0] == 'f' ? "0.0" : "0";
    parse("annudf.metric @m order(min) coarse(l2) elements(f32) accumulator(" +
          std::string(accumulator) + ") {\n  annudf.init {\n    %0 = arith.constant " + zero +
          " : " + type + "\n    annudf.yield %0 : " + type + "\n  }\n  annudf.update (%acc: " +
          type + ", %x: f32, %y: f32) {\n    annudf.yield %acc : " + type + "\n  }\n}\n");
    auto metric = cast<MetricOp>(find("m").getOperation());
    const std::string text =
        kernel(metric.getAccumulatorTypes(), [&](ImplicitLocOpBuilder &b, ValueRange acc) {
          HookCaller(find("m"), {}).finalize(b, acc, {});
        });
    EXPECT_EQ(text, expected) << accumulator;
  }
}

/// The ops' verifier says what is passed wrongly.
TEST_F(HookCallerTest, WrongUse) {
  parse(kModule);
  auto fault = [&](llvm::function_ref<void(ImplicitLocOpBuilder &, ValueRange)> write) {
    said.clear();
    const Type f32 = Float32Type::get(&context), index = IndexType::get(&context);
    kernel({index, f32, MemRefType::get({4}, f32)}, write);
    EXPECT_TRUE(failed(verify(*module)));
    module->lookupSymbol("k")->erase();
    return said;
  };
  UdfOpInterface metric = find("m"), filter = find("f");
  EXPECT_EQ(
      fault([&](ImplicitLocOpBuilder &b, ValueRange) { HookCaller(metric, {}).init(b, {}); }),
      "'annudf.call_init' op [U4] does not give list, which annudf.init of @m reads; add list to "
      "ctx");
  EXPECT_EQ(fault([&](ImplicitLocOpBuilder &b, ValueRange given) {
              HookCaller(filter, {}).keep(b, {.row = given[0]});
            }),
            "'annudf.call_keep' op [U6] passes another number of captures than 'f' binds, 0 "
            "instead of 1; pass age");
  EXPECT_EQ(fault([&](ImplicitLocOpBuilder &b, ValueRange given) {
              HookCaller(filter, given[1]).keep(b, {.row = given[0]});
            }),
            "'annudf.call_keep' op [U8] passes 'f32' for the array \"age\" of 'f', "
            "'!annudf.capture<row x f32>'; pass memref<?xf32>");
}

} // namespace
