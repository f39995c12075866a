//===- PassingRows.cpp - The rows alone that pass a filter ----------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PassingRows.h"

#include "cuda/driver/Launcher.h"

#include <utility>
#include <vector>

namespace annudf::runtime::cuda {
namespace {

constexpr uint64_t kPastEnd = ANNUDF_PAST_END * kGroupRows * 16;

/// Where the list is in memory.
struct ListPlaces {
  uint64_t rows, ids;
  uint64_t bytes; ///< The rows take them, with what may be read past the end.

  ListPlaces(Places &places, uint64_t groups, uint32_t chunks)
      : bytes(groups * chunks * kGroupRows * 16 + kPastEnd) {
    rows = places.add(bytes), ids = places.add(groups * kGroupRows * sizeof(int64_t));
  }
};

} // namespace

ListOfRows gatherPassing(const std::shared_ptr<const Context> &context, const BuildKernels &kernels,
                         CandidateMemory &memory, const DeviceIndex &index, uint64_t filter,
                         int64_t most) {
  const annudf_device_index &from = index.args();
  const auto groups = static_cast<uint32_t>(index.groups());
  constexpr uint32_t kNumbers = 5;
  Places places;
  const uint64_t numbers = places.add(kNumbers * 4), stay = places.add(uint64_t(groups) * 4),
                 before = places.add((uint64_t(groups) + 1) * 4);
  ListPlaces at(places, uint64_t(groupsOf(most)), from.chunks);
  const std::shared_ptr<const Buffer> buffer = memory.take(places.used());
  std::shared_ptr<const Buffer> larger;
  uint64_t base = buffer->device();
  const OwnStream stream(context);
  StreamLauncher launcher(*context, stream.get());
  const uint64_t staying = base + stay, sums = base + before;
  launcher.first(kernels.markPassing, {blocksFor(uint64_t(groups) * kGroupRows)}, 256, 0, from.ids,
                 groups, filter, staying, sums);
  launcher.first(kernels.prefix, {1}, 1024, 0, sums, uint64_t(groups) + 1);
  uint32_t count = 0;
  ANNUDF_CUDA(cuMemcpyDtoHAsync, &count, sums + uint64_t(groups) * 4, sizeof count, stream.get());
  ANNUDF_CUDA(cuStreamSynchronize, stream.get());
  const auto made = static_cast<uint32_t>(groupsOf(count));
  if (int64_t(count) > most) { // Several rows have one id.
    Places others;
    at = ListPlaces(others, made, from.chunks);
    larger = memory.take(others.used());
    base = larger->device();
  } else {
    at.bytes = uint64_t(made) * from.chunks * kGroupRows * 16 + kPastEnd;
  }
  // The list begins at group 0, ends, and has a size; so do all lists, without the size.
  const uint32_t ofLists[kNumbers] = {0, made, count, 0, groups};
  const uint64_t table = buffer->device() + numbers;
  ANNUDF_CUDA(cuMemcpyHtoDAsync, table, ofLists, sizeof ofLists, stream.get());
  ANNUDF_CUDA(cuMemsetD8Async, base + at.rows + at.bytes - kPastEnd, 0, kPastEnd, stream.get());
  const CandidateShape shape = {.lists = 1,
                                .groups = made,
                                .dims = from.dims,
                                .chunks = from.chunks,
                                .rows = base + at.rows,
                                .layout = ANNUDF_ROWS_IN_GROUPS,
                                .ids = base + at.ids,
                                .numbers = 0,
                                .listGroup = table,
                                .listSize = table + 8};
  const uint64_t oldGroup = table + 12;
  const uint32_t lists = 1;
  if (made != 0)
    launcher.first(kernels.move, {made}, 128, 0, from.rows, from.ids, oldGroup, staying, sums,
                   shape.listGroup, lists, from.chunks, shape.rows, shape.ids);
  std::vector<std::shared_ptr<const void>> held = {buffer};
  if (larger)
    held.push_back(larger);
  auto list = std::make_shared<DeviceIndex>(shape, std::move(held));
  ANNUDF_CUDA(cuStreamSynchronize, stream.get());
  return {std::move(list), count};
}

} // namespace annudf::runtime::cuda
