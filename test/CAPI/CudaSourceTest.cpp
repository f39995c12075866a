//===- CudaSourceTest.cpp - CUDA C++ through the C API --------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CApi.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <thread>

using namespace annudf::test;

namespace {

using Options = annudf_cuda_source_options;

/// For one architecture, which is quick.
Options optionsFor(const char *const *arch) {
  Options options = {};
  options.size = sizeof options;
  options.archs = arch;
  options.arch_count = 1;
  return options;
}

const char *const kSm90[] = {"sm_90"};

struct Outcome {
  std::string text; ///< As outcome() gives it.
  OwnedArtifact artifact;
  OwnedDiagnostics diagnostics;
};

void compile(const std::string &source, Outcome &result,
             const std::function<void(Options &)> &change = {}) {
  Options options = optionsFor(kSm90);
  if (change)
    change(options);
  result.text = outcome(annudf_compile_cuda_source(
      source.data(), source.size(), "user.cu", &options, &result.artifact, &result.diagnostics));
}

std::string messageOf(const std::string &source,
                      const std::function<void(Options &)> &change = {}) {
  Outcome result;
  compile(source, result, change);
  return result.text;
}

std::string manifestOf(const Outcome &result) {
  OwnedBuffer json;
  EXPECT_EQ(outcome(annudf_artifact_manifest(result.artifact, &json)), "ok");
  return textOf(json);
}

const char *const kUpdate = "float update(float acc, float x, float y) {\n"
                            "  return acc + (x - y) * (x - y);\n"
                            "}\n";

/// In the form that cuVS takes, with what it provides.
const char *const kPeerPoints =
    "template <typename T, typename AccT, int Veclen>\n"
    "__device__ __forceinline__ void compute_dist_udf_impl(\n"
    "    AccT &acc, point<T, AccT, Veclen> x, point<T, AccT, Veclen> y) {\n"
    "  static_assert(!x.is_packed() && x.size() == 1);\n"
    "  if constexpr (std::is_same_v<T, int8_t>)\n"
    "    acc += abs_diff(x, y) + static_cast<AccT>(x[0]);\n"
    "  else\n"
    "    acc += squared_diff(x, y) + dot_product(x, y) + product(x, y) + sum(x, y) +\n"
    "           max_elem(x, y) - x.raw();\n"
    "}\n";

/// In the form of the text that cuVS's macro makes: it brings all that it needs.
const char *const kPeerWhole = R"(
using int8_t = signed char;
using uint8_t = unsigned char;
namespace std {
template <typename T, typename U> struct is_same { static constexpr bool value = false; };
template <typename T> struct is_same<T, T> { static constexpr bool value = true; };
template <typename T, typename U> inline constexpr bool is_same_v = is_same<T, U>::value;
}
template <typename T, typename AccT, int Veclen>
struct point {
  AccT data_;
  explicit point(AccT d) : data_(d) {}
  AccT raw() const { return data_; }
};
template <typename T, typename AccT, int V>
__device__ AccT squared_diff(point<T, AccT, V> x, point<T, AccT, V> y) {
  auto d = x.raw() - y.raw();
  return d * d;
}
template <typename T, typename AccT, int Veclen>
struct interface {
  virtual __device__ void operator()(AccT &acc, point<T, AccT, Veclen>, point<T, AccT, Veclen>) = 0;
};
template <typename T, typename AccT, int Veclen>
struct mine : interface<T, AccT, Veclen> {
  using P = point<T, AccT, Veclen>;
  __device__ void operator()(AccT &acc, P x, P y) override { acc += squared_diff(x, y); }
};
namespace cuvs::neighbors::ivf_flat::detail {
template <typename T, typename AccT, int Veclen>
__device__ __forceinline__ void compute_dist_udf_impl(AccT &acc, AccT x, AccT y) {
  ::mine<T, AccT, Veclen> metric;
  metric(acc, ::point<T, AccT, Veclen>(x), ::point<T, AccT, Veclen>(y));
}
}
)";

class CApiCudaSource : public testing::Test {
protected:
  void SetUp() override {
    OwnedBuffer found;
    if (annudf_describe_cuda_compiler(ANNUDF_CUDA_NVRTC, &found) != ANNUDF_OK)
      GTEST_SKIP() << annudf_last_error();
  }
};

