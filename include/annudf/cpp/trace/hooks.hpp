//===- annudf/cpp/trace/hooks.hpp - The functions of a metric ---*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_CPP_TRACE_HOOKS_HPP
#define ANNUDF_CPP_TRACE_HOOKS_HPP

#include "annudf/cpp/trace/accumulator.hpp"
#include "annudf/cpp/trace/context.hpp"

namespace annudf {

namespace tracing {

struct none {};
/// In which type a hook sees coordinates.
template <class T> struct compute_in {
  using type = T;
};

} // namespace tracing

/// `.compute = annudf::compute<std::int32_t>`: float, double or std::int32_t.
template <tracing::number T>
inline constexpr tracing::compute_in<tracing::canonical_t<T>> compute{};

/// The functions of a metric, by name:
///
///     annudf::hooks{.initial = Sums<float>{}, .update = [](auto x, auto y, auto acc) { ... },
///                   .finalize = [](auto acc) { ... }}
///
/// `initial` is the accumulator before the first dimension and gives its type; `init(ctx)` computes
/// it instead. A class with members of these names serves as well.
template <class Compute = tracing::compute_in<float>, class Initial = tracing::none,
          class Init = tracing::none, class Update = tracing::none, class Finalize = tracing::none,
          class Combine = tracing::none>
struct hooks {
  Compute compute{};
  Initial initial{};
  Init init{};
  Update update{};
  Finalize finalize{};
  Combine combine{};
};

namespace tracing {

// A member template has no address, but a name that two bases have is ambiguous.
#define ANNUDF_HAS(NAME)                                                                           \
  struct also_##NAME {                                                                             \
    int NAME;                                                                                      \
  };                                                                                               \
  template <class H> struct either_##NAME : H, also_##NAME {};                                     \
  template <class H>                                                                               \
  concept names_##NAME = !requires { &either_##NAME<H>::NAME; };                                   \
  template <class H> consteval bool has_##NAME() {                                                 \
    if constexpr (!names_##NAME<H>)                                                                \
      return false;                                                                                \
    else if constexpr (requires(const H &hooks) {                                                  \
                         requires std::same_as<decltype(hooks.NAME), none>;                        \
                       })                                                                          \
      return false;                                                                                \
    else                                                                                           \
      return true;                                                                                 \
  }
ANNUDF_HAS(compute)
ANNUDF_HAS(initial)
ANNUDF_HAS(init)
ANNUDF_HAS(update)
ANNUDF_HAS(finalize)
ANNUDF_HAS(combine)
#undef ANNUDF_HAS

// Each calls its hook with or without ctx.
template <class H, class X, class A, class C>
auto call_update(const H &h, X x, X y, A acc, const C &ctx) {
  if constexpr (has_update<H>()) {
    if constexpr (requires { h.update(x, y, acc, ctx); })
      return h.update(x, y, acc, ctx);
    else {
      static_assert(
          requires { h.update(x, y, acc); },
          "update is called as update(x, y, acc, ctx) or update(x, y, acc), and is const");
      return h.update(x, y, acc);
    }
  } else if constexpr (requires { h(x, y, acc, ctx); }) {
    return h(x, y, acc, ctx);
  } else {
    static_assert(
        requires { h(x, y, acc); }, "a metric is a function (x, y, acc, ctx) or (x, y, acc) with "
                                    "parameters of type auto, not mutable, "
                                    "annudf::hooks{...}, a class with a member update, or "
                                    "annudf::pairwise{...} of two vectors");
    return h(x, y, acc);
  }
}
template <class H, class C> auto call_init(const H &h, const C &ctx) {
  if constexpr (requires { h.init(ctx); })
    return h.init(ctx);
  else {
    static_assert(requires { h.init(); }, "init is called as init(ctx) or init(), and is const");
    return h.init();
  }
}
template <class H, class A, class C> auto call_finalize(const H &h, A acc, const C &ctx) {
  if constexpr (requires { h.finalize(acc, ctx); })
    return h.finalize(acc, ctx);
  else {
    static_assert(
        requires { h.finalize(acc); },
        "finalize is called as finalize(acc, ctx) or finalize(acc), and is const");
    return h.finalize(acc);
  }
}
template <class H, class A, class C> auto call_combine(const H &h, A acc, A other, const C &ctx) {
  if constexpr (requires { h.combine(acc, other, ctx); })
    return h.combine(acc, other, ctx);
  else {
    static_assert(
        requires { h.combine(acc, other); },
        "combine is called as combine(acc, other, ctx) or combine(acc, other), and is const");
    return h.combine(acc, other);
  }
}

template <class H> consteval auto compute_type() {
  if constexpr (has_compute<H>())
    return std::remove_cvref_t<decltype(std::declval<const H &>().compute)>();
  else
    return compute_in<float>();
}
template <class H> using compute_t = decltype(compute_type<H>())::type;

/// The accumulator in plain numbers: as `initial` or `init` gives it, else a float.
template <class H> constexpr auto accumulator_type() {
  if constexpr (has_initial<H>())
    return std::type_identity<std::remove_cvref_t<decltype(std::declval<const H &>().initial)>>();
  else if constexpr (has_init<H>())
    return std::type_identity<
        plain_t<std::remove_cvref_t<decltype(call_init(std::declval<const H &>(), context()))>>>();
  else
    return std::type_identity<float>();
}
template <class H> struct canonical_accumulator {
  using type = H;
};
template <number H> struct canonical_accumulator<H> {
  using type = canonical_t<H>;
};
template <class H>
using accumulator_t = canonical_accumulator<typename decltype(accumulator_type<H>())::type>::type;

} // namespace tracing
} // namespace annudf

#endif // ANNUDF_CPP_TRACE_HOOKS_HPP
