//===- PrintableTest.cpp - Text of files on its way to a terminal -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Support/Printable.h"

#include <gtest/gtest.h>

using namespace annudf;

namespace {

TEST(Printable, TextThatIsHarmlessStays) {
  for (const char *text : {"", "plain", "Größe", "距離", "😀", "a\\b \"quoted\"", "~!@#"}) {
    EXPECT_EQ(printable(text), text);
    EXPECT_TRUE(isPrintable(text));
    EXPECT_TRUE(isUtf8(text));
  }
}

TEST(Printable, ControlCharactersAreShown) {
  EXPECT_EQ(printable("a\x1b[31mred\x1b[0m"), "a\\x1b[31mred\\x1b[0m");
  EXPECT_EQ(printable(std::string("a\0b\r\b\x7f", 6)), "a\\x00b\\x0d\\x08\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\u{9b}31m"); // C1: what ESC [ is in one character.
  EXPECT_EQ(printable("\xe2\x80\xae"
                      "fdp"),
            "\\u{202e}fdp");
  EXPECT_EQ(printable("a\xe2\x80\xa8"
                      "b"),
            "a\\u{2028}b");
}

TEST(Printable, LinesStayIfAsked) {
  EXPECT_EQ(printable("a\n\tb\x1b"), "a\\x0a\\x09b\\x1b");
  EXPECT_EQ(printable("a\n\tb\x1b", Lines::Keep), "a\n\tb\\x1b");
  EXPECT_FALSE(isPrintable("a\nb"));
  EXPECT_TRUE(isPrintable("a\nb", Lines::Keep));
}

TEST(Printable, BytesThatAreNoUtf8AreShown) {
  for (const char *text :
       {"\xff", "\x80", "\xc3", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf0\x80\x80\xaf",
        "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xe2\x82"}) {
    EXPECT_FALSE(isUtf8(text)) << printable(text);
    EXPECT_FALSE(isPrintable(text));
    EXPECT_TRUE(isPrintable(printable(text)));
  }
  EXPECT_EQ(printable("a\xff"
                      "b\xc3"),
            "a\\xffb\\xc3");
}

/// Whatever comes in, what goes out is shown as it is: 3 bytes of every kind.
TEST(Printable, TheResultIsPrintable) {
  for (int a = 0; a < 256; ++a)
    for (int b = 0; b < 256; ++b)
      for (int c : {0x00, 0x0a, 0x1b, 0x41, 0x80, 0x8e, 0x9b, 0xa8, 0xae, 0xbf, 0xc2, 0xe2, 0xff}) {
        const char bytes[] = {char(a), char(b), char(c)};
        const std::string shown = printable({bytes, 3});
        ASSERT_TRUE(isPrintable(shown)) << a << " " << b << " " << c;
        ASSERT_EQ(shown == std::string_view(bytes, 3), isPrintable({bytes, 3}));
      }
}

} // namespace
