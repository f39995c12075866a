//===- TextTest.cpp - What the tracer writes ------------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpp/trace/Run.h"

#include <functional>

namespace annudf::test {
namespace {

/// Without places, which are compared elsewhere.
std::string withoutPlaces(const std::string &text) {
  std::string out;
  size_t from = 0;
  for (size_t at; (at = text.find(" loc(", from)) != std::string::npos; from = text.find('\n', at))
    out += text.substr(from, at - from);
  return out + text.substr(from);
}

std::string messageOf(const std::function<void()> &call) {
  try {
    call();
  } catch (const std::exception &error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(TraceText, WritesAMetric) {
  const auto hook = [w = capture<float>("w", dim)](auto x, auto y, auto acc, auto ctx) {
    auto d = x - y;
    auto weighted = w[ctx.dim] * d;
    return acc + weighted * d;
  };
  const std::string text =
      trace_metric("weighted_l2", hook, {.order = order::min, .coarse = coarse::l2});
  EXPECT_EQ(
      withoutPlaces(text),
      R"(annudf.metric @weighted_l2 order(min) coarse(l2) elements(f32, f16, i8, u8, bf16, bits) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %0 = arith.subf %x, %y : f32
    %dim.index = annudf.index dim
    %1 = annudf.load %w[%dim.index] : !annudf.capture<dim x f32>
    %2 = arith.mulf %1, %0 : f32
    %3 = arith.mulf %2, %0 : f32
    %4 = arith.addf %acc, %3 : f32
    annudf.yield %4 : f32
  }
}
)");
  EXPECT_EQ(trace_metric("m", hook, {}, std::source_location()),
            trace_metric("m", hook, {}, std::source_location()));
}

TEST(TraceText, SaysThePolicy) {
  const auto hook = [](auto x, auto y, auto acc) { return acc + x * y; };
  const auto first = [&](const metric_options &options) {
    const std::string text = trace_metric("m", hook, options);
    return text.substr(0, text.find(" {"));
  };
  EXPECT_EQ(first({.order = order::max,
                   .coarse = coarse::inner_product,
                   .coarse_order = order::min,
                   .elements = {element::f16, element::f32},
                   .numerics = numerics::reassociate,
                   .dims = 8,
                   .missing_values = true}),
            "annudf.metric @m order(max) coarse(inner_product min) elements(f32, f16) "
            "numerics(reassociate) dims(8) "
            "missing_values");
  EXPECT_EQ(first({.coarse = coarse::cosine, .elements = element::u8}),
            "annudf.metric @m order(min) coarse(cosine) elements(u8)");
}

/// What is local here is gone when the entry meets what it is combined with.
auto entryOfTable(const char *name, int which) {
  return capture<float>(std::string(name) + "_with_a_name_on_the_heap", 4)[which];
}
auto openedTable(int which) { return capture<float>("q", 4, 2)[which]; }

TEST(TraceText, AnEntryOutlivesItsCapture) {
  const auto text = trace_metric("m", [](auto x, auto y, auto acc) {
    auto a = entryOfTable("plus", 0);
    auto b = entryOfTable("times", 1);
    auto c = openedTable(3);
    return acc + (a * x - b * y) * c[1];
  });
  const std::string heap = "_with_a_name_on_the_heap";
  for (const std::string &line : {"annudf.load %plus" + heap + "[%0] : !annudf.capture<4 x f32>",
                                  "annudf.load %times" + heap + "[%3] : !annudf.capture<4 x f32>",
                                  std::string(": !annudf.capture<4 x 2 x f32>")})
    EXPECT_NE(text.find(line), std::string::npos) << line << " is not in\n" << text;
  EXPECT_NE(text.find("annudf.load %q["), std::string::npos) << text;

  const plain::values values("plus" + heap, {1.0F, 2.0F, 4.0F, 8.0F});
  const auto entry = entryOfTable("plus", 2);
  const float number = entry;
  EXPECT_EQ(number, 4.0F);
}

TEST(TraceText, RefusesNames) {
  const auto hook = [](auto x, auto y, auto acc) { return acc + x * y; };
  EXPECT_EQ(
      messageOf([&] { (void)trace_metric("my metric", hook); }),
      "the name of a metric is 'my metric'; use letters, digits and _, not beginning with a digit");
  EXPECT_EQ(messageOf([&] { (void)trace_metric("", hook); }),
            "the name of a metric is ''; use letters, digits and _, not beginning with a digit");
  EXPECT_EQ(
      messageOf([&] { (void)capture<float>("1st"); }),
      "the name of a capture is '1st'; use letters, digits and _, not beginning with a digit");
}

} // namespace
} // namespace annudf::test
