//===- BuildKernels.h - What a build does on a device -----------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CUDA_BUILD_BUILDKERNELS_H
#define ANNUDF_RUNTIME_LIB_CUDA_BUILD_BUILDKERNELS_H

#include "BuildPlan.h"
#include "annudf/runtime/coarse/Coarse.h"
#include "cuda/driver/Launcher.h"
#include "kernels/cuda/build/BuildArgs.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

namespace annudf::runtime::cuda {

/// Build.cu, loaded.
struct BuildKernels {
  explicit BuildKernels(std::shared_ptr<const Context> context);
  Module module;
  CUfunction finite, convert, normalise, biases, assign, count, prefix, scatter, bounds, sums,
      means, pack, places, place, append, ungroup, flag, mark, markPassing, sizes, move, present,
      listScales, listMeans, candidates, fewCandidates, gather;
};

inline uint64_t pieces(uint64_t count, uint64_t size) { return (count + size - 1) / size; }

/// For kernels that go through a grid of any size.
inline uint64_t blocksFor(uint64_t threads) {
  return std::clamp<uint64_t>(pieces(threads, 256), 1, 1u << 16);
}

/// As Build.cu takes it.
inline int alignmentOfRows(uint64_t data, uint64_t bytes) {
  return (data | bytes) % 16 == 0 ? 16 : (data | bytes) % 4 == 0 ? 4 : 1;
}

/// For rows on the device, what Missing.h says of rows on the host, to the bit.
std::vector<float> meansOfPresent(const std::shared_ptr<const Context> &context,
                                  const BuildKernels &kernels, const MatrixView &rows,
                                  CUstream stream);

/// The first row on the device with a coordinate that is not finite, or that is infinite where NaN
/// is a missing value.
struct NotFinite {
  int64_t row;
  std::vector<std::byte> bytes; ///< It, here.
};
std::optional<NotFinite> firstNotFinite(const std::shared_ptr<const Context> &context,
                                        const BuildKernels &kernels, const MatrixView &rows,
                                        NaNs nans, CUstream stream);

/// Rows by their lists, as a stable sort leaves them.
class SortedRows {
public:
  SortedRows(const std::shared_ptr<const Context> &context, const BuildKernels &kernels,
             uint64_t rows, uint32_t lists, CUstream stream)
      : kernels_(kernels), rows_(uint32_t(rows)), lists_(lists), stream_(stream),
        launcher_(*context, stream), passes_(sortPasses(lists)), keys_(context, rows * 4),
        otherKeys_(context, passes_ ? rows * 4 : 4), order_(context, passes_ ? rows * 4 : 4),
        otherOrder_(context, passes_ ? rows * 4 : 4),
        counts_(context, 256 * pieces(rows, ANNUDF_BUILD_SORT_ITEMS) * 4),
        starts_(context, (uint64_t(lists) + 1) * 4),
        pinned_(context, (uint64_t(lists) + 1) * 4, Buffer::Kind::Pinned) {}

  /// uint32_t *: to be filled with the list of each row.
  uint64_t keys() const { return keys_.device(); }
  /// Waits for the stream. \returns lists + 1: where each begins.
  const uint32_t *sort();
  /// 0 where there is one list: rows are in their order.
  uint64_t order() const { return passes_ ? (passes_ % 2 ? order_ : otherOrder_).device() : 0; }
  uint64_t starts() const { return starts_.device(); }
  /// uint32_t *: the place of each row in that order; after sort(). 0 where there is one list.
  uint64_t places();

private:
  const BuildKernels &kernels_;
  uint32_t rows_, lists_;
  CUstream stream_;
  StreamLauncher launcher_;
  int passes_;
  Buffer keys_, otherKeys_, order_, otherOrder_, counts_, starts_, pinned_;
};

/// Centers, by which rows find their list.
class Assigner {
public:
  /// Room for as many as the shape has lists; less() is yet to be written where l2.
  Assigner(const std::shared_ptr<const Context> &context, const BuildKernels &kernels,
           const BuildShape &shape, bool l2, CUstream stream);

  uint64_t stride() const { return stride_; }
  /// float *, lists x stride().
  const Buffer &centers() const { return centers_; }
  /// float *, stride(): what rows and centers are less of; zeros where it is another metric than
  /// L2.
  const Buffer &origin() const { return origin_; }

  /// The centers as the host assigns rows by them, so that rows find the lists that they find
  /// there.
  void load(const CoarseRanker &ranker);
  /// What stands for missing values in rows that are converted from now on; nothing where empty.
  void setFill(const std::vector<float> &fill);

  /// Rows as floats, padded to stride().
  /// \param from   rows of `element` and so many dims; may be `to` where they are floats already.
  /// \param chosen uint32_t *, which rows; 0: from `first` on.
  void convert(uint64_t from, uint64_t chosen, uint64_t first, uint64_t count, uint64_t to,
               annudf_element element, uint32_t dims, bool lessOrigin);
  void normalise(uint64_t rows, uint64_t count);
  /// The lists of rows that convert() made, by the centers as they are.
  void assign(uint64_t rows, uint64_t count, uint64_t lists);

private:
  const BuildKernels &kernels_;
  StreamLauncher launcher_;
  const uint32_t lists_, stride_, padded_;
  const bool l2_;
  bool loaded_ = false;
  const CUstream stream_;
  const Buffer centers_, biases_, origin_, fill_;
  bool fills_ = false;
};

} // namespace annudf::runtime::cuda

#endif // ANNUDF_RUNTIME_LIB_CUDA_BUILD_BUILDKERNELS_H
