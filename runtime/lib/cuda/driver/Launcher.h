//===- Launcher.h - Where kernels go --------------------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CUDA_DRIVER_LAUNCHER_H
#define ANNUDF_RUNTIME_LIB_CUDA_DRIVER_LAUNCHER_H

#include "Driver.h"

#include <vector>

namespace annudf::runtime::cuda {

struct Grid {
  uint64_t x = 1, y = 1;
};

/// Where the kernels of a search go, one after the other.
class Launcher {
public:
  explicit Launcher(const Context &context);
  virtual ~Launcher() = default;
  Launcher(const Launcher &) = delete;
  Launcher &operator=(const Launcher &) = delete;

  /// The first kernel of a search, after all that is on the stream.
  template <class... Args>
  void first(CUfunction function, Grid grid, unsigned threads, unsigned sharedBytes,
             const Args &...args) {
    void *parameters[] = {const_cast<void *>(static_cast<const void *>(&args))...};
    launch({function, grid, threads, sharedBytes, false, parameters});
  }
  /// A kernel after it, which waits for the one before by itself (Overlap.cuh) and so may begin
  /// before that has ended.
  template <class... Args>
  void next(CUfunction function, Grid grid, unsigned threads, unsigned sharedBytes,
            const Args &...args) {
    void *parameters[] = {const_cast<void *>(static_cast<const void *>(&args))...};
    launch({function, grid, threads, sharedBytes, overlaps_, parameters});
  }

protected:
  struct Launch {
    CUfunction function;
    Grid grid;
    unsigned threads, sharedBytes;
    bool overlaps;
    void **parameters;
  };
  virtual void launch(const Launch &launch) = 0;

private:
  const bool overlaps_;
};

class StreamLauncher final : public Launcher {
public:
  StreamLauncher(const Context &context, CUstream stream) : Launcher(context), stream_(stream) {}

protected:
  void launch(const Launch &launch) override;

private:
  const CUstream stream_;
};

/// Kernels as a graph, which one call of the driver launches. What is launched before build() makes
/// the graph; what is after rewind() must be the same kernels, whose parameters it replaces.
class GraphLauncher final : public Launcher {
public:
  explicit GraphLauncher(const Context &context);
  ~GraphLauncher() override; ///< Its runs are done.

  void build();
  void rewind() { place_ = 0; }
  void run(CUstream stream) const;

protected:
  void launch(const Launch &launch) override;

private:
  CUgraph graph_ = nullptr;
  CUgraphExec built_ = nullptr;
  std::vector<CUgraphNode> nodes_;
  size_t place_ = 0;
};

} // namespace annudf::runtime::cuda

#endif // ANNUDF_RUNTIME_LIB_CUDA_DRIVER_LAUNCHER_H
