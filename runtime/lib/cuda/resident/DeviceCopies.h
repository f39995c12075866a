//===- DeviceCopies.h - Copies of indexes on one device ---------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CUDA_RESIDENT_DEVICECOPIES_H
#define ANNUDF_RUNTIME_LIB_CUDA_RESIDENT_DEVICECOPIES_H

#include "annudf/runtime/rows/RowStore.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace annudf::runtime::cuda {

/// Finds or makes the copy of an index on a device. The copy belongs to the index, whose end or
/// extension frees it; here it is only known which indexes have one, so that they can give them
/// up when memory is short. Thread-safe; knows no CUDA header, so that it is tested without.
class DeviceCopies {
public:
  /// \param make  \returns a std::shared_ptr to the copy. Where it throws an Error, but one of an
  /// interruption, copies of other indexes are let go and it is tried once more.
  /// \param made  set to whether this very call made it.
  template <class Make>
  auto get(const RowStore &index, int device, Make &&make, bool &made) -> decltype(make()) {
    const std::string key = keyOf(device);
    using Copy = typename decltype(make())::element_type;
    auto copy = index.attachments().get<Copy>(
        key,
        [&] {
          try {
            return make();
          } catch (const Error &error) {
            if (error.kind() == ErrorKind::Interrupted)
              throw;
            dropAll(device);
            return make();
          }
        },
        made);
    if (made)
      remember(index.weakAttachments());
    return copy;
  }

  /// Keys of a copy, of its rows in half precision (HalfRows.h), without and with their squares,
  /// of where its ids are, and of the rows that pass a filter.
  static std::string keyOf(int device) { return "cuda " + std::to_string(device); }
  static std::string halfKeyOf(int device) { return keyOf(device) + " half"; }
  static std::string squaresKeyOf(int device) { return keyOf(device) + " squares"; }
  static std::string slotsKeyOf(int device) { return keyOf(device) + " slots"; }
  static std::string passingKeyOf(int device) { return keyOf(device) + " passing"; }

private:
  void remember(std::weak_ptr<IndexAttachments> attachments) {
    std::lock_guard<std::mutex> lock(mutex_);
    holders_.erase(std::remove_if(holders_.begin(), holders_.end(),
                                  [](const auto &holder) { return holder.expired(); }),
                   holders_.end());
    holders_.push_back(std::move(attachments));
  }
  /// A search under way keeps its copy until it is done.
  void dropAll(int device) {
    std::vector<std::weak_ptr<IndexAttachments>> holders;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      holders.swap(holders_);
    }
    for (const auto &holder : holders)
      if (const auto attachments = holder.lock())
        for (const std::string &key : {squaresKeyOf(device), halfKeyOf(device), slotsKeyOf(device),
                                       passingKeyOf(device), keyOf(device)})
          attachments->drop(key);
  }

  std::mutex mutex_;
  std::vector<std::weak_ptr<IndexAttachments>> holders_;
};

} // namespace annudf::runtime::cuda

#endif // ANNUDF_RUNTIME_LIB_CUDA_RESIDENT_DEVICECOPIES_H
