//===- Passes.cuh - Which rows a search may find -------------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CUDA_COMMON_PASSES_CUH
#define ANNUDF_KERNELS_CUDA_COMMON_PASSES_CUH

#include "ScanArgs.h"

#include <cstdint>

namespace {

/// Whether a row may be found at all: one that exists, and that the search's filter lets pass.
__device__ __forceinline__ bool passes(const annudf_scan_args &args, bool exists, int64_t row) {
  if (args.filter == 0)
    return exists;
  const uint32_t word = __ldg(reinterpret_cast<const uint32_t *>(args.filter) + row / 32);
  return exists && (word >> (row % 32) & 1);
}

/// The rows of a group that a query may find. \param place  the group's in the workspace.
/// \pre args.work.passing != 0
__device__ __forceinline__ uint32_t passingAt(const annudf_workspace &work, uint64_t place) {
  return reinterpret_cast<const uint32_t *>(work.passing)[place];
}

/// Whether the query of the place may find a row of that group which exists and passes the filter.
__device__ __forceinline__ bool isFor(const annudf_workspace &work, uint64_t place, uint32_t row) {
  return work.passing == 0 || (passingAt(work, place) >> row & 1);
}

} // namespace

#endif // ANNUDF_KERNELS_CUDA_COMMON_PASSES_CUH
