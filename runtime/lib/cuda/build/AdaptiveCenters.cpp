//===- AdaptiveCenters.cpp - Centers that follow their lists --------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AdaptiveCenters.h"

#include "annudf/runtime/support/Parallel.h"
#include "coarse/KMeans.h"

#include <algorithm>

namespace annudf::runtime::cuda {

namespace {

/// Centers of lists that have rows to length 1, as NewRows.cpp makes them.
void normaliseMoved(const std::vector<uint32_t> &sizes, const std::vector<uint32_t> &before,
                    int32_t dims, int threads, std::vector<float> &centers) {
  parallelFor(threads, int64_t(sizes.size()), [&](int64_t l, int) {
    const auto list = size_t(l);
    if (sizes[list] != 0 && (before.empty() || before[list] != sizes[list]))
      normaliseRows(centers.data() + l * dims, 1, dims);
  });
}

std::vector<uint32_t> fetched(uint64_t from, uint64_t count, CUstream stream) {
  std::vector<uint32_t> values(from ? count : 0);
  if (!values.empty())
    ANNUDF_CUDA(cuMemcpyDtoHAsync, values.data(), from, count * 4, stream);
  return values;
}

} // namespace

std::vector<float> moveCenters(const std::shared_ptr<const Context> &context,
                               const BuildKernels &kernels, const AdaptiveIndex &index,
                               DeviceIndex &lists, std::vector<float> centers, uint64_t before,
                               CUstream stream) {
  const annudf_device_index &args = lists.args();
  const bool scaled = index.metric == ANNUDF_COARSE_COSINE;
  const uint64_t bytes = centers.size() * 4, rows = lists.groups() * kGroupRows;
  const Buffer means(context, bytes), scales(context, scaled ? rows * sizeof(double) : 0);
  StreamLauncher launcher(*context, stream);
  ANNUDF_CUDA(cuMemcpyHtoDAsync, means.device(), centers.data(), bytes, stream);
  if (scaled)
    launcher.first(kernels.listScales, {blocksFor(rows)}, 256, 0, args.rows, lists.groups(),
                   args.chunks, args.dims, int(index.element), lists.fill(), scales.device());
  const uint64_t blocks = args.nLists * pieces(args.dims, ANNUDF_BUILD_MEAN_DIMS);
  launcher.first(kernels.listMeans, {std::min<uint64_t>(blocks, 1u << 20)}, ANNUDF_BUILD_MEAN_DIMS,
                 0, args.rows, args.listGroup, args.listSize, before, args.nLists, args.chunks,
                 args.dims, int(index.element), lists.fill(), scaled ? scales.device() : 0,
                 means.device());
  ANNUDF_CUDA(cuMemcpyDtoHAsync, centers.data(), means.device(), bytes, stream);
  const bool normalised = index.metric != ANNUDF_COARSE_L2;
  const std::vector<uint32_t> sizes = fetched(normalised ? args.listSize : 0, args.nLists, stream),
                              old = fetched(normalised ? before : 0, args.nLists, stream);
  ANNUDF_CUDA(cuStreamSynchronize, stream);
  if (normalised)
    normaliseMoved(sizes, old, int32_t(args.dims), index.threads, centers);
  lists.setCenters(centers, stream);
  ANNUDF_CUDA(cuStreamSynchronize, stream);
  return centers;
}

} // namespace annudf::runtime::cuda
