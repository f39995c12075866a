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
// stack. So the structure is checked first, without recursion or allocation.
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
  Malformed  ///< Not in the subset below, too deep, or bytes follow the item.
};

/// Deepest nesting of arrays and maps in annudf's files.
inline constexpr int kMaxCborDepth = 16;

/// Checks that `bytes` is exactly one item of the subset that annudf writes:
/// integers, byte and text strings, arrays, maps with text keys, booleans, null and
/// floats, all of definite length, no tags, nested at most kMaxCborDepth deep, every
/// length within the bytes that are there.
/// \param offset  if given, receives where the item starts at which the check stopped.
CborCheck checkCbor(std::string_view bytes, size_t *offset = nullptr);

} // namespace annudf

#endif // ANNUDF_ARTIFACT_CBOR_H
