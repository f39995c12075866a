//===- RadiusPipeline.cpp - The kernels that end a radius search ----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Pipeline.h"

#include "kernels/cuda/common/RadiusArgs.h"

#include <algorithm>

namespace annudf::runtime::cuda {

namespace {

constexpr unsigned kThreads = 256;

/// Blocks that share a query's groups, of which each takes some for every thread.
uint64_t blocksOf(const BatchShape &shape) {
  constexpr uint64_t kGroupsOfBlock = kThreads * 8, kMost = 1024;
  return std::clamp<uint64_t>(shape.groups / kGroupsOfBlock, 1, kMost);
}

} // namespace

void Pipeline::enqueueCounts(const annudf_finish_args &args, const BatchShape &shape, Launcher &to,
                             uint64_t counts) const {
  annudf_radius_args within = {};
  within.finish = args;
  within.counts = counts, within.radius = *radius;
  to.next(kernels.countWithin, {shape.queries, blocksOf(shape)}, kThreads, 0, within);
}

void Pipeline::enqueueWithin(Workspace &workspace, Launcher &to, uint64_t count,
                             const WithinPlaces &places) const {
  const BatchShape shape = shapeOf(count);
  annudf_radius_args within = {};
  within.finish.index = index.args();
  within.finish.work = workspace.prepare(shape); // Where the scan has left its keys.
  within.finish.outIds = places.ids, within.finish.outDistances = places.distances;
  within.finish.order = order;
  within.counts = places.counts, within.starts = places.starts;
  within.radius = *radius, within.first = static_cast<uint32_t>(places.first);
  to.first(kernels.fillWithin, {places.queries, blocksOf(shape)}, kThreads, 0, within);
}

} // namespace annudf::runtime::cuda
