//===- StageClock.cpp - How long the stages of a search take --------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StageClock.h"

#include "kernels/cuda/common/ProductArgs.h"

#include <algorithm>
#include <utility>

namespace annudf::runtime::cuda {

StageClock::StageClock(std::shared_ptr<const Context> context)
    : granules_(std::move(context), sizeof(uint64_t)) {}

StageClock::~StageClock() {
  for (CUevent event : events_)
    (void)Driver::get().cuEventDestroy(event);
}

void StageClock::record() {
  CUevent event = nullptr;
  ANNUDF_CUDA(cuEventCreate, &event, CU_EVENT_DEFAULT);
  events_.push_back(event);
  ANNUDF_CUDA(cuEventRecord, event, stream_);
}

void StageClock::begin(CUstream stream) {
  stream_ = stream;
  ANNUDF_CUDA(cuMemsetD8Async, granules_.device(), 0, granules_.size(), stream_);
  record();
}

void StageClock::mark(const char *name) {
  record();
  names_.push_back(name);
}

void StageClock::end(const annudf_device_index &index, uint64_t probes, uint64_t pairs) {
  std::vector<uint32_t> lists(pairs), sizes(index.nLists);
  ANNUDF_CUDA(cuMemcpyDtoHAsync, lists.data(), probes, pairs * sizeof(uint32_t), stream_);
  ANNUDF_CUDA(cuMemcpyDtoHAsync, sizes.data(), index.listSize, sizes.size() * sizeof(uint32_t),
              stream_);
  uint64_t granules = 0;
  ANNUDF_CUDA(cuMemcpyDtoHAsync, &granules, granules_.device(), sizeof granules, stream_);
  ANNUDF_CUDA(cuStreamSynchronize, stream_);
  uint64_t rows = 0;
  for (uint32_t list : lists)
    rows += sizes[list];
  rows_ += rows;
  // A list may end within a granule.
  evaluated_ += countsGranules_ ? std::min(granules * ANNUDF_GRANULE_ROWS, rows) : rows;
  countsGranules_ = false;
  for (size_t i = 0; i < names_.size(); ++i) {
    float ms = 0;
    ANNUDF_CUDA(cuEventElapsedTime, &ms, events_[i], events_[i + 1]);
    addStage(stages_, names_[i], static_cast<double>(ms));
  }
  for (CUevent event : events_)
    ANNUDF_CUDA(cuEventDestroy, event);
  events_.clear(), names_.clear();
}

void StageClock::report(uint64_t queries, SearchStats &stats) const {
  stats.stages = stages_;
  stats.rowsPerQuery = static_cast<double>(rows_) / static_cast<double>(queries);
  stats.evaluatedPerQuery = static_cast<double>(evaluated_) / static_cast<double>(queries);
}

} // namespace annudf::runtime::cuda
