//===- CompilerTest.cpp - Compiling and lowering through the C API --------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CApi.h"
#include "Support/TestForks.h"

#include <nlohmann/json.hpp>

#include <cstring>
#include <thread>
#include <vector>

using namespace annudf::test;

namespace {

annudf_status compile(const std::string &source, annudf_artifact **artifact,
                      annudf_diagnostics **diagnostics = nullptr,
                      const annudf_compile_options *options = nullptr) {
  return annudf_compile(source.data(), source.size(), "test.mlir", options, artifact, diagnostics);
}

annudf_compile_options hostOnly() {
  annudf_compile_options options = {};
  options.size = sizeof options;
  options.skip_lto_ir = 1;
  return options;
}

TEST(CApiCompiler, LeavesTheFormOut) {
  auto options = hostOnly();
  OwnedArtifact with, without;
  ASSERT_EQ(outcome(compile(kMetric, &with, nullptr, &options)), "ok");
  options.skip_form = 1;
  ASSERT_EQ(outcome(compile(kMetric, &without, nullptr, &options)), "ok");
  OwnedBuffer proved, plain;
  ASSERT_EQ(annudf_artifact_describe(with, "a", &proved), ANNUDF_OK);
  ASSERT_EQ(annudf_artifact_describe(without, "a", &plain), ANNUDF_OK);
  EXPECT_NE(textOf(proved).find("\n  form  "), std::string::npos) << textOf(proved);
  EXPECT_EQ(textOf(plain).find("\n  form  "), std::string::npos) << textOf(plain);
  EXPECT_NE(annudf_artifact_get(with)->contract, annudf_artifact_get(without)->contract);
}

TEST(CApiCompiler, MakesPtxWithoutLibNvvm) {
  annudf_compile_options options = {};
  options.size = sizeof options;
  options.device_backend = "nvptx";
  OwnedArtifact artifact;
  ASSERT_EQ(outcome(compile(kMetric, &artifact, nullptr, &options)), "ok");
  annudf_payload payload = {};
  payload.size = sizeof payload;
  ASSERT_EQ(annudf_artifact_payload(artifact, 0, &payload), ANNUDF_OK);
  EXPECT_EQ(payload.kind, ANNUDF_PAYLOAD_PTX);
  EXPECT_STREQ(payload.target, "sm_75");
  EXPECT_STREQ(payload.producer, "llvm");
  options.device_backend = "gpu";
  EXPECT_EQ(outcome(compile(kMetric, &artifact, nullptr, &options)),
            "usage: annudf_compile: device_backend is 'gpu'; the backends are libnvvm, nvptx");

  annudf_lower_options lower = {};
  lower.size = sizeof lower;
  lower.arch = "sm_90";
  lower.device_backend = "nvptx";
  OwnedBuffer code;
  ASSERT_EQ(outcome(annudf_lower(kMetric.data(), kMetric.size(), "test.mlir", "ptx", &lower, &code,
                                 nullptr)),
            "ok");
  EXPECT_NE(textOf(code).find(".target sm_90"), std::string::npos) << textOf(code);
  EXPECT_EQ(outcome(annudf_lower(kMetric.data(), kMetric.size(), "test.mlir", "ltoir", &lower,
                                 &code, nullptr)),
            "usage: the backend nvptx makes PTX and no LTO-IR");
}

/// The metric with one mistake: it divides integers on line 12.
std::string wrongMetric() {
  std::string text = kMetric;
  text.replace(text.find("annudf.yield %next"), 0,
               "%z = arith.constant 0 : i32\n    %q = arith.divsi %z, %z : i32\n    ");
  return text;
}

TEST(CApiCompiler, DiagnosticsComeInParts) {
  OwnedArtifact artifact;
  OwnedDiagnostics list;
  auto options = hostOnly();
  const std::string message =
      "'arith.divsi' op [B4] may divide by zero, which stops the process "
      "on a CPU: the divisor is 0; divide by what cannot be 0, as max(y, 1), "
      "or in floating point";
  EXPECT_EQ(outcome(compile(wrongMetric(), &artifact, &list, &options)),
            "compile: test.mlir:14:10: " + message);
  EXPECT_EQ(static_cast<annudf_artifact *>(artifact), nullptr);
  ASSERT_EQ(annudf_diagnostics_count(list), 1u);
  annudf_diagnostic found = diagnosticAt(list, 0);
  EXPECT_EQ(found.severity, ANNUDF_SEVERITY_ERROR);
  EXPECT_STREQ(found.rule, "B4");
  EXPECT_STREQ(found.file, "test.mlir");
  EXPECT_EQ(found.line, 14);
  EXPECT_EQ(found.column, 10);
  EXPECT_EQ(found.message, message);
}

TEST(CApiCompiler, BuiltinMetricsAreTextThatCompiles) {
  std::string names;
  size_t count = 0;
  for (; const char *name = annudf_builtin_metric_name(count); ++count) {
    names += std::string(name) + " ";
    const char *text = annudf_builtin_metric(name);
    ASSERT_NE(text, nullptr) << name;
    auto options = hostOnly();
    OwnedArtifact artifact;
    OwnedDiagnostics list;
    ASSERT_EQ(outcome(compile(text, &artifact, &list, &options)), "ok") << name;
    EXPECT_STREQ(annudf_artifact_get(artifact)->name, name);
    EXPECT_EQ(annudf_diagnostics_count(list), 0u) << name;
  }
  EXPECT_EQ(
      names,
      "bitwise_hamming braycurtis canberra chebyshev chi2 correlation cosine dice euclidean "
      "gower hamming haversine hellinger inner_product jaccard jensenshannon kl_divergence l1 "
      "l2 minkowski nan_euclidean rogerstanimoto russellrao seuclidean sokalsneath yule ");
  EXPECT_EQ(annudf_builtin_metric_name(count + 1), nullptr);
  EXPECT_EQ(annudf_builtin_metric("minkowsky"), nullptr);
  EXPECT_EQ(annudf_builtin_metric(""), nullptr);
  EXPECT_EQ(annudf_builtin_metric(nullptr), nullptr);
}

TEST(CApiCompiler, NotesFollowTheirMessage) {
  std::string text = kMetric;
  text.replace(text.find("annudf.yield %next"), 0, "%c = arith.constant 0.0 : f64\n    ");
  text.replace(text.find("%next : f32"), 11, "%c : f64");
  OwnedArtifact artifact;
  OwnedDiagnostics list;
  EXPECT_EQ(compile(text, &artifact, &list), ANNUDF_COMPILE);
  ASSERT_GE(annudf_diagnostics_count(list), 1u);
  EXPECT_STREQ(diagnosticAt(list, 0).rule, "H6");
}

TEST(CApiCompiler, FaultsWithoutARule) {
  OwnedArtifact artifact;
  OwnedDiagnostics list;
  EXPECT_EQ(outcome(compile("", &artifact, &list)),
            "compile: test.mlir: holds no annudf.metric, annudf.filter or annudf.function");
  ASSERT_EQ(annudf_diagnostics_count(list), 1u);
  annudf_diagnostic found = diagnosticAt(list, 0);
  EXPECT_STREQ(found.rule, "");
  EXPECT_STREQ(found.file, "test.mlir");
  EXPECT_STREQ(found.message, "holds no annudf.metric, annudf.filter or annudf.function");
  EXPECT_EQ(found.line, 0);
  EXPECT_EQ(compile("annudf.metric @m ordr(min)", &artifact, &list), ANNUDF_COMPILE);
  EXPECT_EQ(diagnosticAt(list, 0).line, 1);
  EXPECT_GT(diagnosticAt(list, 0).column, 1);
}

TEST(CApiCompiler, MissingLibNvvmIsAWarningUnlessAskedFor) {
  ASSERT_EQ(setenv("ANNUDF_LIBNVVM", "/nowhere/libnvvm.so", 1), 0);
  OwnedArtifact artifact;
  OwnedDiagnostics list;
  OwnedBuffer text;
  EXPECT_EQ(outcome(compile(kMetric, &artifact, &list)), "ok");
  ASSERT_EQ(annudf_diagnostics_count(list), 1u);
  EXPECT_EQ(diagnosticAt(list, 0).severity, ANNUDF_SEVERITY_WARNING);
  EXPECT_TRUE(contains(diagnosticAt(list, 0).message, "/nowhere/libnvvm.so"));
  const char *archs[] = {"sm_90"};
  annudf_compile_options options = {};
  options.size = sizeof options;
  options.archs = archs;
  options.arch_count = 1;
  EXPECT_TRUE(contains(outcome(compile(kMetric, &artifact, &list, &options)),
                       "environment: libNVVM of CUDA 13 not found; looked at /nowhere/"));
  EXPECT_EQ(annudf_diagnostics_count(list), 0u);
  EXPECT_EQ(annudf_describe_cuda_compiler(ANNUDF_CUDA_LIBNVVM, &text), ANNUDF_ENVIRONMENT);
  unsetenv("ANNUDF_LIBNVVM");
}

TEST(CApiCompiler, ArchitecturesOfTheArtifact) {
  std::vector<int32_t> known(annudf_supported_archs(nullptr, 0));
  ASSERT_EQ(annudf_supported_archs(known.data(), known.size()), known.size());
  EXPECT_EQ(known.front(), 75);
  int32_t few[2] = {0, 0};
  EXPECT_EQ(annudf_supported_archs(few, 1), known.size());
  EXPECT_EQ(few[1], 0);
  if (!haveLibNvvm())
    GTEST_SKIP() << "no libNVVM";
  const char *archs[] = {"sm_90", "sm_80", "sm_90"};
  annudf_compile_options options = {};
  options.size = sizeof options;
  options.archs = archs;
  options.arch_count = 3;
  options.skip_host_bitcode = 1;
  OwnedArtifact artifact;
  ASSERT_EQ(outcome(compile(kMetric, &artifact, nullptr, &options)), "ok");
  EXPECT_FALSE(annudf_artifact_get(artifact)->has_host_code);
  ASSERT_EQ(annudf_artifact_get(artifact)->arch_count, 2u);
  EXPECT_STREQ(annudf_artifact_get(artifact)->archs[0], "sm_80");
  EXPECT_STREQ(annudf_artifact_get(artifact)->archs[1], "sm_90");
  OwnedBuffer newer, exact;
  EXPECT_EQ(annudf_artifact_ltoir(artifact, "sm_100", &newer), ANNUDF_OK);
  EXPECT_EQ(annudf_artifact_ltoir(artifact, "sm_90", &exact), ANNUDF_OK);
  EXPECT_EQ(textOf(newer), textOf(exact));
  EXPECT_GT(annudf_buffer_size(exact), 500u);
  EXPECT_TRUE(
      contains(outcome(annudf_artifact_ltoir(artifact, "sm_75", &newer)), "it has sm_80, sm_90"));
  archs[1] = "sm_13";
  EXPECT_TRUE(contains(outcome(compile(kMetric, &artifact, nullptr, &options)),
                       "usage: unknown architecture 'sm_13'"));
}

TEST(CApiCompiler, OptionsReachTheCompiler) {
  auto options = hostOnly();
  options.metric_name = "other";
  OwnedArtifact artifact;
  EXPECT_EQ(outcome(compile(kMetric, &artifact, nullptr, &options)),
            "usage: test.mlir: holds no metric 'other'; there are weighted");
  options.metric_name = "weighted";
  options.inline_captures = "dims=2 values={w = dense<[1.0, 2.0]> : tensor<2xf32>}";
  ASSERT_EQ(outcome(compile(kMetric, &artifact, nullptr, &options)), "ok");
  OwnedBuffer json;
  ASSERT_EQ(annudf_artifact_manifest(artifact, &json), ANNUDF_OK);
  EXPECT_TRUE(contains(textOf(json), "\"captures\": []")) << textOf(json);
  EXPECT_TRUE(contains(textOf(json), "\"dims\": 2")) << textOf(json);
}

/// What a frontend emits: a variable in memory, branches between blocks, a context.
constexpr const char *kFrontendForm = R"(module {
  func.func private @weighted_update(%x: f32, %y: f32, %acc: f32, %ctx: none) -> f32 {
    %slot = memref.alloca() {annudf.variable = "d"} : memref<1xf32>
    %zero = arith.constant 0 : index
    %c = arith.cmpf ogt, %x, %y : f32
    cf.cond_br %c, ^above, ^below
  ^above:
    %0 = arith.subf %x, %y : f32
    memref.store %0, %slot[%zero] : memref<1xf32>
    cf.br ^join
  ^below:
    %1 = arith.subf %y, %x : f32
    memref.store %1, %slot[%zero] : memref<1xf32>
    cf.br ^join
  ^join:
    %d = memref.load %slot[%zero] : memref<1xf32>
    %r = arith.addf %acc, %d : f32
    return %r : f32
  }
  annudf.metric @weighted order(min) coarse(l2) elements(f32) {
    annudf.init {
      %0 = arith.constant 0.0 : f32
      annudf.yield %0 : f32
    }
    annudf.update (%acc: f32, %x: f32, %y: f32) {
      %ctx = builtin.unrealized_conversion_cast to none
      %r = func.call @weighted_update(%x, %y, %acc, %ctx) : (f32, f32, f32, none) -> f32
      annudf.yield %r : f32
    }
  }
}
)";

