//===- FusionTest.cpp - What the linker makes of products and sums --------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// acc + (x * x + y * y) has two products that one sum can take. The linker fused one in kernels
// that use each once, the other where a tile uses it often, and in some kernels added both to acc
// one by one: equal searches gave distances that differed in their last bit by the size of the
// batch. Needs libNVVM and nvJitLink, and no GPU.
//
//===----------------------------------------------------------------------===//

#include "annudf/Compiler/Compiler.h"
#include "annudf/runtime/engine/Search.h"
#include "cuda/link/Linker.h"
#include "cuda/plan/Families.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

using namespace annudf;
using namespace annudf::runtime;

namespace {

std::string metricOf(const std::string &update) {
  return "annudf.metric @m order(min) coarse(l2) elements(f32) {\n"
         "  annudf.init {\n"
         "    %0 = arith.constant 0.0 : f32\n"
         "    annudf.yield %0 : f32\n"
         "  }\n"
         "  annudf.update (%acc: f32, %x: f32, %y: f32) {\n" +
         update +
         "    annudf.yield %next : f32\n"
         "  }\n"
         "}\n";
}

std::string twoProducts() {
  return metricOf("    %xx = arith.mulf %x, %x : f32\n"
                  "    %yy = arith.mulf %y, %y : f32\n"
                  "    %sum = arith.addf %xx, %yy : f32\n"
                  "    %next = arith.addf %acc, %sum : f32\n");
}
std::string noProduct() {
  return metricOf("    %d = arith.subf %x, %y : f32\n"
                  "    %next = arith.maximumf %acc, %d : f32\n");
}

Artifact compiled(const std::string &text) {
  CompileOptions options;
  options.archs = {"sm_80"};
  return compileMetric(text, "m.mlir", options);
}

/// How often each instruction on f32 is in PTX, with what it says of rounding.
std::map<std::string, int> floatInstructions(const std::string &ptx) {
  std::map<std::string, int> counts;
  std::istringstream words(ptx);
  for (std::string word; words >> word;)
    if (word.ends_with(".f32") &&
        (word.starts_with("add") || word.starts_with("mul") || word.starts_with("fma")))
      ++counts[word];
  return counts;
}

bool isTold(const Artifact &artifact, const cuda::ScanTarget &target) {
  const std::vector<std::string> options =
      cuda::linkKey(Metric::fromArtifact(artifact, "test"), target).options;
  return std::ranges::find(options, "-fma=0") != options.end();
}

} // namespace

class CudaFusion : public testing::Test {
protected:
  void SetUp() override {
    try {
      two = compiled(twoProducts()), none = compiled(noProduct());
      (void)cuda::linkerVersion();
    } catch (const Error &error) {
      if (error.kind() != ErrorKind::Environment)
        throw;
      GTEST_SKIP() << "fusion is NOT checked: " << error.what();
    }
  }
  Artifact two, none;
};

TEST_F(CudaFusion, TheLinkerFusesNothing) {
  std::set<std::string> seen;
  for (const cuda::ScanEntry &entry : cuda::entriesFor(two, 90)) {
    SCOPED_TRACE(entry.kernel);
    const cuda::ScanTarget target = {ANNUDF_ELEMENT_F32, 90, entry};
    EXPECT_TRUE(isTold(two, target));
    const std::optional<std::string> text = cuda::scanText(two, target);
    if (!text)
      continue; // A link of the whole leaves no text to look at.
    seen.insert(entry.kernel);
    std::map<std::string, int> counts = floatInstructions(*text);
    // Each update has one of each; the product may be shared. The kernel has some of its own.
    std::map<std::string, int> own = floatInstructions(cuda::scanText(none, target).value());
    EXPECT_GT(counts["mul.rn.f32"], own["mul.rn.f32"]);
    EXPECT_GT(counts["add.rn.f32"], 0);
    EXPECT_EQ(counts["add.rn.f32"], counts["fma.rn.f32"] - own["fma.rn.f32"]);
    // Without .rn the assembler may fuse them.
    EXPECT_EQ(counts["mul.f32"] + counts["add.f32"], 0);
  }
  EXPECT_EQ(seen, (std::set<std::string>{"annudf_finish_exact", "annudf_finish_granules",
                                         "annudf_scan_pair", "annudf_scan_staged"}));
}

/// Code of others is fused by the linker, as nobody else would.
TEST_F(CudaFusion, CodeOfOthersIsLeftToTheLinker) {
  const cuda::ScanTarget target = {ANNUDF_ELEMENT_F32, 90, cuda::families()[0]->entries().front()};
  Artifact linked = two;
  linked.manifest.verified.reset();
  linked.payloads.push_back(Payload::linkedLtoIr(80, "", {"nvrtc", "13.0"}, "x"));
  EXPECT_FALSE(isTold(linked, target));
  for (Payload &payload : two.payloads)
    if (payload.kind == PayloadKind::LtoIr)
      payload.producer.name = "nvrtc";
  EXPECT_FALSE(isTold(two, target));
}
