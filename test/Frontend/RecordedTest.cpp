//===- RecordedTest.cpp - What numba-cuda-mlir recorded computes what Python does -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The functions of test/lit/Frontend/Inputs/functions.py again in C++, run on random values
// against what numba-cuda-mlir emitted for them, imported and compiled.
//
//===----------------------------------------------------------------------===//

#include "Compiler/HookJit.h"
#include "ImportText.h"
#include "gtest/gtest.h"

#include <bit>
#include <cmath>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>

using namespace annudf;
using namespace annudf::test;

namespace {

using Function = std::function<double(double x, double y, double acc)>;

struct Case {
  const char *name;
  Function python; ///< In f64: the inputs are small multiples of 1/8, so nothing rounds.
};

const Case kFloat[] = {
    {"straight", [](double x, double y, double acc) { return acc + (x - y) * (x - y); }},
    {"if_else",
     [](double x, double y, double acc) {
       double d = x - y;
       return acc + (d > 0.5 ? d * d : -d);
     }},
    {"ternary", [](double x, double y, double acc) { return acc + (x > y ? x : y); }},
    {"elif_chain",
     [](double x, double y, double acc) {
       return acc + (x < -0.5 ? x : x < 0.5 ? x * y : y < 0.5 ? y : x + y);
     }},
    {"and_or",
     [](double x, double y, double acc) {
       return (x > y && x > 0.5) || (y > 0.5 && x < -0.5) ? acc + x : acc - y;
     }},
    {"chained",
     [](double x, double y, double acc) { return acc + (-0.5 < x && x <= y && y < 0.5 ? x : y); }},
    {"early_return",
     [](double x, double y, double acc) {
       double d = x - y;
       return x > 0.5 ? acc : d < -0.5 ? acc - d : acc + d;
     }},
    {"loop",
     [](double x, double y, double acc) {
       for (int i = 0; i < 5; ++i)
         x = x * y + i;
       return acc + x;
     }},
    {"loop_step", [](double x, double y, double acc) { return acc + (x + y + 5 * y + 9 * y); }},
    {"loop_down",
     [](double x, double y, double acc) {
       for (int i = 7; i > -2; i -= 3)
         x = x * y + i;
       return acc + x;
     }},
    {"loop_empty", [](double x, double, double acc) { return acc + x; }},
    {"loop_once", [](double x, double y, double acc) { return acc + x * y; }},
    {"nested",
     [](double x, double y, double acc) {
       for (int i = 0; i < 3; ++i)
         for (int j = 6; j > 0; j -= 2)
           x = x * 0.5 + y * (i + j);
       return acc + x;
     }},
    {"loop_if",
     [](double x, double y, double acc) {
       for (int i = 0; i < 6; ++i)
         x = x > y ? x - 0.5 : i > 3 ? x * y : x + 0.5;
       return acc + x;
     }},
    {"loop_continue",
     [](double x, double y, double acc) {
       for (int i = 0; i < 6; ++i)
         x = x > y ? x : x + 0.5;
       return acc + x;
     }},
    {"loop_variable_after", [](double, double y, double acc) { return acc + y * 8 + 8; }},
    {"loop_two_carried",
     [](double x, double y, double acc) {
       for (int i = 0; i < 4; ++i) {
         double t = x + y;
         x = y;
         y = t * 0.5;
       }
       return acc + x - y;
     }},
    {"loop_in_branch",
     [](double x, double y, double acc) { return acc + (x > y ? x * 0.125 : x + y + y); }},
    {"two_loops", [](double x, double y, double acc) { return acc + (x * y * y * y - 2 * y); }},
    {"reassigned",
     [](double x, double y, double acc) {
       double r = x - y < y ? -(x - y) : x - y;
       return acc + r * r;
     }},
    {"flag",
     [](double x, double y, double acc) {
       bool far = x - y > 0.5;
       return !far && x > y ? acc + x : far ? acc + y : acc;
     }},
};

std::string readRecorded(const std::string &name) {
  std::ifstream file(ANNUDF_RECORDED "/" + name + ".mlir");
  return {std::istreambuf_iterator<char>(file), {}};
}

HookJit compileRecorded(const std::string &name) {
  Imported imported = importText(readRecorded(name));
  EXPECT_TRUE(imported.accepted) << imported.messages;
  return HookJit(compileText(imported.text, false));
}

class Recorded : public ::testing::TestWithParam<Case> {};

TEST_P(Recorded, ComputesWhatPythonDoes) {
  HookJit hooks = compileRecorded(GetParam().name);
  std::mt19937 random(1);
  auto eighths = [&] { return static_cast<float>(static_cast<int>(random() % 49) - 24) / 8; };
  for (int i = 0; i < 2000; ++i) {
    float x = eighths(), y = eighths(), acc = eighths();
    float got = std::bit_cast<float>(hooks.updateValues(std::bit_cast<uint32_t>(acc), x, y));
    float want = static_cast<float>(GetParam().python(x, y, acc));
    // A product of several is longer than 24 bits now and then.
    ASSERT_NEAR(got, want, 1e-5f * (1 + std::abs(want)))
        << "x=" << x << " y=" << y << " acc=" << acc;
  }
}

INSTANTIATE_TEST_SUITE_P(Functions, Recorded, ::testing::ValuesIn(kFloat),
                         [](const auto &info) { return info.param.name; });

TEST(RecordedIntegers, ComputeWhatPythonDoes) {
  HookJit hamming = compileRecorded("int_hamming"), clip = compileRecorded("int_clip");
  for (int x = -128; x < 128; x += 3)
    for (int y = -128; y < 128; y += 5) {
      auto run = [&](const HookJit &hooks, int32_t acc) {
        return static_cast<int32_t>(hooks.updateValues(static_cast<uint32_t>(acc), x, y));
      };
      ASSERT_EQ(run(hamming, 5), 5 + std::popcount(static_cast<uint8_t>(x ^ y)));
      int d = std::min(std::max(x - y, -100), 100);
      ASSERT_EQ(run(clip, -9), d * d - 9) << "x=" << x << " y=" << y;
    }
}

// What reads a variable of Python's at a place has that place in its errors.
TEST(RecordedLocations, AreLinesAndColumnsOfTheSource) {
  std::string text = readRecorded("loop_step");
  size_t at = text.find("arith.constant 12");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, 17, "arith.constant 99999999");
  Imported imported = importText(text);
  EXPECT_FALSE(imported.imported);
  EXPECT_NE(imported.messages.find("loc(\"functions.py\":"), std::string::npos)
      << imported.messages;
  EXPECT_NE(imported.messages.find("[P15] repeats more than 4096 times"), std::string::npos);
}

} // namespace
