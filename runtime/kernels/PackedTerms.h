//===- PackedTerms.h - Terms of the coordinates in a word -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What ANNUDF_PACKED_TERMS adds to a sum for all the elements in two words, four bytes or 32 bits,
// in one or a few instructions. What is summed up is not always the term: finishTerm makes it of
// the sum of the pairs (addTerm) and, where hasOwn says so, of those of x and y alone (addOwn). All
// of it modulo 2^32, by term and element, which are constants wherever it is called.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_PACKEDTERMS_H
#define ANNUDF_KERNELS_PACKEDTERMS_H

#include "Coordinates.h"

namespace annudf_kernels {

/// sum + x[0] y[0] + ... + x[3] y[3]
ANNUDF_CONVERSION uint32_t addProducts(bool isSigned, uint32_t sum, uint32_t x, uint32_t y) {
#if defined(__CUDACC__)
  return isSigned ? static_cast<uint32_t>(
                        __dp4a(static_cast<int>(x), static_cast<int>(y), static_cast<int>(sum)))
                  : __dp4a(x, y, sum);
#else
  for (int i = 0; i < 32; i += 8)
    sum += isSigned ? static_cast<uint32_t>(static_cast<signed char>(x >> i) *
                                            static_cast<signed char>(y >> i))
                    : (x >> i & 0xFF) * (y >> i & 0xFF);
  return sum;
#endif
}

/// sum + |x[0] - y[0]| + ... + |x[3] - y[3]|
ANNUDF_CONVERSION uint32_t addDifferences(bool isSigned, uint32_t sum, uint32_t x, uint32_t y) {
#if defined(__CUDACC__)
  if (isSigned)
    asm("vabsdiff4.u32.s32.s32.add %0, %1, %2, %0;" : "+r"(sum) : "r"(x), "r"(y));
  else
    asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %0;" : "+r"(sum) : "r"(x), "r"(y));
  return sum;
#else
  for (int i = 0; i < 32; i += 8) {
    const int a = isSigned ? static_cast<signed char>(x >> i) : static_cast<int>(x >> i & 0xFF);
    const int b = isSigned ? static_cast<signed char>(y >> i) : static_cast<int>(y >> i & 0xFF);
    sum += static_cast<uint32_t>(a < b ? b - a : a - b);
  }
  return sum;
#endif
}

ANNUDF_CONVERSION uint32_t countBits(uint32_t word) {
#if defined(__CUDACC__)
  return static_cast<uint32_t>(__popc(word));
#else
  return static_cast<uint32_t>(__builtin_popcount(word));
#endif
}

/// 128 for each byte that is not 0, as one product of all four.
ANNUDF_CONVERSION uint32_t addNonzeros(uint32_t sum, uint32_t word) {
  const uint32_t carries = (word & 0x7F7F7F7Fu) + 0x7F7F7F7Fu;
  return addProducts(false, sum, (carries | word) & 0x80808080u, 0x01010101u);
}

ANNUDF_CONVERSION bool isSignedByte(int element) { return element == ANNUDF_ELEMENT_I8; }
ANNUDF_CONVERSION bool isBits(int element) { return element == ANNUDF_ELEMENT_BITS; }

/// Whether a term counts bits, as all terms of bits do.
ANNUDF_CONVERSION bool countsBits(int term, int element) {
  return isBits(element) || term == ANNUDF_PACKED_DIFFERENT_BITS;
}

/// (x - y)^2 = x^2 + y^2 - 2 x y, of bits too: a product a pair, where the difference would be an
/// instruction more, and products are what matrix instructions add up. Not every processor's do so
/// of bits: `bitProducts`.
ANNUDF_CONVERSION bool hasOwn(int term, int element, bool bitProducts) {
  return countsBits(term, element) ? bitProducts && term != ANNUDF_PACKED_PRODUCT
                                   : term == ANNUDF_PACKED_SQUARED_DIFFERENCE;
}
ANNUDF_CONVERSION uint32_t addOwn(int term, int element, bool bitProducts, uint32_t sum,
                                  uint32_t x) {
  if (!hasOwn(term, element, bitProducts))
    return sum;
  return countsBits(term, element) ? sum + countBits(x)
                                   : addProducts(isSignedByte(element), sum, x, x);
}

ANNUDF_CONVERSION uint32_t addTerm(int term, int element, bool bitProducts, uint32_t sum,
                                   uint32_t x, uint32_t y) {
  if (countsBits(term, element))
    return sum + countBits(bitProducts || term == ANNUDF_PACKED_PRODUCT ? x & y : x ^ y);
  switch (term) {
  case ANNUDF_PACKED_ABSOLUTE_DIFFERENCE:
    return addDifferences(isSignedByte(element), sum, x, y);
  case ANNUDF_PACKED_SQUARED_DIFFERENCE:
  case ANNUDF_PACKED_PRODUCT:
    return addProducts(isSignedByte(element), sum, x, y);
  case ANNUDF_PACKED_DIFFERENT:
    return addNonzeros(sum, x ^ y);
  case ANNUDF_PACKED_DIFFERENT_BITS:
    break; // Above.
  }
  return sum;
}

ANNUDF_CONVERSION uint32_t finishTerm(int term, int element, bool bitProducts, uint32_t sum,
                                      uint32_t ownX, uint32_t ownY) {
  if (hasOwn(term, element, bitProducts))
    return ownX + ownY - 2 * sum;
  return term == ANNUDF_PACKED_DIFFERENT && !isBits(element) ? sum / 128 : sum;
}

#define ANNUDF_X(NAME, VALUE, SPELLING, SINCE) +1
static_assert(0 ANNUDF_PACKED_TERMS(ANNUDF_X) == 5,
              "annudf_tables.h has a packed term that addTerm does not add; add it, then count it");
#undef ANNUDF_X

} // namespace annudf_kernels

#endif // ANNUDF_KERNELS_PACKEDTERMS_H
