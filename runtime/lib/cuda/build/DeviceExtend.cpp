//===- DeviceExtend.cpp - Adding rows to lists on a device ----------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AdaptiveCenters.h"
#include "ListsBuilder.h"
#include "ListsOnDevice.h"
#include "annudf/Support/ArgumentError.h"
#include "annudf/runtime/coarse/Coarse.h"
#include "cuda/driver/CallerMemory.h"
#include "ivf_flat/NewRows.h"

#include <algorithm>
#include <limits>
#include <span>

namespace annudf::runtime::cuda {

namespace {

NaNs nansOf(const Index &index) { return index.missingValues() ? NaNs::Missing : NaNs::Refused; }

/// One extend. What it makes is beside the lists that there are, which searches may still read.
class Extender {
public:
  /// \param rows  on the device.
  Extender(const std::shared_ptr<const Context> &context,
           const std::shared_ptr<const BuildKernels> &kernels, const Index &index,
           const DeviceIndex &old, const MatrixView &rows, CUstream stream)
      : context_(context), kept_(kernels), kernels_(*kernels), index_(index), old_(old.args()),
        rows_(rows), data_(reinterpret_cast<uint64_t>(rows.data)), count_(uint64_t(rows.rows)),
        bytes_(uint32_t(bytesOfRow(rows.element, rows.dims))), stream_(stream),
        launcher_(*context, stream),
        shape_{count_, rows.element, rows.dims, index.nLists(), 0, true} {}

  void checkFinite();
  void checkIds(const int64_t *ids);
  std::shared_ptr<DeviceIndex> add(const int64_t *ids, const Progress &progress);
  /// The list of each new row, after add(); empty unless the index has columns.
  const std::vector<uint32_t> &assigned() const { return assigned_; }
  /// Centers after add(); empty where they have not moved.
  std::vector<float> centers() { return std::move(centers_); }
  std::shared_ptr<ListsOnDevice> lists(std::shared_ptr<const DeviceIndex> copy) {
    return std::make_shared<ListsOnDevice>(context_, kept_, std::move(copy), std::move(sizes_),
                                           index_.threads());
  }

private:
  void assign(uint64_t lists, const Progress &progress);

