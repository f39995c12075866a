//===- Batch.h - How many queries are searched together ------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CPU_BATCH_H
#define ANNUDF_RUNTIME_LIB_CPU_BATCH_H

#include "TopK.h"

#include <algorithm>
#include <cstdint>

namespace annudf::runtime::cpu {

/// Memory that one batch of queries may take, unless a single query needs more.
inline constexpr int64_t kBatchBytes = int64_t(64) << 20;
inline constexpr int64_t kMaxBatch = 8192;

/// \param rows        of the index.
/// \param queryBytes  of a query's coordinates.
inline int64_t queriesPerBatch(int k, int64_t rows, uint32_t nProbes, int64_t queryBytes) {
  // A pair of query and list: list, query twice, and where its coordinates and integers are.
  constexpr int64_t kPairBytes = 3 * sizeof(int32_t) + 2 * sizeof(void *);
  const int64_t bytes = TopK::bytesPerQuery(k, rows) + kPairBytes * nProbes + queryBytes;
  return std::clamp<int64_t>(kBatchBytes / bytes, 1, kMaxBatch);
}

} // namespace annudf::runtime::cpu

#endif // ANNUDF_RUNTIME_LIB_CPU_BATCH_H
