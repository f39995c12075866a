//===- annudf/cpp/trace/capture.hpp - Arrays and numbers that a metric is bound to -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `w[ctx.dim]`, `age[ctx.row]`, `q(ctx.query, ctx.dim)` or `q[ctx.query][ctx.dim]`, `half_life`.
// With a recorded index the entry is recorded. With plain indices alone, as in a loop over a table,
// and for a scalar, the type of the entry cannot tell whether a hook is traced: it is recorded by
// what it is combined with, and a number where that is one. `ctx(table)[3]` and `ctx(half_life)`
// are recorded, or numbers, at once.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_CPP_TRACE_CAPTURE_HPP
#define ANNUDF_CPP_TRACE_CAPTURE_HPP

#include "annudf/cpp/trace/plain.hpp"
#include "annudf/cpp/trace/value.hpp"

namespace annudf {

/// How many entries a capture has on one axis: `dim`, `row`, `query`, or a constant.
class extent {
public:
  constexpr extent(std::int64_t number) : entries(number) {}
  std::string text() const {
    if (!symbol && entries < 1)
      throw std::invalid_argument(
          "an extent of a capture is " + std::to_string(entries) +
          "; give a positive number, annudf::dim, annudf::row or annudf::query");
    return symbol ? symbol : std::to_string(entries);
  }
  /// 0 of one that has a name.
  constexpr std::int64_t count() const { return symbol ? 0 : entries; }

