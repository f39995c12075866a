//===- PassingRows.h - The rows alone that pass a filter --------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CUDA_BUILD_PASSINGROWS_H
#define ANNUDF_RUNTIME_LIB_CUDA_BUILD_PASSINGROWS_H

#include "CandidateStore.h"

#include "annudf/runtime/engine/Filter.h"

#include <memory>
#include <mutex>

namespace annudf::runtime::cuda {

/// One list of rows of an index.
struct ListOfRows {
  std::shared_ptr<DeviceIndex> list; ///< Null: none is made.
  int64_t rows = 0;
};

/// The rows of an index that pass a filter, in the order of its lists, in one list. Waits for it.
/// \param filter  const uint32_t *, on the device: as of annudf_scan_args.
/// \param most  as many as are expected to pass; more take longer.
/// \throws Error(Environment) where memory is short.
ListOfRows gatherPassing(const std::shared_ptr<const Context> &context, const BuildKernels &kernels,
                         CandidateMemory &memory, const DeviceIndex &index, uint64_t filter,
                         int64_t most);

/// Keeps the gathered rows of an index's last filter, for more searches with it. Thread-safe.
class PassingRows : public IndexAttachment {
public:
  /// Whether of() makes nothing.
  bool has(const RowFilter &filter) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return last_.list && number_ == filter.number();
  }
  /// \param make  \returns a ListOfRows.
  template <class Make> ListOfRows of(const RowFilter &filter, Make make) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (last_.list && number_ == filter.number())
      return last_;
    last_ = {}; // First, so that its memory is there for the other.
    const ListOfRows made = make();
    if (made.rows <= mostKept_)
      last_ = made, number_ = filter.number();
    return made;
  }
  /// \param mostKept  more rows are not kept.
  explicit PassingRows(int64_t mostKept) : mostKept_(mostKept) {}

private:
  const int64_t mostKept_;
  std::mutex mutex_;
  uint64_t number_ = 0;
  ListOfRows last_;
};

} // namespace annudf::runtime::cuda

#endif // ANNUDF_RUNTIME_LIB_CUDA_BUILD_PASSINGROWS_H
