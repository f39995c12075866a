//===- ValueTest.cpp - Values, against another implementation -------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Value.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace annudf;
using nlohmann::json;

namespace {

std::string cborOf(const json &value) {
  std::string bytes;
  json::to_cbor(value, bytes);
  return bytes;
}

TEST(Value, NumbersOfEveryLength) {
  for (int bits = 0; bits < 64; ++bits)
    for (int off = -1; off <= 1; ++off) {
      const uint64_t number = (uint64_t(1) << bits) + uint64_t(off);
      EXPECT_EQ(toCbor(number), cborOf(number));
      EXPECT_EQ(toJson(number), json(number).dump());
      if (number > uint64_t(INT64_MAX))
        continue;
      const int64_t below = -1 - int64_t(number);
      EXPECT_EQ(toCbor(Negative{number}), cborOf(below));
      EXPECT_EQ(toJson(Negative{number}), json(below).dump());
    }
}

TEST(Value, TreesAndBack) {
  const std::string longText(300, 'x');
  const Value value = Map{{"zero", {}},
                          {"a", List{true, false, 1u, Negative{24}, "Größe", List{}, Map{}}},
                          {"bytes", Bytes{std::string("\0\xff", 2)}},
                          {"", longText},
                          {"inner", Map{{"b", Map{{"c", List{List{"d"}}}}}}}};
  json expected = {{"zero", nullptr},
                   {"a", {true, false, 1u, -25, "Größe", json::array(), json::object()}},
                   {"bytes", json::binary({0, 0xff})},
                   {"", longText}};
  expected["inner"]["b"]["c"] = json::array({json::array({"d"})});
  EXPECT_EQ(toCbor(value), cborOf(expected));
  EXPECT_EQ(toCbor(fromCbor(toCbor(value))), cborOf(expected));
  expected.erase("bytes");
  Map texts = *value.as<Map>();
  texts.erase("bytes");
  EXPECT_EQ(toJson(texts), expected.dump(2));
}

TEST(Value, TextOfAnyBytes) {
  for (int byte = 1; byte < 0x80; ++byte) {
    const std::string text = "a" + std::string(1, char(byte)) + "\u00e9\"";
    EXPECT_EQ(toJson(text), json(text).dump()) << byte;
  }
  const std::string wide = "\u00e9\"\u20ac\\\U0001f600\n\u00e9";
  EXPECT_EQ(toJson(wide), json(wide).dump());
  // No UTF-8: JSON all the same.
  EXPECT_EQ(toJson("a\xff\"b\xc3"), "\"a\xef\xbf\xbd\\\"b\xef\xbf\xbd\"");
}

} // namespace
