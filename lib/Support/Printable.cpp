//===- Printable.cpp - Text of files on its way to a terminal -----*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Support/Printable.h"

#include <cstdint>
#include <cstdio>

namespace annudf {
namespace {

constexpr uint32_t kInvalid = 0xffffffff;

/// The character at `at`, which moves behind it; kInvalid, moving by one byte, if the
/// bytes there are no UTF-8.
uint32_t nextCharacter(std::string_view text, size_t &at) {
  const auto byteAt = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byteAt(at++);
  if (first < 0x80)
    return first;
  const int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
  if (first < 0xc2 || first > 0xf4 || text.size() - at < size_t(more))
    return kInvalid;
  uint32_t value = first & (0x3f >> more);
  for (int i = 0; i < more; ++i) {
    if ((byteAt(at + i) & 0xc0) != 0x80)
      return kInvalid;
    value = value << 6 | (byteAt(at + i) & 0x3f);
  }
  constexpr uint32_t kLeast[] = {0, 0x80, 0x800, 0x10000};
  if (value < kLeast[more] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000))
    return kInvalid;
  at += more;
  return value;
}

bool isHarmless(uint32_t c, Lines lines) {
  if (c < 0x20)
    return lines == Lines::Keep && (c == '\n' || c == '\t');
  const bool control = c >= 0x7f && c < 0xa0;
  const bool direction = c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
                         (c >= 0x2066 && c <= 0x2069);
  const bool lineBreak = c == 0x2028 || c == 0x2029;
  return !control && !direction && !lineBreak && c != 0xfeff;
}

} // namespace

std::string printable(std::string_view text, Lines lines) {
  std::string result;
  result.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    const uint32_t c = nextCharacter(text, at);
    char escape[16];
    if (c == kInvalid || (c < 0x80 && !isHarmless(c, lines))) {
      std::snprintf(escape, sizeof escape, "\\x%02x", static_cast<uint8_t>(text[begin]));
      result += escape;
    } else if (!isHarmless(c, lines)) {
      std::snprintf(escape, sizeof escape, "\\u{%x}", static_cast<unsigned>(c));
      result += escape;
    } else {
      result += text.substr(begin, at - begin);
    }
  }
  return result;
}

bool isUtf8(std::string_view text) {
  for (size_t at = 0; at < text.size();)
    if (nextCharacter(text, at) == kInvalid)
      return false;
  return true;
}

bool isPrintable(std::string_view text, Lines lines) {
  for (size_t at = 0; at < text.size();)
    if (const uint32_t c = nextCharacter(text, at); c == kInvalid || !isHarmless(c, lines))
      return false;
  return true;
}

} // namespace annudf
