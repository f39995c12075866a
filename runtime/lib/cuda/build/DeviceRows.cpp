//===- DeviceRows.cpp - Rows on a device, to be searched exactly ----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One list of all rows, made on the device: no k-means, no sort, and no copy on the host. Rows on
// the device are read twice, once to look at their coordinates and once to put them in groups; rows
// on the host go there a piece at a time, straight to their groups.
//
//===----------------------------------------------------------------------===//

#include "IndexBuilder.h"

#include "ListsOnDevice.h"
#include "annudf/Support/ArgumentError.h"
#include "annudf/runtime/support/Clock.h"
#include "cuda/driver/CallerMemory.h"
#include "ivf_flat/NewIndex.h"
#include "ivf_flat/OneList.h"
#include "vectors/Elements.h"

#include <cstring>
#include <limits>
#include <numeric>

namespace annudf::runtime::cuda {

namespace {

/// One store of rows under way.
class RowsBuilder {
public:
  RowsBuilder(const std::shared_ptr<const Context> &context,
              const std::shared_ptr<const BuildKernels> &kernels, const IndexParams &params,
              const MatrixView &rows, CUstream stream)
      : context_(context), kernels_(kernels), params_(params), rows_(rows), stream_(stream),
        launcher_(*context, stream), bytes_(uint32_t(bytesOfRow(rows.element, rows.dims))) {}

