//===- Columns.cpp - Named values of the rows of a store ------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/rows/Columns.h"

#include "annudf/Artifact/Descriptor.h"
#include "annudf/Support/Error.h"

#include <algorithm>

namespace annudf::runtime {

size_t bytesOf(annudf_capture_element element) {
  return (static_cast<size_t>(bitsOf(element)) + 7) / 8;
}

const NewColumns::Values *NewColumns::find(const std::string &name) const {
  const auto found = std::find_if(values.begin(), values.end(),
                                  [&](const Values &one) { return one.column.name == name; });
  return found == values.end() ? nullptr : &*found;
}

const Column *findColumn(const std::vector<Column> &columns, const std::string &name) {
  const auto found = std::find_if(columns.begin(), columns.end(),
                                  [&](const Column &one) { return one.name == name; });
  return found == columns.end() ? nullptr : &*found;
}

std::string columnText(const std::vector<Column> &columns) {
  std::string text;
  for (const Column &one : columns)
    text += (text.empty() ? "" : ", ") + one.name + " (" + toString(one.element) + ")";
  return text.empty() ? "no columns" : text;
}

void checkColumns(const std::vector<Column> &expected, const NewColumns &given, int64_t rows) {
  const auto refuse = [](const std::string &what) { throw Error(ErrorKind::Input, what); };
  for (const Column &one : expected) {
    const NewColumns::Values *values = given.find(one.name);
    if (!values)
      refuse("column '" + one.name + "' (" + toString(one.element) +
             ") of the index has no values for the new rows; give one per row in the columns of "
             "extend, such as columns={'" +
             one.name + "': values}");
    if (values->column.element != one.element)
      refuse("column '" + one.name + "' is " + toString(values->column.element) +
             ", in the index it is " + toString(one.element) + "; convert it first");
  }
  for (const NewColumns::Values &one : given.values) {
    if (!findColumn(expected, one.column.name))
      refuse("column '" + one.column.name + "' is not in the index, which has " +
             columnText(expected));
    if (one.bytes.size() != static_cast<size_t>(rows) * bytesOf(one.column.element))
      refuse("column '" + one.column.name + "' has " +
             std::to_string(one.bytes.size() / bytesOf(one.column.element)) + " values for " +
             std::to_string(rows) + " rows; give one a row");
  }
}

} // namespace annudf::runtime
