//===- LibNvvmTest.cpp - Finding libNVVM; reading prototypes back ---------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HookJit.h"

#include "annudf/Target/LibNvvm.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <optional>
#include <regex>

using namespace annudf;

namespace {

/// Sets a variable of the environment for the duration of a test.
class Variable {
public:
  Variable(const char *name, const char *value) : name(name) {
    if (const char *old = std::getenv(name))
      before = old;
    setenv(name, value, 1);
  }
  ~Variable() { before ? setenv(name, before->c_str(), 1) : unsetenv(name); }

private:
  const char *name;
  std::optional<std::string> before;
};

std::string compileFor(const std::string &arch) {
  CompileOptions options;
  options.archs = {arch};
  try {
    compileMetricFile(ANNUDF_EXAMPLES "/l2.mlir", options);
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

TEST(LibNvvm, UnknownArchitectureIsNamedBesideTheKnown) {
  for (const char *arch : {"sm_70", "sm_9", "sm_090", "90", "sm_90a", "compute_90", ""})
    EXPECT_EQ(compileFor(arch), "unknown architecture '" + std::string(arch) +
                                    "'; supported are sm_75, sm_80, sm_86, sm_89, sm_90, sm_100, "
                                    "sm_103, sm_120, sm_121");
}

TEST(LibNvvm, WhereItWasLookedForIsSaid) {
  Variable named("ANNUDF_LIBNVVM", "/nowhere/libnvvm.so.4");
  EXPECT_EQ(compileFor("sm_90"),
            "libNVVM of CUDA 13 not found; looked at /nowhere/libnvvm.so.4 (install the CUDA "
            "toolkit or the PyPI package nvidia-nvvm, or name the library with ANNUDF_LIBNVVM)");
  std::string searched;
  EXPECT_EQ(describeLibNvvm(&searched), "");
  EXPECT_NE(searched.find("/nowhere/libnvvm.so.4"), std::string::npos);
}

TEST(LibNvvm, AnotherLibraryIsNotTakenForIt) {
  // Any shared library will do; the C library is always there.
  Variable named("ANNUDF_LIBNVVM", "libm.so.6");
  EXPECT_NE(compileFor("sm_90").find("libm.so.6 (has no nvvmVersion)"), std::string::npos);
}

TEST(LibNvvm, WithoutItAllButLtoIrIsMade) {
  Variable named("ANNUDF_LIBNVVM", "/nowhere/libnvvm.so.4");
  std::vector<std::string> warnings;
  Artifact artifact = compileMetricFile(ANNUDF_EXAMPLES "/l2.mlir", {}, &warnings);
  EXPECT_EQ(artifact.find(PayloadKind::LtoIr), nullptr);
  EXPECT_NE(artifact.find(PayloadKind::HostBitcode), nullptr);
  EXPECT_NE(artifact.find(PayloadKind::MlirBytecode), nullptr);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0].find("no LTO-IR, so the artifact runs on CPUs only: libNVVM"), 0u);
}

TEST(LibNvvm, RefusesWhatIsNotIr) {
  if (!test::haveLibNvvm())
    GTEST_SKIP() << "no libNVVM";
  auto nvvm = llvm::cantFail(LibNvvm::load());
  EXPECT_GE(std::stoi(nvvm->release()), 13);
  auto code = nvvm->compile("this is not IR", 90, DeviceCode::LtoIr);
  ASSERT_FALSE(bool(code));
  std::string why = llvm::toString(code.takeError());
  EXPECT_EQ(why.find("libNVVM refused to"), 0u) << why;
  EXPECT_EQ(why.find('\n'), std::string::npos) << why;
}

/// A minimum is no constant before libNVVM.
constexpr const char *kSelfComparison = R"(
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %zero = arith.constant 0.0 : f16
    %64 = arith.constant 64.0 : f16
    %least = arith.minimumf %zero, %64 : f16
    %integer = arith.fptosi %least : f16 to i8
    %value = arith.sitofp %integer : i8 to TYPE
    %nan = arith.divf %value, %value : TYPE
    %compared = arith.cmpf PREDICATE, %nan, %nan : TYPE
    %7 = arith.constant 7.0 : f32
    %8 = arith.constant 8.0 : f32
    %result = arith.select %compared, %7, %8 : f32
    annudf.yield %result : f32
  }
})";