TEST_F(CApiCudaSource, ArtifactSaysWhatItIs) {
  Outcome result;
  compile(std::string("// A comment with update( in it.\n") + kUpdate, result,
          [](Options &options) {
            options.name = "mine";
            options.order = "max";
            options.coarse = "inner_product";
          });
  ASSERT_EQ(result.text, "ok");
  EXPECT_FALSE(annudf_artifact_get(result.artifact)->verified_rules);
  EXPECT_FALSE(annudf_artifact_get(result.artifact)->has_host_code);
  EXPECT_STREQ(annudf_artifact_get(result.artifact)->name, "mine");
  ASSERT_EQ(annudf_artifact_get(result.artifact)->arch_count, 1u);
  EXPECT_STREQ(annudf_artifact_get(result.artifact)->archs[0], "sm_90");
  EXPECT_EQ(annudf_diagnostics_count(result.diagnostics), 0u);
  const std::string manifest = manifestOf(result);
  for (const char *field :
       {"\"numerics\": \"strict\"", "\"order\": \"max\"", "\"coarse_order\": \"max\"",
        "\"line\": 2", "\"file\": \"user.cu\"", "\"features\": 0", "\"producer\": \"nvrtc\""})
    EXPECT_TRUE(contains(manifest, field)) << field << manifest;
}

TEST_F(CApiCudaSource, ASourceThatTakesTheContextMayReadTheList) {
  Outcome own, peer;
  compile(kUpdate, own);
  ASSERT_EQ(own.text, "ok");
  EXPECT_TRUE(contains(manifestOf(own), "\"reads_list\": true"));
  compile(kPeerPoints, peer);
  ASSERT_EQ(peer.text, "ok");
  EXPECT_FALSE(contains(manifestOf(peer), "reads_list"));
}

TEST_F(CApiCudaSource, EveryArchitecture) {
  OwnedArtifact artifact;
  ASSERT_EQ(outcome(annudf_compile_cuda_source(kUpdate, strlen(kUpdate), "user.cu", nullptr,
                                               &artifact, nullptr)),
            "ok");
  EXPECT_EQ(annudf_artifact_get(artifact)->arch_count, annudf_supported_archs(nullptr, 0));
}

TEST_F(CApiCudaSource, CapturesAndFinalize) {
  const char *const dim[] = {"dim"};
  const annudf_cuda_capture captures[] = {
      {"w", "f32", dim, 1}, {"p", "f64", nullptr, 0}, {"n", "u32", dim, 1}};
  Outcome result;
  compile("float update(float acc, float x, float y, const annudf_context &ctx) {\n"
          "  return acc + ctx.w[ctx.dim] * x * y + float(ctx.p) * ctx.n[ctx.dim] / ctx.dims;\n"
          "}\n"
          "float finalize(float acc, const annudf_context &ctx) { return acc * ctx.row; }\n",
          result, [&](Options &options) {
            options.captures = captures;
            options.capture_count = 3;
          });
  ASSERT_EQ(result.text, "ok");
  const std::string manifest = manifestOf(result);
  EXPECT_TRUE(contains(manifest, "\"features\": 3")) << manifest;
  EXPECT_TRUE(contains(manifest, "\"finalize\"")) << manifest;
}

TEST_F(CApiCudaSource, CapturesOfEveryElement) {
  const char *const dim[] = {"dim"};
  const struct {
    const char *element, *type;
  } elements[] = {{"f32", "float"},    {"f64", "double"},   {"f16", "annudf_f16"},
                  {"i8", "int8_t"},    {"u8", "uint8_t"},   {"bf16", "annudf_bf16"},
                  {"i16", "int16_t"},  {"u16", "uint16_t"}, {"i32", "int32_t"},
                  {"u32", "uint32_t"}, {"i64", "int64_t"},  {"u64", "uint64_t"},
                  {"i1", "bool"}};
  for (const auto &[element, type] : elements) {
    const annudf_cuda_capture captures[] = {{"w", element, dim, 1}, {"p", element, nullptr, 0}};
    Outcome result;
    compile("float update(float acc, float x, float y, const annudf_context &ctx) {\n"
            "  const " +
                std::string(type) +
                " w = ctx.w[ctx.dim], p = ctx.p;\n"
                "  return acc + static_cast<float>(w) * x + static_cast<float>(p) * y;\n}\n",
            result, [&](Options &options) {
              options.captures = captures;
              options.capture_count = 2;
            });
    EXPECT_EQ(result.text, "ok") << element;
  }
}

