//===- annudf/cpp/trace/kinds.hpp - The numbers of a traced formula -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_CPP_TRACE_KINDS_HPP
#define ANNUDF_CPP_TRACE_KINDS_HPP

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <type_traits>

namespace annudf {

/// A capture's or a vector's element of 16 bits, by its bits. C++20 has no such number: it is read
/// as a float.
struct float16 {
  std::uint16_t bits;
};
/// The upper half of a float, read as a float.
struct bfloat16 {
  std::uint16_t bits;
};

namespace tracing {

template <class> inline constexpr bool never = false;

/// From i32 to f64 in the order of the usual arithmetic conversions: the later one wins.
enum class kind : std::uint8_t { b1, i8, u8, i16, u16, i32, u32, i64, u64, f32, f64 };

constexpr bool is_float(kind k) { return k >= kind::f32; }
constexpr bool is_signed(kind k) {
  return k == kind::i8 || k == kind::i16 || k == kind::i32 || k == kind::i64;
}
constexpr unsigned bits_of(kind k) {
  constexpr unsigned bits[] = {1, 8, 8, 16, 16, 32, 32, 64, 64, 32, 64};
  return bits[static_cast<unsigned>(k)];
}
/// The type of the dialect, whose integers have no sign.
constexpr const char *spelling_of(kind k) {
  constexpr const char *spellings[] = {"i1",  "i8",  "i8",  "i16", "i16", "i32",
                                       "i32", "i64", "i64", "f32", "f64"};
  return spellings[static_cast<unsigned>(k)];
}
/// The name in messages.
constexpr const char *name_of(kind k) {
  constexpr const char *names[] = {"bool",     "int8_t",  "uint8_t",  "int16_t",
                                   "uint16_t", "int32_t", "uint32_t", "int64_t",
                                   "uint64_t", "float",   "double"};
  return names[static_cast<unsigned>(k)];
}
constexpr kind promoted(kind k) { return k < kind::i32 ? kind::i32 : k; }
constexpr kind common(kind a, kind b) {
  return promoted(a) < promoted(b) ? promoted(b) : promoted(a);
}

template <class T>
concept number = std::is_arithmetic_v<T> && !std::same_as<T, long double>;

/// By size and sign, so that `long` and `long long` are one type.
template <number T> consteval kind kind_of() {
  if constexpr (std::same_as<T, bool>)
    return kind::b1;
  else if constexpr (std::floating_point<T>)
    return sizeof(T) == 4 ? kind::f32 : kind::f64;
  else {
    constexpr kind first = sizeof(T) == 1   ? kind::i8
                           : sizeof(T) == 2 ? kind::i16
                           : sizeof(T) == 4 ? kind::i32
                                            : kind::i64;
    return static_cast<kind>(static_cast<unsigned>(first) + (std::is_signed_v<T> ? 0 : 1));
  }
}

/// In the order of `kind`.
using numbers_of_kinds =
    std::tuple<bool, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t,
               std::uint32_t, std::int64_t, std::uint64_t, float, double>;
template <kind K>
using number_t = std::tuple_element_t<static_cast<std::size_t>(K), numbers_of_kinds>;
template <number T> using canonical_t = number_t<kind_of<T>()>;

/// What `a + b` and `a << b` are of such numbers.
template <class A, class B> using common_t = number_t<common(kind_of<A>(), kind_of<B>())>;
template <class A> using promoted_t = number_t<promoted(kind_of<A>())>;
/// What `c ? a : b` is.
template <class A, class B>
using chosen_t = std::conditional_t<kind_of<A>() == kind_of<B>(), canonical_t<A>, common_t<A, B>>;
/// What a function of <cmath> gives: a float of floats, a double of all else.
template <class... A>
using math_t = std::conditional_t<((kind_of<A>() == kind::f32) && ...), float, double>;

/// A number in 64 bits: integers extended by their sign, floating point as it stands.
template <number T> constexpr std::uint64_t pack(T value) {
  if constexpr (std::same_as<T, float>)
    return std::bit_cast<std::uint32_t>(value);
  else if constexpr (std::same_as<T, double>)
    return std::bit_cast<std::uint64_t>(value);
  else
    return static_cast<std::uint64_t>(value);
}
template <number T> constexpr T unpack(std::uint64_t bits) {
  if constexpr (std::same_as<T, float>)
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  else if constexpr (std::same_as<T, double>)
    return std::bit_cast<double>(bits);
  else
    return static_cast<T>(bits);
}

/// As C++ converts, but saturating, with 0 for NaN, where a floating-point number does not fit an
/// integer: C++ leaves that undefined, the dialect does not.
template <number To, number From> constexpr To converted(From from) {
  if constexpr (std::floating_point<From> && std::integral<To> && !std::same_as<To, bool>) {
    if (from != from)
      return 0;
    // The bounds are powers of two, or one below: exact, or rounded up to one.
    if (from <= static_cast<From>(std::numeric_limits<To>::min()))
      return std::numeric_limits<To>::min();
    if (from >= static_cast<From>(std::numeric_limits<To>::max()))
      return std::numeric_limits<To>::max();
  }
  return static_cast<To>(from);
}

/// Calls `f` with a zero of the kind's type.
template <class F> constexpr auto with_kind(kind k, F f) {
  switch (k) {
  case kind::b1:
    return f(false);
  case kind::i8:
    return f(std::int8_t());
  case kind::u8:
    return f(std::uint8_t());
  case kind::i16:
    return f(std::int16_t());
  case kind::u16:
    return f(std::uint16_t());
  case kind::i32:
    return f(std::int32_t());
  case kind::u32:
    return f(std::uint32_t());
  case kind::i64:
    return f(std::int64_t());
  case kind::u64:
    return f(std::uint64_t());
  case kind::f32:
    return f(float());
  case kind::f64:
    break;
  }
  return f(double());
}

inline std::uint64_t converted(std::uint64_t bits, kind from, kind to) {
  return with_kind(from, [&](auto a) {
    return with_kind(
        to, [&](auto b) { return pack(converted<decltype(b)>(unpack<decltype(a)>(bits))); });
  });
}

} // namespace tracing
} // namespace annudf

#endif // ANNUDF_CPP_TRACE_KINDS_HPP
