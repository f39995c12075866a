//===- annudf/cpp/trace/metric.hpp - A metric's functions as text of the dialect -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_CPP_TRACE_METRIC_HPP
#define ANNUDF_CPP_TRACE_METRIC_HPP

#include "annudf/cpp/trace/hooks.hpp"
#include "annudf/cpp/trace/options.hpp"

namespace annudf {
namespace tracing {

/// The text of one hook: `name (arguments) { body }`.
inline std::string hook_text(const char *name, const std::string &arguments, const recorder &hook,
                             const std::source_location &where) {
  return std::string("  annudf.") + name + (arguments.empty() ? "" : " (" + arguments + ')') +
         " {\n" + hook.text() + "  }" + location_of(where) + '\n';
}

inline std::string argument_list(const std::string &name, const std::vector<kind> &kinds) {
  std::string out;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    out += (i ? ", %" : "%") + name + (kinds.size() == 1 ? "" : '.' + std::to_string(i)) + ": ";
    out += spelling_of(kinds[i]);
  }
  return out;
}

/// Refuses hooks without a result by their name.
template <class Returned> consteval bool returns_something() {
  static_assert(!std::is_void_v<Returned>,
                "this hook returns nothing; return the accumulator, in finalize the distance");
  return true;
}

template <class H, class A>
std::string trace_init(const H &h, declarations &captures, const std::source_location &where) {
  recorder hook(captures, where);
  if constexpr (has_init<H>()) {
    const context ctx = context_of(hook);
    if constexpr (returns_something<decltype(call_init(h, ctx))>()) {
      const auto start = call_init(h, ctx);
      hook.yield(as_accumulator<A>(start, where), where);
    }
  } else if constexpr (has_initial<H>()) {
    hook.yield(as_accumulator<A>(h.initial, where), where);
  } else {
    hook.yield(as_accumulator<A>(A(), where), where);
  }
  return hook_text("init", "", hook, where);
}

template <class H, class A>
std::string trace_update(const H &h, declarations &captures, const std::source_location &where) {
  using X = compute_t<H>;
  static_assert(std::same_as<X, float> || std::same_as<X, double> || std::same_as<X, std::int32_t>,
                "hooks see coordinates as float, double or std::int32_t");
  recorder hook(captures, where);
  const auto acc = accumulator_arguments<A>(hook, "acc");
  const auto x = value<X>::made(hook.argument("%x", kind_of<X>()));
  const auto y = value<X>::made(hook.argument("%y", kind_of<X>()));
  const context ctx = context_of(hook);
  if constexpr (returns_something<decltype(call_update(h, x, y, acc, ctx))>()) {
    const auto next = call_update(h, x, y, acc, ctx);
    hook.yield(as_accumulator<A>(next, where), where);
  }
  const std::string type = spelling_of(kind_of<X>());
  return hook_text("update",
                   argument_list("acc", field_kinds<A>()) + ", %x: " + type + ", %y: " + type, hook,
                   where);
}

template <class H, class A>
std::string trace_finalize(const H &h, declarations &captures, const std::source_location &where) {
  recorder hook(captures, where);
  const auto acc = accumulator_arguments<A>(hook, "acc");
  const context ctx = context_of(hook);
  if constexpr (returns_something<decltype(call_finalize(h, acc, ctx))>()) {
    const auto distance = call_finalize(h, acc, ctx);
    static_assert(operand_like<decltype(distance)>, "finalize returns the distance, one number");
    hook.yield(as_accumulator<float>(distance, where), where);
  }
  return hook_text("finalize", argument_list("acc", field_kinds<A>()), hook, where);
}

template <class H, class A>
std::string trace_combine(const H &h, declarations &captures, const std::source_location &where) {
  recorder hook(captures, where);
  const auto acc = accumulator_arguments<A>(hook, "acc");
  const auto other = accumulator_arguments<A>(hook, "other");
  const context ctx = context_of(hook);
  if constexpr (returns_something<decltype(call_combine(h, acc, other, ctx))>()) {
    const auto both = call_combine(h, acc, other, ctx);
    hook.yield(as_accumulator<A>(both, where), where);
  }
  const std::vector<kind> kinds = field_kinds<A>();
  return hook_text("combine", argument_list("acc", kinds) + ", " + argument_list("other", kinds),
                   hook, where);
}

/// `order(min) coarse(l2) elements(f32) ...`.
inline std::string policy_text(const metric_options &options, const std::vector<kind> &fields,
                               kind compute) {
  constexpr const char *orders[] = {"min", "max"};
  constexpr const char *coarses[] = {"l2", "inner_product", "cosine"};
  std::string out = std::string(" order(") + orders[static_cast<unsigned>(options.order)] +
                    ") coarse(" + coarses[static_cast<unsigned>(options.coarse)];
  if (options.coarse_order)
    out += std::string(" ") + orders[static_cast<unsigned>(*options.coarse_order)];
  out += ") elements(";
  const char *separator = "";
  for (const element_row &one : element_rows) {
    const bool fits = is_float(compute) || one.is_whole;
    if (options.elements.empty() ? !fits : !options.elements.contains(one.value))
      continue;
    out += std::string(separator) + one.name;
    separator = ", ";
  }
  out += ')';
  bool needs_list = false;
  std::string list;
  for (const kind field : fields) {
    needs_list = needs_list || field == kind::u32;
    list +=
        (list.empty() ? "" : ", ") + std::string(field == kind::u32 ? "u32" : spelling_of(field));
  }
  if (needs_list) // The bodies' i32 is signed else.
    out += " accumulator(" + list + ')';
  if (options.numerics == numerics::reassociate)
    out += " numerics(reassociate)";
  if (options.dims)
    out += " dims(" + std::to_string(options.dims) + ')';
  if (options.missing_values)
    out += " missing_values";
  return out;
}

} // namespace tracing

