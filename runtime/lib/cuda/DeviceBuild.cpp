//===- DeviceBuild.cpp - Building an index where its rows are -------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceBuild.h"

#include "BuildArgs.h"
#include "DeviceMemory.h"
#include "Embedded.h"
#include "Launcher.h"
#include "annudf/runtime/support/Clock.h"
#include "annudf/runtime/support/Parallel.h"
#include "coarse/Balance.h"
#include "coarse/KMeans.h"
#include "ivf_flat/NewIndex.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <limits>

namespace annudf::runtime::cuda {

BuildKernels::BuildKernels(std::shared_ptr<const Context> context)
    : module(std::move(context), buildModule().data()),
      finite(module.function("annudf_build_finite")),
      convert(module.function("annudf_build_convert")),
      normalise(module.function("annudf_build_normalise")),
      biases(module.function("annudf_build_biases")),
      assign(module.function("annudf_build_assign")), count(module.function("annudf_build_count")),
      prefix(module.function("annudf_build_prefix")),
      scatter(module.function("annudf_build_scatter")),
      bounds(module.function("annudf_build_bounds")), sums(module.function("annudf_build_sums")),
      means(module.function("annudf_build_means")), pack(module.function("annudf_build_pack")),
      ungroup(module.function("annudf_build_ungroup")) {}

namespace {

uint64_t pieces(uint64_t count, uint64_t size) { return (count + size - 1) / size; }

/// The lists of a built index, copied from the device when somebody asks for them.
class ListsOnDevice final : public ListsElsewhere {
public:
  ListsOnDevice(std::shared_ptr<const Context> context, std::shared_ptr<const BuildKernels> kernels,
                std::shared_ptr<const DeviceIndex> copy, std::vector<uint32_t> sizes, int threads)
      : context_(std::move(context)), kernels_(std::move(kernels)), copy_(std::move(copy)),
        sizes_(std::move(sizes)), threads_(threads) {}

private:
  std::vector<List> fetch() override;

