//===- LinkEstimate.cpp - Whether a search waits for its link --------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LinkEstimate.h"

#include "annudf/runtime/support/Settings.h"

#include <limits>
#include <string_view>

namespace annudf::runtime::cuda {

namespace {

/// The share of the memory's peak that `pairs` reaches: 4.2 of 4.9 TB/s on an H200, batch 10
/// (docs/results/reasons.md, "Scans by pairs").
constexpr double kShareOfMemory = 0.85;
/// Lanes of a processor from sm_90 on.
constexpr double kLanes = 128;
/// Issue slots for each update of `pairs` beside the hook: L2 on u8, batch 10,000, 19.7 ms for 58 G
/// updates of two instructions on 132 processors at 1.98 GHz are 11.3 in all (the same page).
constexpr double kSlotsOfUpdate = 10;
/// The share of the saving that a search may lose: links take half as long on one host as on
/// another, and the families' times are of a slow one (docs/results/links.md).
constexpr double kShareOfSaved = 0.5;

} // namespace

double scanMsAtMost(const Workload &work, const Machine &machine, double rows, double slots) {
  if (machine.memoryBytesPerMs <= 0 || machine.clocksPerMs <= 0)
    return std::numeric_limits<double>::infinity();
  const double updates = rows * work.dims;
  return rows * work.rowBytes / (kShareOfMemory * machine.memoryBytesPerMs) +
         updates * (kSlotsOfUpdate + slots) / (kLanes * machine.processors * machine.clocksPerMs);
}

const CudaFamily *insteadOfWaiting(std::span<const LinkCandidate> candidates, double waitMs,
                                   double scanMs) {
  const CudaFamily *best = nullptr;
  double most = 0;
  for (const LinkCandidate &candidate : candidates) {
    const double saved = waitMs - (candidate.linked ? 0 : candidate.family->linkMs());
    if (candidate.family->isExact() && scanMs < kShareOfSaved * saved && saved > most)
      best = candidate.family, most = saved;
  }
  return best;
}

bool linksAhead() { return settingOf("ANNUDF_LINK_AHEAD", {"0", "1"}) != "0"; }

} // namespace annudf::runtime::cuda