TEST_F(CApiCudaSource, Accumulators) {
  EXPECT_EQ(messageOf("double update(double acc, double x, double y) { return acc + x * y; }\n"
                      "float finalize(double acc) { return sqrt(acc); }",
                      [](Options &options) { options.accumulator = "f64"; }),
            "ok");
  Outcome result;
  compile("unsigned update(unsigned acc, int x, int y) { return acc + __popc(x ^ y); }", result,
          [](Options &options) { options.accumulator = "u32"; });
  EXPECT_EQ(result.text, "ok");
  EXPECT_TRUE(contains(manifestOf(result), "\"i8\",")) << manifestOf(result);
  EXPECT_FALSE(contains(manifestOf(result), "\"f16\"")) << manifestOf(result);
}

TEST_F(CApiCudaSource, SourcesOfThePeer) {
  const std::string scalars = "namespace cuvs::neighbors::ivf_flat::detail {\n"
                              "template <typename T, typename AccT, int Veclen>\n"
                              "__device__ __forceinline__ void compute_dist_udf_impl(\n"
                              "    AccT& acc, AccT x, AccT y)\n"
                              "{\n  auto d = x - y;\n  acc += d * d;\n}\n}\n";
  EXPECT_EQ(messageOf(scalars), "ok");
  EXPECT_EQ(messageOf(kPeerPoints), "ok");
  EXPECT_EQ(messageOf(kPeerWhole), "ok");
  for (const char *source : {scalars.c_str(), kPeerPoints, kPeerWhole})
    EXPECT_EQ(messageOf(source, [](Options &options) { options.accumulator = "i32"; }), "ok");
}

TEST_F(CApiCudaSource, HeadersOfCuda) {
  EXPECT_EQ(messageOf("#include <cuda_fp16.h>\n"
                      "float update(float acc, float x, float y) {\n"
                      "  return acc + __half2float(__float2half(x * y));\n}"),
            "ok");
  EXPECT_TRUE(contains(messageOf(std::string("#include <none.h>\n") + kUpdate),
                       "compile: user.cu:1:18: cannot open source file \"none.h\""));
}

/// Each links and runs wrongly where only the name is looked at.
TEST_F(CApiCudaSource, WrongSignaturesNameExpectedAndFound) {
  const std::string needed = "compile: user.cu:3: update must be 'float update(float acc, float x, "
                             "float y)', or take a 'const annudf_context &' as well; found is ";
  const std::pair<const char *, const char *> wrong[] = {
      {"double update(double acc, float x, float y) { return acc; }",
       "double (*)(double, float, float)"},
      {"void update(float &acc, float x, float y) { acc += x; }",
       "void (*)(float &, float, float)"},
      {"float update(float acc, float x) { return acc; }", "float (*)(float, float)"},
      {"float update(float acc, double x, double y) { return acc; }",
       "float (*)(float, double, double)"},
      {"float update(float acc, float x, float y, annudf_context ctx) { return acc; }",
       "float (*)(float, float, float, annudf_context)"}};
  for (auto [source, found] : wrong) {
    Outcome result;
    compile(std::string("// one\n/* two */\n") + source, result);
    EXPECT_EQ(result.text, needed + found);
    ASSERT_EQ(annudf_diagnostics_count(result.diagnostics), 1u);
    EXPECT_EQ(diagnosticAt(result.diagnostics, 0).line, 3);
    EXPECT_STREQ(diagnosticAt(result.diagnostics, 0).file, "user.cu");
  }
  EXPECT_TRUE(contains(messageOf(std::string(kUpdate) + "double finalize(float a) { return a; }"),
                       "finalize must be 'float finalize(float acc)', or take a 'const "
                       "annudf_context &' as well; found is double (*)(float)"));
  const char *byValue = "template <typename T, typename AccT, int Veclen>\n"
                        "AccT compute_dist_udf_impl(AccT acc, AccT x, AccT y) { return acc + x; }";
  Outcome result;
  compile(byValue, result);
  EXPECT_TRUE(contains(result.text, "compile: user.cu:2: compute_dist_udf_impl must be "))
      << result.text;
  EXPECT_TRUE(contains(result.text, "; found is float (*)(float, float, float)")) << result.text;
  EXPECT_EQ(annudf_diagnostics_count(result.diagnostics), 1u);
}