  std::shared_ptr<const Context> context_;
  std::shared_ptr<const BuildKernels> kernels_;
  std::shared_ptr<const DeviceIndex> copy_;
  std::vector<uint32_t> sizes_;
  int threads_;
};

std::vector<List> ListsOnDevice::fetch() {
  ContextScope scope(*context_);
  const annudf_device_index &args = copy_->args();
  const uint64_t words = args.chunks * uint64_t(4) * kGroupRows; // Of a group.
  std::vector<List> lists(sizes_.size());
  std::vector<uint64_t> firstGroup(sizes_.size() + 1);
  for (size_t l = 0; l < lists.size(); ++l) {
    lists[l].size = sizes_[l];
    firstGroup[l + 1] = firstGroup[l] + uint64_t(lists[l].groups());
  }
  const uint64_t total = firstGroup.back();
  parallelFor(threads_, int64_t(lists.size()), [&](int64_t l, int) {
    List &list = lists[size_t(l)];
    list.words.resize(size_t(list.groups()) * words);
    list.ids.resize(size_t(list.groups()) * kGroupRows);
  });
  // Pinned memory is copied to at the bus's speed; a piece of it, as pinning takes longer.
  const uint64_t atOnce = std::clamp<uint64_t>((uint64_t(32) << 20) / (words * 4), 1, total);
  Buffer ungrouped(context_, atOnce * words * 4);
  Buffer pinned(context_, atOnce * (words * 4 + kGroupRows * 8), Buffer::Kind::Pinned);
  std::byte *ids = pinned.host() + atOnce * words * 4;
  StreamLauncher launcher(*context_, nullptr);
  for (uint64_t first = 0; first < total; first += atOnce) {
    const uint64_t groups = std::min(atOnce, total - first);
    const uint64_t from = args.rows + first * words * 4, blocks = groups * args.chunks,
                   to = ungrouped.device();
    launcher.first(kernels_->ungroup, {std::min<uint64_t>(pieces(blocks, 8), 1u << 16)}, 256, 0,
                   from, blocks, to);
    ANNUDF_CUDA(cuMemcpyDtoHAsync, pinned.host(), to, groups * words * 4, nullptr);
    ANNUDF_CUDA(cuMemcpyDtoHAsync, ids, args.ids + first * kGroupRows * 8, groups * kGroupRows * 8,
                nullptr);
    ANNUDF_CUDA(cuStreamSynchronize, nullptr);
    const auto begin = std::upper_bound(firstGroup.begin(), firstGroup.end(), first) - 1;
    const auto end = std::lower_bound(begin, firstGroup.end() - 1, first + groups);
    parallelFor(threads_, end - begin, [&](int64_t i, int) {
      const auto l = size_t(begin - firstGroup.begin() + i);
      const uint64_t low = std::max(firstGroup[l], first),
                     high = std::min(firstGroup[l + 1], first + groups);
      if (low >= high)
        return;
      std::memcpy(lists[l].words.data() + (low - firstGroup[l]) * words,
                  pinned.host() + (low - first) * words * 4, (high - low) * words * 4);
      std::memcpy(lists[l].ids.data() + (low - firstGroup[l]) * kGroupRows,
                  ids + (low - first) * kGroupRows * 8, (high - low) * kGroupRows * 8);
    });
  }
  copy_ = nullptr; // From now on it is one that can be made again.
  return lists;
}

/// Rows by their lists, as a stable sort leaves them.
class SortedRows {
public:
  SortedRows(const std::shared_ptr<const Context> &context, const BuildKernels &kernels,
             uint64_t rows, uint32_t lists, CUstream stream)
      : kernels_(kernels), rows_(uint32_t(rows)), lists_(lists), stream_(stream),
        launcher_(*context, stream), passes_(lists > 1 ? (std::bit_width(lists - 1) + 7) / 8 : 0),
        keys_(context, rows * 4), otherKeys_(context, passes_ ? rows * 4 : 4),
        order_(context, passes_ ? rows * 4 : 4), otherOrder_(context, passes_ ? rows * 4 : 4),
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

private:
  const BuildKernels &kernels_;
  uint32_t rows_, lists_;
  CUstream stream_;
  StreamLauncher launcher_;
  int passes_;
  Buffer keys_, otherKeys_, order_, otherOrder_, counts_, starts_, pinned_;
};

/// For kernels that go through a grid of any size.
uint64_t blocksFor(uint64_t threads) {
  return std::clamp<uint64_t>(pieces(threads, 256), 1, 1u << 16);
}

const uint32_t *SortedRows::sort() {
  uint64_t from = keys_.device(), to = otherKeys_.device(), order = 0, nextOrder = order_.device(),
           spare = otherOrder_.device();
  const uint64_t blocks = pieces(rows_, ANNUDF_BUILD_SORT_ITEMS);
  for (uint32_t shift = 0; shift < uint32_t(passes_) * 8; shift += 8) {
    launcher_.first(kernels_.count, {blocks}, 256, 0, from, rows_, shift, counts_.device());
    launcher_.first(kernels_.prefix, {1}, 1024, 0, counts_.device(), uint64_t(256 * blocks));
    launcher_.first(kernels_.scatter, {blocks}, 256, 0, from, order, rows_, shift, counts_.device(),
                    to, nextOrder);
    std::swap(from, to);
    order = nextOrder, std::swap(nextOrder, spare);
  }
  launcher_.first(kernels_.bounds, {blocksFor(uint64_t(rows_) + 1)}, 256, 0, from, rows_, lists_,
                  starts_.device());
  ANNUDF_CUDA(cuMemcpyDtoHAsync, pinned_.host(), starts_.device(), starts_.size(), stream_);
  ANNUDF_CUDA(cuStreamSynchronize, stream_);
  return reinterpret_cast<const uint32_t *>(pinned_.host());
}

/// One build, from rows to lists.
class Builder {
public:
  Builder(const std::shared_ptr<const Context> &context,
          const std::shared_ptr<const BuildKernels> &kernels, const IndexParams &params,
          const MatrixView &base, CUstream stream, const Progress &progress)
      : context_(context), kept_(kernels), kernels_(*kernels), params_(params), base_(base),
        stream_(stream), launcher_(*context, stream), progress_(progress),
        rows_(uint64_t(base.rows)), lists_(params.nLists), dims_(uint32_t(base.dims)),
        stride_(uint32_t(pieces(dims_, ANNUDF_BUILD_DEPTH) * ANNUDF_BUILD_DEPTH)),
        padded_(uint32_t(pieces(lists_, ANNUDF_BUILD_TILE) * ANNUDF_BUILD_TILE)),
        by_(AssignBy::of(params.metric)), l2_(by_.metric == ANNUDF_COARSE_L2),
        centers_(context, uint64_t(padded_) * stride_ * 4), biases_(context, uint64_t(padded_) * 4),
        origin_(context, uint64_t(stride_) * 4) {}

