//===- annudf/cpp/trace/math.hpp - Functions of recorded and of plain numbers -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each takes recorded values, captures' entries and plain numbers, and has the type that <cmath>
// gives it. For plain numbers it is the function of <cmath>.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_CPP_TRACE_MATH_HPP
#define ANNUDF_CPP_TRACE_MATH_HPP

#include "annudf/cpp/trace/accumulator.hpp"

#include <cmath>

namespace annudf {
namespace tracing {

template <class... A> inline constexpr bool any_recorded = (recorded<A> || ...);
template <class... A> using math_of = math_t<number_of_t<A>...>;

template <operand_like A> number_of_t<A> plain_of(const A &from) {
  return static_cast<number_of_t<A>>(from);
}

/// An op whose operands and result have one type.
template <number T, operand_like... A>
value<T> same_type(const char *op, const std::source_location &where, const A &...operands) {
  constexpr kind type = kind_of<T>();
  return value<T>::made(recorder::current().emit(
      op, type, {convert(operand_of(operands, where), type, where)...}, where));
}

template <operand_like A>
value<bool> is(const char *op, const A &of, const std::source_location &where) {
  const operand from = convert(operand_of(of, where), kind_of<math_of<A>>(), where);
  return value<bool>::made(recorder::current().emit(op, kind::b1, {from}, where));
}

template <number T>
value<T> choose(const operand &condition, const operand &a, const operand &b,
                const std::source_location &where) {
  constexpr kind type = kind_of<T>();
  const operand truth = convert(condition, kind::b1, where);
  const operand first = convert(a, type, where);
  const operand second = convert(b, type, where);
  return value<T>::made(recorder::current().select(truth, first, second, where));
}

template <class A, class B> using chosen_of = chosen_t<number_of_t<A>, number_of_t<B>>;

/// "maximumf" of IEEE 754-2019: NaN if either is, and -0 below 0.
template <std::floating_point T> T plain_extreme(T a, T b, bool largest) {
  if (std::isnan(a) || std::isnan(b))
    return a + b;
  if (a == b)
    return std::signbit(a) == largest ? b : a;
  return (a < b) == largest ? b : a;
}

} // namespace tracing

#define ANNUDF_UNARY(NAME, OP, PLAIN)                                                              \
  template <tracing::operand_like A>                                                               \
  auto NAME(const A &a, const std::source_location where = std::source_location::current()) {      \
    using T = tracing::math_of<A>;                                                                 \
    if constexpr (tracing::recorded<A>)                                                            \
      return tracing::same_type<T>(OP, where, a);                                                  \
    else                                                                                           \
      return PLAIN(static_cast<T>(tracing::plain_of(a)));                                          \
  }
ANNUDF_UNARY(sqrt, "math.sqrt", std::sqrt)
ANNUDF_UNARY(cbrt, "math.cbrt", std::cbrt)
ANNUDF_UNARY(exp, "math.exp", std::exp)
ANNUDF_UNARY(exp2, "math.exp2", std::exp2)
ANNUDF_UNARY(expm1, "math.expm1", std::expm1)
ANNUDF_UNARY(log, "math.log", std::log)
ANNUDF_UNARY(log2, "math.log2", std::log2)
ANNUDF_UNARY(log10, "math.log10", std::log10)
ANNUDF_UNARY(log1p, "math.log1p", std::log1p)
ANNUDF_UNARY(sin, "math.sin", std::sin)
ANNUDF_UNARY(cos, "math.cos", std::cos)
ANNUDF_UNARY(tan, "math.tan", std::tan)
ANNUDF_UNARY(asin, "math.asin", std::asin)
ANNUDF_UNARY(acos, "math.acos", std::acos)
ANNUDF_UNARY(atan, "math.atan", std::atan)
ANNUDF_UNARY(sinh, "math.sinh", std::sinh)
ANNUDF_UNARY(cosh, "math.cosh", std::cosh)
ANNUDF_UNARY(tanh, "math.tanh", std::tanh)
ANNUDF_UNARY(asinh, "math.asinh", std::asinh)
ANNUDF_UNARY(acosh, "math.acosh", std::acosh)
ANNUDF_UNARY(atanh, "math.atanh", std::atanh)
ANNUDF_UNARY(erf, "math.erf", std::erf)
ANNUDF_UNARY(erfc, "math.erfc", std::erfc)
ANNUDF_UNARY(floor, "math.floor", std::floor)
ANNUDF_UNARY(ceil, "math.ceil", std::ceil)
ANNUDF_UNARY(trunc, "math.trunc", std::trunc)
ANNUDF_UNARY(round, "math.round", std::round)
ANNUDF_UNARY(rint, "math.roundeven", std::rint)
ANNUDF_UNARY(nearbyint, "math.roundeven", std::nearbyint)
ANNUDF_UNARY(fabs, "math.absf", std::fabs)
#undef ANNUDF_UNARY

#define ANNUDF_PAIR(NAME, OP, PLAIN)                                                               \
  template <tracing::operand_like A, tracing::operand_like B>                                      \
  auto NAME(const A &a, const B &b,                                                                \
            const std::source_location where = std::source_location::current()) {                  \
    using T = tracing::math_of<A, B>;                                                              \
    if constexpr (tracing::any_recorded<A, B>)                                                     \
      return tracing::same_type<T>(OP, where, a, b);                                               \
    else                                                                                           \
      return PLAIN(static_cast<T>(tracing::plain_of(a)), static_cast<T>(tracing::plain_of(b)));    \
  }
ANNUDF_PAIR(pow, "math.powf", std::pow)
ANNUDF_PAIR(atan2, "math.atan2", std::atan2)
ANNUDF_PAIR(copysign, "math.copysign", std::copysign)
ANNUDF_PAIR(fmod, "arith.remf", std::fmod)
/// The other operand where one is NaN.
ANNUDF_PAIR(fmin, "arith.minnumf", std::fmin)
ANNUDF_PAIR(fmax, "arith.maxnumf", std::fmax)
#undef ANNUDF_PAIR

/// NaN where one is NaN, and -0 below 0: fmaximum of C23.
template <tracing::operand_like A, tracing::operand_like B>
auto maximum(const A &a, const B &b,
             const std::source_location where = std::source_location::current()) {
  using T = tracing::math_of<A, B>;
  if constexpr (tracing::any_recorded<A, B>)
    return tracing::same_type<T>("arith.maximumf", where, a, b);
  else
    return tracing::plain_extreme(static_cast<T>(tracing::plain_of(a)),
                                  static_cast<T>(tracing::plain_of(b)), true);
}
template <tracing::operand_like A, tracing::operand_like B>
auto minimum(const A &a, const B &b,
             const std::source_location where = std::source_location::current()) {
  using T = tracing::math_of<A, B>;
  if constexpr (tracing::any_recorded<A, B>)
    return tracing::same_type<T>("arith.minimumf", where, a, b);
  else
    return tracing::plain_extreme(static_cast<T>(tracing::plain_of(a)),
                                  static_cast<T>(tracing::plain_of(b)), false);
}

/// 1 / sqrt(a).
template <tracing::operand_like A>
auto rsqrt(const A &a, const std::source_location where = std::source_location::current()) {
  using T = tracing::math_of<A>;
  if constexpr (tracing::recorded<A>)
    return tracing::same_type<T>("math.rsqrt", where, a);
  else
    return T(1) / std::sqrt(static_cast<T>(tracing::plain_of(a)));
}

template <tracing::operand_like A, tracing::operand_like B, tracing::operand_like C>
auto fma(const A &a, const B &b, const C &c,
         const std::source_location where = std::source_location::current()) {
  using T = tracing::math_of<A, B, C>;
  if constexpr (tracing::any_recorded<A, B, C>)
    return tracing::same_type<T>("math.fma", where, a, b, c);
  else
    return std::fma(static_cast<T>(tracing::plain_of(a)), static_cast<T>(tracing::plain_of(b)),
                    static_cast<T>(tracing::plain_of(c)));
}

/// The smallest integer gives that integer.
template <tracing::operand_like A>
auto abs(const A &a, const std::source_location where = std::source_location::current()) {
  using T = tracing::promoted_t<tracing::number_of_t<A>>;
  static_assert(std::is_signed_v<T>,
                "an unsigned number is its own absolute value; drop annudf::abs, or "
                "annudf::cast the operands of a difference to a signed type");
  if constexpr (tracing::recorded<A>)
    return tracing::same_type<T>(std::floating_point<T> ? "math.absf" : "math.absi", where, a);
  else if constexpr (std::floating_point<T>)
    return std::fabs(tracing::plain_of(a));
  else {
    const T from = tracing::plain_of(a);
    return from < 0 ? static_cast<T>(-static_cast<std::make_unsigned_t<T>>(from)) : from;
  }
}

#define ANNUDF_IS(NAME, OP, PLAIN)                                                                 \
  template <tracing::operand_like A>                                                               \
  auto NAME(const A &a, const std::source_location where = std::source_location::current()) {      \
    if constexpr (tracing::recorded<A>)                                                            \
      return tracing::is(OP, a, where);                                                            \
    else                                                                                           \
      return PLAIN(static_cast<tracing::math_of<A>>(tracing::plain_of(a)));                        \
  }
ANNUDF_IS(isnan, "math.isnan", std::isnan)
ANNUDF_IS(isinf, "math.isinf", std::isinf)
ANNUDF_IS(isfinite, "math.isfinite", std::isfinite)
#undef ANNUDF_IS

/// `condition ? a : b`, of recorded values too. Both sides are computed.
template <tracing::operand_like C, tracing::operand_like A, tracing::operand_like B>
auto select(const C &condition, const A &a, const B &b,
            const std::source_location where = std::source_location::current()) {
  using T = tracing::chosen_of<A, B>;
  if constexpr (tracing::any_recorded<C, A, B>)
    return tracing::choose<T>(tracing::operand_of(condition, where), tracing::operand_of(a, where),
                              tracing::operand_of(b, where), where);
  else
    return static_cast<bool>(tracing::plain_of(condition)) ? static_cast<T>(tracing::plain_of(a))
                                                           : static_cast<T>(tracing::plain_of(b));
}
/// For accumulators of several fields: each field by the one condition.
template <tracing::operand_like C, class S>
  requires(!tracing::operand_like<S>)
S select(const C &condition, const S &a, const S &b,
         const std::source_location where = std::source_location::current()) {
  return tracing::with_fields(a, [&](const auto &...first) {
    return tracing::with_fields(b, [&](const auto &...second) {
      return S{annudf::select(condition, first, second, where)...};
    });
  });
}

/// As std::min and std::max choose: `a` unless `b` is better, so `a` where one is NaN.
template <tracing::operand_like A, tracing::operand_like B>
auto min(const A &a, const B &b,
         const std::source_location where = std::source_location::current()) {
  using T = tracing::chosen_of<A, B>;
  if constexpr (!tracing::any_recorded<A, B>) {
    const T first = static_cast<T>(tracing::plain_of(a)),
            second = static_cast<T>(tracing::plain_of(b));
    return second < first ? second : first;
  } else if constexpr (std::floating_point<T>) {
    const value<T> first(a, where), second(b, where);
    return annudf::select(
        value<bool>::made(tracing::compare<tracing::comparison::lt>(
            tracing::operand_of(second, where), tracing::operand_of(first, where), where)),
        second, first, where);
  } else {
    return tracing::same_type<T>(std::is_signed_v<T> ? "arith.minsi" : "arith.minui", where, a, b);
  }
}
template <tracing::operand_like A, tracing::operand_like B>
auto max(const A &a, const B &b,
         const std::source_location where = std::source_location::current()) {
  using T = tracing::chosen_of<A, B>;
  if constexpr (!tracing::any_recorded<A, B>) {
    const T first = static_cast<T>(tracing::plain_of(a)),
            second = static_cast<T>(tracing::plain_of(b));
    return first < second ? second : first;
  } else if constexpr (std::floating_point<T>) {
    const value<T> first(a, where), second(b, where);
    return annudf::select(
        value<bool>::made(tracing::compare<tracing::comparison::lt>(
            tracing::operand_of(first, where), tracing::operand_of(second, where), where)),
        second, first, where);
  } else {
    return tracing::same_type<T>(std::is_signed_v<T> ? "arith.maxsi" : "arith.maxui", where, a, b);
  }
}
/// As std::clamp chooses: NaN stays NaN.
template <tracing::operand_like A, tracing::operand_like L, tracing::operand_like H>
auto clamp(const A &a, const L &low, const H &high,
           const std::source_location where = std::source_location::current()) {
  // max takes its first operand where the second is not greater, so `a` comes first in both.
  return annudf::min(annudf::max(a, low, where), high, where);
}

/// static_cast, of recorded values too. Saturates where a floating-point number does not fit an
/// integer.
template <tracing::number To, tracing::operand_like A>
auto cast(const A &a, const std::source_location where = std::source_location::current()) {
  if constexpr (tracing::recorded<A>)
    return value<tracing::canonical_t<To>>(a, where);
  else
    return tracing::converted<To>(tracing::plain_of(a));
}

/// The same bits as another type of the same size.
template <tracing::number To, tracing::operand_like A>
auto bit_cast(const A &a, const std::source_location where = std::source_location::current()) {
  using From = tracing::number_of_t<A>;
  using T = tracing::canonical_t<To>;
  static_assert(sizeof(T) == sizeof(From) && !std::same_as<T, bool> && !std::same_as<From, bool>,
                "annudf::bit_cast needs two types of one size, neither of them bool");
  if constexpr (!tracing::recorded<A>)
    return std::bit_cast<T>(tracing::plain_of(a));
  else if constexpr (std::floating_point<T> == std::floating_point<From>)
    return value<T>(a, where);
  else
    return value<T>::made(tracing::recorder::current().cast("arith.bitcast", tracing::kind_of<T>(),
                                                            tracing::operand_of(a, where), where));
}

template <tracing::operand_like A>
auto signbit(const A &a, const std::source_location where = std::source_location::current()) {
  using T = tracing::math_of<A>;
  if constexpr (!tracing::recorded<A>) {
    return std::signbit(static_cast<T>(tracing::plain_of(a)));
  } else {
    using Bits = std::conditional_t<std::same_as<T, float>, std::int32_t, std::int64_t>;
    const auto bits = annudf::bit_cast<Bits>(value<T>(a, where), where);
    return value<bool>::made(tracing::compare<tracing::comparison::lt>(
        tracing::operand_of(bits, where), tracing::number_operand(Bits(0)), where));
  }
}

/// Signed integers have their bits counted too. For 0 the zeros at an end are all bits.
#define ANNUDF_BITS(NAME, OP)                                                                      \
  template <tracing::integer_like A>                                                               \
  auto NAME(const A &a, const std::source_location where = std::source_location::current()) {      \
    using T = tracing::number_of_t<A>;                                                             \
    static_assert(!std::same_as<T, bool>, "a bool has one bit; annudf::cast it to an integer");    \
    if constexpr (tracing::recorded<A>)                                                            \
      return value<std::int32_t>(tracing::same_type<T>(OP, where, a), where);                      \
    else                                                                                           \
      return std::int32_t(std::NAME(static_cast<std::make_unsigned_t<T>>(tracing::plain_of(a))));  \
  }
ANNUDF_BITS(popcount, "math.ctpop")
ANNUDF_BITS(countl_zero, "math.ctlz")
ANNUDF_BITS(countr_zero, "math.cttz")
#undef ANNUDF_BITS

} // namespace annudf

#endif // ANNUDF_CPP_TRACE_MATH_HPP
