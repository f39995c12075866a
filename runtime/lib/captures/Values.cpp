//===- Values.cpp - Numbers between element types ---------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "captures/Values.h"

#include "vectors/Elements.h"

#include <cstdio>
#include <cstring>
#include <limits>
#include <string_view>

namespace annudf::runtime {
namespace {

template <typename T> T loadAs(const std::byte *bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

Value integer(Integer value) { return {true, value, 0}; }
Value real(double value) { return {false, 0, value}; }

template <typename T> Value loadInteger(const std::byte *bytes) {
  return integer(loadAs<T>(bytes));
}
template <typename T> Value loadReal(const std::byte *bytes) { return real(loadAs<T>(bytes)); }
Value loadHalf(const std::byte *bytes) { return real(halfToFloat(loadAs<uint16_t>(bytes))); }
Value loadBfloat(const std::byte *bytes) { return real(bfloatToFloat(loadAs<uint16_t>(bytes))); }
Value loadBool(const std::byte *bytes) { return integer(loadAs<uint8_t>(bytes) != 0); }

template <typename T> bool storeInteger(const Value &value, std::byte *out) {
  Integer integer = value.integer;
  if (!value.isInteger) {
    // The bounds are powers of two, exact as doubles; NaN fails both compares.
    if (!(value.real >= -0x1p63 && value.real < 0x1p64) || std::trunc(value.real) != value.real)
      return false;
    integer = static_cast<Integer>(value.real);
  }
  if (integer < Integer(std::numeric_limits<T>::min()) ||
      integer > Integer(std::numeric_limits<T>::max()))
    return false;
  const T narrow = static_cast<T>(integer);
  std::memcpy(out, &narrow, sizeof narrow);
  return true;
}

/// `narrow` goes through the type and back, as double.
template <typename T, typename Narrow, typename Widen>
bool storeReal(const Value &value, Rounding rounding, std::byte *out, Narrow narrow, Widen widen) {
  const double wide = value.isInteger ? static_cast<double>(value.integer) : value.real;
  const T stored = narrow(wide);
  const double back = widen(stored);
  // A 64-bit integer may lose bits on the way to double already.
  const bool kept = !value.isInteger || static_cast<Integer>(wide) == value.integer;
  const bool exact = kept && (back == wide || (std::isnan(back) && std::isnan(wide)));
  // Who writes 16777217 means that integer; who writes 0.1 knows that it is rounded.
  if (!exact && (rounding == Rounding::Exact || value.isInteger || !std::isfinite(back)))
    return false;
  std::memcpy(out, &stored, sizeof stored);
  return true;
}

template <typename T> bool storeInt(const Value &value, Rounding, std::byte *out) {
  return storeInteger<T>(value, out);
}

bool storeF64(const Value &value, Rounding rounding, std::byte *out) {
  return storeReal<double>(
      value, rounding, out, [](double v) { return v; }, [](double v) { return v; });
}

bool storeF32(const Value &value, Rounding rounding, std::byte *out) {
  return storeReal<float>(
      value, rounding, out,
      [](double v) {
        // Out of float's range the conversion is undefined in C++, though not in IEEE 754.
        if (std::fabs(v) > double(std::numeric_limits<float>::max()) && std::isfinite(v)) {
          constexpr double kHalfStep = 0x1.ffffffp127;
          const float largest = std::fabs(v) < kHalfStep ? std::numeric_limits<float>::max()
                                                         : std::numeric_limits<float>::infinity();
          return v < 0 ? -largest : largest;
        }
        return static_cast<float>(v);
      },
      [](float v) { return static_cast<double>(v); });
}

bool storeF16(const Value &value, Rounding rounding, std::byte *out) {
  return storeReal<uint16_t>(value, rounding, out, doubleToHalf,
                             [](uint16_t half) { return double(halfToFloat(half)); });
}

bool storeBF16(const Value &value, Rounding rounding, std::byte *out) {
  return storeReal<uint16_t>(value, rounding, out, doubleToBfloat,
                             [](uint16_t bits) { return double(bfloatToFloat(bits)); });
}

/// A byte: a number that is neither 0 nor 1 was not meant as a truth value.
bool storeI1(const Value &value, Rounding rounding, std::byte *out) {
  return storeInt<uint8_t>(value, rounding, out) && static_cast<uint8_t>(*out) <= 1;
}

constexpr struct {
  std::string_view name;
  Store store;
} kStores[] = {{"f32", storeF32},
               {"f64", storeF64},
               {"f16", storeF16},
               {"bf16", storeBF16},
               {"i1", storeI1},
               {"i8", storeInt<int8_t>},
               {"u8", storeInt<uint8_t>},
               {"i16", storeInt<int16_t>},
               {"u16", storeInt<uint16_t>},
               {"i32", storeInt<int32_t>},
               {"u32", storeInt<uint32_t>},
               {"i64", storeInt<int64_t>},
               {"u64", storeInt<uint64_t>}};

constexpr bool isStored(std::string_view name) {
  for (const auto &entry : kStores)
    if (name == entry.name)
      return true;
  return false;
}

#define ANNUDF_X(NAME, VALUE, SPELLING, BITS, KIND, SINCE)                                         \
  static_assert(isStored(SPELLING), "nothing converts to captures of " SPELLING);
ANNUDF_CAPTURE_ELEMENTS(ANNUDF_X)
#undef ANNUDF_X

} // namespace

std::string Value::text() const {
  if (isInteger)
    return integer < 0 ? std::to_string(static_cast<int64_t>(integer))
                       : std::to_string(static_cast<uint64_t>(integer));
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, "%.9g", real);
  return buffer;
}

Load loadOf(const std::string &dtype) {
  static constexpr struct {
    const char *name;
    Load load;
  } known[] = {{"f32", loadReal<float>},
               {"f64", loadReal<double>},
               {"f16", loadHalf},
               {"bf16", loadBfloat},
               {"i8", loadInteger<int8_t>},
               {"u8", loadInteger<uint8_t>},
               {"b1", loadBool},
               {"i16", loadInteger<int16_t>},
               {"u16", loadInteger<uint16_t>},
               {"i32", loadInteger<int32_t>},
               {"u32", loadInteger<uint32_t>},
               {"i64", loadInteger<int64_t>},
               {"u64", loadInteger<uint64_t>}};
  for (const auto &entry : known)
    if (dtype == entry.name)
      return entry.load;
  return nullptr;
}

std::string dtypeOf(annudf_capture_element element) {
  return element == ANNUDF_CAPTURE_I1 ? "b1" : toString(element);
}

Store storeOf(const std::string &element) {
  for (const auto &entry : kStores)
    if (element == entry.name)
      return entry.store;
  return nullptr;
}

} // namespace annudf::runtime
