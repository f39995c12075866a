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

#endif // ANNUDF_KERNELS_CUDA_BUILD_BUILDARGS_H
