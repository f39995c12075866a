//===- LinkedTest.cpp - Lambdas that call linked code ---------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled for GPUs and looked at, which needs the CUDA toolkit and no GPU; without it skipped.
//
//===----------------------------------------------------------------------===//

#include "CppApi.h"

using namespace cpp_api;

namespace {

using Scaled = annudf::linked<float(float, float)>;

const char *const kSource =
    "extern \"C\" __device__ float scaled(float x, float y) { return 2 * (x - y); }";
const char *const kPtx = ".version 8.0\n.target sm_90\n.address_size 64\n"
                         ".visible .func (.param .b32 r) scaled(.param .b32 x, .param .b32 y) { "
                         "ret; }\n";

annudf::metric calling(const Scaled &scaled) {
  return {"linked", [=](auto x, auto y, auto acc) {
            auto d = scaled(x, y);
            return acc + d * d;
          }};
}

/// Runs what needs libNVVM, NVRTC and nvJitLink.
template <class Call> void withToolkit(Call call) {
  try {
    call();
  } catch (const annudf::error &error) {
    if (error.code() != annudf::errc::environment)
      throw;
    GTEST_SKIP() << "linked code is NOT compiled: " << error.what();
  }
}

template <class Call> annudf::error refusal(Call call) {
  try {
    call();
  } catch (const annudf::error &error) {
    if (error.code() == annudf::errc::environment)
      throw;
    return error;
  }
  return {annudf::errc::internal, "nothing was thrown"};
}

TEST(CppLinked, IsCarriedAndNotVerified) {
  withToolkit([] {
    const annudf::artifact made = calling({"scaled", {annudf::cuda_source(kSource)}}).artifact();
    EXPECT_FALSE(made.is_verified());
    EXPECT_FALSE(made.has_host_code());
    const std::string said = made.describe();
    EXPECT_NE(said.find("verified      no: prototypes were checked, what linked code does was not"),
              std::string::npos)
        << said;
    EXPECT_NE(said.find("linked-lto-ir sm_75, "), std::string::npos) << said;
  });
}

TEST(CppLinked, NumbasConvention) {
  withToolkit([] {
    const annudf::artifact made =
        calling({"scaled",
                 {annudf::cuda_source("extern \"C\" __device__ int scaled(float *r, float x, float "
                                      "y) { *r = x - y; return 0; }")},
                 {.convention = annudf::convention::numba}})
            .artifact();
    EXPECT_FALSE(made.is_verified());
  });
}

TEST(CppLinked, PtxIsOfItsArchitectureAndNewer) {
  withToolkit([] {
    const annudf::artifact made = calling({"scaled", {annudf::ptx(kPtx)}}).artifact();
    EXPECT_EQ(made.archs().front(), "sm_90");
    EXPECT_NE(made.describe().find("linked-ptx    sm_90, "), std::string::npos);
  });
}

TEST(CppLinked, ACpuIsRefused) {
  const auto metric = calling({"scaled", {annudf::cuda_source(kSource)}});
  const std::vector<float> x = {0, 0};
  const annudf::matrix_view rows(x, 2);
  const annudf::error said = refusal([&] {
    annudf::pairwise_distance(rows, rows, {.metric = metric, .backend = annudf::backend::cpu(1)});
  });
  EXPECT_EQ(said.code(), annudf::errc::compile);
  EXPECT_EQ(std::string(said.what()),
            std::string(__FILE__) +
                ": calls linked device code, which runs on a GPU only; leave host code out");
}

TEST(CppLinked, RefusalsAreAtTheDeclaration) {
  withToolkit([] {
    const auto at = [](const std::string &code, annudf::convention how = annudf::convention::c) {
      const auto metric =
#line 4000
          calling({"scaled", {annudf::cuda_source(code)}, {.convention = how}});
      return refusal([&] { (void)metric.artifact(); });
    };
    const std::string scaled = "extern \"C\" __device__ float scaled(float x, float y) { return x";
    const struct {
      std::string code, message;
    } cases[] = {
        {scaled + " + z; }", "does not compile: line 1: identifier \"z\" is undefined"},
        {"extern \"C\" __device__ float other(float x) { return x; }",
         "does not define it, as extern \"C\" has it"},
        {scaled + "; } extern \"C\" __device__ __attribute__((weak)) float "
                  "annudf1_scan_update_a32_x32(float a) { return a; }",
         "defines annudf1_scan_update_a32_x32, a name reserved for annudf; rename it"},
    };
    for (const auto &[code, message] : cases) {
      const annudf::error said = at(code);
      EXPECT_EQ(said.code(), annudf::errc::compile) << said.what();
      EXPECT_EQ(said.location().file, std::string(__FILE__)) << said.what();
      EXPECT_EQ(said.location().line, 4000) << said.what();
      EXPECT_NE(std::string(said.what()).find("code linked for 'scaled' " + message),
                std::string::npos)
          << said.what();
    }
  });
}

TEST(CppLinked, WhatATraceRefusesIsAnErrorOfTheCompiler) {
  const Scaled one("scaled", {annudf::cuda_source(kSource)});
  const Scaled other("scaled", {annudf::ptx(kPtx)});
  EXPECT_EQ(error_of([&] {
              annudf::metric(
                  "m", [=](auto x, auto y, auto acc) { return acc + one(x, y) + other(x, y); });
            }),
            "5 linked function 'scaled' is declared with different code; a linker knows it by its "
            "name, so give one of them another");
}

} // namespace
