//===- LinkedTest.cpp - Device functions of somebody else in a hook -------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpp/trace/Run.h"

#include <filesystem>
#include <fstream>
#include <functional>
#include <unistd.h>

namespace annudf::test {
namespace {

using Scaled = linked<float(float, float)>;

linked_code source() { return cuda_source("float \"scaled\""); }

std::string messageOf(const std::function<void()> &call) {
  try {
    call();
  } catch (const std::invalid_argument &error) {
    return std::string("invalid argument: ") + error.what();
  } catch (const std::logic_error &error) {
    return std::string("logic error: ") + error.what();
  } catch (const std::exception &error) {
    return error.what();
  }
  return "nothing was thrown";
}

template <class Hook> std::string withoutPlaces(const Hook &hook) {
  return trace_metric("m", hook, {}, std::source_location());
}

TEST(TraceLinked, WritesTheFunctionOnceAndItsCalls) {
  const std::source_location nowhere;
  const Scaled scaled("scaled",
                      {source(), ltoir("\xED"
                                       "CN\x7F")},
                      {}, nowhere);
  const linked<double(std::uint32_t, long, int)> count("count", {ptx(".version")},
                                                       {.convention = convention::numba}, nowhere);
  const std::string text =
      trace_metric("m",
                   hooks{.initial = 0.0,
                         .update =
                             [=](auto x, auto y, auto acc) {
                               auto both = scaled(x, y, std::source_location());
                               return acc + both;
                             },
                         .finalize =
                             [=](auto acc, auto ctx) {
                               auto again = scaled(acc, 2, std::source_location());
                               return again + count(7, ctx.list, true, std::source_location());
                             }},
                   {}, nowhere);
  std::string plain;
  for (std::size_t from = 0; from < text.size();) { // Operators have a place.
    const std::size_t end = text.find('\n', from);
    const std::string line = text.substr(from, end - from);
    plain += line.substr(0, line.find(" loc(")) + '\n';
    from = end + 1;
  }
  EXPECT_EQ(plain, R"(annudf.extern @scaled convention(c) (f32, f32) -> f32
  link(cuda_source "float \22scaled\22", ltoir "\EDCN\7F")
annudf.extern @count convention(numba) (ui32, i64, i32) -> f64
  link(ptx ".version")
annudf.metric @m order(min) coarse(l2) elements(f32, f16, i8, u8, bf16, bits) {
  annudf.init {
    %0 = arith.constant 0.0 : f64
    annudf.yield %0 : f64
  }
  annudf.update (%acc: f64, %x: f32, %y: f32) {
    %0 = annudf.call @scaled(%x, %y) : (f32, f32) -> f32
    %1 = arith.extf %0 : f32 to f64
    %2 = arith.addf %acc, %1 : f64
    annudf.yield %2 : f64
  }
  annudf.finalize (%acc: f64) {
    %0 = arith.truncf %acc : f64 to f32
    %1 = arith.constant 2.0 : f32
    %2 = annudf.call @scaled(%0, %1) : (f32, f32) -> f32
    %3 = arith.constant 7 : i32
    %list.index = annudf.index list
    %4 = arith.index_cast %list.index : index to i64
    %5 = arith.constant 1 : i32
    %6 = annudf.call @count(%3, %4, %5) : (i32, i64, i32) -> f64
    %7 = arith.extf %2 : f32 to f64
    %8 = arith.addf %7, %6 : f64
    %9 = arith.truncf %8 : f64 to f32
    annudf.yield %9 : f32
  }
}
)");
}

TEST(TraceLinked, OfPlainArgumentsAloneIsAskedForWithCtx) {
  const Scaled scaled("scaled", {source()});
  const linked<float()> half("half", {source()});
  const std::string text =
      withoutPlaces([=, h = capture<float>("h")](auto, auto, auto acc, auto ctx) {
        auto a = ctx(scaled)(1, h);
        auto b = ctx(half)();
        return acc + a + b;
      });
  EXPECT_NE(text.find("annudf.call @scaled("), std::string::npos) << text;
  EXPECT_NE(text.find("annudf.call @half() : () -> f32"), std::string::npos) << text;
  EXPECT_EQ(messageOf([&] {
              (void)withoutPlaces([=](auto, auto, auto acc) { return acc + scaled(1.0F, 2.0F); });
            }),
            "logic error: linked function 'scaled' is called with plain numbers alone where a "
            "metric is made; write ctx(scaled)(...)");
}

TEST(TraceLinked, InAFilter) {
  const linked<std::int32_t(std::int64_t)> kept("kept", {source()});
  const std::string text = trace_filter("f", [=](auto ctx) { return kept(ctx.row) != 0; });
  EXPECT_EQ(text.find("annudf.extern @kept convention(c) (i64) -> i32"), 0U) << text;
  EXPECT_NE(text.find("annudf.call @kept("), std::string::npos) << text;
}

TEST(TraceLinked, OnPlainNumbers) {
  const Scaled scaled("scaled", {source()},
                      {.on_plain_numbers = [](float x, float y) { return 2 * (x - y); }});
  const linked<float()> half("half", {source()}, {.on_plain_numbers = [] { return 0.5F; }});
  const auto hook = [=, h = capture<float>("h")](auto x, auto y, auto acc, auto ctx) {
    return acc + scaled(x, y) * ctx(half)() + scaled(h, 0);
  };
  const plain::values h("h", 3.0F);
  const std::vector<float> x = {5, 7};
  const std::vector<float> y = {1, 2};
  EXPECT_EQ(plain::distance(hook, x, y), 4 + 5 + 2 * 6);
  EXPECT_EQ(scaled(3, 1), 4);

  const Scaled bare("bare", {source()});
  EXPECT_EQ(
      messageOf([&] {
        (void)plain::distance([=](auto a, auto b, auto acc) { return acc + bare(a, b); }, x, y);
      }),
      "logic error: linked function 'bare' is code for GPUs and computes nothing on plain numbers; "
      "give it {.on_plain_numbers = [](...) { ... }} for a unit test");
}

TEST(TraceLinked, TwoOfOneName) {
  const auto traced = [](const auto &one, const auto &other) {
    return messageOf([&] {
      (void)trace_metric("m", [=](auto x, auto y, auto acc) { return acc + one(x) + other(y); });
    });
  };
  const linked<float(float)> f("f", {source()});
  EXPECT_EQ(traced(f, linked<float(float)>("f", {source()})), "nothing was thrown");
  const std::string first = "invalid argument: linked function 'f' is declared ";
  const std::string last = "; a linker knows it by its name, so give one of them another";
  EXPECT_EQ(traced(f, linked<float(double)>("f", {source()})),
            first + "as convention(c) (f32) -> f32 and as convention(c) (f64) -> f32" + last);
  EXPECT_EQ(traced(f, linked<float(float)>("f", {source()}, {.convention = convention::numba})),
            first + "as convention(c) (f32) -> f32 and as convention(numba) (f32) -> f32" + last);
  EXPECT_EQ(traced(f, linked<float(float)>("f", {ptx("float \"scaled\"")})),
            first + "with different code" + last);
  EXPECT_EQ(traced(f, linked<float(float)>("m", {source()})),
            "invalid argument: a linked function and the metric that calls it are both called 'm'; "
            "give the metric another name");
}

TEST(TraceLinked, RefusesNamesAndNoCode) {
  EXPECT_EQ(messageOf([] { (void)Scaled("a b", {source()}); }),
            "invalid argument: the name of a linked function is 'a b'; use letters, digits and _, "
            "not beginning with a digit");
  EXPECT_EQ(messageOf([] { (void)Scaled(std::string(511, 'a'), {source()}); }),
            "invalid argument: the name of a linked function has 511 bytes, more than 510; shorten "
            "it: '" +
                std::string(511, 'a') + "'");
  EXPECT_EQ(messageOf([] { (void)Scaled("f", {}); }),
            "invalid argument: linked function 'f' has no code; give at least one piece, as "
            "annudf::cuda_source(\"...\")");
}

TEST(TraceLinked, Files) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("annudf-linked-" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  const auto at = [&](const char *name) { return (folder / name).string(); };
  const std::string bytes("a\0b\xff\n", 5);
  for (const char *name : {"f.cu", "f.ptx", "f.ltoir", "f.cubin"})
    std::ofstream(at(name), std::ios::binary) << bytes;
  EXPECT_EQ(linked_file(at("f.cu")), cuda_source(bytes));
  EXPECT_EQ(linked_file(at("f.ptx")), ptx(bytes));
  EXPECT_EQ(linked_file(at("f.ltoir")), ltoir(bytes.data(), bytes.size()));
  EXPECT_EQ(linked_file(at("f.cubin")), cubin(bytes.data(), bytes.size()));
  EXPECT_EQ(
      messageOf([&] { (void)linked_file("f.o"); }),
      "invalid argument: the code to link is 'f.o'; give a file whose name ends in .cu, .ptx, "
      ".ltoir or .cubin");
  EXPECT_EQ(messageOf([&] { (void)linked_file(at("none.cu")); }),
            "cannot read '" + at("none.cu") + "': No such file or directory");
  std::filesystem::create_directory(folder / "folder.ptx");
  EXPECT_EQ(messageOf([&] { (void)linked_file(at("folder.ptx")); }),
            "cannot read '" + at("folder.ptx") + "': Is a directory");
  std::filesystem::remove_all(folder);
}

TEST(TraceLinked, PlacesAreTheUsers) {
  const auto refusal = [](const std::string &text) {
    OwnedArtifact artifact;
    const std::string all = compileTraced(text, &artifact);
    return all.substr(0, all.find('\n'));
  };
  const std::string file = __FILE__;
#line 3000
  const linked<float(float)> reserved("annudf_f", {source()});
  const linked<float(float)> noLtoIr("f", {ltoir("abc")});
#line 3050
  const auto calls = [](const auto &function) {
    return trace_metric("m", [=](auto x, auto, auto acc) { return acc + function(x); });
  };
  const std::string name = refusal(calls(reserved));
  EXPECT_EQ(name.substr(0, (file + ":3000: ").size()), file + ":3000: ") << name;
  EXPECT_NE(name.find("[E8] has a name that is no C identifier or is reserved"), std::string::npos);
  const std::string kind = refusal(calls(noLtoIr));
  EXPECT_EQ(kind.substr(0, (file + ":3001: ").size()), file + ":3001: ") << kind;
  EXPECT_NE(kind.find("[E5] links 3 bytes that are not ltoir"), std::string::npos);
}

} // namespace
} // namespace annudf::test