  void checkFinite();
  std::vector<float> train();
  BuiltIndex add(std::vector<float> centers);

private:
  void convert(uint64_t from, uint64_t chosen, uint64_t first, uint64_t count, uint64_t to,
               annudf_element element, uint32_t dims, bool lessOrigin) {
    launcher_.first(kernels_.convert, {blocksFor(count * (stride_ / 4))}, 256, 0, from, chosen,
                    first, count, dims, stride_, int(element),
                    lessOrigin ? origin_.device() : uint64_t(0), to);
  }
  void normalise(uint64_t rows, uint64_t count) {
    launcher_.first(kernels_.normalise, {blocksFor(count * 32)}, 256, 0, rows, count, stride_);
  }
  /// The lists of rows that convert() made, by the centers as they are.
  void assign(uint64_t rows, uint64_t count, uint64_t lists) {
    launcher_.first(kernels_.biases, {blocksFor(uint64_t(padded_) * 32)}, 256, 0, centers_.device(),
                    lists_, padded_, stride_, int(l2_), biases_.device());
    launcher_.first(kernels_.assign, {pieces(count, ANNUDF_BUILD_TILE)}, 256, 0, rows, count,
                    centers_.device(), biases_.device(), padded_, stride_, l2_ ? -2.0f : -1.0f,
                    lists);
  }
  /// Sums of segments of rows, to their means.
  void average(uint64_t rows, uint64_t order, uint64_t starts, const uint32_t *startsOnHost,
               uint32_t segments, uint64_t to);
  void start(const Buffer &sample, uint64_t rows, Random &random);
  /// After a round: centers of small lists go to large ones.
  void balance(Balance &balance, uint32_t round, const uint32_t *starts);

