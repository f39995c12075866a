//===- FunctionTest.cpp - Device functions compute what C++ does ----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Called through the prototypes, and with the structs, that this C++ compiler has of them.
//
//===----------------------------------------------------------------------===//

#include "FunctionJit.h"
#include "HookJit.h"

#include "annudf/Compiler/Compiler.h"
#include "annudf/Support/Error.h"

#include "gtest/gtest.h"

#include <cstdint>
#include <cstring>
#include <limits>
#include <random>

using namespace annudf;
using namespace annudf::test;

namespace {

/// Every width beside every other, so that each kind of gap occurs.
struct Inner {
  uint8_t a;
  double b;
  uint16_t c;
};
struct Outer {
  bool flag;
  Inner inner;
  int8_t small;
  float f;
  int64_t wide;
  uint8_t last;
};

constexpr const char *kOuter = "tuple<i1, tuple<ui8, f64, ui16>, i8, f32, i64, ui8>";

Outer randomOuter(std::mt19937_64 &random) {
  Outer made;
  std::memset(&made, 0xAB, sizeof made); // Gaps are nobody's.
  made.flag = random() % 2;
  made.inner = {uint8_t(random()), double(int64_t(random())), uint16_t(random())};
  made.small = int8_t(random());
  made.f = float(int32_t(random()));
  made.wide = int64_t(random());
  made.last = uint8_t(random());
  return made;
}

bool operator==(const Outer &a, const Outer &b) {
  return a.flag == b.flag && a.inner.a == b.inner.a && a.inner.b == b.inner.b &&
         a.inner.c == b.inner.c && a.small == b.small && a.f == b.f && a.wide == b.wide &&
         a.last == b.last;
}

ANNUDF_CALLS_JIT void callRaw(const FunctionJit &jit, const void *a, const void *b, void *result) {
  jit.as<void(const void *, const void *, void *)>()(a, b, result);
}

std::string refusal(const std::string &text, Stage stage) {
  try {
    (void)lowerMetric(text, "function.mlir", stage);
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

} // namespace

// The one with the larger `inner.b`, as a sort or a reduction would have it.
TEST(Function, StructsLieAsInC) {
  const std::string text = std::string("annudf.function @larger convention(raw) (") + kOuter +
                           ", " + kOuter + ") -> " + kOuter + R"( {
  annudf.body (%p0: i1, %a0: i8, %b0: f64, %c0: i16, %s0: i8, %f0: f32, %w0: i64, %l0: i8,
               %p1: i1, %a1: i8, %b1: f64, %c1: i16, %s1: i8, %f1: f32, %w1: i64, %l1: i8) {
    %first = arith.cmpf oge, %b0, %b1 : f64
    %p = arith.select %first, %p0, %p1 : i1
    %a = arith.select %first, %a0, %a1 : i8
    %b = arith.select %first, %b0, %b1 : f64
    %c = arith.select %first, %c0, %c1 : i16
    %s = arith.select %first, %s0, %s1 : i8
    %f = arith.select %first, %f0, %f1 : f32
    %w = arith.select %first, %w0, %w1 : i64
    %l = arith.select %first, %l0, %l1 : i8
    annudf.yield %p, %a, %b, %c, %s, %f, %w, %l : i1, i8, f64, i16, i8, f32, i64, i8
  }
}
)";
  const FunctionJit jit(text, "larger");
  std::mt19937_64 random(1);
  for (int i = 0; i < 200; ++i) {
    Outer a = randomOuter(random), b = randomOuter(random);
    const Outer expected = a.inner.b >= b.inner.b ? a : b;
    Outer result;
    callRaw(jit, &a, &b, &result);
    EXPECT_TRUE(result == expected) << i;
    callRaw(jit, &a, &b, &a); // The result may be an argument.
    EXPECT_TRUE(a == expected) << i;
  }
}

// What is narrower than an int comes and goes widened, whatever its sign.
TEST(Function, NarrowIntegersByValue) {
  const FunctionJit jit(R"(
annudf.function @mixed convention(c) (ui8, i8, i1, ui16, i16, f32, f64, i64) -> i16 {
  annudf.body (%a: i8, %b: i8, %c: i1, %d: i16, %e: i16, %f: f32, %g: f64, %h: i64) {
    %0 = arith.extui %a : i8 to i16
    %1 = arith.extsi %b : i8 to i16
    %2 = arith.select %c, %0, %1 : i16
    %3 = arith.subi %2, %d : i16
    %4 = arith.muli %3, %e : i16
    %5 = arith.trunci %h : i64 to i16
    %6 = arith.addi %4, %5 : i16
    annudf.yield %6 : i16
  }
}
)",
                        "mixed");
  const auto call =
      jit.as<int16_t(uint8_t, int8_t, bool, uint16_t, int16_t, float, double, int64_t)>();
  std::mt19937_64 random(2);
  for (int i = 0; i < 1000; ++i) {
    const auto a = uint8_t(random());
    const auto b = int8_t(random());
    const bool c = random() % 2;
    const auto d = uint16_t(random());
    const auto e = int16_t(random());
    const auto h = int64_t(random());
    const auto expected = int16_t((uint32_t(c ? a : b) - d) * uint32_t(int32_t(e)) + uint32_t(h));
    const int found = [&]() ANNUDF_CALLS_JIT { return call(a, b, c, d, e, 1.5F, 2.5, h); }();
    EXPECT_EQ(found, expected) << i;
  }
}

