//===- BuildArgs.h - What the host knows of Build.cu ------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CUDA_BUILD_BUILDARGS_H
#define ANNUDF_KERNELS_CUDA_BUILD_BUILDARGS_H

#include "annudf/ABI/annudf_abi.h"

/// Rows, and lists, of a block's tile.
#define ANNUDF_BUILD_TILE 128
/// Dimensions of a stage: rows and centers are padded to as many.
#define ANNUDF_BUILD_DEPTH 16
/// Items of a block of the sort.
#define ANNUDF_BUILD_SORT_ITEMS 4096
/// Rows that one block adds up.
#define ANNUDF_BUILD_SUM_ROWS 256
/// Dimensions of a block of BuildMeans.cuh.
#define ANNUDF_BUILD_MEAN_DIMS 128

/// Most candidates of a query that a block finds the repeated ones of, and its threads.
#define ANNUDF_BUILD_CANDIDATES 4096
#define ANNUDF_BUILD_FEW_CANDIDATES 512
#define ANNUDF_BUILD_CANDIDATE_THREADS 128

/// No row has the id.
#define ANNUDF_NO_SLOT 0xFFFFFFFFu

/// Which row has an id, as SlotsOfIds.h says.
struct annudf_id_slots {
  uint64_t ids;   ///< const int64_t *, count, in order; 0: entry i belongs to id first + i.
  uint64_t slots; ///< const uint32_t *, count; 0: entry i is i.
  int64_t first;  ///< 0 or more.
  uint64_t count; ///< Fewer than 2^32 - 1 where entry i is i.
};

#endif // ANNUDF_KERNELS_CUDA_BUILD_BUILDARGS_H
