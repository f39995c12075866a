//===- Gathering.h - When a CPU scans the rows alone that pass --*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A group with one row that passes takes as long as a full one. Rows that pass, gathered, fill
// their groups.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CPU_GATHERING_H
#define ANNUDF_RUNTIME_LIB_CPU_GATHERING_H

#include "annudf/runtime/engine/Plan.h"
#include "annudf/runtime/engine/SearchRows.h"
#include "annudf/runtime/support/Settings.h"

#include <cmath>
#include <span>

namespace annudf::runtime::cpu {

/// Whether the scan of the rows alone that pass takes less time than that of their lists, as costs
/// say, or ANNUDF_GATHER=1 does.
/// \param work  of a search of all lists with a filter of all queries.
inline bool isWorthGathering(std::span<const KernelFamily *const> families, const Workload &work,
                             const Machine &machine) {
  const std::string_view asked = settingOf("ANNUDF_GATHER", {"0", "1"});
  const double passing = double(work.rows) * work.pass;
  if (asked == "0" || work.pass >= 1 ||
      passing * work.rowBytes > double(RowPieces::kBytes)) // One thread gathers.
    return false;
  const double alone = leastCost(families, gatheredWork(work, std::llround(passing)), machine);
  if (asked == "1")
    return std::isfinite(alone);
  // In rows times coordinates, which all threads compute: to look at an id, and to copy a row, each
  // coordinate of which is in a cache line of its own; as measured.
  constexpr double kId = 12, kCopied = 70, kFound = 250;
  const double gathering =
      machine.processors * (double(work.rows) * kId + passing * (kFound + kCopied * work.dims));
  return alone + gathering < leastCost(families, work, machine);
}

} // namespace annudf::runtime::cpu

#endif // ANNUDF_RUNTIME_LIB_CPU_GATHERING_H
