//===- CapturesTest.cpp - What captures are worth to a body ---------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HookJit.h"

#include "annudf/ABI/Hooks.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace annudf;
using namespace annudf::test;
using llvm::formatv;
using llvm::StringRef;

namespace {

struct CaptureCase {
  const char *type;  ///< Element type as declared.
  const char *toF64; ///< Ops from `%v` to `%f`, an f64.
};

/// How the numbers of an element lie in memory, and what they are.
template <typename Stored> struct Entries {
  std::vector<Stored> stored;
  std::vector<double> values;
};
template <typename T> Entries<T> entriesOf(std::vector<T> values) {
  return {values, std::vector<double>(values.begin(), values.end())};
}
template <typename T> Entries<T> integers() {
  using Limits = std::numeric_limits<T>;
  return entriesOf<T>({0, 1, Limits::min(), Limits::max(), T(Limits::max() - 1), T(77)});
}

/// A capture of every kind before the one under test: slots are numbered in order.
std::string captureText(const CaptureCase &test, bool isArray) {
  std::string type = std::string("!annudf.capture<") + (isArray ? "dim x " : "") + test.type + ">";
  return "annudf.metric @m order(min) coarse(l2) elements(f32) {\n"
         "  %first = annudf.capture \"first\" : !annudf.capture<f64>\n"
         "  %c = annudf.capture \"c\" : " +
         type +
         "\n"
         "  annudf.init {\n    %0 = annudf.load %first[] : !annudf.capture<f64>\n    annudf.yield "
         "%0 : f64\n  }\n"
         "  annudf.update (%acc: f64, %x: f64, %y: f64) {\n"
         "    %d = annudf.index dim\n    %v = annudf.load %c[" +
         (isArray ? "%d" : "") + "] : " + type + "\n    " + test.toF64 +
         "\n    %r = arith.addf %acc, %f : f64\n    annudf.yield %r : f64\n  }\n}\n";
}

template <typename Stored> void checkCapture(const CaptureCase &test, Entries<Stored> entries) {
  const int32_t count = int32_t(entries.stored.size());
  HookJit array(compileText(captureText(test, true), haveLibNvvm()));
  array.bind(0, 8.0);
  array.bind(1, entries.stored.data());
  EXPECT_EQ(std::bit_cast<double>(array.init<uint64_t>()), 8.0);
  for (int dim = 0; dim < count; ++dim) {
    auto sum = array.update<uint64_t, uint64_t>(0, 0, 0, dim, count);
    EXPECT_EQ(std::bit_cast<double>(sum), entries.values[dim]) << test.type << " dim " << dim;
  }
  HookJit scalar(compileText(captureText(test, false), haveLibNvvm()));
  for (int i = 0; i < count; ++i) {
    scalar.bind(1, entries.stored[i]);
    auto sum = scalar.update<uint64_t, uint64_t>(0, 0, 0, 0, count);
    EXPECT_EQ(std::bit_cast<double>(sum), entries.values[i]) << test.type;
  }
}

// For the host what they give, for devices that libNVVM takes them.
TEST(Captures, EveryElementType) {
  checkCapture<float>({"f32", "%f = arith.extf %v : f32 to f64"},
                      entriesOf<float>({1, -2, 0x1p-149f, 3.4028235e38f}));
  checkCapture<double>({"f64", "%z = arith.constant 0.0 : f64\n %f = arith.addf %v, %z : f64"},
                       entriesOf<double>({1, -2, 0x1p-1074, 1.7976931348623157e308}));
  checkCapture<int32_t>({"i32", "%f = arith.sitofp %v : i32 to f64"}, integers<int32_t>());
  checkCapture<uint32_t>({"ui32", "%f = arith.uitofp %v : i32 to f64"}, integers<uint32_t>());
  checkCapture<int8_t>({"i8", "%f = arith.sitofp %v : i8 to f64"}, integers<int8_t>());
  checkCapture<uint8_t>({"ui8", "%f = arith.uitofp %v : i8 to f64"}, integers<uint8_t>());
  checkCapture<int16_t>({"i16", "%f = arith.sitofp %v : i16 to f64"}, integers<int16_t>());
  checkCapture<uint16_t>({"ui16", "%f = arith.uitofp %v : i16 to f64"}, integers<uint16_t>());
  checkCapture<int64_t>({"i64", "%f = arith.sitofp %v : i64 to f64"}, integers<int64_t>());
  checkCapture<uint64_t>({"ui64", "%f = arith.uitofp %v : i64 to f64"}, integers<uint64_t>());
  // 1, -2, the largest, the least, and the largest of those without a leading 1.
  checkCapture<uint16_t>(
      {"f16", "%f = arith.extf %v : f16 to f64"},
      {{0x3c00, 0xc000, 0x7bff, 0x0001, 0x83ff}, {1, -2, 65504, 0x1p-24, -0x1.ff8p-15}});
  checkCapture<uint16_t>(
      {"bf16", "%f = arith.extf %v : f32 to f64"},
      {{0x3f80, 0xc000, 0x7f7f, 0x0001, 0x807f}, {1, -2, 0x1.fep127, 0x1p-133, -0x1.fcp-127}});
  // The byte is 0 or 1, no matter who wrote it.
  checkCapture<uint8_t>({"i1", "%f = arith.uitofp %v : i1 to f64"},
                        {{0, 1, 2, 128, 255}, {0, 1, 1, 1, 1}});
}

// With values: as constants and as tables in the code.
TEST(Captures, EveryElementTypeHoldsValues) {
  const struct {
    const char *type, *toF64, *one, *several;
    double value, entries[3];
  } cases[] = {
      {"f16", "arith.extf %V : f16 to f64", "1.5", "[1.5, -2.0, 65504.0]", 1.5, {1.5, -2, 65504}},
      {"bf16", "arith.extf %V : f32 to f64", "1.5", "[1.5, -2.0, 3.0]", 1.5, {1.5, -2, 3}},
      {"i1", "arith.uitofp %V : i1 to f64", "true", "[true, false, true]", 1, {1, 0, 1}},
      {"i8", "arith.sitofp %V : i8 to f64", "-128", "[-128, 0, 127]", -128, {-128, 0, 127}},
      {"ui8", "arith.uitofp %V : i8 to f64", "255", "[255, 0, 128]", 255, {255, 0, 128}},
      {"i16", "arith.sitofp %V : i16 to f64", "-7", "[-7, 0, 32767]", -7, {-7, 0, 32767}},
      {"ui16", "arith.uitofp %V : i16 to f64", "65535", "[65535, 0, 1]", 65535, {65535, 0, 1}},
      {"i64", "arith.sitofp %V : i64 to f64", "-7", "[-7, 0, 9]", -7, {-7, 0, 9}},
      {"ui64", "arith.uitofp %V : i64 to f64", "7", "[7, 0, 9]", 7, {7, 0, 9}},
  };
  for (const auto &test : cases) {
    const std::string type = test.type;
    const std::string one = type == "i1" ? test.one : formatv("{0} : {1}", test.one, type).str();
    const auto convert = [&](StringRef from, StringRef to) {
      std::string ops = test.toF64;
      return formatv("    {0} = {1}\n", to, ops.replace(ops.find("%V"), 2, from)).str();
    };
    HookJit hooks(
        compileText(formatv(R"(annudf.metric @m order(min) coarse(l2) elements(f32) dims(3) {{
  %c = annudf.capture "c" = {0} : !annudf.capture<{1}>
  %t = annudf.capture "t" = dense<{2}> : tensor<3x{1}> : !annudf.capture<dim x {1}>
  annudf.init {{
    %0 = arith.constant 0.0 : f64
    annudf.yield %0 : f64
  }
  annudf.update (%acc: f64, %x: f64, %y: f64) {{
    %d = annudf.index dim
    %s = annudf.load %c[] : !annudf.capture<{1}>
    %e = annudf.load %t[%d] : !annudf.capture<dim x {1}>
{3}{4}    %k = arith.constant 1000.0 : f64
    %ak = arith.mulf %a, %k : f64
    %r = arith.addf %ak, %b : f64
    annudf.yield %r : f64
  }
}
)",
                            one, type, test.several, convert("%s", "%a"), convert("%e", "%b")),
                    haveLibNvvm()));
    for (int dim = 0; dim < 3; ++dim)
      EXPECT_EQ(std::bit_cast<double>(hooks.update<uint64_t, uint64_t>(0, 0, 0, dim, 3)),
                1000 * test.value + test.entries[dim])
          << type << " dim " << dim;
  }
}

// A code of 8 bits is inside a table of 256 entries, whatever it is.
TEST(Captures, ACodeIndexesATable) {
  HookJit hooks(compileText(R"(
annudf.metric @m order(min) coarse(l2) elements(f32) {
  %code = annudf.capture "code" : !annudf.capture<row x ui8>
  %table = annudf.capture "table" : !annudf.capture<256 x f32>
  %side = annudf.capture "side" : !annudf.capture<row x i1>
  %both = annudf.capture "both" : !annudf.capture<2 x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  annudf.finalize (%acc: f32) {
    %row = annudf.index row
    %c = annudf.load %code[%row] : !annudf.capture<row x ui8>
    %i = arith.index_castui %c : i8 to index
    %t = annudf.load %table[%i] : !annudf.capture<256 x f32>
    %s = annudf.load %side[%row] : !annudf.capture<row x i1>
    %j = arith.index_castui %s : i1 to index
    %b = annudf.load %both[%j] : !annudf.capture<2 x f32>
    %r = arith.addf %t, %b : f32
    annudf.yield %r : f32
  }
}
)",
                            haveLibNvvm()));
  std::vector<uint8_t> code(256), side(256);
  std::vector<float> table(256);
  for (int i = 0; i < 256; ++i)
    code[i] = uint8_t(255 - i), side[i] = uint8_t(i), table[i] = float(i * i);
  const float both[] = {0.25f, 0.5f};
  hooks.bind(0, code.data());
  hooks.bind(1, table.data());
  hooks.bind(2, side.data());
  hooks.bind(3, &both[0]);
  for (hooks.row = 0; hooks.row < 256; ++hooks.row)
    EXPECT_EQ(hooks.finalize<uint32_t>(0), table[255 - hooks.row] + both[hooks.row ? 1 : 0]);
}

