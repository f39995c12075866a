//===- HooksTest.cpp - Coordinates, captures, contract -------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HookJit.h"

#include "annudf/ABI/Hooks.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace annudf;
using namespace annudf::test;

namespace {

// One metric whose value tells coordinates, their order and their dimension apart.
constexpr const char *kPositions = R"(
annudf.metric @positions order(max) coarse(inner_product) elements(f32, f16, i8, u8) accumulator(f64) {
  annudf.init {
    %0 = arith.constant 0.5 : f64
    annudf.yield %0 : f64
  }
  annudf.update (%acc: f64, %x: f64, %y: f64) {
    %d = annudf.index dim
    %n = annudf.index dims
    %di = arith.index_cast %d : index to i64
    %ni = arith.index_cast %n : index to i64
    %df = arith.sitofp %di : i64 to f64
    %nf = arith.sitofp %ni : i64 to f64
    %1 = arith.mulf %acc, %nf : f64
    %2 = arith.mulf %x, %df : f64
    %3 = arith.subf %2, %y : f64
    %4 = arith.addf %1, %3 : f64
    annudf.yield %4 : f64
  }
}
)";

TEST(Hooks, UpdateTakesOneCoordinate) {
  HookJit hooks(compileText(kPositions, /*device=*/false));
  std::mt19937 random(1);
  std::uniform_real_distribution<double> value(-4, 4);
  for (int i = 0; i < 2000; ++i) {
    const double x = value(random), y = value(random), acc = value(random);
    const int32_t dim = random() % 400, dims = 1 + random() % 9;
    const double expected = acc * dims + (x * double(dim) - y);
    const auto actual =
        std::bit_cast<double>(hooks.update(std::bit_cast<uint64_t>(acc), std::bit_cast<uint64_t>(x),
                                           std::bit_cast<uint64_t>(y), dim, dims));
    ASSERT_NEAR(actual, expected, 1e-12 * (1 + std::fabs(expected))) << "dim=" << dim;
  }
}

TEST(Hooks, WidthsOfAccumulatorAndCoordinatesDiffer) {
  // 32-bit coordinates into a 64-bit accumulator, and the other way round.
  const std::string text = R"(annudf.metric @m order(min) coarse(l2) elements(ELEMENT) {
    annudf.init {
      %0 = arith.constant ZERO : ACC
      annudf.yield %0 : ACC
    }
    annudf.update (%acc: ACC, %x: X, %y: X) {
      %d = arith.OP %x : X to ACC
      annudf.yield %d : ACC
    }
  })";
  auto make = [&](std::vector<std::pair<std::string, std::string>> words) {
    std::string result = text;
    for (const auto &[from, to] : words)
      for (size_t at; (at = result.find(from)) != std::string::npos;)
        result.replace(at, from.size(), to);
    return compileText(result, haveLibNvvm());
  };
  HookJit wide(
      make({{"ELEMENT", "i8"}, {"ZERO", "0.5"}, {"ACC", "f64"}, {"X", "i32"}, {"OP", "sitofp"}}));
  EXPECT_EQ(std::bit_cast<double>(wide.init<uint64_t>()), 0.5);
  EXPECT_EQ(std::bit_cast<double>(wide.update<uint64_t, uint32_t>(0, uint32_t(-7), 1)), -7.0);
  HookJit narrow(
      make({{"ELEMENT", "f32"}, {"ZERO", "0"}, {"ACC", "i32"}, {"X", "f64"}, {"OP", "fptosi"}}));
  EXPECT_EQ(int32_t(narrow.update<uint32_t, uint64_t>(0, std::bit_cast<uint64_t>(-7.5), 1)), -7);
}

/// What the hooks of a metric of several fields make of two vectors.
template <typename Word, typename Coordinate, typename T>
float distanceOf(const HookJit &hooks, const std::vector<T> &x, const std::vector<T> &y) {
  HookJit::Words<Word> acc;
  std::fill(std::begin(acc.word), std::end(acc.word), Word(0xABABABAB)); // Kernels may have any.
  hooks.initWords(acc);
  for (size_t d = 0; d < x.size(); ++d)
    hooks.updateWords(acc, std::bit_cast<Coordinate>(x[d]), std::bit_cast<Coordinate>(y[d]),
                      int32_t(d), int32_t(x.size()));
  return hooks.finalizeWords(acc);
}

