//===- ProductPlain.cpp - The matrix path's loops for any processor -------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProductBounds.h"

namespace {

void multiply(const void *of, int32_t count, const uint32_t *pairs, int32_t rowTiles, int32_t steps,
              float *scores) {
  const auto *queries = static_cast<const uint16_t *>(of);
  const int32_t words = steps * (kStepDims / 2);
  for (int32_t q = 0; q < count; ++q, queries += 2 * int64_t(words))
    for (int32_t tile = 0; tile < rowTiles; ++tile, scores += kTileRows) {
      const uint32_t *from = pairs + int64_t(tile) * words * kTileRows;
      Lanes sum = {};
      for (int32_t word = 0; word < words; ++word, from += kTileRows) {
        Bits both;
        __builtin_memcpy(&both, from, sizeof(both));
        sum += reinterpret_cast<Lanes>(both << 16) * fromBfloat(queries[2 * word]);
        sum += reinterpret_cast<Lanes>(both & 0xFFFF0000u) * fromBfloat(queries[2 * word + 1]);
      }
      __builtin_memcpy(scores, &sum, sizeof(sum));
    }
}

template <bool ofRatio>
int32_t survivors(const float *scores, const float *base, const float *norm, int32_t rows,
                  const uint32_t *passing, const QueryBound &query, float limit, int32_t *which,
                  float *bounds) {
  int32_t count = 0;
  for (int32_t i = 0; i < rows; ++i) {
    const float bound = boundOf<ofRatio>(scores[i], base[i], norm[i], query);
    if (bound > limit || (passing && (passing[i / 32] >> (i % 32) & 1) == 0)) // NaN survives.
      continue;
    which[count] = i;
    bounds[count++] = bound;
  }
  return count;
}

} // namespace

namespace annudf::runtime::cpu {

const ProductKernels &plainKernels() {
  static constexpr ProductKernels kernels{"plain",
                                          2,
                                          0,
                                          convertBlock,
                                          multiply,
                                          {survivors<false>, sample<false>},
                                          {survivors<true>, sample<true>}};
  return kernels;
}

} // namespace annudf::runtime::cpu
