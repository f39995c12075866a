//===- Families.h - The kernel families of the CUDA backend -----*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Knows no CUDA header, so that its plans are tested where there is none.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CUDA_FAMILIES_H
#define ANNUDF_RUNTIME_LIB_CUDA_FAMILIES_H

#include "annudf/runtime/engine/Plan.h"

#include <span>

namespace annudf::runtime::cuda {

/// Queries that share one reading of a list in the family "tiles".
inline constexpr int kTileQueries = 8;

/// How the scan of a family is enqueued.
enum class ScanKind {
  Pairs, ///< A block reads a list for one query.
  Tiles  ///< Pairs are sorted by list; a block reads it for several queries.
};

/// Shared memory of a block that holds the coordinates of kTileQueries queries.
uint64_t tileBytes(const Workload &work);

class CudaFamily : public KernelFamily {
public:
  virtual ScanKind kind() const = 0;
};

/// All families; where they cost the same, the first is taken.
std::span<const CudaFamily *const> families();

/// choose() among them. \throws Error(Usage) when a vector does not fit a block of any.
struct CudaPlan {
  const CudaFamily *family;
  std::string why;
};
CudaPlan chooseFamily(const Workload &, const Machine &);

} // namespace annudf::runtime::cuda

#endif // ANNUDF_RUNTIME_LIB_CUDA_FAMILIES_H
