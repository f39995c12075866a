//===- PreparedSearch.cpp - A search as a graph of kernels ----------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PreparedSearch.h"

#include "cuda/driver/CallerMemory.h"

#include <algorithm>

namespace annudf::runtime::cuda {

static PreparedPipeline counting(PreparedPipeline prepared,
                                 const std::shared_ptr<const Context> &context,
                                 std::optional<NanCounter> &nan) {
  if (prepared.countsPairs)
    nan.emplace(context);
  prepared.pipeline.nan = nan ? nan->address() : 0;
  return prepared;
}

GraphSearch::GraphSearch(std::shared_ptr<const Context> context, PreparedPipeline prepared)
    : context_(std::move(context)), prepared_(counting(std::move(prepared), context_, nan_)),
      rowBytes_(static_cast<uint64_t>(
          bytesOfRow(prepared_.pipeline.queryElement, prepared_.pipeline.index.args().dims))),
      workspace_(context_, prepared_.pipeline.plan.machine.workspaceBytes), graph_(*context_) {
  // Room for every batch comes first: what is in the graph must stay where it is.
  for (const uint64_t count :
       {prepared_.pipeline.batch(), prepared_.queries % prepared_.pipeline.batch()})
    if (count)
      prepared_.pipeline.reserve(workspace_, count);
  launchAll(places_);
  graph_.build();
  ANNUDF_CUDA(cuEventCreate, &done_, CU_EVENT_DISABLE_TIMING);
}

GraphSearch::~GraphSearch() {
  const Driver &driver = Driver::get();
  // The thread may have no context.
  const bool isCurrent = driver.cuCtxPushCurrent(context_->handle()) == CUDA_SUCCESS;
  (void)driver.cuEventSynchronize(done_);
  (void)driver.cuEventDestroy(done_);
  CUcontext popped;
  if (isCurrent)
    (void)driver.cuCtxPopCurrent(&popped);
}

void GraphSearch::launchAll(const Places &places) {
  const Pipeline &pipeline = prepared_.pipeline;
  for (uint64_t first = 0; first < prepared_.queries; first += pipeline.batch())
    pipeline.enqueue(prepared_.kernels, workspace_, graph_, places.queries + first * rowBytes_,
                     std::min(pipeline.batch(), prepared_.queries - first),
                     prepared_.firstQuery + static_cast<int64_t>(first),
                     places.ids + first * pipeline.k * sizeof(int64_t),
                     places.distances + first * pipeline.k * sizeof(float), nullptr);
}

void GraphSearch::run(const void *queries, int64_t *ids, float *distances) {
  const Places places = {reinterpret_cast<uint64_t>(queries), reinterpret_cast<uint64_t>(ids),
                         reinterpret_cast<uint64_t>(distances)};
  const uint64_t results = prepared_.queries * prepared_.pipeline.k;
  const std::lock_guard<std::mutex> lock(mutex_);
  const ContextScope scope(*context_);
  checkDeviceMemory(*context_, places.queries, prepared_.queries * rowBytes_,
                    alignmentOf(prepared_.pipeline.queryElement), "queries");
  checkDeviceMemory(*context_, places.ids, results * sizeof(int64_t), sizeof(int64_t), "ids");
  checkDeviceMemory(*context_, places.distances, results * sizeof(float), sizeof(float),
                    "distances");
  (void)checkStream(*context_, prepared_.stream);
  if (places != places_) {
    places_ = {}; // No caller's, should what follows fail halfway.
    graph_.rewind();
    launchAll(places);
    places_ = places;
  }
  if (nan_)
    nan_->enqueued(prepared_.pipeline.pairsOf(prepared_.queries));
  graph_.run(prepared_.stream);
  ANNUDF_CUDA(cuEventRecord, done_, prepared_.stream);
}

void GraphSearch::takePairs(SearchStats &stats) {
  if (!nan_)
    return;
  const std::lock_guard<std::mutex> lock(mutex_);
  const ContextScope scope(*context_);
  // All is told of runs that are done, so that the next ones bring an example of their own.
  if (Driver::get().cuEventQuery(done_) == CUDA_SUCCESS)
    nan_->takeAll(stats);
  else
    nan_->take(stats);
}

} // namespace annudf::runtime::cuda
