//===- NanCounter.cpp - Pairs that kernels find to be NaN -----------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NanCounter.h"

#include <atomic>
#include <cstring>

namespace annudf::runtime::cuda {

NanCounter::NanCounter(const std::shared_ptr<const Context> &context)
    : context_(context), counted_(context, sizeof(annudf_nan)),
      example_(context, sizeof(annudf_nan_example) + sizeof(annudf_nan), Buffer::Kind::Pinned),
      stream_(context) {
  const ContextScope scope(*context_);
  std::memset(example_.host(), 0, example_.size());
  // Addresses of pinned memory are the same on both sides.
  const annudf_nan begun = {0, reinterpret_cast<uint64_t>(example_.host())};
  std::byte *const staged = example_.host() + sizeof(annudf_nan_example);
  std::memcpy(staged, &begun, sizeof begun);
  ANNUDF_CUDA(cuMemcpyHtoDAsync, counted_.device(), staged, sizeof begun, stream_.get());
  ANNUDF_CUDA(cuStreamSynchronize, stream_.get());
}

bool NanCounter::found() const {
  const auto &example = *reinterpret_cast<const volatile annudf_nan_example *>(example_.host());
  const bool found = example.found != 0;
  std::atomic_thread_fence(std::memory_order_acquire); // The pair is read after the word.
  return found;
}

uint64_t NanCounter::read() {
  std::byte *const staged = example_.host() + sizeof(annudf_nan_example);
  ANNUDF_CUDA(cuMemcpyDtoHAsync, staged, counted_.device(), sizeof(uint64_t), stream_.get());
  ANNUDF_CUDA(cuStreamSynchronize, stream_.get());
  uint64_t count = 0;
  std::memcpy(&count, staged, sizeof count);
  return count;
}

void NanCounter::enqueued(int64_t pairs) {
  const std::lock_guard<std::mutex> lock(mutex_);
  pairs_ += pairs;
}

void NanCounter::take(SearchStats &stats) {
  const std::lock_guard<std::mutex> lock(mutex_);
  SearchStats counted;
  counted.scored = pairs_;
  if (found()) {
    const ContextScope scope(*context_);
    const uint64_t count = read();
    counted.nanDistances = static_cast<int64_t>(count - told_);
    told_ = count;
    if (counted.nanDistances != 0) {
      annudf_nan_example example;
      std::memcpy(&example, example_.host(), sizeof example);
      counted.nanQuery = example.query, counted.nanRow = example.row;
    }
  }
  pairs_ = 0;
  stats.addPairs(counted);
}

void NanCounter::takeAll(SearchStats &stats) {
  take(stats);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!found())
    return;
  const ContextScope scope(*context_);
  ANNUDF_CUDA(cuMemsetD8Async, counted_.device(), 0, sizeof(uint64_t), stream_.get());
  ANNUDF_CUDA(cuStreamSynchronize, stream_.get());
  std::memset(example_.host(), 0, sizeof(annudf_nan_example));
  told_ = 0;
}

} // namespace annudf::runtime::cuda
