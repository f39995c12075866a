//===- PlaceTest.cpp - Refusals at the user's line ------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpp/trace/Run.h"

#include <functional>
#include <thread>

namespace annudf::test {
namespace {

/// The first message of the compiler, "file:line: ".
std::string refusal(const std::string &text) {
  OwnedArtifact artifact;
  const std::string all = compileTraced(text, &artifact);
  return all.substr(0, all.find('\n'));
}

std::string at(int line) { return std::string(__FILE__) + ':' + std::to_string(line) + ": "; }

TEST(TracePlaces, OfARuleThatIsBroken) {
  const std::string outside =
      trace_metric("m", [w = capture<float>("w", dim)](auto x, auto y, auto acc, auto ctx) {
        auto d = x - y;
#line 900
        auto weight = w[ctx.dim + 1]; // Past the last.
        return acc + weight * d;
      });
  EXPECT_EQ(refusal(outside).substr(0, at(900).size()), at(900)) << refusal(outside);
  EXPECT_NE(refusal(outside).find("[L3]"), std::string::npos);

  const std::string divides = trace_metric(
      "m",
      hooks{.compute = annudf::compute<int>, .initial = 0, .update = [](auto x, auto y, auto acc) {
              return acc +
#line 1000
                     x / y;
            }});
  EXPECT_EQ(refusal(divides).substr(0, at(1000).size()), at(1000)) << refusal(divides);
  EXPECT_NE(refusal(divides).find("[B4]"), std::string::npos);

  const std::string shifts = trace_metric(
      "m",
      hooks{.compute = annudf::compute<int>, .initial = 0, .update = [](auto x, auto y, auto acc) {
#line 1100
              acc += 1 << y;
              return acc + x;
            }});
  EXPECT_EQ(refusal(shifts).substr(0, at(1100).size()), at(1100)) << refusal(shifts);
  EXPECT_NE(refusal(shifts).find("[B6]"), std::string::npos);

  const std::string dimension =
      trace_metric("m", hooks{.update = [](auto x, auto y, auto acc) { return acc + x * y; },
                              .finalize =
                                  [](auto acc, auto ctx) {
#line 1200
                                    return acc + ctx.dim;
                                  }});
  EXPECT_EQ(refusal(dimension).substr(0, at(1200).size()), at(1200)) << refusal(dimension);
  EXPECT_NE(refusal(dimension).find("[H8]"), std::string::npos);

  const std::string coordinate = trace_filter("f", [](auto ctx) {
#line 1300
    return ctx.dim == 3;
  });
  EXPECT_EQ(refusal(coordinate).substr(0, at(1300).size()), at(1300)) << refusal(coordinate);
  EXPECT_NE(refusal(coordinate).find("[K7]"), std::string::npos);
}

template <class Update> std::string ofIntegers(Update update) {
  return trace_metric("m", hooks{.compute = annudf::compute<int>, .initial = 0, .update = update});
}

// The dialect's amount has the type of what is shifted, and B6 sees what is left of a wider one.
TEST(TracePlaces, OfAnAmountThatDoesNotFit) {
  std::string message;
  try {
    ofIntegers([](auto x, auto y, auto acc) {
#line 1400
      return acc + (x << 4294967299LL) + y;
    });
  } catch (const std::invalid_argument &error) {
    message = error.what();
  }
  EXPECT_EQ(message, at(1400) + "int32_t is shifted by 4294967299, and has 32 bits; shift by 0 "
                                "to 31");

  const std::string one = ofIntegers([](auto x, auto y, auto acc, auto ctx) {
#line 1500
    return acc + (x << ((ctx.dims & 3) + 4294967296LL)) + y;
  });
  EXPECT_EQ(refusal(one).substr(0, at(1500).size()), at(1500)) << refusal(one);
  EXPECT_NE(refusal(one).find("[B6]"), std::string::npos) << refusal(one);

  // Those that fit are B6's to judge.
  const std::string wide = ofIntegers([](auto x, auto y, auto acc) {
#line 1600
    return acc + (x >> 35LL) + y;
  });
  EXPECT_NE(refusal(wide).find("[B6]"), std::string::npos) << refusal(wide);
  EXPECT_NE(refusal(wide).find("the amount is 35"), std::string::npos) << refusal(wide);
  EXPECT_EQ(refusal(ofIntegers([](auto x, auto y, auto acc, auto ctx) {
              return acc + (x << 3LL) + (y >> (ctx.dim & 31));
            })),
            "");
}

TEST(TracePlaces, OfAFileWithAnyName) {
  const std::string text = trace_metric(
      "m",
      hooks{.compute = annudf::compute<int>, .initial = 0, .update = [](auto x, auto y, auto acc) {
              return acc +
#line 7 "a \"quoted\" \\näme.cpp"
                     x % y;
            }});
#line 2000 "PlaceTest.cpp"
  OwnedArtifact artifact;
  OwnedDiagnostics diagnostics;
  annudf_compile_options options = {};
  options.size = sizeof options;
  options.skip_lto_ir = 1;
  ASSERT_NE(annudf_compile(text.data(), text.size(), "traced", &options, &artifact, &diagnostics),
            ANNUDF_OK);
  ASSERT_GT(annudf_diagnostics_count(diagnostics), 0U);
  EXPECT_EQ(diagnosticAt(diagnostics, 0).file, std::string("a \"quoted\" \\näme.cpp")) << text;
  EXPECT_EQ(diagnosticAt(diagnostics, 0).line, 7);
}

TEST(TracePlaces, StandOnEveryOp) {
  const std::string text = trace_metric("m", [](auto x, auto y, auto acc) {
    auto apart = x != y && !(x == 2);
    return acc + annudf::select(apart, x * y, -x);
  });
  size_t ops = 0;
  size_t from = 0;
  for (size_t end; (end = text.find('\n', from)) != std::string::npos; from = end + 1) {
    const std::string line = text.substr(from, end - from);
    if (line.find(" = ") == std::string::npos && line.find("yield") == std::string::npos)
      continue;
    ++ops;
    EXPECT_NE(line.find(" loc(\"PlaceTest.cpp\":20"), std::string::npos) << line;
  }
  EXPECT_GT(ops, 8U);
}

std::string messageOf(const std::function<void()> &call) {
  try {
    call();
  } catch (const std::exception &error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(TraceMisuse, IsSaidAtRunTime) {
  const auto sum = [](auto x, auto y, auto acc) { return acc + x * y; };
  value<float> kept;
  (void)trace_metric("m", [&](auto x, auto y, auto acc) {
    kept = x;
    return acc + x * y;
  });
  EXPECT_EQ(
      messageOf([&] { (void)(kept + 1); }),
      "a value of a metric's function is used after the function returned; keep plain numbers "
      "instead");
  EXPECT_EQ(messageOf([&] {
              (void)trace_metric("m", [&](auto x, auto y, auto acc) { return acc + x * y * kept; });
            }),
            "a value of one function of a metric is used in another; pass it on as a field of the "
            "accumulator");
  EXPECT_EQ(messageOf([&] {
              (void)trace_metric("m", [&](auto x, auto y, auto acc) {
                (void)trace_metric("inner", sum);
                return acc + x * y;
              });
            }),
            "a metric is made in the function of another metric; make it before, or call its "
            "function");
  const auto two = [a = capture<float>("w", dim),
                    b = capture<float>("w", row)](auto x, auto y, auto acc, auto ctx) {
    return acc + a[ctx.dim] * x + b[ctx.row] * y;
  };
  EXPECT_EQ(messageOf([&] { (void)trace_metric("m", two); }),
            "capture 'w' is declared as dim x f32 and as row x f32; give one of them another name");
  EXPECT_EQ(messageOf([&] {
              (void)trace_metric("m", [h = capture<float>("h")](auto x, auto, auto acc) {
                return acc + x * (h * 2.0F);
              });
            }),
            "capture 'h' is read as a plain number where a metric is made; write ctx(h)");
  EXPECT_EQ(messageOf([&] {
              (void)trace_metric("m", [](auto x, auto, auto acc) {
                if (tracing::recorder::is_running())
                  throw std::runtime_error("of the user");
                return acc + x;
              });
            }),
            "of the user");
  // Nothing of these stays: the next trace is as any other.
  EXPECT_EQ(trace_metric("m", sum, {}, std::source_location()),
            trace_metric("m", sum, {}, std::source_location()));
  EXPECT_EQ(messageOf([&] { (void)capture<float>("w", 0); }),
            "an extent of a capture is 0; give a positive number, annudf::dim, annudf::row or "
            "annudf::query");
}

TEST(TraceMisuse, OfPlainValuesIsSaid) {
  const auto w = capture<float>("w", dim);
  EXPECT_EQ(messageOf([&] { (void)float(w[0]); }),
            "capture 'w' has no values on plain numbers; make an annudf::plain::values of that "
            "name first");
  const plain::values<double> wrong("w", {1.0});
  EXPECT_EQ(
      messageOf([&] { (void)float(w[0]); }),
      "capture 'w' is read as float, but its values are double; give values of the declared type");
  const plain::values right("w", {1.0F, 2.0F});
  EXPECT_EQ(float(w[1]), 2.0F);
  EXPECT_EQ(messageOf([&] { (void)float(w[2]); }),
            "capture 'w' is read at index 2 of 2 entries; give more, or read within them");
  EXPECT_EQ(messageOf([&] {
              (void)plain::distance([](auto x, auto, auto acc) { return acc + x; },
                                    std::vector<float>(2), std::vector<float>(3));
            }),
            "x has 2 dimensions and y has 3; give them the same");
}

TEST(TraceThreads, TraceAtOnce) {
  const auto hook = [w = capture<float>("w", dim)](auto x, auto y, auto acc, auto ctx) {
    return acc + w[ctx.dim] * x * y;
  };
  const std::string expected = trace_metric("m", hook, {}, std::source_location());
  std::vector<std::string> texts(8);
  std::vector<std::thread> threads;
  threads.reserve(texts.size());
  for (std::string &text : texts)
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i)
        text = trace_metric("m", hook, {}, std::source_location());
    });
  for (std::thread &one : threads)
    one.join();
  for (const std::string &text : texts)
    EXPECT_EQ(text, expected);
}

} // namespace
} // namespace annudf::test
