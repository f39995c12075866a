//===- RankArgs.h - What the host passes to annudf_rank_candidates -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CUDA_COMMON_RANKARGS_H
#define ANNUDF_KERNELS_CUDA_COMMON_RANKARGS_H

#include "ScanArgs.h"

/// Most candidates of a query that one block ranks.
#define ANNUDF_RANK_MOST 512
#define ANNUDF_RANK_THREADS 64
/// Chunks of a row that a warp brings to shared memory at once: a power of two.
#define ANNUDF_RANK_LEAST_CHUNKS 4
#define ANNUDF_RANK_MOST_CHUNKS 16
/// Shared memory of a block behind its query: so many rows a warp, each a chunk longer, so that
/// lanes that read a chunk of their rows use different banks; then ids and keys.
#define ANNUDF_RANK_BYTES(ROWS, CHUNKS, PLACES)                                                    \
  (ANNUDF_RANK_THREADS / 32 * (ROWS) * ((CHUNKS) + 1) * 16 + (PLACES) * 12)

struct annudf_rank_args {
  annudf_scan_args scan; ///< Nothing of work is read; the layout is not in groups.
  uint64_t outIds;       ///< int64_t *, Q * k.
  uint64_t outDistances; ///< float *, Q * k.
  uint32_t firstList;    ///< That of the first query; the others' follow.
  uint32_t k;
  uint32_t places; ///< Rows of a list at most: whole groups, ANNUDF_RANK_MOST at most.
  uint32_t rows;   ///< That a warp brings at once, 8 to 32.
  uint32_t chunks; ///< Each row's.
};

#endif // ANNUDF_KERNELS_CUDA_COMMON_RANKARGS_H