/// The text of an `annudf.metric` that computes what the hooks do: a function (x, y, acc, ctx),
/// annudf::hooks, or an object with members `update` and the like. Each runs once on recorded
/// values.
template <class Hooks>
std::string trace_metric(std::string_view name, const Hooks &hooks,
                         const metric_options &options = {},
                         const std::source_location where = std::source_location::current()) {
  using A = tracing::accumulator_t<Hooks>;
  static_assert(tracing::has_accumulator_types<A>(),
                "an accumulator, or a field of it, is a float, double, std::int32_t, "
                "std::uint32_t or std::int64_t");
  static_assert(
      tracing::fields_of<A>() == 1 || tracing::has_finalize<Hooks>(),
      "no field of an accumulator of several is the distance; give the metric finalize(acc)");
  tracing::check_name("metric", name);
  tracing::declarations captures;
  std::string body = tracing::trace_init<Hooks, A>(hooks, captures, where);
  body += tracing::trace_update<Hooks, A>(hooks, captures, where);
  if constexpr (tracing::has_combine<Hooks>())
    body += tracing::trace_combine<Hooks, A>(hooks, captures, where);
  if constexpr (tracing::has_finalize<Hooks>())
    body += tracing::trace_finalize<Hooks, A>(hooks, captures, where);
  return captures.linked_text("metric", name) + "annudf.metric @" + std::string(name) +
         tracing::policy_text(options, tracing::field_kinds<A>(),
                              tracing::kind_of<tracing::compute_t<Hooks>>()) +
         " {\n" + captures.text() + body + '}' + tracing::location_of(where) + '\n';
}

namespace plain {

inline void check_dims(std::size_t x, std::size_t y) {
  if (x != y)
    throw std::invalid_argument("x has " + std::to_string(x) + " dimensions and y has " +
                                std::to_string(y) + "; give them the same");
}

/// The distance of `x` to `y`, of a container each, by the hooks on plain numbers. `where` gives
/// row, query and list.
template <class Hooks, class X, class Y>
float distance(const Hooks &hooks, const X &x, const Y &y, context where = {}) {
  using A = tracing::accumulator_t<Hooks>;
  using T = tracing::compute_t<Hooks>;
  check_dims(x.size(), y.size());
  where.dims = static_cast<std::int64_t>(x.size());
  A acc{};
  if constexpr (tracing::has_init<Hooks>())
    tracing::assign(acc, tracing::call_init(hooks, where));
  else if constexpr (tracing::has_initial<Hooks>())
    tracing::assign(acc, hooks.initial);
  for (std::size_t d = 0; d < x.size(); ++d) {
    where.dim = static_cast<std::int64_t>(d);
    tracing::assign(
        acc, tracing::call_update(hooks, static_cast<T>(x[d]), static_cast<T>(y[d]), acc, where));
  }
  if constexpr (tracing::has_finalize<Hooks>())
    return static_cast<float>(tracing::call_finalize(hooks, acc, where));
  else
    return tracing::with_fields(acc, [](const auto &only) { return static_cast<float>(only); });
}

} // namespace plain

/// The text of an `annudf.filter`: `keep(ctx)` returns whether the row may be found.
template <class Keep>
std::string trace_filter(std::string_view name, const Keep &keep,
                         const std::source_location where = std::source_location::current()) {
  tracing::check_name("filter", name);
  tracing::declarations captures;
  tracing::recorder hook(captures, where);
  const context ctx = tracing::context_of(hook);
  static_assert(
      requires { keep(ctx); },
      "a filter is a function (ctx) with a parameter of type auto, not mutable");
  using Returned = std::remove_cvref_t<decltype(keep(ctx))>;
  static_assert(
      tracing::operand_like<Returned> && requires {
        requires std::same_as<tracing::number_of_t<Returned>, bool>;
      }, "a filter returns a bool: compare, and join by && and ||");
  hook.yield({tracing::operand_of(keep(ctx), where)}, where);
  return captures.linked_text("filter", name) + "annudf.filter @" + std::string(name) + " {\n" +
         captures.text() + tracing::hook_text("keep", "", hook, where) + '}' +
         tracing::location_of(where) + '\n';
}

} // namespace annudf

#endif // ANNUDF_CPP_TRACE_METRIC_HPP
