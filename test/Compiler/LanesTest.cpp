//===- LanesTest.cpp - Packed terms against scalar updates ----------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the compiler proves of a metric and what kernels then compute of whole words, against the
// metric's own update: every pair of elements in each place of a word, and words of four pairs.
//
//===----------------------------------------------------------------------===//

#include "HookJit.h"
#include "kernels/PackedTerms.h"

#include <bit>
#include <gtest/gtest.h>
#include <random>

using namespace annudf;
using namespace annudf::test;

namespace {

struct Form {
  const char *name;
  const char *type; ///< The accumulator's and the coordinates'.
  const char *initial, *body;
  annudf_packed_term term;
  bool negated = false;
  const char *elements = "i8, u8";
};

constexpr Form kForms[] = {
    {"fma", "f32", "0.0", "%d = arith.subf %x, %y : f32\n%r = math.fma %d, %d, %acc : f32",
     ANNUDF_PACKED_SQUARED_DIFFERENCE},
    {"square", "i32", "-7",
     "%d = arith.subi %y, %x : i32\n%t = arith.muli %d, %d : i32\n%r = arith.addi %t, %acc : i32",
     ANNUDF_PACKED_SQUARED_DIFFERENCE},
    {"minus_square", "f32", "1.0",
     "%d = arith.subf %y, %x : f32\n%t = arith.mulf %d, %d : f32\n%r = arith.subf %acc, %t : f32",
     ANNUDF_PACKED_SQUARED_DIFFERENCE, true},
    {"abs", "f32", "0.0",
     "%d = arith.subf %x, %y : f32\n%t = math.absf %d : f32\n%r = arith.addf %acc, %t : f32",
     ANNUDF_PACKED_ABSOLUTE_DIFFERENCE},
    {"max", "f32", "0.0",
     "%d = arith.subf %x, %y : f32\n%n = arith.negf %d : f32\n"
     "%t = arith.maximumf %n, %d : f32\n%r = arith.addf %t, %acc : f32",
     ANNUDF_PACKED_ABSOLUTE_DIFFERENCE},
    {"select", "i32", "0",
     "%c = arith.cmpi slt, %x, %y : i32\n%a = arith.subi %y, %x : i32\n"
     "%b = arith.subi %x, %y : i32\n%t = arith.select %c, %a, %b : i32\n"
     "%r = arith.addi %acc, %t : i32",
     ANNUDF_PACKED_ABSOLUTE_DIFFERENCE},
    {"product", "f32", "0.0", "%r = math.fma %x, %y, %acc : f32", ANNUDF_PACKED_PRODUCT},
    {"minus_product", "i32", "0", "%t = arith.muli %y, %x : i32\n%r = arith.subi %acc, %t : i32",
     ANNUDF_PACKED_PRODUCT, true},
    {"minus_x", "f32", "0.0", "%n = arith.negf %x : f32\n%r = math.fma %n, %y, %acc : f32",
     ANNUDF_PACKED_PRODUCT, true},
    {"differ", "f32", "0.0",
     "%one = arith.constant 1.0 : f32\n%c = arith.cmpf une, %x, %y : f32\n"
     "%a = arith.addf %acc, %one : f32\n%r = arith.select %c, %a, %acc : f32",
     ANNUDF_PACKED_DIFFERENT},
    {"bits", "i32", "0",
     "%m = arith.constant 255 : i32\n%d = arith.xori %x, %y : i32\n%b = arith.andi %d, %m : i32\n"
     "%t = math.ctpop %b : i32\n%r = arith.addi %acc, %t : i32",
     ANNUDF_PACKED_DIFFERENT_BITS},
};

Artifact compileForm(const Form &form) {
  const std::string type = form.type;
  return compileText("annudf.metric @m order(min) coarse(l2) elements(" +
                         std::string(form.elements) + ") {\nannudf.init {\n%0 = arith.constant " +
                         form.initial + " : " + type + "\nannudf.yield %0 : " + type +
                         "\n}\nannudf.update (%acc: " + type + ", %x: " + type + ", %y: " + type +
                         ") {\n" + form.body + "\nannudf.yield %r : " + type + "\n}\n}\n",
                     /*device=*/false);
}

uint32_t asByte(int value, int place) { return uint32_t(uint8_t(value)) << (8 * place); }

class Comparison {
public:
  Comparison(const Artifact &artifact, annudf_element element)
      : sum(*artifact.manifest.packed), element(element),
        isFloat(artifact.manifest.accumulator == ANNUDF_ACCUMULATOR_F32), hooks(artifact) {}

