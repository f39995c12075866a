//===- ProcessorTest.cpp - Scans for a processor that is asked for --------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu/jit/Processor.h"
#include "ProductsTesting.h"
#include "TestMetrics.h"
#include "cpu/jit/ScanCache.h"

#include <gtest/gtest.h>

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::test;

namespace {

struct WithProcessor : With {
  explicit WithProcessor(const char *name) : With("ANNUDF_PROCESSOR", name) {}
};

std::string refusal() {
  return errorOf([] { (void)cpu::askedProcessor(); }, ErrorKind::Usage);
}

TEST(CpuProcessor, IsThisMachinesWhereNoneIsAskedFor) {
  const WithProcessor with("");
  EXPECT_EQ(cpu::askedProcessor(), "");
  unsetenv("ANNUDF_PROCESSOR");
  EXPECT_EQ(cpu::askedProcessor(), "");
}

TEST(CpuProcessor, IsRefusedWhereLlvmDoesNotKnowIt) {
  const WithProcessor with("x86-64-v9");
  EXPECT_EQ(refusal(), "ANNUDF_PROCESSOR is 'x86-64-v9', which LLVM does not know; give one that "
                       "llc -mcpu=help lists, or unset it");
}

#if defined(__x86_64__)
TEST(CpuProcessor, IsRefusedWhereThisMachineLacksWhatItHas) {
  // No machine has both Intel's tiles and AMD's SSE4a.
  const std::string asked = __builtin_cpu_supports("sse4a") ? "sapphirerapids" : "barcelona";
  const WithProcessor with(asked.c_str());
  const std::string expected =
      "ANNUDF_PROCESSOR is '" + asked + "', which this machine cannot run: it lacks ";
  EXPECT_EQ(refusal().substr(0, expected.size()), expected);
  EXPECT_GT(refusal().size(), expected.size());
}

TEST(CpuProcessor, OfAScanIsAnotherScan) {
  const Metric metric = compiled(testMetric("l2"));
  cpu::ScanCache cache;
  const auto isMade = [&] {
    bool made = false;
    cache.get(metric, ANNUDF_ELEMENT_F32, made);
    return made;
  };
  EXPECT_TRUE(isMade());
  {
    const WithProcessor with("x86-64");
    EXPECT_TRUE(isMade());
    EXPECT_FALSE(isMade());
  }
  EXPECT_FALSE(isMade());
  EXPECT_EQ(cache.size(), 2u);
}
#endif

} // namespace
