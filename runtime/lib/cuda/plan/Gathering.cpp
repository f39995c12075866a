//===- Gathering.cpp - When rows that pass a filter are scanned alone -----===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Gathering.h"

#include "annudf/runtime/support/Settings.h"

#include <algorithm>
#include <cmath>

namespace annudf::runtime::cuda {

std::optional<Workload> worthGathering(std::span<const KernelFamily *const> families,
                                       const Workload &work, const Machine &machine, bool isMade) {
  const std::string_view asked = settingOf("ANNUDF_GATHER", {"0", "1"});
  if (asked == "0" || work.pass >= 1 || work.lists == 0)
    return std::nullopt;
  constexpr double kIdBytes = 8;
  const double ofRow = double(work.rowBytes) + kIdBytes, passing = double(work.rows) * work.pass;
  if (machine.workspaceBytes != 0 && passing * ofRow > double(machine.workspaceBytes))
    return std::nullopt;
  const Workload one = gatheredWork(work, std::llround(passing));
  const double alone = leastCost(families, one, machine);
  if (!std::isfinite(alone) || (asked != "1" && machine.memoryBytesPerMs == 0))
    return std::nullopt;
  if (asked == "1")
    return one;
  // Estimates, in ms: what two waits for the device take, and the fewest rows.
  constexpr double kWaits = 0.05, kLeast = 0.02;
  const auto msOf = [&](double bytes) { return bytes / machine.memoryBytesPerMs; };
  // All ids are read; rows that pass are read, written and read again.
  const double making =
      isMade ? 0 : kWaits + msOf(double(work.rows) * kIdBytes + 3 * passing * ofRow);
  const double ofList = msOf(double(work.rows) * work.rowBytes) / work.lists;
  const bool isWorth = making + kLeast + alone * msOf(passing * work.rowBytes) <
                       leastCost(families, work, machine) * ofList;
  return isWorth ? std::optional(one) : std::nullopt;
}

} // namespace annudf::runtime::cuda
