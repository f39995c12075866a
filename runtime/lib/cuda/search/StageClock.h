//===- StageClock.h - How long the stages of a search take ------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CUDA_SEARCH_STAGECLOCK_H
#define ANNUDF_RUNTIME_LIB_CUDA_SEARCH_STAGECLOCK_H

#include "cuda/driver/Driver.h"
#include "kernels/cuda/common/ScanArgs.h"

#include "annudf/runtime/engine/Search.h"

#include <memory>
#include <vector>

namespace annudf::runtime::cuda {

/// Events between the stages of a search, batch after batch, on one stream.
class StageClock {
public:
  explicit StageClock(std::shared_ptr<const Context> context);
  ~StageClock();
  StageClock(const StageClock &) = delete;
  StageClock &operator=(const StageClock &) = delete;

  void begin(CUstream stream);
  /// What was enqueued since the mark before is the stage `name`, which outlives the clock.
  void mark(const char *name);
  /// Where a kernel of the batch adds the granules that it evaluates, unsigned long long. Without
  /// one all rows are.
  uint64_t granules() {
    countsGranules_ = true;
    return granules_.device();
  }
  /// Waits for the batch and adds it up.
  /// \param probes  of its queries, on the device: `pairs` numbers of lists.
  void end(const annudf_device_index &index, uint64_t probes, uint64_t pairs);

  /// Writes what `queries` queries took, all batches together.
  void report(uint64_t queries, SearchStats &stats) const;

private:
  /// Record a new event.
  void record();

  CUstream stream_ = nullptr;
  std::vector<CUevent> events_; ///< One more than names_, during a batch.
  std::vector<const char *> names_;
  std::vector<StageTime> stages_;
  uint64_t rows_ = 0, evaluated_ = 0;
  Buffer granules_; ///< The batch's.
  bool countsGranules_ = false;
};

} // namespace annudf::runtime::cuda

#endif // ANNUDF_RUNTIME_LIB_CUDA_SEARCH_STAGECLOCK_H