TEST(CApiCompiler, FrontendFormIsImportedOnlyWhenAskedFor) {
  OwnedArtifact artifact;
  OwnedDiagnostics list;
  auto options = hostOnly();
  EXPECT_EQ(compile(kFrontendForm, &artifact, &list, &options), ANNUDF_COMPILE);
  EXPECT_GE(annudf_diagnostics_count(list), 1u);
  options.import_frontend = 1;
  EXPECT_EQ(outcome(compile(kFrontendForm, &artifact, &list, &options)), "ok");
  EXPECT_STREQ(annudf_artifact_get(artifact)->name, "weighted");
  annudf_lower_options lower = {};
  lower.size = sizeof lower;
  lower.import_frontend = 1;
  OwnedBuffer code;
  ASSERT_EQ(outcome(annudf_lower(kFrontendForm, strlen(kFrontendForm), "test.mlir", "mlir", &lower,
                                 &code, nullptr)),
            "ok");
  EXPECT_TRUE(contains(textOf(code), "scf.if") || contains(textOf(code), "arith.select"))
      << textOf(code);
  EXPECT_FALSE(contains(textOf(code), "memref")) << textOf(code);
}

TEST(CApiCompiler, BytecodeIsRefused) {
  OwnedArtifact artifact;
  EXPECT_EQ(outcome(compile(std::string("ML\xefR\x01garbage", 11), &artifact)),
            "usage: annudf_compile: source is MLIR bytecode; pass the text of the module");
}