  static constexpr extent named(const char *symbol) {
    extent out(0);
    out.symbol = symbol;
    return out;
  }

private:
  const char *symbol = nullptr;
  std::int64_t entries;
};

/// One entry a dimension.
inline constexpr extent dim = extent::named("dim");
/// One entry an id of the index.
inline constexpr extent row = extent::named("row");
/// One entry a query of the search.
inline constexpr extent query = extent::named("query");

template <class T, std::size_t Rank> class captured;

namespace tracing {

/// What a capture's element is in text, and what reading it gives.
template <class T> struct capture_element {
  static_assert(number<T>,
                "a capture holds bool, float, double, annudf::float16, annudf::bfloat16 or "
                "integers of 8 to 64 bits");
  using read = canonical_t<T>;
  static constexpr const char *narrow = nullptr;
  static std::string spelling() {
    const bool is_unsigned = std::is_unsigned_v<T> && !std::same_as<T, bool>;
    return (is_unsigned ? "u" : "") + std::string(spelling_of(kind_of<T>()));
  }
};
template <> struct capture_element<float16> {
  using read = float;
  static constexpr const char *narrow = "f16";
  static std::string spelling() { return "f16"; }
};
template <> struct capture_element<bfloat16> {
  using read = float;
  static constexpr const char *narrow = nullptr; // A load gives f32.
  static std::string spelling() { return "bf16"; }
};
template <class T> using read_t = capture_element<T>::read;

/// What a capture is called, its inside of !annudf.capture<...>, and its axes.
template <std::size_t Rank> struct capture_description {
  std::string name;
  std::string type;
  extent axes[Rank + 1];
};

/// One entry of a capture, wanted as a recorded value or as a number. It may outlive the capture,
/// as what a function returns from one of its own does, so it has a copy of the description.
template <class T, std::size_t Rank> struct entry_of {
  capture_description<Rank> capture;
  operand indices[Rank ? Rank : 1];

  operand load(const std::source_location &where) const {
    return recorder::current().load(capture.name, capture.type, kind_of<read_t<T>>(),
                                    std::vector<operand>(indices, indices + Rank), where,
                                    capture_element<T>::narrow);
  }
  read_t<T> read() const {
    const std::string how = Rank ? "ctx(" + capture.name + ")[...]" : "ctx(" + capture.name + ")";
    if (recorder::is_running())
      throw std::logic_error("capture '" + capture.name +
                             "' is read as a plain number where a metric is made; write " + how);
    std::int64_t places[Rank ? Rank : 1] = {};
    std::int64_t constants[Rank ? Rank : 1] = {};
    for (std::size_t i = 0; i < Rank; ++i) {
      places[i] = static_cast<std::int64_t>(indices[i].bits);
      constants[i] = capture.axes[i].count();
    }
    return plain::read<read_t<T>>(capture.name, places, constants, Rank);
  }
};

/// An entry at plain indices: recorded by what it meets.
template <class T, std::size_t Rank> class unread {
public:
  explicit unread(const entry_of<T, Rank> &of) : entry(of) {}
  operator read_t<T>() const { return entry.read(); }

private:
  friend operand_traits<unread>;
  entry_of<T, Rank> entry;
};
template <class T, std::size_t Rank> struct operand_traits<unread<T, Rank>> {
  using type = read_t<T>;
  static constexpr bool recorded = false;
  static operand of(const unread<T, Rank> &from, const std::source_location &where) {
    return recorder::is_running() ? from.entry.load(where) : number_operand(from.entry.read());
  }
};
template <class T> struct operand_traits<captured<T, 0>> {
  using type = read_t<T>;
  static constexpr bool recorded = false;
  static operand of(const captured<T, 0> &from, const std::source_location &where) {
    const unread<T, 0> entry(from.entry());
    return operand_traits<unread<T, 0>>::of(entry, where);
  }
};

/// How an entry is given: as it can be told from the indices, recorded, or as a number.
enum class reading : std::uint8_t { by_indices, recorded, plain };

template <reading How, class T, std::size_t Rank, bool Recorded>
auto finished(const entry_of<T, Rank> &entry, const std::source_location &where) {
  if constexpr (How == reading::plain)
    return entry.read();
  else if constexpr (How == reading::recorded || Recorded)
    return value<read_t<T>>::made(entry.load(where));
  else
    return unread<T, Rank>(entry);
}

/// An index and where it is used.
template <bool Recorded> struct at_index {
  template <integer_like I>
    requires(recorded<I> == Recorded)
  at_index(const I &index, const std::source_location place = std::source_location::current())
      : what(as_index(operand_of(index, place), Recorded)), where(place) {}
  operand what;
  std::source_location where;

private:
  static operand as_index(operand index, bool recorded) {
    if (!recorded && index.hook == 0)
      return {.type = kind::i64, .bits = converted(index.bits, index.type, kind::i64)};
    return index;
  }
};

template <integer_like I>
at_index<recorded<I>> index_at(const I &index, const std::source_location &where) {
  return at_index<recorded<I>>(index, where);
}

/// A capture of which the first `Given` indices are known.
template <reading How, class T, std::size_t Rank, std::size_t Given, bool Recorded> class indexed {
public:
  explicit indexed(const entry_of<T, Rank> &of) : entry(of) {}
  auto operator[](at_index<true> index) const { return next<true>(index.what, index.where); }
  auto operator[](at_index<false> index) const { return next<Recorded>(index.what, index.where); }

private:
  template <bool More> auto next(const operand &index, const std::source_location &where) const {
    entry_of<T, Rank> longer = entry;
    longer.indices[Given] = index;
    if constexpr (Given + 1 == Rank)
      return finished<How, T, Rank, More>(longer, where);
    else
      return indexed<How, T, Rank, Given + 1, More>(longer);
  }
  entry_of<T, Rank> entry;
};

} // namespace tracing

/// A capture of a metric or a filter, with an axis for each extent.
template <class T, std::size_t Rank> class captured {
public:
  template <class... E>
  explicit captured(std::string name, E... extents)
      : what{std::move(name), {}, {extent(extents)..., extent(1)}} {
    tracing::check_name("capture", what.name);
    for (std::size_t i = 0; i < Rank; ++i)
      what.type += what.axes[i].text() + " x ";
    what.type += tracing::capture_element<T>::spelling();
  }

  const std::string &name() const { return what.name; }
  /// As it stands in !annudf.capture<...>.
  const std::string &type() const { return what.type; }
  const extent &axis(std::size_t number) const { return what.axes[number]; }

  auto operator[](tracing::at_index<true> index) const { return open()[index]; }
  auto operator[](tracing::at_index<false> index) const { return open()[index]; }
  template <tracing::integer_like A>
  auto operator()(const A &a,
                  const std::source_location where = std::source_location::current()) const {
    check_rank<1>();
    return open()[tracing::index_at(a, where)];
  }
  template <tracing::integer_like A, tracing::integer_like B>
  auto operator()(const A &a, const B &b,
                  const std::source_location where = std::source_location::current()) const {
    check_rank<2>();
    return open()[tracing::index_at(a, where)][tracing::index_at(b, where)];
  }
  template <tracing::integer_like A, tracing::integer_like B, tracing::integer_like C>
  auto operator()(const A &a, const B &b, const C &c,
                  const std::source_location where = std::source_location::current()) const {
    check_rank<3>();
    return open()[tracing::index_at(a, where)][tracing::index_at(b, where)]
                 [tracing::index_at(c, where)];
  }
  operator tracing::read_t<T>() const
    requires(Rank == 0)
  {
    return entry().read();
  }

  tracing::entry_of<T, Rank> entry() const { return {what, {}}; }

private:
  auto open() const {
    static_assert(Rank > 0, "a capture without extents is a number: use it without an index");
    return tracing::indexed<tracing::reading::by_indices, T, Rank, 0, false>(entry());
  }
  template <std::size_t Given> static void check_rank() {
    static_assert(Given == Rank, "a capture takes one index an extent");
  }

  tracing::capture_description<Rank> what;
};

/// Declares a capture: `capture<float>("w", annudf::dim)`, `capture<float>("half_life")`.
template <class T, class... E>
  requires(std::convertible_to<E, extent> && ...)
captured<T, sizeof...(E)> capture(std::string name, E... extents) {
  return captured<T, sizeof...(E)>(std::move(name), extents...);
}

} // namespace annudf

#endif // ANNUDF_CPP_TRACE_CAPTURE_HPP
