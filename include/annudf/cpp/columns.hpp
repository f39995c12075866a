//===- annudf/cpp/columns.hpp - Values that an index has for its rows -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A part of annudf/annudf.hpp, which is to be included.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_CPP_COLUMNS_HPP
#define ANNUDF_CPP_COLUMNS_HPP

#include "annudf/cpp/ivf_flat.hpp"

namespace annudf {
inline namespace v0 {
namespace ivf_flat {

/// A value of every row of an index. A capture of extent `row` without a value reads the one of its
/// name.
struct column {
  std::string name, dtype; ///< "age", "f32".
};

/// Sorted by name.
inline std::vector<column> columns(const index &of) {
  annudf_ivf_flat_info info = {};
  info.size = sizeof info;
  detail::check(annudf_ivf_flat_get(of.c(), &info));
  std::vector<column> all;
  for (std::size_t i = 0; i < info.n_columns; ++i) {
    annudf_column one = {};
    one.size = sizeof one;
    detail::check(annudf_ivf_flat_column(of.c(), i, &one));
    all.push_back({one.name, one.dtype});
  }
  return all;
}

/// Adds columns to the rows that an index has, which keeps them through extend(), remove(), save()
/// and load(). If it fails the index is as before.
/// \param added  one array a column, with as many entries as there are rows.
/// \param ids    which row entry i is for, each id once; none: entry i is for id i.
/// \param of     the device whose memory ids or arrays are in; none: they are in host memory.
inline void add_columns(index &to, std::span<const capture_value> added, const row_ids &ids = {},
                        const backend &of = {}) {
  if (!ids.empty() && std::int64_t(ids.size()) != to.size())
    throw error(errc::usage, "ids has " + std::to_string(ids.size()) + " entries, the index has " +
                                 std::to_string(to.size()) + " rows; name each id once");
  const std::vector<annudf_capture_value> list = detail::to_c(added);
  const annudf_ids numbers = ids.c();
  detail::check(annudf_ivf_flat_add_columns(of.c(), to.c(), ids.empty() ? nullptr : &numbers,
                                            list.data(), list.size()));
}

/// The same of columns that are written in the call: add_columns(index, {{"age", ages}}).
inline void add_columns(index &to, std::initializer_list<capture_value> added,
                        const row_ids &ids = {}, const backend &of = {}) {
  add_columns(to, std::span<const capture_value>(added.begin(), added.size()), ids, of);
}

namespace impl {
inline void extended_with(index &to, annudf_backend *on, const annudf_vectors &rows,
                          std::span<const capture_value> columns, const row_ids &ids,
                          const extend_params &params) {
  check_ids(ids, rows); // Before owners are handed over.
  extended(to, on, rows, ids, params, detail::to_c(columns));
}
} // namespace impl

/// As extend() without them, with a value of each column of the index for each row. The first rows
/// of an index decide which columns it has.
template <std::convertible_to<std::span<const capture_value>> Columns> // So that {} is no columns.
void extend(index &to, const vectors &rows, const Columns &columns, const row_ids &ids = {},
            const extend_params &params = {}) {
  impl::extended_with(to, nullptr, rows.c(), columns, ids, params);
}
/// The same on a backend.
template <std::same_as<backend> Backend,
          std::convertible_to<std::span<const capture_value>> Columns>
void extend(index &to, const vectors &rows, const Columns &columns, const Backend &on,
            const row_ids &ids = {}, const extend_params &params = {}) {
  impl::extended_with(to, on.c(), rows.c(), columns, ids, params);
}
/// The same of rows in memory of a device.
template <std::convertible_to<std::span<const capture_value>> Columns>
void extend(index &to, const device_vectors &rows, const Columns &columns, const row_ids &ids = {},
            const extend_params &params = {}) {
  impl::extended_with(to, backend::shared(rows.device()).c(), rows.c(), columns, ids, params);
}

} // namespace ivf_flat
} // namespace v0
} // namespace annudf

#endif // ANNUDF_CPP_COLUMNS_HPP
