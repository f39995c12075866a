//===- DevicePredicate.h - A predicate as batches compute it ----*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CUDA_SEARCH_DEVICEPREDICATE_H
#define ANNUDF_RUNTIME_LIB_CUDA_SEARCH_DEVICEPREDICATE_H

#include "LoadedScans.h"
#include "cuda/resident/DeviceCaptures.h"
#include "cuda/resident/DeviceFilters.h"

#include "annudf/runtime/engine/Predicate.h"

#include <memory>
#include <vector>

namespace annudf::runtime::cuda {

/// The predicate of a search, and its filter, on a device. Immutable.
struct DevicePredicate {
  /// A filter, or a join of two results.
  struct Step {
    bool isJoin = false;
    bool both = false;    ///< A join is of rows that pass both operands, and not either.
    bool negated = false; ///< A filter lets those pass that it leaves out.
    /// With its captures; null: `bits` says which rows pass.
    std::shared_ptr<const ScanKernel> code = {};
    std::shared_ptr<const DeviceCaptures> captures = {};
    bool rowsAreSlots = false; ///< As of annudf_scan_args, for the code.
    std::shared_ptr<const Buffer> bits = {};
    uint64_t bitsOfQuery = 0; ///< As of annudf_predicate_args.
  };
  std::vector<Step> steps; ///< In postfix order.
  uint64_t depth = 0;      ///< Most results at once.
};

/// What a backend has for it.
struct PredicateParts {
  LoadedScans &scans;
  CaptureCache &captures;
  FilterCache &filters;
};

/// Rows of `params.predicate` and `params.filter`; null where there is no predicate. Links code
/// that is not there, and adds what that cost to `stats`.
/// \pre checkPredicate() has looked at it.
std::shared_ptr<const DevicePredicate> predicateOf(const SearchParams &params,
                                                   const RowStore &index,
                                                   const PredicateParts &parts, SearchStats &stats);

} // namespace annudf::runtime::cuda

#endif // ANNUDF_RUNTIME_LIB_CUDA_SEARCH_DEVICEPREDICATE_H