TEST(CApiCompiler, SizesOfStructs) {
  OwnedArtifact artifact;
  auto options = hostOnly();
  options.size = 8;
  EXPECT_TRUE(contains(outcome(compile(kMetric, &artifact, nullptr, &options)),
                       "usage: annudf_compile_options.size is 8, at least "));
  options.size = 123456;
  EXPECT_TRUE(contains(outcome(compile(kMetric, &artifact, nullptr, &options)),
                       "usage: annudf_compile_options.size is 123456, more than any version has"));
  // A caller of the future: what he does not use does not matter, what he uses does.
  struct {
    annudf_compile_options known;
    uint64_t newer;
  } future = {hostOnly(), 0};
  future.known.size = sizeof future;
  EXPECT_EQ(outcome(compile(kMetric, &artifact, nullptr, &future.known)), "ok");
  future.newer = 1;
  EXPECT_TRUE(contains(outcome(compile(kMetric, &artifact, nullptr, &future.known)),
                       "usage: annudf_compile_options sets a field that this library"));

  annudf_lower_options lower = {};
  OwnedBuffer code;
  EXPECT_TRUE(contains(outcome(annudf_lower("", 0, "o", "mlir", &lower, &code, nullptr)),
                       "usage: annudf_lower_options.size is 0, at least "));
  OwnedDiagnostics list;
  EXPECT_EQ(compile("", &artifact, &list), ANNUDF_COMPILE);
  annudf_diagnostic found = {};
  EXPECT_TRUE(contains(outcome(annudf_diagnostics_get(list, 0, &found)),
                       "annudf_diagnostic.size is 0, at least "));
  EXPECT_EQ(outcome(annudf_diagnostics_get(list, 1, &found)),
            "usage: annudf_diagnostics_get: index is 1, there are 1 diagnostics; count from 0");
}