  /// As centerOfRows, of rows on the device.
  std::vector<float> centerThere();
  /// Room for the rows, whose padding is there.
  void makeRoom(const std::vector<float> &center);
  /// Rows from `first` on, which are at `from` on the device, to their groups.
  void place(uint64_t from, uint64_t first, uint64_t count);
  /// All rows, which are on the device.
  void pack();
  BuiltIndex finish(const RowIds &ids, int64_t largest);

private:
  const std::shared_ptr<const Context> context_;
  const std::shared_ptr<const BuildKernels> kernels_;
  const IndexParams &params_;
  const MatrixView &rows_;
  const CUstream stream_;
  StreamLauncher launcher_;
  const uint32_t bytes_;
  std::vector<float> center_, fill_;
  std::vector<uint32_t> starts_;
  std::unique_ptr<Buffer> startsThere_;
  std::shared_ptr<DeviceIndex> made_;
};

std::vector<float> RowsBuilder::centerThere() {
  const std::vector<uint32_t> chosen = rowsOfCenter(rows_.rows);
  const auto dims = uint32_t(rows_.dims), stride = (dims + 3) / 4 * 4;
  const uint64_t count = chosen.size(), none = 0;
  const Buffer numbers(context_, count * 4), floats(context_, count * stride * 4);
  // Pageable memory has been read when the call returns.
  ANNUDF_CUDA(cuMemcpyHtoDAsync, numbers.device(), chosen.data(), numbers.size(), stream_);
  launcher_.first(kernels_->convert, {blocksFor(count * (stride / 4))}, 256, 0,
                  reinterpret_cast<uint64_t>(rows_.data), numbers.device(), none, count, dims,
                  stride, int(rows_.element), none, none, floats.device());
  std::vector<float> sample(count * stride);
  ANNUDF_CUDA(cuMemcpyDtoHAsync, sample.data(), floats.device(), floats.size(), stream_);
  ANNUDF_CUDA(cuStreamSynchronize, stream_);
  return centerOfRows(sample.data(), count, stride, rows_.dims);
}

void RowsBuilder::makeRoom(const std::vector<float> &center) {
  center_ = center;
  if (params_.missingValues)
    fill_ = center;
  starts_ = {0, uint32_t(rows_.rows)};
  startsThere_ = std::make_unique<Buffer>(context_, starts_.size() * 4);
  ANNUDF_CUDA(cuMemcpyHtoDAsync, startsThere_->device(), starts_.data(), startsThere_->size(),
              stream_);
  const ListShape shape = {
      {uint32_t(rows_.rows)}, rows_.dims, wordsPerRow(rows_.element, rows_.dims), center_, fill_};
  made_ = std::make_shared<DeviceIndex>(shape, context_, stream_);
}

void RowsBuilder::pack() {
  const annudf_device_index &args = made_->args();
  const uint64_t data = reinterpret_cast<uint64_t>(rows_.data), inTheirOrder = 0;
  launcher_.first(kernels_->pack, {made_->groups()}, 128, 0, data, bytes_,
                  alignmentOfRows(data, bytes_), inTheirOrder, startsThere_->device(),
                  args.listGroup, uint32_t(1), args.chunks, args.rows, args.ids);
}

void RowsBuilder::place(uint64_t from, uint64_t first, uint64_t count) {
  const annudf_device_index &args = made_->args();
  const uint64_t inTheirOrder = 0, groupBytes = args.chunks * uint64_t(kGroupRows) * 16;
  if (first == 0) { // The last group may lack rows.
    const uint64_t last = made_->groups() - 1;
    ANNUDF_CUDA(cuMemsetD8Async, args.rows + last * groupBytes, 0, groupBytes, stream_);
    ANNUDF_CUDA(cuMemsetD8Async, args.ids + last * kGroupRows * 8, 0xFF, kGroupRows * 8, stream_);
  }
  launcher_.first(kernels_->place, {blocksFor(count * 32)}, 256, 0, from, first, uint32_t(count),
                  bytes_, alignmentOfRows(from, bytes_), inTheirOrder, startsThere_->device(),
                  args.listGroup, uint32_t(1), args.chunks, args.rows, args.ids);
}

BuiltIndex RowsBuilder::finish(const RowIds &ids, int64_t largest) {
  std::vector<int64_t> numbers;
  if (!ids.ids && ids.first != 0) {
    numbers.resize(size_t(rows_.rows));
    std::iota(numbers.begin(), numbers.end(), ids.first);
  }
  const int64_t *given = ids.ids ? ids.ids : numbers.empty() ? nullptr : numbers.data();
  if (given) // Rows of one list are in their order.
    ANNUDF_CUDA(cuMemcpyHtoDAsync, made_->args().ids, given, uint64_t(rows_.rows) * 8, stream_);
  ANNUDF_CUDA(cuStreamSynchronize, stream_);
  auto lists = std::make_shared<ListsOnDevice>(
      context_, kernels_, made_, std::vector<uint32_t>{uint32_t(rows_.rows)}, params_.threads);
  IndexParts parts = {rows_.element,   rows_.dims,         rows_.rows, params_.metric,
                      params_.threads, std::move(center_), lists,      std::move(fill_)};
  BuiltIndex built = {Index(std::move(parts)), std::move(made_)};
  if (given)
    built.index.changeTo(std::move(lists), rows_.rows, largest);
  return built;
}

} // namespace

IndexParams IndexBuilder::preparedRows(const MatrixView &rows, const RowsParams &params,
                                       BuildStats &stats) {
  stats = {};
  IndexParams made = paramsOfOneList(rows, params.missingValues, params.threads);
  if (rows.rows > std::numeric_limits<uint32_t>::max())
    throw ArgumentError(ErrorKind::Usage, {"base"},
                        ": it has " + std::to_string(rows.rows) +
                            " rows; the CUDA backend takes fewer than 4294967296");
  loadKernels();
  return made;
}

BuiltIndex IndexBuilder::rows(const MatrixView &rows, const RowsParams &params, void *stream,
                              BuildStats &stats) {
  ContextScope scope(*context_);
  const IndexParams made = preparedRows(rows, params, stats);
  const auto start = std::chrono::steady_clock::now();
  checkDeviceMemory(*context_, reinterpret_cast<uint64_t>(rows.data),
                    uint64_t(rows.rows * bytesOfRow(rows.element, rows.dims)),
                    alignmentOf(rows.element), "base");
  const CUstream on = checkStream(*context_, stream);
  const int64_t largest = checkIdsOfRows(params.ids, rows.rows);
  report(params.progress, "add", 0);
  const NaNs nans = made.missingValues ? NaNs::Missing : NaNs::Refused;
  if (const auto found = firstNotFinite(context_, *kernels_, rows, nans, on))
    checkBase({found->bytes.data(), 1, rows.dims, rows.element}, made,
              found->row + params.ids.first);
  RowsBuilder builder(context_, kernels_, made, rows, on);
  builder.makeRoom(builder.centerThere());
  builder.pack();
  BuiltIndex built = builder.finish(params.ids, largest);
  report(params.progress, "add", 1);
  stats.addMs = msSince(start), stats.listsOnDevice = true, stats.deviceBytes = built.copy->bytes();
  return built;
}

BuiltIndex IndexBuilder::rowsFromHost(const MatrixView &rows, const RowsParams &params,
                                      PinnedPieces &pieces, BuildStats &stats) {
  ContextScope scope(*context_);
  const IndexParams made = preparedRows(rows, params, stats);
  const auto start = std::chrono::steady_clock::now();
  const int64_t largest = checkIdsOfRows(params.ids, rows.rows);
  const OwnStream stream(context_);
  RowsBuilder builder(context_, kernels_, made, rows, stream.get());
  builder.makeRoom(centerOfRows(rows));
  const auto bytes = uint64_t(bytesOfRow(rows.element, rows.dims));
  const PinnedPieces::Units units = {uint64_t(rows.rows), bytes};
  const uint64_t atOnce = pieces.atOnce(units);
  const Buffer raw(context_, atOnce * bytes);
  const auto *data = static_cast<const std::byte *>(rows.data);
  pieces.send(
      units, stream.get(),
      [&](uint64_t first, uint64_t last, std::byte *to) {
        std::memcpy(to, data + first * bytes, (last - first) * bytes);
      },
      [&](uint64_t first, uint64_t count, const std::byte *from) {
        ANNUDF_CUDA(cuMemcpyHtoDAsync, raw.device(), from, count * bytes, stream.get());
        builder.place(raw.device(), first, count);
        // While the device works, and in the piece that the cache still holds.
        checkBase({from, int64_t(count), rows.dims, rows.element}, made,
                  int64_t(first) + params.ids.first);
      },
      params.progress, "add");
  BuiltIndex built = builder.finish(params.ids, largest);
  report(params.progress, "add", 1);
  stats.copyMs = msSince(start), stats.pieces = int64_t(cuda::pieces(units.count, atOnce));
  stats.listsOnDevice = true, stats.deviceBytes = built.copy->bytes() + raw.size();
  return built;
}

} // namespace annudf::runtime::cuda