/// Whether a NaN that only libNVVM can compute, 0 / 0, is one where it is compared with itself.
TEST(LibNvvm, ANanOfConstantsDiffersFromItself) {
  if (!test::haveLibNvvm())
    GTEST_SKIP() << "no libNVVM";
  for (std::string type : {"f16", "f32", "f64"})
    for (const char *arch : {"sm_75", "sm_90", "sm_100"})
      for (std::string predicate : {"uno", "une", "ult", "ugt", "oeq", "ord", "oge", "ole"}) {
        CompileOptions options;
        options.archs = {arch};
        std::string text =
            std::regex_replace(std::string(kSelfComparison), std::regex("TYPE"), type);
        text = std::regex_replace(text, std::regex("PREDICATE"), predicate);
        const std::string ptx = lowerMetric(text, "m", Stage::Ptx, options);
        // 7.0 as a float or as the word that the hook returns.
        const bool holds = predicate[0] == 'u';
        EXPECT_TRUE(ptx.find(holds ? "0f40E00000" : "0f41000000") != std::string::npos ||
                    ptx.find(holds ? "1088421888" : "1090519040") != std::string::npos)
            << type << " " << arch << " " << predicate << "\n"
            << ptx;
      }
}

//===----------------------------------------------------------------------===//
// Prototypes
//===----------------------------------------------------------------------===//

constexpr const char *kPtx = R"(//
.version 9.0
.visible .func  (.param .b32 func_retval0) annudf1_scan_init_a32(
	.param .b32 annudf1_scan_init_a32_param_0,
	.param .b32 annudf1_scan_init_a32_param_1,
	.param .b32 annudf1_scan_init_a32_param_2,
	.param .b64 annudf1_scan_init_a32_param_3
)
{ ret; }
.visible .func  (.param .b32 func_retval0) annudf1_scan_update_a32_x32(
	.param .b32 p0, .param .b32 p1, .param .b32 p2, .param .b32 p3, .param .b32 p4,
	.param .b64 p5, .param .b32 p6, .param .b32 p7, .param .b64 p8
)
{ ret; }
.visible .func  (.param .b32 func_retval0) annudf1_scan_finalize_a32(
	.param .b32 p0, .param .b32 p1, .param .b64 p2, .param .b32 p3, .param .b32 p4, .param .b64 p5
)
{ ret; }
.visible .func  (.param .b64 func_retval0) annudf1_scan_contract()
{ ret; }
)";

HookShape allHooks() { return {{}, {ANNUDF_HOOK_INIT, ANNUDF_HOOK_UPDATE, ANNUDF_HOOK_FINALIZE}}; }

std::string check(const std::string &ptx, const HookShape &shape = allHooks()) {
  return llvm::toString(checkPrototypes(ptx, shape));
}

std::string replaced(std::string text, const std::string &from, const std::string &to) {
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Prototypes, ThoseOfTheHeaderPass) { EXPECT_EQ(check(kPtx), ""); }

TEST(Prototypes, AnotherWidthOfAParameterIsShownBesideTheHeaders) {
  EXPECT_EQ(
      check(replaced(kPtx, ".param .b32 annudf1_scan_init_a32_param_1",
                     ".param .b64 annudf1_scan_init_a32_param_1")),
      "the compiled metric has annudf1_scan_init_a32 as .b32(.b32, .b64, .b32, .b64), annudf_abi.h "
      "declares .b32(.b32, .b32, .b32, .b64)");
}

TEST(Prototypes, AMissingParameterToo) {
  EXPECT_EQ(
      check(replaced(kPtx, ", .param .b64 p5", "")),
      "the compiled metric has annudf1_scan_finalize_a32 as .b32(.b32, .b32, .b64, .b32, .b32), "
      "annudf_abi.h declares .b32(.b32, .b32, .b64, .b32, .b32, .b64)");
}

TEST(Prototypes, AMissingHook) {
  EXPECT_EQ(check(replaced(kPtx, "annudf1_scan_contract", "contract")),
            "the compiled metric does not define annudf1_scan_contract, annudf_abi.h declares "
            ".b64()");
}

TEST(Prototypes, AHookThatTheMetricDoesNotHave) {
  EXPECT_EQ(check(kPtx, {{}, {ANNUDF_HOOK_INIT, ANNUDF_HOOK_UPDATE}}),
            "the compiled metric defines annudf1_scan_finalize_a32, "
            "which its list of hooks does not have");
}

TEST(Prototypes, OtherWidths) {
  EXPECT_EQ(check(kPtx, {{64, 32}, allHooks().hooks}),
            "the compiled metric defines annudf1_scan_init_a32, which is no hook of a metric with "
            "accumulators of 64 and coordinates of 32 bits");
  EXPECT_EQ(check(kPtx, {{32, 64}, allHooks().hooks}),
            "the compiled metric defines annudf1_scan_update_a32_x32, which is no hook of a metric "
            "with accumulators of 32 and coordinates of 64 bits");
  EXPECT_EQ(check(kPtx, {{96, 32}, allHooks().hooks}),
            "no hooks have accumulators of 96 and coordinates of 32 bits");
  EXPECT_EQ(check(kPtx, {{32, 32, AccumulatorForm::Words}, allHooks().hooks}),
            "the compiled metric defines annudf1_scan_init_a32, which is no hook of a metric with "
            "accumulators of several fields in words of 32 and coordinates of 32 bits");
}

