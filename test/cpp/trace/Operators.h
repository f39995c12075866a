//===- Operators.h - Every operator and exact function, traced and plain -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One metric holds all operations on two types; which of them a row asks for, and for which 16 bits
// of its result, are captures of the row. The operands are captures of the row and of the query, so
// one search computes all pairs.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_CPP_TRACE_OPERATORS_H
#define ANNUDF_TEST_CPP_TRACE_OPERATORS_H

#include "cpp/trace/Oracle.h"
#include "cpp/trace/Run.h"

#include <string>

namespace annudf::test {

template <class T> std::vector<T> specialValues() {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_same_v<T, bool>)
    return {false, true};
  else if constexpr (std::is_floating_point_v<T>)
    return {T(0),
            T(-0.0),
            T(1),
            T(-1),
            T(0.5),
            T(-2.5),
            T(3.5),
            T(1e10),
            T(-129.7),
            T(2147483648.0),
            T(1e19),
            Limits::infinity(),
            -Limits::infinity(),
            Limits::quiet_NaN(),
            Limits::denorm_min(),
            Limits::max(),
            T(16777217.0),
            T(1) / T(3)};
  else
    return {T(0),
            T(1),
            T(2),
            T(7),
            T(100),
            T(-1),
            T(-2),
            T(-100),
            Limits::min(),
            Limits::max(),
            T(Limits::max() - 1),
            T(0x5a5a5a5a5a5a5a5a)};
}

/// A result in 64 bits; every NaN is the same.
template <class T> uint64_t bitsOf(T value) {
  if constexpr (std::is_same_v<T, float>)
    return std::isnan(value) ? 0x7fc00000U : std::bit_cast<uint32_t>(value);
  else if constexpr (std::is_same_v<T, double>)
    return std::isnan(value) ? 0x7ff8000000000000U : std::bit_cast<uint64_t>(value);
  else
    return uint64_t(value);
}
template <class T> value<uint64_t> bitsOf(const value<T> &from) {
  if constexpr (std::is_same_v<T, float>)
    return select(isnan(from), uint64_t(0x7fc00000U), annudf::bit_cast<uint32_t>(from));
  else if constexpr (std::is_same_v<T, double>)
    return select(isnan(from), uint64_t(0x7ff8000000000000U), annudf::bit_cast<uint64_t>(from));
  else
    return annudf::cast<uint64_t>(from);
}

template <class T> struct TypeOf {
  using type = T;
};
template <class T> struct TypeOf<value<T>> {
  using type = T;
};

/// The names and bits of results, in order.
template <class Bits> struct Results {
  std::vector<std::string> names;
  std::vector<std::string> types;
  std::vector<Bits> bits;
  template <class T> void operator()(const char *name, const T &result) {
    using Number = typename TypeOf<T>::type;
    names.emplace_back(name);
    types.emplace_back(tracing::name_of(tracing::kind_of<Number>()));
    bits.push_back(bitsOf(result));
  }
};

