//===- Mixture.h - Vectors of the CUDA benchmarks ---------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A Gaussian mixture, the same for the same arguments: row r belongs to cluster
// mix(seed + 7919 r) mod C, center N(0,1), spread S.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_BENCH_MIXTURE_H
#define ANNUDF_RUNTIME_BENCH_MIXTURE_H

#include "annudf/Artifact/Artifact.h"
#include "annudf/runtime/support/Parallel.h"
#include "annudf/runtime/vectors/Matrix.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace annudf::bench {

using runtime::Matrix;
using runtime::parallelFor;

inline uint64_t mix(uint64_t z) {
  z += 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

inline float normal(uint64_t seed) {
  const uint64_t a = mix(seed), b = mix(seed ^ 0x1234567890abcdefULL);
  const float u = float((a >> 40) + 1) * (1.f / 16777217.f),
              v = float(b >> 40) * (1.f / 16777216.f);
  return std::sqrt(-2 * std::log(u)) * std::cos(6.2831853f * v);
}

/// IEEE half, rounded to nearest even; the mixture stays far from its limits.
inline uint16_t halfOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  const uint32_t sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7FFFFFFFu;
  if (magnitude < 0x38800000u) { // Subnormal: units of 2^-24.
    const float scaled = std::nearbyint(std::fabs(value) * 16777216.f);
    return static_cast<uint16_t>(sign | static_cast<uint32_t>(scaled));
  }
  const uint32_t rounded = magnitude + 0xFFFu + (magnitude >> 13 & 1);
  return static_cast<uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
}

inline Matrix mixture(int64_t rows, int32_t dims, annudf_element element, int64_t clusters,
                      float sigma, uint64_t seed) {
  Matrix matrix;
  matrix.rows = rows, matrix.dims = dims, matrix.element = element;
  const size_t size = alignmentOf(element);
  matrix.storage.resize(static_cast<size_t>(rows * bytesOfRow(element, dims)));
  const float scale = element == ANNUDF_ELEMENT_I8 ? 30 : element == ANNUDF_ELEMENT_U8 ? 25 : 1;
  const float shift = element == ANNUDF_ELEMENT_U8 ? 128 : 0;
  parallelFor(0, (rows + 1023) / 1024, [&](int64_t block, int) {
    for (int64_t i = block * 1024 * dims; i < std::min(rows, (block + 1) * 1024) * dims; ++i) {
      const int64_t row = i / dims;
      const uint64_t c = mix(seed + row * 7919) % clusters;
      const float value = (normal(0xC0FFEEULL * 1000003ULL + c * 131071ULL + i % dims) +
                           sigma * normal(seed * 0x10001ULL + i * 2 + 1)) *
                              scale +
                          shift;
      std::byte *out = matrix.storage.data() + static_cast<size_t>(i) * size;
      switch (element) {
      case ANNUDF_ELEMENT_F32:
        std::memcpy(out, &value, 4);
        break;
      case ANNUDF_ELEMENT_F16: {
        const uint16_t half = halfOf(value);
        std::memcpy(out, &half, 2);
        break;
      }
      case ANNUDF_ELEMENT_BF16: { // Cut off: what is measured does not hang on the last bit.
        const auto upper = static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16);
        std::memcpy(out, &upper, 2);
        break;
      }
      case ANNUDF_ELEMENT_I8:
        *out = static_cast<std::byte>(
            static_cast<int8_t>(std::clamp(std::round(value), -127.f, 127.f)));
        break;
      case ANNUDF_ELEMENT_U8:
        *out =
            static_cast<std::byte>(static_cast<uint8_t>(std::clamp(std::round(value), 0.f, 255.f)));
        break;
      case ANNUDF_ELEMENT_BITS: // A thread has whole rows, and so whole bytes.
        matrix.storage[static_cast<size_t>(i / 8)] |= static_cast<std::byte>(value > 0) << (i % 8);
        break;
      }
    }
  });
  return matrix;
}

/// Makes the first `share` of the rows copies of the first one, which no clustering tells apart.
inline void gather(Matrix &matrix, double share) {
  const size_t row = static_cast<size_t>(bytesOfRow(matrix.element, matrix.dims));
  const auto copies = static_cast<size_t>(share * double(matrix.rows));
  for (size_t i = 1; i < copies; ++i)
    std::memcpy(matrix.storage.data() + i * row, matrix.storage.data(), row);
}

} // namespace annudf::bench

#endif // ANNUDF_RUNTIME_BENCH_MIXTURE_H
