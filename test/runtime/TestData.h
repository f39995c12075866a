//===- TestData.h - Vectors of tests ----------------------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_RUNTIME_TESTDATA_H
#define ANNUDF_TEST_RUNTIME_TESTDATA_H

#include "annudf/Artifact/Artifact.h"
#include "annudf/runtime/vectors/Matrix.h"

#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace annudf::test {

/// What a search found; equal where all bits are.
struct FoundBits {
  std::vector<int64_t> ids;
  std::vector<float> distances;
  bool operator==(const FoundBits &other) const {
    return ids == other.ids && distances.size() == other.distances.size() &&
           std::memcmp(distances.data(), other.distances.data(),
                       distances.size() * sizeof(float)) == 0;
  }
};

/// Integers of small size, exact in every element type: distances then have no rounding. For bits
/// dims is a multiple of 8.
inline runtime::Matrix integerMatrix(annudf_element element, int64_t rows, int32_t dims,
                                     unsigned seed = 1) {
  std::mt19937 random(seed);
  runtime::Matrix matrix;
  matrix.rows = rows;
  matrix.dims = dims;
  matrix.element = element;
  matrix.storage.resize(static_cast<size_t>(rows * dims * bitsOf(element) / 8));
  for (int64_t i = 0; i < rows * dims; ++i) {
    const int value = static_cast<int>(random() % 120) - (element == ANNUDF_ELEMENT_U8 ? 0 : 60);
    std::byte *to = matrix.storage.data() + i * bitsOf(element) / 8;
    switch (element) {
    case ANNUDF_ELEMENT_F32: {
      const auto real = static_cast<float>(value);
      std::memcpy(to, &real, 4);
      break;
    }
    case ANNUDF_ELEMENT_BF16: { // Six bits suffice, of eight.
      const auto real = static_cast<float>(value);
      std::memcpy(to, reinterpret_cast<const char *>(&real) + 2, 2);
      break;
    }
    case ANNUDF_ELEMENT_F16: {
      // |value| < 64: exponent and fraction by hand, independent of the code under test.
      int size = value < 0 ? -value : value, exponent = 0;
      while (size >> (exponent + 1))
        ++exponent;
      const int half = size == 0 ? 0 : ((exponent + 15) << 10) + ((size << (10 - exponent)) - 1024);
      const auto bits = static_cast<uint16_t>(half | (value < 0 ? 0x8000 : 0));
      std::memcpy(to, &bits, 2);
      break;
    }
    case ANNUDF_ELEMENT_I8:
    case ANNUDF_ELEMENT_U8:
      *to = static_cast<std::byte>(value);
      break;
    case ANNUDF_ELEMENT_BITS:
      *to |= static_cast<std::byte>((value & 1) << (i % 8));
      break;
    }
  }
  return matrix;
}

/// f32 rows around `clusters` far apart points.
inline runtime::Matrix clusteredMatrix(int64_t rows, int32_t dims, int clusters, float spread,
                                       unsigned seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> middles(static_cast<size_t>(clusters * dims));
  for (float &value : middles)
    value = 100 * normal(random);
  runtime::Matrix matrix;
  matrix.rows = rows;
  matrix.dims = dims;
  matrix.storage.resize(static_cast<size_t>(rows * dims) * 4);
  auto *to = reinterpret_cast<float *>(matrix.storage.data());
  for (int64_t r = 0; r < rows; ++r)
    for (int32_t d = 0; d < dims; ++d)
      *to++ = middles[static_cast<size_t>(r % clusters * dims + d)] + spread * normal(random);
  return matrix;
}

} // namespace annudf::test

#endif // ANNUDF_TEST_RUNTIME_TESTDATA_H