TEST_F(CApiCudaSource, ErrorsAreAtTheSourcesLines) {
  Outcome result;
  compile("float update(float acc, float x, float y) {\n"
          "\n"
          "    return acc + no_such_thing * x;\n"
          "}\n",
          result);
  EXPECT_EQ(result.text, "compile: user.cu:3:18: identifier \"no_such_thing\" is undefined");
  ASSERT_EQ(annudf_diagnostics_count(result.diagnostics), 1u);
  annudf_diagnostic found = diagnosticAt(result.diagnostics, 0);
  EXPECT_EQ(found.severity, ANNUDF_SEVERITY_ERROR);
  EXPECT_EQ(found.line, 3);
  EXPECT_EQ(found.column, 18);
  compile("float update(float acc, float x, float y) {\n"
          "  int unused;\n  return acc;\n}\n",
          result);
  EXPECT_EQ(result.text, "ok");
  ASSERT_EQ(annudf_diagnostics_count(result.diagnostics), 1u);
  found = diagnosticAt(result.diagnostics, 0);
  EXPECT_EQ(found.severity, ANNUDF_SEVERITY_WARNING);
  EXPECT_EQ(found.line, 2);
  EXPECT_EQ(found.column, 7);
}

/// The generated text stands right behind the source.
TEST_F(CApiCudaSource, SourcesThatDoNotEnd) {
  const std::string line = "float update(float acc, float x, float y) { return acc; }\n";
  EXPECT_EQ(messageOf("// first\nfloat update(float acc, float x, float y) {\n  return acc;\n"),
            "compile: user.cu:2: this '{' is not closed");
  EXPECT_EQ(messageOf(line + "}\n"), "compile: user.cu:2:1: expected a declaration");
  EXPECT_EQ(messageOf(line + "/* open"), "compile: user.cu:2:1: comment unclosed at end of file");
  EXPECT_TRUE(contains(messageOf(line + "#if 1\n"), "compile: user.cu:2:2: "));
  EXPECT_EQ(messageOf(line + "// ends in \\"), "ok");
}

TEST_F(CApiCudaSource, WhatAScanCannotCallIsRefused) {
  EXPECT_TRUE(contains(messageOf("extern float elsewhere(float);\n"
                                 "float update(float acc, float x, float y) {\n"
                                 "  return elsewhere(acc);\n}"),
                       "compile: user.cu: the compiled metric calls '_Z9elsewheref', which a "
                       "hook may not call"));
  EXPECT_EQ(messageOf("float distance(float a) { return a; }"),
            "compile: user.cu: defines neither `update` nor `compute_dist_udf_impl`; write `float "
            "update(float acc, float x, float y)`");
  EXPECT_TRUE(contains(messageOf(""), "compile: user.cu: defines neither"));
}

TEST_F(CApiCudaSource, OptionsThatContradict) {
  auto with = [](const std::function<void(Options &)> &change) {
    return messageOf(kUpdate, change);
  };
  EXPECT_EQ(with([](Options &o) { o.order = "least"; }),
            "usage: annudf_compile_cuda_source: order is 'least', it must be one of min, max");
  EXPECT_EQ(with([](Options &o) { o.coarse = "l1"; }),
            "usage: annudf_compile_cuda_source: coarse is 'l1', it must be one of l2, "
            "inner_product, cosine");
  EXPECT_EQ(with([](Options &o) { o.name = "two words"; }),
            "usage: CUDA source: name 'two words' is no C identifier");
  EXPECT_EQ(
      with([](Options &o) { o.compute_type = "f16"; }),
      "usage: annudf_compile_cuda_source: the type of coordinates is 'f16', it must be one of f32, "
      "f64, i32");
  EXPECT_EQ(messageOf(kPeerPoints, [](Options &o) { o.compute_type = "i32"; }),
            "usage: CUDA source: coordinates of type i32: compute_dist_udf_impl takes them in "
            "the accumulator's type, f32; leave their type out");
  EXPECT_EQ(with([](Options &o) { o.initial = std::nan(""); }),
            "usage: CUDA source: initial is NaN, so every distance would be NaN; give a number");
  EXPECT_EQ(with([](Options &o) {
              o.accumulator = "u32";
              o.initial = -1;
            }),
            "usage: CUDA source: initial is -1.000000, which accumulator u32 cannot hold");
  const char *elements[] = {"i8", "f32"};
  EXPECT_EQ(with([&](Options &o) {
              o.accumulator = "i32";
              o.elements = elements;
              o.element_count = 2;
            }),
            "usage: CUDA source: coordinates of type i32 cannot hold element type f32; list only "
            "i8, u8 and bits, or accumulate in f32");
  elements[1] = "i8";
  EXPECT_EQ(with([&](Options &o) {
              o.elements = elements;
              o.element_count = 2;
            }),
            "usage: CUDA source: element type i8 is listed twice");
  const char *const dim[] = {"dim"}, *const row[] = {"row"}, *const half[] = {"0.5"},
                    *const sixteen[] = {"16", "dim"};
  annudf_cuda_capture capture = {"dim", "f32", dim, 1};
  auto withCapture = [&](Options &o) {
    o.captures = &capture;
    o.capture_count = 1;
  };
  EXPECT_TRUE(contains(with(withCapture), "has the name of a member of annudf_context"));
  capture = {"a-b", "f32", dim, 1};
  EXPECT_EQ(with(withCapture),
            "usage: CUDA source: capture 'a-b' is no name for a member in C++; rename it");
  capture = {"float", "f32", dim, 1};
  EXPECT_EQ(with(withCapture),
            "usage: CUDA source: capture 'float' is no name for a member in C++; rename it");
  capture = {"w", "tf32", dim, 1};
  EXPECT_EQ(with(withCapture), "usage: annudf_compile_cuda_source: capture 'w' element is 'tf32', "
                               "it must be one of f32, f64, i32, u32, f16, bf16, i8, u8, i16, u16, "
                               "i64, u64, i1");
  capture = {"w", nullptr, dim, 1};
  EXPECT_EQ(with(withCapture), "usage: annudf_compile_cuda_source: captures[0].element is NULL");
  capture = {"w", "f32", row, 1};
  EXPECT_EQ(with(withCapture), "usage: CUDA source: capture 'w' is declared row x f32; declare a "
                               "scalar or an array with the one extent dim");
  capture = {"w", "f32", sixteen, 2};
  EXPECT_EQ(with(withCapture),
            "usage: CUDA source: capture 'w' is declared 16 x dim x f32; declare "
            "a scalar or an array with the one extent dim");
  capture = {"w", "f32", half, 1};
  EXPECT_EQ(with(withCapture), "usage: annudf_compile_cuda_source: capture 'w' has extent '0.5'; "
                               "use dim, or no extents for a scalar");
  capture = {"w", "f32", dim, 1};
  EXPECT_TRUE(contains(messageOf(kPeerPoints, withCapture), "has no captures"));
  EXPECT_EQ(with([](Options &o) { o.initial = std::numeric_limits<double>::infinity(); }), "ok");
}