/// As a user writes it, of recorded values.
template <class V, class W, class Out> void traceBinary(V a, W b, Out &out) {
  using A = typename V::number_type;
  using B = typename W::number_type;
  out("a + b", a + b), out("a - b", a - b), out("a * b", a * b);
  out("a < b", a < b), out("a <= b", a <= b), out("a > b", a > b), out("a >= b", a >= b);
  out("a == b", a == b), out("a != b", a != b), out("a && b", a && b), out("a || b", a || b);
  out("min", annudf::min(a, b)), out("max", annudf::max(a, b));
  out("fmin", annudf::fabs(annudf::fmin(a, b))), out("fmax", annudf::fabs(annudf::fmax(a, b)));
  out("minimum", annudf::minimum(a, b)), out("maximum", annudf::maximum(a, b));
  out("copysign", annudf::copysign(a, b)), out("fmod", annudf::fmod(a, b));
  out("select", annudf::select(a, a, b));
  V c = a;
  c += b;
  out("a += b", c), c = a, c *= b, out("a *= b", c), c = a, c -= b, out("a -= b", c);
  if constexpr (std::is_floating_point_v<A> || std::is_floating_point_v<B>) {
    out("a / b", a / b);
  } else {
    out("a / max(b, 1)", a / annudf::max(b, 1)), out("a % max(b, 1)", a % annudf::max(b, 1));
    if constexpr (std::is_signed_v<decltype(A() + B())> && std::is_signed_v<decltype(+B())>)
      out("a / min(b, -2)", a / annudf::min(b, -2)), out("a % min(b, -2)", a % annudf::min(b, -2));
    out("a & b", a & b), out("a | b", a | b), out("a ^ b", a ^ b);
    out("a << (b & 31)", a << (b & 31)), out("a >> (b & 31)", a >> (b & 31));
    c = a, c ^= b, out("a ^= b", c), c = a, c |= b, out("a |= b", c), c = a, c &= b,
    out("a &= b", c);
    c = a, c >>= b & 15, out("a >>= b & 15", c), c = a, c <<= b & 15, out("a <<= b & 15", c);
  }
}

// C++'s own conversions between signed and unsigned are what is compared.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-compare"

/// The same by the compiler.
template <class A, class B, class Out> void computeBinary(A a, B b, Out &out) {
  using namespace oracle;
  using Chosen = std::conditional_t<std::is_same_v<A, B>, A, decltype(a + b)>;
  const Chosen x = static_cast<Chosen>(a), y = static_cast<Chosen>(b);
  out("a + b", add(a, b)), out("a - b", subtract(a, b)), out("a * b", multiply(a, b));
  out("a < b", a < b), out("a <= b", a <= b), out("a > b", a > b), out("a >= b", a >= b);
  out("a == b", a == b), out("a != b", a != b), out("a && b", a && b), out("a || b", a || b);
  out("min", std::min(x, y)), out("max", std::max(x, y));
  // C gives either of 0 and -0.
  out("fmin", std::fabs(std::fmin(a, b))), out("fmax", std::fabs(std::fmax(a, b)));
  out("minimum", minimum(a, b)), out("maximum", maximum(a, b));
  out("copysign", std::copysign(a, b)), out("fmod", std::fmod(a, b));
  out("select", Chosen(a ? a : b));
  out("a += b", convert<A>(add(a, b))), out("a *= b", convert<A>(multiply(a, b)));
  out("a -= b", convert<A>(subtract(a, b)));
  if constexpr (std::is_floating_point_v<A> || std::is_floating_point_v<B>) {
    out("a / b", a / b);
  } else {
    using M = std::conditional_t<std::is_same_v<B, int>, int, decltype(b + 1)>;
    const M most = std::max(M(b), M(1));
    out("a / max(b, 1)", a / most), out("a % max(b, 1)", a % most);
    if constexpr (std::is_signed_v<decltype(a + b)> && std::is_signed_v<decltype(+b)>)
      out("a / min(b, -2)", a / std::min(M(b), M(-2))),
          out("a % min(b, -2)", a % std::min(M(b), M(-2)));
    out("a & b", a & b), out("a | b", a | b), out("a ^ b", a ^ b);
    out("a << (b & 31)", a << (b & 31)), out("a >> (b & 31)", a >> (b & 31));
    out("a ^= b", A(a ^ b)), out("a |= b", A(a | b)), out("a &= b", A(a & b));
    out("a >>= b & 15", A(a >> (b & 15))), out("a <<= b & 15", A(a << (b & 15)));
  }
}

