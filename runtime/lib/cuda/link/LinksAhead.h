//===- LinksAhead.h - Kernels linked in the background ----------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Touches no driver: what is linked is loaded by the search that takes it.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CUDA_LINK_LINKSAHEAD_H
#define ANNUDF_RUNTIME_LIB_CUDA_LINK_LINKSAHEAD_H

#include "LinkEstimate.h"
#include "LinkedScans.h"

#include "annudf/runtime/support/Background.h"

#include <functional>

namespace annudf::runtime::cuda {

/// A search, as far as its links go.
struct LinkQuestion {
  MetricView metric;
  ScanElements elements;
  int sm;
  std::span<const CudaFamily *const> needed; ///< Those of its batches.
  Workload work;                             ///< With all its queries.
  Machine machine;
  double rows; ///< That all of them scan, at most.
  /// Whether a kernel is there, however it was made.
  std::function<bool(const ScanEntry &)> isThere;
};

/// What one backend has linked for searches to come, in the thread of the process: it waits for a
/// link of its own that is under way when it goes, and drops those that are not. Thread-safe.
class LinksAhead {
public:
  explicit LinksAhead(LinkedScans &links = LinkedScans::get(),
                      Background &background = Background::get())
      : links_(links), background_(background) {}
  ~LinksAhead() { background_.leave(this); }
  LinksAhead(const LinksAhead &) = delete;
  LinksAhead &operator=(const LinksAhead &) = delete;

  /// The family to run instead of those that are needed; null: they are there, or better waited
  /// for.
  const CudaFamily *insteadOf(const LinkQuestion &question);
  /// Has those that are needed and not there linked. For who runs another by insteadOf(), whose
  /// kernel was linked first. \returns the first of them; null where they will not be, or are
  /// there.
  const CudaFamily *begin(const LinkQuestion &question);
  /// Whether get() of LinkedScans would not link.
  bool has(const MetricView &metric, const ScanTarget &target) {
    return links_.has(metric, target);
  }

private:
  std::vector<const CudaFamily *> missing(const LinkQuestion &question) const;
  /// As of updateSlots.
  std::optional<double> slotsOf(const LinkQuestion &question);

  LinkedScans &links_;
  Background &background_;
  OnceCache<std::string, const std::optional<double>> slots_{1024}; ///< By the metric's digest.
};

} // namespace annudf::runtime::cuda

#endif // ANNUDF_RUNTIME_LIB_CUDA_LINK_LINKSAHEAD_H