  const std::shared_ptr<const Context> context_;
  const std::shared_ptr<const BuildKernels> kept_;
  const BuildKernels &kernels_;
  const IndexParams &params_;
  const MatrixView &base_;
  const CUstream stream_;
  StreamLauncher launcher_;
  const Progress &progress_;
  const uint64_t rows_;
  const uint32_t lists_, dims_, stride_, padded_;
  const AssignBy by_;
  const bool l2_;
  /// float: less the origin, amid the rows, from which squares of L2 are taken; zeros where it is
  /// another metric.
  const Buffer centers_, biases_, origin_;
  std::unique_ptr<Buffer> floats_; ///< Rows as floats.
  std::unique_ptr<Buffer> sums_, chunks_;
  std::unique_ptr<Buffer> pinned_; ///< Centers on the host.
};

void Builder::checkFinite() {
  if (kindOf(base_.element) != NumberKind::Float)
    return;
  Buffer first(context_, 8);
  ANNUDF_CUDA(cuMemsetD8Async, first.device(), 0xFF, 8, stream_);
  const uint64_t data = reinterpret_cast<uint64_t>(base_.data);
  launcher_.first(kernels_.finite, {blocksFor(rows_ * dims_)}, 256, 0, data, rows_ * dims_,
                  int(base_.element), first.device());
  uint64_t found = 0;
  ANNUDF_CUDA(cuMemcpyDtoHAsync, &found, first.device(), 8, stream_);
  ANNUDF_CUDA(cuStreamSynchronize, stream_);
  if (found == UINT64_MAX)
    return;
  const auto bytes = static_cast<uint64_t>(bytesOfRow(base_.element, base_.dims));
  std::vector<std::byte> row(bytes);
  ANNUDF_CUDA(cuMemcpyDtoH, row.data(), data + found / dims_ * bytes, bytes);
  checkBase({row.data(), 1, base_.dims, base_.element}, params_, int64_t(found / dims_));
}

void Builder::average(uint64_t rows, uint64_t order, uint64_t starts, const uint32_t *startsOnHost,
                      uint32_t segments, uint64_t to) {
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
void Builder::start(const Buffer &sample, uint64_t rows, Random &random) {
  std::vector<uint32_t> chosen;
  for (const int64_t row : distinctRows(int64_t(rows), lists_, random))
    chosen.push_back(uint32_t(row));
  Buffer numbers(context_, chosen.size() * 4);
  ANNUDF_CUDA(cuMemcpyHtoDAsync, numbers.device(), chosen.data(), chosen.size() * 4, stream_);
  ANNUDF_CUDA(cuMemsetD8Async, centers_.device(), 0, centers_.size(), stream_);
  convert(sample.device(), numbers.device(), 0, lists_, centers_.device(), ANNUDF_ELEMENT_F32,
          stride_, false);
  if (!l2_)
    normalise(centers_.device(), lists_);
}

void Builder::balance(Balance &balance, uint32_t round, const uint32_t *starts) {
  const uint64_t bytes = uint64_t(lists_) * stride_ * 4;
  if (!pinned_)
    pinned_ = std::make_unique<Buffer>(context_, bytes, Buffer::Kind::Pinned);
  std::vector<int64_t> sizes(lists_);
  for (uint32_t l = 0; l < lists_; ++l)
    sizes[l] = starts[l + 1] - starts[l];
  ANNUDF_CUDA(cuMemcpyDtoHAsync, pinned_->host(), centers_.device(), bytes, stream_);
  ANNUDF_CUDA(cuStreamSynchronize, stream_);
  if (balance.after(round, sizes, reinterpret_cast<float *>(pinned_->host()), int32_t(dims_),
                    stride_))
    ANNUDF_CUDA(cuMemcpyHtoDAsync, centers_.device(), pinned_->host(), bytes, stream_);
}

std::vector<float> Builder::train() {
  const KMeansParams params = {
      lists_,       params_.metric, params_.kmeansIterations, params_.kmeansTrainsetFraction,
      params_.seed, params_.threads};
  report(progress_, "train", 0);
  Random random(params.seed);
  std::vector<uint32_t> chosen;
  for (const int64_t row : chooseRows(base_.rows, params, random))
    chosen.push_back(uint32_t(row));
  const uint64_t rows = chosen.size();
  // Also room for the pieces in which all rows find their list.
  constexpr uint64_t kPieceFloats = uint64_t(1) << 25;
  const uint64_t piece = std::min(rows_, std::max<uint64_t>(rows, kPieceFloats / stride_));
  floats_ = std::make_unique<Buffer>(context_, piece * stride_ * 4);
  const uint64_t sample = floats_->device(), data = reinterpret_cast<uint64_t>(base_.data);
  Buffer numbers(context_, rows * 4);
  ANNUDF_CUDA(cuMemcpyHtoDAsync, numbers.device(), chosen.data(), rows * 4, stream_);
  convert(data, numbers.device(), 0, rows, sample, base_.element, dims_, false);
  ANNUDF_CUDA(cuMemsetD8Async, origin_.device(), 0, origin_.size(), stream_);
  if (l2_) {
    const uint32_t whole[2] = {0, uint32_t(rows)};
    Buffer starts(context_, sizeof whole);
    ANNUDF_CUDA(cuMemcpyHtoDAsync, starts.device(), whole, sizeof whole, stream_);
    average(sample, 0, starts.device(), whole, 1, origin_.device());
    convert(data, numbers.device(), 0, rows, sample, base_.element, dims_, true);
    ANNUDF_CUDA(cuStreamSynchronize, stream_);
  }
  if (params_.metric == ANNUDF_COARSE_COSINE)
    normalise(sample, rows);
  start(*floats_, rows, random);
  SortedRows sorted(context_, kernels_, rows, lists_, stream_);
  Balance moves(int64_t(rows), lists_, params.kmeansIterations);
  for (uint32_t i = 0; i < params.kmeansIterations; ++i) {
    report(progress_, "train", double(i) / params.kmeansIterations);
    assign(sample, rows, sorted.keys());
    const uint32_t *starts = sorted.sort();
    average(sample, sorted.order(), sorted.starts(), starts, lists_, centers_.device());
    balance(moves, i, starts);
    if (!l2_)
      normalise(centers_.device(), lists_);
  }
  std::vector<float> padded(uint64_t(lists_) * stride_), origin(stride_),
      centers(uint64_t(lists_) * dims_);
  ANNUDF_CUDA(cuMemcpyDtoHAsync, padded.data(), centers_.device(), padded.size() * 4, stream_);
  ANNUDF_CUDA(cuMemcpyDtoHAsync, origin.data(), origin_.device(), origin.size() * 4, stream_);
  ANNUDF_CUDA(cuStreamSynchronize, stream_);
  for (uint64_t l = 0; l < lists_; ++l)
    for (uint32_t d = 0; d < dims_; ++d) {
      float &moved = padded[l * stride_ + d], &center = centers[l * dims_ + d];
      center = static_cast<float>(double(moved) + double(origin[d]));
      moved = static_cast<float>(double(center) - double(origin[d]));
    }
  // Rows find their list by the centers that the index has, rounded as these are.
  ANNUDF_CUDA(cuMemcpyHtoDAsync, centers_.device(), padded.data(), padded.size() * 4, stream_);
  ANNUDF_CUDA(cuStreamSynchronize, stream_);
  report(progress_, "train", 1);
  return centers;
}

BuiltIndex Builder::add(std::vector<float> centers) {
  IndexParts parts = {base_.element,   base_.dims,         0,      params_.metric,
                      params_.threads, std::move(centers), nullptr};
  if (!params_.addData)
    return {Index(std::move(parts)), nullptr};
  const uint64_t data = reinterpret_cast<uint64_t>(base_.data);
  SortedRows sorted(context_, kernels_, rows_, lists_, stream_);
  const uint64_t piece = floats_->size() / 4 / stride_;
  if (lists_ > 1)
    for (uint64_t first = 0; first < rows_; first += piece) {
      report(progress_, "add", double(first) / double(rows_));
      const uint64_t count = std::min(piece, rows_ - first);
      convert(data, 0, first, count, floats_->device(), base_.element, dims_, l2_);
      assign(floats_->device(), count, sorted.keys() + first * 4);
    }
  else
    ANNUDF_CUDA(cuMemsetD8Async, sorted.keys(), 0, rows_ * 4, stream_);
  const uint32_t *starts = sorted.sort();
  ListShape shape = {std::vector<uint32_t>(lists_),
                     base_.dims,
                     wordsPerRow(base_.element, base_.dims),
                     parts.centers,
                     {}};
  for (uint32_t l = 0; l < lists_; ++l)
    shape.sizes[l] = starts[l + 1] - starts[l];
  floats_ = nullptr; // Room for the lists.
  auto copy = std::make_shared<DeviceIndex>(shape, context_, stream_);
  const auto bytes = static_cast<uint32_t>(bytesOfRow(base_.element, base_.dims));
  const int alignment = (data | bytes) % 16 == 0 ? 16 : (data | bytes) % 4 == 0 ? 4 : 1;
  const annudf_device_index &args = copy->args();
  launcher_.first(kernels_.pack, {copy->groups()}, 128, 0, data, bytes, alignment, sorted.order(),
                  sorted.starts(), args.listGroup, lists_, args.chunks, args.rows, args.ids);
  ANNUDF_CUDA(cuStreamSynchronize, stream_);
  report(progress_, "add", 1);
  parts.size = base_.rows;
  parts.lists = std::make_shared<ListsOnDevice>(context_, kept_, copy, std::move(shape.sizes),
                                                params_.threads);
  return {Index(std::move(parts)), std::move(copy)};
}

/// Of a copy of the rows.
Index buildOnHost(const IndexParams &params, const MatrixView &base, CUstream stream,
                  const Progress &progress, BuildStats &stats) {
  auto start = std::chrono::steady_clock::now();
  std::vector<std::byte> rows(size_t(base.rows * bytesOfRow(base.element, base.dims)));
  ANNUDF_CUDA(cuMemcpyDtoHAsync, rows.data(), reinterpret_cast<uint64_t>(base.data), rows.size(),
              stream);
  ANNUDF_CUDA(cuStreamSynchronize, stream);
  stats.copyMs = msSince(start);
  start = std::chrono::steady_clock::now();
  Index index = Index::build(params, {rows.data(), base.rows, base.dims, base.element}, progress);
  stats.trainMs = msSince(start);
  return index;
}

} // namespace

BuiltIndex IndexBuilder::build(const IndexParams &given, const MatrixView &base, void *stream,
                               const Progress &progress, BuildStats &stats) {
  stats = {};
  const IndexParams params = checkedParams(given, base);
  ContextScope scope(*context_);
  checkDeviceMemory(*context_, reinterpret_cast<uint64_t>(base.data),
                    uint64_t(base.rows * bytesOfRow(base.element, base.dims)),
                    alignmentOf(base.element), "base");
  const CUstream on = checkStream(*context_, stream);
  if (base.rows > std::numeric_limits<uint32_t>::max())
    throw Error(ErrorKind::Usage, "base: it has " + std::to_string(base.rows) +
                                      " rows; the CUDA backend builds of fewer than 4294967296");
  stats.onDevice = !params.missingValues && !params.adaptiveCenters;
  if (!stats.onDevice) {
    stats.why = params.missingValues ? "missing_values" : "adaptive_centers";
    stats.why += " is for the host";
    return {buildOnHost(params, base, on, progress, stats), nullptr};
  }
  std::call_once(once_, [&] { kernels_ = std::make_shared<const BuildKernels>(context_); });
  auto start = std::chrono::steady_clock::now();
  Builder builder(context_, kernels_, params, base, on, progress);
  builder.checkFinite();
  checkEnough(base, params.nLists);
  std::vector<float> centers = builder.train();
  checkCenters(centers, base.dims);
  stats.trainMs = msSince(start);
  start = std::chrono::steady_clock::now();
  BuiltIndex built = builder.add(std::move(centers));
  stats.addMs = msSince(start);
  return built;
}

} // namespace annudf::runtime::cuda
