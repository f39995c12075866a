//===- CborTest.cpp - What may reach the CBOR parser ------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Artifact/Cbor.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <random>

namespace annudf {
namespace {

using std::string_literals::operator""s;
using std::string_view_literals::operator""sv;

constexpr CborLimits kLimits = {.items = 1 << 20, .text = 1 << 20};

CborCheck check(std::string_view bytes) { return checkCbor(bytes, kLimits).check; }

std::string whyNot(std::string_view bytes, const CborLimits &limits = kLimits) {
  const CborResult result = checkCbor(bytes, limits);
  return std::to_string(result.offset) + ": " + result.why;
}

TEST(Cbor, AcceptsWhatIsWritten) {
  const nlohmann::json value = {{"a", {1, -2, -25, true, nullptr, "Größe"}},
                                {"b", nlohmann::json::binary({1, 2, 3})},
                                {"c", 0x123456789abcdef0u},
                                {"d", nlohmann::json::object()}};
  std::string bytes;
  nlohmann::json::to_cbor(value, bytes);
  EXPECT_EQ(check(bytes), CborCheck::Ok);
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_EQ(check(bytes.substr(0, size)), CborCheck::Truncated) << size;
  EXPECT_EQ(check(bytes + '\0'), CborCheck::Malformed);
}

TEST(Cbor, BoundsDepth) {
  const auto nested = [](int depth) { return std::string(size_t(depth), '\x81') + '\0'; };
  EXPECT_EQ(check(nested(kMaxCborDepth)), CborCheck::Ok);
  EXPECT_EQ(check(nested(kMaxCborDepth + 1)), CborCheck::Malformed);
  EXPECT_EQ(check(nested(1 << 20)), CborCheck::Malformed);
}

// The parser recurses through the chunks of such strings, out of sight of a SAX handler.
TEST(Cbor, RefusesIndefiniteLengths) {
  for (char head : {'\x5f', '\x7f', '\x9f', '\xbf'}) {
    EXPECT_EQ(check(std::string(1 << 20, head)), CborCheck::Malformed);
    EXPECT_EQ(check(std::string(1, head) + '\xff'), CborCheck::Malformed);
  }
}

TEST(Cbor, RefusesTagsReservedAndOddKeys) {
  EXPECT_EQ(check("\xc0\x00"sv), CborCheck::Malformed);     // Tag 0.
  EXPECT_EQ(check("\x1c"sv), CborCheck::Malformed);         // Reserved length.
  EXPECT_EQ(check("\xf7"sv), CborCheck::Malformed);         // Undefined.
  EXPECT_EQ(check("\xf8\x20"sv), CborCheck::Malformed);     // Simple value 32.
  EXPECT_EQ(check("\xff"sv), CborCheck::Malformed);         // Break without a start.
  EXPECT_EQ(check("\xa1\x01\x02"sv), CborCheck::Malformed); // A number as key.
}

// A length that the bytes cannot hold stops the check, not the allocator.
TEST(Cbor, RefusesLengthsBeyondTheBytes) {
  for (char major : {'\x5b', '\x7b', '\x9b', '\xbb'})
    for (const auto &length :
         {"\xff\xff\xff\xff\xff\xff\xff\xff"sv, "\x7f\xff\xff\xff\xff\xff\xff\xff"sv,
          "\x80\x00\x00\x00\x00\x00\x00\x00"sv, "\x00\x00\x00\x01\x00\x00\x00\x00"sv})
      EXPECT_EQ(check(std::string(1, major) + std::string(length) + "12345678"),
                CborCheck::Truncated);
}

TEST(Cbor, RefusesNumbersBelowInt64) {
  EXPECT_EQ(check("\x3b\x7f\xff\xff\xff\xff\xff\xff\xff"sv), CborCheck::Ok);
  EXPECT_EQ(whyNot("\x3b\x80\x00\x00\x00\x00\x00\x00\x00"sv), "0: an integer below -2**63");
}

TEST(Cbor, RefusesFloats) {
  EXPECT_EQ(whyNot("\xf9\x00\x00"sv), "0: a float, which such a file has none of");
  EXPECT_EQ(whyNot("\xfa\x00\x00\x00\x00"sv), "0: a float, which such a file has none of");
  EXPECT_EQ(whyNot("\x82\x01\xfb\x00\x00\x00\x00\x00\x00\x00\x00"sv),
            "2: a float, which such a file has none of");
}

// RFC 8949, 4.2.1: equal values have equal bytes, so that a digest names a value.
TEST(Cbor, RefusesAllButTheShortestForm) {
  const char *const why = "0: a number or length is not in its shortest form";
  EXPECT_EQ(whyNot("\x18\x17"sv), why);
  EXPECT_EQ(check("\x18\x18"sv), CborCheck::Ok);
  EXPECT_EQ(whyNot("\x38\x17"sv), why);
  EXPECT_EQ(whyNot("\x19\x00\xff"sv), why);
  EXPECT_EQ(check("\x19\x01\x00"sv), CborCheck::Ok);
  EXPECT_EQ(whyNot("\x1a\x00\x00\xff\xff"sv), why);
  EXPECT_EQ(check("\x1a\x00\x01\x00\x00"sv), CborCheck::Ok);
  EXPECT_EQ(whyNot("\x1b\x00\x00\x00\x00\xff\xff\xff\xff"sv), why);
  EXPECT_EQ(check("\x1b\x00\x00\x00\x01\x00\x00\x00\x00"sv), CborCheck::Ok);
  for (char major : {'\x58', '\x78', '\x98', '\xb8'})
    EXPECT_EQ(whyNot(std::string{major, '\x00'}), why);
}

TEST(Cbor, RefusesKeysGivenTwiceOrUnsorted) {
  EXPECT_EQ(check("\xa2\x61"
                  "a\x01\x61"
                  "b\x02"sv),
            CborCheck::Ok);
  EXPECT_EQ(whyNot("\xa2\x61"
                   "a\x01\x61"
                   "a\x02"sv),
            "4: a key is given twice");
  EXPECT_EQ(whyNot("\xa2\x61"
                   "b\x01\x61"
                   "a\x02"sv),
            "4: keys are not sorted");
  EXPECT_EQ(whyNot("\xa2\x61"
                   "a\xa1\x61"
                   "z\x01\x61"
                   "a\x02"sv),
            "7: a key is given twice")
      << "behind a map within";
  EXPECT_EQ(whyNot("\xa2\x60\x01\x60\x02"sv), "3: a key is given twice") << "empty keys";
}

TEST(Cbor, RefusesTextThatATerminalWouldObey) {
  const char *const why = "0: text holds control characters or is no UTF-8";
  EXPECT_EQ(whyNot("\x61\x1b"sv), why);
  EXPECT_EQ(whyNot("\x61\n"sv), why);
  EXPECT_EQ(whyNot("\x61\xff"sv), why);
  EXPECT_EQ(whyNot("\x62\xc2\x9b"sv), why);
  EXPECT_EQ(check("\x41\x1b"sv), CborCheck::Ok) << "bytes are no text";
}

// An item of one byte costs the parser some 180.
TEST(Cbor, CountsItemsAndText) {
  std::string many = "\x9a\x00\x0f\xff\xff"s + std::string((1 << 20) - 1, '\0');
  EXPECT_EQ(check(many), CborCheck::Ok);
  EXPECT_EQ(whyNot(many, {.items = 1000, .text = 0}), "1004: more items than such a file may hold");
  EXPECT_EQ(checkCbor(many, {.items = 1000, .text = 0}).check, CborCheck::TooMuch);
  EXPECT_EQ(whyNot("\x82\x64"
                   "1234\x64"
                   "5678"sv,
                   {.items = 3, .text = 7}),
            "6: more text than such a file may hold");
  EXPECT_EQ(checkCbor("\x82\x64"
                      "1234\x64"
                      "5678"sv,
                      {.items = 3, .text = 8})
                .check,
            CborCheck::Ok);
}

// Whatever passes the check, the parser takes without an exception other than its own.
TEST(Cbor, RandomBytes) {
  std::mt19937 random(7);
  int accepted = 0;
  for (int i = 0; i < 200000; ++i) {
    std::string bytes(1 + random() % 12, '\0');
    for (char &byte : bytes)
      byte = static_cast<char>(random());
    if (check(bytes) != CborCheck::Ok)
      continue;
    ++accepted;
    nlohmann::json parsed;
    EXPECT_NO_THROW(parsed = nlohmann::json::from_cbor(bytes));
    std::string again;
    nlohmann::json::to_cbor(parsed, again);
    EXPECT_EQ(again, bytes) << "one value, one encoding";
  }
  EXPECT_GT(accepted, 1000);
}

} // namespace
} // namespace annudf
