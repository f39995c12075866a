//===- TeamLanes.cpp - What a search by several devices works in ----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TeamLanes.h"

namespace annudf::runtime::cuda {

Event::Event(std::shared_ptr<const Context> context) : context_(std::move(context)) {
  const ContextScope scope(*context_);
  ANNUDF_CUDA(cuEventCreate, &event_, CU_EVENT_DISABLE_TIMING);
}

Event::~Event() {
  const Driver &driver = Driver::get();
  if (driver.cuCtxPushCurrent(context_->handle()) != CUDA_SUCCESS)
    return;
  (void)driver.cuEventDestroy(event_);
  CUcontext popped;
  (void)driver.cuCtxPopCurrent(&popped);
}

void Room::reserve(size_t bytes) {
  if (has(bytes))
    return;
  buffer_ = nullptr; // First, so that both need not fit.
  buffer_ = std::make_unique<Buffer>(context_, bytes, Buffer::Kind::Device,
                                     "a search by several devices");
}

Lanes::Lanes(const std::vector<std::shared_ptr<const Context>> &contexts)
    : mergedIds(contexts.front()), mergedDistances(contexts.front()), begun(contexts.front()),
      ended(contexts.front()) {
  for (const auto &context : contexts)
    of.push_back(std::make_unique<Lane>(context));
}

Lanes::~Lanes() {
  const Driver &driver = Driver::get();
  CUcontext popped;
  for (const auto &lane : of) { // No thread need have one of their contexts.
    if (driver.cuCtxPushCurrent(lane->context->handle()) != CUDA_SUCCESS)
      continue;
    (void)driver.cuStreamSynchronize(lane->stream.get());
    if (lane == of.front())
      (void)driver.cuEventSynchronize(ended.get()); // The caller's stream merges.
    (void)driver.cuCtxPopCurrent(&popped);
  }
}

void Lanes::reserve(const Sizes &sizes) {
  bool fits = mergedIds.has(sizes.mergedIds) && mergedDistances.has(sizes.mergedDistances);
  for (const auto &lane : of)
    fits = fits && lane->queries.has(sizes.queries) && lane->lists.has(sizes.lists) &&
           lane->ids.has(sizes.ids) && lane->distances.has(sizes.distances);
  if (fits)
    return;
  ANNUDF_CUDA(cuEventSynchronize, ended.get());
  mergedIds.reserve(sizes.mergedIds), mergedDistances.reserve(sizes.mergedDistances);
  for (const auto &lane : of) {
    lane->queries.reserve(sizes.queries), lane->lists.reserve(sizes.lists);
    lane->ids.reserve(sizes.ids), lane->distances.reserve(sizes.distances);
  }
}

void Stage::reserve(size_t bytes) {
  device.reserve(bytes);
  if (!pinned || pinned->size() < bytes) {
    pinned = nullptr;
    pinned = std::make_unique<Buffer>(context, bytes, Buffer::Kind::Pinned);
  }
}

std::unique_ptr<LanesPool::Lease> LanesPool::acquire() {
  std::unique_ptr<Lanes> lanes = free_.take();
  if (!lanes)
    lanes = std::make_unique<Lanes>(contexts_);
  return std::make_unique<Lease>(*this, std::move(lanes));
}

LanesPool::Lease::~Lease() {
  if (isDone_)
    pool_.free_.give(std::move(lanes_));
}

void connectPeers(const std::vector<std::shared_ptr<const Context>> &contexts) {
  const Driver &driver = Driver::get();
  for (const auto &from : contexts)
    for (const auto &to : contexts) {
      int can = 0;
      if (from->device() == to->device() ||
          driver.cuDeviceCanAccessPeer(&can, from->device(), to->device()) != CUDA_SUCCESS || !can)
        continue;
      const ContextScope scope(*from);
      const CUresult result = driver.cuCtxEnablePeerAccess(to->handle(), 0);
      if (result != CUDA_SUCCESS && result != CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED)
        continue; // Copies go by way of the host.
      // Memory of pools has an access of its own.
      CUmemoryPool pool = nullptr;
      const CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, from->device()},
                                      CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
      if (driver.cuDeviceGetDefaultMemPool(&pool, to->device()) == CUDA_SUCCESS)
        (void)driver.cuMemPoolSetAccess(pool, &access, 1);
    }
}

void copyBetween(const Context &toDevice, uint64_t to, const Context &fromDevice, uint64_t from,
                 size_t bytes, CUstream stream) {
  if (bytes != 0)
    ANNUDF_CUDA(cuMemcpyPeerAsync, to, toDevice.handle(), from, fromDevice.handle(), bytes, stream);
}

} // namespace annudf::runtime::cuda