// As many captures as there are slots, each in its own.
TEST(Captures, AsManyAsThereAreSlots) {
  std::string declared, sum = "%acc";
  std::string body;
  for (int i = 0; i < ANNUDF_MAX_CAPTURES; ++i) {
    const std::string n = std::to_string(i);
    declared += formatv("  %c{0} = annudf.capture \"c{0}\" : !annudf.capture<i64>\n", n).str();
    // 2 sum + c, so that their order counts.
    body += formatv("    %v{0} = annudf.load %c{0}[] : !annudf.capture<i64>\n"
                    "    %d{0} = arith.addi {1}, {1} : i64\n"
                    "    %s{0} = arith.addi %d{0}, %v{0} : i64\n",
                    n, sum)
                .str();
    sum = "%s" + n;
  }
  const Artifact artifact =
      compileText(formatv(R"(annudf.metric @m order(min) coarse(l2) elements(i8) {{
{0}  annudf.init {{
    %0 = arith.constant 0 : i64
    annudf.yield %0 : i64
  }
  annudf.update (%acc: i64, %x: i32, %y: i32) {{
{1}    annudf.yield {2} : i64
  }
}
)",
                          declared, body, sum),
                  haveLibNvvm());
  HookJit hooks(artifact);
  uint64_t expected = 0;
  std::mt19937_64 random(3);
  for (int i = 0; i < ANNUDF_MAX_CAPTURES; ++i) {
    const uint64_t value = random();
    hooks.bind(i, value);
    expected = 2 * expected + value;
  }
  EXPECT_EQ((hooks.update<uint64_t, uint32_t>(0, 0, 0)), expected);
}

