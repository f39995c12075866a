//===- DiskCache.h - Bytes by key, kept in files -------------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The folder, the files and the variables are those of the Python package's cache of compiled
// metrics (python-frontend-shim/annudf/_metric/cache.py): one bound for all that annudf keeps. An
// entry is magic, SHA-256 of key and payload, payload, in a file named by its key. It is written to
// a temporary file and renamed, so that a reader sees all of it or nothing; it is not forced to the
// disk, as one that a power cut tears is found by its digest like any other damage.
//
// What it holds is run as code, so a folder or a file that someone else may write to is not used.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_SUPPORT_DISKCACHE_H
#define ANNUDF_RUNTIME_SUPPORT_DISKCACHE_H

#include "annudf/ABI/annudf_limits.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace annudf::runtime {

/// May be used by any number of threads and processes at once: whatever another does, a load gives
/// what was stored under the key, or nothing.
class DiskCache {
public:
  static constexpr uint64_t kDefaultMostBytes = ANNUDF_DEFAULT_CACHE_BYTES;

  /// ANNUDF_CACHE_DIR, else $XDG_CACHE_HOME/annudf, else ~/.cache/annudf; none where
  /// ANNUDF_CACHE_DISABLE is set to anything but 0; ANNUDF_CACHE_MAX_BYTES.
  static DiskCache ofEnvironment();
  /// \param folder  "": there is no cache.
  DiskCache(std::string folder, uint64_t mostBytes)
      : folder_(std::move(folder)), mostBytes_(mostBytes) {}

  const std::string &folder() const { return folder_; }
  uint64_t mostBytes() const { return mostBytes_; }
  /// Why there is none, or what a variable should say; "" where the environment is as it should.
  const std::string &complaint() const { return complaint_; }

  /// The payload that was stored under `key`, or nothing. Damaged entries are removed; one above
  /// the bound is not read.
  /// \param key    of lower-case hexadecimal digits.
  /// \param fault  set to why the cache is no use, and left where it is just not there.
  std::optional<std::string> load(const std::string &key, std::string &fault) const;
  /// Removes what is stored under `key`, where it is found to be no use.
  void drop(const std::string &key) const;
  /// Keeps `payload`, and drops the entries that were not used for the longest time beyond the
  /// bound. \returns whether it is kept. \param fault  as of load().
  bool store(const std::string &key, std::string_view payload, std::string &fault) const;

private:
  std::string folder_;
  uint64_t mostBytes_;
  std::string complaint_; ///< About a variable that says nothing sensible.
};

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_SUPPORT_DISKCACHE_H
