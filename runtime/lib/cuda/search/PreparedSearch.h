//===- PreparedSearch.h - A search as a graph of kernels -*- C++ -*- ------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CUDA_SEARCH_PREPAREDSEARCH_H
#define ANNUDF_RUNTIME_LIB_CUDA_SEARCH_PREPAREDSEARCH_H

#include "Pipeline.h"

#include <mutex>
#include <optional>

namespace annudf::runtime::cuda {

/// What a prepared search runs.
struct PreparedPipeline {
  Pipeline pipeline;
  FamilyKernels kernels;
  std::vector<std::shared_ptr<const void>> kept; ///< What the pipeline refers to.
  uint64_t queries;
  int64_t firstQuery;
  CUstream stream;
  bool countsPairs;
};

/// The kernels of a search as a graph, with a workspace of their own: a run checks addresses, puts
/// them into the graph where they are others than before, and launches it.
class GraphSearch final : public PreparedSearch {
public:
  GraphSearch(std::shared_ptr<const Context> context, PreparedPipeline prepared);
  ~GraphSearch() override; ///< Waits for its runs.

  void run(const void *queries, int64_t *ids, float *distances) override;
  void takePairs(SearchStats &stats) override;

private:
  struct Places {
    uint64_t queries = 0, ids = 0, distances = 0;
    bool operator==(const Places &) const = default;
  };
  void launchAll(const Places &places);

  const std::shared_ptr<const Context> context_;
  std::optional<NanCounter> nan_; ///< Set by prepared_, where pairs are counted.
  const PreparedPipeline prepared_;
  const uint64_t rowBytes_;
  std::mutex mutex_; ///< Guards what follows.
  Workspace workspace_;
  GraphLauncher graph_;
  Places places_; ///< Those that the graph has.
  CUevent done_ = nullptr;
};

} // namespace annudf::runtime::cuda

#endif // ANNUDF_RUNTIME_LIB_CUDA_SEARCH_PREPAREDSEARCH_H
