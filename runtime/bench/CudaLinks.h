//===- CudaLinks.h - Links of the GPU bench, timed or replaced --*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_BENCH_CUDALINKS_H
#define ANNUDF_RUNTIME_BENCH_CUDALINKS_H

#include "annudf/runtime/engine/Search.h"

#include <filesystem>
#include <string>

namespace annudf::bench {

/// An empty folder that linked kernels are kept in from then on, gone with this.
class CacheFolder {
public:
  CacheFolder();
  ~CacheFolder();
  CacheFolder(const CacheFolder &) = delete;
  CacheFolder &operator=(const CacheFolder &) = delete;

private:
  std::filesystem::path path;
};

/// What a first search of each batch waits for before it runs, by a process (of which a LinkedScans
/// of its own stands for one) that finds nothing, the disk's entry, or the kernel in memory. The
/// driver's loading of the cubin is in it.
void timeLinks(const runtime::Metric &metric, annudf_element element, const std::string &dtype);

/// Has this process find the cubin, a file, in the place of each kernel of the metric that it
/// holds, as if it came from the cache on disk.
void replaceByHand(const runtime::Metric &metric, annudf_element element, const std::string &cubin,
                   const CacheFolder &folder);

} // namespace annudf::bench

#endif // ANNUDF_RUNTIME_BENCH_CUDALINKS_H
