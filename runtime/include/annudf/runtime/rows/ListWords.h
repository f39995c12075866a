//===- ListWords.h - Where the words of a list are -----------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_ROWS_LISTWORDS_H
#define ANNUDF_RUNTIME_ROWS_LISTWORDS_H

#include "annudf/Support/FileIO.h"
#include "annudf/runtime/support/HugePages.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace annudf::runtime {

/// The file of an index whose lists are read where they stand there.
struct MappedLists {
  std::shared_ptr<FileMapping> file;
  /// Until then a list takes what the file has; later, places that it gets again are zero.
  std::atomic<bool> isLoaded{false};
};

/// HugeAllocator, but for a first block that a mapped file has.
template <class T> class WordsAllocator {
public:
  using value_type = T;
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;
  using is_always_equal = std::false_type;

  WordsAllocator() = default;
  /// \param first  the place of the first block, which is as large as it is asked for there.
  WordsAllocator(std::shared_ptr<MappedLists> lists, T *first)
      : lists_(std::move(lists)), first_(first) {}
  template <class U> WordsAllocator(const WordsAllocator<U> &) noexcept {}

  T *allocate(size_t count) {
    if (T *first = std::exchange(first_, nullptr))
      return first;
    return HugeAllocator<T>().allocate(count);
  }
  void deallocate(T *memory, size_t count) noexcept {
    if (!isMapped(memory))
      HugeAllocator<T>().deallocate(memory, count);
  }
  template <class U> void construct(U *at) {
    if (!isMapped(at) || lists_->isLoaded)
      ::new (static_cast<void *>(at)) U();
  }
  template <class U, class... Values> void construct(U *at, Values &&...values) {
    ::new (static_cast<void *>(at)) U(std::forward<Values>(values)...);
  }
  /// A copy of a list is in memory.
  WordsAllocator select_on_container_copy_construction() const { return {}; }
  friend bool operator==(const WordsAllocator &a, const WordsAllocator &b) {
    return a.lists_ == b.lists_;
  }

private:
  bool isMapped(const void *at) const { return lists_ && lists_->file->holds(at); }

  std::shared_ptr<MappedLists> lists_;
  T *first_ = nullptr;
};

using ListWords = std::vector<uint32_t, WordsAllocator<uint32_t>>;

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_ROWS_LISTWORDS_H
