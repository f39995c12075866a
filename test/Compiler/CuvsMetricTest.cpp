//===- CuvsMetricTest.cpp - rapids.cuvs.ivf_flat.metric.v1 computes the same -===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One metric as the hooks of annudf.accumulator.v1 and as the one function of the other
// ABI, both on the host: bit for bit the same accumulator after every coordinate.
//
//===----------------------------------------------------------------------===//

#include "CuvsJit.h"
#include "HookJit.h"
#include "RandomBody.h"

#include "annudf/Support/FileIO.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace annudf;
using namespace annudf::test;

namespace {

constexpr int32_t kDims = 7;
constexpr float kWeights[kDims] = {0.5f, -1.0f, 2.0f, 0.0f, 1e-7f, 3.25f, 1.0f};

/// Whether both give the same bits, or both some NaN.
bool isSame(uint32_t a, float b) {
  return a == std::bit_cast<uint32_t>(b) || (std::isnan(std::bit_cast<float>(a)) && std::isnan(b));
}

void compare(const std::string &text, uint32_t seed) {
  SCOPED_TRACE(text);
  const CuvsJit cuvs(text);
  HookJit hooks(compileText(text, /*device=*/false));
  hooks.bind(0, &kWeights[0]);
  std::mt19937 random(seed);
  std::normal_distribution<float> coordinate(0, 3);
  for (int row = 0; row < 8; ++row) {
    float acc = 0;
    auto word = hooks.init<uint32_t>(kDims);
    ASSERT_TRUE(isSame(word, acc));
    for (int32_t dim = 0; dim < kDims; ++dim) {
      const float x = coordinate(random), y = coordinate(random);
      word = hooks.updateValues(word, x, y, dim, kDims);
      acc = cuvs(x, y, acc, kWeights, dim);
      ASSERT_TRUE(isSame(word, acc)) << "row " << row << ", dim " << dim << ": "
                                     << std::bit_cast<float>(word) << " and " << acc;
    }
  }
}

std::string example(const std::string &name) {
  return readFile(ANNUDF_EXAMPLES "/" + name + ".mlir", 1 << 20);
}

std::string metricOf(const RandomBody &body) {
  return body.helper() +
         "annudf.metric @m order(min) coarse(l2) elements(f32) {\n"
         "  %w = annudf.capture \"w\" : !annudf.capture<dim x f32>\n"
         "  annudf.init {\n"
         "    %0 = arith.constant 0.0 : f32\n    annudf.yield %0 : f32\n  }\n"
         "  annudf.update (%acc: f32, %x: f32, %y: f32) {\n"
         "    %dim = annudf.index dim\n    %dims = arith.constant 7 : index\n"
         "    %weight = annudf.load %w[%dim] : !annudf.capture<dim x f32>\n" +
         body.ops() +
         "    %sum = arith.addf %result, %weight : f32\n    annudf.yield %sum : f32\n  }\n}\n";
}

} // namespace

TEST(CuvsMetric, ExamplesAreTheSame) {
  for (const char *name : {"l1", "l2", "weighted_l2"})
    compare(example(name), 1);
}

TEST(CuvsMetric, RandomBodiesAreTheSame) {
  int compared = 0;
  for (uint32_t seed = 0; seed < 40; ++seed) {
    const std::string text = metricOf(RandomBody(seed));
    if (compileError(text).find("[S5]") != std::string::npos)
      continue; // Too many loops.
    compare(text, seed);
    ++compared;
  }
  EXPECT_GT(compared, 20);
}

TEST(CuvsMetric, CoordinatesPastTheDimsOfConstantsReadTheLast) {
  const CuvsJit cuvs(
      "annudf.metric @m order(min) coarse(l2) elements(f32) dims(3) {\n"
      "  %t = annudf.capture \"t\" = dense<[1.0, 2.0, 4.0]> : tensor<3xf32> : "
      "!annudf.capture<dim x f32>\n"
      "  %w = annudf.capture \"w\" : !annudf.capture<dim x f32>\n"
      "  annudf.init {\n    %0 = arith.constant 0.0 : f32\n    annudf.yield %0 : f32\n  }\n"
      "  annudf.update (%acc: f32, %x: f32, %y: f32) {\n    %i = annudf.index dim\n"
      "    %0 = annudf.load %t[%i] : !annudf.capture<dim x f32>\n"
      "    %1 = annudf.load %w[%i] : !annudf.capture<dim x f32>\n"
      "    %2 = arith.mulf %0, %1 : f32\n    annudf.yield %2 : f32\n  }\n}\n");
  EXPECT_EQ(cuvs(0, 0, 0, kWeights, 1), -2.0f);
  EXPECT_EQ(cuvs(0, 0, 0, kWeights, 2), 8.0f);
  EXPECT_EQ(cuvs(0, 0, 0, kWeights, 6), 8.0f);
  EXPECT_EQ(cuvs(0, 0, 0, kWeights, -1), 8.0f);
}

TEST(CuvsMetric, LowersToLtoIrAndPtx) {
  if (!haveLibNvvm())
    GTEST_SKIP() << "no libNVVM";
  CompileOptions options;
  options.archs = {"sm_90"};
  options.target = {ANNUDF_CUVS_METRIC_ABI_ID, "sym"};
  const std::string text = example("weighted_l2");
  EXPECT_EQ(lowerMetric(text, "m.mlir", Stage::LtoIr, options).substr(0, 4), "\xED"
                                                                             "CN\x7F");
  const std::string ptx = lowerMetric(text, "m.mlir", Stage::Ptx, options);
  EXPECT_NE(ptx.find(".visible .func  (.param .b32 func_retval0) sym("), std::string::npos);
  EXPECT_EQ(ptx.find("annudf1_"), std::string::npos);
}

TEST(CuvsMetric, AnArtifactIsNoneOfIt) {
  CompileOptions options;
  options.target.abi = ANNUDF_CUVS_METRIC_ABI_ID;
  EXPECT_EQ(compileError(example("l1"), options),
            "an artifact holds code of annudf.accumulator.v1, not of "
            "rapids.cuvs.ivf_flat.metric.v1; lower the metric to it");
}
