//===- RadiusPipeline.cpp - The kernels that end a radius search ----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Pipeline.h"

#include <algorithm>

namespace annudf::runtime::cuda {

namespace {

/// Blocks that share a query's groups, where queries alone do not fill the machine.
uint64_t blocksOf(const BatchShape &shape, int processors) {
  constexpr uint64_t kGroupsOfBlock = ANNUDF_WITHIN_THREADS * ANNUDF_WITHIN_AHEAD * 4;
  constexpr uint64_t kPerProcessor = 6;
  const uint64_t places = uint64_t(processors) * kPerProcessor;
  return std::clamp<uint64_t>(places / std::max<uint64_t>(shape.queries, 1), 1,
                              std::max<uint64_t>(1, shape.groups / kGroupsOfBlock));
}

} // namespace

uint64_t Pipeline::blocksWithin(uint64_t count) const {
  return blocksOf(shapeOf(count), context.processors());
}

void Pipeline::enqueueRows(const annudf_scan_args &args, const BatchShape &shape, CUfunction kernel,
                           Launcher &launcher, const annudf_within &to, uint64_t queries,
                           uint64_t evaluated, bool isFirst) const {
  const Grid grid = {queries, blocksOf(shape, context.processors())};
  const auto launch = [&](CUfunction function, uint64_t sharedBytes, const auto &last) {
    const auto bytes = static_cast<unsigned>(sharedBytes);
    isFirst ? launcher.first(function, grid, ANNUDF_WITHIN_THREADS, bytes, last)
            : launcher.next(function, grid, ANNUDF_WITHIN_THREADS, bytes, last);
  };
  if (shape.tiling.endsInHooks()) {
    const annudf_within_args last = {survivorsOf(args, evaluated), to};
    launch(kernel, (args.index.dims + 3) / 4 * 16 + ANNUDF_WITHIN_SHARED_BYTES, last);
    return;
  }
  annudf_radius_args last = {};
  last.finish.index = args.index, last.finish.work = args.work;
  last.finish.order = order;
  last.to = to;
  launch(kernels.within, 0, last);
}

void Pipeline::enqueueWithin(const FamilyKernels &linked, Workspace &workspace, Launcher &launcher,
                             uint64_t queryData, uint64_t count, int64_t base,
                             const annudf_within &to, uint64_t queries) const {
  const BatchShape shape = shapeOf(count);
  annudf_scan_args args = argsOf(workspace, shape, queryData, base);
  args.nan = 0;
  enqueueRows(args, shape, linked.last(), launcher, to, queries, 0, true);
}

} // namespace annudf::runtime::cuda
