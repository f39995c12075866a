//===- LinkEstimate.h - Whether a search waits for its link ------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A search whose family is not linked yet may run another, whose link is shorter or done, while the
// first is linked in the background. Whether that pays is estimated here, from what was measured.
// Knows no CUDA header, so that it is tested where there is none.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CUDA_LINK_LINKESTIMATE_H
#define ANNUDF_RUNTIME_LIB_CUDA_LINK_LINKESTIMATE_H

#include "cuda/plan/Families.h"

#include <span>

namespace annudf::runtime::cuda {

/// What may run a search in the place of the planner's choice.
struct LinkCandidate {
  const CudaFamily *family;
  bool linked; ///< In memory or on disk.
};

/// Milliseconds that the scan of a search takes at most by `pairs`, or a family that costs less: as
/// if each pair read its list from the device's memory and then updated, one after the other.
/// Infinite where the machine does not tell its speed.
/// \param rows   that its queries scan, all together, at most.
/// \param slots  of issue that an update of the metric's takes (updateSlots).
double scanMsAtMost(const Workload &, const Machine &, double rows, double slots);

/// The candidate to run instead of waiting; null where waiting is better, or may be.
/// \param waitMs  what the links that are missing still take.
/// \param scanMs  of the search by a candidate, at most.
const CudaFamily *insteadOfWaiting(std::span<const LinkCandidate> candidates, double waitMs,
                                   double scanMs);

/// Whether the environment says nothing against it: ANNUDF_LINK_AHEAD is not 0.
bool linksAhead();

} // namespace annudf::runtime::cuda

#endif // ANNUDF_RUNTIME_LIB_CUDA_LINK_LINKESTIMATE_H
