//===- DifferentialTest.cpp - The pipeline means what a plain lowering does -===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random bodies of every allowed op, with casts between all widths, through annudf's
// pipeline and through upstream's patterns at -O0. No oracle is needed: the two share no
// pattern, and neither may simplify on the way. ANNUDF_DIFFERENTIAL_SEEDS=N runs N seeds.
//
//===----------------------------------------------------------------------===//

#include "HookJit.h"
#include "PlainJit.h"
#include "RandomBody.h"
#include "RandomInputs.h"

#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>
#include <iterator>

using namespace annudf;
using namespace annudf::test;

namespace {

std::string asFunction(const std::string &ops, const std::string &helper) {
  return helper +
         "func.func @plain(%acc: f32, %x: f32, %y: f32, %dim: index, %dims: index) -> f32 {\n" +
         ops + "    func.return %result : f32\n}\n";
}

/// Whether both lowerings agree on `samples` inputs.
void compare(const std::string &ops, const std::string &helper, uint32_t seed, int samples = 200) {
  HookJit hooks(compileText(metricOf(ops, helper), /*device=*/false));
  PlainJit plain(asFunction(ops, helper));
  ASSERT_EQ(plain.fault, "") << asFunction(ops, helper);
  Inputs inputs(seed);
  for (int i = 0; i < samples; ++i) {
    float acc = inputs.next(), x = inputs.next(), y = inputs.next();
    int32_t dim = i % 7 == 0 ? 299 + i : i, dims = dim + 1 + i % 3;
    auto actual =
        std::bit_cast<float>(hooks.update(std::bit_cast<uint32_t>(acc), std::bit_cast<uint32_t>(x),
                                          std::bit_cast<uint32_t>(y), dim, dims));
    float expected = plain(acc, x, y, dim, dims);
    ASSERT_TRUE(std::bit_cast<uint32_t>(actual) == std::bit_cast<uint32_t>(expected) ||
                (std::isnan(actual) && std::isnan(expected)))
        << "pipeline " << actual << ", plain lowering " << expected << " at acc=" << acc
        << " x=" << x << " y=" << y << " dim=" << dim << " dims=" << dims << "\n"
        << metricOf(ops, helper);
  }
}

TEST(Differential, RandomBodies) {
  const char *wanted = std::getenv("ANNUDF_DIFFERENTIAL_SEEDS");
  uint32_t seeds = wanted ? std::strtoul(wanted, nullptr, 10) : 60;
  uint32_t large = 0;
  for (uint32_t seed = 0; seed < seeds && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomBody body(seed);
    std::string refused = compileError(metricOf(body.ops(), body.helper()));
    if (refused.find("[S5]") != std::string::npos && ++large < seeds / 4 + 1)
      continue; // Too many loops.
    ASSERT_EQ(refused, "") << metricOf(body.ops(), body.helper());
    compare(body.ops(), body.helper(), seed);
  }
}

struct Known {
  const char *name, *ops;
};

// What MLIR 22.1.8's canonicalizer changes or crashes on.
const Known kKnown[] = {
    {"IndexCastThroughNarrow",
     "%1 = arith.index_cast %dim : index to i8\n%2 = arith.index_cast %1 : i8 to index\n"
     "%3 = arith.index_cast %2 : index to i32\n%result = arith.sitofp %3 : i32 to f32\n"},
    {"IndexCastUnsignedThroughNarrow",
     "%1 = arith.index_castui %dim : index to i8\n%2 = arith.index_castui %1 : i8 to index\n"
     "%3 = arith.index_cast %2 : index to i32\n%result = arith.sitofp %3 : i32 to f32\n"},
    {"RoundingOfConvertedIntegers",
     "%c = arith.constant 9007199791611905 : i64\n%d = arith.index_cast %dim : index to i64\n"
     "%i = arith.addi %c, %d : i64\n%1 = arith.sitofp %i : i64 to f64\n"
     "%2 = arith.truncf %1 : f64 to f32\n%3 = arith.bitcast %2 : f32 to i32\n"
     "%4 = arith.trunci %3 : i32 to i16\n%result = arith.sitofp %4 : i16 to f32\n"},
    {"CompareTrue", "%1 = arith.index_cast %dim : index to i32\n%2 = arith.sitofp %1 : i32 to f32\n"
                    "%c = arith.constant 0.5 : f32\n%3 = arith.cmpf true, %2, %c : f32\n"
                    "%result = arith.select %3, %2, %x : f32\n"},
    {"CompareFalse",
     "%1 = arith.index_cast %dim : index to i32\n%2 = arith.uitofp %1 : i32 to f32\n"
     "%c = arith.constant 0.5 : f32\n%3 = arith.cmpf false, %2, %c : f32\n"
     "%result = arith.select %3, %x, %2 : f32\n"},
    // The low bits and the sign of what is no multiple of a half's last place.
    {"F64ToF16",
     "%1 = arith.index_cast %dim : index to i32\n%2 = arith.sitofp %1 : i32 to f64\n"
     "%o = arith.constant 4.8828125001e-4 : f64\n%k = arith.constant 1.0 : f64\n"
     "%e = arith.mulf %2, %o : f64\n%s = math.absf %e : f64\n%3 = arith.addf %s, %k : f64\n"
     "%h = arith.truncf %3 : f64 to f16\n%result = arith.extf %h : f16 to f32\n"},
    {"BitsOfAnIndex",
     "%1 = math.ctpop %dim : index\n%2 = math.ctlz %dims : index\n%3 = math.cttz %dim : index\n"
     "%4 = math.absi %dim : index\n%5 = arith.addi %1, %2 : index\n%6 = arith.muli %3, %4 : index\n"
     "%7 = arith.subi %5, %6 : index\n%8 = arith.index_cast %7 : index to i32\n"
     "%result = arith.sitofp %8 : i32 to f32\n"},
};

class KnownBodies : public testing::TestWithParam<Known> {};
TEST_P(KnownBodies, KeepsItsMeaning) { compare(GetParam().ops, "", 1, 400); }
INSTANTIATE_TEST_SUITE_P(Differential, KnownBodies, testing::ValuesIn(kKnown),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
