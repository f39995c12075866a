//===- Pipeline.h - The kernels of a search, in order -----------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CUDA_SEARCH_PIPELINE_H
#define ANNUDF_RUNTIME_LIB_CUDA_SEARCH_PIPELINE_H

#include "StageClock.h"
#include "Workspace.h"
#include "cuda/driver/Launcher.h"
#include "cuda/plan/Families.h"
#include "cuda/resident/DeviceIndex.h"
#include "cuda/resident/HalfRows.h"
#include "kernels/cuda/common/RadiusArgs.h"

#include "annudf/Artifact/Artifact.h"
#include "annudf/runtime/engine/Search.h"

#include <optional>

namespace annudf::runtime::cuda {

struct DevicePredicate;

/// The kernels of Search.cu.
struct SearchKernels {
  explicit SearchKernels(std::shared_ptr<const Context> context);
  Module module;
  CUfunction coarseFew, coarseMany, selectProbes, selectProbesByWarp, takeProbes, tileOffsets,
      tileSort, tileFill, queryWords, finish, finishMany, everyDistance, within, merge, mergeFew,
      dealProbes, filterBits, joinWords;
};

/// A kernel of a family, linked with a metric for the types of rows and queries, and loaded.
struct ScanKernel {
  /// \param cubin  from linkScanKernel.
  ScanKernel(const std::shared_ptr<const Context> &context, const std::string &cubin,
             const char *kernel);
  /// What annudf1_scan_contract of the linked metric returns. Waits for the device.
  uint64_t readContract(std::shared_ptr<const Context> context) const;
  Module module;
  CUfunction function;
};

/// A family's kernels, in the order of its entries.
struct FamilyKernels {
  const CudaFamily *family;
  std::vector<std::shared_ptr<const ScanKernel>> kernels;
  CUfunction scan() const { return kernels.front()->function; }
  CUfunction last() const { return kernels.back()->function; }
};

/// What a batch needs room for.
/// \param predicate  null: none.
BatchShape shapeOf(const DeviceIndex &index, const Workload &batch, const CudaFamily &family,
                   bool isFiltered, const DevicePredicate *predicate);

/// Checks the coarse stage and the final selection, which are no family's.
/// \throws Error(Usage) when a query does not fit a block's shared memory.
void checkFits(const DeviceIndex &index, const Context &context);

/// How lists are ranked by their centers.
struct RankBy {
  annudf_coarse metric;
  annudf_order order;
};
/// Launches what writes the best lists of each query to the workspace.
/// \param clock  null: none.
void enqueueRanking(const SearchKernels &kernels, const DeviceIndex &index, const RankBy &by,
                    const annudf_scan_args &args, const BatchShape &shape, Launcher &to,
                    StageClock *clock);
/// What a batch needs to rank its lists alone.
BatchShape shapeOfRanking(const DeviceIndex &index, uint64_t queries, uint32_t probes);
/// The queries of a batch as kernels read them.
annudf_queries queriesAt(uint64_t data, uint64_t count, annudf_element element, uint32_t dims,
                         int64_t base);

/// A search that is ready to run; everything lives on the device.
struct Pipeline {
  const ExecutionPlan plan;
  const Context &context;
  const SearchKernels &kernels;
  const DeviceIndex &index;
  annudf_slots slots;
  uint64_t filter; ///< As of annudf_scan_args; 0 where there is a predicate, which has it.
  annudf_element queryElement;
  annudf_order order;
  annudf_coarse coarse;
  annudf_order coarseOrder;
  uint32_t k, nProbes;
  bool isRanked;      ///< Whether lists are ranked for a query by their centers.
  bool everyDistance; ///< Not the k best are wanted but the distances of all k rows, by their ids.
  bool packedNegated; ///< Whether the sum of the family "packed" is subtracted.
  std::shared_ptr<const BoundRows> bound; ///< For the family "matrix"; null for all others.
  /// Where lists that the caller names would stand for the query with number 0, const uint32_t *,
  /// nProbes a query; none: all lists are scanned, or they are ranked.
  std::optional<uint64_t> given;
  std::shared_ptr<const DevicePredicate> predicate = {}; ///< Null: none.
  bool hasSpareLists = false; ///< Whether `given` names lists that another device scans.
  int64_t firstOwn = 0;       ///< Number of the query whose list is the first, where each has one.
  uint64_t nan = 0;           ///< As of annudf_scan_args.
  bool rowsAreSlots = false;  ///< The same: captures of rows are in slot order.
  /// Not the k best are wanted but all rows within its radius; first is 0.
  std::optional<annudf_within> within = {};

