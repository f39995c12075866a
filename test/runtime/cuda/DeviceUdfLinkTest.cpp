//===- DeviceUdfLinkTest.cpp - Descriptors of device UDFs in the scan -----===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A descriptor that was made of a metric, or that another program made, is imported and linked with
// the scan kernels as a search does it; so is a metric that calls linked code. Needs nvJitLink and
// no GPU.
//
//===----------------------------------------------------------------------===//

#include "Compiler/WeightedMetric.h"
#include "annudf/Compiler/DeviceUdf.h"
#include "cuda/link/Linker.h"
#include "cuda/plan/Families.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <functional>

using namespace annudf;

namespace {

const char *const kSource = "cuda_source \"extern \\22C\\22 __device__ float their_scaled(float x, "
                            "float y) { return 2 * (x "
                            "- y); }\"";

const char *const kFunction =
    R"(annudf.function @their_scaled convention(c) (f32, f32) -> f32 {
  annudf.body (%x: f32, %y: f32) {
    %two = arith.constant 2.0 : f32
    %d = arith.subf %x, %y : f32
    %r = arith.mulf %two, %d : f32
    annudf.yield %r : f32
  }
})";

const char *const kCallsLinked = R"(
annudf.metric @linked order(min) coarse(l2) elements(f32) numerics(reassociate) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = annudf.call @their_scaled(%x, %y) : (f32, f32) -> f32
    %r = math.fma %d, %d, %acc : f32
    annudf.yield %r : f32
  }
})";

UdfCapture capture() {
  UdfCapture made;
  made.name = "w";
  made.dtype = "float32";
  made.shape = {128};
  made.pointer = 0x1000;
  return made;
}

/// LTO-IR, of our own compiler.
DeviceUdf ofMetric() {
  CompileOptions options;
  options.ltoIr = false;
  DeviceUdfOptions out;
  out.arch = "sm_80";
  out.symbol = "their_weighted_l2";
  out.captures = {capture()};
  out.dims = 128;
  return makeDeviceUdf(compileMetric(test::kWeighted, "weighted.mlir", options), "weighted.mlir",
                       out);
}

DeviceUdf ofSource() {
  DeviceUdf udf;
  udf.kind = UdfPayload::CudaSource;
  udf.payload = "extern \"C\" __device__ float their_weighted_l2(float x, float y, float acc,\n"
                "    const float *w, long long dim) {\n"
                "  return acc + w[dim] * (x - y) * (x - y);\n}\n";
  udf.symbol = "their_weighted_l2";
  udf.captures = {capture()};
  return udf;
}

/// Skips where a library of the toolkit is missing, and only there.
Artifact imported(const std::function<DeviceUdf()> &make, const std::vector<std::string> &archs) {
  DeviceUdfImport options;
  options.archs = archs;
  return compileDeviceUdf(make(), "<device UDF>", options);
}

/// A piece of code as link() has it.
std::string asLink(const char *kind, const std::string &bytes) {
  std::string text = kind + std::string(" \"");
  constexpr char digits[] = "0123456789ABCDEF";
  for (const char byte : bytes) {
    const auto bits = static_cast<unsigned char>(byte);
    text += {'\\', digits[bits >> 4], digits[bits & 15]};
  }
  return text + '"';
}

/// A device function of annudf's own.
std::string compiled(Stage stage) {
  CompileOptions options;
  options.archs = {"sm_80"};
  return lowerMetric(kFunction, "function.mlir", stage, options);
}

/// Calls annudf.extern: its code lies beside the hooks.
Artifact callsLinked(const std::string &link, PayloadKind kind) {
  CompileOptions options;
  options.archs = {"sm_80"};
  Artifact artifact =
      compileMetric("annudf.extern @their_scaled convention(c) (f32, f32) -> f32 link(" + link +
                        ")" + kCallsLinked,
                    "linked.mlir", options);
  EXPECT_TRUE(std::ranges::any_of(artifact.payloads,
                                  [&](const Payload &payload) { return payload.kind == kind; }));
  return artifact;
}

