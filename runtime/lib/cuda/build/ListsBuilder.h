//===- ListsBuilder.h - One build on a device -------------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CUDA_BUILD_LISTSBUILDER_H
#define ANNUDF_RUNTIME_LIB_CUDA_BUILD_LISTSBUILDER_H

#include "BuildKernels.h"
#include "IndexBuilder.h"
#include "coarse/Balance.h"
#include "coarse/KMeans.h"

#include <functional>

namespace annudf::runtime::cuda {

/// The shape of a build with these parameters.
BuildShape shapeOf(const IndexParams &params, const MatrixView &base);

/// A part of a stage's progress. `progress` must live as long.
Progress partOf(const Progress &progress, double from, double share);

/// The way for rows in host memory, and how many go at once.
struct FromHost {
  PinnedPieces &pieces;
  BuildPlan plan;
};

/// One build, from rows to lists.
class ListsBuilder {
public:
  /// \param fromHost  null where the base is on the device.
  ListsBuilder(const std::shared_ptr<const Context> &context,
               const std::shared_ptr<const BuildKernels> &kernels, const IndexParams &params,
               const MatrixView &base, const FromHost *fromHost, CUstream stream,
               const Progress &progress)
      : context_(context), kept_(kernels), kernels_(*kernels), params_(params), base_(base),
        fromHost_(fromHost), stream_(stream), launcher_(*context, stream), progress_(progress),
        rows_(uint64_t(base.rows)), lists_(params.nLists), dims_(uint32_t(base.dims)),
        bytes_(uint32_t(bytesOfRow(base.element, base.dims))),
        l2_(AssignBy::of(params.metric).metric == ANNUDF_COARSE_L2),
        by_(context, *kernels, shapeOf(params, base), l2_, stream),
        stride_(uint32_t(by_.stride())) {}

  void checkFinite();
  std::vector<float> train();
  BuiltIndex add(std::vector<float> centers);

private:
  /// What stands for missing values.
  void findFill();
  void sample(const std::vector<uint32_t> &chosen);
  /// Sums of segments of rows, to their means.
  void average(uint64_t rows, uint64_t order, uint64_t starts, const uint32_t *startsOnHost,
               uint32_t segments, uint64_t to);
  void start(const Buffer &sample, uint64_t rows, Random &random);
  /// After a round: centers of small lists go to large ones.
  void balance(Balance &balance, uint32_t round, const uint32_t *starts);
  /// Rows in host memory, a piece at a time: `use` enqueues what reads `count` of them at raw_.
  void send(uint64_t count, const PinnedPieces::Fill &fill,
            const std::function<void(uint64_t first, uint64_t count)> &use,
            const Progress &progress, const char *stage);
  /// The same of all rows, whose lists are chosen.
  void assignAll(const Progress &progress,
                 const std::function<void(uint64_t first, uint64_t count)> &use);
  std::vector<uint32_t> listsOfRows();
  void place(SortedRows &sorted, const DeviceIndex &to);

  const std::shared_ptr<const Context> context_;
  const std::shared_ptr<const BuildKernels> kept_;
  const BuildKernels &kernels_;
  const IndexParams &params_;
  const MatrixView &base_;
  const FromHost *const fromHost_;
  const CUstream stream_;
  StreamLauncher launcher_;
  const Progress &progress_;
  const uint64_t rows_;
  const uint32_t lists_, dims_, bytes_;
  const bool l2_;
  /// For L2 less the origin, amid the rows, from which squares are taken.
  Assigner by_;
  const uint32_t stride_;
  std::vector<float> fill_;        ///< For each dimension; empty where no value is missing.
  std::unique_ptr<Buffer> floats_; ///< Rows as floats.
  std::unique_ptr<Buffer> raw_;    ///< Rows that come from the host, as they are.
  std::unique_ptr<Buffer> sums_, chunks_;
  std::unique_ptr<Buffer> pinned_; ///< Centers on the host.
};

} // namespace annudf::runtime::cuda

#endif // ANNUDF_RUNTIME_LIB_CUDA_BUILD_LISTSBUILDER_H
