//===- ListsOnDevice.cpp - Lists that a device alone has ------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ListsOnDevice.h"

#include "annudf/runtime/support/Parallel.h"

#include <cstring>

namespace annudf::runtime::cuda {

std::vector<List> ListsOnDevice::fetch() {
  ContextScope scope(*context_);
  const annudf_device_index &args = copy_->args();
  const uint64_t words = args.chunks * uint64_t(4) * kGroupRows; // A group's words.
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

std::vector<int64_t> ListsOnDevice::fetchIds() {
  ContextScope scope(*context_);
  std::vector<int64_t> ids(copy_->groups() * kGroupRows);
  ANNUDF_CUDA(cuMemcpyDtoH, ids.data(), copy_->args().ids, ids.size() * 8);
  return ids;
}

} // namespace annudf::runtime::cuda