// One function a metric: its text, and the same in float64.
constexpr const char *kHaversine = R"(
annudf.metric @haversine order(min) coarse(l2) elements(f32) dims(2) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    %1 = arith.constant 1.0 : f32
    annudf.yield %0, %1 : f32, f32
  }
  annudf.update (%sum: f32, %cosines: f32, %x: f32, %y: f32) {
    %dim = annudf.index dim
    %first = arith.constant 0 : index
    %isLatitude = arith.cmpi eq, %dim, %first : index
    %half = arith.constant 0.5 : f32
    %d = arith.subf %x, %y : f32
    %h = arith.mulf %d, %half : f32
    %s = math.sin %h : f32
    %square = arith.mulf %s, %s : f32
    %cx = math.cos %x : f32
    %cy = math.cos %y : f32
    %c = arith.mulf %cx, %cy : f32
    %kept = arith.select %isLatitude, %c, %cosines : f32
    %part = arith.mulf %square, %cosines : f32
    %next = arith.addf %sum, %part : f32
    annudf.yield %next, %kept : f32, f32
  }
  annudf.finalize (%sum: f32, %cosines: f32) {
    %two = arith.constant 2.0 : f32
    %root = math.sqrt %sum : f32
    %angle = math.asin %root : f32
    %r = arith.mulf %two, %angle : f32
    annudf.yield %r : f32
  }
}
)";
constexpr const char *kMoments = R"(
annudf.metric @moments order(min) coarse(l2) elements(i8, u8) accumulator(u32, f64, i64, f32) {
  annudf.init {
    %0 = arith.constant -1 : i32
    %1 = arith.constant 0.25 : f64
    %2 = arith.constant -5 : i64
    %3 = arith.constant 2.0 : f32
    annudf.yield %0, %1, %2, %3 : i32, f64, i64, f32
  }
  annudf.update (%n: i32, %sum: f64, %cubes: i64, %least: f32, %x: i32, %y: i32) {
    %one = arith.constant 1 : i32
    %d = arith.subi %x, %y : i32
    %n1 = arith.addi %n, %one : i32
    %wide = arith.extsi %d : i32 to i64
    %f = arith.sitofp %d : i32 to f64
    %sum1 = arith.addf %sum, %f : f64
    %w2 = arith.muli %wide, %wide : i64
    %w3 = arith.muli %w2, %wide : i64
    %shift = arith.constant 20 : i64
    %big = arith.shli %w3, %shift : i64
    %cubes1 = arith.addi %cubes, %big : i64
    %g = arith.sitofp %d : i32 to f32
    %least1 = arith.minimumf %least, %g : f32
    annudf.yield %n1, %sum1, %cubes1, %least1 : i32, f64, i64, f32
  }
  annudf.finalize (%n: i32, %sum: f64, %cubes: i64, %least: f32) {
    %nf = arith.uitofp %n : i32 to f64
    %cf = arith.sitofp %cubes : i64 to f64
    %lf = arith.extf %least : f32 to f64
    %0 = arith.addf %nf, %sum : f64
    %1 = arith.addf %0, %cf : f64
    %2 = arith.addf %1, %lf : f64
    %3 = arith.truncf %2 : f64 to f32
    annudf.yield %3 : f32
  }
}
)";

TEST(Hooks, SeveralFieldsInWordsOf32Bits) {
  CompileOptions options;
  options.ltoIr = false;
  const Artifact artifact = compileMetricFile(ANNUDF_EXAMPLES "/cosine.mlir", options);
  EXPECT_EQ(accumulatorText(artifact.manifest), "f32, f32, f32");
  const HookJit cosine(artifact), haversine(compileText(kHaversine, haveLibNvvm()));
  EXPECT_EQ(cosine.contract(), contractOf(artifact.manifest));
  std::mt19937 random(7);
  std::uniform_real_distribution<float> value(-1.5f, 1.5f);
  for (int dims : {1, 2, 3, 17, 128, 1024}) {
    std::vector<float> x(dims), y(dims);
    double xy = 0, xx = 0, yy = 0;
    for (int d = 0; d < dims; ++d) {
      x[d] = value(random), y[d] = value(random);
      xy += double(x[d]) * y[d], xx += double(x[d]) * x[d], yy += double(y[d]) * y[d];
    }
    EXPECT_NEAR((distanceOf<uint32_t, uint32_t>(cosine, x, y)), 1 - xy / std::sqrt(xx * yy), 3e-6)
        << dims;
  }
  for (int i = 0; i < 200; ++i) {
    const std::vector<float> x = {value(random), 2 * value(random)},
                             y = {value(random), 2 * value(random)};
    const double s0 = std::sin((double(x[0]) - y[0]) / 2), s1 = std::sin((double(x[1]) - y[1]) / 2);
    const double expected =
        2 *
        std::asin(std::sqrt(s0 * s0 + std::cos(double(x[0])) * std::cos(double(y[0])) * s1 * s1));
    EXPECT_NEAR((distanceOf<uint32_t, uint32_t>(haversine, x, y)), expected, 2e-5) << i;
  }
}

