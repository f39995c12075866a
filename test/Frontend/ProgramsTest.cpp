//===- ProgramsTest.cpp - Random programs mean the same after the import -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Writes a few hundred random programs in the frontend form, imports, compiles and runs
// them, and compares with what the programs compute. Integers wrap, so results are equal.
//
//===----------------------------------------------------------------------===//

#include "Compiler/HookJit.h"
#include "ImportText.h"
#include "Program.h"
#include "gtest/gtest.h"

using namespace annudf;
using namespace annudf::test;

namespace {

class Programs : public ::testing::TestWithParam<int> {};

// Forty seeds a test, so that none is long under sanitizers.
TEST_P(Programs, ComputeWhatTheyDidBefore) {
  int large = 0;
  for (uint32_t seed = GetParam() * 40; seed < (GetParam() + 1) * 40u; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Program program(seed);
    Imported imported = importText(program.text());
    ASSERT_TRUE(imported.imported) << imported.messages << program.text();
    ASSERT_TRUE(imported.isValid) << imported.messages << program.text();
    if (!imported.accepted) {
      // Loops in loops may be too much for one coordinate.
      ASSERT_NE(imported.messages.find("[S5]"), std::string::npos) << imported.messages;
      ++large;
      continue;
    }
    HookJit hooks(compileText(imported.text, false));
    std::mt19937 random(seed);
    for (int i = 0; i < 64; ++i) {
      int8_t x = static_cast<int8_t>(random() % 24 - 12), y = static_cast<int8_t>(random());
      int32_t acc = static_cast<int32_t>(random() % 64) - 32;
      ASSERT_EQ(static_cast<int32_t>(hooks.updateValues(static_cast<uint32_t>(acc), x, y)),
                program.run(x, y, acc))
          << "x=" << int(x) << " y=" << int(y) << " acc=" << acc << "\n"
          << program.text() << imported.text;
    }
  }
  EXPECT_LT(large, 20) << "the programs are too large to test much";
}

INSTANTIATE_TEST_SUITE_P(Seeds, Programs, ::testing::Range(0, 10));

} // namespace
