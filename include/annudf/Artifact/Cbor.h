//===- Cbor.h - Is it safe to hand these bytes to a CBOR parser? ---*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// nlohmann::json parses CBOR by recursion, also through chunks of strings of
// indefinite length, of which no SAX handler hears: a file of 0x7f bytes ends the
// stack. It takes the last of two equal keys, and an item of one byte costs it some
// 180. So the bytes are checked first, without recursion or allocation.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_ARTIFACT_CBOR_H
#define ANNUDF_ARTIFACT_CBOR_H

#include <cstddef>
#include <string_view>

namespace annudf {

enum class CborCheck {
  Ok,
  Truncated, ///< The bytes end inside an item.
  Malformed, ///< Not in the subset below, too deep, or bytes follow the item.
  TooMuch    ///< More items or text than the limits allow.
};

/// What a kind of file may hold; more would only cost its reader memory.
struct CborLimits {
  size_t items; ///< Of every kind, the keys of maps and the outermost item included.
  size_t text;  ///< Bytes of all text strings together, keys included.
};

struct CborResult {
  CborCheck check = CborCheck::Ok;
  size_t offset = 0;    ///< Where the item starts at which the check stopped.
  const char *why = ""; ///< For people: "a key is given twice".
  explicit operator bool() const { return check == CborCheck::Ok; }
};

/// Deepest nesting of arrays and maps in annudf's files.
inline constexpr int kMaxCborDepth = 16;

/// Checks that `bytes` is exactly one item of the subset that annudf writes, so that
/// equal values have equal bytes: integers, byte strings, printable UTF-8 text (see
/// Support/Printable.h), arrays, maps, booleans and null; every number and length in its
/// shortest form and of definite length; keys are text, sorted bytewise, each given
/// once; no floats, no tags; nested at most kMaxCborDepth deep; every length within the
/// bytes that are there.
CborResult checkCbor(std::string_view bytes, const CborLimits &limits);

} // namespace annudf

#endif // ANNUDF_ARTIFACT_CBOR_H
