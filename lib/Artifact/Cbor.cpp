//===- Cbor.cpp - The CBOR of annudf's files -------------------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Artifact/Cbor.h"

#include "annudf/Support/Printable.h"

#include <cstdint>
#include <limits>

namespace annudf {
namespace {

/// Major types of RFC 8949, 3.1.
enum Major { Unsigned, Negative, Bytes, Text, Array, Map, Tag, Simple };

struct Open {
  uint64_t left; ///< Items still to come; a map counts keys and values.
  bool isMap;
  std::string_view lastKey; ///< A map's; keys are never before their bytes.
  bool hasKey;
};

struct Head {
  int major, info;
  uint64_t value;
  size_t size;
};

/// Reads the head of an item. Its value is a number, a length, or what info says.
CborResult readHead(std::string_view bytes, size_t at, Head &head) {
  const auto byte = static_cast<uint8_t>(bytes[at]);
  head.major = byte >> 5, head.info = byte & 31;
  if (head.major == Tag)
    return {CborCheck::Malformed, at, "a tag, which such a file has none of"};
  if (head.info == 31)
    return {CborCheck::Malformed, at, "an item without a definite length"};
  if (head.info > 27)
    return {CborCheck::Malformed, at, "a byte that CBOR reserves"};
  if (head.major == Simple) {
    head.size = 1, head.value = 0;
    if (head.info >= 25 && head.info <= 27)
      return {CborCheck::Malformed, at, "a float, which such a file has none of"};
    if (head.info < 20 || head.info > 22)
      return {CborCheck::Malformed, at, "a simple value that is not false, true or null"};
    return {};
  }
  const size_t extra = head.info < 24 ? 0 : size_t(1) << (head.info - 24);
  if (bytes.size() - at - 1 < extra)
    return {CborCheck::Truncated, at, "the bytes end inside an item"};
  head.size = 1 + extra;
  head.value = extra == 0 ? uint64_t(head.info) : 0;
  for (size_t i = 0; i < extra; ++i)
    head.value = head.value << 8 | static_cast<uint8_t>(bytes[at + 1 + i]);
  const bool shortest = extra == 0   ? true
                        : extra == 1 ? head.value >= 24
                                     : head.value >> (extra * 4) != 0;
  if (!shortest)
    return {CborCheck::Malformed, at, "a number or length is not in its shortest form"};
  return {};
}

} // namespace

CborResult checkCbor(std::string_view bytes, const CborLimits &limits) {
  Open open[kMaxCborDepth];
  int depth = 0;
  size_t at = 0, items = 0, text = 0;
  do {
    const size_t item = at;
    if (at == bytes.size())
      return {CborCheck::Truncated, item, "the bytes end before an item"};
    if (++items > limits.items)
      return {CborCheck::TooMuch, item, "more items than such a file may hold"};
    Head head;
    if (const CborResult result = readHead(bytes, at, head); !result)
      return result;
    Open *const outer = depth > 0 ? &open[depth - 1] : nullptr;
    // -1 - value must fit, or parsers make something else of it.
    if (head.major == Negative && head.value > uint64_t(std::numeric_limits<int64_t>::max()))
      return {CborCheck::Malformed, item, "an integer below -2**63"};
    const bool isKey = outer && outer->isMap && outer->left % 2 == 0;
    if (isKey && head.major != Text)
      return {CborCheck::Malformed, item, "a key is not text"};
    at += head.size;
    const size_t left = bytes.size() - at;
    if (head.major == Bytes || head.major == Text) {
      if (head.value > left)
        return {CborCheck::Truncated, item, "the bytes end inside a string"};
      const std::string_view content = bytes.substr(at, head.value);
      at += head.value;
      if (head.major == Text && (text += content.size()) > limits.text)
        return {CborCheck::TooMuch, item, "more text than such a file may hold"};
      if (head.major == Text && !isPrintable(content))
        return {CborCheck::Malformed, item, "text holds control characters or is no UTF-8"};
      if (isKey) {
        if (outer->hasKey && content == outer->lastKey)
          return {CborCheck::Malformed, item, "a key is given twice"};
        if (outer->hasKey && content < outer->lastKey)
          return {CborCheck::Malformed, item, "keys are not sorted"};
        outer->lastKey = content, outer->hasKey = true;
      }
    }
    if (outer)
      --outer->left;
    if (head.major == Array || head.major == Map) {
      // An item takes at least one byte, a pair two.
      const bool isMap = head.major == Map;
      if (head.value > (isMap ? left / 2 : left))
        return {CborCheck::Truncated, item, "more items than bytes follow"};
      if (depth == kMaxCborDepth)
        return {CborCheck::Malformed, item, "items nested too deep"};
      open[depth++] = {isMap ? head.value * 2 : head.value, isMap, {}, false};
    }
    while (depth > 0 && open[depth - 1].left == 0)
      --depth;
  } while (depth > 0);
  if (at != bytes.size())
    return {CborCheck::Malformed, at, "bytes follow the item"};
  return {CborCheck::Ok, at, ""};
}

CborItem CborReader::next() {
  Head head;
  if (atEnd() || !readHead(bytes_, at_, head))
    return {}; // checkCbor() lets nobody come here.
  at_ += head.size;
  CborItem item;
  item.number = head.value;
  switch (static_cast<Major>(head.major)) {
  case Unsigned:
    item.kind = CborItem::Kind::Number;
    return item;
  case Negative:
    item.kind = CborItem::Kind::Negative;
    return item;
  case Bytes:
  case Text:
    item.kind = head.major == Text ? CborItem::Kind::Text : CborItem::Kind::Bytes;
    item.content = bytes_.substr(at_, head.value);
    at_ += item.content.size();
    return item;
  case Array:
    item.kind = CborItem::Kind::List;
    return item;
  case Map:
    item.kind = CborItem::Kind::Map;
    return item;
  case Tag:
  case Simple:
    item.kind = head.info == 22 ? CborItem::Kind::Null : CborItem::Kind::Boolean;
    item.number = head.info == 21;
    return item;
  }
  return item;
}

void CborText::head(int major, uint64_t value) {
  const int extra = value < 24            ? 0
                    : value <= 0xff       ? 1
                    : value <= 0xffff     ? 2
                    : value <= 0xffffffff ? 4
                                          : 8;
  const int info = extra == 0   ? int(value)
                   : extra == 1 ? 24
                   : extra == 2 ? 25
                   : extra == 4 ? 26
                                : 27;
  bytes_ += static_cast<char>(major << 5 | info);
  for (int shift = (extra - 1) * 8; shift >= 0; shift -= 8)
    bytes_ += static_cast<char>(value >> shift & 0xff);
}

} // namespace annudf
