//===- Gathering.h - When rows that pass a filter are scanned alone *- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where every list is scanned and few rows pass, queries are brought to each list for a row or
// none. The rows that pass, copied into one list, are then quicker to scan. Knows no CUDA header.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CUDA_PLAN_GATHERING_H
#define ANNUDF_RUNTIME_LIB_CUDA_PLAN_GATHERING_H

#include "annudf/runtime/engine/Plan.h"

#include <optional>
#include <span>

namespace annudf::runtime::cuda {

/// The search of the rows alone that pass, where it takes less time than that of their lists, as
/// costs say, or where ANNUDF_GATHER=1 says so; nothing where it does not.
/// \param work  of a search of all lists with a filter of all queries.
/// \param isMade  whether these rows are gathered already.
std::optional<Workload> worthGathering(std::span<const KernelFamily *const> families,
                                       const Workload &work, const Machine &machine, bool isMade);

} // namespace annudf::runtime::cuda

#endif // ANNUDF_RUNTIME_LIB_CUDA_PLAN_GATHERING_H