constexpr const char *kInlined = R"(
annudf.metric @m order(min) coarse(l2) elements(f32) {
  %p = annudf.capture "p" : !annudf.capture<f32>
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %q = annudf.capture "q" : !annudf.capture<f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = annudf.index dim
    %1 = annudf.load %w[%d] : !annudf.capture<dim x f32>
    %2 = annudf.load %p[] : !annudf.capture<f32>
    %3 = annudf.load %q[] : !annudf.capture<f32>
    %4 = arith.mulf %1, %2 : f32
    %5 = arith.addf %4, %3 : f32
    annudf.yield %5 : f32
  }
}
)";

TEST(Captures, WithValuesTakeNoSlot) {
  Artifact artifact =
      compileText(kInlined, haveLibNvvm(),
                  "dims=3 values={p = 2.0 : f32, w = dense<[1.0, 10.0, 100.0]> : tensor<3xf32>}");
  ASSERT_EQ(artifact.manifest.captures.size(), 1u);
  EXPECT_EQ(artifact.manifest.captures[0].name, "q");
  EXPECT_EQ(artifact.manifest.dims, 3);
  HookJit hooks(artifact);
  hooks.bind(0, 0.5f);
  const float expected[] = {2.5f, 20.5f, 200.5f};
  for (int dim = 0; dim < 3; ++dim)
    EXPECT_EQ(std::bit_cast<float>(hooks.update<uint32_t, uint32_t>(0, 0, 0, dim, 3)),
              expected[dim]);
}

} // namespace
