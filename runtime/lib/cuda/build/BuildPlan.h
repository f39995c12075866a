//===- BuildPlan.h - How a build spends a device's memory -------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Knows no CUDA header, so that it is tested without.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CUDA_BUILD_BUILDPLAN_H
#define ANNUDF_RUNTIME_LIB_CUDA_BUILD_BUILDPLAN_H

#include "annudf/Support/Error.h"
#include "annudf/runtime/ivf_flat/Index.h"

#include <cstdint>
#include <string>

namespace annudf::runtime::cuda {

/// The facts about a build that decide how much memory it takes.
struct BuildShape {
  uint64_t rows = 0;
  annudf_element element = ANNUDF_ELEMENT_F32;
  int32_t dims = 0;
  uint32_t lists = 0;
  uint64_t sample = 0; ///< Rows that are trained on.
  bool addData = true;
  bool missingValues = false, adaptiveCenters = false;
  annudf_coarse metric = ANNUDF_COARSE_L2;

  uint64_t rowBytes() const;
  uint64_t stride() const; ///< Floats of a row where it finds its list.
  uint64_t padded() const; ///< Lists, to whole tiles.
};

/// Passes of the sort by lists.
int sortPasses(uint32_t lists);
/// Rows as floats that a build of rows on the device has room for: the sample, then pieces of all.
uint64_t rowsAsFloats(const BuildShape &shape);
/// Rows in host memory that go there at once, where memory allows.
uint64_t rowsOfPiece(const BuildShape &shape);

/// How rows in host memory come to be an index.
struct BuildPlan {
  enum class Way {
    Whole,       ///< All rows are copied, then built of as if they had been there.
    Pieces,      ///< They go there twice, a piece at a time; the lists are made there.
    ListsOnHost, ///< A piece at a time, to be told its lists, which are made on the host.
  };
  Way way = Way::Whole;
  uint64_t pieceRows = 0; ///< At most; all of them in one for Whole.
  uint64_t bytes = 0;     ///< The most device memory that it takes.
};

/// The first way that stays within `limit` bytes.
/// \param of    where the limit is from: "device_memory_limit".
/// \param kind  of the error that says what would be enough, where it is not.
BuildPlan planBuild(const BuildShape &shape, uint64_t limit, const std::string &of, ErrorKind kind);

} // namespace annudf::runtime::cuda

#endif // ANNUDF_RUNTIME_LIB_CUDA_BUILD_BUILDPLAN_H
