//===- Coordinates.h - From elements to a metric's compute type ---*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one place that knows what an element's bits are worth, for the kernels of every
// backend and for the host (clang, nvcc and g++ read it). Everything below the two
// families of specialisations is made from the rows of annudf_tables.h: a row without
// its specialisation does not compile.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_COORDINATES_H
#define ANNUDF_KERNELS_COORDINATES_H

#include "annudf/ABI/annudf_abi.h"

#if defined(__CUDACC__)
#include <cuda_fp16.h>
#define ANNUDF_CONVERSION __device__ __forceinline__
#else
#define ANNUDF_CONVERSION inline __attribute__((always_inline))
#endif

namespace annudf_kernels {

template <class To, class From> ANNUDF_CONVERSION To bitsAs(From from) {
  static_assert(sizeof(To) == sizeof(From), "a value is seen as its bits");
  To to;
  __builtin_memcpy(&to, &from, sizeof(to));
  return to;
}

//===----------------------------------------------------------------------===//
// What is written by hand: the value of an element, the values of a compute type
//===----------------------------------------------------------------------===//

/// Value: the narrowest type of C++ that holds every value of the element.
/// Storage: what memory holds; a byte of several elements that are smaller.
/// decode: that value of the element in the lowest bits of `bits`; what lies above them counts not.
template <int element> struct Element;

template <> struct Element<ANNUDF_ELEMENT_F32> {
  using Value = float;
  using Storage = uint32_t;
  static ANNUDF_CONVERSION Value decode(uint32_t bits) { return bitsAs<float>(bits); }
};

template <> struct Element<ANNUDF_ELEMENT_F16> {
  using Value = float;
  using Storage = uint16_t;
  static ANNUDF_CONVERSION Value decode(uint32_t bits) {
    const uint16_t half = static_cast<uint16_t>(bits);
#if defined(__CUDACC__)
    return __half2float(__ushort_as_half(half));
#elif defined(ANNUDF_NATIVE_HALF) // Code that is made for the host at hand.
    return static_cast<float>(bitsAs<_Float16>(half));
#else
    // Moving exponent and fraction to a float's place leaves an exponent that is 112 too
    // small; the product corrects it and, being exact, serves subnormals too.
    const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16, rest = half & 0x7FFFu;
    const uint32_t finite = bitsAs<uint32_t>(bitsAs<float>(rest << 13) * 0x1p112f);
    return bitsAs<float>((rest >= 0x7C00u ? 0x7F800000u | rest << 13 : finite) | sign);
#endif
  }
};

/// The upper half of a float.
template <> struct Element<ANNUDF_ELEMENT_BF16> {
  using Value = float;
  using Storage = uint16_t;
  static ANNUDF_CONVERSION Value decode(uint32_t bits) { return bitsAs<float>(bits << 16); }
};

template <> struct Element<ANNUDF_ELEMENT_I8> {
  using Value = int32_t;
  using Storage = uint8_t;
  static ANNUDF_CONVERSION Value decode(uint32_t bits) { return static_cast<signed char>(bits); }
};

template <> struct Element<ANNUDF_ELEMENT_U8> {
  using Value = int32_t;
  using Storage = uint8_t;
  static ANNUDF_CONVERSION Value decode(uint32_t bits) { return static_cast<unsigned char>(bits); }
};

template <> struct Element<ANNUDF_ELEMENT_BITS> {
  using Value = int32_t;
  using Storage = uint8_t;
  static ANNUDF_CONVERSION Value decode(uint32_t bits) { return static_cast<int32_t>(bits & 1); }
};

/// The type of C++ that a compute type is.
template <int compute> struct Compute;
template <> struct Compute<ANNUDF_COMPUTE_F32> {
  using Value = float;
};
template <> struct Compute<ANNUDF_COMPUTE_F64> {
  using Value = double;
};
template <> struct Compute<ANNUDF_COMPUTE_I32> {
  using Value = int32_t;
};

//===----------------------------------------------------------------------===//
// What follows from the tables
//===----------------------------------------------------------------------===//

enum class Kind { FLOAT, SIGNED, UNSIGNED };

/// Unsigned integer of so many bits: a coordinate as the hooks take it.
template <int bits> struct WordOf;
template <> struct WordOf<32> {
  using Type = uint32_t;
};
template <> struct WordOf<64> {
  using Type = uint64_t;
};

template <int element> struct ElementRow;
#define ANNUDF_X(NAME, VALUE, SPELLING, BITS, KIND, SINCE)                                         \
  template <> struct ElementRow<VALUE> {                                                           \
    static constexpr int kBits = BITS;                                                             \
    static constexpr Kind kKind = Kind::KIND;                                                      \
    static constexpr int kPerStorage = BITS < 8 ? 8 / BITS : 1;                                    \
    static_assert(sizeof(Element<VALUE>::Storage) * 8 == BITS * kPerStorage,                       \
                  SPELLING " has other bits");                                                     \
  };
ANNUDF_ELEMENTS(ANNUDF_X)
#undef ANNUDF_X

template <int compute> struct ComputeRow;
#define ANNUDF_X(NAME, VALUE, SPELLING, BITS, KIND, SINCE)                                         \
  template <> struct ComputeRow<VALUE> {                                                           \
    static constexpr int kBits = BITS;                                                             \
    static constexpr Kind kKind = Kind::KIND;                                                      \
    static_assert(sizeof(Compute<VALUE>::Value) * 8 == BITS, SPELLING " has other bits");          \
  };
ANNUDF_COMPUTE_TYPES(ANNUDF_X)
#undef ANNUDF_X

/// Whether values survive: the runtime refuses every other pair before a kernel runs.
template <int element, int compute>
constexpr bool kConverts =
    ComputeRow<compute>::kKind == Kind::FLOAT || ElementRow<element>::kKind != Kind::FLOAT;

/// The coordinate of the lowest bits of `bits` as a hook of coordinate type Word takes it.
template <class Word, int element, int compute> ANNUDF_CONVERSION Word convert(uint32_t bits) {
  if constexpr (kConverts<element, compute> && ComputeRow<compute>::kBits == sizeof(Word) * 8)
    return bitsAs<Word>(
        static_cast<typename Compute<compute>::Value>(Element<element>::decode(bits)));
  else
    return 0;
}

/// The same for values known at run time, or once linked: all cases but one go away then.
template <class Word, int element>
ANNUDF_CONVERSION Word convertTo(int32_t compute, uint32_t bits) {
  switch (compute) {
#define ANNUDF_X(NAME, VALUE, SPELLING, BITS, KIND, SINCE)                                         \
  case VALUE:                                                                                      \
    return convert<Word, element, VALUE>(bits);
    ANNUDF_COMPUTE_TYPES(ANNUDF_X)
#undef ANNUDF_X
  }
  return 0;
}

/// Coordinate `i` of a word that holds 32 / BITS elements, lower dimensions in lower bits.
template <class Word>
ANNUDF_CONVERSION Word coordinateOf(int32_t element, int32_t compute, uint32_t word, int32_t i) {
  switch (element) {
#define ANNUDF_X(NAME, VALUE, SPELLING, BITS, KIND, SINCE)                                         \
  case VALUE:                                                                                      \
    return convertTo<Word, VALUE>(compute, BITS == 32 ? word : word >> (i * BITS % 32));
    ANNUDF_ELEMENTS(ANNUDF_X)
#undef ANNUDF_X
  }
  return 0;
}

/// Element `i` of those in memory, aligned to one, in the lowest bits.
template <int element> ANNUDF_CONVERSION uint32_t elementAt(const void *row, uint64_t i) {
  constexpr int per = ElementRow<element>::kPerStorage;
  const uint32_t stored = static_cast<const typename Element<element>::Storage *>(row)[i / per];
  return per == 1 ? stored : stored >> (i % per * ElementRow<element>::kBits);
}

/// Coordinate `i` of a row of elements in memory, aligned to its element.
template <class Word>
ANNUDF_CONVERSION Word coordinateAt(int32_t element, int32_t compute, const void *row, uint64_t i) {
  switch (element) {
#define ANNUDF_X(NAME, VALUE, SPELLING, BITS, KIND, SINCE)                                         \
  case VALUE:                                                                                      \
    return convertTo<Word, VALUE>(compute, elementAt<VALUE>(row, i));
    ANNUDF_ELEMENTS(ANNUDF_X)
#undef ANNUDF_X
  }
  return 0;
}

ANNUDF_CONVERSION bool isInteger(int32_t element) {
  switch (element) {
#define ANNUDF_X(NAME, VALUE, SPELLING, BITS, KIND, SINCE)                                         \
  case VALUE:                                                                                      \
    return Kind::KIND != Kind::FLOAT;
    ANNUDF_ELEMENTS(ANNUDF_X)
#undef ANNUDF_X
  }
  return false;
}

/// Elements in a word of 32 bits.
ANNUDF_CONVERSION int32_t elementsPerWord(int32_t element) {
  switch (element) {
#define ANNUDF_X(NAME, VALUE, SPELLING, BITS, KIND, SINCE)                                         \
  case VALUE:                                                                                      \
    static_assert(32 % BITS == 0, SPELLING " does not fill words");                                \
    return 32 / BITS;
    ANNUDF_ELEMENTS(ANNUDF_X)
#undef ANNUDF_X
  }
  return 1;
}

} // namespace annudf_kernels

#endif // ANNUDF_KERNELS_COORDINATES_H
