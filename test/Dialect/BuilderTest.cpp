//===- BuilderTest.cpp - Metrics, filters and functions, built by other compilers ===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Dialect/IR/Builder.h"
#include "annudf/Dialect/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace annudf::ir;

namespace {

class BuilderTest : public ::testing::Test {
protected:
  BuilderTest()
      : handler(&context, [this](Diagnostic &diagnostic) {
          said += (said.empty() ? "" : "\n") + diagnostic.str();
          return success();
        }) {
    context.loadDialect<AnnudfDialect>();
    module = ModuleOp::create(builder.getUnknownLoc());
    builder.setInsertionPointToEnd(module->getBody());
  }

  /// Its text with every rule kept, or what is wrong with it.
  std::string verified() {
    PassManager passes(&context);
    passes.addPass(annudf::createVerifyABIPass());
    if (failed(passes.run(*module)))
      return said;
    std::string text;
    llvm::raw_string_ostream os(text);
    module->getBody()->front().print(os);
    return text;
  }

  /// `text` as MLIR prints it.
  std::string printed(StringRef text) {
    OwningOpRef<ModuleOp> parsed = parseSourceString<ModuleOp>(text, &context);
    std::string result;
    llvm::raw_string_ostream os(result);
    if (parsed)
      parsed->getBody()->front().print(os);
    return result;
  }

