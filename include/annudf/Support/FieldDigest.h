//===- FieldDigest.h - A digest over fields of any content ---------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_SUPPORT_FIELDDIGEST_H
#define ANNUDF_SUPPORT_FIELDDIGEST_H

#include "annudf/Support/Sha256.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace annudf {

/// SHA-256 over fields, each after its length, so that no two lists of fields are the same bytes.
class FieldDigest {
public:
  FieldDigest &text(std::string_view field) {
    length(field.size());
    digest_.update(field.data(), field.size());
    return *this;
  }
  FieldDigest &bytes(const void *data, size_t size) {
    return text({static_cast<const char *>(data), size});
  }
  FieldDigest &number(uint64_t value) {
    length(sizeof value);
    return raw(value);
  }
  /// Ends the digest: 64 hexadecimal digits.
  std::string finish() { return Sha256::hex(digest_.finish()); }

private:
  void length(uint64_t size) { raw(size); }
  /// Little-endian on every host.
  FieldDigest &raw(uint64_t value) {
    unsigned char bytes[8];
    for (unsigned char &byte : bytes) {
      byte = static_cast<unsigned char>(value);
      value >>= 8;
    }
    digest_.update(bytes, sizeof bytes);
    return *this;
  }

  Sha256 digest_;
};

} // namespace annudf

#endif // ANNUDF_SUPPORT_FIELDDIGEST_H
