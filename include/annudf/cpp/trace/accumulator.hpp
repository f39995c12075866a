//===- annudf/cpp/trace/accumulator.hpp - Accumulators of one and of several fields -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An accumulator is a number, or an aggregate of 1 to 6 numbers whose type is a template over their
// types: then the recorded one is the same template over value<...>.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_CPP_TRACE_ACCUMULATOR_HPP
#define ANNUDF_CPP_TRACE_ACCUMULATOR_HPP

#include "annudf/cpp/trace/value.hpp"

#include <array>
#include <tuple>

namespace annudf::tracing {

/// `Sums<float>` to `Sums<value<float>>`, and back.
template <class T> struct recorded_form {
  static_assert(
      never<T>,
      "an accumulator of several fields is a class template over the types of its fields, "
      "std::array or std::tuple: template <class T> struct Sums { T xy, xx, yy; }");
};
template <number T> struct recorded_form<T> {
  using type = value<canonical_t<T>>;
};
template <template <class...> class S, class... T> struct recorded_form<S<T...>> {
  using type = S<typename recorded_form<T>::type...>;
};
template <class T, std::size_t N> struct recorded_form<std::array<T, N>> {
  using type = std::array<typename recorded_form<T>::type, N>;
};
template <class T> using recorded_t = recorded_form<T>::type;

template <class T> struct plain_form {
  static_assert(
      never<T>,
      "this is no accumulator: return a number, or a class template over the types of its fields");
};
template <operand_like T> struct plain_form<T> {
  using type = number_of_t<T>;
};
template <template <class...> class S, class... T>
  requires(!operand_like<S<T...>>)
struct plain_form<S<T...>> {
  using type = S<typename plain_form<T>::type...>;
};
template <class T, std::size_t N> struct plain_form<std::array<T, N>> {
  using type = std::array<typename plain_form<T>::type, N>;
};
template <class T> using plain_t = plain_form<T>::type;

/// Whether both are instances of one template.
template <class A, class B> inline constexpr bool same_template = false;
template <template <class...> class S, class... A, class... B>
inline constexpr bool same_template<S<A...>, S<B...>> = true;
template <class A, class B, std::size_t N>
inline constexpr bool same_template<std::array<A, N>, std::array<B, N>> = true;

struct anything {
  template <class T> operator T() const;
};
template <class T, std::size_t... I> consteval bool takes(std::index_sequence<I...>) {
  return requires { T{(static_cast<void>(I), anything())...}; };
}
template <class T> consteval std::size_t count_fields() {
  if constexpr (operand_like<T>)
    return 1;
  else if constexpr (requires { std::tuple_size<T>::value; })
    return std::tuple_size<T>::value;
  else {
    static_assert(std::is_aggregate_v<T>,
                  "an accumulator of several fields is an aggregate: a struct without constructors "
                  "and private members");
    return takes<T>(std::make_index_sequence<7>())   ? 7
           : takes<T>(std::make_index_sequence<6>()) ? 6
           : takes<T>(std::make_index_sequence<5>()) ? 5
           : takes<T>(std::make_index_sequence<4>()) ? 4
           : takes<T>(std::make_index_sequence<3>()) ? 3
           : takes<T>(std::make_index_sequence<2>()) ? 2
                                                     : 1;
  }
}

template <class T> consteval std::size_t fields_of() {
  constexpr std::size_t count = count_fields<T>();
  static_assert(count >= 1 && count <= 6, "an accumulator has 1 to 6 fields");
  return count;
}

/// Calls `f` with each field.
template <class T, class F> constexpr auto with_fields(T &&from, F &&f) {
  using S = std::remove_cvref_t<T>;
  if constexpr (operand_like<S>) {
    return f(from);
  } else if constexpr (fields_of<S>() == 1) {
    auto &[a] = from;
    return f(a);
  } else if constexpr (fields_of<S>() == 2) {
    auto &[a, b] = from;
    return f(a, b);
  } else if constexpr (fields_of<S>() == 3) {
    auto &[a, b, c] = from;
    return f(a, b, c);
  } else if constexpr (fields_of<S>() == 4) {
    auto &[a, b, c, d] = from;
    return f(a, b, c, d);
  } else if constexpr (fields_of<S>() == 5) {
    auto &[a, b, c, d, e] = from;
    return f(a, b, c, d, e);
  } else {
    auto &[a, b, c, d, e, g] = from;
    return f(a, b, c, d, e, g);
  }
}

/// Types of the fields, of plain numbers.
template <class A> std::vector<kind> field_kinds() {
  const A zero{};
  return with_fields(zero, [](const auto &...field) {
    return std::vector<kind>{kind_of<number_of_t<std::remove_cvref_t<decltype(field)>>>()...};
  });
}

constexpr bool is_accumulator(kind k) {
  return k == kind::f32 || k == kind::f64 || k == kind::i32 || k == kind::u32 || k == kind::i64;
}

/// The ABI has no others. `A` is in the compiler's message.
template <class A> consteval bool has_accumulator_types() {
  return with_fields(A{}, [](const auto &...field) {
    return (is_accumulator(kind_of<number_of_t<std::remove_cvref_t<decltype(field)>>>()) && ...);
  });
}

/// Whether a hook may return `From` where `To` is the number: all but a fraction for an integer.
template <number To, class From> consteval bool becomes() {
  if constexpr (!operand_like<From>)
    return false;
  else
    return std::floating_point<To> || std::integral<number_of_t<From>>;
}

/// A field of what a hook returned, as the accumulator's.
template <number To, class From>
operand field_as(const From &from, const std::source_location &where) {
  static_assert(
      becomes<To, From>(),
      "a floating-point number does not become an integer field of the accumulator by itself; "
      "write annudf::cast<std::int32_t>(...), or give the accumulator a floating-point type");
  if constexpr (becomes<To, From>())
    return convert(operand_of(from, where), kind_of<To>(), where);
  else
    return {};
}

/// What a hook returned, as the fields of accumulator A.
template <class A, class Returned>
std::vector<operand> as_accumulator(const Returned &from, const std::source_location &where) {
  static_assert(!std::is_void_v<Returned>);
  if constexpr (operand_like<A> != operand_like<Returned>) {
    static_assert(never<Returned>, "this hook returns a number where the accumulator has fields, "
                                   "or fields where it is a number; "
                                   "return what the accumulator is");
    return {};
  } else if constexpr (operand_like<A>) {
    return {field_as<A>(from, where)};
  } else {
    static_assert(same_template<A, Returned>,
                  "this hook returns other fields than the accumulator has; return an instance of "
                  "the same class template");
    const A types{};
    return with_fields(types, [&](const auto &...type) {
      return with_fields(from, [&](const auto &...field) {
        return std::vector<operand>{field_as<std::remove_cvref_t<decltype(type)>>(field, where)...};
      });
    });
  }
}

/// Assigns what a hook on plain numbers returned to the accumulator.
template <class A, class Returned> void assign(A &to, const Returned &from) {
  if constexpr (operand_like<A>)
    to = static_cast<A>(static_cast<number_of_t<Returned>>(from));
  else
    with_fields(to, [&](auto &...field) {
      return with_fields(from, [&](const auto &...returned) {
        (assign(field, returned), ...);
        return 0;
      });
    });
}

/// The recorded accumulator whose fields are what `make(number, kind)` gives.
template <class A, class Make> recorded_t<A> accumulator_of(const Make &make) {
  const A types{};
  return with_fields(types, [&](const auto &...type) {
    std::size_t number = 0;
    const auto field = [&](auto zero) {
      using T = canonical_t<decltype(zero)>;
      return value<T>::made(make(number++, kind_of<T>()));
    };
    // Braces: in the order in which they stand.
    if constexpr (operand_like<A>)
      return field(A());
    else
      return recorded_t<A>{field(std::remove_cvref_t<decltype(type)>())...};
  });
}

/// The recorded accumulator whose fields are arguments of the hook.
template <class A> recorded_t<A> accumulator_arguments(recorder &hook, const std::string &name) {
  return accumulator_of<A>([&](std::size_t number, kind type) {
    const bool is_only = fields_of<A>() == 1;
    return hook.argument('%' + name + (is_only ? "" : '.' + std::to_string(number)), type);
  });
}

} // namespace annudf::tracing

#endif // ANNUDF_CPP_TRACE_ACCUMULATOR_HPP