TEST(CApiCompiler, NullIsRefused) {
  OwnedArtifact artifact;
  OwnedBuffer code;
  OwnedDiagnostics list;
  annudf_diagnostic found = {};
  auto null = [](const char *function, const char *parameter) {
    return std::string("usage: ") + function + ": " + parameter + " is NULL";
  };
  EXPECT_EQ(outcome(annudf_compile(nullptr, 1, "o", nullptr, &artifact, &list)),
            null("annudf_compile", "source"));
  EXPECT_EQ(annudf_diagnostics_count(list), 0u);
  EXPECT_EQ(outcome(annudf_compile("", 0, nullptr, nullptr, &artifact, nullptr)),
            null("annudf_compile", "origin"));
  EXPECT_EQ(outcome(annudf_compile("", 0, "o", nullptr, nullptr, nullptr)),
            null("annudf_compile", "artifact"));
  annudf_compile_options options = hostOnly();
  options.arch_count = 1;
  EXPECT_EQ(outcome(annudf_compile("", 0, "o", &options, &artifact, nullptr)),
            null("annudf_compile", "archs"));
  const char *archs[] = {nullptr};
  options.archs = archs;
  EXPECT_EQ(outcome(annudf_compile("", 0, "o", &options, &artifact, nullptr)),
            null("annudf_compile", "archs[0]"));
  EXPECT_EQ(outcome(annudf_lower(nullptr, 1, "o", "mlir", nullptr, &code, nullptr)),
            null("annudf_lower", "source"));
  EXPECT_EQ(outcome(annudf_lower("", 0, nullptr, "mlir", nullptr, &code, nullptr)),
            null("annudf_lower", "origin"));
  EXPECT_EQ(outcome(annudf_lower("", 0, "o", nullptr, nullptr, &code, nullptr)),
            null("annudf_lower", "target"));
  EXPECT_EQ(outcome(annudf_lower("", 0, "o", "mlir", nullptr, nullptr, nullptr)),
            null("annudf_lower", "code"));
  EXPECT_EQ(outcome(annudf_diagnostics_get(nullptr, 0, &found)),
            null("annudf_diagnostics_get", "diagnostics"));
  EXPECT_EQ(outcome(annudf_diagnostics_get(list, 0, nullptr)),
            null("annudf_diagnostics_get", "diagnostic"));
  EXPECT_EQ(annudf_diagnostics_count(nullptr), 0u);
  EXPECT_EQ(outcome(annudf_describe_cuda_compiler(ANNUDF_CUDA_LIBNVVM, nullptr)),
            null("annudf_describe_cuda_compiler", "text"));
  EXPECT_EQ(outcome(annudf_describe_cuda_compiler(3, &code)),
            "usage: annudf_describe_cuda_compiler: which is 3; use a value of enum "
            "annudf_cuda_compiler");
}