  /// Queries of every batch but the last.
  uint64_t batch() const { return static_cast<uint64_t>(plan.batch); }
  /// Pairs that `count` queries score: an estimate, but where all lists are probed without a
  /// filter.
  int64_t pairsOf(uint64_t count) const;
  /// Makes room for enqueue() of `count` queries, so that it allocates nothing.
  void reserve(Workspace &workspace, uint64_t count) const;
  /// Launches what the predicate's bits are computed by, of the pairs as they are, sorted or not.
  /// \pre there is one.
  void enqueuePredicate(const annudf_scan_args &args, const BatchShape &shape, Launcher &to) const;
  /// Launches the search of `count` queries, batch() at most.
  /// \param linked  of the plan's family.
  /// \param base  index of the first in the caller's batch.
  /// \param ids   not written to for everyDistance, and neither are distances for a radius.
  /// \param clock has begun; it is told the stages, and then the search is waited for. Mostly null.
  void enqueue(const FamilyKernels &linked, Workspace &workspace, Launcher &to, uint64_t queryData,
               uint64_t count, int64_t base, uint64_t ids, uint64_t distances,
               StageClock *clock) const;

  /// Finds once more what is within the radius of `queries` queries of the batch from to.first on.
  /// The arguments before are those that enqueue() of the batch had. Counts no NaN.
  void enqueueWithin(const FamilyKernels &linked, Workspace &workspace, Launcher &launcher,
                     uint64_t queryData, uint64_t count, int64_t base, const annudf_within &to,
                     uint64_t queries) const;
  /// Block rows of a batch of `count` queries that share the rows of a query within a radius.
  uint64_t blocksWithin(uint64_t count) const;

private:
  Workload workOf(uint64_t count) const { return plan.workOf(static_cast<int64_t>(count)); }
  BatchShape shapeOf(uint64_t count) const {
    BatchShape shape =
        cuda::shapeOf(index, workOf(count), familyOf(plan), filter != 0, predicate.get());
    shape.lists += hasSpareLists ? ANNUDF_SPARE_LISTS : 0;
    return shape;
  }
  annudf_scan_args argsOf(Workspace &workspace, const BatchShape &shape, uint64_t queryData,
                          int64_t base) const;
  /// The lists that each query probes.
  void enqueueProbes(const annudf_scan_args &args, const BatchShape &shape, Launcher &to,
                     StageClock *clock) const;
  annudf_survivors_args survivorsOf(const annudf_scan_args &args, uint64_t evaluated) const;
  /// The best rows, or every distance, of the keys that a scan left.
  void enqueueFinish(const annudf_scan_args &args, const BatchShape &shape, Launcher &to,
                     uint64_t ids, uint64_t distances) const;
  /// The rows within the radius of `queries` queries, of whatever the family's scan left.
  /// \param isFirst  whether no kernel is before it.
  void enqueueRows(const annudf_scan_args &args, const BatchShape &shape, CUfunction kernel,
                   Launcher &launcher, const annudf_within &to, uint64_t queries,
                   uint64_t evaluated, bool isFirst) const;
  /// The best rows by `kernel`, of the bounds that products left, or of granules' keys.
  /// \param evaluated  as annudf_survivors_args has it.
  void enqueueExact(const annudf_scan_args &args, const BatchShape &shape, CUfunction kernel,
                    Launcher &to, uint64_t ids, uint64_t distances, uint64_t evaluated) const;
};

} // namespace annudf::runtime::cuda

#endif // ANNUDF_RUNTIME_LIB_CUDA_SEARCH_PIPELINE_H
