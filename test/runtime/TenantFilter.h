//===- TenantFilter.h - A filter that sees the query ------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_RUNTIME_TENANTFILTER_H
#define ANNUDF_TEST_RUNTIME_TENANTFILTER_H

#include "runtime/cpu/TestMetrics.h"

#include <map>
#include <utility>
#include <vector>

namespace annudf::test {

/// Rows whose tenant is that of the query: captures "tenant" of rows and "mine" of queries.
inline Artifact ownTenant(std::string bitcode) {
  Artifact artifact = evenRows(std::move(bitcode));
  Manifest &m = artifact.manifest;
  m.name = "own_tenant";
  m.captures = {{"tenant", ANNUDF_CAPTURE_I32, {{ANNUDF_EXTENT_ROW, 0}}},
                {"mine", ANNUDF_CAPTURE_I32, {{ANNUDF_EXTENT_QUERY, 0}}}};
  m.rowOnlyIndexes = true;
  // A compiler that marks such filters needs the mark.
  [](auto &manifest) {
    if constexpr (requires { manifest.seesQuery; })
      manifest.seesQuery = true;
  }(m);
  m.requiredFeatures = featuresOf(m);
  m.abiMinor = minorOf(m);
  return artifact;
}

/// \param tenant  of each row; empty: the column of that name of the index.
inline runtime::BoundCaptures bindTenants(const runtime::Metric &filter, int32_t dims,
                                          const std::vector<int32_t> &tenant,
                                          const std::vector<int32_t> &mine,
                                          const runtime::ColumnTypes *columns = nullptr) {
  std::map<std::string, runtime::CaptureValue> values;
  const auto give = [&](const char *name, const std::vector<int32_t> &from) {
    runtime::CaptureValue value;
    value.dtype = "i32", value.shape = {int64_t(from.size())}, value.origin = "test";
    value.data = from.data(), value.bytes = from.size() * sizeof(int32_t);
    values[name] = value;
  };
  if (!tenant.empty())
    give("tenant", tenant);
  give("mine", mine);
  return runtime::BoundCaptures::bindViews(filter.artifact.manifest,
                                           {dims, int64_t(tenant.size()), int64_t(mine.size())},
                                           values, false, columns);
}

} // namespace annudf::test

#endif // ANNUDF_TEST_RUNTIME_TENANTFILTER_H
