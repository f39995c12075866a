//===- HooksTest.cpp - Words, tails, captures, constants ------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HookJit.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace annudf;
using namespace annudf::test;

namespace {

float coordinate(annudf_element element, uint32_t word, int i) {
  switch (element) {
  case ANNUDF_ELEMENT_F32:
    return std::bit_cast<float>(word);
  case ANNUDF_ELEMENT_F16:
    return static_cast<float>(std::bit_cast<_Float16>(static_cast<uint16_t>(word >> (16 * i))));
  case ANNUDF_ELEMENT_I8:
    return static_cast<int8_t>(word >> (8 * i));
  case ANNUDF_ELEMENT_U8:
    return static_cast<uint8_t>(word >> (8 * i));
  }
  return 0;
}

/// A random word; finite where it holds floats, so that sums can be compared.
uint32_t randomWord(annudf_element element, std::mt19937 &random) {
  if (element == ANNUDF_ELEMENT_F32)
    return std::bit_cast<uint32_t>(std::uniform_real_distribution<float>(-4, 4)(random));
  if (element == ANNUDF_ELEMENT_F16)
    return random() & 0xBFFFBFFF; // Exponents below that of infinity.
  return random();
}

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

class Elements : public testing::TestWithParam<annudf_element> {};

TEST_P(Elements, EveryCoordinateOfAWordOnceInOrder) {
  Artifact artifact = compileText(kPositions, /*device=*/false);
  HookJit hooks(artifact);
  std::mt19937 random(1);
  annudf_element element = GetParam();
  int perWord = 4 / elementSize(element);
  for (int i = 0; i < 2000; ++i) {
    uint32_t x = randomWord(element, random), y = randomWord(element, random);
    int32_t dim = 4 * (random() % 100), dims = 1 + random() % 9, count = 1 + random() % perWord;
    double acc = 0.25, expected = acc;
    for (int c = 0; c < count; ++c)
      expected = expected * dims +
                 (coordinate(element, x, c) * double(dim + c) - coordinate(element, y, c));
    auto actual = std::bit_cast<double>(
        hooks.update<uint64_t>(element, std::bit_cast<uint64_t>(acc), x, y, dim, count, dims));
    ASSERT_NEAR(actual, expected, 1e-12 * (1 + std::fabs(expected)))
        << toString(element) << " count=" << count << " dim=" << dim;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Elements,
                         testing::Values(ANNUDF_ELEMENT_F32, ANNUDF_ELEMENT_F16, ANNUDF_ELEMENT_I8,
                                         ANNUDF_ELEMENT_U8),
                         [](const auto &info) { return std::string(toString(info.param)); });

TEST(Elements, NotDeclaredLeavesTheAccumulator) {
  std::string text = kPositions;
  text.replace(text.find("f32, f16, i8, u8"), 16, "f16");
  HookJit hooks(compileText(text, /*device=*/false));
  EXPECT_EQ(hooks.update<uint64_t>(ANNUDF_ELEMENT_F32, 77, 1, 2), 77u);
  EXPECT_NE(hooks.update<uint64_t>(ANNUDF_ELEMENT_F16, 77, 1, 2), 77u);
}

TEST(Hooks, PolicyAndDefaults) {
  HookJit hooks(compileText(kPositions, /*device=*/false));
  EXPECT_EQ(hooks.order(), ANNUDF_ORDER_MAX);
  EXPECT_EQ(hooks.dims(), 0);
  EXPECT_EQ(hooks.init<uint64_t>(), std::bit_cast<uint64_t>(0.5));
  EXPECT_EQ(hooks.finalize<uint64_t>(std::bit_cast<uint64_t>(0.1)), 0.1f);
}

std::string counter(const std::string &accumulator) {
  return "annudf.metric @m order(min) coarse(l2) elements(i8) accumulator(" + accumulator + R"() {
    annudf.init {
      %0 = arith.constant -3 : i32
      annudf.yield %0 : i32
    }
    annudf.update (%acc: i32, %x: i32, %y: i32) {
      %1 = arith.addi %acc, %x : i32
      annudf.yield %1 : i32
    }
  })";
}

TEST(Hooks, IntegerAccumulatorsBecomeDistancesByTheirSign) {
  HookJit isSigned(compileText(counter("i32"), false)),
      isUnsigned(compileText(counter("u32"), false));
  EXPECT_EQ(isSigned.finalize<uint32_t>(isSigned.init<uint32_t>()), -3.0f);
  EXPECT_EQ(isUnsigned.finalize<uint32_t>(isUnsigned.init<uint32_t>()), 4294967293.0f);
}

TEST(Hooks, InfiniteStart) {
  CompileOptions options;
  options.ltoIr = false;
  HookJit hooks(compileMetricFile(ANNUDF_EXAMPLES "/chebyshev.mlir", options));
  EXPECT_EQ(std::bit_cast<float>(hooks.init<uint32_t>()), -INFINITY);
}

struct CaptureCase {
  const char *type;  ///< Element type as declared.
  const char *toF64; ///< Ops from `%v` to `%f`, an f64.
};

constexpr CaptureCase kCaptureCases[] = {
    {"f32", "%f = arith.extf %v : f32 to f64"},
    {"f64", "%z = arith.constant 0.0 : f64\n %f = arith.addf %v, %z : f64"},
    {"i32", "%f = arith.sitofp %v : i32 to f64"},
    {"ui32", "%f = arith.uitofp %v : i32 to f64"},
};