  MLIRContext context;
  std::string said;
  ScopedDiagnosticHandler handler;
  OpBuilder builder{&context};
  OwningOpRef<ModuleOp> module;
  Location loc = UnknownLoc::get(&context);
  Type f32 = Float32Type::get(&context);
};

Yield zero(HookBuilder &b) { return b.number(b.getF32Type(), 0); }
Yield keepAccumulator(HookBuilder &, ValueRange acc, Value, Value) { return acc; }

TEST_F(BuilderTest, OneNumberAndCaptures) {
  MetricBuilder metric(builder, loc, "weighted");
  Value w = metric.capture("w", {CaptureType::kDim}, f32);
  metric.init(zero);
  metric.update([&](HookBuilder &b, ValueRange acc, Value x, Value y) {
    Value apart = math::AbsFOp::create(b, arith::SubFOp::create(b, x, y));
    return math::FmaOp::create(b, b.load(w, b.dim()), apart, acc[0]);
  });
  // Declared after a hook, and yet before it in the text: the slots follow the calls.
  Value scale = metric.capture("scale", {}, f32);
  metric.finalize([&](HookBuilder &b, ValueRange acc) {
    return arith::MulFOp::create(b, acc[0], b.load(scale));
  });
  FailureOr<MetricOp> op = metric.finish();
  ASSERT_TRUE(succeeded(op)) << said;
  EXPECT_EQ(op->getSymName(), "weighted");
  EXPECT_EQ(verified(), printed(R"(
    annudf.metric @weighted order(min) coarse(l2) elements(f32) {
      %w = annudf.capture "w" : !annudf.capture<dim x f32>
      %scale = annudf.capture "scale" : !annudf.capture<f32>
      annudf.init {
        %0 = arith.constant 0.0 : f32
        annudf.yield %0 : f32
      }
      annudf.update (%acc: f32, %x: f32, %y: f32) {
        %d = arith.subf %x, %y : f32
        %a = math.absf %d : f32
        %i = annudf.index dim
        %v = annudf.load %w[%i] : !annudf.capture<dim x f32>
        %r = math.fma %v, %a, %acc : f32
        annudf.yield %r : f32
      }
      annudf.finalize (%acc: f32) {
        %s = annudf.load %scale[] : !annudf.capture<f32>
        %r = arith.mulf %acc, %s : f32
        annudf.yield %r : f32
      }
    })"));
}

TEST_F(BuilderTest, FieldsPolicyAndCombine) {
  MetricOptions options;
  options.order = Order::Max;
  options.coarse = Coarse::InnerProduct;
  options.coarseOrder = Order::Min;
  options.elements = {Element::U8, Element::I8};
  options.accumulator = {Accumulator::U32, Accumulator::I64};
  options.compute = ANNUDF_COMPUTE_I32;
  options.numerics = Numerics::Reassociate;
  options.dims = 8;
  MetricBuilder metric(builder, loc, "counts", options);
  metric.init([](HookBuilder &b) {
    return Yield{b.number(b.getI32Type(), 0), b.number(b.getI64Type(), 0)};
  });
  metric.update([](HookBuilder &b, ValueRange acc, Value x, Value y) {
    Value same = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x, y);
    Value one = arith::ExtUIOp::create(b, b.getI32Type(), same);
    return Yield{arith::AddIOp::create(b, acc[0], one), acc[1]};
  });
  metric.combine([](HookBuilder &b, ValueRange acc, ValueRange other) {
    SmallVector<Value> sums;
    for (auto [left, right] : llvm::zip(acc, other))
      sums.push_back(arith::AddIOp::create(b, left, right));
    return Yield(sums);
  });
  metric.finalize([](HookBuilder &b, ValueRange acc) {
    return arith::UIToFPOp::create(b, b.getF32Type(), acc[0]);
  });
  ASSERT_TRUE(succeeded(metric.finish())) << said;
  const std::string text = verified();
  EXPECT_NE(text.find("@counts order(max) coarse(inner_product min) elements(u8, i8) "
                      "accumulator(u32, i64) numerics(reassociate) dims(8) {"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("annudf.combine (%arg0: i32, %arg1: i64, %arg2: i32, %arg3: i64)"),
            std::string::npos)
      << text;
}

TEST_F(BuilderTest, MissingValuesAndOneUnsignedNumber) {
  MetricOptions options;
  options.missingValues = true;
  options.accumulator = {Accumulator::U32};
  MetricBuilder metric(builder, loc, "m", options);
  metric.init([](HookBuilder &b) { return b.number(b.getI32Type(), -1); });
  metric.update(keepAccumulator);
  metric.finalize([](HookBuilder &b, ValueRange acc) {
    return arith::UIToFPOp::create(b, b.getF32Type(), acc[0]);
  });
  ASSERT_TRUE(succeeded(metric.finish())) << said;
  EXPECT_NE(verified().find("elements(f32) accumulator(u32) missing_values {"), std::string::npos);
}

TEST_F(BuilderTest, Filter) {
  FilterBuilder filter(builder, loc, "young", 16);
  Value age = filter.capture("age", {CaptureType::kRow}, f32);
  filter.keep([&](HookBuilder &b) {
    return arith::CmpFOp::create(b, arith::CmpFPredicate::OLE, b.load(age, b.row()),
                                 b.number(b.getF32Type(), 30.5));
  });
  ASSERT_TRUE(succeeded(filter.finish())) << said;
  EXPECT_EQ(verified(), printed(R"(
    annudf.filter @young dims(16) {
      %age = annudf.capture "age" : !annudf.capture<row x f32>
      annudf.keep {
        %row = annudf.index row
        %a = annudf.load %age[%row] : !annudf.capture<row x f32>
        %most = arith.constant 30.5 : f32
        %b = arith.cmpf ole, %a, %most : f32
        annudf.yield %b : i1
      }
    })"));
}

TEST_F(BuilderTest, Function) {
  const Type ui32 = IntegerType::get(&context, 32, IntegerType::Unsigned);
  const Type pair = TupleType::get(&context, {f32, ui32});
  FunctionBuilder function(builder, loc, "larger", builder.getFunctionType({pair, pair}, pair));
  Value bias = function.capture("bias", {}, f32);
  function.body([&](HookBuilder &b, ValueRange all) {
    Value first = arith::AddFOp::create(b, all[0], b.load(bias));
    Value larger = arith::CmpFOp::create(b, arith::CmpFPredicate::OGE, first, all[2]);
    return Yield{arith::SelectOp::create(b, larger, all[0], all[2]),
                 arith::SelectOp::create(b, larger, all[1], all[3])};
  });
  ASSERT_TRUE(succeeded(function.finish())) << said;
  EXPECT_EQ(verified(), printed(R"(
    annudf.function @larger convention(raw) (tuple<f32, ui32>, tuple<f32, ui32>) -> tuple<f32, ui32> {
      %bias = annudf.capture "bias" : !annudf.capture<f32>
      annudf.body (%a: f32, %i: i32, %b: f32, %j: i32) {
        %by = annudf.load %bias[] : !annudf.capture<f32>
        %f = arith.addf %a, %by : f32
        %c = arith.cmpf oge, %f, %b : f32
        %r = arith.select %c, %a, %b : f32
        %k = arith.select %c, %i, %j : i32
        annudf.yield %r, %k : f32, i32
      }
    })"));
}

TEST_F(BuilderTest, WrongFunctions) {
  auto fault = [&](FunctionType type, llvm::function_ref<Yield(HookBuilder &, ValueRange)> body) {
    said.clear();
    FunctionBuilder function(builder, loc, "f", type, Convention::C);
    if (body)
      function.body(body);
    EXPECT_TRUE(failed(function.finish()));
    return said;
  };
  const FunctionType one = builder.getFunctionType(f32, f32);
  EXPECT_EQ(fault(one, [](HookBuilder &b, ValueRange) { return b.number(b.getI32Type(), 0); }),
            "the body of annudf.body gives 'i32', but has to give 'f32'");
  EXPECT_EQ(fault(one,
                  [](HookBuilder &b, ValueRange all) {
                    b.dims();
                    return all[0];
                  }),
            "the builder of annudf.body is asked for annudf.index dims, which has no meaning "
            "there; pass what you need in the accumulator or a capture");
  EXPECT_EQ(fault(one, nullptr),
            "'annudf.function' op [D2] needs exactly one annudf.body, found 0; write one");
  EXPECT_EQ(fault(builder.getFunctionType(f32, {f32, f32}),
                  [](HookBuilder &, ValueRange all) { return Yield{all[0], all[0]}; }),
            "'annudf.function' op [D9] returns 2 values; return one, or a tuple");
  EXPECT_EQ(fault(builder.getFunctionType(builder.getIndexType(), f32),
                  [](HookBuilder &b, ValueRange) { return zero(b); }),
            "'annudf.function' op [D3] has 'index' in its signature; use f16, f32, f64, i1, i8, "
            "i16, i32, i64, ui8, ui16, ui32, ui64 and tuples of them");
}

/// Ops of a body are told to who listens: a rewriter takes back what it knows of.
TEST_F(BuilderTest, TellsItsListener) {
  struct Count : OpBuilder::Listener {
    void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override {
      names.push_back(op->getName().getStringRef().str());
    }
    std::vector<std::string> names;
  } count;
  builder.setListener(&count);
  {
    MetricBuilder metric(builder, loc, "m");
    metric.init(zero);
    metric.update(keepAccumulator);
    EXPECT_TRUE(succeeded(metric.finish()));
  }
  builder.setListener(nullptr);
  EXPECT_EQ(count.names,
            (std::vector<std::string>{"annudf.metric", "annudf.init", "arith.constant",
                                      "annudf.yield", "annudf.update", "annudf.yield"}));
  EXPECT_EQ(builder.getInsertionBlock(), module->getBody()) << "the caller's builder moved";
}

/// What a builder says that is used as `use` does, which is at `loc`.
template <typename Use> std::string faultOf(OpBuilder &builder, std::string &said, Use use) {
  said.clear();
  MetricBuilder metric(builder, builder.getUnknownLoc(), "m");
  use(metric);
  EXPECT_TRUE(failed(metric.finish()));
  return said;
}

TEST_F(BuilderTest, WrongResults) {
  auto update = [](MetricBuilder &metric) { metric.update(keepAccumulator); };
  EXPECT_EQ(faultOf(builder, said,
                    [&](MetricBuilder &metric) {
                      metric.init([](HookBuilder &b) { return b.number(b.getF64Type(), 0); });
                      update(metric);
                    }),
            "the body of annudf.init gives 'f64', but has to give 'f32'");
  EXPECT_EQ(faultOf(builder, said,
                    [&](MetricBuilder &metric) {
                      metric.init([](HookBuilder &) { return Yield{}; });
                      update(metric);
                    }),
            "the body of annudf.init gives nothing, but has to give 'f32'");
  EXPECT_EQ(faultOf(builder, said,
                    [&](MetricBuilder &metric) {
                      metric.init([](HookBuilder &) { return Value(); });
                      update(metric);
                    }),
            "the body of annudf.init gives a null value; give what an op of it computes");
}

TEST_F(BuilderTest, WrongIndices) {
  EXPECT_EQ(faultOf(builder, said,
                    [](MetricBuilder &metric) {
                      metric.init([](HookBuilder &b) {
                        b.dim();
                        return zero(b);
                      });
                      metric.update(keepAccumulator);
                    }),
            "the builder of annudf.init is asked for annudf.index dim, which has no meaning there; "
            "pass what you need in the accumulator or a capture");
  EXPECT_EQ(
      faultOf(builder, said,
              [this](MetricBuilder &metric) {
                Value w = metric.capture("w", {CaptureType::kDim}, f32);
                metric.init(zero);
                metric.update([&](HookBuilder &b, ValueRange acc, Value x, Value) {
                  b.load(w, x);
                  return acc;
                });
              }),
      "the builder of annudf.update is given an index that is no value of type index; convert "
      "it with arith.index_cast or arith.index_castui");
  EXPECT_EQ(faultOf(builder, said,
                    [](MetricBuilder &metric) {
                      metric.init([](HookBuilder &b) { return b.load(b.dims()); });
                      metric.update(keepAccumulator);
                    }),
            "the builder of annudf.init is asked to load what is no capture; load what capture() "
            "gave");
}

TEST_F(BuilderTest, WrongNumbers) {
  auto number = [&](Type type, double value) {
    return faultOf(builder, said, [&](MetricBuilder &metric) {
      metric.init([&](HookBuilder &b) {
        b.number(type, value);
        return zero(b);
      });
      // Fails for want of annudf.update, after what the number is refused for.
    });
  };
  const std::string missing = "'annudf.metric' op [M3] needs exactly one annudf.update, found 0; "
                              "write one";
  auto refusal = [](const std::string &value, const std::string &type) {
    return "the builder of annudf.init is asked for the number " + value + " as '" + type +
           "'; take a float, signless integer or index type that holds it";
  };
  EXPECT_EQ(number(builder.getI8Type(), 127), missing);
  EXPECT_EQ(number(builder.getI8Type(), -128), missing);
  EXPECT_EQ(number(builder.getI1Type(), 1), missing);
  EXPECT_EQ(number(builder.getIndexType(), 3), missing);
  EXPECT_EQ(number(builder.getF64Type(), 0.5), missing);
  EXPECT_EQ(number(builder.getI8Type(), 128), refusal("128.000000", "i8"));
  EXPECT_EQ(number(builder.getI8Type(), -129), refusal("-129.000000", "i8"));
  EXPECT_EQ(number(builder.getI1Type(), 2), refusal("2.000000", "i1"));
  EXPECT_EQ(number(builder.getI32Type(), 0.5), refusal("0.500000", "i32"));
  EXPECT_EQ(number(builder.getI64Type(), 9223372036854775808.0),
            refusal("9223372036854775808.000000", "i64"));
  EXPECT_EQ(number(IntegerType::get(&context, 8, IntegerType::Unsigned), 1),
            refusal("1.000000", "ui8"));
}

TEST_F(BuilderTest, WrongDeclarations) {
  EXPECT_EQ(faultOf(builder, said,
                    [this](MetricBuilder &metric) {
                      EXPECT_FALSE(metric.capture("w", {0}, f32));
                      metric.init(zero);
                      metric.update(keepAccumulator);
                    }),
            "extent 0 is neither positive nor a symbol");
  said.clear();
  {
    MetricOptions options;
    options.accumulator = {Accumulator::Struct};
    MetricBuilder metric(builder, loc, "fields", options);
    metric.init(zero);
    metric.update(keepAccumulator);
    EXPECT_TRUE(failed(metric.finish()));
  }
  EXPECT_EQ(said, "the builder of @fields is given no accumulator; list the types of its fields, "
                  "one or several");
}

TEST_F(BuilderTest, WhatOnlyTheWholeShows) {
  EXPECT_EQ(faultOf(builder, said, [](MetricBuilder &metric) { metric.update(keepAccumulator); }),
            "'annudf.metric' op [M2] needs exactly one annudf.init, found 0; write one");
  said.clear();
  {
    MetricBuilder metric(builder, loc, "forgotten");
    metric.init(zero);
  }
  EXPECT_EQ(said, "the builder of @forgotten is left before it is done; call finish()");
}

} // namespace
