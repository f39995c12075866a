//===- InlineMeaningTest.cpp - A baked metric computes what a bound one does ===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles a metric twice, with its captures bound in slots and with their values
// baked in by annudf-inline-captures, and runs both on the same vectors.
//
//===----------------------------------------------------------------------===//

#include "Compiler/HookJit.h"
#include "gtest/gtest.h"

#include <bit>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

using namespace annudf;
using namespace annudf::test;

namespace {

std::string readExample(const std::string &name) {
  std::ifstream file(ANNUDF_EXAMPLES "/" + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Distance of two f32 vectors as a scan computes it.
float distance(const HookJit &hooks, const std::vector<float> &x, const std::vector<float> &y) {
  int32_t dims = static_cast<int32_t>(x.size());
  uint32_t acc = hooks.init<uint32_t>(dims);
  for (int32_t d = 0; d < dims; ++d)
    acc = hooks.update(acc, std::bit_cast<uint32_t>(x[d]), std::bit_cast<uint32_t>(y[d]), d, dims);
  return hooks.finalize<uint32_t>(acc, dims);
}

class Inline : public ::testing::Test {
protected:
  /// Both give the same on a hundred random pairs, to `relative`.
  void expectSame(const HookJit &bound, const HookJit &baked, int dims, float relative = 0) {
    std::uniform_real_distribution<float> coordinate(-2, 2);
    for (int pair = 0; pair < 100; ++pair) {
      std::vector<float> x(dims), y(dims);
      for (int d = 0; d < dims; ++d) {
        x[d] = coordinate(random);
        y[d] = coordinate(random);
      }
      float want = distance(bound, x, y), got = distance(baked, x, y);
      if (relative == 0)
        EXPECT_EQ(got, want) << "pair " << pair;
      else
        EXPECT_NEAR(got, want, relative * std::abs(want)) << "pair " << pair;
    }
  }

  std::mt19937 random{20240501};
};

TEST_F(Inline, ScalarOfMinkowski) {
  std::string text = readExample("minkowski.mlir");
  HookJit bound(compileText(text, false));
  for (float p : {1.0f, 2.0f, 3.0f, 2.5f}) {
    bound.bind(0, p);
    HookJit baked(compileText(text, false, "values={p = " + std::to_string(p) + " : f32}"));
    // A constant exponent lets the compiler choose a shorter way to the same power.
    expectSame(bound, baked, 7, 1e-5f);
  }
}

TEST_F(Inline, TableAndUniformWeights) {
  std::string text = readExample("weighted_l2.mlir");
  HookJit bound(compileText(text, false));
  std::vector<float> weights = {0.5f, -1.25f, 3.0f, 0.0f, 1e-3f};
  bound.bind(0, weights.data());
  Artifact artifact = compileText(
      text, false, "dims=5 values={w = dense<[0.5, -1.25, 3.0, 0.0, 1.0e-3]> : tensor<5xf32>}");
  EXPECT_TRUE(artifact.manifest.captures.empty());
  EXPECT_EQ(artifact.manifest.dims, 5);
  expectSame(bound, HookJit(artifact), 5);

  weights.assign(5, 0.75f);
  expectSame(bound,
             HookJit(compileText(text, false, "dims=5 values={w = dense<0.75> : tensor<5xf32>}")),
             5);
}

constexpr const char *kMixed = R"(
annudf.metric @mixed order(min) coarse(l2) elements(f32) {
  %a = annudf.capture "a" : !annudf.capture<f32>
  %b = annudf.capture "b" : !annudf.capture<f64>
  %t = annudf.capture "t" : !annudf.capture<dim x i32>
  %n = annudf.capture "n" : !annudf.capture<ui32>
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = annudf.load %a[] : !annudf.capture<f32>
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = annudf.index dim
    %t0 = annudf.load %t[%d] : !annudf.capture<dim x i32>
    %t1 = arith.sitofp %t0 : i32 to f32
    %w0 = annudf.load %w[%d] : !annudf.capture<dim x f32>
    %n0 = annudf.load %n[] : !annudf.capture<ui32>
    %n1 = arith.uitofp %n0 : i32 to f32
    %0 = arith.subf %x, %y : f32
    %1 = arith.mulf %0, %t1 : f32
    %2 = math.fma %1, %w0, %n1 : f32
    %3 = arith.addf %acc, %2 : f32
    annudf.yield %3 : f32
  }
  annudf.finalize (%acc: f32) {
    %dims = annudf.index dims
    %0 = arith.index_cast %dims : index to i32
    %1 = arith.sitofp %0 : i32 to f64
    %2 = annudf.load %b[] : !annudf.capture<f64>
    %3 = arith.extf %acc : f32 to f64
    %4 = arith.addf %3, %2 : f64
    %5 = arith.mulf %4, %1 : f64
    %6 = arith.truncf %5 : f64 to f32
    annudf.yield %6 : f32
  }
}
)";

// Every subset of the captures is baked; the others move up to fill the slots.
TEST_F(Inline, EverySubsetOfCapturesKeepsTheOthersInOrder) {
  const std::vector<int32_t> table = {1, -2, 300, 0};
  const std::vector<float> weights = {0.5f, 4.0f, -1.0f, 2.0f};
  const char *values[] = {"a = 1.5 : f32", "b = -2.25 : f64",
                          "t = dense<[1, -2, 300, 0]> : tensor<4xi32>", "n = 4000000000 : ui32",
                          "w = dense<[0.5, 4.0, -1.0, 2.0]> : tensor<4xf32>"};
  auto bind = [&](HookJit &hooks, unsigned baked) {
    int slot = 0;
    if (!(baked & 1))
      hooks.bind(slot++, 1.5f);
    if (!(baked & 2))
      hooks.bind(slot++, -2.25);
    if (!(baked & 4))
      hooks.bind(slot++, table.data());
    if (!(baked & 8))
      hooks.bind(slot++, uint32_t(4000000000u));
    if (!(baked & 16))
      hooks.bind(slot++, weights.data());
  };
  HookJit reference(compileText(kMixed, false));
  bind(reference, 0);
  for (unsigned baked = 1; baked < 32; ++baked) {
    SCOPED_TRACE("captures baked: " + std::to_string(baked));
    std::string list;
    for (int i = 0; i < 5; ++i)
      if (baked >> i & 1)
        list += (list.empty() ? "" : ", ") + std::string(values[i]);
    Artifact artifact = compileText(kMixed, false, "dims=4 values={" + list + "}");
    EXPECT_EQ(artifact.manifest.captures.size(), 5u - std::popcount(baked));
    HookJit hooks(artifact);
    bind(hooks, baked);
    expectSame(reference, hooks, 4);
  }
}

} // namespace