std::string lowered(const std::string &target, annudf_lower_options options = {}) {
  OwnedBuffer code;
  options.size = sizeof options;
  std::string result = outcome(annudf_lower(kMetric.data(), kMetric.size(), "test.mlir",
                                            target.c_str(), &options, &code, nullptr));
  return result == "ok" ? textOf(code) : result;
}

TEST(CApiCompiler, StagesWithoutCuda) {
  annudf_lower_options options = {};
  EXPECT_TRUE(contains(lowered("mlir"), "annudf.metric @weighted order(min)"));
  options.inline_captures = "dims=3";
  EXPECT_TRUE(contains(lowered("mlir", options), "dims(3)"));
  EXPECT_TRUE(contains(lowered("nvvm-ir"), "define i32 @annudf1_scan_update_a32_x32(i32"));
  EXPECT_TRUE(contains(lowered("functions"), "func.func private @weighted_update(%arg0: f32, "));
  EXPECT_EQ(lowered("spirv"), "usage: annudf_lower: target is 'spirv'; the targets are mlir, "
                              "nvvm-ir, ptx, ltoir, device-bitcode, host-bitcode, "
                              "functions, properties");
  options.arch = "gfx90a";
  EXPECT_TRUE(contains(lowered("ptx", options), "usage: unknown architecture 'gfx90a'"));
  OwnedBuffer code;
  OwnedDiagnostics list;
  std::string wrong = wrongMetric();
  EXPECT_EQ(annudf_lower(wrong.data(), wrong.size(), "t", "mlir", nullptr, &code, &list),
            ANNUDF_COMPILE);
  EXPECT_STREQ(diagnosticAt(list, 0).rule, "B4");
}

std::string propertiesOf(const std::string &text) {
  OwnedBuffer json;
  const std::string result = outcome(
      annudf_lower(text.data(), text.size(), "test.mlir", "properties", nullptr, &json, nullptr));
  return result == "ok" ? textOf(json) : result;
}

