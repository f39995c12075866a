//===- WidthTest.cpp - Scans with vectors of several widths ---------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How wide the vectors are decides how long a search takes, and nothing of what it finds.
//
//===----------------------------------------------------------------------===//

#include "cpu/jit/Width.h"
#include "ScanEvery.h"
#include "TestMetrics.h"

#include "annudf/runtime/engine/Search.h"
#include "annudf/runtime/ivf_flat/Index.h"

#include "llvm/IRReader/IRReader.h"
#include "llvm/Support/MemoryBufferRef.h"
#include "llvm/Support/SourceMgr.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::test;

namespace {

#if defined(__x86_64__)

bool hasAvx512() { return __builtin_cpu_supports("x86-64-v4") != 0; }

/// Whether the scan uses registers of 512 bits.
bool isWide(const Metric &metric, const cpu::ScanTarget &host) {
  return cpu::scanAssembly(metric, ANNUDF_ELEMENT_F32, host).find("%zmm") != std::string::npos;
}

TEST(CpuWidth, WidthsGiveTheSameBits) {
  if (!hasAvx512())
    GTEST_SKIP() << "this host has no AVX-512 (x86-64-v4)";
  constexpr int kRows = 75;
  for (const TestMetric &test : testMetrics()) {
    const Metric metric = compiled(test);
    const bool usesLibm = test.name == "minkowski"; // Another variant, another last place.
    for (annudf_element element : test.elements) {
      if (element == ANNUDF_ELEMENT_BF16 || element == ANNUDF_ELEMENT_I8)
        continue; // As f16 and u8 are.
      const auto narrow = cpu::compileScan(metric, element, {.vectorBits = 256});
      const auto wide = usesLibm ? cpu::compileScan(metric, element)
                                 : cpu::compileScan(metric, element, {.vectorBits = 512});
      for (int32_t dims : {5, 33, 64}) {
        if (!faultOfDims(element, dims).empty())
          continue;
        const auto base = reference::randomVectors(element, kRows, dims, 31);
        IndexParams params;
        params.nLists = 1;
        const Index index = Index::build(params, view(base));
        for (int count : {1, 3, 6}) {
          const auto queries = reference::randomVectors(element, count, dims, 32);
          const auto expected = scanEvery(*narrow, index, metric, view(queries));
          const auto found = scanEvery(*wide, index, metric, view(queries));
          for (size_t q = 0; q < expected.size(); ++q)
            ASSERT_EQ(std::memcmp(expected[q].data(), found[q].data(),
                                  expected[q].size() * sizeof(float)),
                      0)
                << test.name << " " << toString(element) << " dims " << dims << " query " << q;
        }
      }
    }
  }
}

TEST(CpuWidth, AForcedWidthIsTheWidth) {
  if (!hasAvx512())
    GTEST_SKIP() << "this host has no AVX-512 (x86-64-v4)";
  const Metric metric = compiled(testMetric("weighted_l2"));
  EXPECT_TRUE(isWide(metric, {.vectorBits = 512}));
  EXPECT_FALSE(isWide(metric, {.vectorBits = 256}));
}

/// By what a processor can do: those from FP16 on use 512 bits, the older ones what LLVM says.
TEST(CpuWidth, IsChosenByFeatures) {
  const Metric l2 = compiled(testMetric("l2"));
  EXPECT_EQ(cpu::scanKey(l2, ANNUDF_ELEMENT_F32, {"skylake-avx512"}).vectorBits, 256u);
  EXPECT_EQ(cpu::scanKey(l2, ANNUDF_ELEMENT_F32, {"icelake-server"}).vectorBits, 256u);
  EXPECT_EQ(cpu::scanKey(l2, ANNUDF_ELEMENT_F32, {"rocketlake"}).vectorBits, 256u);
  EXPECT_EQ(cpu::scanKey(l2, ANNUDF_ELEMENT_F32, {"sapphirerapids"}).vectorBits, 512u);
  EXPECT_EQ(cpu::scanKey(l2, ANNUDF_ELEMENT_F32, {"znver4"}).vectorBits, 512u);
  EXPECT_EQ(cpu::scanKey(l2, ANNUDF_ELEMENT_F32, {"x86-64-v3"}).vectorBits, 256u);
  EXPECT_TRUE(isWide(l2, {"sapphirerapids"}));
  EXPECT_FALSE(isWide(l2, {"skylake-avx512"}));
}

/// Functions of libmvec differ in their last place from width to width, so they keep the one that
/// they had.
TEST(CpuWidth, FunctionsOfLibmKeepTheirWidth) {
  const Metric functions = Metric::fromArtifact(
      artifactOf(testMetric("l2"), readBitcode("functions")), "functions.annudf");
  EXPECT_FALSE(isWide(functions, {"sapphirerapids"}));
  EXPECT_FALSE(isWide(compiled(testMetric("minkowski")), {"sapphirerapids"}));
  EXPECT_TRUE(isWide(compiled(testMetric("cosine")), {"sapphirerapids"}));
}

TEST(CpuWidth, AnotherWidthIsAnotherKernel) {
  const Metric l2 = compiled(testMetric("l2"));
  EXPECT_NE(cpu::scanKey(l2, ANNUDF_ELEMENT_F32, {.vectorBits = 256}).digest(),
            cpu::scanKey(l2, ANNUDF_ELEMENT_F32, {.vectorBits = 512}).digest());
}

#endif

/// A hook whose one operation has the flags, as text.
bool isSame(const std::string &operation) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic fault;
  const std::string text =
      "declare float @llvm.exp2.f32(float)\ndeclare float @llvm.sqrt.f32(float)\n"
      "define float @hook(float %x, float %y) {\n  %r = " +
      operation + "\n  ret float %r\n}\n";
  const auto module = llvm::parseIR(llvm::MemoryBufferRef(text, "hook"), fault, context);
  if (!module)
    throw std::runtime_error(fault.getMessage().str());
  // What is declared and not called counts too: bitcode of hooks has no such.
  for (llvm::Function &function : llvm::make_early_inc_range(*module))
    if (function.isDeclaration() && function.use_empty())
      function.eraseFromParent();
  return cpu::isSameAtAnyWidth(*module);
}

TEST(CpuWidth, EstimatesAndFreeOrderKeepTheirWidth) {
  EXPECT_TRUE(isSame("fdiv float %x, %y"));
  EXPECT_TRUE(isSame("fmul contract nsz float %x, %y"));
  EXPECT_TRUE(isSame("call float @llvm.sqrt.f32(float %x)"));
  EXPECT_FALSE(isSame("fdiv arcp float %x, %y"));
  EXPECT_FALSE(isSame("fadd reassoc float %x, %y"));
  EXPECT_FALSE(isSame("call afn float @llvm.sqrt.f32(float %x)"));
  EXPECT_FALSE(isSame("call float @llvm.exp2.f32(float %x)"));
}

} // namespace