TEST(CApiCudaSourceAlone, MissingLibraryNamesThePlaces) {
  ASSERT_EQ(setenv("ANNUDF_LIBNVRTC", "/nowhere/libnvrtc.so", 1), 0);
  EXPECT_TRUE(contains(messageOf(kUpdate),
                       "environment: NVRTC of CUDA 13 not found; looked at /nowhere/libnvrtc.so"));
  OwnedBuffer text;
  EXPECT_EQ(annudf_describe_cuda_compiler(ANNUDF_CUDA_NVRTC, &text), ANNUDF_ENVIRONMENT);
  unsetenv("ANNUDF_LIBNVRTC");
}

TEST(CApiCudaSourceAlone, NullAndSizesAreRefused) {
  OwnedArtifact artifact;
  Options options = {};
  EXPECT_TRUE(
      contains(outcome(annudf_compile_cuda_source("", 0, "o", &options, &artifact, nullptr)),
               "usage: annudf_cuda_source_options.size is 0, at least "));
  EXPECT_EQ(outcome(annudf_compile_cuda_source(nullptr, 1, "o", nullptr, &artifact, nullptr)),
            "usage: annudf_compile_cuda_source: source is NULL");
  EXPECT_EQ(outcome(annudf_compile_cuda_source("", 0, nullptr, nullptr, &artifact, nullptr)),
            "usage: annudf_compile_cuda_source: origin is NULL");
  EXPECT_EQ(outcome(annudf_compile_cuda_source("", 0, "o", nullptr, nullptr, nullptr)),
            "usage: annudf_compile_cuda_source: artifact is NULL");
  EXPECT_EQ(outcome(annudf_describe_cuda_compiler(ANNUDF_CUDA_NVRTC, nullptr)),
            "usage: annudf_describe_cuda_compiler: text is NULL");
  EXPECT_TRUE(contains(messageOf(std::string("float\0", 6)),
                       "source has a NUL at byte 5; CUDA C++ has none"));
}

TEST_F(CApiCudaSource, ThreadsAtOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([i] {
      const std::string source =
          i % 2 ? kUpdate : "float update(float acc, float x, float y) { return broken; }";
      const std::string expected = i % 2 ? "ok" : "identifier \"broken\" is undefined";
      for (int round = 0; round < 3; ++round)
        EXPECT_TRUE(contains(messageOf(source), expected));
    });
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace
