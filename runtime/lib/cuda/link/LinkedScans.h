//===- LinkedScans.h - Linked kernels, in memory and on disk ----*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Cubins of this process, whichever device they are for; loading one is the device's affair. Needs
// no GPU. Links run off every lock: one a key however many threads ask, and none waits for another
// key's.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CUDA_LINK_LINKEDSCANS_H
#define ANNUDF_RUNTIME_LIB_CUDA_LINK_LINKEDSCANS_H

#include "Linker.h"

#include "annudf/runtime/engine/Search.h"

namespace annudf::runtime::cuda {

struct LinkedScan {
  std::string key; ///< The KernelKey's.
  std::string cubin;
  bool fromDisk;
  std::string fault;  ///< Why the cache on disk was no use; "" where it was, or is off.
  bool ahead = false; ///< Whether no search waited for it.
};

/// Whether a link for that architecture has ended in this process: what nvJitLink makes once for
/// it, and leaves to exit() to undo, is made then.
bool hasLinkedFor(int sm);

class LinkedScans {
public:
  /// In memory at once: some 64 metrics, each with the kernels of two or three families.
  static constexpr size_t kMost = 192;

  /// Those of the process.
  static LinkedScans &get();

  /// From memory, else from disk, else linked.
  /// \param made  set to whether this very call made it. \throws as linkScanKernel.
  std::shared_ptr<const LinkedScan> get(const MetricView &metric, const ScanTarget &target,
                                        bool &made);
  /// get(), and then `load` of the LinkedScan. One that `load` refuses by an Error, as the driver
  /// does with what some other program stored under the key, is forgotten in memory and on disk;
  /// where it came from disk it is linked, once.
  template <class Load>
  std::shared_ptr<const LinkedScan> use(const MetricView &metric, const ScanTarget &target,
                                        bool &made, Load &&load) {
    for (bool again = false;; again = true) {
      auto scan = get(metric, target, made);
      try {
        load(*scan);
        return scan;
      } catch (const Error &) {
        drop(scan);
        if (again || !scan->fromDisk)
          throw;
      }
    }
  }
  /// Whether get() would find it in memory or on disk.
  bool has(const MetricView &metric, const ScanTarget &target);
  /// get(), for searches to come.
  void link(const MetricView &metric, const ScanTarget &target);
  size_t size() const { return scans_.size(); }

private:
  void drop(const std::shared_ptr<const LinkedScan> &scan);

  KernelCache<const LinkedScan> scans_{kMost};
};

/// Adds kernels that were made side by side; linkMs is the caller's, as their times overlap.
void addLinks(const std::vector<SearchStats> &costs, SearchStats &to);

} // namespace annudf::runtime::cuda

#endif // ANNUDF_RUNTIME_LIB_CUDA_LINK_LINKEDSCANS_H
