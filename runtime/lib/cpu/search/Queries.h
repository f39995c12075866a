//===- Queries.h - Queries in a metric's compute type --------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CPU_SEARCH_QUERIES_H
#define ANNUDF_RUNTIME_LIB_CPU_SEARCH_QUERIES_H

#include "annudf/runtime/vectors/Matrix.h"

#include <cstdint>
#include <vector>

namespace annudf::runtime::cpu {

/// Queries as the hooks take them, converted once for all the lists that they probe.
class QueryCoordinates {
public:
  /// \param queries  of an element type that `compute` can hold.
  QueryCoordinates(const MatrixView &queries, annudf_compute compute);
  /// The coordinates of query `i`, each of the compute type's bits.
  const void *row(int64_t i) const { return words_.data() + i * stride_; }

  /// Elements that are integers, each as a word of its own; null for others.
  const uint32_t *integers(int64_t i) const {
    return integers_.empty() ? nullptr : integers_.data() + i * dims_;
  }

  /// Memory that a query of `dims` coordinates takes.
  static int64_t bytes(int32_t dims, annudf_element element, annudf_compute compute);

private:
  static int64_t words(int32_t dims, annudf_compute compute);

  int64_t dims_, stride_;
  std::vector<uint32_t> words_, integers_;
};

} // namespace annudf::runtime::cpu

#endif // ANNUDF_RUNTIME_LIB_CPU_SEARCH_QUERIES_H
