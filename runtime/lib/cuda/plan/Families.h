//===- Families.h - The kernel families of the CUDA backend -----*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Knows no CUDA header, so that its plans are tested where there is none.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CUDA_PLAN_FAMILIES_H
#define ANNUDF_RUNTIME_LIB_CUDA_PLAN_FAMILIES_H

#include "kernels/cuda/common/ProductArgs.h"
#include "kernels/cuda/common/ScanArgs.h"

#include "annudf/runtime/engine/Plan.h"
#include "annudf/runtime/engine/Search.h"

#include <algorithm>
#include <optional>
#include <span>

namespace annudf::runtime::cuda {

/// Warps of a scan's block, and chunks of 16 bytes of a row that each has in flight.
inline constexpr int kWarps = ANNUDF_SCAN_THREADS / 32, kChunksAhead = ANNUDF_MOST_AHEAD;
/// Shared memory of the family "parts" for accumulators.
inline constexpr uint64_t kPartsBytes = ANNUDF_PARTS_BYTES;
/// Shared memory of the rows that a block of `tiles` has asked for.
inline constexpr uint64_t kRingBytes = ANNUDF_RING_BYTES;
/// Queries that share one reading of a list in the family "tiles".
inline constexpr int kTileQueries = ANNUDF_TILE_QUERIES;
/// Threads that stay on a processor in families whose blocks take tiles by ticket, if its shared
/// memory has room for them.
inline constexpr unsigned kStagedThreads = ANNUDF_STAGED_PROCESSOR_THREADS;
/// Groups of a list that are one tile in the family "staged": few, so that blocks end together, as
/// measured (docs/results/reasons.md, "Segments of a list").
inline constexpr uint32_t kSegmentGroups = 8, kPackedSegmentGroups = 32;
/// LTO-IR of plain arithmetic is 1.8 to 2.6 KB; from here on it holds a function of
/// libdevice (Minkowski's powf: 4.5 KB), whose copies a link would spend its time on.
inline constexpr size_t kLargeBodyBytes = 3328;

/// Dimensions of a panel of rows or queries in half precision, and the panels of a vector.
inline constexpr uint64_t kPanelDims = ANNUDF_MATRIX_PANEL_DIMS;
constexpr uint64_t panelsOf(uint64_t dims) { return (dims + kPanelDims - 1) / kPanelDims; }
/// Groups of a list that are one tile of the family "matrix", which has four to a tile of its own:
/// of long vectors, where the queries of a list are one tile, few, so that blocks end together (of
/// short ones what an item begins with then takes longer than that saves).
inline constexpr uint32_t kMatrixSegmentGroups = 32, kMatrixFewSegmentGroups = 8;
/// The architecture whose instructions the products of the family "matrix" are (wgmma), and the
/// oldest of those of "matrix_mma".
inline constexpr int kMatrixSm = 90, kMatrixByWarpsSm = 80;

/// Bytes of workspace that every search may take; one that takes more should be worth it.
inline constexpr uint64_t kUsualWorkspace = uint64_t(256) << 20;

/// From here on a kernel may begin before the one before it has ended (Overlap.cuh).
inline constexpr int kOverlapSm = 90;
/// From here on memory is copied to shared memory by itself.
inline constexpr int kCopiesSm = 80;

/// Whether a processor has matrix instructions that count the bits of x & y. Those of sm_100 and
/// later have none: ptxas calls functions of its own for them (sm_100), or makes them of others.
constexpr bool hasBitProducts(int sm) { return sm >= 80 && sm < 100; }

/// A file of runtime/kernels/cuda whose kernels call hooks: a fragment for each pair of widths.
/// A new one is a row here, in CMakeLists.txt and in Embedded.cpp.
enum class ScanSource {
  Lists,      ///< Scan.cu.
  Parts,      ///< Scan.cu with ANNUDF_PARTS.
  Candidates, ///< Scan.cu with ANNUDF_CANDIDATES.
  Staged,     ///< Staged.cu, for coordinates of 32 bits.
  Packed,     ///< Staged.cu with ANNUDF_PACKED, for accumulators of 32 bits.
  Survivors,  ///< Survivors.cu, for words of accumulators and coordinates of 32 bits.
  Predicate,  ///< Predicate.cu, which is linked with a filter alone.
};

/// One kernel of such a file.
struct ScanEntry {
  ScanSource source;
  const char *kernel;
};

/// That of filters that see the query.
inline constexpr ScanEntry kFilterWords = {ScanSource::Predicate, "annudf_filter_words"};

/// How a batch's (query, list) pairs are sorted into tiles: some queries and a part of a list that
/// all of them probe.
struct Tiling {
  uint32_t queries = 0;                  ///< Most of a tile; 0: pairs are not sorted.
  uint32_t segmentGroups = ~uint32_t(0); ///< Most groups of 32 rows of a tile.
  bool coordinates = false;   ///< Whether the scan takes queries as words of the compute type.
  bool packed = false;        ///< Then: as words of their elements instead.
  bool bounds = false;        ///< Whether bounds are left, and not keys (ProductArgs.h).
  bool boundsByWarps = false; ///< Then: by the products of Mma.cuh, not of Wgmma.cuh.
  uint64_t panels = 0;        ///< Then: of a query.
  bool granules = false;      ///< Whether the keys that are left are of granules (ProductArgs.h).
  bool ranks = false;         ///< Whether the scan finds the best rows, and no keys are left.
  /// Whether the last of the family's kernels finds the best rows, by hooks.
  bool endsInHooks() const { return bounds || granules; }
};

/// Where a family enqueues its scan of one batch: a stream, or a test that writes it down.
class ScanQueue {
public:
  virtual ~ScanQueue() = default;
  /// Sorts the batch's (query, list) pairs into the family's tiles, and converts its queries, or
  /// makes the terms of the rows that pass its filter, if these are to be. For families that sort.
  /// \returns the most tiles there can be.
  virtual uint64_t sortPairs() = 0;
  /// The family's kernel over `items` pairs or tiles. Their lists are cut into segments, a block
  /// each, until there are `perProcessor` blocks for each processor, or one for each
  /// `groupsAtOnce` groups of 32 rows.
  virtual void scan(uint64_t items, uint64_t perProcessor, uint64_t sharedBytes,
                    uint64_t groupsAtOnce) = 0;
  /// The family's kernel in blocks of so many threads that take at most `tiles` tiles by ticket, as
  /// many as make kStagedThreads for each processor.
  virtual void scanByTicket(uint64_t tiles, unsigned threads, uint64_t sharedBytes) = 0;
  /// The bounds of the rows of at most `tiles` tiles, by matrix products; the family's kernel then
  /// finds the best rows.
  virtual void multiply(uint64_t tiles, uint64_t perProcessor, uint64_t sharedBytes) = 0;
  /// The family's kernel, which ranks each query's list in one block.
  /// \param rows, chunks  as of annudf_rank_args.
  virtual void rank(uint32_t rows, uint32_t chunks, uint64_t sharedBytes) = 0;
};

class CudaFamily : public KernelFamily {
public:
  /// The kernels that are linked for a search of this family, each by itself: what scans, then what
  /// finds the best rows, where hooks do.
  virtual std::span<const ScanEntry> entries() const = 0;
  /// The same where some searches have others.
  virtual std::span<const ScanEntry> entriesFor(const Workload &) const { return entries(); }
  /// Milliseconds of its links, from a template where it has one (docs/results/links.md): with
  /// others' they tell which are shorter, and by how much.
  virtual double linkMs() const = 0;
  /// Whether its results are those of every other family to the bit.
  virtual bool isExact() const { return true; }
  /// What enqueue() sorts pairs into, for which the workspace needs room.
  virtual Tiling tiling(const Workload &) const { return {}; }
  /// \param batch  what is scanned: the queries of one batch.
  virtual void enqueue(ScanQueue &queue, const Workload &batch) const = 0;
};

/// Blocks of so much shared memory that a processor has room for, at least one. \param mostOfBlock
/// what a block may have, which is all but the 1,024 bytes that the system takes for each.
inline uint64_t blocksWithRoom(uint64_t sharedBytes, int mostOfBlock) {
  constexpr uint64_t kOfSystem = 1024;
  return std::max<uint64_t>(1, (static_cast<uint64_t>(mostOfBlock) + kOfSystem) /
                                   (sharedBytes + kOfSystem));
}

/// Bytes that a batch may take; 0: any number. Where a key of every row is left, and nobody asked
/// for more, half of what the index's vectors take, though kUsualWorkspace always.
inline uint64_t workspaceOf(const Workload &work, const Machine &machine, bool everyKey) {
  const uint64_t half = static_cast<uint64_t>(work.rows) * work.rowBytes / 2;
  return everyKey && !machine.workspaceIsAsked
             ? std::min(machine.workspaceBytes, std::max(kUsualWorkspace, half))
             : machine.workspaceBytes;
}

/// What searches candidates of callers (Refine.h), whose rows no other family reads.
std::span<const KernelFamily *const> candidateFamilies();

/// All others; where they cost the same, the first is taken.
std::span<const CudaFamily *const> families();

/// The same as planners take them.
std::span<const KernelFamily *const> kernelFamilies();

/// What the plan of a search on a GPU runs.
inline const CudaFamily &familyOf(const ExecutionPlan &plan) {
  return static_cast<const CudaFamily &>(*plan.family);
}

/// For a workload: 0 where rows and queries are of two types.
int32_t packedDimsOf(const MetricDescriptor &metric, ScanElements elements);

/// The size of the metric's code for that architecture, as in Workload; 0 if it has none.
size_t bodyBytesOf(const Artifact &metric, int sm);
/// Whether a link for it fuses no product of the metric's with a sum, so that distances have the
/// same bits in every kernel: our compiler has decided that.
bool isFusedAhead(const Artifact &metric, int sm);

/// Workload::ownNodes: those of a form with coefficients that no binding makes numbers of, so that
/// a device computes them for each query: entries by query, or of arrays in a device's memory.
uint32_t ownNodesOf(const Manifest &manifest, const BoundCaptures &captures);

/// Why a search has no use for bounds by matrix products, whatever its metric's form; None where it
/// may have.
Reason whyNoBounds(const Workload &work, const Manifest &manifest);

/// Those that could run some search with the metric on that architecture, of the elements if they
/// are given.
std::vector<const CudaFamily *> familiesFor(const Artifact &metric, int sm,
                                            std::optional<ScanElements> elements = std::nullopt);

/// The kernels of these, each once; kFilterWords alone of a filter that sees the query.
std::vector<ScanEntry> entriesFor(const Artifact &metric, int sm,
                                  std::optional<ScanElements> elements = std::nullopt);

} // namespace annudf::runtime::cuda

#endif // ANNUDF_RUNTIME_LIB_CUDA_PLAN_FAMILIES_H
