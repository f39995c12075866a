//===- annudf/cpp/trace/vectors.hpp - Functions of two whole vectors -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//     const auto canberra = annudf::pairwise{[](auto a, auto b) {
//       return annudf::sum(a.size(), [&](auto i) {
//         auto whole = annudf::abs(a[i]) + annudf::abs(b[i]);
//         return annudf::select(whole > 0, annudf::abs(a[i] - b[i]) / whole, 0.0f);
//       });
//     }};
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_CPP_TRACE_VECTORS_HPP
#define ANNUDF_CPP_TRACE_VECTORS_HPP

#include "annudf/cpp/trace/metric.hpp"

namespace annudf {

/// A metric that is a function of two vectors, `distance(a, b)` or `distance(a, b, ctx)`.
template <class Distance, class Compute = tracing::compute_in<float>> struct pairwise {
  Distance distance;
  Compute compute{};
};

/// A vector in a function that is traced.
template <tracing::number T> class coordinates {
public:
  coordinates(const tracing::recorder &hook, const char *called)
      : length(value<std::int64_t>::made(hook.index(tracing::scan_index::dims))), name(called) {}

  value<std::int64_t> size() const { return length; }
  /// A coordinate. Where the index may be outside of the vector, the metric is refused.
  value<T> operator[](tracing::at_any_integer index) const {
    return value<T>::made(
        tracing::recorder::current().at(name, tracing::kind_of<T>(), index.what, index.where));
  }

private:
  value<std::int64_t> length;
  const char *name;
};

/// A vector of numbers in the same function; `From` is a container.
template <tracing::number T, class From> class plain_coordinates {
public:
  explicit plain_coordinates(const From &from) : values(from) {}

  std::int64_t size() const { return static_cast<std::int64_t>(values.size()); }
  T operator[](std::int64_t index) const {
    if (index < 0 || index >= size())
      throw std::out_of_range("a vector of " + std::to_string(size()) + " dimensions is read at " +
                              std::to_string(index));
    return static_cast<T>(values[static_cast<std::size_t>(index)]);
  }

private:
  const From &values;
};

namespace tracing {

template <class F, class X, class Y, class C>
auto call_distance(const F &f, const X &a, const Y &b, const C &ctx) {
  if constexpr (requires { f(a, b, ctx); })
    return f(a, b, ctx);
  else {
    static_assert(
        requires { f(a, b); },
        "annudf::pairwise takes a function (a, b) or (a, b, ctx) with parameters of type auto, not "
        "mutable");
    return f(a, b);
  }
}

/// Whether a state is recorded, or has a field that is.
template <class S> consteval bool has_recorded() {
  if constexpr (operand_like<S>)
    return recorded<S>;
  else
    return !std::same_as<plain_t<S>, S>;
}

/// The recorded state whose fields stand there.
template <class A> recorded_t<A> state_of(const std::vector<operand> &fields) {
  return accumulator_of<A>([&](std::size_t number, kind) { return fields[number]; });
}

template <class A, class S, class F>
recorded_t<A> record_loop(const operand &begin, const operand &end, const S &initial, const F &f,
                          const std::source_location &where) {
  recorder &into = recorder::current();
  const recorder::loop loop =
      into.open(convert(begin, kind::i64, where), convert(end, kind::i64, where),
                as_accumulator<A>(initial, where), where);
  const auto next = f(value<std::int64_t>::made(loop.index), state_of<A>(loop.arguments));
  return state_of<A>(into.close(loop, as_accumulator<A>(next, where), where));
}

} // namespace tracing

/// What `f(i, state)` makes of `initial` for each i from `begin` up to, and without, `end`. The
/// state is a number, or an aggregate as an accumulator is, and has the type of `initial`. Plain
/// bounds make a plain loop.
template <tracing::integer_like B, tracing::integer_like E, class S, class F>
auto fold(const B &begin, const E &end, const S &initial, const F &f,
          const std::source_location where = std::source_location::current()) {
  using A = tracing::plain_t<S>;
  if constexpr (tracing::any_recorded<B, E>) {
    return tracing::record_loop<A>(tracing::operand_of(begin, where),
                                   tracing::operand_of(end, where), initial, f, where);
  } else {
    const auto from = static_cast<std::int64_t>(tracing::plain_of(begin));
    const auto to = static_cast<std::int64_t>(tracing::plain_of(end));
    using Next = std::remove_cvref_t<decltype(f(from, initial))>;
    if constexpr (tracing::has_recorded<Next>()) {
      auto state = tracing::state_of<A>(tracing::as_accumulator<A>(initial, where));
      for (std::int64_t i = from; i < to; ++i)
        state = tracing::state_of<A>(tracing::as_accumulator<A>(f(i, state), where));
      return state;
    } else {
      A state{};
      tracing::assign(state, initial);
      for (std::int64_t i = from; i < to; ++i)
        tracing::assign(state, f(i, state));
      return state;
    }
  }
}
/// From 0.
template <tracing::integer_like E, class S, class F>
auto fold(const E &end, const S &initial, const F &f,
          const std::source_location where = std::source_location::current()) {
  return fold(std::int64_t(), end, initial, f, where);
}

/// The sum of f(i) for each i from 0 up to, and without, `end`.
template <tracing::integer_like E, class F>
auto sum(const E &end, const F &f,
         const std::source_location where = std::source_location::current()) {
  using I = std::conditional_t<tracing::recorded<E>, value<std::int64_t>, std::int64_t>;
  using T = tracing::promoted_t<tracing::number_of_t<std::remove_cvref_t<decltype(f(I()))>>>;
  return fold(
      end, T(),
      [&](const auto &i, const auto &total) {
        const auto term = f(i);
        if constexpr (tracing::any_recorded<std::remove_cvref_t<decltype(total)>,
                                            std::remove_cvref_t<decltype(term)>>)
          return value<T>::made(tracing::apply<tracing::binary::add>(
              tracing::operand_of(total, where), tracing::operand_of(term, where), where));
        else
          return static_cast<T>(total + static_cast<T>(term));
      },
      where);
}

/// The text of an `annudf.pairwise`, of which the compiler makes a metric.
template <class Distance, class Compute>
std::string trace_metric(std::string_view name, const pairwise<Distance, Compute> &hooks,
                         const metric_options &options = {},
                         const std::source_location where = std::source_location::current()) {
  using X = Compute::type;
  tracing::check_name("metric", name);
  tracing::declarations captures;
  tracing::recorder hook(captures, where);
  const coordinates<X> a(hook, "%x");
  const coordinates<X> b(hook, "%y");
  const context ctx = tracing::context_of(hook);
  using Returned = decltype(tracing::call_distance(hooks.distance, a, b, ctx));
  if constexpr (tracing::returns_something<Returned>()) {
    static_assert(tracing::operand_like<Returned>,
                  "a function of two vectors returns the distance, one number");
    const Returned distance = tracing::call_distance(hooks.distance, a, b, ctx);
    hook.yield(tracing::as_accumulator<float>(distance, where), where);
  }
  const std::string type =
      std::string("!annudf.vector<") + tracing::spelling_of(tracing::kind_of<X>()) + '>';
  return captures.linked_text("metric", name) + "annudf.pairwise @" + std::string(name) +
         tracing::policy_text(options, {}, tracing::kind_of<X>()) + " {\n" + captures.text() +
         tracing::hook_text("distance", "%x: " + type + ", %y: " + type, hook, where) + '}' +
         tracing::location_of(where) + '\n';
}

namespace plain {

/// The distance of `x` to `y`, of a container each, by the function on plain numbers.
template <class Distance, class Compute, class X, class Y>
float distance(const pairwise<Distance, Compute> &hooks, const X &x, const Y &y,
               context where = {}) {
  using T = Compute::type;
  check_dims(x.size(), y.size());
  where.dims = static_cast<std::int64_t>(x.size());
  return static_cast<float>(tracing::call_distance(hooks.distance, plain_coordinates<T, X>(x),
                                                   plain_coordinates<T, Y>(y), where));
}

} // namespace plain
} // namespace annudf

#endif // ANNUDF_CPP_TRACE_VECTORS_HPP
