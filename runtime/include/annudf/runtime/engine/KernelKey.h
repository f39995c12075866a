//===- KernelKey.h - What decides what a link makes ----------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The key of a linked kernel, the same for the CPU and for GPUs, in memory and on disk. All that
// goes into a link is in it, and nothing else: values of captures never are.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_ENGINE_KERNELKEY_H
#define ANNUDF_RUNTIME_ENGINE_KERNELKEY_H

#include "annudf/runtime/engine/Search.h"
#include "annudf/runtime/support/OnceCache.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace annudf::runtime {

struct KernelKey {
  // The metric.
  std::string abi;
  uint32_t abiMajor = 0, abiMinor = 0;
  std::string contract; ///< Digest of what the scan relies on: SHA-256 of encodeContract().
  std::string payload;  ///< Digest of the metric's code.
  // The types of a scan.
  std::string rowElement, queryElement, compute, accumulator;
  // The scan.
  std::string scan; ///< Digest of the scan's own code.
  // The linker.
  std::string linker, linkerVersion;
  std::vector<std::string> options; ///< In order.
  // The machine.
  std::string arch;     ///< "sm_90a" with its suffix, or the processor's name.
  std::string features; ///< The processor's; "" for a GPU.
  uint32_t vectorBits = 0;

  /// SHA-256 over all fields, each length-prefixed: 64 hexadecimal digits.
  std::string digest() const;
};

/// The metric's and the types' part of a key.
/// \param payload  the code that will be linked.
KernelKey metricKey(const MetricView &metric, const Payload &payload, ScanElements elements);

/// Linked kernels by KernelKey, for one backend. Thread-safe; one link a key, however many ask.
template <class Kernel> class KernelCache {
public:
  using Pointer = std::shared_ptr<Kernel>;

  explicit KernelCache(size_t capacity = 64) : kernels_(capacity) {}

  /// \param entry    which of the backend's kernels; "" where there is but one.
  /// \param makeKey  \returns the KernelKey; not asked again for a metric, elements and entry that
  /// were asked for before, as the artifact's digest settles all but what the backend fixes.
  /// \param link     \returns the kernel as a Pointer; gets the key's digest.
  /// \param made     set to whether this very call linked.
  /// \throws what `link` throws, in every thread that waited. A failure is not kept.
  template <class MakeKey, class Link>
  Pointer get(const MetricView &metric, ScanElements elements, std::string_view entry,
              MakeKey &&makeKey, Link &&link, bool &made) {
    const std::string key = keyOf(metric, elements, entry, makeKey);
    return kernels_.get(key, [&] { return link(key); }, made);
  }

  /// The digest of the key under which get() looks.
  template <class MakeKey>
  std::string digest(const MetricView &metric, ScanElements elements, std::string_view entry,
                     MakeKey &&makeKey) {
    return keyOf(metric, elements, entry, makeKey);
  }

  /// The kernel if it is there, else null: without a link, a wait, or a KernelKey that nobody asked
  /// for before.
  Pointer find(const MetricView &metric, ScanElements elements, std::string_view entry) {
    const std::string known = nameOf(metric, elements, entry);
    std::string key;
    {
      std::lock_guard<BriefMutex> lock(mutex_);
      const auto found = keys_.find(known);
      if (found == keys_.end())
        return nullptr;
      key = found->second;
    }
    return kernels_.find(key);
  }

  /// Forgets a kernel. \param key  its digest. \returns whether it was the one that is kept.
  bool erase(const std::string &key, const Pointer &kernel) { return kernels_.erase(key, kernel); }

  size_t size() const { return kernels_.size(); }

private:
  static std::string nameOf(const MetricView &metric, ScanElements elements,
                            std::string_view entry) {
    return (metric.digest + "/" + std::to_string(int(elements.rows)) + "/" +
            std::to_string(int(elements.queries)) + "/")
        .append(entry);
  }

  template <class MakeKey>
  std::string keyOf(const MetricView &metric, ScanElements elements, std::string_view entry,
                    MakeKey &makeKey) {
    const std::string known = nameOf(metric, elements, entry);
    {
      std::lock_guard<BriefMutex> lock(mutex_);
      if (const auto found = keys_.find(known); found != keys_.end())
        return found->second;
    }
    const std::string key = KernelKey(makeKey()).digest();
    std::lock_guard<BriefMutex> lock(mutex_);
    constexpr size_t kMost = 1024; // Some 200 bytes each.
    if (keys_.size() >= kMost)
      keys_.clear();
    keys_[known] = key;
    return key;
  }

  BriefMutex mutex_;
  std::unordered_map<std::string, std::string> keys_;
  OnceCache<std::string, Kernel> kernels_;
};

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_ENGINE_KERNELKEY_H
