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

#include "annudf/runtime/engine/Predicate.h"

#include <cmath>
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
      const auto tenants = static_cast<uint64_t>(std::llround(1 / share));
      made = std::make_shared<const runtime::Predicate>(std::vector<runtime::Predicate::Step>{
          code ? codeOf(queries, tenants) : bitsOf(queries, tenants)});
    }
    return made;
  }

private:
  static int32_t tenantOf(uint64_t seed, int64_t of, uint64_t tenants) {
    return static_cast<int32_t>(mix(seed + static_cast<uint64_t>(of)) % tenants);
  }

  runtime::Predicate::Step codeOf(int64_t queries, uint64_t tenants) const {
    const Manifest &manifest = code->artifact.manifest;
    std::map<std::string, runtime::NumericArray> values;
    for (const CaptureInfo &capture : manifest.captures) {
      const bool isOfRows = runtime::hasExtent({capture}, ExtentBound::Rows);
      const int64_t count = isOfRows ? rows : queries;
      runtime::NumericArray array{"i32", {count}, {}, "generated"};
      array.storage.resize(static_cast<size_t>(count) * sizeof(int32_t));
      for (int64_t i = 0; i < count; ++i) {
        const int32_t tenant = tenantOf(isOfRows ? kRowSeed : kQuerySeed, i, tenants);
        std::memcpy(&array.storage[static_cast<size_t>(i) * sizeof tenant], &tenant, sizeof tenant);
      }
      values[capture.name] = std::move(array);
    }
    return runtime::Predicate::Code{
        code, std::make_shared<const runtime::BoundCaptures>(
                  runtime::BoundCaptures::bind(manifest, {dims, rows, queries}, values))};
  }

  runtime::Predicate::Step bitsOf(int64_t queries, uint64_t tenants) const {
    std::vector<uint32_t> words(static_cast<size_t>(runtime::RowFilter::wordsFor(queries * rows)));
    std::vector<int32_t> ofRow;
    for (int64_t row = 0; row < rows; ++row)
      ofRow.push_back(tenantOf(kRowSeed, row, tenants));
    for (int64_t query = 0, bit = 0; query < queries; ++query) {
      const int32_t own = tenantOf(kQuerySeed, query, tenants);
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
  std::map<std::pair<int64_t, double>, std::shared_ptr<const runtime::Predicate>> all;
};

} // namespace annudf::bench

#endif // ANNUDF_BENCH_TENANTS_H
