//===- Predicate.cu - A filter's code, for rows of probed lists -----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled to LTO-IR and linked with the code of a filter that sees the query. No metric is linked
// with it, so a filter is linked once for all metrics.
//
//===----------------------------------------------------------------------===//

#include "../common/Predicate.cuh"

/// Linked as the architecture has it (Overlap.cu).
extern "C" __device__ void annudf_wait_for_last();

extern "C" __global__ void __launch_bounds__(ANNUDF_SCAN_THREADS)
    annudf_filter_words(const __grid_constant__ annudf_predicate_args args) {
  annudf_wait_for_last();
  writeWords(args, [&](int64_t row, int query, int list) {
    return annudf1_filter_keep(static_cast<int>(args.index.dims), row, query, list,
                               args.slots.slot) != 0;
  });
}
