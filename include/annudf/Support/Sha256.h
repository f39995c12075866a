//===- Sha256.h - FIPS 180-4 message digest ------------------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// SHA-256 over a stream of bytes. Blocks are hashed where they lie: only a tail
// shorter than 64 bytes is ever copied, so an index of any size can be digested
// while it is written or read.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_SUPPORT_SHA256_H
#define ANNUDF_SUPPORT_SHA256_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace annudf {

class Sha256 {
public:
  using Digest = std::array<uint8_t, 32>;

  Sha256();
  void update(const void *data, size_t size);
  /// Ends the message; the object must not be updated afterwards.
  Digest finish();

  static Digest of(const void *data, size_t size);
  /// Lower-case hexadecimal.
  static std::string hex(const Digest &digest);

private:
  std::array<uint32_t, 8> state_;
  std::array<uint8_t, 64> tail_;
  size_t tailSize_ = 0;
  uint64_t total_ = 0; ///< Bytes so far.
};

/// Lower-case hexadecimal SHA-256 (FIPS 180-4) of `bytes`.
std::string sha256Hex(std::string_view bytes);

} // namespace annudf

#endif // ANNUDF_SUPPORT_SHA256_H
