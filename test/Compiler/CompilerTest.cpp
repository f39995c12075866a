//===- CompilerTest.cpp - The facade: manifests, messages, times ----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HookJit.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <gtest/gtest.h>
#include <thread>

using namespace annudf;
using namespace annudf::test;

namespace {

CompileOptions hostOnly() {
  CompileOptions options;
  options.ltoIr = false;
  return options;
}

TEST(Compiler, ManifestSaysWhatTheMetricSays) {
  Artifact artifact = compileMetricFile(ANNUDF_EXAMPLES "/minkowski.mlir", hostOnly());
  const Manifest &manifest = artifact.manifest;
  EXPECT_EQ(manifest.name, "minkowski");
  EXPECT_EQ(manifest.order, ANNUDF_ORDER_MIN);
  EXPECT_EQ(manifest.coarse, ANNUDF_COARSE_L2);
  EXPECT_EQ(manifest.coarseOrder, ANNUDF_ORDER_MIN);
  EXPECT_EQ(manifest.accumulator, ANNUDF_ACCUMULATOR_F32);
  EXPECT_EQ(manifest.compute, ANNUDF_COMPUTE_F32);
  EXPECT_EQ(manifest.elements,
            (std::vector{ANNUDF_ELEMENT_F32, ANNUDF_ELEMENT_F16, ANNUDF_ELEMENT_I8,
                         ANNUDF_ELEMENT_U8, ANNUDF_ELEMENT_BF16}));
  EXPECT_EQ(manifest.hooks,
            (std::vector<annudf_hook>{ANNUDF_HOOK_INIT, ANNUDF_HOOK_UPDATE, ANNUDF_HOOK_FINALIZE}));
  ASSERT_EQ(manifest.captures.size(), 1u);
  EXPECT_EQ(manifest.captures[0].name, "p");
  EXPECT_EQ(manifest.captures[0].element, ANNUDF_CAPTURE_F32);
  EXPECT_TRUE(manifest.captures[0].extents.empty());
  EXPECT_EQ(manifest.requiredFeatures, ANNUDF_FEATURE_FINALIZE | ANNUDF_FEATURE_CAPTURES);
  EXPECT_EQ(manifest.sourceFile, ANNUDF_EXAMPLES "/minkowski.mlir");
  EXPECT_EQ(manifest.sourceLine, 3u);
  EXPECT_FALSE(manifest.annudfVersion.empty());
  EXPECT_FALSE(manifest.llvmVersion.empty());
}

TEST(Compiler, FeaturesOfAWideAccumulator) {
  std::string text = R"(annudf.metric @m order(max) coarse(l2 max) elements(u8) {
    %w = annudf.capture "w" : !annudf.capture<dim x ui32>
    annudf.init {
      %0 = arith.constant 0.0 : f64
      annudf.yield %0 : f64
    }
    annudf.update (%acc: f64, %x: i32, %y: i32) {
      annudf.yield %acc : f64
    }
  })";
  Manifest manifest = compileText(text, false).manifest;
  EXPECT_EQ(manifest.requiredFeatures, ANNUDF_FEATURE_ACC64 | ANNUDF_FEATURE_CAPTURES);
  EXPECT_EQ(manifest.coarseOrder, ANNUDF_ORDER_MAX);
  EXPECT_EQ(manifest.compute, ANNUDF_COMPUTE_I32);
  EXPECT_EQ(manifest.captures[0].element, ANNUDF_CAPTURE_U32);
  ASSERT_EQ(manifest.captures[0].extents.size(), 1u);
  EXPECT_EQ(manifest.captures[0].extents[0].kind, ANNUDF_EXTENT_DIM);
}

TEST(Compiler, BytecodeCompilesToTheSameArtifact) {
  Artifact first = compileMetricFile(ANNUDF_EXAMPLES "/weighted_l2.mlir", hostOnly());
  const std::string &bytecode = first.find(PayloadKind::MlirBytecode)->bytes;
  Artifact second = compileMetric(bytecode, "again.mlirbc", hostOnly());
  EXPECT_EQ(first.find(PayloadKind::HostBitcode)->bytes,
            second.find(PayloadKind::HostBitcode)->bytes);
}

/// Each starts a process to read it. None waits for the others, who would wait for it.
TEST(Compiler, ThreadsReadBytecodeAtOnce) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::jthread> threads(4);
  for (std::jthread &thread : threads)
    thread = std::jthread([] {
      for (int turn = 0; turn < 4; ++turn)
        EXPECT_NO_THROW((void)compileMetricFile(
            ANNUDF_EXAMPLES "/../../../test/lit/Dialect/Inputs/1.0/weighted_l2.mlirbc",
            hostOnly()));
    });
  threads.clear();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(50));
}