class DeviceUdfLinks : public testing::TestWithParam<int> {
protected:
  /// \param isCalled  whether `symbol` is left in the kernels.
  void link(const std::function<Artifact()> &make, const char *symbol, bool isCalled = false) {
    using namespace runtime::cuda;
    try {
      const Artifact artifact = make();
      const auto families = familiesFor(artifact, GetParam());
      EXPECT_FALSE(families.empty());
      for (const CudaFamily *family : families) {
        const ScanTarget target = {ANNUDF_ELEMENT_F32, GetParam(), family->entries().front()};
        const std::string cubin = linkScanKernel(artifact, target);
        EXPECT_EQ(cubin.substr(0, 4), "\x7f"
                                      "ELF");
        for (const char *entry : {target.entry.kernel, "annudf_read_contract"})
          EXPECT_NE(cubin.find(entry), std::string::npos) << entry;
        // The function is a part of the kernel, and nothing of it is left to be called; but PTX is
        // machine code before anything could be inlined.
        EXPECT_EQ(cubin.find(symbol) != std::string::npos, isCalled) << target.entry.kernel;
      }
    } catch (const Error &error) {
      if (error.kind() != ErrorKind::Environment)
        throw;
      GTEST_SKIP() << "code of others is NOT linked: " << error.what();
    }
  }
};

} // namespace

TEST_P(DeviceUdfLinks, LtoIr) {
  link([] { return imported(ofMetric, {"sm_80"}); }, "their_weighted_l2");
}

TEST_P(DeviceUdfLinks, CudaSource) {
  link([] { return imported(ofSource, {"sm_80"}); }, "their_weighted_l2");
}

TEST_P(DeviceUdfLinks, ExternOfCudaSource) {
  link([] { return callsLinked(kSource, PayloadKind::LinkedLtoIr); }, "their_scaled");
}

TEST_P(DeviceUdfLinks, ExternOfLtoIr) {
  link(
      [] { return callsLinked(asLink("ltoir", compiled(Stage::LtoIr)), PayloadKind::LinkedLtoIr); },
      "their_scaled");
}

TEST_P(DeviceUdfLinks, ExternOfPtx) {
  link([] { return callsLinked(asLink("ptx", compiled(Stage::Ptx)), PayloadKind::LinkedPtx); },
       "their_scaled", /*isCalled=*/true);
}

/// A metric by LLVM's NVPTX backend: the scan calls its hooks, too.
TEST_P(DeviceUdfLinks, Nvptx) {
  link(
      [] {
        CompileOptions options;
        options.deviceBackend = DeviceBackend::Nvptx;
        return compileMetric(test::kWeighted, "weighted.mlir", options);
      },
      "annudf1_scan_update_a32_x32", /*isCalled=*/true);
}

INSTANTIATE_TEST_SUITE_P(Cuda, DeviceUdfLinks, testing::Values(80, 90, 100),
                         [](const auto &info) { return "sm" + std::to_string(info.param); });

TEST(DeviceUdfLink, WhatIsMissingIsNamed) {
  Artifact artifact;
  try {
    artifact = imported(ofMetric, {"sm_80"});
    (void)runtime::cuda::linkerVersion();
  } catch (const Error &error) {
    if (error.kind() != ErrorKind::Environment)
      throw;
    GTEST_SKIP() << "imported descriptors are NOT linked: " << error.what();
  }
  // Without the code of the descriptor its hooks call what is not there.
  std::erase_if(artifact.payloads,
                [](const Payload &payload) { return payload.kind == PayloadKind::LinkedLtoIr; });
  try {
    runtime::cuda::linkScanKernel(
        artifact, {ANNUDF_ELEMENT_F32, 90, runtime::cuda::families()[0]->entries().front()});
    FAIL() << "it was linked";
  } catch (const Error &error) {
    EXPECT_NE(std::string(error.what()).find("their_weighted_l2"), std::string::npos)
        << error.what();
  }
}