/// The distance of two parts of the dimensions, every third one and the others, joined; update goes
/// on with the last dimension afterwards.
template <typename Word, typename Coordinate, typename T>
float distanceInParts(const HookJit &hooks, const std::vector<T> &x, const std::vector<T> &y) {
  HookJit::Words<Word> parts[2] = {};
  for (auto &part : parts)
    hooks.initWords(part);
  const auto update = [&](HookJit::Words<Word> &acc, size_t d) {
    hooks.updateWords(acc, std::bit_cast<Coordinate>(x[d]), std::bit_cast<Coordinate>(y[d]),
                      int32_t(d), int32_t(x.size()));
  };
  for (size_t d = 0; d + 1 < x.size(); ++d)
    update(parts[d % 3 == 0], d);
  hooks.combineWords(parts[0], parts[1]);
  update(parts[0], x.size() - 1);
  return hooks.finalizeWords(parts[0]);
}

TEST(Hooks, CombineJoinsParts) {
  CompileOptions options;
  options.ltoIr = haveLibNvvm();
  const Artifact artifact = compileMetricFile(ANNUDF_EXAMPLES "/long_cosine.mlir", options);
  EXPECT_TRUE(artifact.manifest.has(ANNUDF_HOOK_COMBINE));
  const HookJit hooks(artifact);
  std::mt19937 random(11);
  std::uniform_real_distribution<float> value(-1.5f, 1.5f);
  for (int dims : {1, 2, 3, 17, 128, 1025}) {
    std::vector<float> x(dims), y(dims);
    for (int d = 0; d < dims; ++d)
      x[d] = value(random), y[d] = value(random);
    EXPECT_NEAR((distanceInParts<uint32_t, uint32_t>(hooks, x, y)),
                (distanceOf<uint32_t, uint32_t>(hooks, x, y)), 3e-6)
        << dims;
  }
}

/// One field, joined by what annudf-infer-combine found, exact for integers: of every operation
/// that it knows.
TEST(Hooks, CombineIsInferred) {
  struct Case {
    const char *type, *initial, *op;
  };
  for (const Case &c :
       {Case{"i32", "0", "addi"}, Case{"i32", "0", "subi"}, Case{"i32", "1", "muli"},
        Case{"i32", "0", "xori"}, Case{"i32", "7", "ori"}, Case{"i32", "-9", "andi"},
        Case{"i32", "5", "maxsi"}, Case{"i32", "5", "minsi"}, Case{"i32", "5", "maxui"},
        Case{"i32", "5", "minui"}}) {
    const std::string text = std::string("annudf.metric @m order(min) coarse(l2) elements(u8) ") +
                             "numerics(reassociate) {\n  annudf.init {\n    %0 = arith.constant " +
                             c.initial + " : i32\n    annudf.yield %0 : i32\n  }\n" +
                             "  annudf.update (%acc: i32, %x: i32, %y: i32) {\n" +
                             "    %t = arith.subi %x, %y : i32\n    %r = arith." + c.op +
                             " %acc, %t : i32\n    annudf.yield %r : i32\n  }\n}\n";
    const Artifact artifact = compileText(text, false);
    ASSERT_TRUE(artifact.manifest.has(ANNUDF_HOOK_COMBINE)) << c.op;
    const HookJit hooks(artifact);
    std::mt19937 random(12);
    for (int turn = 0; turn < 100; ++turn) {
      uint32_t all = hooks.init<uint32_t>(), parts[2] = {all, all};
      for (int d = 0; d < 9; ++d) {
        const uint32_t x = random() % 256, y = random() % 256;
        all = hooks.update(all, x, y, d, 9);
        parts[d % 2] = hooks.update(parts[d % 2], x, y, d, 9);
      }
      ASSERT_EQ(hooks.combine(parts[0], parts[1]), all) << c.op;
    }
  }
}