template <class V, class Out> void traceUnary(V a, Out &out) {
  using A = typename V::number_type;
  out("-a", -a), out("+a", +a), out("!a", !a);
  out("a + 1", a + 1), out("2u - a", 2U - a), out("a * 0.5", a * 0.5), out("3ll + a", 3LL + a);
  out("true == a", true == a), out("a != 1.5f", a != 1.5f), out("1 < a", 1 < a);
  out("bool", cast<bool>(a)), out("int8_t", cast<int8_t>(a)), out("uint8_t", cast<uint8_t>(a));
  out("int16_t", cast<int16_t>(a)), out("uint16_t", cast<uint16_t>(a));
  out("int32_t", cast<int32_t>(a)), out("uint32_t", cast<uint32_t>(a));
  out("int64_t", cast<int64_t>(a)), out("uint64_t", cast<uint64_t>(a));
  out("float", cast<float>(a)), out("double", cast<double>(a));
  out("sqrt", sqrt(a)), out("floor", floor(a)), out("ceil", ceil(a)), out("trunc", trunc(a));
  out("round", round(a)), out("rint", rint(a)), out("nearbyint", nearbyint(a)),
      out("fabs", fabs(a));
  out("isnan", isnan(a)), out("isinf", isinf(a)), out("isfinite", isfinite(a)),
      out("signbit", signbit(a));
  out("fma", fma(a, a, 0.25f));
  if constexpr (!std::is_same_v<A, bool>) {
    V b = a;
    out("++a", ++b), out("a++", b++), out("after", b), out("--a", --b), out("a--", b--);
  }
  if constexpr (std::is_signed_v<decltype(+A())>)
    out("abs", abs(a));
  if constexpr (std::is_integral_v<A>)
    out("~a", ~a);
  if constexpr (std::is_integral_v<A> && !std::is_same_v<A, bool>)
    out("popcount", popcount(a)), out("countl_zero", countl_zero(a)),
        out("countr_zero", countr_zero(a));
}

template <class A, class Out> void computeUnary(A a, Out &out) {
  using namespace oracle;
  using P = decltype(+a);
  out("-a", std::is_floating_point_v<A> ? P(-P(a)) : subtract(P(0), a)), out("+a", +a),
      out("!a", !a);
  out("a + 1", add(a, 1)), out("2u - a", subtract(2U, a)), out("a * 0.5", a * 0.5),
      out("3ll + a", add(int64_t(3), a));
  out("true == a", true == a), out("a != 1.5f", a != 1.5f), out("1 < a", 1 < a);
  out("bool", bool(a)), out("int8_t", convert<int8_t>(a)), out("uint8_t", convert<uint8_t>(a));
  out("int16_t", convert<int16_t>(a)), out("uint16_t", convert<uint16_t>(a));
  out("int32_t", convert<int32_t>(a)), out("uint32_t", convert<uint32_t>(a));
  out("int64_t", convert<int64_t>(a)), out("uint64_t", convert<uint64_t>(a));
  out("float", float(a)), out("double", double(a));
  out("sqrt", std::sqrt(a)), out("floor", std::floor(a)), out("ceil", std::ceil(a)),
      out("trunc", std::trunc(a));
  out("round", std::round(a)), out("rint", std::rint(a)), out("nearbyint", std::nearbyint(a));
  out("fabs", std::fabs(a));
  out("isnan", std::isnan(a)), out("isinf", std::isinf(a)), out("isfinite", std::isfinite(a));
  out("signbit", std::signbit(a));
  out("fma", std::fma(a, a, 0.25f));
  if constexpr (!std::is_same_v<A, bool>) {
    const A more = convert<A>(add(a, 1));
    const A twice = convert<A>(add(more, 1));
    const A back = convert<A>(subtract(twice, 1));
    out("++a", more), out("a++", more), out("after", twice), out("--a", back), out("a--", back);
  }
  if constexpr (std::is_signed_v<P>)
    out("abs", std::is_floating_point_v<P> ? P(std::fabs(a)) : a < A(0) ? subtract(P(0), a) : P(a));
  if constexpr (std::is_integral_v<A>)
    out("~a", subtract(P(-1), a));
  if constexpr (std::is_integral_v<A> && !std::is_same_v<A, bool>) {
    int ones = 0, leading = 0, trailing = 0;
    constexpr int width = int(sizeof(A) * 8);
    const auto bit = [&](int i) { return (uint64_t(a) >> i) & 1U; };
    for (int i = 0; i < width; ++i)
      ones += int(bit(i));
    while (leading < width && !bit(width - 1 - leading))
      ++leading;
    while (trailing < width && !bit(trailing))
      ++trailing;
    out("popcount", ones), out("countl_zero", leading), out("countr_zero", trailing);
  }
}

