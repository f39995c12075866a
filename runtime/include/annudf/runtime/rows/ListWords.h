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

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace annudf::runtime {

/// HugeAllocator, but for a first block that a mapped file or another list has. Words are not
/// zeroed, so that those of a file or a list stay as they are and are not read.
template <class T> class WordsAllocator {
public:
  using value_type = T;
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;
  using is_always_equal = std::false_type;

  WordsAllocator() = default;
  /// The first block that is asked for is the `count` words at `first`.
  WordsAllocator(std::shared_ptr<FileMapping> file, T *first, size_t count)
      : file_(std::move(file)), first_(first), count_(count) {}
  /// The same of words that another list has for at least as long.
  WordsAllocator(const T *first, size_t count)
      : first_(const_cast<T *>(first)), borrowed_(first), count_(count) {}
  template <class U> WordsAllocator(const WordsAllocator<U> &) noexcept {}

  T *allocate(size_t count) {
    T *first = std::exchange(first_, nullptr);
    return first && count == count_ ? first : HugeAllocator<T>().allocate(count);
  }
  void deallocate(T *memory, size_t count) noexcept {
    if (memory != borrowed_ && (!file_ || !file_->holds(memory)))
      HugeAllocator<T>().deallocate(memory, count);
  }
  template <class U> void construct(U *at) { ::new (static_cast<void *>(at)) U; }
  template <class U, class... Values> void construct(U *at, Values &&...values) {
    ::new (static_cast<void *>(at)) U(std::forward<Values>(values)...);
  }
  /// A copy of a list is in memory.
  WordsAllocator select_on_container_copy_construction() const { return {}; }
  friend bool operator==(const WordsAllocator &a, const WordsAllocator &b) {
    return a.file_ == b.file_ && a.borrowed_ == b.borrowed_;
  }

private:
  std::shared_ptr<FileMapping> file_;
  T *first_ = nullptr;
  const T *borrowed_ = nullptr;
  size_t count_ = 0;
};

using ListWords = std::vector<uint32_t, WordsAllocator<uint32_t>>;

/// Gives a list so many words, of which new ones are zero.
inline void resizeZeroed(ListWords &words, size_t count) {
  const size_t before = words.size();
  words.resize(count);
  if (count > before)
    std::fill(words.begin() + static_cast<ptrdiff_t>(before), words.end(), 0u);
}

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_ROWS_LISTWORDS_H