TEST(Prototypes, OfSeveralFieldsAPointerComesFirstAndNothingIsReturned) {
  std::string ptx = kPtx;
  for (const char *hook : {"init", "update", "finalize"})
    for (size_t at; (at = ptx.find(std::string("scan_") + hook + "_a32")) != std::string::npos;)
      ptx[ptx.find("_a32", at) + 1] = 's';
  const HookShape shape = {{32, 32, AccumulatorForm::Words}, allHooks().hooks};
  EXPECT_EQ(check(ptx, shape),
            "the compiled metric has annudf1_scan_init_s32 as .b32(.b32, .b32, .b32, .b64), "
            "annudf_abi.h declares (.b64, .b32, .b32, .b32, .b64)");
  const char *words = R"(
.visible .func annudf1_scan_init_s32(
	.param .b64 p0, .param .b32 p1, .param .b32 p2, .param .b32 p3, .param .b64 p4
)
{ ret; }
.visible .func annudf1_scan_update_s32_x32(
	.param .b64 p0, .param .b32 p1, .param .b32 p2, .param .b32 p3, .param .b32 p4,
	.param .b64 p5, .param .b32 p6, .param .b32 p7, .param .b64 p8
)
{ ret; }
.visible .func  (.param .b32 func_retval0) annudf1_scan_finalize_s32(
	.param .b64 p0, .param .b32 p1, .param .b64 p2, .param .b32 p3, .param .b32 p4, .param .b64 p5
)
{ ret; }
.visible .func  (.param .b64 func_retval0) annudf1_scan_contract()
{ ret; }
)";
  EXPECT_EQ(check(words, shape), "");
}

TEST(Prototypes, AStrangersFunctionIsNotCalled) {
  EXPECT_EQ(check(std::string(kPtx) + ".extern .func (.param .b32 r) rand()\n;\n"),
            "the compiled metric calls 'rand', which a hook may not call");
  const std::string asks =
      std::string(kPtx) + ".extern .func (.param .b32 r) annudf1_row_element()\n;\n";
  EXPECT_EQ(check(asks), "the compiled metric calls 'annudf1_row_element', which a hook may not "
                         "call");
  EXPECT_EQ(check(asks, {{}, allHooks().hooks, /*asksForElement=*/true}), "");
}

TEST(Prototypes, OfOneFunctionItsSignatureIsCompared) {
  const std::string defined =
                        ".visible .func (.param .b32 r) f(.param .b32 a, .param .b64 b)\n{ }\n",
                    other = ".extern .func (.param .b32 r) rand()\n;\n";
  auto check = [](const std::string &ptx) {
    return llvm::toString(checkFunctionPrototype(ptx, "f", ".b32(.b32, .b64)"));
  };
  EXPECT_EQ(check(defined), "");
  EXPECT_EQ(check(replaced(defined, ".b64 b", ".b32 b")),
            "the code has f as .b32(.b32, .b32), its signature declares .b32(.b32, .b64)");
  EXPECT_EQ(check(replaced(defined, "f(", "g(")),
            "the code does not define f, its signature declares .b32(.b32, .b64)");
  EXPECT_EQ(check(replaced(defined, ".visible", ".extern")),
            "the code does not define f, its signature declares .b32(.b32, .b64)");
  EXPECT_EQ(check(defined + other),
            "the compiled function calls 'rand', which a function may not call");
}

TEST(Prototypes, OfCuvsMetricTheOneWithOrWithoutACaptureIsMeant) {
  const std::string plain =
      ".visible .func (.param .b32 r) m(.param .b32 x, .param .b32 y, .param .b32 acc)\n{ }\n";
  auto check = [](const std::string &ptx, bool hasCapture = false) {
    return llvm::toString(checkCuvsPrototype(ptx, "m", hasCapture));
  };
  const std::string full = ".b32(.b32, .b32, .b32, .b64, .b64)";
  EXPECT_EQ(check(plain), "");
  EXPECT_EQ(check(plain, true),
            "the code has m as .b32(.b32, .b32, .b32), " ANNUDF_CUVS_METRIC_ABI_ID
            " with a capture declares " +
                full);
  EXPECT_EQ(check(replaced(plain, ".b32 acc", ".b64 acc")),
            "the code has m as .b32(.b32, .b32, .b64), " ANNUDF_CUVS_METRIC_ABI_ID
            " without captures declares .b32(.b32, .b32, .b32)");
  EXPECT_EQ(check(""), "the code does not define m, " ANNUDF_CUVS_METRIC_ABI_ID
                       " declares .b32(.b32, .b32, .b32)");
  EXPECT_EQ(check(plain + ".extern .func (.param .b32 r) rand()\n;\n"),
            "the compiled metric calls 'rand', which a metric may not call");
}

} // namespace
