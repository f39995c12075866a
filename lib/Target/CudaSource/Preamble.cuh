//===- Preamble.cuh - What a metric in CUDA source may use ----------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

using int8_t = signed char;
using uint8_t = unsigned char;
using int16_t = short;
using uint16_t = unsigned short;

/// A capture with one entry a dimension. It is read through the read-only cache.
template <typename T> struct annudf_array {
  const T *address;
  T operator[](int32_t index) const { return __ldg(address + index); }
};

template <typename T> struct annudf_word;
template <> struct annudf_word<float> {
  static uint32_t pack(float value) { return __float_as_uint(value); }
  static float unpack(uint32_t word) { return __uint_as_float(word); }
};
template <> struct annudf_word<double> {
  static uint64_t pack(double value) { return __double_as_longlong(value); }
  static double unpack(uint64_t word) { return __longlong_as_double(word); }
};
template <> struct annudf_word<int32_t> {
  static uint32_t pack(int32_t value) { return value; }
  static int32_t unpack(uint32_t word) { return word; }
};
template <> struct annudf_word<int64_t> {
  static uint64_t pack(int64_t value) { return value; }
  static int64_t unpack(uint64_t word) { return word; }
};
template <> struct annudf_word<uint32_t> {
  static uint32_t pack(uint32_t value) { return value; }
  static uint32_t unpack(uint32_t word) { return word; }
};

/// Complete where a signature fits: what NVRTC says of the other names the type.
template <typename Signature, bool fits> struct annudf_found;
template <typename Signature> struct annudf_found<Signature, true> {};