// A field of 32 bits takes a word of 64 where another needs it.
TEST(Hooks, SeveralFieldsInWordsOf64Bits) {
  const Artifact artifact = compileText(kMoments, haveLibNvvm());
  EXPECT_EQ(accumulatorText(artifact.manifest), "u32, f64, i64, f32");
  const HookJit moments(artifact);
  std::mt19937 random(8);
  for (int dims : {1, 2, 33, 300}) {
    std::vector<int32_t> x(dims), y(dims);
    double n = 4294967295.0, sum = 0.25, cubes = -5, least = 2;
    for (int d = 0; d < dims; ++d) {
      x[d] = int32_t(random() % 256) - 128, y[d] = int32_t(random() % 256);
      const double diff = x[d] - y[d];
      n = n == 4294967295.0 ? 0 : n + 1;
      sum += diff, cubes += diff * diff * diff * 1048576, least = std::min(least, diff);
    }
    EXPECT_EQ((distanceOf<uint64_t, uint32_t>(moments, x, y)), float(n + sum + cubes + least))
        << dims;
  }
}

TEST(Hooks, AnAccumulatorOf64BitIntegersIsItsDistance) {
  const HookJit hooks(compileText(R"(annudf.metric @m order(min) coarse(l2) elements(u8) {
    annudf.init {
      %0 = arith.constant -3000000000 : i64
      annudf.yield %0 : i64
    }
    annudf.update (%acc: i64, %x: i32, %y: i32) {
      %d = arith.subi %x, %y : i32
      %w = arith.extsi %d : i32 to i64
      %r = arith.addi %acc, %w : i64
      annudf.yield %r : i64
    }
  })",
                                  haveLibNvvm()));
  EXPECT_EQ(int64_t(hooks.init<uint64_t>()), -3000000000);
  EXPECT_EQ(int64_t(hooks.update<uint64_t, uint32_t>(1ull << 40, 3, 255)), (1ll << 40) - 252);
  EXPECT_EQ(hooks.finalize<uint64_t>(uint64_t(-3000000000)), -3e9f);
}

TEST(Hooks, ContractIsThatOfTheManifest) {
  Artifact positions = compileText(kPositions, /*device=*/false);
  EXPECT_EQ(HookJit(positions).contract(), contractOf(positions.manifest));
  std::string other = kPositions;
  other.replace(other.find("order(max)"), 10, "order(min)");
  EXPECT_NE(HookJit(compileText(other, false)).contract(), contractOf(positions.manifest));
}

TEST(Hooks, FinalizeIsEmittedOnlyIfWritten) {
  EXPECT_FALSE(HookJit(compileText(kPositions, /*device=*/false)).hasFinalize());
  EXPECT_EQ(HookJit(compileText(kPositions, false)).init<uint64_t>(), std::bit_cast<uint64_t>(0.5));
}

TEST(Hooks, InfiniteStart) {
  CompileOptions options;
  options.ltoIr = false;
  HookJit hooks(compileMetricFile(ANNUDF_EXAMPLES "/chebyshev.mlir", options));
  EXPECT_EQ(std::bit_cast<float>(hooks.init<uint32_t>()), -INFINITY);
}

TEST(Examples, CompileForTheHostAndEveryArchitecture) {
  CompileOptions options;
  options.ltoIr = haveLibNvvm();
  for (const char *name :
       {"bitwise_hamming", "chebyshev", "inner_product", "l1", "l2", "minkowski", "weighted_l2"}) {
    std::vector<std::string> warnings;
    Artifact artifact =
        compileMetricFile(std::string(ANNUDF_EXAMPLES "/") + name + ".mlir", options, &warnings);
    EXPECT_TRUE(warnings.empty()) << warnings.front();
    EXPECT_EQ(artifact.manifest.name, name);
    if (options.ltoIr)
      for (int sm : supportedArchs())
        EXPECT_EQ(artifact.findLtoIr(sm)->arch(), "sm_" + std::to_string(sm));
    HookJit hooks(artifact);
    EXPECT_EQ(hooks.contract(), contractOf(artifact.manifest));
    // What a reader gets back is what was written.
    EXPECT_EQ(parseArtifact(serializeArtifact(artifact), name).payloads.size(),
              artifact.payloads.size());
  }
}

} // namespace
