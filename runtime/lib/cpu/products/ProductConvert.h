//===- ProductConvert.h - Rows become tiles of bfloat16 ------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For the files that define ProductKernels. Most of them are compiled for newer processors than
// others are, so nothing here is a function that the linker might take for everybody.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CPU_PRODUCTS_PRODUCTCONVERT_H
#define ANNUDF_RUNTIME_LIB_CPU_PRODUCTS_PRODUCTCONVERT_H

#include "ProductKernels.h"

namespace {

using namespace annudf::runtime::cpu;

constexpr int kRowsOfGroup = 32;
constexpr int kAheadBytes = 16384; ///< So far ahead rows are fetched.
using Lanes = float __attribute__((vector_size(4 * kTileRows)));
using Doubles = double __attribute__((vector_size(8 * kTileRows)));
using Bits = uint32_t __attribute__((vector_size(4 * kTileRows)));

/// What a row's part is made of.
enum class RowPart { Sum, Length, LengthLessMean };

struct Sums {
  Lanes value, squared, lost;
  Doubles of, ofSquares; ///< For a length less its mean, most of which may cancel.
};

inline __attribute__((always_inline)) Lanes loadLanes(const void *from) {
  Lanes lanes;
  __builtin_memcpy(&lanes, from, sizeof(lanes));
  return lanes;
}

/// Adds a dimension to the sums. \return its coordinates, shifted, as bits that round to bfloat16.
template <RowPart part>
inline __attribute__((always_inline)) Bits addDim(const RowTerms &t, const uint32_t *words,
                                                  Sums &sums) {
  const Lanes given = loadLanes(words), y = given - t.shift, square = y * y;
  if (part == RowPart::LengthLessMean) {
    const Doubles wide = __builtin_convertvector(given, Doubles);
    sums.of += wide;
    sums.ofSquares += wide * wide;
  } else if (part == RowPart::Length) {
    sums.value += given * given * t.two;
  } else {
    sums.value += y * t.one;
    sums.value += square * t.two;
  }
  sums.squared += square * t.cross;
  const Bits rounded = reinterpret_cast<Bits>(y) + 0x8000u;
  const Lanes lost = y - reinterpret_cast<Lanes>(rounded & 0xFFFF0000u);
  sums.lost += lost * lost * t.cross;
  return rounded;
}

/// What the sums make of 16 rows. 2⁻¹⁰ is more than sums of 8,192 floats lose.
/// \return the largest square of a row's ratio.
template <RowPart part>
inline __attribute__((always_inline)) float finishRows(const RowBlock &block, const Sums &sums,
                                                       float *base, float *norm) {
  constexpr float kMore = 1 + 0x1p-10f;
  float ratio = 0;
  for (int i = 0; i < kTileRows; ++i) {
    const float squared = sums.squared[i] * kMore + block.least;
    float value = sums.value[i];
    if (part == RowPart::LengthLessMean)
      value = float(sums.ofSquares[i] - sums.of[i] * sums.of[i] / block.dims);
    if (part != RowPart::Sum) {
      bool holds =
          (squared <= block.limit) & (value >= block.leastSquare) & (value <= block.mostSquare);
      if (part == RowPart::LengthLessMean)
        holds &= double(value) >= double(block.leastShare) * sums.ofSquares[i];
      const float factor = 1 / __builtin_sqrtf(value);
      base[i] = holds ? factor : 0;
      norm[i] = holds ? __builtin_sqrtf(squared) * kMore * factor * kMore : __builtin_inff();
    } else {
      const float error = squared * block.error + block.constantError;
      const float lower = value - error * kMore;
      // Each comparison with a value that is not finite is false.
      const bool holds = (squared <= block.limit) & (__builtin_fabsf(value) <= 1e37f);
      const float bound = lower - __builtin_fabsf(lower) * 0x1p-20f - 0x1p-118f;
      base[i] = holds ? bound : -__builtin_inff();
      norm[i] = __builtin_sqrtf(squared) * kMore;
    }
    const float lost = sums.lost[i] * kMore / squared; // No number where nothing holds.
    ratio = lost > ratio ? lost : ratio;
  }
  return ratio;
}

inline __attribute__((always_inline)) void storePair(Bits low, Bits high, uint32_t *pairs) {
  const Bits both = (low >> 16) | (high & 0xFFFF0000u);
  __builtin_memcpy(pairs, &both, sizeof(both));
}

/// A group is two tiles: its words are read in the order in which they stand.
template <RowPart part>
inline __attribute__((always_inline)) float convertGroup(const RowBlock &block,
                                                         const uint32_t *words, uint32_t *pairs,
                                                         float *base, float *norm) {
  const int32_t dims = block.dims, all = stepsOf(dims) * kStepDims;
  const int64_t tileWords = int64_t(all) / 2 * kTileRows;
  const RowTerms *const terms = block.terms;
  Sums first = {}, second = {};
  int32_t dim = 0;
  for (; dim + 2 <= dims; dim += 2, words += 2 * kRowsOfGroup, pairs += kTileRows) {
    for (int i = 0; i < 4; ++i) // Lines of the cache.
      __builtin_prefetch(reinterpret_cast<const char *>(words) + kAheadBytes + 64 * i, 0, 2);
    const Bits low = addDim<part>(terms[dim], words, first);
    const Bits low2 = addDim<part>(terms[dim], words + kTileRows, second);
    storePair(low, addDim<part>(terms[dim + 1], words + kRowsOfGroup, first), pairs);
    storePair(low2, addDim<part>(terms[dim + 1], words + kRowsOfGroup + kTileRows, second),
              pairs + tileWords);
  }
  if (dim < dims) {
    storePair(addDim<part>(terms[dim], words, first), Bits{}, pairs);
    storePair(addDim<part>(terms[dim], words + kTileRows, second), Bits{}, pairs + tileWords);
    dim += 2, pairs += kTileRows;
  }
  for (; dim < all; dim += 2, pairs += kTileRows) {
    storePair(Bits{}, Bits{}, pairs);
    storePair(Bits{}, Bits{}, pairs + tileWords);
  }
  const float one = finishRows<part>(block, first, base, norm);
  const float two = finishRows<part>(block, second, base + kTileRows, norm + kTileRows);
  return one > two ? one : two;
}

template <RowPart part> float convertGroups(const RowBlock &block) {
  const int64_t pairs = int64_t(stepsOf(block.dims)) * kStepDims / 2 * kRowsOfGroup;
  float most = 0;
  for (int64_t group = 0; group < block.groups; ++group) {
    const float ratio = convertGroup<part>(
        block, block.words + group * block.rowWords * kRowsOfGroup, block.pairs + group * pairs,
        block.base + group * kRowsOfGroup, block.norm + group * kRowsOfGroup);
    most = ratio > most ? ratio : most;
  }
  const float ratio = __builtin_sqrtf(most) * (1 + 0x1p-10f);
  return ratio < kLeastRatio ? kLeastRatio : ratio < kMostRatio ? ratio : kMostRatio;
}

float convertBlock(const RowBlock &block) {
  return block.mostSquare == 0   ? convertGroups<RowPart::Sum>(block)
         : block.leastShare == 0 ? convertGroups<RowPart::Length>(block)
                                 : convertGroups<RowPart::LengthLessMean>(block);
}

} // namespace

#endif // ANNUDF_RUNTIME_LIB_CPU_PRODUCTS_PRODUCTCONVERT_H
