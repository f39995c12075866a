//===- IndexBuilder.h - Building an index where its rows are ----*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CUDA_BUILD_INDEXBUILDER_H
#define ANNUDF_RUNTIME_LIB_CUDA_BUILD_INDEXBUILDER_H

#include "BuildKernels.h"
#include "cuda/resident/DeviceIndex.h"

#include "annudf/runtime/cuda/Cuda.h"

#include <functional>
#include <mutex>
#include <span>

namespace annudf::runtime::cuda {

/// An index and its copy on the device, which is all that there is of its lists.
struct BuiltIndex {
  Index index;
  std::shared_ptr<DeviceIndex> copy; ///< Null where it has no rows, or has them on the host.
};

/// Builds for one backend. Thread-safe.
class IndexBuilder {
public:
  explicit IndexBuilder(std::shared_ptr<const Context> context) : context_(std::move(context)) {}
  /// The kernels of Build.cu, loaded once.
  std::shared_ptr<const BuildKernels> kernels() {
    loadKernels();
    return kernels_;
  }
  /// As CudaBackend::build. What it makes on the device holds the kernels for as long as the lists
  /// are nowhere else.
  BuiltIndex build(const IndexParams &params, const MatrixView &base, void *stream,
                   const Progress &progress, BuildStats &stats);
  /// As CudaBackend::buildFromHost.
  BuiltIndex buildFromHost(const IndexParams &params, const MatrixView &base, PinnedPieces &pieces,
                           const Progress &progress, BuildStats &stats);

  /// As CudaBackend::storeRows, of rows on the device and on the host.
  BuiltIndex rows(const MatrixView &rows, const RowsParams &params, void *stream,
                  BuildStats &stats);
  BuiltIndex rowsFromHost(const MatrixView &rows, const RowsParams &params, PinnedPieces &pieces,
                          BuildStats &stats);

  /// As CudaBackend::extend and extendFromHost.
  /// \param lists  \returns those of the index, which are on the device; called where they are.
  /// \returns those that it has now; null where they are on the host.
  using Lists = std::function<std::shared_ptr<const DeviceIndex>()>;
  std::shared_ptr<DeviceIndex> extend(Index &index, const MatrixView &rows, const NewIds &ids,
                                      void *stream, const Progress &progress, const Lists &lists);
  std::shared_ptr<DeviceIndex> extendFromHost(Index &index, const MatrixView &rows,
                                              const NewIds &ids, PinnedPieces &pieces,
                                              const Progress &progress, const Lists &lists);

  /// As CudaBackend::remove. \param lists  as of extend().
  struct Removed {
    int64_t rows;
    std::shared_ptr<DeviceIndex> copy; ///< The lists that it has now; null where none went, or as
                                       ///< of extend().
  };
  Removed remove(Index &index, std::span<const int64_t> ids, const Progress &progress,
                 const Lists &lists);

private:
  std::shared_ptr<DeviceIndex> extendThere(Index &index, const MatrixView &rows, const NewIds &ids,
                                           CUstream stream, const Progress &progress,
                                           const Lists &lists);
  void loadKernels() {
    std::call_once(once_, [&] { kernels_ = std::make_shared<const BuildKernels>(context_); });
  }
  /// \returns the parameters as they are then; loads the kernels.
  IndexParams prepared(const IndexParams &params, const MatrixView &base, BuildStats &stats);
  IndexParams preparedRows(const MatrixView &rows, const RowsParams &params, BuildStats &stats);
  BuiltIndex buildThere(const IndexParams &params, const MatrixView &base, CUstream stream,
                        const Progress &progress, BuildStats &stats);

  const std::shared_ptr<const Context> context_;
  std::once_flag once_;
  std::shared_ptr<const BuildKernels> kernels_; ///< Loaded by the first build.
};

} // namespace annudf::runtime::cuda

#endif // ANNUDF_RUNTIME_LIB_CUDA_BUILD_INDEXBUILDER_H
