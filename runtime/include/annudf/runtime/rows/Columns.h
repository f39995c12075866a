//===- Columns.h - Named values of the rows of a store ----------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_ROWS_COLUMNS_H
#define ANNUDF_RUNTIME_ROWS_COLUMNS_H

#include "annudf/ABI/annudf_abi.h"

#include <cstddef>
#include <string>
#include <vector>

namespace annudf::runtime {

/// Most columns of a store.
inline constexpr size_t kMaxColumns = ANNUDF_MAX_CAPTURES;

/// A value of every row. A capture of that name and of extent `row` reads it.
struct Column {
  std::string name;
  annudf_capture_element element = ANNUDF_CAPTURE_F32;
  bool operator==(const Column &) const = default;
};

/// Values of columns, one for each row of a call, in the order of its rows.
struct NewColumns {
  struct Values {
    Column column;
    std::vector<std::byte> bytes; ///< Elements in C order; of I1 bytes that are 0 or 1.
  };
  std::vector<Values> values; ///< Sorted by name, each once.
  bool empty() const { return values.empty(); }
  const Values *find(const std::string &name) const;
};

/// Bytes of a value.
size_t bytesOf(annudf_capture_element element);

/// "age (f32), price (f64)"; "no columns" where there are none.
std::string columnText(const std::vector<Column> &columns);
/// The column of that name; null if there is none.
const Column *findColumn(const std::vector<Column> &columns, const std::string &name);

/// Checks that columns of new rows are those of a store, each of its type, and have a value for
/// each of `rows` rows.
/// \throws Error(Input) naming the column.
void checkColumns(const std::vector<Column> &expected, const NewColumns &given, int64_t rows);

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_ROWS_COLUMNS_H
