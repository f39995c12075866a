//===- Families.cpp - The kernel families of the CUDA backend -------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Families.h"

#include "FamilyCosts.h"
#include "kernels/cuda/common/ProductArgs.h"

#include "annudf/runtime/support/Settings.h"

#include <algorithm>

namespace annudf::runtime::cuda {

namespace {

/// A query in shared memory, one reading of a list a pair.
class Pairs final : public CudaFamily {
public:
  const char *name() const override { return "pairs"; }
  std::span<const ScanEntry> entries() const override {
    static constexpr ScanEntry kEntry = {ScanSource::Lists, "annudf_scan_pair"};
    return {&kEntry, 1};
  }
  double linkMs() const override { return 53; }
  FamilyNeeds needs() const override { return {.arch = 75}; }
  Refusal unfit(const Workload &work, const Machine &machine) const override {
    return unfitBytes(Reason::QueryBytes, bytesOfQuery(work), machine);
  }
  double cost(const Workload &work, const Machine &) const override {
    return readingsOfPairs(work); // In one batch or in several.
  }
  std::string explain(const Workload &work, const Machine &) const override {
    return perList(work) + ": each reads its rows alone";
  }
  void enqueue(ScanQueue &queue, const Workload &batch) const override {
    queue.scan(static_cast<uint64_t>(batch.queries) * batch.probes, 16, bytesOfQuery(batch),
               kWarps);
  }
};

/// As pairs, but the warps of a block share the dimensions of a group of rows. Results differ from
/// other families' in the last digits, as the metric allows by numerics(reassociate).
class Parts final : public CudaFamily {
public:
  const char *name() const override { return "parts"; }
  std::span<const ScanEntry> entries() const override {
    static constexpr ScanEntry kEntry = {ScanSource::Parts, "annudf_scan_parts"};
    return {&kEntry, 1};
  }
  double linkMs() const override { return 71; } // The whole link's, as pairs without a template.
  bool isExact() const override { return false; }
  FamilyNeeds needs() const override { return {.hooks = {ANNUDF_HOOK_COMBINE}, .arch = 75}; }
  bool isFor(const Workload &work) const override {
    return work.hooks.contains(ANNUDF_HOOK_COMBINE);
  }
  Refusal unfit(const Workload &work, const Machine &machine) const override {
    constexpr uint32_t kLeast = kWarps * kChunksAhead * 16;
    if (work.rowBytes < kLeast)
      return {Reason::ShortRows, work.rowBytes, kLeast};
    return unfitBytes(Reason::QueryAndPartsBytes, bytes(work), machine);
  }
  /// As pairs: its blocks fill the machine with a fourth of the rows.
  double cost(const Workload &work, const Machine &machine) const override {
    constexpr double kFull = 24, kJoining = 1.05; // Warps a processor.
    const double warps = work.queriesPerRow() * double(work.rows) / 32,
                 full = kFull * machine.processors;
    return readingsOfPairs(work) * kJoining * std::min(1.0, warps / full) /
           std::min(1.0, kWarps * warps / full);
  }
  std::string explain(const Workload &work, const Machine &) const override {
    return perList(work) + ": too few rows for a warp each group";
  }
  void enqueue(ScanQueue &queue, const Workload &batch) const override {
    queue.scan(static_cast<uint64_t>(batch.queries) * batch.probes, 16, bytes(batch), 1);
  }

private:
  static uint64_t bytes(const Workload &work) { return bytesOfQuery(work) + kPartsBytes; }
};

/// Several queries in shared memory, one reading of a list for all of them; sorting the pairs
/// costs about half a reading a list (docs/develop/cuda-kernels.md).
class Tiles final : public CudaFamily {
public:
  const char *name() const override { return "tiles"; }
  std::span<const ScanEntry> entries() const override {
    static constexpr ScanEntry kEntry = {ScanSource::Lists, "annudf_scan_tile"};
    return {&kEntry, 1};
  }
  double linkMs() const override { return 271; }
  Tiling tiling(const Workload &) const override { return {.queries = kTileQueries}; }
  FamilyNeeds needs() const override { return {.arch = 75}; }
  Refusal unfit(const Workload &work, const Machine &machine) const override {
    return unfitBytes(Reason::TileBytes, bytes(work), machine, kTileQueries);
  }
  double cost(const Workload &work, const Machine &machine) const override {
    constexpr double kSorting = 0.5;
    const double slower = slowerByMemory(work, machine);
    return inBatches(work, machine, 1, [slower](const Workload &part) {
      return readingsOfTiles(part, kTileQueries, kSorting) * slower;
    });
  }
  std::string explain(const Workload &work, const Machine &) const override {
    return perList(work) + ": up to " + std::to_string(kTileQueries) + " share a read";
  }
  void enqueue(ScanQueue &queue, const Workload &batch) const override {
    const uint64_t tiles = queue.sortPairs();
    queue.scan(tiles, 64, bytes(batch), kWarps);
  }

private:
  /// For long vectors fewer blocks have room on a multiprocessor than for those that the other
  /// costs are of, as measured with 1,024 dims on an H100.
  static double slowerByMemory(const Workload &work, const Machine &machine) {
    constexpr double kMostSlower = 0.6;
    constexpr uint64_t kRoomFor = 8;
    Workload measured = work;
    measured.dims = 128, measured.compute = ANNUDF_COMPUTE_F32;
    const auto blocks = [&](const Workload &of) {
      return double(std::min(kRoomFor, machine.sharedBytes / bytes(of)));
    };
    return blocks(work) < blocks(measured) ? 1 + kMostSlower * (1 - blocks(work) / blocks(measured))
                                           : 1;
  }
  /// Coordinates of a tile's queries in the compute type, which fill whole words of 16 bytes.
  static uint64_t bytes(const Workload &work) {
    return uint64_t(work.dims) * static_cast<uint64_t>(bitsOf(work.compute) / 8) * kTileQueries +
           kRingBytes;
  }
};

/// Why Survivors.cu cannot find the rows by the hooks after a kernel.
Refusal unfitForExact(const Workload &work, const Machine &machine) {
  if (work.k > ANNUDF_SURVIVORS_MOST_K)
    return {Reason::ManyBest, ANNUDF_SURVIVORS_MOST_K, work.k};
  return unfitBytes(Reason::QueryBytes,
                    (uint64_t(work.dims) + 3) / 4 * 16 + ANNUDF_SURVIVORS_SHARED_BYTES, machine);
}

/// Why they do not fit the search or the machine.
Refusal unfitForGranules(const Workload &work, const Machine &machine) {
  if (!work.fusedAhead)
    return Reason::LinkerFuses;
  if (work.everyDistance)
    return Reason::EveryDistance;
  return unfitForExact(work, machine);
}

/// How many rows have one of the keys that a scan leaves.
constexpr int rowsOfWord(bool granules) { return granules ? ANNUDF_GRANULE_ROWS : 1; }

/// For people.
constexpr const char *kOfGranules = ", and hooks recompute the rows of the best keys";

/// Rows and queries in shared memory, a register tile of both a thread. For many queries a list:
/// a tile costs what its most queries do.
class Staged final : public CudaFamily {
public:
  /// \param granules  whether keys of granules are left, and not those of all rows.
  explicit Staged(bool granules) : granules(granules) {}
  const char *name() const override { return granules ? "staged_granules" : "staged"; }
  std::span<const ScanEntry> entries() const override {
    static constexpr ScanEntry kEntries[] = {{ScanSource::Staged, "annudf_scan_staged"},
                                             {ScanSource::Survivors, "annudf_finish_granules"}};
    return {kEntries, granules ? 2u : 1u};
  }
  std::span<const ScanEntry> entriesFor(const Workload &work) const override {
    if (!work.withinRadius)
      return entries();
    static constexpr ScanEntry kEntries[] = {{ScanSource::Staged, "annudf_scan_staged"},
                                             {ScanSource::Survivors, "annudf_within_granules"}};
    return {kEntries, granules ? 2u : 1u};
  }
  double linkMs() const override { return 191; } // That of granules beside it is shorter.
  Tiling tiling(const Workload &work) const override {
    return {.queries = static_cast<uint32_t>(
                ANNUDF_STAGED_QUERIES(ANNUDF_STAGED_THREADS, tileQueries(work))),
            .segmentGroups = kSegmentGroups,
            .coordinates = true,
            .granules = granules};
  }
  FamilyNeeds needs() const override { return {.arch = 80}; }
  /// Its loop holds hundreds of copies of a hook, a stage words of 32 bits; and of accumulators
  /// that take more registers than one word a thread has so few queries that tiles are quicker.
  bool isFor(const Workload &work) const override {
    return work.bodyBytes <= kLargeBodyBytes && work.widths.coordinate == 32 &&
           tileQueries(work) == ANNUDF_STAGED_TILE_QUERIES('a', 32) &&
           (!granules || isForGranules(work));
  }
  Refusal unfit(const Workload &work, const Machine &machine) const override {
    if (work.widths.coordinate != 32)
      return {Reason::WideCoordinates, work.widths.coordinate};
    if (granules)
      if (Refusal why = unfitForGranules(work, machine))
        return why;
    return unfitBytes(Reason::TwoStagesBytes, bytes(work), machine);
  }
  /// As tiles; what one reading by tiles is worth and from where on it pays were measured
  /// (docs/results/reasons.md, "Where kernel families begin").
  double cost(const Workload &work, const Machine &machine) const override {
    constexpr double kSorting = 1.1, kAsking = 0.21;
    constexpr double kAbreast = 1.29 * kTileQueries;
    const double last = granules ? costOfGranules(work) : 0;
    return last + inBatches(work, machine, rowsOfWord(granules), [](const Workload &part) {
             return readingsOfStages(part, kAbreast, kSorting, kAsking);
           });
  }
  std::string explain(const Workload &work, const Machine &) const override {
    return perList(work) + ": up to " + std::to_string(tiling(work).queries) +
           " share a stage of rows" + (granules ? kOfGranules : "");
  }
  void enqueue(ScanQueue &queue, const Workload &batch) const override {
    const uint64_t tiles = queue.sortPairs();
    queue.scanByTicket(tiles, ANNUDF_STAGED_THREADS, bytes(batch));
  }

private:
  static int tileQueries(const Workload &work) {
    return ANNUDF_STAGED_TILE_QUERIES(static_cast<char>(work.widths.form), work.widths.accumulator);
  }
  static uint64_t bytes(const Workload &work) {
    return ANNUDF_STAGED_SHARED_BYTES(static_cast<uint64_t>(tileQueries(work)));
  }
  const bool granules;
};

/// As staged, but words hold four coordinates of a byte or 32 bits, and integers are summed up: of
/// a metric for which it is proved that no result changes.
class Packed final : public CudaFamily {
public:
  /// \param granules  as of Staged.
  explicit Packed(bool granules) : granules(granules) {}
  const char *name() const override { return granules ? "packed_granules" : "packed"; }
  std::span<const ScanEntry> entries() const override {
    static constexpr ScanEntry kEntries[] = {{ScanSource::Packed, "annudf_scan_packed"},
                                             {ScanSource::Survivors, "annudf_finish_granules"}};
    return {kEntries, granules ? 2u : 1u};
  }
  std::span<const ScanEntry> entriesFor(const Workload &work) const override {
    if (!work.withinRadius)
      return entries();
    static constexpr ScanEntry kEntries[] = {{ScanSource::Packed, "annudf_scan_packed"},
                                             {ScanSource::Survivors, "annudf_within_granules"}};
    return {kEntries, granules ? 2u : 1u};
  }
  double linkMs() const override { return 139; } // That of granules beside it is as long.
  Tiling tiling(const Workload &) const override {
    return {.queries = ANNUDF_PACKED_QUERIES,
            .segmentGroups = kPackedSegmentGroups,
            .coordinates = true,
            .packed = true,
            .granules = granules};
  }
  FamilyNeeds needs() const override { return {.arch = 80}; }
  bool isFor(const Workload &work) const override {
    return work.packedDims > 0 && work.dims <= work.packedDims &&
           (!granules || isForGranules(work));
  }
  Refusal unfit(const Workload &work, const Machine &machine) const override {
    if (work.packedDims == 0)
      return {Reason::NoPackedSum, work.element};
    if (work.dims > work.packedDims)
      return {Reason::LongPackedSum, work.element, work.packedDims, work.dims};
    if (granules)
      if (Refusal why = unfitForGranules(work, machine))
        return why;
    return unfitBytes(Reason::ThreeStagesBytes, ANNUDF_PACKED_SHARED_BYTES, machine);
  }
  /// As staged, measured in the same way: quicker than tiles from three queries a row on.
  double cost(const Workload &work, const Machine &machine) const override {
    constexpr double kFewest = 3, kAbreast = 35, kAsking = 0.45;
    const double last = granules ? costOfGranules(work) : 0;
    return last + inBatches(work, machine, rowsOfWord(granules), [](const Workload &part) {
             return readingsOfStages(part, kAbreast, part.queriesPerRow() < kFewest ? 0.55 : 0.45,
                                     kAsking);
           });
  }
  std::string explain(const Workload &work, const Machine &) const override {
    return perList(work) + ": up to " + std::to_string(tiling(work).queries) +
           " share a stage of packed rows" + (granules ? kOfGranules : "");
  }
  void enqueue(ScanQueue &queue, const Workload &) const override {
    const uint64_t tiles = queue.sortPairs();
    queue.scanByTicket(tiles, ANNUDF_PACKED_THREADS, ANNUDF_PACKED_SHARED_BYTES);
  }

private:
  const bool granules;
};

/// For proved quadratic forms, normalised ones too: lower bounds of all rows by matrix products in
/// half precision, and the hooks for the few rows that these leave. Rows in half precision stay
/// beside the index.
class MatrixProducts final : public CudaFamily {
public:
  /// \param byWarps  whether products are of instructions that every machine from sm_80 on has;
  /// else they are those of one alone.
  explicit MatrixProducts(bool byWarps) : byWarps(byWarps) {}
  const char *name() const override { return byWarps ? "matrix_mma" : "matrix"; }
  std::span<const ScanEntry> entries() const override {
    static constexpr ScanEntry kEntry = {ScanSource::Survivors, "annudf_finish_exact"};
    return {&kEntry, 1};
  }
  std::span<const ScanEntry> entriesFor(const Workload &work) const override {
    if (!work.withinRadius)
      return entries();
    static constexpr ScanEntry kEntry = {ScanSource::Survivors, "annudf_within_exact"};
    return {&kEntry, 1};
  }
  double linkMs() const override { return 140; } // Twice as long with several fields.
  Tiling tiling(const Workload &work) const override {
    return {.queries = ANNUDF_MATRIX_QUERIES,
            .segmentGroups =
                isLongAndOfFewQueries(work) ? kMatrixFewSegmentGroups : kMatrixSegmentGroups,
            .bounds = true,
            .boundsByWarps = byWarps,
            .panels = panels(work)};
  }
  FamilyNeeds needs() const override {
    return {.accumulators = {ANNUDF_ACCUMULATOR_F32, ANNUDF_ACCUMULATOR_STRUCT},
            .computes = {ANNUDF_COMPUTE_F32},
            .arch = byWarps ? kMatrixByWarpsSm : kMatrixSm,
            .onlyArch = !byWarps};
  }
  bool isFor(const Workload &work) const override { return work.noBounds == Reason::None; }
  /// By its name it runs on both.
  bool isForMachine(const Machine &machine) const override {
    return byWarps == (machine.arch != kMatrixSm);
  }
  Refusal unfit(const Workload &work, const Machine &machine) const override {
    if (work.noBounds != Reason::None)
      return {work.noBounds, ANNUDF_MATRIX_OWN_NODES};
    if (Refusal why = unfitBytes(Reason::PanelBytes, sharedBytes(), machine))
      return why;
    if (work.ownNodes != 0)
      if (Refusal why = unfitBytes(Reason::CoefficientBytes,
                                   ANNUDF_MATRIX_OWN_ALL_BYTES(work.ownNodes, work.dims), machine))
        return why;
    return unfitForExact(work, machine);
  }
  /// As measured: what does not hang on the queries is half a reading, as rows are in half
  /// precision, and what sorting and the last evaluations take; a filter's terms are made of all
  /// rows. By warps it is estimated. Coefficients of each query take vectors of twice the dims.
  double cost(const Workload &work, const Machine &machine) const override {
    constexpr double kLeast = 0.9, kOfFilter = 0.1, kAbreast = 80, kAbreastByWarps = 50;
    constexpr double kOfSquares = 0.5;
    const double least = kLeast + (work.pass < 1 ? kOfFilter : 0);
    const double abreast = byWarps ? kAbreastByWarps : kAbreast;
    const double own = work.ownNodes == 0 ? 0 : kOfSquares, times = work.ownNodes == 0 ? 1 : 2;
    return inBatches(work, machine, ANNUDF_GRANULE_ROWS, [&](const Workload &part) {
      return part.lists * (least + own + times * part.queriesPerRow() / abreast);
    });
  }
  std::string explain(const Workload &work, const Machine &) const override {
    return perList(work) + ": up to " + std::to_string(ANNUDF_MATRIX_QUERIES) +
           " share a product, and hooks compute the rows within its bounds";
  }
  void enqueue(ScanQueue &queue, const Workload &) const override {
    const uint64_t tiles = queue.sortPairs();
    queue.multiply(tiles, 2, sharedBytes());
  }

private:
  uint64_t sharedBytes() const {
    return byWarps ? ANNUDF_MATRIX_MMA_SHARED_BYTES : ANNUDF_MATRIX_SHARED_BYTES;
  }
  /// A row's panels: with its squares, where coefficients are of each query.
  static uint64_t panels(const Workload &work) {
    return panelsOf(static_cast<uint64_t>(work.dims) * (work.ownNodes == 0 ? 1 : 2));
  }
  static bool isLongAndOfFewQueries(const Workload &work) {
    return panels(work) > ANNUDF_MATRIX_RESIDENT_PANELS &&
           work.pairsPerList() < ANNUDF_MATRIX_QUERIES;
  }
  const bool byWarps;
};

} // namespace

std::span<const CudaFamily *const> families() {
  static const Tiles tiles;
  static const Pairs pairs;
  static const Parts parts;
  static const Staged staged(false), stagedGranules(true);
  static const Packed packed(false), packedGranules(true);
  static const MatrixProducts matrix(false), matrixByWarps(true);
  static const CudaFamily *const all[] = {&tiles,          &pairs,          &parts,
                                          &staged,         &stagedGranules, &packed,
                                          &packedGranules, &matrix,         &matrixByWarps};
  return all;
}

std::span<const KernelFamily *const> kernelFamilies() {
  static const std::vector<const KernelFamily *> all(families().begin(), families().end());
  return all;
}

int32_t packedDimsOf(const MetricDescriptor &metric, ScanElements elements) {
  return metric.packed && elements.rows == elements.queries ? metric.packed->dimsOf(elements.rows)
                                                            : 0;
}

size_t bodyBytesOf(const Artifact &metric, int sm) {
  const Payload *payload = metric.findHooksOfGpu(sm);
  if (!payload)
    return 0;
  // A scan calls hooks of PTX, so that the body's size does not matter.
  return payload->kind == PayloadKind::Ptx ? 1 : payload->bytes.size();
}

bool isFusedAhead(const Artifact &metric, int sm) {
  const Payload *payload = metric.findHooksOfGpu(sm);
  return payload && !metric.hasLinkedCode() &&
         (payload->producer.name == Producer::kLibNvvm || payload->kind == PayloadKind::Ptx);
}

uint32_t ownNodesOf(const Manifest &manifest, const BoundCaptures &captures) {
  if (!manifest.form)
    return 0;
  const std::vector<Coefficient> &nodes = manifest.form->nodes;
  const bool isOwn = std::any_of(nodes.begin(), nodes.end(), [&](const Coefficient &node) {
    if (node.kind != Coefficient::Kind::Entry)
      return false;
    const auto &declared = captures.declared();
    for (size_t i = 0; i < captures.size(); ++i)
      if (declared[i].name == node.capture && captures.space(i) != MemorySpace::Host)
        return true;
    return std::any_of(node.indices.begin(), node.indices.end(), [](const EntryIndex &index) {
      return index.kind == EntryIndex::Kind::Query;
    });
  });
  return isOwn ? static_cast<uint32_t>(nodes.size()) : 0;
}

Reason whyNoBounds(const Workload &work, const Manifest &manifest) {
  if (work.noBounds != Reason::None)
    return work.noBounds;
  if (settingOf("ANNUDF_MATRIX", {"0", "1"}) == "0")
    return Reason::ProductsAreOff;
  if (work.everyDistance)
    return Reason::EveryDistance;
  if (!work.fusedAhead)
    return Reason::LinkerFuses;
  if (work.ownNodes != 0 && manifest.form->lengths)
    return Reason::RatioByQuery;
  return work.ownNodes > ANNUDF_MATRIX_OWN_NODES ? Reason::ManyNodes : Reason::None;
}

std::vector<const CudaFamily *> familiesFor(const Artifact &metric, int sm,
                                            std::optional<ScanElements> elements) {
  Workload work = workloadOf(metric.manifest); // No family needs elements but packed.
  if (elements)
    work.packedDims = packedDimsOf(metric.manifest, *elements);
  work.bodyBytes = bodyBytesOf(metric, sm);
  work.fusedAhead = isFusedAhead(metric, sm);
  std::vector<const CudaFamily *> fit;
  for (const CudaFamily *family : families())
    if (family->isFor(work) && family->isForMachine({.arch = sm}) &&
        !whatIsMissing(*family, work, {.arch = sm}))
      fit.push_back(family);
  return fit;
}

std::vector<ScanEntry> entriesFor(const Artifact &metric, int sm,
                                  std::optional<ScanElements> elements) {
  if (metric.manifest.seesQuery)
    return {kFilterWords};
  std::vector<ScanEntry> all;
  for (const CudaFamily *family : familiesFor(metric, sm, elements))
    for (const ScanEntry &entry : family->entries())
      if (std::none_of(all.begin(), all.end(), [&](const ScanEntry &one) {
            return std::string_view(one.kernel) == entry.kernel;
          }))
        all.push_back(entry);
  return all;
}

} // namespace annudf::runtime::cuda
