//===- Handles.h - Objects of the runtime's C API ---------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_LIB_CAPI_HANDLES_H
#define ANNUDF_LIB_CAPI_HANDLES_H

#include "IndexLock.h"
#include "Wrap.h"
#include "annudf-c/annudf.h"
#include "annudf/runtime/cuda/Cuda.h"
#include "annudf/runtime/engine/Predicate.h"
#include "annudf/runtime/engine/Search.h"
#include "annudf/runtime/ivf_flat/Index.h"

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

/// What does not change lies outside the lock, and so do the numbers that extend and remove move:
/// who asks for them may hold a lock (Python's, say) that their progress needs.
struct annudf_ivf_flat_index {
  explicit annudf_ivf_flat_index(annudf::runtime::Index made)
      : value(std::move(made)), size(value.size()), columns(value.columns().size()),
        generation(value.generation()) {}
  /// What the numbers are after a change.
  void tellChange() {
    size = value.size(), columns = value.columns().size(), generation = value.generation();
  }

  annudf::runtime::Index value;
  std::atomic<int64_t> size;
  std::atomic<size_t> columns;
  std::atomic<uint64_t> generation;
  mutable std::atomic<int64_t> owners{1}; ///< The caller, and prepared searches.
  mutable annudf::capi::IndexLock lock;
};

struct annudf_captures {
  annudf::runtime::BoundCaptures value;
};

/// Bits of rows, or a predicate.
struct annudf_filter {
  explicit annudf_filter(annudf::runtime::RowFilter filter)
      : value(std::make_shared<const annudf::runtime::RowFilter>(std::move(filter))),
        info{sizeof info, value->bits(), value->count(), 0, 0} {}
  explicit annudf_filter(std::vector<annudf::runtime::Predicate::Step> steps)
      : predicate(std::make_shared<const annudf::runtime::Predicate>(std::move(steps))),
        info{sizeof info, predicate->bits(), -1, 1, predicate->queries()} {}
  /// What a predicate joins it by.
  std::vector<annudf::runtime::Predicate::Step> steps() const {
    if (value)
      return {value};
    return {predicate->steps().begin(), predicate->steps().end()};
  }
  std::shared_ptr<const annudf::runtime::RowFilter> value; ///< Null where `predicate` is not.
  std::shared_ptr<const annudf::runtime::Predicate> predicate;
  annudf_filter_info info;
};

struct annudf_backend {
  std::shared_ptr<annudf::runtime::Backend> value; ///< Prepared searches hold it too.
  annudf::runtime::CudaBackend *cuda;              ///< The same, or null for the CPU.
  std::string description;
  annudf_backend_info info; ///< Points into the rest.
};

struct annudf_device_buffer {
  std::unique_ptr<annudf::runtime::DeviceMemory> value;
};

struct annudf_event {
  std::unique_ptr<annudf::runtime::StreamEvent> value;
};

struct annudf_environment {
  annudf::runtime::CudaEnvironment cuda;
  std::string cpu;
  std::vector<const char *> devices;
  std::vector<int32_t> archs;
  annudf_environment_info info = {}; ///< Points into the rest.
};

namespace annudf::capi {

/// Uses an index for the length of a call.
/// \throws Error(Usage) when this thread does already, from within a callback of that call:
/// it would wait for itself; and in a process that was forked while the index was being changed.
class IndexUse {
public:
  using Kind = IndexLock::Kind;
  IndexUse(const Call &call, const annudf_ivf_flat_index &index, Kind kind);
  ~IndexUse();
  IndexUse(const IndexUse &) = delete;
  IndexUse &operator=(const IndexUse &) = delete;

private:
  IndexLock::State &state_;
  const Kind kind_;
};

/// Keeps an index that its owner destroys.
class IndexHold {
public:
  explicit IndexHold(const annudf_ivf_flat_index &index) : index_(index) { ++index.owners; }
  ~IndexHold() { release(index_); }
  IndexHold(const IndexHold &) = delete;
  IndexHold &operator=(const IndexHold &) = delete;
  const annudf_ivf_flat_index *operator->() const { return &index_; }
  const annudf_ivf_flat_index &operator*() const { return index_; }
  static void release(const annudf_ivf_flat_index &index) {
    // What is half changed cannot be destroyed either: its process is not for long.
    if (--index.owners == 0 && !index.lock.state().isAbandoned)
      delete &index;
  }

private:
  const annudf_ivf_flat_index &index_;
};

/// \param what  the place, for messages: "queries.place".
/// \throws Error(Usage) for a place that is none.
bool isOnDevice(const Call &call, const annudf_place &given, const std::string &what);

/// Where an array of the caller's is.
struct Place {
  bool onDevice = false;
  void *stream = nullptr;
};
/// \param what  the array, for messages.
/// \throws Error(Usage) for a place that is none, and for device memory without the backend of that
/// device.
Place toPlace(const Call &call, const annudf_backend *backend, const annudf_place &given,
              const char *what);

/// A matrix of the caller's, and where it is.
struct PlacedMatrix {
  runtime::MatrixView view;
  Place at;
};
/// \throws Error(Usage) naming `what` for numbers that do not fit; as toPlace().
PlacedMatrix toPlaced(const Call &call, const annudf_backend *backend,
                      const annudf_vectors *vectors, const char *what);
/// Ids of the caller's in host memory: theirs, or a copy of what a device has.
class HostIds {
public:
  /// \param ids  null: none.
  /// \throws Error(Usage) as toPlace(), and for a count below 0.
  HostIds(const Call &call, annudf_backend *backend, const annudf_ids *ids);
  /// Null where none are given. \throws Error(Usage) unless there are as many as rows.
  const int64_t *forRows(const Call &call, int64_t rows) const;
  std::span<const int64_t> all() const { return ids_; }

private:
  std::vector<std::byte> copy_;
  std::span<const int64_t> ids_;
  bool given_;
};

/// The same of a matrix that must be in host memory.
runtime::MatrixView toMatrix(const Call &call, const annudf_vectors *vectors, const char *what);
annudf_element toElement(const Call &call, int32_t element);
runtime::Progress toProgress(annudf_progress progress, void *user);
/// The CUDA backend, or null where a call runs on the host.
runtime::CudaBackend *cudaOf(const annudf_backend *backend);

/// What keeps a value's device memory alive. Made first, so that it is released however
/// binding ends.
std::shared_ptr<const void> ownerOf(const annudf_capture_value &value);
/// \param what  "capture" or "column".
runtime::CaptureValue toValue(const Call &call, const annudf_capture_value &value,
                              std::shared_ptr<const void> owner, const char *what);
std::map<std::string, runtime::CaptureValue>
toValues(const Call &call, const annudf_capture_value *values, size_t count, const char *what);
/// Values of columns; those on the device of the backend are copied to the host.
runtime::NewColumns toColumns(const Call &call, annudf_backend *backend,
                              const annudf_capture_value *values, size_t count);

void checkBuildStats(const Call &call, const annudf_ivf_flat_build_stats *stats);
/// The caller's struct may be an older, shorter one, or null.
void give(annudf_ivf_flat_build_stats *to, const runtime::BuildStats &from);

} // namespace annudf::capi

#endif // ANNUDF_LIB_CAPI_HANDLES_H
