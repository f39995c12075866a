//===- DeviceIndex.cpp - An index in device memory ------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceIndex.h"

#include "annudf/runtime/coarse/Coarse.h"
#include "annudf/runtime/support/Clock.h"
#include "cuda/driver/Launcher.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

namespace annudf::runtime::cuda {

namespace {

template <class T>
std::unique_ptr<Buffer> upload(const std::shared_ptr<const Context> &context,
                               const std::vector<T> &values, CUstream stream) {
  auto buffer = std::make_unique<Buffer>(context, values.size() * sizeof(T));
  // Pageable memory has been read when the call returns.
  if (!values.empty())
    ANNUDF_CUDA(cuMemcpyHtoDAsync, buffer->device(), values.data(), values.size() * sizeof(T),
                stream);
  return buffer;
}

constexpr uint64_t kPastEnd = ANNUDF_PAST_END * kGroupRows * 16;

uint32_t centerStride(uint32_t dims) { return (dims + 3) / 4 * 4; }

} // namespace

IndexBytes::IndexBytes(const ListShape &shape) {
  for (const uint32_t size : shape.sizes)
    groups += groupsOf(size);
  const uint64_t lists = shape.sizes.size();
  rows = groups * kGroupRows * static_cast<uint64_t>(shape.words) * 4 + kPastEnd;
  ids = groups * kGroupRows * sizeof(int64_t);
  starts = (lists + ANNUDF_SPARE_LISTS + 1) * sizeof(uint32_t);
  sizes = (lists + ANNUDF_SPARE_LISTS) * sizeof(uint32_t);
  centers =
      shape.areRanked ? lists * centerStride(static_cast<uint32_t>(shape.dims)) * sizeof(float) : 0;
  norms = shape.areRanked ? lists * sizeof(float) : 0;
  fill = shape.fill.size() * sizeof(float);
}

DeviceIndex::DeviceIndex(const ListShape &shape, const std::shared_ptr<const Context> &context,
                         CUstream stream) {
  const auto start = std::chrono::steady_clock::now();
  ContextScope scope(*context);
  const auto lists = static_cast<uint32_t>(shape.sizes.size()),
             dims = static_cast<uint32_t>(shape.dims);
  const IndexBytes bytes(shape);
  std::vector<uint32_t> firstGroup(lists + ANNUDF_SPARE_LISTS + 1, 0), sizes = shape.sizes;
  std::vector<uint64_t> groups(lists);
  uint64_t total = 0, rows = 0;
  for (uint32_t i = 0; i < lists; ++i) {
    firstGroup[i] = static_cast<uint32_t>(total);
    groups[i] = groupsOf(shape.sizes[i]);
    total += groups[i], rows += shape.sizes[i];
  }
  // Rows of one search are numbered with 32 bits in the workspace.
  if (total > std::numeric_limits<uint32_t>::max() / kGroupRows)
    throw Error(ErrorKind::Usage,
                "the index holds " + std::to_string(rows) +
                    " rows; the CUDA backend takes up to 4.2 billion, padding included");
  std::fill(firstGroup.begin() + lists, firstGroup.end(), static_cast<uint32_t>(total));
  sizes.resize(lists + ANNUDF_SPARE_LISTS, 0);
  std::sort(groups.begin(), groups.end(), std::greater<>());
  largest_.assign(lists + 1, 0);
  for (uint32_t i = 0; i < lists; ++i)
    largest_[i + 1] = largest_[i] + groups[i];

  const std::string ofIndex = "the index's " + std::to_string(rows);
  rows_ = std::make_unique<Buffer>(context, bytes.rows, Buffer::Kind::Device,
                                   ofIndex + " rows of " + std::to_string(dims) + " dims");
  ANNUDF_CUDA(cuMemsetD8Async, rows_->device() + bytes.rows - kPastEnd, 0, kPastEnd, stream);
  ids_ = std::make_unique<Buffer>(context, bytes.ids, Buffer::Kind::Device, ofIndex + " ids");
  listGroup_ = upload(context, firstGroup, stream);
  listSize_ = upload(context, sizes, stream);

  args_.rows = rows_->device(), args_.ids = ids_->device();
  args_.listGroup = listGroup_->device(), args_.listSize = listSize_->device();
  args_.nLists = lists, args_.chunks = static_cast<uint32_t>(shape.words) / 4;
  args_.dims = dims, args_.centerStride = centerStride(dims);
  if (shape.areRanked) {
    centers_ = std::make_unique<Buffer>(context, bytes.centers);
    norms_ = std::make_unique<Buffer>(context, bytes.norms);
    args_.centers = centers_->device(), args_.norms = norms_->device();
    if (!shape.fill.empty())
      fill_ = upload(context, shape.fill, stream);
    setCenters(shape.centers, stream);
  }
  uploadMs_ = msSince(start);
}

DeviceIndex::DeviceIndex(const CandidateShape &shape,
                         std::vector<std::shared_ptr<const void>> memory)
    : memory_(std::move(memory)) {
  args_.rows = shape.rows, args_.ids = shape.ids, args_.numbers = shape.numbers;
  args_.listGroup = shape.listGroup, args_.listSize = shape.listSize;
  args_.nLists = shape.lists, args_.chunks = shape.chunks, args_.dims = shape.dims;
  args_.centerStride = centerStride(shape.dims), args_.layout = shape.layout;
  largest_.resize(shape.lists + uint64_t(1));
  for (uint64_t list = 0; list <= shape.lists; ++list)
    largest_[list] = list * shape.groups;
}

uint64_t DeviceIndex::bytes() const {
  uint64_t all = 0;
  for (const auto *buffer : {&rows_, &ids_, &listGroup_, &listSize_, &centers_, &norms_, &fill_})
    if (*buffer)
      all += (*buffer)->size();
  return all;
}

void DeviceIndex::setCenters(const std::vector<float> &centers, CUstream stream) {
  const uint32_t lists = args_.nLists, dims = args_.dims, stride = args_.centerStride;
  std::vector<float> padded(static_cast<size_t>(lists) * stride, 0.0f), norms(lists);
  for (uint32_t i = 0; i < lists; ++i) {
    const float *center = centers.data() + static_cast<size_t>(i) * dims;
    std::copy(center, center + dims, padded.begin() + static_cast<size_t>(i) * stride);
    double square = 0;
    for (uint32_t d = 0; d < dims; ++d)
      square += static_cast<double>(center[d]) * center[d];
    norms[i] = static_cast<float>(std::sqrt(square));
  }
  // Pageable memory has been read when the call returns.
  ANNUDF_CUDA(cuMemcpyHtoDAsync, args_.centers, padded.data(), padded.size() * sizeof(float),
              stream);
  ANNUDF_CUDA(cuMemcpyHtoDAsync, args_.norms, norms.data(), norms.size() * sizeof(float), stream);
}

namespace {

ListShape shapeOf(const RowStore &index) {
  static const ListCenters none;
  const ListCenters *const centers = index.listCenters();
  const ListCenters &by = centers ? *centers : none;
  ListShape shape = {{}, index.dims(), index.words(), by.values, by.fill, centers != nullptr};
  for (uint32_t i = 0; i < index.nLists(); ++i)
    shape.sizes.push_back(static_cast<uint32_t>(index.listSize(i)));
  return shape;
}

} // namespace

DeviceIndex::DeviceIndex(const RowStore &index, const std::shared_ptr<const Context> &context,
                         const Module &search, PinnedPieces &pieces, const Progress &progress)
    : DeviceIndex(index, context, search, pieces, progress, OwnStream(context)) {}

// The stream is there before the memory, and goes after all on it is done.
DeviceIndex::DeviceIndex(const RowStore &index, const std::shared_ptr<const Context> &context,
                         const Module &search, PinnedPieces &pieces, const Progress &progress,
                         const OwnStream &stream)
    : DeviceIndex(shapeOf(index), context, stream.get()) {
  const auto start = std::chrono::steady_clock::now();
  ContextScope scope(*context);
  const std::vector<List> &lists = index.lists();
  std::vector<uint64_t> firstGroup = {0};
  for (const List &list : lists)
    firstGroup.push_back(firstGroup.back() + uint64_t(list.groups()));
  // Groups of so many bytes stand in a list as they will on the device.
  const auto send = [&](uint64_t to, uint64_t bytes, auto bytesOf) {
    pieces.send(
        {groups(), bytes}, stream.get(),
        [&](uint64_t first, uint64_t last, std::byte *out) {
          auto l = size_t(std::upper_bound(firstGroup.begin(), firstGroup.end(), first) -
                          firstGroup.begin() - 1);
          for (; first < last; ++l) {
            const uint64_t count = std::min(last, firstGroup[l + 1]) - first;
            std::memcpy(out, bytesOf(lists[l]) + (first - firstGroup[l]) * bytes, count * bytes);
            first += count, out += count * bytes;
          }
        },
        [&](uint64_t first, uint64_t count, const std::byte *from) {
          ANNUDF_CUDA(cuMemcpyHtoDAsync, to + first * bytes, from, count * bytes, stream.get());
        },
        progress, "upload");
  };
  const uint64_t groupBytes = args_.chunks * uint64_t(kGroupRows) * 16;
  send(args_.ids, kGroupRows * sizeof(int64_t),
       [](const List &list) { return reinterpret_cast<const std::byte *>(list.ids.data()); });
  send(args_.rows, groupBytes,
       [](const List &list) { return reinterpret_cast<const std::byte *>(list.words.data()); });
  const uint64_t blocks = groups() * args_.chunks;
  if (blocks)
    StreamLauncher(*context, stream.get())
        .first(search.function("annudf_regroup"), {std::min<uint64_t>((blocks + 7) / 8, 1u << 20)},
               256, 0, args_.rows, blocks);
  ANNUDF_CUDA(cuStreamSynchronize, stream.get());
  report(progress, "upload", 1);
  uploadMs_ += msSince(start);
}

} // namespace annudf::runtime::cuda
