//===- RoutinesTest.cpp - What LLVM calls for what a processor lacks ------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu/jit/Routines.h"
#include "cpu/jit/Link.h"

#include "gtest/gtest.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <set>
#include <string_view>

using namespace annudf::runtime::cpu;

namespace {

template <class Function> Function *routine(std::string_view name) {
  for (const Routine &one : compilerRoutines())
    if (name == one.name)
      return reinterpret_cast<Function *>(one.address);
  ADD_FAILURE() << "no " << name;
  return nullptr;
}

uint16_t bits(_Float16 value) { return std::bit_cast<uint16_t>(value); }

TEST(CpuRoutines, RoundToHalfOnce) {
  auto *const half = routine<_Float16(double)>("__truncdfhf2");
  EXPECT_EQ(bits(half(1.0)), 0x3C00);
  EXPECT_EQ(bits(half(-65504.0)), 0xFBFF);
  EXPECT_EQ(bits(half(65520.0)), 0x7C00);
  EXPECT_EQ(bits(half(0x1p-24)), 0x0001);
  EXPECT_EQ(bits(half(-0x1p-25)), 0x8000); // A tie.
  EXPECT_EQ(bits(half(0x1.0000000001p-25)), 0x0001);
  // In f32 it would be a tie, and that even.
  EXPECT_EQ(bits(half(1.0 + 0x1p-11 + 0x1p-40)), 0x3C01);
  EXPECT_EQ(bits(half(1.0 + 0x1p-11)), 0x3C00);
  EXPECT_TRUE(std::isnan(float(half(std::nan("")))));
  EXPECT_EQ(bits(routine<_Float16(float)>("__truncsfhf2")(1.0f + 0x1p-11f + 0x1p-20f)), 0x3C01);
  EXPECT_EQ(routine<float(_Float16)>("__extendhfsf2")(_Float16(-0x1p-24f)), -0x1p-24f);
  EXPECT_EQ(routine<float(float, int)>("__powisf2")(1.5f, 3), 3.375f);
  EXPECT_EQ(routine<double(double, int)>("__powidf2")(2.0, -2), 0.25);
}

/// What is defined is what code may call, and each once.
TEST(CpuRoutines, AreAllowed) {
  std::set<std::string_view> names;
  for (const Routine &one : compilerRoutines()) {
    EXPECT_TRUE(isAllowedExternal(one.name)) << one.name;
    EXPECT_TRUE(names.insert(one.name).second) << one.name;
  }
  EXPECT_FALSE(isAllowedExternal("__truncdfbf2"));
}

} // namespace
