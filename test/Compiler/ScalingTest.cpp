//===- ScalingTest.cpp - Compile time grows with the module, not its square -===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Four times the helpers may take eight times the CPU time, and no more. Where the time
// was cubic it grew by 64, and where it was quadratic by 16. CPU time of the process, so that
// others do not count but for the caches and the core that they share: the least of what was
// measured counts, and what looks too slow is measured again, as noise goes away and growth stays.
//
//===----------------------------------------------------------------------===//

#include "HookJit.h"

#include <algorithm>
#include <ctime>
#include <gtest/gtest.h>

using namespace annudf;
using namespace annudf::test;

namespace {

std::string metric(const std::string &body) {
  return "annudf.metric @m order(min) coarse(l2) elements(f32) {\n  annudf.init {\n"
         "    %0 = arith.constant 0.0 : f32\n    annudf.yield %0 : f32\n  }\n"
         "  annudf.update (%acc: f32, %x: f32, %y: f32) {\n" +
         body + "  }\n}\n";
}

std::string helper(int i, const std::string &body) {
  return "func.func private @f" + std::to_string(i) + "(%a: f32) -> f32 {\n" + body +
         "  func.return %r : f32\n}\n";
}

std::string callOf(int i, const std::string &result, const std::string &argument) {
  return "    " + result + " = func.call @f" + std::to_string(i) + "(" + argument +
         ") : (f32) -> f32\n";
}

const std::string kLeaf = "  %r = arith.addf %a, %a : f32\n";

/// Helpers that nothing calls, each of which calls the next.
std::string unused(int count) {
  std::string text = helper(0, kLeaf);
  for (int i = 1; i < count; ++i)
    text += helper(i, callOf(i - 1, "%r", "%a"));
  return text + metric("    annudf.yield %acc : f32\n");
}

std::string chain(int count) {
  std::string text = helper(0, kLeaf);
  for (int i = 1; i < count; ++i)
    text += helper(i, callOf(i - 1, "%r", "%a"));
  return text + metric(callOf(count - 1, "%r", "%x") + "    annudf.yield %r : f32\n");
}

std::string flat(int count) {
  std::string text, body, last = "%x";
  for (int i = 0; i < count; ++i) {
    text += helper(i, kLeaf);
    std::string next = "%v" + std::to_string(i);
    body += callOf(i, next, last);
    last = next;
  }
  return text + metric(body + "    annudf.yield " + last + " : f32\n");
}

/// Helpers that call the one before twice: 64, 128 and 256 calls once they are inlined.
std::string doubling(int count) {
  std::string text = helper(0, kLeaf);
  int last = 0;
  for (int calls = 1; calls * 2 <= count; calls *= 2, ++last)
    text += helper(last + 1, callOf(last, "%0", "%a") + callOf(last, "%r", "%0"));
  return text + metric(callOf(last, "%r", "%x") + "    annudf.yield %r : f32\n");
}

std::string functions(int count) {
  std::string body, last = "%x";
  for (int i = 0; i < count / 2; ++i) { // 16 each in weight
    std::string next = "%v" + std::to_string(i);
    body += "    " + next + " = math.powf " + last + ", %y : f32\n";
    last = next;
  }
  return metric(body + "    annudf.yield " + last + " : f32\n");
}

double secondsOf(const std::string &text, bool device) {
  CompileOptions options;
  options.ltoIr = device;
  options.archs = {"sm_75"};
  timespec before, after;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
  compileMetric(text, "test.mlir", options);
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
  return double(after.tv_sec - before.tv_sec) + 1e-9 * double(after.tv_nsec - before.tv_nsec);
}

struct Shape {
  const char *name;
  std::string (*text)(int);
};

class Scaling : public testing::TestWithParam<Shape> {};

TEST_P(Scaling, IsBelowTheSquare) {
  bool device = haveLibNvvm();
  const int counts[] = {100, 200, 400};
  double least[] = {1e9, 1e9, 1e9};
  // What a compile takes for nothing hides growth, so it is no excuse below 10 ms.
  auto isSlow = [&](int i, double times) { return least[i] > times * std::max(least[0], 0.01); };
  for (int round = 0; round < 3 || (round < 12 && (isSlow(1, 4) || isSlow(2, 8))); ++round)
    for (int i = 0; i < 3; ++i)
      least[i] = std::min(least[i], secondsOf(GetParam().text(counts[i]), device));
  EXPECT_FALSE(isSlow(1, 4) || isSlow(2, 8))
      << least[0] << " s, " << least[1] << " s, " << least[2] << " s";
}

const Shape kShapes[] = {{"UnusedHelpers", unused},
                         {"Chain", chain},
                         {"Flat", flat},
                         {"Doubling", doubling},
                         {"Functions", functions}};
INSTANTIATE_TEST_SUITE_P(Shapes, Scaling, testing::ValuesIn(kShapes),
                         [](const auto &info) { return std::string(info.param.name); });

TEST(Weights, RefuseWhatTakesSeconds) {
  std::string body, last = "%x";
  for (int i = 0; i < 4000; ++i) {
    std::string next = "%v" + std::to_string(i);
    body += "    " + next + " = math.powf " + last + ", %y : f32\n";
    last = next;
  }
  std::string error = compileError(metric(body + "    annudf.yield " + last + " : f32\n"));
  EXPECT_NE(error.find("[S5] weighs 64001 with its loops unrolled and its helpers inlined, more "
                       "than 4096; shorten the loops, nest fewer or call fewer functions of math"),
            std::string::npos)
      << error;
}

// clang-format off
constexpr const char *kTooLarge = "[S6] holds more than 65536 operations; remove helpers that nothing calls, or split it";
// clang-format on

TEST(Weights, BoundTheModule) {
  std::string text;
  for (int i = 0; i < 8192; ++i) {
    std::string body = "  %0 = arith.addf %a, %a : f32\n  %1 = arith.addf %0, %a : f32\n"
                       "  %2 = arith.addf %1, %a : f32\n  %3 = arith.addf %2, %a : f32\n"
                       "  %4 = arith.addf %3, %a : f32\n  %r = arith.addf %4, %a : f32\n";
    text += helper(i, body);
  }
  std::string error = compileError(text + metric("    annudf.yield %acc : f32\n"));
  EXPECT_NE(error.find(kTooLarge), std::string::npos) << error;
}

} // namespace
