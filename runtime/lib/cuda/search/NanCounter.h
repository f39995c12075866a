//===- NanCounter.h - Pairs that kernels find to be NaN -*- C++ -*- -------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels count in device memory, and only the first pair writes to host memory. So a search
// without NaN costs nothing, on either side: the host looks at a word of its own.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CUDA_SEARCH_NANCOUNTER_H
#define ANNUDF_RUNTIME_LIB_CUDA_SEARCH_NANCOUNTER_H

#include "cuda/driver/Driver.h"
#include "cuda/driver/PinnedPieces.h"
#include "kernels/cuda/common/ScanArgs.h"

#include "annudf/runtime/engine/Search.h"
#include "annudf/runtime/support/OnceCache.h"

#include <memory>
#include <mutex>
#include <string>

namespace annudf::runtime::cuda {

class NanCounter {
public:
  explicit NanCounter(const std::shared_ptr<const Context> &context);
  NanCounter(const NanCounter &) = delete;
  NanCounter &operator=(const NanCounter &) = delete;

  /// annudf_nan *, for annudf_scan_args.
  uint64_t address() const { return counted_.device(); }

  /// A search was enqueued that counts here. \param pairs  that it scores.
  void enqueued(int64_t pairs);
  /// Adds to `stats` what was counted since the last call, of kernels that still run a part, and
  /// the pairs that were enqueued. Waits for no search. From any thread.
  /// The example is the first pair since it was begun anew.
  void take(SearchStats &stats);
  /// Adds what was counted, and begins anew. \pre no kernel runs that counts here.
  void takeAll(SearchStats &stats);

private:
  bool found() const;
  uint64_t read();

  const std::shared_ptr<const Context> context_;
  Buffer counted_, example_;
  const OwnStream stream_; ///< Waits for no search.
  std::mutex mutex_;
  uint64_t told_ = 0;
  int64_t pairs_ = 0;
};

/// A counter for each of the latest metrics whose searches are only enqueued.
class NanCounters {
public:
  explicit NanCounters(std::shared_ptr<const Context> context) : context_(std::move(context)) {}
  /// To be kept until the search is done.
  std::shared_ptr<NanCounter> of(const std::string &digest) {
    bool made = false;
    return counters_.get(digest, [&] { return std::make_shared<NanCounter>(context_); }, made);
  }

private:
  const std::shared_ptr<const Context> context_;
  OnceCache<std::string, NanCounter> counters_{256};
};

} // namespace annudf::runtime::cuda

#endif // ANNUDF_RUNTIME_LIB_CUDA_SEARCH_NANCOUNTER_H