TEST(CApiCompiler, PropertiesAsJson) {
  using nlohmann::json;
  const json all = json::parse(propertiesOf(kMetric));
  const json where = json::array({json::array({"w", ">= 0"})});
  EXPECT_EQ(all["metric"], "weighted");
  EXPECT_EQ(all["row_only_indexes"], true);
  const std::string polynomial = "w[dim] x^2 - 2 w[dim] x y + w[dim] y^2";
  EXPECT_EQ(all["quadratic"], (json{{"proved", true},
                                    {"exact", false},
                                    {"text", polynomial + ", of x - y"},
                                    {"where", json::array()}}));
  EXPECT_EQ(all["form"]["text"], all["quadratic"]["text"]);
  const json coefficients = {{"x^2", "w[dim]"}, {"x y", "-2 w[dim]"}, {"y^2", "w[dim]"}};
  EXPECT_EQ(all["form"]["coefficients"], coefficients);
  ASSERT_EQ(all["fields"].size(), 1u);
  const json &field = all["fields"][0];
  EXPECT_EQ(field["coefficients"], coefficients);
  EXPECT_EQ(field["sign"], (json{{"proved", true},
                                 {"exact", true},
                                 {"text", "terms >= 0 where w >= 0"},
                                 {"value", ">= 0"},
                                 {"where", where}}));
  EXPECT_EQ(field["monotone"]["value"], "never falls");
  EXPECT_TRUE(contains(field["text"], "symmetric; a function of x - y; terms >= 0 where w >= 0"));
}

TEST(CApiCompiler, PropertiesThatAreNotProved) {
  const nlohmann::json field =
      nlohmann::json::parse(propertiesOf(annudf_builtin_metric("l1")))["fields"][0];
  EXPECT_EQ(field["polynomial"]["proved"], false);
  EXPECT_EQ(field["polynomial"]["text"], "not proved to be a polynomial of x and y");
  EXPECT_EQ(field["polynomial"]["why"], "'math.absf' of x and y is no polynomial");
  EXPECT_EQ(field["polynomial"]["file"], "test.mlir");
  EXPECT_GT(field["polynomial"]["line"], 1);
  EXPECT_GT(field["polynomial"]["column"], 0);
  EXPECT_FALSE(field.contains("coefficients"));
  EXPECT_EQ(propertiesOf("annudf.filter @odd {\n  annudf.keep {\n"
                         "    %0 = arith.constant true\n    annudf.yield %0 : i1\n  }\n}\n"),
            R"({"filter":"odd","row_only_indexes":true,"sees_query":false})");
}

TEST(CApiCompiler, StagesWithLibNvvm) {
  if (!haveLibNvvm())
    GTEST_SKIP() << "no libNVVM";
  annudf_lower_options options = {};
  EXPECT_TRUE(contains(lowered("ptx"), ".target sm_75"));
  options.arch = "sm_90";
  const std::string ptx = lowered("ptx", options);
  EXPECT_TRUE(contains(ptx, ".target sm_90"));
  EXPECT_TRUE(contains(ptx, "annudf1_scan_update_a32_x32("));
  EXPECT_GT(lowered("ltoir", options).size(), 500u);
}

/// Compilers make tables, and take locks, as a process compiles for the first time: libNVVM's LLVM
/// above all, where there is one.
TEST(CApiCompiler, AForkWaitsUntilThreadsHaveCompiled) {
  expectForksAmid([] {
    OwnedArtifact artifact;
    return compile(kMetric, &artifact) == ANNUDF_OK;
  });
}

TEST(CApiCompiler, ThreadsHaveTheirOwnErrors) {
  auto work = [](const std::string &source, const std::string &expected) {
    for (int i = 0; i < 20; ++i) {
      OwnedArtifact artifact;
      OwnedDiagnostics list;
      auto options = hostOnly();
      const std::string found = outcome(compile(source, &artifact, &list, &options));
      EXPECT_TRUE(contains(found, expected)) << found;
      EXPECT_EQ(annudf_diagnostics_count(list), expected == "ok" ? 0u : 1u);
    }
  };
  std::thread first(work, wrongMetric(), "compile: test.mlir:14:10: ");
  std::thread second(
      work, "", "compile: test.mlir: holds no annudf.metric, annudf.filter or annudf.function");
  std::thread third(work, kMetric, "ok");
  first.join();
  second.join();
  third.join();
}

} // namespace
