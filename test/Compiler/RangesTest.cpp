//===- RangesTest.cpp - Accepted loads stay inside, run for real ----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random bodies that read a capture at an index computed from dim, dims and a coordinate.
// What the verifier accepts is compiled and run between walls of NaN: whatever it proved,
// a result that is no entry of the array shows a load outside of it.
//
//===----------------------------------------------------------------------===//

#include "HookJit.h"

#include "gtest/gtest.h"

#include <bit>
#include <limits>
#include <random>
#include <vector>

using namespace annudf;
using namespace annudf::test;

namespace {

/// Ops of one body, each a new value of type index.
class BodyText {
public:
  explicit BodyText(uint32_t seed) : random(seed) {}

  std::string metric() {
    const std::string index = bounded(expression(3));
    return "annudf.metric @m order(min) coarse(l2) elements(i8) {\n"
           "  %w = annudf.capture \"w\" : !annudf.capture<dim x f32>\n"
           "  annudf.init {\n    %0 = arith.constant 0.0 : f32\n    annudf.yield %0 : f32\n  }\n"
           "  annudf.update (%acc: f32, %x: i32, %y: i32) {\n"
           "    %dim = annudf.index dim\n    %dims = annudf.index dims\n"
           "    %xi = arith.index_cast %x : i32 to index\n"
           "    %yi = arith.index_cast %y : i32 to index\n"
           "    %zero = arith.constant 0 : index\n    %one = arith.constant 1 : index\n"
           "    %last = arith.subi %dims, %one : index\n"
           "    %none = arith.constant 1.0 : f32\n" +
           text + load(index) + "    annudf.yield %r : f32\n  }\n}\n";
  }

private:
  unsigned pick(unsigned count) { return random() % count; }

  std::string name() { return "%v" + std::to_string(count++); }

  std::string emit(const std::string &op) {
    const std::string result = name();
    text += "    " + result + " = " + op + "\n";
    return result;
  }

  std::string leaf() {
    static const char *const leaves[] = {"%dim", "%dim", "%dims", "%last", "%xi", "%yi", "%one"};
    if (unsigned i = pick(std::size(leaves) + 1); i < std::size(leaves))
      return leaves[i];
    static const char *const constants[] = {"-1", "2", "3", "15", "255", "9223372036854775807"};
    return emit("arith.constant " + std::string(constants[pick(std::size(constants))]) +
                " : index");
  }

  std::string expression(int depth) {
    if (depth == 0 || pick(6) == 0)
      return leaf();
    static const char *const ops[] = {"addi",  "subi",  "addi",  "subi", "muli", "minsi",
                                      "maxsi", "minui", "maxui", "andi", "ori",  "xori"};
    static const char *const predicates[] = {"slt", "sle", "sgt", "sge", "ult", "uge", "eq", "ne"};
    const unsigned i = pick(std::size(ops) + 4);
    const std::string a = expression(depth - 1), b = expression(depth - 1);
    if (i < std::size(ops))
      return emit("arith." + std::string(ops[i]) + " " + a + ", " + b + " : index");
    if (i == std::size(ops))
      return emit("arith.remui " + a + ", %dims : index");
    if (i == std::size(ops) + 1)
      return emit("arith.remsi " + a + ", %dims : index");
    if (i == std::size(ops) + 2) {
      const std::string narrow = emit("arith.index_cast " + a + " : index to i32");
      return emit("arith.index_cast " + narrow + " : i32 to index");
    }
    const std::string less =
        emit("arith.cmpi " + std::string(predicates[pick(8)]) + ", " + a + ", " + b + " : index");
    return emit("arith.select " + less + ", " + a + ", " + b + " : index");
  }

  /// Some of the ways to keep an index inside, and some that do not.
  std::string bounded(const std::string &index) {
    switch (pick(6)) {
    case 0:
      return emit("arith.remui " + index + ", %dims : index");
    case 1: {
      const std::string low = emit("arith.maxsi " + index + ", %zero : index");
      return emit("arith.minsi " + low + ", %last : index");
    }
    case 2:
      return emit("arith.minui " + index + ", %last : index");
    case 3:
      return emit("arith.minsi " + index + ", %dim : index");
    default:
      return index;
    }
  }

  std::string load(const std::string &index) {
    const std::string read = "annudf.load %w[" + index + "] : !annudf.capture<dim x f32>\n";
    static const char *const predicates[] = {"slt", "sle", "ult", "ule", "ne"};
    const unsigned i = pick(8);
    if (i >= std::size(predicates))
      return "    %r = " + read;
    const char *limit = pick(2) ? "%dims" : "%last";
    return "    %low = arith.cmpi sge, " + index + ", %zero : index\n    %high = arith.cmpi " +
           predicates[i] + ", " + index + ", " + limit +
           " : index\n    %both = arith.andi %low, %high : i1\n"
           "    %r = scf.if %both -> f32 {\n      %q = " +
           read + "      scf.yield %q : f32\n    } else {\n      scf.yield %none : f32\n    }\n";
  }