  const std::shared_ptr<const Context> context_;
  const std::shared_ptr<const BuildKernels> kept_;
  const BuildKernels &kernels_;
  const Index &index_;
  const annudf_device_index &old_;
  const MatrixView &rows_;
  const uint64_t data_, count_;
  const uint32_t bytes_;
  const CUstream stream_;
  StreamLauncher launcher_;
  const BuildShape shape_;
  std::vector<uint32_t> sizes_, assigned_;
  std::vector<float> centers_;
};

void Extender::checkFinite() {
  const NaNs nans = nansOf(index_);
  if (const auto found = firstNotFinite(context_, kernels_, rows_, nans, stream_))
    runtime::checkFinite({found->bytes.data(), 1, rows_.dims, rows_.element}, "rows to add", 1,
                         nans, found->row);
}

void Extender::checkIds(const int64_t *ids) {
  // Those of the index alone come here, and only where one of them may be among the new.
  std::vector<int64_t> all;
  refuseRepeatedIds(index_.largestId(), ids, rows_.rows, index_.threads(), [&] {
    uint32_t groups = 0;
    ANNUDF_CUDA(cuMemcpyDtoH, &groups, old_.listGroup + uint64_t(old_.nLists) * 4, 4);
    all.resize(uint64_t(groups) * kGroupRows);
    ANNUDF_CUDA(cuMemcpyDtoH, all.data(), old_.ids, all.size() * 8);
    return std::vector<std::span<const int64_t>>{all};
  });
}

/// As CoarseRanker::assign, to the bit where the host has fused multiply-add.
void Extender::assign(uint64_t lists, const Progress &progress) {
  const AssignBy by = AssignBy::of(index_.metric());
  const bool l2 = by.metric == ANNUDF_COARSE_L2;
  Assigner assigner(context_, kernels_, shape_, l2, stream_);
  assigner.load(CoarseRanker(*index_.listCenters(), by.metric, by.order));
  assigner.setFill(index_.fill());
  const uint64_t piece = rowsAsFloats(shape_);
  const Buffer floats(context_, piece * assigner.stride() * 4);
  for (uint64_t first = 0; first < count_; first += piece) {
    report(progress, "add", double(first) / double(count_));
    const uint64_t count = std::min(piece, count_ - first);
    assigner.convert(data_ + first * bytes_, 0, 0, count, floats.device(), rows_.element,
                     uint32_t(rows_.dims), l2);
    assigner.assign(floats.device(), count, lists + first * 4);
  }
  ANNUDF_CUDA(cuStreamSynchronize, stream_);
}

std::shared_ptr<DeviceIndex> Extender::add(const int64_t *ids, const Progress &progress) {
  const uint32_t lists = index_.nLists();
  SortedRows sorted(context_, kernels_, count_, lists, stream_);
  if (lists > 1)
    assign(sorted.keys(), progress);
  else
    ANNUDF_CUDA(cuMemsetD8Async, sorted.keys(), 0, count_ * 4, stream_);
  if (!index_.columns().empty()) { // Which are on the host. The sort, which waits, moves the keys.
    assigned_.resize(count_);
    ANNUDF_CUDA(cuMemcpyDtoHAsync, assigned_.data(), sorted.keys(), count_ * 4, stream_);
  }
  const uint32_t *starts = sorted.sort();
  sizes_.resize(lists);
  ANNUDF_CUDA(cuMemcpyDtoH, sizes_.data(), old_.listSize, sizes_.size() * 4);
  for (uint32_t l = 0; l < lists; ++l)
    sizes_[l] += starts[l + 1] - starts[l];
  auto made = std::make_shared<DeviceIndex>(
      ListShape{sizes_, rows_.dims, index_.words(), index_.centers(), index_.fill()}, context_,
      stream_);
  Buffer newIds(context_, ids ? count_ * 8 : 8);
  if (ids)
    ANNUDF_CUDA(cuMemcpyHtoDAsync, newIds.device(), ids, count_ * 8, stream_);
  const annudf_device_index &args = made->args();
  launcher_.first(kernels_.append, {made->groups()}, 128, 0, data_, bytes_,
                  alignmentOfRows(data_, bytes_), sorted.order(), sorted.starts(),
                  ids ? newIds.device() : uint64_t(0), index_.rowExtent(), old_.rows, old_.ids,
                  old_.listGroup, old_.listSize, args.listGroup, lists, args.chunks, args.rows,
                  args.ids);
  if (index_.adaptiveCenters())
    centers_ =
        moveCenters(context_, kernels_, {index_.element(), index_.metric(), index_.threads()},
                    *made, index_.centers(), 0, stream_);
  ANNUDF_CUDA(cuStreamSynchronize, stream_);
  report(progress, "add", 1); // The last chance to stop.
  return made;
}

} // namespace

std::shared_ptr<DeviceIndex> IndexBuilder::extendThere(Index &index, const MatrixView &rows,
                                                       const NewIds &ids, CUstream stream,
                                                       const Progress &progress,
                                                       const Lists &lists) {
  if (rows.rows > std::numeric_limits<uint32_t>::max())
    throw ArgumentError(
        ErrorKind::Usage, {"rows to add"},
        ": " + std::to_string(rows.rows) +
            " at once; the CUDA backend takes fewer than 4294967296, so extend in parts");
  loadKernels();
  const std::shared_ptr<const DeviceIndex> old = lists();
  Extender extender(context_, kernels_, index, *old, rows, stream);
  extender.checkFinite();
  if (ids.ids && !ids.allowRepeated)
    extender.checkIds(ids.ids);
  std::shared_ptr<DeviceIndex> made = extender.add(ids.ids, progress);
  const int64_t largest =
      ids.ids ? *std::max_element(ids.ids, ids.ids + rows.rows) : index.rowExtent() + rows.rows - 1;
  index.changeTo(extender.lists(made), index.size() + rows.rows,
                 std::max(index.largestId(), largest), extender.centers(),
                 index.columnsAfter(ids, extender.assigned()));
  return made;
}

std::shared_ptr<DeviceIndex> IndexBuilder::extend(Index &index, const MatrixView &rows,
                                                  const NewIds &ids, void *stream,
                                                  const Progress &progress, const Lists &lists) {
  index.checkNewRows(rows, ids);
  ContextScope scope(*context_);
  const auto bytes = uint64_t(rows.rows * bytesOfRow(rows.element, rows.dims));
  const uint64_t data = reinterpret_cast<uint64_t>(rows.data);
  checkDeviceMemory(*context_, data, bytes, alignmentOf(rows.element), "rows");
  const CUstream on = checkStream(*context_, stream);
  if (index.device() == context_->device())
    return extendThere(index, rows, ids, on, progress, lists);
  std::vector<std::byte> copy(bytes);
  ANNUDF_CUDA(cuMemcpyDtoHAsync, copy.data(), data, bytes, on);
  ANNUDF_CUDA(cuStreamSynchronize, on);
  index.extend({copy.data(), rows.rows, rows.dims, rows.element}, ids, progress);
  return nullptr;
}

std::shared_ptr<DeviceIndex> IndexBuilder::extendFromHost(Index &index, const MatrixView &rows,
                                                          const NewIds &ids, PinnedPieces &pieces,
                                                          const Progress &progress,
                                                          const Lists &lists) {
  if (index.device() != context_->device()) {
    index.extend(rows, ids, progress);
    return nullptr;
  }
  index.checkNewRows(rows, ids);
  checkFinite(rows, "rows to add", index.threads(), nansOf(index));
  ContextScope scope(*context_);
  const OwnStream stream(context_);
  const Buffer there(context_, uint64_t(rows.rows * bytesOfRow(rows.element, rows.dims)));
  sendRows(pieces, rows, there.device(), stream.get(), partOf(progress, 0, 0), "add");
  return extendThere(
      index, {reinterpret_cast<const void *>(there.device()), rows.rows, rows.dims, rows.element},
      ids, stream.get(), progress, lists);
}

} // namespace annudf::runtime::cuda
