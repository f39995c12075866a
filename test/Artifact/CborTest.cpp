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

using std::string_view_literals::operator""sv;

TEST(Cbor, AcceptsWhatIsWritten) {
  const nlohmann::json value = {{"a", {1, -2, 3.5, true, nullptr, "text"}},
                                {"b", nlohmann::json::binary({1, 2, 3})},
                                {"c", 0x123456789abcdef0u},
                                {"d", nlohmann::json::object()}};
  std::string bytes;
  nlohmann::json::to_cbor(value, bytes);
  EXPECT_EQ(checkCbor(bytes), CborCheck::Ok);
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_EQ(checkCbor(bytes.substr(0, size)), CborCheck::Truncated) << size;
  EXPECT_EQ(checkCbor(bytes + '\0'), CborCheck::Malformed);
}

TEST(Cbor, BoundsDepth) {
  const auto nested = [](int depth) { return std::string(size_t(depth), '\x81') + '\0'; };
  EXPECT_EQ(checkCbor(nested(kMaxCborDepth)), CborCheck::Ok);
  EXPECT_EQ(checkCbor(nested(kMaxCborDepth + 1)), CborCheck::Malformed);
  EXPECT_EQ(checkCbor(nested(1 << 20)), CborCheck::Malformed);
}

// The parser recurses through the chunks of such strings, out of sight of a SAX handler.
TEST(Cbor, RefusesIndefiniteLengths) {
  for (char head : {'\x5f', '\x7f', '\x9f', '\xbf'}) {
    EXPECT_EQ(checkCbor(std::string(1 << 20, head)), CborCheck::Malformed);
    EXPECT_EQ(checkCbor(std::string(1, head) + '\xff'), CborCheck::Malformed);
  }
}

TEST(Cbor, RefusesTagsReservedAndOddKeys) {
  EXPECT_EQ(checkCbor("\xc0\x00"sv), CborCheck::Malformed);     // Tag 0.
  EXPECT_EQ(checkCbor("\x1c"sv), CborCheck::Malformed);         // Reserved length.
  EXPECT_EQ(checkCbor("\xf7"sv), CborCheck::Malformed);         // Undefined.
  EXPECT_EQ(checkCbor("\xf8\x20"sv), CborCheck::Malformed);     // Simple value 32.
  EXPECT_EQ(checkCbor("\xff"sv), CborCheck::Malformed);         // Break without a start.
  EXPECT_EQ(checkCbor("\xa1\x01\x02"sv), CborCheck::Malformed); // A number as key.
}

// A length that the bytes cannot hold stops the check, not the allocator.
TEST(Cbor, RefusesLengthsBeyondTheBytes) {
  for (char major : {'\x5b', '\x7b', '\x9b', '\xbb'})
    for (const auto &length :
         {"\xff\xff\xff\xff\xff\xff\xff\xff"sv, "\x7f\xff\xff\xff\xff\xff\xff\xff"sv,
          "\x80\x00\x00\x00\x00\x00\x00\x00"sv, "\x00\x00\x00\x00\x00\x00\x00\x09"sv})
      EXPECT_EQ(checkCbor(std::string(1, major) + std::string(length) + "12345678"),
                CborCheck::Truncated);
}

// Whatever passes the check, the parser takes without an exception other than its own.
TEST(Cbor, RandomBytes) {
  std::mt19937 random(7);
  int accepted = 0;
  for (int i = 0; i < 200000; ++i) {
    std::string bytes(1 + random() % 12, '\0');
    for (char &byte : bytes)
      byte = static_cast<char>(random());
    if (checkCbor(bytes) != CborCheck::Ok)
      continue;
    ++accepted;
    nlohmann::json parsed;
    EXPECT_NO_THROW(parsed = nlohmann::json::from_cbor(bytes));
  }
  EXPECT_GT(accepted, 1000);
}

} // namespace
} // namespace annudf
