//===- RecentCopies.h - Host arrays that are on the device already -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What captures and filters share: copies by what they hold, last used first. Not locked: whoever
// has one locks.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CUDA_RESIDENT_RECENTCOPIES_H
#define ANNUDF_RUNTIME_LIB_CUDA_RESIDENT_RECENTCOPIES_H

#include "cuda/driver/Driver.h"

#include <algorithm>
#include <list>
#include <memory>
#include <utility>

namespace annudf::runtime::cuda {

/// \tparam Key  equal for equal bytes only.
template <class Key> class RecentCopies {
public:
  /// The copy of `bytes`, made in the current context where there is none.
  template <class Bytes>
  std::shared_ptr<const Buffer> get(const std::shared_ptr<const Context> &context, const Key &key,
                                    const Bytes &bytes) {
    const auto found = std::find_if(recent_.begin(), recent_.end(),
                                    [&](const auto &one) { return one.first == key; });
    if (found != recent_.end()) {
      recent_.splice(recent_.begin(), recent_, found);
      return recent_.front().second;
    }
    auto copy = std::make_shared<const Buffer>(context, bytes.size() * sizeof(*bytes.data()));
    ANNUDF_CUDA(cuMemcpyHtoD, copy->device(), bytes.data(), copy->size());
    // The copy runs on the default stream, which other streams do not wait for.
    ANNUDF_CUDA(cuStreamSynchronize, nullptr);
    recent_.push_front({key, copy});
    return copy;
  }

  /// Lets all but the last used `most` go; searches under way hold references of their own.
  void trim(size_t most) {
    while (recent_.size() > most)
      recent_.pop_back();
  }

private:
  std::list<std::pair<Key, std::shared_ptr<const Buffer>>> recent_; ///< Last used first.
};

} // namespace annudf::runtime::cuda

#endif // ANNUDF_RUNTIME_LIB_CUDA_RESIDENT_RECENTCOPIES_H
