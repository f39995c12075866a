//===- IndexFileTesting.h - Index files that lie ----------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_RUNTIME_INDEXFILETESTING_H
#define ANNUDF_TEST_RUNTIME_INDEXFILETESTING_H

#include "annudf/Support/Sha256.h"

#include <cstdint>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

namespace annudf::test {

/// Replaces the header of a file and seals it again; the sections stay.
inline std::string withIndexHeader(const std::string &bytes,
                                   const std::function<void(nlohmann::json &)> &change) {
  uint32_t size;
  std::memcpy(&size, bytes.data() + 12, 4);
  nlohmann::json header = nlohmann::json::from_cbor(bytes.substr(64, size));
  change(header);
  std::string encoded;
  nlohmann::json::to_cbor(header, encoded);
  const auto round = [](size_t n) { return (n + 63) / 64 * 64; };
  std::string result = bytes.substr(0, 64) + encoded;
  result.resize(round(result.size()));
  size = static_cast<uint32_t>(encoded.size());
  std::memcpy(result.data() + 12, &size, 4);
  const Sha256::Digest digest = Sha256::of(encoded.data(), encoded.size());
  std::memcpy(result.data() + 16, digest.data(), digest.size());
  std::memcpy(&size, bytes.data() + 12, 4);
  result += bytes.substr(round(64 + size), bytes.size() - 32 - round(64 + size));
  const Sha256::Digest all = Sha256::of(result.data(), result.size());
  return result.append(reinterpret_cast<const char *>(all.data()), all.size());
}

} // namespace annudf::test

#endif // ANNUDF_TEST_RUNTIME_INDEXFILETESTING_H
