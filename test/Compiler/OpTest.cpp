//===- OpTest.cpp - Every op compiles for GPUs and means what it says -----===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HookJit.h"
#include "OpCases.h"

#include "annudf/Dialect/Transforms/AbiRules.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>

using namespace annudf;
using namespace annudf::test;

namespace {

constexpr int kSamples = 4000;

/// Values at which an implementation may go wrong, then random ones of every size.
std::vector<float> floats(uint32_t seed) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  const float special[] = {0.0f,
                           -0.0f,
                           1.0f,
                           -1.0f,
                           0.5f,
                           -0.5f,
                           1.5f,
                           2.5f,
                           -2.5f,
                           0.49999997f,
                           127.0f,
                           127.5f,
                           128.0f,
                           -128.5f,
                           -129.0f,
                           255.5f,
                           256.0f,
                           32768.0f,
                           65504.0f,
                           65535.5f,
                           70000.0f,
                           8388607.5f,
                           16777216.0f,
                           2147483520.0f,
                           2147483648.0f,
                           -2147483648.0f,
                           4294967040.0f,
                           4294967296.0f,
                           9223371487098961920.0f,
                           9223372036854775808.0f,
                           -9223372036854775808.0f,
                           18446744073709551616.0f,
                           1e-45f,
                           -1e-40f,
                           1.17549435e-38f,
                           3.4e38f,
                           -3.4e38f,
                           inf,
                           -inf,
                           std::numeric_limits<float>::quiet_NaN()};
  std::vector<float> values;
  for (int i = 0; i < kSamples; ++i) {
    std::mt19937 random(seed * 7919 + i);
    // Every pair of special values meets somewhere.
    int count = std::size(special);
    if (i < count * count) {
      values.push_back(special[seed == 0 ? i / count : seed == 1 ? i % count : (i * 7) % count]);
      continue;
    }
    std::uniform_int_distribution<int> exponent(-12, 12);
    std::uniform_real_distribution<float> fraction(-2, 2);
    values.push_back(std::ldexp(fraction(random), exponent(random)));
  }
  return values;
}

template <typename T>
void expectSame(T actual, T expected, double tolerance, const std::string &at) {
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(actual)) << at << ": got " << actual << ", expected NaN";
    return;
  }
  if (tolerance == 0 || std::isinf(expected)) {
    EXPECT_TRUE(actual == expected && std::signbit(actual) == std::signbit(expected))
        << at << ": got " << actual << ", expected " << expected;
    return;
  }
  double bound = tolerance * std::fabs(double(expected)) + std::numeric_limits<T>::denorm_min();
  EXPECT_LE(std::fabs(double(actual) - double(expected)), bound)
      << at << ": got " << actual << ", expected " << expected;
}

std::string show(double acc, double x, double y) {
  char text[100];
  std::snprintf(text, sizeof(text), "acc=%.9g x=%.9g y=%.9g", acc, x, y);
  return text;
}

class Op : public testing::TestWithParam<OpCase> {
protected:
  const OpCase &opCase() const { return GetParam(); }
};

TEST_P(Op, MeansOnTheHostWhatItSays) {
  Artifact artifact = compileText(moduleText(opCase()), /*device=*/false);
  HookJit hooks(artifact);
  if (auto *meaning = std::get_if<IntegerMeaning>(&opCase().meaning)) {
    std::mt19937 random(5);
    for (int i = 0; i < kSamples && !HasFailure(); ++i) {
      const int32_t special[] = {0, 1, -1, INT32_MAX, INT32_MIN, 255, -256, 1 << 16};
      int32_t acc = i % 8 == 0 ? special[i / 8 % 8] : int32_t(random());
      auto x = int8_t(random()), y = i % 16 == 1 ? x : int8_t(random());
      auto actual = hooks.updateValues(uint32_t(acc), x, y, 3, 5);
      EXPECT_EQ(int32_t(actual), (*meaning)(acc, x, y)) << show(acc, x, y);
    }
    return;
  }
  std::vector<float> accs = floats(2), xs = floats(0), ys = floats(1);
  for (int i = 0; i < kSamples && !HasFailure(); ++i) {
    float acc = accs[i], x = xs[i], y = ys[i];
    if (auto *meaning = std::get_if<DoubleMeaning>(&opCase().meaning)) {
      auto actual = hooks.updateValues(std::bit_cast<uint64_t>(double(acc)), x, y, 3, 5);
      expectSame(std::bit_cast<double>(actual), (*meaning)(acc, x, y), opCase().tolerance,
                 show(acc, x, y));
    } else {
      auto actual = hooks.updateValues(std::bit_cast<uint32_t>(acc), x, y, 3, 5);
      float expected = std::get<FloatMeaning>(opCase().meaning)(acc, x, y);
      expectSame(std::bit_cast<float>(actual), expected, opCase().tolerance, show(acc, x, y));
    }
  }
}

TEST_P(Op, CompilesForEveryFamilyOfGpus) {
  if (!haveLibNvvm())
    GTEST_SKIP() << "no libNVVM";
  Artifact artifact = compileText(moduleText(opCase()), /*device=*/true);
  for (int sm : {75, 90, 100}) {
    const Payload *payload = artifact.findLtoIr(sm);
    ASSERT_NE(payload, nullptr);
    EXPECT_EQ(payload->arch(), "sm_" + std::to_string(sm));
    EXPECT_FALSE(payload->bytes.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(All, Op, testing::ValuesIn(opCases()),
                         [](const auto &info) { return std::string(info.param.name); });

/// A lowering that lacks an op which the verifier lets through would be found by users.
TEST(OpCases, TryEveryAllowedOp) {
  std::string all;
  for (const OpCase &opCase : opCases())
    all += moduleText(opCase);
  for (llvm::StringRef name : allowedBodyOps()) {
    if (name == "annudf.load") // HooksTest has captures.
      continue;
    if (name == "annudf.call") // Runs on GPUs only: DeviceUdfLinks.Extern links it into a scan.
      continue;
    EXPECT_NE(all.find(name.str() + " "), std::string::npos) << name.str() << " is in no case";
  }
}

} // namespace
