//===- DeviceRemove.cpp - Removing rows of lists on a device --------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AdaptiveCenters.h"
#include "IndexBuilder.h"
#include "ListsOnDevice.h"
#include "ivf_flat/NewRows.h"

#include <algorithm>
#include <numeric>

namespace annudf::runtime::cuda {

namespace {

/// One remove. What it makes is beside the lists that there are, which searches may still read.
class Remover {
public:
  Remover(const std::shared_ptr<const Context> &context,
          const std::shared_ptr<const BuildKernels> &kernels, const Index &index,
          const DeviceIndex &old)
      : context_(context), kept_(kernels), kernels_(*kernels), index_(index), old_(old.args()),
        groups_(uint32_t(old.groups())), stream_(context), launcher_(*context, stream_.get()),
        stay_(context, uint64_t(groups_) * 4), before_(context, (uint64_t(groups_) + 1) * 4) {}

  /// Finds out what stays.
  void mark(std::span<const int64_t> ids);
  int64_t left() const { return std::accumulate(sizes_.begin(), sizes_.end(), int64_t(0)); }
  int64_t largestId() const { return largestId_; }
  /// The lists of what stays, which is some.
  std::shared_ptr<DeviceIndex> move();
  /// Centers of those lists; empty where they have not moved.
  std::vector<float> centers() { return std::move(centers_); }
  std::shared_ptr<ListsOnDevice> lists(std::shared_ptr<const DeviceIndex> copy) {
    return std::make_shared<ListsOnDevice>(context_, kept_, std::move(copy), std::move(sizes_),
                                           index_.threads());
  }

private:
  const std::shared_ptr<const Context> context_;
  const std::shared_ptr<const BuildKernels> kept_;
  const BuildKernels &kernels_;
  const Index &index_;
  const annudf_device_index &old_;
  const uint32_t groups_;
  const OwnStream stream_; // Before the memory: it goes after all on it is done.
  StreamLauncher launcher_;
  /// uint32_t *: of each group the rows that stay, a bit each, and how many stay of those before
  /// it.
  const Buffer stay_, before_;
  std::vector<uint32_t> sizes_; ///< The lists' sizes, then.
  std::vector<float> centers_;
  int64_t largestId_ = -1;
};

void Remover::mark(std::span<const int64_t> ids) {
  const CUstream stream = stream_.get();
  const int64_t largest = index_.largestId();
  // As on the host: a bit for each id is quicker than to sort them.
  const bool asBits = largest / 64 <= index_.size();
  const uint64_t words = asBits ? uint64_t(largest / 64) + 1 : 0;
  const Buffer bits(context_, words * 8), gone(context_, ids.size() * 8), extent(context_, 8),
      sizes(context_, uint64_t(old_.nLists) * 4);
  std::vector<int64_t> sorted;
  if (!asBits) {
    sorted.assign(ids.begin(), ids.end());
    std::sort(sorted.begin(), sorted.end());
    ids = sorted;
  }
  ANNUDF_CUDA(cuMemcpyHtoDAsync, gone.device(), ids.data(), ids.size() * 8, stream);
  if (asBits) {
    ANNUDF_CUDA(cuMemsetD8Async, bits.device(), 0, words * 8, stream);
    launcher_.first(kernels_.flag, {blocksFor(ids.size())}, 256, 0, gone.device(),
                    uint64_t(ids.size()), largest, bits.device());
  }
  ANNUDF_CUDA(cuMemsetD8Async, extent.device(), 0, 8, stream);
  ANNUDF_CUDA(cuMemsetD8Async, before_.device() + uint64_t(groups_) * 4, 0, 4, stream);
  // Not more blocks, as each of their warps has a word for the largest id.
  launcher_.first(kernels_.mark, {std::min<uint64_t>(blocksFor(uint64_t(groups_) * 32), 4096)}, 256,
                  0, old_.ids, groups_, asBits ? bits.device() : uint64_t(0), gone.device(),
                  uint64_t(ids.size()), stay_.device(), before_.device(), extent.device());
  launcher_.first(kernels_.prefix, {1}, 1024, 0, before_.device(), uint64_t(groups_) + 1);
  launcher_.first(kernels_.sizes, {blocksFor(old_.nLists)}, 256, 0, before_.device(),
                  old_.listGroup, old_.nLists, sizes.device());
  uint64_t above = 0;
  sizes_.resize(old_.nLists);
  ANNUDF_CUDA(cuMemcpyDtoHAsync, &above, extent.device(), 8, stream);
  ANNUDF_CUDA(cuMemcpyDtoHAsync, sizes_.data(), sizes.device(), sizes.size(), stream);
  ANNUDF_CUDA(cuStreamSynchronize, stream);
  largestId_ = int64_t(above - 1);
}

std::shared_ptr<DeviceIndex> Remover::move() {
  auto made = std::make_shared<DeviceIndex>(
      ListShape{sizes_, index_.dims(), index_.words(), index_.centers(), index_.fill()}, context_,
      stream_.get());
  const annudf_device_index &args = made->args();
  launcher_.first(kernels_.move, {made->groups()}, 128, 0, old_.rows, old_.ids, old_.listGroup,
                  stay_.device(), before_.device(), args.listGroup, args.nLists, args.chunks,
                  args.rows, args.ids);
  if (index_.adaptiveCenters())
    centers_ =
        moveCenters(context_, kernels_, {index_.element(), index_.metric(), index_.threads()},
                    *made, index_.centers(), old_.listSize, stream_.get());
  ANNUDF_CUDA(cuStreamSynchronize, stream_.get());
  return made;
}

} // namespace

IndexBuilder::Removed IndexBuilder::remove(Index &index, std::span<const int64_t> ids,
                                           const Progress &progress, const Lists &lists) {
  if (index.device() != context_->device())
    return {index.remove(ids, progress), nullptr};
  checkIds(ids);
  report(progress, "remove", 0);
  ContextScope scope(*context_);
  loadKernels();
  try {
    const std::shared_ptr<const DeviceIndex> old = lists();
    Remover remover(context_, kernels_, index, *old);
    if (!ids.empty())
      remover.mark(ids);
    const int64_t size = index.size(), left = ids.empty() ? size : remover.left();
    std::shared_ptr<DeviceIndex> made;
    if (left != size && left != 0)
      made = remover.move();
    std::vector<ListColumns> columns;
    if (left != size)
      columns = index.columnsWithout(ids);
    report(progress, "remove", 1); // The last chance to stop.
    if (left != size)
      index.changeTo(made ? remover.lists(made) : nullptr, left, remover.largestId(),
                     remover.centers(), std::move(columns));
    return {size - left, made};
  } catch (const Error &error) {
    if (error.kind() != ErrorKind::Environment)
      throw;
  }
  return {index.remove(ids, progress), nullptr}; // There is too little memory for both.
}

} // namespace annudf::runtime::cuda