  std::mt19937 random;
  std::string text;
  int count = 0;
};

/// Entries 1, 2, ... between walls of NaN.
class Walled {
public:
  explicit Walled(int entries) : all(2 * kWall + entries, std::numeric_limits<float>::quiet_NaN()) {
    for (int i = 0; i < entries; ++i)
      all[kWall + i] = float(i + 1);
  }
  const float *data() const { return all.data() + kWall; }

private:
  static constexpr int kWall = 1 << 16;
  std::vector<float> all;
};

TEST(Ranges, AcceptedLoadsStayInside) {
  int accepted = 0, refused = 0;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    const std::string text = BodyText(seed).metric();
    CompileOptions options;
    options.ltoIr = false;
    std::unique_ptr<HookJit> hooks;
    try {
      hooks = std::make_unique<HookJit>(compileMetric(text, "test.mlir", options));
    } catch (const annudf::Error &error) {
      const std::string why = error.what();
      // Nothing but the bounds may be wrong with these bodies; and what the verifier proved,
      // the lowering must be able to prove after simplification.
      ASSERT_TRUE(why.find("[L2]") != std::string::npos || why.find("[L3]") != std::string::npos)
          << why << "\n"
          << text;
      ++refused;
      continue;
    }
    ++accepted;
    for (int dims : {1, 2, 3, 8}) {
      const Walled array(dims);
      hooks->bind(0, array.data());
      for (int dim = 0; dim < dims; ++dim)
        for (int x : {-128, -3, -1, 0, 1, 2, 7, 127})
          for (int y : {-128, -1, 0, 5, 127}) {
            const float value = std::bit_cast<float>(hooks->updateValues(0u, x, y, dim, dims));
            ASSERT_TRUE(value >= 1 && value <= float(dims))
                << value << " for dim " << dim << " of " << dims << ", x = " << x << ", y = " << y
                << "\n"
                << text;
          }
    }
  }
  EXPECT_GT(accepted, 80);
  EXPECT_GT(refused, 30);
}

/// What `expression` of x, y and acc, all i32, gives for x and y of i8.
class Number {
public:
  explicit Number(const std::string &ops)
      : hooks(compileText("annudf.metric @m order(min) coarse(l2) elements(i8) {\n"
                          "  annudf.init {\n    %0 = arith.constant 0 : i32\n"
                          "    annudf.yield %0 : i32\n  }\n"
                          "  annudf.update (%acc: i32, %x: i32, %y: i32) {\n"
                          "    %c0 = arith.constant 0 : i32\n    %c1 = arith.constant 1 : i32\n"
                          "    %c7 = arith.constant 7 : i32\n" +
                              ops + "    annudf.yield %r : i32\n  }\n}\n",
                          false)) {}
  int32_t operator()(int32_t acc, int x, int y) const {
    return int32_t(hooks.updateValues(uint32_t(acc), x, y));
  }

private:
  HookJit hooks;
};

TEST(Ranges, FreedOperationsMeanWhatTheySay) {
  const Number shift("%m = arith.andi %y, %c7 : i32\n%r = arith.shrsi %acc, %m : i32\n");
  const Number divide("%m = arith.maxsi %y, %c1 : i32\n%r = arith.divsi %acc, %m : i32\n");
  const Number odd("%m = arith.ori %y, %c1 : i32\n%a = math.absi %m : i32\n"
                   "%r = arith.remsi %acc, %a : i32\n");
  // Divided where the condition holds only; nothing may move the division before it.
  const Number guarded("%c = arith.cmpi ne, %y, %c0 : i32\n%r = scf.if %c -> i32 {\n"
                       "  %q = arith.divui %acc, %y : i32\n  scf.yield %q : i32\n} else {\n"
                       "  scf.yield %c7 : i32\n}\n");
  for (int32_t acc : {INT32_MIN, -1000, -1, 0, 1, 77, INT32_MAX})
    for (int y = -128; y < 128; ++y) {
      EXPECT_EQ(shift(acc, 0, y), acc >> (y & 7)) << acc << " " << y;
      EXPECT_EQ(divide(acc, 0, y), acc / std::max(y, 1)) << acc << " " << y;
      EXPECT_EQ(odd(acc, 0, y), int32_t(acc % std::abs(int64_t(y | 1)))) << acc << " " << y;
      const int32_t quotient = y == 0 ? 7 : int32_t(uint32_t(acc) / uint32_t(y));
      EXPECT_EQ(guarded(acc, 0, y), quotient) << acc << " " << y;
    }
}

} // namespace
