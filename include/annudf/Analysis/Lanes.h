//===- Lanes.h - Whether a metric is a sum that may be packed -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two elements of 8 bits make 65,536 pairs, so nothing of how an update is written has to be
// recognised: it is computed for all of them, and what it adds is compared with each term of
// ANNUDF_PACKED_TERMS. Whatever is not understood (an op, a capture, an index, a value that is
// rounded) is no proof. The module must have been verified.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_ANALYSIS_LANES_H
#define ANNUDF_ANALYSIS_LANES_H

#include "annudf/Artifact/Descriptor.h"
#include "annudf/Dialect/IR/Annudf.h"

#include <optional>
#include <string>

namespace annudf {

struct LaneProof {
  std::optional<PackedSum> sum;
  /// Why there is none, beginning with a small letter; of the first element that is no lane.
  std::string why;
};
LaneProof proveLanes(ir::MetricOp metric);

} // namespace annudf

#endif // ANNUDF_ANALYSIS_LANES_H
