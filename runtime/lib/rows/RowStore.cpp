//===- RowStore.cpp - Rows of one element type, in lists ----------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/rows/RowStore.h"

#include "annudf/Artifact/Artifact.h"
#include "annudf/runtime/rows/Candidates.h"

#include <utility>

namespace annudf::runtime {

int32_t wordsPerRow(annudf_element element, int32_t dims) {
  return static_cast<int32_t>((bytesOfRow(element, dims) + 15) / 16 * 4);
}

const std::vector<List> &ListsElsewhere::get() {
  std::call_once(once_, [&] {
    const std::lock_guard<std::mutex> lock(fetching_);
    lists_ = fetch();
    fetched_ = true;
  });
  return lists_;
}

std::span<const int64_t> ListsElsewhere::ids(uint32_t list) {
  std::call_once(idsOnce_, [&] {
    const std::lock_guard<std::mutex> lock(fetching_);
    if (fetched_)
      return;
    std::vector<size_t> first = {0};
    for (const int64_t size : sizes())
      first.push_back(first.back() + size_t(groupsOf(size) * kGroupRows));
    ids_ = fetchIds();
    firstId_ = std::move(first);
  });
  if (ids_.empty())
    return get()[list].ids;
  return std::span(ids_).subspan(firstId_[list], firstId_[list + 1] - firstId_[list]);
}

int32_t RowStore::words() const { return wordsPerRow(element_, dims_); }

void RowStore::takeLists() {
  if (!elsewhere_)
    return;
  // A copy of this index may need them, too.
  lists_ = elsewhere_.use_count() == 1 ? elsewhere_->release() : elsewhere_->get();
  elsewhere_ = nullptr;
}

void RowStore::bringToHost() {
  takeLists();
  attachments_ = std::make_shared<IndexAttachments>();
}

void RowStore::changed(std::shared_ptr<IndexAttachments> attachments) {
  generation_ = nextGeneration();
  attachments_ = std::move(attachments);
}

std::vector<float> RowStore::meanOfRows() const {
  return std::vector<float>(static_cast<size_t>(dims_));
}

bool RowStore::idsAreRowNumbers() const {
  if (largestId_ != size_ - 1)
    return false;
  struct Answer : IndexAttachment {
    bool value = true;
  };
  bool made = false;
  return attachments_
      ->get<Answer>(
          "ids are row numbers",
          [&] {
            auto answer = std::make_shared<Answer>();
            std::vector<bool> seen(static_cast<size_t>(size_));
            for (uint32_t l = 0; l < nLists(); ++l)
              for (const int64_t of : idsOf(l).first(static_cast<size_t>(listSize(l)))) {
                const auto id = static_cast<size_t>(of);
                answer->value = answer->value && !seen[id];
                seen[id] = true;
              }
            return answer;
          },
          made)
      ->value;
}

uint32_t probesOf(const RowStore &store, const Candidates &candidates) {
  if (const auto *ranked = std::get_if<Lists>(&candidates))
    return ranked->probes;
  const auto *given = std::get_if<Given>(&candidates);
  return given ? given->probes : store.nLists();
}

bool areRanked(const RowStore &store, const Candidates &candidates) {
  const auto *ranked = std::get_if<Lists>(&candidates);
  return ranked && ranked->probes < store.nLists();
}

uint64_t nextGeneration() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

} // namespace annudf::runtime
