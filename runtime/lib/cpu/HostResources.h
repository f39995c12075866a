//===- HostResources.h - What one search finds on the host ------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CPU_HOSTRESOURCES_H
#define ANNUDF_RUNTIME_LIB_CPU_HOSTRESOURCES_H

#include "cpu/products/ProductScan.h"

#include "annudf/runtime/engine/Search.h"

#include <optional>

namespace annudf::runtime::cpu {

/// Batches, the form bound to captures, and rows that are kept.
class HostResources final : public Resources {
public:
  struct Search {
    const RowStore &index;
    const MetricView &metric;
    const BoundCaptures &captures;
    annudf_element queries;
    int32_t firstQuery;
    const ScanKernel &kernel;
    const uint64_t *slots;
    Machine machine;
  };
  explicit HostResources(const Search &search) : search_(search) {}

  int64_t batchOf(const KernelFamily &, const Workload &work) override;
  Admission admit(const KernelFamily &family, Workload &work) override;
  /// What multiplies matrices, where the plan says so; else null.
  ProductScan *matrix() { return matrix_ ? &*matrix_ : nullptr; }

private:
  const Search search_;
  std::optional<ProductScan> matrix_;
};

} // namespace annudf::runtime::cpu

#endif // ANNUDF_RUNTIME_LIB_CPU_HOSTRESOURCES_H
