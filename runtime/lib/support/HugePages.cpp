//===- HugePages.cpp - Memory that is read all over -----------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/support/HugePages.h"

#include "annudf/Support/Fork.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <sys/mman.h>
#include <utility>

// Their own allocators know the end of every block; ours would hide it from them.
#if defined(__SANITIZE_ADDRESS__)
#define ANNUDF_PLAIN_MEMORY 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define ANNUDF_PLAIN_MEMORY 1
#endif
#endif
#ifndef ANNUDF_PLAIN_MEMORY
#define ANNUDF_PLAIN_MEMORY 0
#endif

namespace annudf::runtime {
namespace {

constexpr size_t kHugePage = size_t(2) << 20;
/// What is asked of the system at once; address space, which becomes memory where it is used.
constexpr size_t kChunk = size_t(32) << 20;
/// Smaller blocks are the C library's: an index of them fits the translation buffers anyway, or
/// has so many that a map of free ranges would be slow.
constexpr size_t kSmallest = size_t(16) << 10;

constexpr size_t roundUp(size_t value, size_t unit) { return (value + unit - 1) / unit * unit; }

/// Chunks, and which ranges of them are free. A block that is in use has no entry.
class Chunks {
public:
  char *take(size_t bytes) {
    const std::lock_guard<BriefMutex> guard(lock_);
    auto found = bySize_.lower_bound({bytes, nullptr});
    if (found == bySize_.end())
      found = grow(bytes);
    // Entries are changed, not made: nothing fails once a range is chosen.
    auto size = bySize_.extract(found);
    char *const at = size.value().second;
    auto range = free_.extract(at);
    if (const size_t left = range.mapped() - bytes; left != 0) {
      range.key() = at + bytes, range.mapped() = left;
      size.value() = {left, at + bytes};
      free_.insert(std::move(range));
      bySize_.insert(std::move(size));
    }
    return at;
  }

  void give(char *begin, size_t bytes) noexcept {
    const std::lock_guard<BriefMutex> guard(lock_);
    const auto chunk = std::prev(chunks_.upper_bound(begin));
    char *const first = chunk->first, *const last = first + chunk->second;
    char *from = begin, *to = begin + bytes;
    // Ranges do not cross chunks, which go back one by one.
    auto next = free_.lower_bound(begin);
    if (next != free_.end() && next->first == to && to != last) {
      to += next->second;
      next = forget(next);
    }
    if (next != free_.begin())
      if (const auto before = std::prev(next);
          before->first >= first && before->first + before->second == from) {
        from = before->first;
        forget(before);
      }
    if (from == first && to == last) {
      held_ -= chunk->second;
      leave(first, chunk->second);
      chunks_.erase(chunk);
      return;
    }
    // The parts of this block in pages that nobody uses any more are memory again.
    char *const low = std::max(pageAtOrAfter(from), pageAtOrAfter(begin - (kHugePage - 1)));
    char *const high = std::min(pageAtOrAfter(to - (kHugePage - 1)), pageAtOrAfter(begin + bytes));
    if (low < high)
      ::madvise(low, static_cast<size_t>(high - low), MADV_DONTNEED);
    try {
      add(from, static_cast<size_t>(to - from));
    } catch (const std::bad_alloc &) { // The range is lost, and no more than that.
    }
  }

  size_t held() {
    const std::lock_guard<BriefMutex> guard(lock_);
    return held_;
  }

private:
  using BySize = std::set<std::pair<size_t, char *>>;
  using ByAddress = std::map<char *, size_t>;

  static char *pageAtOrAfter(char *at) {
    return at +
           (roundUp(reinterpret_cast<uintptr_t>(at), kHugePage) - reinterpret_cast<uintptr_t>(at));
  }

  BySize::iterator add(char *at, size_t size) {
    const auto range = free_.emplace(at, size).first;
    try {
      return bySize_.emplace(size, at).first;
    } catch (...) {
      free_.erase(range);
      throw;
    }
  }

  ByAddress::iterator forget(ByAddress::iterator range) {
    bySize_.erase({range->second, range->first});
    return free_.erase(range);
  }

  /// An empty chunk goes back to the system. One stays with its first page, or each of many small
  /// indexes, one after another, would wait for the system to clear a page.
  void leave(char *chunk, size_t size) noexcept {
    if (spare_ || size != kChunk) {
      ::munmap(chunk, size);
      return;
    }
    ::madvise(chunk + kHugePage, size - kHugePage, MADV_DONTNEED);
    spare_ = chunk;
  }

  /// A new chunk, all of it free.
  BySize::iterator grow(size_t bytes) {
    size_t size = std::max(kChunk, roundUp(bytes, kHugePage));
    char *memory = size == kChunk && spare_ ? std::exchange(spare_, nullptr) : map(size);
    if (!memory && size > roundUp(bytes, kHugePage)) // Where address space is short.
      memory = map(size = roundUp(bytes, kHugePage));
    if (!memory)
      throw std::bad_alloc();
    try {
      chunks_.emplace(memory, size);
      const auto range = add(memory, size);
      held_ += size;
      return range;
    } catch (...) {
      chunks_.erase(memory);
      ::munmap(memory, size);
      throw;
    }
  }

  /// `size` bytes that begin at a huge page; null if there are none.
  static char *map(size_t size) {
    void *const mapped = ::mmap(nullptr, size + kHugePage, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED)
      return nullptr;
    char *const all = static_cast<char *>(mapped), *const begin = pageAtOrAfter(all);
    if (begin != all)
      ::munmap(all, static_cast<size_t>(begin - all));
    if (const auto after = static_cast<size_t>(all + kHugePage - begin); after != 0)
      ::munmap(begin + size, after);
    ::madvise(begin, size, MADV_HUGEPAGE); // A wish: without it all is as right, and slower.
    return begin;
  }

  BriefMutex lock_;
  std::map<char *, size_t> chunks_; ///< By where they begin, their bytes.
  ByAddress free_;                  ///< Free ranges; no two of a chunk touch.
  BySize bySize_;                   ///< The same.
  char *spare_ = nullptr;           ///< A chunk that holds no block and is none of the others.
  size_t held_ = 0;
};

Chunks &chunks() {
  const NoFork untilMade;
  // Never destroyed: an index may be a static of the program.
  static Chunks *const instance = new Chunks;
  return *instance;
}

bool isPlain(size_t bytes) { return ANNUDF_PLAIN_MEMORY || bytes < kSmallest; }

} // namespace

void *takeHuge(size_t bytes) {
  if (isPlain(bytes))
    return ::operator new(bytes, std::align_val_t(kHugeAlignment));
  return chunks().take(roundUp(bytes, kHugeAlignment));
}

void giveHuge(void *memory, size_t bytes) noexcept {
  if (isPlain(bytes))
    ::operator delete(memory, std::align_val_t(kHugeAlignment));
  else
    chunks().give(static_cast<char *>(memory), roundUp(bytes, kHugeAlignment));
}

size_t hugeBytesHeld() { return chunks().held(); }

} // namespace annudf::runtime
