//===- ListsBuilder.cpp - One build on a device ---------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ListsBuilder.h"

#include "AdaptiveCenters.h"
#include "ListsOnDevice.h"
#include "ivf_flat/NewIndex.h"
#include "vectors/Missing.h"

#include <cstring>

namespace annudf::runtime::cuda {

BuildShape shapeOf(const IndexParams &params, const MatrixView &base) {
  const KMeansParams training = {
      params.nLists, params.metric, params.kmeansIterations, params.kmeansTrainsetFraction,
      params.seed,   params.threads};
  return {uint64_t(base.rows),
          base.element,
          base.dims,
          params.nLists,
          uint64_t(trainingRows(base.rows, training)),
          params.addData,
          params.missingValues,
          params.adaptiveCenters,
          params.metric};
}

Progress partOf(const Progress &progress, double from, double share) {
  if (!progress)
    return {};
  return [&progress, from, share](const char *stage, double done) {
    return progress(stage, from + done * share);
  };
}

void ListsBuilder::checkFinite() {
  const NaNs nans = params_.missingValues ? NaNs::Missing : NaNs::Refused;
  if (const auto found = firstNotFinite(context_, kernels_, base_, nans, stream_))
    checkBase({found->bytes.data(), 1, base_.dims, base_.element}, params_, found->row);
}

void ListsBuilder::findFill() {
  if (!params_.missingValues)
    return;
  fill_ = fromHost_ ? runtime::meansOfPresent(base_, params_.threads)
                    : meansOfPresent(context_, kernels_, base_, stream_);
  by_.setFill(fill_);
}

void ListsBuilder::average(uint64_t rows, uint64_t order, uint64_t starts,
                           const uint32_t *startsOnHost, uint32_t segments, uint64_t to) {
  std::vector<uint32_t> chunks(uint64_t(segments) + 1);
  for (uint32_t s = 0; s < segments; ++s)
    chunks[s + 1] =
        chunks[s] + uint32_t(pieces(startsOnHost[s + 1] - startsOnHost[s], ANNUDF_BUILD_SUM_ROWS));
  const uint64_t sums = uint64_t(chunks.back()) * stride_ * 8;
  if (!sums_ || sums_->size() < sums)
    sums_ = std::make_unique<Buffer>(context_, sums);
  if (!chunks_ || chunks_->size() < chunks.size() * 4)
    chunks_ = std::make_unique<Buffer>(context_, chunks.size() * 4);
  // Pageable memory has been read when the call returns.
  ANNUDF_CUDA(cuMemcpyHtoDAsync, chunks_->device(), chunks.data(), chunks.size() * 4, stream_);
  launcher_.first(kernels_.sums, {chunks.back()}, 128, 0, rows, order, starts, chunks_->device(),
                  segments, stride_, sums_->device());
  launcher_.first(kernels_.means, {segments}, 128, 0, sums_->device(), starts, chunks_->device(),
                  stride_, to);
}

/// Distinct rows of the sample.
void ListsBuilder::start(const Buffer &sample, uint64_t rows, Random &random) {
  std::vector<uint32_t> chosen;
  for (const int64_t row : distinctRows(int64_t(rows), lists_, random))
    chosen.push_back(uint32_t(row));
  Buffer numbers(context_, chosen.size() * 4);
  ANNUDF_CUDA(cuMemcpyHtoDAsync, numbers.device(), chosen.data(), chosen.size() * 4, stream_);
  ANNUDF_CUDA(cuMemsetD8Async, by_.centers().device(), 0, by_.centers().size(), stream_);
  by_.convert(sample.device(), numbers.device(), 0, lists_, by_.centers().device(),
              ANNUDF_ELEMENT_F32, stride_, false);
  if (!l2_)
    by_.normalise(by_.centers().device(), lists_);
}

void ListsBuilder::balance(Balance &balance, uint32_t round, const uint32_t *starts) {
  const uint64_t bytes = uint64_t(lists_) * stride_ * 4;
  if (!pinned_)
    pinned_ = std::make_unique<Buffer>(context_, bytes, Buffer::Kind::Pinned);
  std::vector<int64_t> sizes(lists_);
  for (uint32_t l = 0; l < lists_; ++l)
    sizes[l] = starts[l + 1] - starts[l];
  ANNUDF_CUDA(cuMemcpyDtoHAsync, pinned_->host(), by_.centers().device(), bytes, stream_);
  ANNUDF_CUDA(cuStreamSynchronize, stream_);
  if (balance.after(round, sizes, reinterpret_cast<float *>(pinned_->host()), int32_t(dims_),
                    stride_))
    ANNUDF_CUDA(cuMemcpyHtoDAsync, by_.centers().device(), pinned_->host(), bytes, stream_);
}

void ListsBuilder::send(uint64_t count, const PinnedPieces::Fill &fill,
                        const std::function<void(uint64_t first, uint64_t count)> &use,
                        const Progress &progress, const char *stage) {
  if (!raw_)
    raw_ = std::make_unique<Buffer>(context_, fromHost_->plan.pieceRows * bytes_);
  fromHost_->pieces.send(
      {count, bytes_, fromHost_->plan.pieceRows}, stream_, fill,
      [&](uint64_t first, uint64_t rows, const std::byte *from) {
        ANNUDF_CUDA(cuMemcpyHtoDAsync, raw_->device(), from, rows * bytes_, stream_);
        use(first, rows);
      },
      progress, stage);
}

/// The rows to train on, as floats.
void ListsBuilder::sample(const std::vector<uint32_t> &chosen) {
  if (!fromHost_) {
    Buffer numbers(context_, chosen.size() * 4);
    ANNUDF_CUDA(cuMemcpyHtoDAsync, numbers.device(), chosen.data(), numbers.size(), stream_);
    by_.convert(reinterpret_cast<uint64_t>(base_.data), numbers.device(), 0, chosen.size(),
                floats_->device(), base_.element, dims_, false);
    ANNUDF_CUDA(cuStreamSynchronize, stream_); // It reads the numbers.
    return;
  }
  const auto *data = static_cast<const std::byte *>(base_.data);
  send(
      chosen.size(),
      [&](uint64_t first, uint64_t last, std::byte *to) {
        for (; first < last; ++first, to += bytes_)
          std::memcpy(to, data + uint64_t(chosen[first]) * bytes_, bytes_);
      },
      [&](uint64_t first, uint64_t count) {
        by_.convert(raw_->device(), 0, 0, count, floats_->device() + first * stride_ * 4,
                    base_.element, dims_, false);
      },
      partOf(progress_, 0, 0), "train");
}

std::vector<float> ListsBuilder::train() {
  const KMeansParams params = {
      lists_,       params_.metric, params_.kmeansIterations, params_.kmeansTrainsetFraction,
      params_.seed, params_.threads};
  report(progress_, "train", 0);
  findFill();
  Random random(params.seed);
  std::vector<uint32_t> chosen;
  for (const int64_t row : chooseRows(base_.rows, params, random))
    chosen.push_back(uint32_t(row));
  const uint64_t rows = chosen.size();
  // Rows on the device also need room for the pieces in which all find their list.
  const uint64_t room = fromHost_ ? rows : rowsAsFloats(shapeOf(params_, base_));
  floats_ = std::make_unique<Buffer>(context_, room * stride_ * 4);
  sample(chosen);
  const uint64_t sample = floats_->device();
  ANNUDF_CUDA(cuMemsetD8Async, by_.origin().device(), 0, by_.origin().size(), stream_);
  if (l2_) {
    const uint32_t whole[2] = {0, uint32_t(rows)};
    Buffer starts(context_, sizeof whole);
    ANNUDF_CUDA(cuMemcpyHtoDAsync, starts.device(), whole, sizeof whole, stream_);
    average(sample, 0, starts.device(), whole, 1, by_.origin().device());
    by_.convert(sample, 0, 0, rows, sample, ANNUDF_ELEMENT_F32, stride_, true);
    ANNUDF_CUDA(cuStreamSynchronize, stream_);
  }
  if (params_.metric == ANNUDF_COARSE_COSINE)
    by_.normalise(sample, rows);
  start(*floats_, rows, random);
  SortedRows sorted(context_, kernels_, rows, lists_, stream_);
  Balance moves(int64_t(rows), lists_, params.kmeansIterations);
  for (uint32_t i = 0; i < params.kmeansIterations; ++i) {
    report(progress_, "train", double(i) / params.kmeansIterations);
    by_.assign(sample, rows, sorted.keys());
    const uint32_t *starts = sorted.sort();
    average(sample, sorted.order(), sorted.starts(), starts, lists_, by_.centers().device());
    balance(moves, i, starts);
    if (!l2_)
      by_.normalise(by_.centers().device(), lists_);
  }
  std::vector<float> padded(uint64_t(lists_) * stride_), origin(stride_),
      centers(uint64_t(lists_) * dims_);
  ANNUDF_CUDA(cuMemcpyDtoHAsync, padded.data(), by_.centers().device(), padded.size() * 4, stream_);
  ANNUDF_CUDA(cuMemcpyDtoHAsync, origin.data(), by_.origin().device(), origin.size() * 4, stream_);
  ANNUDF_CUDA(cuStreamSynchronize, stream_);
  for (uint64_t l = 0; l < lists_; ++l)
    for (uint32_t d = 0; d < dims_; ++d) {
      float &moved = padded[l * stride_ + d], &center = centers[l * dims_ + d];
      center = static_cast<float>(double(moved) + double(origin[d]));
      moved = static_cast<float>(double(center) - double(origin[d]));
    }
  // Rows find their list by the centers that the index has, rounded as these are.
  ANNUDF_CUDA(cuMemcpyHtoDAsync, by_.centers().device(), padded.data(), padded.size() * 4, stream_);
  ANNUDF_CUDA(cuStreamSynchronize, stream_);
  report(progress_, "train", 1);
  sums_ = nullptr, chunks_ = nullptr;
  return centers;
}

void ListsBuilder::assignAll(const Progress &progress,
                             const std::function<void(uint64_t first, uint64_t count)> &use) {
  const auto *data = static_cast<const std::byte *>(base_.data);
  send(
      rows_,
      [&](uint64_t first, uint64_t last, std::byte *to) {
        std::memcpy(to, data + first * bytes_, (last - first) * bytes_);
      },
      use, progress, "add");
}

/// The list of each row in host memory, for the host.
std::vector<uint32_t> ListsBuilder::listsOfRows() {
  std::vector<uint32_t> lists(rows_);
  if (lists_ == 1)
    return lists;
  const uint64_t piece = fromHost_->plan.pieceRows;
  Buffer keys(context_, piece * 4), pinned(context_, 2 * piece * 4, Buffer::Kind::Pinned);
  auto *found = reinterpret_cast<uint32_t *>(pinned.host());
  // Those of a piece are here when the next but one is enqueued: its turn is the same.
  struct Turn {
    uint64_t first, count;
  } turns[2] = {};
  uint32_t turn = 0;
  const auto take = [&](uint32_t which) {
    std::copy_n(found + which * piece, turns[which].count, lists.data() + turns[which].first);
  };
  assignAll(partOf(progress_, 0, 0.8), [&](uint64_t first, uint64_t count) {
    by_.convert(raw_->device(), 0, 0, count, floats_->device(), base_.element, dims_, l2_);
    by_.assign(floats_->device(), count, keys.device());
    take(turn);
    turns[turn] = {first, count};
    ANNUDF_CUDA(cuMemcpyDtoHAsync, found + turn * piece, keys.device(), count * 4, stream_);
    turn ^= 1;
  });
  take(0), take(1);
  return lists;
}

/// Rows in host memory, once more, to their places.
void ListsBuilder::place(SortedRows &sorted, const DeviceIndex &to) {
  const annudf_device_index &args = to.args();
  ANNUDF_CUDA(cuMemsetD8Async, args.rows, 0, to.groups() * args.chunks * kGroupRows * 16, stream_);
  ANNUDF_CUDA(cuMemsetD8Async, args.ids, 0xFF, to.groups() * kGroupRows * 8, stream_);
  const uint64_t places = sorted.places(), starts = sorted.starts();
  assignAll(partOf(progress_, 0.5, 0.5), [&](uint64_t first, uint64_t count) {
    launcher_.first(kernels_.place, {blocksFor(count * 32)}, 256, 0, raw_->device(), first,
                    uint32_t(count), bytes_, alignmentOfRows(raw_->device(), bytes_), places,
                    starts, args.listGroup, lists_, args.chunks, args.rows, args.ids);
  });
}

BuiltIndex ListsBuilder::add(std::vector<float> centers) {
  IndexParts parts = {base_.element,  base_.dims,      0,
                      params_.metric, params_.threads, std::move(centers),
                      nullptr,        fill_,           params_.adaptiveCenters};
  if (!params_.addData)
    return {Index(std::move(parts)), nullptr};
  const uint64_t data = reinterpret_cast<uint64_t>(base_.data);
  if (fromHost_) {
    floats_ = nullptr;
    floats_ = std::make_unique<Buffer>(context_, fromHost_->plan.pieceRows * stride_ * 4);
    if (fromHost_->plan.way == BuildPlan::Way::ListsOnHost)
      return {Index(std::move(parts), base_, listsOfRows(), partOf(progress_, 0.8, 0.2)), nullptr};
  }
  SortedRows sorted(context_, kernels_, rows_, lists_, stream_);
  const auto find = [&](uint64_t from, uint64_t first, uint64_t count) {
    by_.convert(from, 0, 0, count, floats_->device(), base_.element, dims_, l2_);
    by_.assign(floats_->device(), count, sorted.keys() + first * 4);
  };
  const uint64_t piece = floats_->size() / 4 / stride_;
  if (lists_ == 1)
    ANNUDF_CUDA(cuMemsetD8Async, sorted.keys(), 0, rows_ * 4, stream_);
  else if (fromHost_)
    assignAll(partOf(progress_, 0, 0.5),
              [&](uint64_t first, uint64_t count) { find(raw_->device(), first, count); });
  else
    for (uint64_t first = 0; first < rows_; first += piece) {
      report(progress_, "add", double(first) / double(rows_));
      find(data + first * bytes_, first, std::min(piece, rows_ - first));
    }
  const uint32_t *starts = sorted.sort();
  ListShape shape = {std::vector<uint32_t>(lists_), base_.dims,
                     wordsPerRow(base_.element, base_.dims), parts.centers, fill_};
  for (uint32_t l = 0; l < lists_; ++l)
    shape.sizes[l] = starts[l + 1] - starts[l];
  floats_ = nullptr; // Room for the lists.
  auto copy = std::make_shared<DeviceIndex>(shape, context_, stream_);
  const annudf_device_index &args = copy->args();
  if (fromHost_)
    place(sorted, *copy);
  else
    launcher_.first(kernels_.pack, {copy->groups()}, 128, 0, data, bytes_,
                    alignmentOfRows(data, bytes_), sorted.order(), sorted.starts(), args.listGroup,
                    lists_, args.chunks, args.rows, args.ids);
  if (params_.adaptiveCenters)
    parts.centers =
        moveCenters(context_, kernels_, {base_.element, params_.metric, params_.threads}, *copy,
                    parts.centers, 0, stream_);
  ANNUDF_CUDA(cuStreamSynchronize, stream_);
  report(progress_, "add", 1);
  parts.size = base_.rows;
  parts.lists = std::make_shared<ListsOnDevice>(context_, kept_, copy, std::move(shape.sizes),
                                                params_.threads);
  return {Index(std::move(parts)), std::move(copy)};
}

} // namespace annudf::runtime::cuda
