//===- CandidateStore.h - Candidates of queries on a device -----*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CUDA_BUILD_CANDIDATESTORE_H
#define ANNUDF_RUNTIME_LIB_CUDA_BUILD_CANDIDATESTORE_H

#include "BuildKernels.h"
#include "cuda/resident/DeviceIndex.h"

#include "annudf/runtime/cuda/Cuda.h"

#include <functional>
#include <memory>
#include <mutex>

namespace annudf::runtime::cuda {

/// Places in one allocation, each at a multiple of 256 bytes.
class Places {
public:
  uint64_t add(uint64_t bytes) {
    const uint64_t place = used_;
    used_ += (bytes + 255) / 256 * 256;
    return place;
  }
  uint64_t used() const { return used_; }

private:
  uint64_t used_ = 0;
};

/// Memory of stores, of which the last is kept for the next call: to allocate and to free it takes
/// longer than a search. Thread-safe.
class CandidateMemory : public std::enable_shared_from_this<CandidateMemory> {
public:
  explicit CandidateMemory(std::shared_ptr<const Context> context) : context_(std::move(context)) {}
  /// It comes back when nobody holds it.
  std::shared_ptr<const Buffer> take(uint64_t bytes);

private:
  void giveBack(std::unique_ptr<Buffer> buffer);

  static constexpr uint64_t kMostKept = uint64_t(512) << 20;
  const std::shared_ptr<const Context> context_;
  std::mutex mutex_;
  std::unique_ptr<Buffer> kept_;
};

/// Where the ids of an index are, on a device. Owned by the index, as an attachment.
class SlotsThere : public IndexAttachment {
public:
  /// Waits for the stream.
  SlotsThere(std::shared_ptr<const SlotsOfIds> slots, const std::shared_ptr<const Context> &context,
             CUstream stream);
  const SlotsOfIds &here() const { return *slots_; }
  annudf_id_slots args() const;

private:
  const std::shared_ptr<const SlotsOfIds> slots_;
  const Buffer ids_, numbers_;
};

/// An index that candidates are rows of, and what a device has of it.
struct IndexOfCandidates {
  const RowStore *index = nullptr;
  std::shared_ptr<const DeviceIndex> copy;
  std::shared_ptr<const SlotsThere> slots;
};

/// What a store is made of.
struct CandidateCall {
  MatrixView rows;                    ///< On the device; of an index their shape alone.
  std::shared_ptr<const Buffer> copy; ///< What the rows are in; null: the caller's memory.
  IndexOfCandidates of;               ///< Without an index candidates are numbers of `rows`.
  CandidateRows candidates;
  bool onDevice = false;        ///< Whether the candidates are there.
  CUstream stream;              ///< For work on them.
  int64_t first = 0, count = 0; ///< Queries.
  bool missingValues = false;
};

/// A store for some queries, with its lists on the device.
struct MadeCandidates {
  std::unique_ptr<const RowStore> store;
  std::shared_ptr<DeviceIndex> lists;
  /// Waits for the stream. To be called, before what is enqueued on another stream reads the lists;
  /// they leave out what is no row. \throws ArgumentError(Input) naming a candidate that is none.
  std::function<void()> check;
};
/// \param call  lives until check() has returned.
/// \pre fewer than 2^32 - 1 rows.
MadeCandidates makeCandidates(const std::shared_ptr<const Context> &context,
                              const BuildKernels &kernels, CandidateMemory &memory,
                              const CandidateCall &call);

/// Bytes that a query takes in such a store.
int64_t bytesOfCandidatesThere(const CandidateCall &call);

} // namespace annudf::runtime::cuda

#endif // ANNUDF_RUNTIME_LIB_CUDA_BUILD_CANDIDATESTORE_H
