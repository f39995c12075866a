//===- annudf/cpp/trace/context.hpp - Where a hook is in a scan -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_CPP_TRACE_CONTEXT_HPP
#define ANNUDF_CPP_TRACE_CONTEXT_HPP

#include "annudf/cpp/trace/capture.hpp"
#include "annudf/cpp/trace/linked.hpp"

namespace annudf {

/// The `ctx` of a traced hook.
struct context {
  using number = value<std::int64_t>;
  number dim, dims, row, query, list;

  /// The capture with recorded entries, whatever its indices are.
  template <class T>
  auto operator()(const captured<T, 0> &scalar,
                  const std::source_location where = std::source_location::current()) const {
    return value<tracing::read_t<T>>::made(scalar.entry().load(where));
  }
  template <class T, std::size_t Rank> auto operator()(const captured<T, Rank> &array) const {
    return tracing::indexed<tracing::reading::recorded, T, Rank, 0, true>(array.entry());
  }
  /// The function with recorded calls, whatever their arguments are.
  template <class Signature>
  auto operator()(const linked<Signature> &function,
                  const std::source_location where = std::source_location::current()) const {
    return tracing::recorded_linked<Signature>(function, where);
  }
};

/// The `ctx` of a hook on plain numbers: `annudf::plain::context{.dim = 3, .dims = 8}`.
struct plain::context {
  std::int64_t dim = 0, dims = 1, row = 0, query = 0, list = 0;

  template <class T> auto operator()(const captured<T, 0> &scalar) const {
    return scalar.entry().read();
  }
  template <class T, std::size_t Rank> auto operator()(const captured<T, Rank> &array) const {
    return tracing::indexed<tracing::reading::plain, T, Rank, 0, false>(array.entry());
  }
  template <class Signature>
  const linked<Signature> &operator()(const linked<Signature> &function) const {
    return function;
  }
};

namespace tracing {

inline context context_of(const recorder &hook) {
  const auto index = [&](scan_index which) { return value<std::int64_t>::made(hook.index(which)); };
  return {index(scan_index::dim), index(scan_index::dims), index(scan_index::row),
          index(scan_index::query), index(scan_index::list)};
}

} // namespace tracing
} // namespace annudf

#endif // ANNUDF_CPP_TRACE_CONTEXT_HPP
