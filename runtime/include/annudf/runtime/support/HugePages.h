//===- HugePages.h - Memory that is read all over ------------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An index is larger than what a processor's translation buffers cover in pages of 4 KiB, and a
// search jumps from list to list. So lists share chunks of memory that the system may back with
// pages of 2 MiB.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_SUPPORT_HUGEPAGES_H
#define ANNUDF_RUNTIME_SUPPORT_HUGEPAGES_H

#include <cstddef>
#include <limits>
#include <new>

namespace annudf::runtime {

/// Where blocks of takeHuge begin, so that no load of a vector crosses a line of the cache and a
/// group's lines come in pairs.
inline constexpr size_t kHugeAlignment = 128;

/// Memory of at least `bytes`, not initialised, aligned to kHugeAlignment. Thread-safe.
/// \throws std::bad_alloc
void *takeHuge(size_t bytes);
/// \param bytes  as they were asked for.
void giveHuge(void *memory, size_t bytes) noexcept;

/// Bytes of the chunks that blocks of takeHuge lie in, used or not, for tests.
size_t hugeBytesHeld();

/// takeHuge for a container.
template <class T> struct HugeAllocator {
  using value_type = T;
  HugeAllocator() = default;
  template <class U> HugeAllocator(const HugeAllocator<U> &) noexcept {}
  T *allocate(size_t count) {
    if (count > std::numeric_limits<size_t>::max() / 2 / sizeof(T))
      throw std::bad_array_new_length();
    return static_cast<T *>(takeHuge(count * sizeof(T)));
  }
  void deallocate(T *memory, size_t count) noexcept { giveHuge(memory, count * sizeof(T)); }
  friend bool operator==(HugeAllocator, HugeAllocator) { return true; }
};

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_SUPPORT_HUGEPAGES_H