// The comparison that a merge sort of unsigned keys asks, at the values where a signed one differs.
TEST(Function, UnsignedComparison) {
  const FunctionJit jit(R"(
annudf.function @before convention(raw) (ui32, ui32) -> i1 {
  annudf.body (%a: i32, %b: i32) {
    %r = arith.cmpi ult, %a, %b : i32
    annudf.yield %r : i1
  }
}
)",
                        "before");
  const uint32_t values[] = {0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF};
  for (uint32_t a : values)
    for (uint32_t b : values) {
      uint8_t result = 0xAB;
      callRaw(jit, &a, &b, &result);
      EXPECT_EQ(result, uint8_t(a < b)) << a << " " << b;
    }
}

// Any byte but 0 is true, as it is of captures.
TEST(Function, BoolsAreBytes) {
  const FunctionJit jit(R"(
annudf.function @both convention(raw) (i1, i1) -> i1 {
  annudf.body (%a: i1, %b: i1) {
    %r = arith.andi %a, %b : i1
    annudf.yield %r : i1
  }
}
)",
                        "both");
  for (int a : {0, 1, 2, 255})
    for (int b : {0, 1, 2, 255}) {
      const auto first = uint8_t(a), second = uint8_t(b);
      uint8_t result = 0xAB;
      callRaw(jit, &first, &second, &result);
      EXPECT_EQ(result, uint8_t(a && b)) << a << " " << b;
    }
}

// Captures of several types, bound by slots: arrays by their addresses, scalars by their bits.
TEST(Function, State) {
  const FunctionJit jit(R"(
annudf.function @graded convention(raw) (ui8) -> f32 {
  %table = annudf.capture "table" : !annudf.capture<256 x f32>
  %shift = annudf.capture "shift" : !annudf.capture<i16>
  %marks = annudf.capture "marks" : !annudf.capture<256 x ui8>
  annudf.body (%a: i8) {
    %i = arith.index_castui %a : i8 to index
    %t = annudf.load %table[%i] : !annudf.capture<256 x f32>
    %s = annudf.load %shift[] : !annudf.capture<i16>
    %m = annudf.load %marks[%i] : !annudf.capture<256 x ui8>
    %f = arith.sitofp %s : i16 to f32
    %g = arith.uitofp %m : i8 to f32
    %0 = arith.addf %t, %f : f32
    %1 = arith.addf %0, %g : f32
    annudf.yield %1 : f32
  }
}
)",
                        "graded");
  std::vector<float> table(256);
  std::vector<uint8_t> marks(256);
  for (int i = 0; i < 256; ++i)
    table[size_t(i)] = 0.5F * float(i), marks[size_t(i)] = uint8_t(255 - i);
  const int16_t shift = -3;
  const uint64_t slots[] = {reinterpret_cast<uintptr_t>(table.data()), uint16_t(shift),
                            reinterpret_cast<uintptr_t>(marks.data())};
  for (int i = 0; i < 256; ++i) {
    const auto a = uint8_t(i);
    float result = 0;
    callRaw(jit, slots, &a, &result);
    EXPECT_EQ(result, table[a] + float(shift) + float(marks[a])) << i;
  }
}

TEST(Function, IsNoArtifact) {
  const std::string text = R"(annudf.function @f convention(c) (f32) -> f32 {
  annudf.body (%a: f32) {
    annudf.yield %a : f32
  }
}
)";
  try {
    (void)compileMetric(text, "function.mlir");
    FAIL();
  } catch (const Error &error) {
    EXPECT_STREQ(error.what(),
                 "function.mlir: 'f' is a function, and an artifact holds a metric or a filter; "
                 "lower it to ltoir, ptx or bitcode");
  }
  for (Stage stage : {Stage::Mlir, Stage::NvvmIr, Stage::DeviceBitcode, Stage::HostBitcode})
    EXPECT_EQ(refusal(text, stage), "");
}