constexpr const char *kMetric = R"( order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}
)";

TEST(Compiler, OneOfSeveralMetricsIsChosenByName) {
  std::string text = std::string("annudf.metric @a") + kMetric + "annudf.metric @b" + kMetric;
  EXPECT_EQ(compileError(text), "test.mlir: holds 2 metrics, name one of a, b");
  CompileOptions options = hostOnly();
  options.metricName = "c";
  EXPECT_EQ(compileError(text, options), "test.mlir: holds no metric 'c'; there are a, b");
  options.metricName = "b";
  EXPECT_EQ(compileMetric(text, "test.mlir", options).manifest.name, "b");
}

TEST(Compiler, FaultsNameFileLineAndColumn) {
  EXPECT_EQ(compileError(""),
            "test.mlir: holds no annudf.metric, annudf.filter or annudf.function");
  EXPECT_EQ(compileError("annudf.metric @m ordr(min)").find("test.mlir:1:"), 0u)
      << compileError("annudf.metric @m ordr(min)");
  std::string text = std::string("annudf.metric @m") + kMetric;
  text.replace(text.find("annudf.yield %acc"), 0,
               "%z = arith.constant 0 : i32\n    %q = arith.divsi %z, %z : i32\n    ");
  std::string error = compileError(text);
  EXPECT_EQ(error.find("test.mlir:8:10: "), 0u) << error;
  EXPECT_NE(error.find("[B4]"), std::string::npos) << error;
}

TEST(Compiler, BytesThatAreNoModule) {
  EXPECT_NE(compileError(std::string("ML\xefR\x01garbage", 11)), "");
  EXPECT_NE(compileError(std::string(1000, '\0')), "");
  EXPECT_NE(compileError("module {"), "");
}

TEST(Compiler, FileThatIsNotThere) {
  try {
    compileMetricFile("/nowhere/m.mlir", hostOnly());
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), ErrorKind::Input);
    EXPECT_NE(std::string(error.what()).find("/nowhere/m.mlir"), std::string::npos);
  }
}

TEST(Compiler, BadOptionsOfInlining) {
  CompileOptions options = hostOnly();
  options.inlineCaptures = "nonsense=1";
  std::string error = compileError(std::string("annudf.metric @m") + kMetric, options);
  EXPECT_NE(error.find("nonsense"), std::string::npos) << error;
}

TEST(Compiler, SeveralThreadsAtOnce) {
  std::vector<std::string> errors(4);
  std::vector<std::thread> threads;
  for (std::string &error : errors)
    threads.emplace_back([&error] {
      try {
        CompileOptions options;
        options.ltoIr = haveLibNvvm();
        options.archs = {"sm_90"};
        for (int i = 0; i < 5; ++i)
          compileMetricFile(ANNUDF_EXAMPLES "/minkowski.mlir", options);
      } catch (const std::exception &caught) {
        error = caught.what();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::string &error : errors)
    EXPECT_EQ(error, "");
}

/// Printed for who reads the log; asserted only so far that a tenfold slowdown shows.
TEST(Compiler, TimeOfOneArchitecture) {
  if (!haveLibNvvm())
    GTEST_SKIP() << "no libNVVM";
  CompileOptions options;
  options.archs = {"sm_90"};
  options.hostBitcode = false;
  for (const char *name : {"weighted_l2", "chebyshev", "minkowski"}) {
    std::vector<double> totals, lower, libnvvm;
    for (int i = 0; i < 15; ++i) {
      CompileTimings timings;
      compileMetricFile(std::string(ANNUDF_EXAMPLES "/") + name + ".mlir", options, nullptr,
                        &timings);
      totals.push_back(timings.total);
      lower.push_back(timings.parseAndVerify + timings.lower);
      libnvvm.push_back(timings.libnvvm);
    }
    auto median = [](std::vector<double> values) {
      std::sort(values.begin(), values.end());
      return values[values.size() / 2];
    };
    std::printf("%s .mlir to LTO-IR for sm_90: median %.1f ms (first %.1f): %.1f to NVVM IR, "
                "%.1f in libNVVM\n",
                name, median(totals), totals.front(), median(lower), median(libnvvm));
    EXPECT_LT(median(totals), 500);
  }
}

} // namespace
