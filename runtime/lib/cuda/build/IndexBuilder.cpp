//===- IndexBuilder.cpp - Building an index where its rows are ------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IndexBuilder.h"

#include "ListsBuilder.h"
#include "annudf/Support/ArgumentError.h"
#include "annudf/runtime/support/Clock.h"
#include "cuda/driver/CallerMemory.h"
#include "ivf_flat/NewIndex.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace annudf::runtime::cuda {

namespace {

/// What is the same wherever the rows are.
BuiltIndex finish(ListsBuilder &builder, const MatrixView &base,
                  std::chrono::steady_clock::time_point start, BuildStats &stats) {
  std::vector<float> centers = builder.train();
  checkCenters(centers, base.dims);
  stats.trainMs = msSince(start);
  start = std::chrono::steady_clock::now();
  BuiltIndex built = builder.add(std::move(centers));
  stats.addMs = msSince(start);
  stats.listsOnDevice = built.copy != nullptr;
  return built;
}

/// Coordinates in host memory, some at a time, so that it can be stopped.
void checkOnHost(const MatrixView &base, const IndexParams &params, const Progress &progress) {
  const int64_t bytes = bytesOfRow(base.element, base.dims);
  const int64_t piece = std::max<int64_t>(1, (int64_t(1) << 30) / bytes);
  for (int64_t first = 0; first < base.rows; first += piece) {
    report(progress, "train", 0);
    checkBase({static_cast<const std::byte *>(base.data) + first * bytes,
               std::min(piece, base.rows - first), base.dims, base.element},
              params, first);
  }
}

} // namespace

IndexParams IndexBuilder::prepared(const IndexParams &given, const MatrixView &base,
                                   BuildStats &stats) {
  stats = {};
  IndexParams params = checkedParams(given, base);
  if (base.rows > std::numeric_limits<uint32_t>::max())
    throw ArgumentError(ErrorKind::Usage, {"base"},
                        ": it has " + std::to_string(base.rows) +
                            " rows; the CUDA backend takes fewer than 4294967296");
  loadKernels();
  return params;
}

BuiltIndex IndexBuilder::build(const IndexParams &given, const MatrixView &base, void *stream,
                               const Progress &progress, BuildStats &stats) {
  if (given.deviceMemoryLimit != 0)
    throw Error(ErrorKind::Usage,
                "device_memory_limit is for rows in host memory; the base is on the device");
  ContextScope scope(*context_);
  const IndexParams params = prepared(given, base, stats);
  checkDeviceMemory(*context_, reinterpret_cast<uint64_t>(base.data),
                    uint64_t(base.rows * bytesOfRow(base.element, base.dims)),
                    alignmentOf(base.element), "base");
  const CUstream on = checkStream(*context_, stream);
  return buildThere(params, base, on, progress, stats);
}

BuiltIndex IndexBuilder::buildThere(const IndexParams &params, const MatrixView &base,
                                    CUstream stream, const Progress &progress, BuildStats &stats) {
  auto start = std::chrono::steady_clock::now();
  ListsBuilder builder(context_, kernels_, params, base, nullptr, stream, progress);
  builder.checkFinite();
  checkEnough(base, params.nLists);
  return finish(builder, base, start, stats);
}

BuiltIndex IndexBuilder::buildFromHost(const IndexParams &given, const MatrixView &base,
                                       PinnedPieces &pieces, const Progress &progress,
                                       BuildStats &stats) {
  ContextScope scope(*context_);
  IndexParams params = prepared(given, base, stats);
  const uint64_t asked = std::exchange(params.deviceMemoryLimit, 0);
  auto start = std::chrono::steady_clock::now();
  checkEnough(base, params.nLists);
  size_t free = 0, total = 0;
  ANNUDF_CUDA(cuMemGetInfo, &free, &total);
  const BuildPlan plan =
      planBuild(shapeOf(params, base), asked ? asked : free / 10 * 9,
                asked ? "device_memory_limit" : "nine tenths of the free GPU memory",
                asked ? ErrorKind::Usage : ErrorKind::Environment);
  stats.deviceBytes = plan.bytes;
  const OwnStream stream(context_);
  const auto bytes = uint64_t(bytesOfRow(base.element, base.dims));
  stats.pieces = int64_t(cuda::pieces(uint64_t(base.rows), plan.pieceRows));
  if (plan.way == BuildPlan::Way::Whole) {
    const Buffer rows(context_, uint64_t(base.rows) * bytes);
    sendRows(pieces, base, rows.device(), stream.get(), partOf(progress, 0, 0), "train");
    stats.copyMs = msSince(start);
    return buildThere(
        params, {reinterpret_cast<const void *>(rows.device()), base.rows, base.dims, base.element},
        stream.get(), progress, stats);
  }
  checkOnHost(base, params, progress);
  const FromHost from = {pieces, plan};
  ListsBuilder builder(context_, kernels_, params, base, &from, stream.get(), progress);
  return finish(builder, base, start, stats);
}

} // namespace annudf::runtime::cuda
