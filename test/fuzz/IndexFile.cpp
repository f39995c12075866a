//===- IndexFile.cpp - Fuzzing index files ----------------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Mutations keep both digests of the file right (docs/spec/index-format.md), but for one in eight.
#include "annudf/Support/Sha256.h"
#include "annudf/runtime/ivf_flat/Index.h"
#include "fuzz/Fuzz.h"

#include <cstring>

using namespace annudf;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const fuzz::InputFile file(".ivf");
  fuzz::readOrRefuse([&] {
    const runtime::Index index = runtime::Index::load(file.with(fuzz::viewOf(data, size)));
    int64_t rows = 0;
    for (uint32_t i = 0; i < index.nLists(); ++i)
      rows += index.list(i).size;
    if (rows != index.size())
      std::abort();
  });
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize,
                                          unsigned seed) {
  constexpr size_t kHeader = 64, kHeaderSize = 12, kHeaderDigest = 16, kDigest = 32;
  if (seed % 8 == 0 || size < kHeader + kDigest || maxSize < kHeader + 2 * kDigest)
    return LLVMFuzzerMutate(data, size, maxSize);
  size = LLVMFuzzerMutate(data, size - kDigest, maxSize - kDigest);
  uint32_t header = 0;
  if (size >= kHeader) {
    std::memcpy(&header, data + kHeaderSize, sizeof(header));
    if (header <= size - kHeader) {
      const Sha256::Digest digest = Sha256::of(data + kHeader, header);
      std::memcpy(data + kHeaderDigest, digest.data(), kDigest);
    }
  }
  const Sha256::Digest all = Sha256::of(data, size);
  std::memcpy(data + size, all.data(), kDigest);
  return size + kDigest;
}
