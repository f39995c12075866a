//===- Oracle.h - What C++ computes, with what it leaves open as the dialect has it -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On plain numbers, by the compiler's own operators and <cmath>: nothing of the tracer. Types are
// those that the compiler deduces.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_CPP_TRACE_ORACLE_H
#define ANNUDF_TEST_CPP_TRACE_ORACLE_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace annudf::test::oracle {

/// Signed integers wrap around.
template <class C> using Unsigned = std::make_unsigned_t<C>;
template <class A, class B> auto add(A a, B b) {
  using C = decltype(a + b);
  if constexpr (std::is_integral_v<C>)
    return C(Unsigned<C>(C(a)) + Unsigned<C>(C(b)));
  else
    return a + b;
}
template <class A, class B> auto subtract(A a, B b) {
  using C = decltype(a - b);
  if constexpr (std::is_integral_v<C>)
    return C(Unsigned<C>(C(a)) - Unsigned<C>(C(b)));
  else
    return a - b;
}
template <class A, class B> auto multiply(A a, B b) {
  using C = decltype(a * b);
  if constexpr (std::is_integral_v<C>)
    return C(Unsigned<C>(C(a)) * Unsigned<C>(C(b)));
  else
    return a * b;
}
template <class A, class B> auto shiftLeft(A a, B amount) { return a << amount; }

/// Floating point to integers saturates, and NaN becomes 0.
template <class To, class From> To convert(From from) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> &&
                !std::is_same_v<To, bool>) {
    const auto wide =
        static_cast<long double>(from); // 64 bits of mantissa: it holds every integer.
    if (std::isnan(from))
      return 0;
    if (wide <= static_cast<long double>(std::numeric_limits<To>::min()))
      return std::numeric_limits<To>::min();
    if (wide >= static_cast<long double>(std::numeric_limits<To>::max()))
      return std::numeric_limits<To>::max();
  }
  return static_cast<To>(from);
}

/// NaN if either is, and -0 below 0.
template <class A, class B> auto maximum(A a, B b) {
  using T = decltype(std::fmax(a, b));
  const T x = a, y = b;
  if (std::isnan(x) || std::isnan(y))
    return std::numeric_limits<T>::quiet_NaN();
  if (x == 0 && y == 0)
    return std::signbit(x) ? y : x;
  return std::fmax(x, y);
}
template <class A, class B> auto minimum(A a, B b) {
  using T = decltype(std::fmin(a, b));
  const T x = a, y = b;
  if (std::isnan(x) || std::isnan(y))
    return std::numeric_limits<T>::quiet_NaN();
  if (x == 0 && y == 0)
    return std::signbit(x) ? x : y;
  return std::fmin(x, y);
}

} // namespace annudf::test::oracle

#endif // ANNUDF_TEST_CPP_TRACE_ORACLE_H
