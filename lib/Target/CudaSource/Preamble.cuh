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

/// Captures of f16 and bf16 as they are stored; arithmetic sees the float of the same value.
struct annudf_f16 {
  uint16_t bits;
  operator float() const {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
  }
};
struct annudf_bf16 {
  uint16_t bits;
  operator float() const { return __uint_as_float(static_cast<uint32_t>(bits) << 16); }
};

/// An entry of a capture, through the read-only cache.
template <typename T> T annudf_entry(const T *address) { return __ldg(address); }
inline annudf_f16 annudf_entry(const annudf_f16 *address) { return {__ldg(&address->bits)}; }
inline annudf_bf16 annudf_entry(const annudf_bf16 *address) { return {__ldg(&address->bits)}; }
inline bool annudf_entry(const bool *address) {
  return __ldg(reinterpret_cast<const uint8_t *>(address)) != 0;
}

/// A capture with one entry a dimension.
template <typename T> struct annudf_array {
  const T *address;
  T operator[](int32_t index) const { return annudf_entry(address + index); }
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

/// A capture that is one number, from its slot.
template <typename T> T annudf_scalar(uint64_t slot) { return static_cast<T>(slot); }
template <> inline float annudf_scalar<float>(uint64_t slot) { return __uint_as_float(slot); }
template <> inline double annudf_scalar<double>(uint64_t slot) {
  return __longlong_as_double(slot);
}
template <> inline annudf_f16 annudf_scalar<annudf_f16>(uint64_t slot) {
  return {static_cast<uint16_t>(slot)};
}
template <> inline annudf_bf16 annudf_scalar<annudf_bf16>(uint64_t slot) {
  return {static_cast<uint16_t>(slot)};
}

/// Complete where a signature fits: what NVRTC says of the other names the type.
template <typename Signature, bool fits> struct annudf_found;
template <typename Signature> struct annudf_found<Signature, true> {};