#pragma GCC diagnostic pop

/// Rows ask for a value, an operation and a part of the result, queries for the other value.
template <class A, class B, class Trace, class Compute>
void compareAll(const char *what, const Trace &trace, const Compute &compute) {
  Results<uint64_t> sample;
  compute(A(), B(), sample);
  const auto hook = [&trace, a = capture<A>("a", row), b = capture<B>("b", query),
                     which = capture<int>("which", row),
                     part = capture<uint8_t>("part", row)](auto, auto, auto acc, auto ctx) {
    if constexpr (std::is_arithmetic_v<decltype(acc)>) {
      return acc;
    } else {
      Results<value<uint64_t>> results;
      trace(a[ctx.row], b[ctx.query], results);
      value<uint64_t> chosen = 0;
      for (size_t i = 0; i < results.bits.size(); ++i)
        chosen = select(which[ctx.row] == int(i), results.bits[i], chosen);
      return cast<int>((chosen >> ((part[ctx.row] & 3) * 16)) & 0xffff) + acc;
    }
  };
  // Names and types, which say at compile time what C++ would give.
  {
    const auto seen = [&](auto, auto, auto acc, auto ctx) {
      Results<value<uint64_t>> results;
      trace(capture<A>("a", row)[ctx.row], capture<B>("b", query)[ctx.query], results);
      EXPECT_EQ(results.names, sample.names) << what;
      for (size_t i = 0; i < sample.types.size(); ++i)
        EXPECT_EQ(results.types[i], sample.types[i]) << what << ": " << sample.names[i];
      return acc;
    };
    (void)trace_metric("seen",
                       hooks{.compute = annudf::compute<int>, .initial = 0, .update = seen});
  }
  Compiled metric(
      trace_metric("all", hooks{.compute = annudf::compute<int>, .initial = 0, .update = hook}));

  const std::vector<A> as = specialValues<A>();
  const std::vector<B> bs = specialValues<B>();
  std::vector<A> rowValues;
  std::vector<int> whichOf;
  std::vector<uint8_t> partOf;
  for (const A one : as)
    for (size_t which = 0; which < sample.names.size(); ++which)
      for (int part = 0; part < 4; ++part)
        rowValues.push_back(one), whichOf.push_back(int(which)), partOf.push_back(uint8_t(part));
  const auto rows = int64_t(partOf.size());
  const auto queries = int64_t(bs.size());
  const std::vector<float> found =
      metric.distances(Rows<uint8_t>{std::vector<uint8_t>(bs.size()), 1},
                       Rows<uint8_t>{std::vector<uint8_t>(partOf.size()), 1},
                       {bound("a", rowValues, {rows}), bound("b", bs, {queries}),
                        bound("which", whichOf, {rows}), bound("part", partOf, {rows})});
  int failures = 0;
  for (size_t q = 0; q < bs.size(); ++q)
    for (size_t i = 0; i < as.size(); ++i) {
      Results<uint64_t> expected;
      compute(A(as[i]), B(bs[q]), expected);
      for (size_t which = 0; which < expected.bits.size(); ++which) {
        uint64_t bits = 0;
        for (size_t part = 0; part < 4; ++part)
          bits |= uint64_t(
                      found[(q * size_t(rows)) + (((i * expected.bits.size()) + which) * 4) + part])
                  << (16 * part);
        if (bits != expected.bits[which] && ++failures < 10)
          ADD_FAILURE() << what << ": " << expected.names[which] << " of " << +as[i] << " and "
                        << +bs[q] << " is " << std::hex << bits << ", C++ gives "
                        << expected.bits[which];
      }
    }
  EXPECT_EQ(failures, 0) << what;
}

} // namespace annudf::test

#endif // ANNUDF_TEST_CPP_TRACE_OPERATORS_H
