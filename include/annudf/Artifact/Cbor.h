//===- Cbor.h - The CBOR of annudf's files --------------------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bytes of other people are checked as a whole first, without recursion or allocation:
// no reader then meets an item that it does not expect, nests deeply, or takes memory
// out of proportion to the bytes.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_ARTIFACT_CBOR_H
#define ANNUDF_ARTIFACT_CBOR_H

#include <cstddef>
#include <cstdint>
#include <string>
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
  size_t items; ///< All kinds, the keys of maps and the outermost item included.
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

struct CborItem {
  enum class Kind { Null, Boolean, Number, Negative, Text, Bytes, List, Map };
  Kind kind = Kind::Null;
  /// A number itself, for a negative one how far it is below -1, for a list or map how many
  /// items or pairs follow; 0 or 1.
  uint64_t number = 0;
  std::string_view content; ///< Text and bytes, inside the input.
};

/// Reads item after item of what checkCbor() passed.
class CborReader {
public:
  explicit CborReader(std::string_view bytes) : bytes_(bytes) {}
  bool atEnd() const { return at_ == bytes_.size(); }
  CborItem next();

private:
  std::string_view bytes_;
  size_t at_ = 0;
};

/// Writes item after item; the caller sorts keys and counts.
class CborText {
public:
  void null() { bytes_ += '\xf6'; }
  void boolean(bool value) { bytes_ += value ? '\xf5' : '\xf4'; }
  void number(uint64_t value) { head(0, value); }
  void negative(uint64_t below) { head(1, below); }
  void binary(std::string_view content) { head(2, content.size()), bytes_ += content; }
  void string(std::string_view content) { head(3, content.size()), bytes_ += content; }
  void list(size_t items) { head(4, items); }
  void map(size_t pairs) { head(5, pairs); }
  std::string take() { return std::move(bytes_); }

private:
  void head(int major, uint64_t value);
  std::string bytes_;
};

/// The outer map of an artifact: three keys and their values. A newer container of the same
/// version may add some.
inline constexpr CborLimits kContainerLimits = {.items = 64, .text = 1024};

} // namespace annudf

#endif // ANNUDF_ARTIFACT_CBOR_H
