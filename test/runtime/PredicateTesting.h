//===- PredicateTesting.h - Predicates, and what they let pass --*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_RUNTIME_PREDICATETESTING_H
#define ANNUDF_TEST_RUNTIME_PREDICATETESTING_H

#include "FilterTesting.h"

#include "annudf/runtime/engine/Columns.h"
#include "annudf/runtime/engine/Predicate.h"

#include <functional>
#include <map>
#include <string>

namespace annudf::test {

/// Whether a query may find a row, as the test says.
using Passes = std::function<bool(int64_t query, int64_t id)>;

inline std::shared_ptr<const runtime::QueryBitmap> bitmapOf(int64_t queries, int64_t bits,
                                                            const Passes &passes) {
  std::vector<uint32_t> words(size_t(runtime::RowFilter::wordsFor(queries * bits)));
  for (int64_t q = 0; q < queries; ++q)
    for (int64_t id = 0; id < bits; ++id)
      if (const int64_t bit = q * bits + id; passes(q, id))
        words[size_t(bit / 32)] |= uint32_t(1) << bit % 32;
  return std::make_shared<const runtime::QueryBitmap>(std::move(words), queries, bits);
}

inline std::shared_ptr<const runtime::Predicate>
predicateOf(std::vector<runtime::Predicate::Step> steps) {
  return std::make_shared<const runtime::Predicate>(std::move(steps));
}

inline runtime::CaptureValue valueOf(const std::vector<int32_t> &values) {
  runtime::CaptureValue value;
  value.dtype = "i32", value.shape = {int64_t(values.size())}, value.origin = "the test";
  value.data = values.data(), value.bytes = values.size() * sizeof(int32_t);
  return value;
}

/// Binds the captures of sameTenant(). \param tenant  of each row; null: a column.
inline runtime::Predicate::Code codeOf(std::shared_ptr<const runtime::Metric> filter,
                                       const runtime::CaptureExtents &extents,
                                       const std::vector<int32_t> *tenant,
                                       const std::vector<int32_t> &mine,
                                       const runtime::ColumnTypes &columns = {}) {
  std::map<std::string, runtime::CaptureValue> values = {{"mine", valueOf(mine)}};
  if (tenant)
    values["tenant"] = valueOf(*tenant);
  auto bound = std::make_shared<const runtime::BoundCaptures>(runtime::BoundCaptures::bindViews(
      filter->artifact.manifest, extents, values, false, &columns));
  return {std::move(filter), std::move(bound)};
}

} // namespace annudf::test

#endif // ANNUDF_TEST_RUNTIME_PREDICATETESTING_H
