//===- Attachments.h - What backends keep of an index -----------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_ROWS_ATTACHMENTS_H
#define ANNUDF_RUNTIME_ROWS_ATTACHMENTS_H

#include "annudf/runtime/support/OnceCache.h"

#include <limits>
#include <memory>
#include <string>

namespace annudf::runtime {

/// What a backend makes of an index and needs again: a copy in device memory, centers prepared
/// for a coarse metric. It does not refer to the index.
class IndexAttachment {
public:
  virtual ~IndexAttachment() = default;
};

/// The attachments of one state of an index, owned by it: they go when it is extended,
/// loses rows or is destroyed, but for those that a search under way holds. Thread-safe.
class IndexAttachments {
public:
  /// The attachment of this key ("cuda 0"), made where there is none: once, however many threads
  /// ask, while others of the index are not held up.
  /// \param make  \returns a std::shared_ptr<T>. A failure is not kept.
  /// \param made  set to whether this very call made it.
  template <class T, class Make>
  std::shared_ptr<T> get(const std::string &key, Make &&make, bool &made) {
    return std::static_pointer_cast<T>(
        attached_.get(key, [&]() -> std::shared_ptr<IndexAttachment> { return make(); }, made));
  }

  /// Lets go of one, where memory is short. Whoever holds it keeps it.
  void drop(const std::string &key) { attached_.erase(key); }

  size_t size() const { return attached_.size(); }

private:
  OnceCache<std::string, IndexAttachment> attached_{std::numeric_limits<size_t>::max()};
};

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_ROWS_ATTACHMENTS_H
