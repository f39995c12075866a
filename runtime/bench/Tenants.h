//===- Tenants.h - Each query has its tenant's rows -------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_BENCH_TENANTS_H
#define ANNUDF_BENCH_TENANTS_H

#include "Mixture.h"

#include "annudf/runtime/engine/Columns.h"
#include "annudf/runtime/engine/Predicate.h"
#include "annudf/runtime/ivf_flat/Index.h"

#include <cmath>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace annudf::bench {

/// Tenants at random: a query and a row are of one tenant in a share of all pairs.
class Tenants {
public:
  /// \param filter  an artifact whose captures, of one row or one query each, get the numbers of
  /// tenants in i32; "": bits of each query and row.
  Tenants(const std::string &filter, int64_t rows, int32_t dims) : rows(rows), dims(dims) {
    if (!filter.empty())
      code = std::make_shared<const runtime::Metric>(runtime::Metric::fromFile(filter));
  }

  /// The filter of a search of so many queries; made once for each number of them.
  std::shared_ptr<const runtime::Predicate> of(int64_t queries, double share) {
    std::shared_ptr<const runtime::Predicate> &made = all[{queries, share}];
    if (!made) {
      const int64_t tenants = std::llround(1 / share);
      made = std::make_shared<const runtime::Predicate>(std::vector<runtime::Predicate::Step>{
          code ? codeOf(queries, tenants) : bitsOf(queries, tenants)});
    }
    return made;
  }

  /// Makes the tenants of rows a column of the index, for searches with that share alone.
  void addTo(runtime::Index &index, double share) {
    const std::vector<int32_t> ofRows = tenantsOf(kRowSeed, rows, std::llround(1 / share));
    for (const CaptureInfo &capture : code->artifact.manifest.captures)
      if (runtime::hasExtent({capture}, ExtentBound::Rows))
        index.addColumns(runtime::newColumns({{capture.name, valueOf(ofRows)}}));
    columns = runtime::columnTypes(index);
  }

private:
  static int32_t tenantOf(uint64_t seed, int64_t of, uint64_t tenants) {
    return static_cast<int32_t>(mix(seed + static_cast<uint64_t>(of)) % tenants);
  }

  static std::vector<int32_t> tenantsOf(uint64_t seed, int64_t count, int64_t tenants) {
    std::vector<int32_t> all;
    for (int64_t i = 0; i < count; ++i)
      all.push_back(tenantOf(seed, i, static_cast<uint64_t>(tenants)));
    return all;
  }

  runtime::Predicate::Step codeOf(int64_t queries, int64_t tenants) {
    const Manifest &manifest = code->artifact.manifest;
    std::map<std::string, runtime::CaptureValue> values;
    for (const CaptureInfo &capture : manifest.captures) {
      const bool isOfRows = runtime::hasExtent({capture}, ExtentBound::Rows);
      if (isOfRows && !columns.empty())
        continue;
      bound.push_back(isOfRows ? tenantsOf(kRowSeed, rows, tenants)
                               : tenantsOf(kQuerySeed, queries, tenants));
      values[capture.name] = valueOf(bound.back());
    }
    const int64_t ofRows = columns.empty() ? rows : 0;
    return runtime::Predicate::Code{
        code, std::make_shared<const runtime::BoundCaptures>(runtime::BoundCaptures::bindViews(
                  manifest, {dims, ofRows, queries}, values, false, &columns))};
  }

  static runtime::CaptureValue valueOf(const std::vector<int32_t> &tenants) {
    runtime::CaptureValue value;
    value.dtype = "i32", value.shape = {int64_t(tenants.size())}, value.origin = "generated";
    value.data = tenants.data(), value.bytes = tenants.size() * sizeof(int32_t);
    return value;
  }

  runtime::Predicate::Step bitsOf(int64_t queries, int64_t tenants) const {
    std::vector<uint32_t> words(static_cast<size_t>(runtime::RowFilter::wordsFor(queries * rows)));
    const std::vector<int32_t> ofRow = tenantsOf(kRowSeed, rows, tenants);
    for (int64_t query = 0, bit = 0; query < queries; ++query) {
      const int32_t own = tenantOf(kQuerySeed, query, static_cast<uint64_t>(tenants));
      for (int64_t row = 0; row < rows; ++row, ++bit)
        words[static_cast<size_t>(bit / 32)] |= uint32_t(ofRow[static_cast<size_t>(row)] == own)
                                                << (bit % 32);
    }
    return std::make_shared<const runtime::QueryBitmap>(std::move(words), queries, rows);
  }

  static constexpr uint64_t kRowSeed = 5, kQuerySeed = uint64_t(1) << 40;
  const int64_t rows;
  const int32_t dims;
  std::shared_ptr<const runtime::Metric> code;
  std::list<std::vector<int32_t>> bound; ///< What captures read.
  runtime::ColumnTypes columns;          ///< Columns of the index; none: tenants of rows are bound.
  std::map<std::pair<int64_t, double>, std::shared_ptr<const runtime::Predicate>> all;
};

} // namespace annudf::bench

#endif // ANNUDF_BENCH_TENANTS_H
