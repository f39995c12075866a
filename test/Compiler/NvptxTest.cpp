//===- NvptxTest.cpp - PTX by LLVM's NVPTX backend ------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every op and every built-in metric becomes PTX without libNVVM. test/lit/Target/nvptx-ptxas.test
// assembles some, test/e2e/NvptxBodies.cpp compares results on a GPU.
//
//===----------------------------------------------------------------------===//

#include "OpCases.h"

#include "annudf/Compiler/Compiler.h"
#include "annudf/Metrics/Builtin.h"

#include "gtest/gtest.h"

#include <regex>

using namespace annudf;
using namespace annudf::test;

namespace {

/// Skips where libdevice is missing, and only there.
void expectPtx(const std::string &text, const std::string &origin) {
  CompileOptions options;
  options.deviceBackend = DeviceBackend::Nvptx;
  std::string ptx;
  try {
    ptx = lowerMetric(text, origin, Stage::Ptx, options);
  } catch (const Error &error) {
    if (std::string(error.what()).find("libdevice.10.bc, which was not found") == std::string::npos)
      throw;
    GTEST_SKIP() << error.what();
  }
  EXPECT_NE(ptx.find(".target sm_75"), std::string::npos);
  EXPECT_EQ(ptx.find(".extern"), std::string::npos) << ptx;
  // The assembler fuses products and sums that do not say how they round. A user may allow it.
  if (text.find("contract") == std::string::npos)
    EXPECT_FALSE(std::regex_search(ptx, std::regex("(add|sub|mul)\\.f(16|32|64)"))) << ptx;
  EXPECT_FALSE(std::regex_search(ptx, std::regex("(add|sub|mul|fma)\\.(rn\\.)?ftz"))) << ptx;
}

class NvptxOp : public testing::TestWithParam<OpCase> {};

TEST_P(NvptxOp, BecomesPtx) { expectPtx(moduleText(GetParam()), GetParam().name); }

INSTANTIATE_TEST_SUITE_P(All, NvptxOp, testing::ValuesIn(opCases()),
                         [](const auto &info) { return std::string(info.param.name); });

TEST(Nvptx, EveryBuiltinMetricBecomesPtx) {
  for (const BuiltinMetric &metric : builtinMetrics()) {
    SCOPED_TRACE(metric.name);
    expectPtx(std::string(metric.text), metric.origin());
  }
}

TEST(Nvptx, AnArtifactServesTheNamedAndNewerArchitectures) {
  CompileOptions options;
  options.deviceBackend = DeviceBackend::Nvptx;
  options.archs = {"sm_90", "sm_80"};
  const std::string text(findBuiltinMetric("l2")->text);
  const Artifact artifact = compileMetric(text, "l2.mlir", options);
  EXPECT_EQ(artifact.findLtoIr(90), nullptr);
  EXPECT_EQ(artifact.findHooksOfGpu(75), nullptr);
  EXPECT_EQ(artifact.findHooksOfGpu(89)->arch(), "sm_80");
  EXPECT_EQ(artifact.findHooksOfGpu(121)->arch(), "sm_90");
  const Artifact read = parseArtifact(serializeArtifact(artifact), "read back");
  EXPECT_EQ(read.findHooksOfGpu(90)->kind, PayloadKind::Ptx);
  EXPECT_EQ(read.findHooksOfGpu(90)->bytes, artifact.findHooksOfGpu(90)->bytes);
  options.archs.clear();
  EXPECT_EQ(compileMetric(text, "l2.mlir", options).findHooksOfGpu(121)->arch(), "sm_75");
}

TEST(Nvptx, MakesNoLtoIr) {
  CompileOptions options;
  options.deviceBackend = DeviceBackend::Nvptx;
  try {
    (void)lowerMetric(std::string(findBuiltinMetric("l2")->text), "l2.mlir", Stage::LtoIr, options);
    FAIL() << "it was lowered";
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), ErrorKind::Usage);
    EXPECT_STREQ(error.what(), "the backend nvptx makes PTX and no LTO-IR");
  }
}

} // namespace
