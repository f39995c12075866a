//===- DeviceIndex.h - An index in device memory ----------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CUDA_RESIDENT_DEVICEINDEX_H
#define ANNUDF_RUNTIME_LIB_CUDA_RESIDENT_DEVICEINDEX_H

#include "cuda/driver/PinnedPieces.h"
#include "kernels/cuda/common/ScanArgs.h"

#include "annudf/runtime/rows/RowStore.h"

#include <memory>
#include <vector>

namespace annudf::runtime::cuda {

/// Lists without their rows.
struct ListShape {
  std::vector<uint32_t> sizes; ///< Rows of each.
  int32_t dims, words;
  const std::vector<float> &centers, &fill; ///< As of ListCenters.
  bool areRanked = true;                    ///< Whether there are centers.
};

/// What lists of a shape take of a device's memory.
struct IndexBytes {
  explicit IndexBytes(const ListShape &shape);
  uint64_t all() const { return rows + ids + starts + sizes + centers + norms + fill; }

  uint64_t groups = 0;     ///< Groups of all lists; not bytes.
  uint64_t rows, ids;      ///< Those of whole groups.
  uint64_t starts, sizes;  ///< A number a list.
  uint64_t centers, norms; ///< Centers are padded to 16 bytes: the coarse stage reads float4.
  uint64_t fill;
};

/// Candidates of callers: a list for each query, whose rows are elsewhere (Candidates.cuh).
struct CandidateShape {
  uint32_t lists;
  uint64_t groups; ///< A list's.
  uint32_t dims, chunks;
  uint64_t rows;                              ///< Where they are.
  uint32_t layout;                            ///< ANNUDF_ROWS_*, but not in groups of these lists.
  uint64_t ids, numbers, listGroup, listSize; ///< As of annudf_device_index.
};

/// Owned by the index, as an attachment.
class DeviceIndex : public IndexAttachment {
public:
  /// Room for the lists; rows() and ids() have yet to be written.
  /// \param stream  what else is there is written on it, and must be waited for.
  /// \throws Error(Usage) for more rows than a search can number.
  DeviceIndex(const ListShape &shape, const std::shared_ptr<const Context> &context,
              CUstream stream);
  /// Copies the index and regroups its lists to 16 bytes a lane. Returns when done.
  /// \param search  the module of Search.cu.
  /// \throws Error(Interrupted) where `progress`, which is told of "upload", says so.
  DeviceIndex(const RowStore &index, const std::shared_ptr<const Context> &context,
              const Module &search, PinnedPieces &pieces, const Progress &progress);

  /// \param memory  what the shape's addresses are in.
  DeviceIndex(const CandidateShape &shape, std::vector<std::shared_ptr<const void>> memory);

  /// Others in their place, before anybody searches; as the shape's of the constructor.
  void setCenters(const std::vector<float> &centers, CUstream stream);

  const annudf_device_index &args() const { return args_; }
  /// Most groups that any `nProbes` lists hold together.
  uint64_t mostGroups(uint32_t nProbes) const { return largest_[nProbes]; }
  /// const float *, dims: what a coordinate of a query that is NaN counts as where lists are
  /// ranked; 0 where there are none.
  uint64_t fill() const { return fill_ ? fill_->device() : 0; }
  double uploadMs() const { return uploadMs_; }
  uint64_t groups() const { return largest_.back(); }
  /// Device memory that it takes.
  uint64_t bytes() const;

private:
  DeviceIndex(const RowStore &index, const std::shared_ptr<const Context> &context,
              const Module &search, PinnedPieces &pieces, const Progress &progress,
              const OwnStream &stream);

  annudf_device_index args_ = {};
  std::unique_ptr<Buffer> rows_, ids_, listGroup_, listSize_, centers_, norms_, fill_;
  std::vector<std::shared_ptr<const void>> memory_; ///< What lists of candidates are in.
  std::vector<uint64_t> largest_; ///< Prefix sums of groups, largest list first.
  double uploadMs_ = 0;
};

} // namespace annudf::runtime::cuda

#endif // ANNUDF_RUNTIME_LIB_CUDA_RESIDENT_DEVICEINDEX_H