  uint32_t begin() const { return hooks.init<uint32_t>(); }
  uint32_t scalar(uint32_t acc, int x, int y) const { return hooks.updateValues(acc, x, y); }
  /// As processors with matrix instructions of bits add terms, or as others do.
  uint32_t packed(uint32_t x, uint32_t y, bool products) const {
    using namespace annudf_kernels;
    uint32_t all = finishTerm(
        sum.term, element, products, addTerm(sum.term, element, products, 0, x, y),
        addOwn(sum.term, element, products, 0, x), addOwn(sum.term, element, products, 0, y));
    if (sum.negated)
      all = 0 - all;
    if (!isFloat)
      return begin() + all;
    return std::bit_cast<uint32_t>(std::bit_cast<float>(begin()) + float(int32_t(all)));
  }

private:
  const PackedSum sum;
  const annudf_element element;
  const bool isFloat;
  HookJit hooks;
};

TEST(Lanes, PackedTermsAreScalarUpdates) {
  std::mt19937 random(3);
  for (const Form &form : kForms) {
    const Artifact artifact = compileForm(form);
    ASSERT_TRUE(artifact.manifest.packed) << form.name;
    EXPECT_EQ(artifact.manifest.packed->term, form.term) << form.name;
    EXPECT_EQ(artifact.manifest.packed->negated, form.negated) << form.name;
    for (annudf_element element : {ANNUDF_ELEMENT_I8, ANNUDF_ELEMENT_U8}) {
      ASSERT_GT(artifact.manifest.packed->dimsOf(element), 0) << form.name;
      const Comparison both(artifact, element);
      const int first = element == ANNUDF_ELEMENT_I8 ? -128 : 0;
      for (int x = first; x < first + 256; ++x)
        for (int y = first; y < first + 256; ++y) {
          const uint32_t expected = both.scalar(both.begin(), x, y);
          for (int place = 0; place < 4; ++place)
            for (bool products : {false, true})
              ASSERT_EQ(both.packed(asByte(x, place), asByte(y, place), products), expected)
                  << form.name << " " << toString(element) << " " << x << " " << y << " at "
                  << place;
        }
      for (int i = 0; i < 20000; ++i) {
        const auto x = uint32_t(random()), y = uint32_t(random());
        uint32_t acc = both.begin();
        for (int place = 0; place < 4; ++place) {
          const auto a = uint8_t(x >> (8 * place)), b = uint8_t(y >> (8 * place));
          acc = element == ANNUDF_ELEMENT_I8 ? both.scalar(acc, int(int8_t(a)), int(int8_t(b)))
                                             : both.scalar(acc, int(a), int(b));
        }
        for (bool products : {false, true})
          ASSERT_EQ(both.packed(x, y, products), acc) << form.name << " " << toString(element);
      }
    }
  }
}

TEST(Lanes, OfBitsEveryTermIsOneOfTwo) {
  for (const Form &form : kForms) {
    Form ofBits = form;
    ofBits.elements = "bits";
    const Artifact artifact = compileForm(ofBits);
    ASSERT_TRUE(artifact.manifest.packed) << form.name;
    const Comparison both(artifact, ANNUDF_ELEMENT_BITS);
    for (uint32_t x : {0u, 1u, 0xF0F0u, 0xFFFFFFFFu, 0x80000001u})
      for (uint32_t y : {0u, 1u, 0xFF00u, 0xFFFFFFFFu, 0x80000000u}) {
        uint32_t acc = both.begin();
        for (int bit = 0; bit < 32; ++bit)
          acc = both.scalar(acc, int(x >> bit & 1), int(y >> bit & 1));
        for (bool products : {false, true})
          EXPECT_EQ(both.packed(x, y, products), acc) << form.name << " " << x << " " << y;
      }
  }
}

TEST(Lanes, TheProofIsInTheContract) {
  const Artifact artifact = compileForm(kForms[0]);
  MetricDescriptor other = artifact.manifest;
  other.packed.reset();
  EXPECT_NE(contractOf(other), contractOf(artifact.manifest));
  EXPECT_EQ(HookJit(artifact).contract(), contractOf(artifact.manifest));
}

} // namespace