/// A capture of every kind before the one under test: slots are numbered in order.
std::string captureText(const CaptureCase &test, bool isArray) {
  std::string type = std::string("!annudf.capture<") + (isArray ? "dim x " : "") + test.type + ">";
  return "annudf.metric @m order(min) coarse(l2) elements(f32) {\n"
         "  %first = annudf.capture \"first\" : !annudf.capture<f64>\n"
         "  %c = annudf.capture \"c\" : " +
         type +
         "\n"
         "  annudf.init {\n    %0 = annudf.load %first[] : !annudf.capture<f64>\n    annudf.yield "
         "%0 : f64\n  }\n"
         "  annudf.update (%acc: f64, %x: f64, %y: f64) {\n"
         "    %d = annudf.index dim\n    %v = annudf.load %c[" +
         (isArray ? "%d" : "") + "] : " + type + "\n    " + test.toF64 +
         "\n    %r = arith.addf %acc, %f : f64\n    annudf.yield %r : f64\n  }\n}\n";
}

template <typename T> void checkCapture(const CaptureCase &test) {
  const T values[] = {T(1), T(-2), T(100), T(-100)};
  HookJit array(compileText(captureText(test, true), haveLibNvvm()));
  array.bind(0, 8.0);
  array.bind(1, &values[0]);
  EXPECT_EQ(std::bit_cast<double>(array.init<uint64_t>()), 8.0);
  for (int dim = 0; dim < 4; ++dim) {
    auto sum = array.update<uint64_t>(ANNUDF_ELEMENT_F32, 0, 0, 0, dim, 1, 4);
    EXPECT_EQ(std::bit_cast<double>(sum), double(values[dim])) << test.type << " dim " << dim;
  }
  HookJit scalar(compileText(captureText(test, false), haveLibNvvm()));
  for (T value : values) {
    scalar.bind(1, value);
    auto sum = scalar.update<uint64_t>(ANNUDF_ELEMENT_F32, 0, 0, 0, 0, 1, 4);
    EXPECT_EQ(std::bit_cast<double>(sum), double(value)) << test.type;
  }
}

TEST(Captures, EveryElementType) {
  for (const CaptureCase &test : kCaptureCases) {
    std::string type = test.type;
    if (type == "f32")
      checkCapture<float>(test);
    else if (type == "f64")
      checkCapture<double>(test);
    else if (type == "i32")
      checkCapture<int32_t>(test);
    else
      checkCapture<uint32_t>(test);
  }
}

constexpr const char *kInlined = R"(
annudf.metric @m order(min) coarse(l2) elements(f32) {
  %p = annudf.capture "p" : !annudf.capture<f32>
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %q = annudf.capture "q" : !annudf.capture<f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = annudf.index dim
    %1 = annudf.load %w[%d] : !annudf.capture<dim x f32>
    %2 = annudf.load %p[] : !annudf.capture<f32>
    %3 = annudf.load %q[] : !annudf.capture<f32>
    %4 = arith.mulf %1, %2 : f32
    %5 = arith.addf %4, %3 : f32
    annudf.yield %5 : f32
  }
}
)";

TEST(Captures, WithValuesTakeNoSlot) {
  Artifact artifact =
      compileText(kInlined, haveLibNvvm(),
                  "dims=3 values={p = 2.0 : f32, w = dense<[1.0, 10.0, 100.0]> : tensor<3xf32>}");
  ASSERT_EQ(artifact.manifest.captures.size(), 1u);
  EXPECT_EQ(artifact.manifest.captures[0].name, "q");
  EXPECT_EQ(artifact.manifest.dims, 3);
  HookJit hooks(artifact);
  hooks.bind(0, 0.5f);
  EXPECT_EQ(hooks.dims(), 3);
  const float expected[] = {2.5f, 20.5f, 200.5f};
  for (int dim = 0; dim < 3; ++dim)
    EXPECT_EQ(std::bit_cast<float>(hooks.update<uint32_t>(ANNUDF_ELEMENT_F32, 0, 0, 0, dim, 1, 3)),
              expected[dim]);
}

TEST(Examples, CompileForTheHostAndEveryArchitecture) {
  CompileOptions options;
  options.ltoIr = haveLibNvvm();
  for (const char *name :
       {"chebyshev", "hamming", "inner_product", "l1", "l2", "minkowski", "weighted_l2"}) {
    std::vector<std::string> warnings;
    Artifact artifact =
        compileMetricFile(std::string(ANNUDF_EXAMPLES "/") + name + ".mlir", options, &warnings);
    EXPECT_TRUE(warnings.empty()) << warnings.front();
    EXPECT_EQ(artifact.manifest.name, name);
    if (options.ltoIr)
      for (int sm : supportedArchs())
        EXPECT_EQ(artifact.findLtoIr(sm)->arch(), "sm_" + std::to_string(sm));
    HookJit hooks(artifact);
    EXPECT_EQ(hooks.order(), artifact.manifest.order);
    // What a reader gets back is what was written.
    EXPECT_EQ(parseArtifact(serializeArtifact(artifact), name).payloads.size(),
              artifact.payloads.size());
  }
}

} // namespace
