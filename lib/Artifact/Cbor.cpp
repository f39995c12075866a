//===- Cbor.cpp - Is it safe to hand these bytes to a CBOR parser? --*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Artifact/Cbor.h"

#include <cstdint>

namespace annudf {
namespace {

/// Major types of RFC 8949, 3.1.
enum Major { Unsigned, Negative, Bytes, Text, Array, Map, Tag, Simple };

struct Open {
  uint64_t left; ///< Items still to come; a map counts keys and values.
  bool isMap;
};

} // namespace

CborCheck checkCbor(std::string_view bytes, size_t *offset) {
  Open open[kMaxCborDepth];
  int depth = 0;
  size_t at = 0, item = 0; // `item` is where the current one starts.
  auto stop = [&](CborCheck result) {
    if (offset)
      *offset = item;
    return result;
  };
  do {
    item = at;
    if (at == bytes.size())
      return stop(CborCheck::Truncated);
    const auto head = static_cast<uint8_t>(bytes[at]);
    const int major = head >> 5, info = head & 31;
    if (info > 27 || major == Tag)
      return stop(CborCheck::Malformed); // Reserved, of indefinite length, or tagged.
    uint64_t value = static_cast<uint64_t>(info);
    const size_t extra = info < 24 ? 0 : size_t(1) << (info - 24);
    if (bytes.size() - at - 1 < extra)
      return stop(CborCheck::Truncated);
    if (extra != 0) {
      value = 0;
      for (size_t i = 0; i < extra; ++i)
        value = value << 8 | static_cast<uint8_t>(bytes[at + 1 + i]);
    }
    const bool isKey = depth > 0 && open[depth - 1].isMap && open[depth - 1].left % 2 == 0;
    if (isKey && major != Text)
      return stop(CborCheck::Malformed);
    if (major == Simple && !(info >= 20 && info <= 22) && !(info >= 25 && info <= 27))
      return stop(CborCheck::Malformed); // Only false, true, null and floats.
    at += 1 + extra;
    const size_t left = bytes.size() - at;
    if (major == Bytes || major == Text) {
      if (value > left)
        return stop(CborCheck::Truncated);
      at += value;
    }
    if (depth > 0)
      --open[depth - 1].left;
    if (major == Array || major == Map) {
      // An item takes at least one byte, a pair two.
      if (value > (major == Map ? left / 2 : left))
        return stop(CborCheck::Truncated);
      if (depth == kMaxCborDepth)
        return stop(CborCheck::Malformed);
      open[depth++] = {major == Map ? value * 2 : value, major == Map};
    }
    while (depth > 0 && open[depth - 1].left == 0)
      --depth;
  } while (depth > 0);
  item = at;
  return stop(at == bytes.size() ? CborCheck::Ok : CborCheck::Malformed);
}

} // namespace annudf
