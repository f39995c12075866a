//===- Staged.cu - The scan of many queries, with the metric left open ------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The family "staged". Blocks stay for the whole launch and take items by ticket: a list, some of
// the queries that probe it, a segment of its rows. Stages of rows and queries are brought to
// shared memory, one ahead of the one in use (two in the packed form), and rows are converted to
// the compute type on the way, once for all queries of the item. A thread updates a register tile
// of kTileQueries queries by four rows, so that reading operands takes a tenth of the instructions.
//
// Leaves what Scan.cu leaves: every row's key, and every group's best. Or, of granules (8 rows of a
// group, ProductArgs.h), the best key alone, an eighth of the memory, for Survivors.cu to find the
// rows.
//
// With ANNUDF_PACKED the family "packed": rows and queries of one element of at most 8 bits go to
// the stages as they lie in memory, and where there is a word of the compute type above, there is
// one of four or more coordinates, whose term is added to a sum of integers. Padding is 0 on both
// sides and adds nothing. The hooks called are init and finalize.
//
//===----------------------------------------------------------------------===//

#include "Minima.cuh"
#include "Stages.cuh"
#include "TilePassing.cuh"

#ifdef ANNUDF_PACKED
#define ANNUDF_KERNEL annudf_scan_packed
#else
#define ANNUDF_KERNEL annudf_scan_staged
#endif

namespace {

/// Queries of a thread's register tile: its accumulators take 32 to 64 registers.
constexpr int kTileQueries = ANNUDF_STAGED_TILE_QUERIES(ANNUDF_TEXT_OF(ANNUDF_ACCUMULATOR_FORM)[0],
                                                        ANNUDF_ACCUMULATOR_WIDTH);
static_assert(sizeof(Coordinate) == sizeof(uint32_t), "a stage holds words of 32 bits");

#ifdef ANNUDF_PACKED
constexpr int kThreads = ANNUDF_PACKED_THREADS, kStages = ANNUDF_PACKED_STAGES;
constexpr int kQueryPitch = 9; ///< So that a chunk of 8 queries lies in different banks.
#else
constexpr int kThreads = ANNUDF_STAGED_THREADS, kStages = ANNUDF_STAGED_STAGES;
constexpr int kQueryPitch = 8;
#endif
constexpr int kWarps = kThreads / 32, kTileGroups = ANNUDF_STAGED_WARP_GROUPS;
constexpr int kBlocks = ANNUDF_STAGED_PROCESSOR_THREADS / kThreads; ///< A multiprocessor's.

constexpr int kRowWords = ANNUDF_STAGE_ROW_WORDS / 4; ///< In uint4, of a stage.
static_assert(kStages >= 2 && kRowWords * 4 % (kPiece * kThreads) == 0, "pieces of equal size");
constexpr int kPieces = kRowWords * 4 / kPiece / kThreads; ///< That a thread brings to a stage.
constexpr int kQueryWords = kWarps * kTileQueries * kQueryPitch;

/// [kStages], each: rows, [4 dimensions][group][lane]; queries, [query][4 dimensions].
extern __shared__ uint4 stages[];
static_assert(kQueryPitch >= 8, "32 dimensions");

/// Where an item's queries are, and where their keys go.
struct Places {
  /// What each thread brings to stages: registers are too few to keep it.
  struct alignas(16) Own {
    uint32_t rowTo, queryTo; ///< Shared addresses in the first stage.
    uint32_t queryFrom[2];   ///< Place in work.coordinates, in uint4.
  } own[kThreads];
  uint32_t query[kWarps * kTileQueries];
  uint64_t group[kWarps * kTileQueries]; ///< Place in the workspace of the item's first row.
  uint32_t words[kWarps * kTileQueries]; ///< Place in work.coordinates, in uint4.
#ifdef ANNUDF_PACKED
  uint32_t ownX[kWarps * kTileQueries];  ///< What addOwn makes of each.
  uint32_t ownRow[2 * kTileGroups * 32]; ///< The same of the rows of a stage.
#endif
  uint32_t ticket, items; ///< The next, and how many the block has had.
};

#ifdef ANNUDF_PACKED
constexpr int kSharedBytes = ANNUDF_PACKED_SHARED_BYTES;
using Partial = uint32_t; ///< A sum of terms.
#else
constexpr int kSharedBytes = ANNUDF_STAGED_SHARED_BYTES(kTileQueries);
using Partial = Acc;
#endif
static_assert(kSharedBytes == kStages * (kRowWords + kQueryWords) * 16 + sizeof(Places),
              "what the host asks for");

/// How a block cuts an item. If there are up to half as many queries as a block takes, each is
/// given to two warps: one stage then holds twice the rows and half the dimensions. Warps whose
/// queries are missing do nothing, so which these are is such that the four schedulers of a
/// processor (warp % 4) have as much to do: of few queries the two warps of eight are two
/// schedulers apart, the blocks of a processor are turned against each other, and each item is
/// against the one before.
struct Cut {
  int shift; ///< 0, or 1 for few queries.
  int turn;
  /// \param items  that the block had before.
  __device__ Cut(int count, int items)
      : shift(count * 2 <= kWarps * kTileQueries),
        turn(items +
             static_cast<int>(blockIdx.x * kBlocks / gridDim.x) * (kBlocks == 2 ? 2 - shift : 1)) {}
  __device__ int groups() const { return kTileGroups << shift; }
  __device__ int depth() const { return 32 >> shift; }
  __device__ int firstQuery(int warp) const {
    const int warps = kWarps >> shift;
    return ((warp + warp / warps * 2 + turn) & (warps - 1)) * kTileQueries;
  }
  __device__ int firstGroup(int warp) const { return warp / (kWarps >> shift) * kTileGroups; }
};

/// A thread's register tile.
struct Tile {
  Partial acc[kTileQueries][kTileGroups];
  int64_t row[kTileGroups]; ///< As hooks get it.
  bool found[kTileGroups];
  bool any; ///< Whether the warp has a row that may be found, and a query.
};

/// What hooks are called with, whatever the row.
struct Fixed {
  int dims, list;
  const uint64_t *slots;
  const uint32_t *query; ///< The warp's first, in the caller's batch.
#ifdef ANNUDF_PACKED
  const uint32_t *own; ///< For the warp's first query.
#endif
};

#ifdef ANNUDF_PACKED
#include "Packed.cuh"
#else

/// Updates with the `dims` dimensions of a stage that exist, from `dim` on.
/// \param rows     of the lane, of the warp's first group; the next four dimensions are `pitch` on.
/// \param queries  of the warp's first.
__device__ __forceinline__ void updateStage(Tile &tile, const Fixed &fixed, const uint4 *rows,
                                            int pitch, const uint4 *queries, int dim, int dims) {
  constexpr int kUnroll = 2; // Enough: reading operands is hidden by the other warps.
  const int end = dim + dims;
#pragma unroll 1
  for (; dim + 4 * kUnroll <= end; dim += 4 * kUnroll, queries += kUnroll)
#pragma unroll
    for (int u = 0; u < kUnroll; ++u, rows += pitch) {
      uint32_t y[kTileGroups][4];
#pragma unroll
      for (int g = 0; g < kTileGroups; ++g) {
        const uint4 four = rows[g * 32];
        y[g][0] = four.x, y[g][1] = four.y, y[g][2] = four.z, y[g][3] = four.w;
      }
#pragma unroll
      for (int q = 0; q < kTileQueries; ++q) {
        const uint4 four = queries[q * kQueryPitch + u];
        const uint32_t x[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
        for (int e = 0; e < 4; ++e)
#pragma unroll
          for (int g = 0; g < kTileGroups; ++g)
            update(tile.acc[q][g], x[e], y[g][e], dim + u * 4 + e, fixed.dims, tile.row[g],
                   static_cast<int>(fixed.query[q]), fixed.list, fixed.slots);
      }
    }
  // The vector's end, a dimension at a time.
#pragma unroll 1
  for (int d = 0; dim < end; ++d, ++dim) {
    const uint32_t *y = reinterpret_cast<const uint32_t *>(rows + d / 4 * pitch) + d % 4;
    const uint32_t *x = reinterpret_cast<const uint32_t *>(queries) + d;
#pragma unroll
    for (int q = 0; q < kTileQueries; ++q)
#pragma unroll
      for (int g = 0; g < kTileGroups; ++g)
        update(tile.acc[q][g], x[q * kQueryPitch * 4], y[g * 128], dim, fixed.dims, tile.row[g],
               static_cast<int>(fixed.query[q]), fixed.list, fixed.slots);
  }
}

#endif

/// Begins a tile: `group` is its first in the segment, `places` are those of its queries.
__device__ __forceinline__ void beginTile(const annudf_scan_args &args, const Segment &segment,
                                          const Fixed &fixed, const uint64_t *places,
                                          uint32_t group, int lane, bool hasQueries, Tile &tile) {
  bool found = false;
#pragma unroll
  for (int g = 0; g < kTileGroups; ++g) {
    tile.row[g] = __ldg(segment.idAt(group + g, lane));
    tile.found[g] = group + g < segment.groups && (group + g) * 32 + lane < segment.size;
  }
  if (args.filter != 0) // A branch for all of them: mostly there is none.
#pragma unroll
    for (int g = 0; g < kTileGroups; ++g)
      tile.found[g] = passes(args, tile.found[g], tile.row[g]);
  if (args.rowsAreSlots)
#pragma unroll
    for (int g = 0; g < kTileGroups; ++g)
      tile.row[g] =
          segment.idAt(group + g, lane) - reinterpret_cast<const long long *>(args.index.ids);
#pragma unroll
  for (int g = 0; g < kTileGroups; ++g)
    found |= tile.found[g];
  if (args.work.passing != 0)
    found = passingOfTile<kTileQueries>(args.work, segment.groups, places, group, lane) != 0;
  tile.any = hasQueries && __any_sync(0xFFFFFFFFu, found);
#pragma unroll
  for (int q = 0; q < kTileQueries; ++q) {
    Partial first = {}; // The same for every row.
#ifndef ANNUDF_PACKED
    init(first, fixed.dims, static_cast<int>(fixed.query[q]), fixed.list, fixed.slots);
#endif
#pragma unroll
    for (int g = 0; g < kTileGroups; ++g)
      tile.acc[q][g] = first;
  }
}

/// Counts what of a tile is NaN; ids are read anew, so that no register waits for them.
__device__ __forceinline__ void countNan(const annudf_scan_args &args, const Segment &segment,
                                         const Fixed &fixed, const uint64_t *places, uint32_t group,
                                         int lane, int count, const Tile &tile,
                                         const uint32_t (&key)[kTileQueries][kTileGroups]) {
  const uint32_t bits = passingOfLane<kTileQueries>(args.work, segment.groups, places, group, lane);
  uint32_t mine = 0, firstQuery = 0, firstGroup = 0;
#pragma unroll
  for (int q = 0; q < kTileQueries; ++q)
#pragma unroll
    for (int g = 0; g < kTileGroups; ++g)
      if (isFoundBy(bits, q, g) && q < count && tile.found[g] && key[q][g] == ANNUDF_KEY_NONE)
        ++mine, firstQuery = q, firstGroup = g;
  const uint64_t place = uint64_t(group + firstGroup) * 32 + lane; // Read where there is one.
  addNanOfWarp(args, lane, mine, fixed.query[firstQuery], mine ? segment.ids[place] : 0);
}

/// Writes the keys of a tile that is done and the best of each group, or of each granule alone.
__device__ __forceinline__ void endTile(const annudf_scan_args &args, const Segment &segment,
                                        const Fixed &fixed, const uint64_t *places, uint32_t group,
                                        int lane, int count, const Tile &tile) {
  uint32_t *keys = reinterpret_cast<uint32_t *>(args.work.keys);
  uint32_t key[kTileQueries][kTileGroups];
  bool nan = false;
#pragma unroll
  for (int q = 0; q < kTileQueries; ++q) {
#ifdef ANNUDF_PACKED
    Acc first;
    init(first, fixed.dims, static_cast<int>(fixed.query[q]), fixed.list, fixed.slots);
#endif
#pragma unroll
    for (int g = 0; g < kTileGroups; ++g) {
#ifdef ANNUDF_PACKED
      const Acc acc = joined(args, first, tile.acc[q][g], fixed.own[q], 0);
#else
      const Acc &acc = tile.acc[q][g];
#endif
      const float distance = finalize(acc, fixed.dims, tile.row[g],
                                      static_cast<int>(fixed.query[q]), fixed.list, fixed.slots);
      key[q][g] =
          tile.found[g] ? annudfKeyOf(distance, static_cast<int>(args.order)) : ANNUDF_KEY_NONE;
      nan |= distance != distance;
    }
  }
  if (args.work.passing != 0)
    leaveOut(passingOfLane<kTileQueries>(args.work, segment.groups, places, group, lane), key);
  if (__any_sync(0xFFFFFFFFu, nan))
    countNan(args, segment, fixed, places, group, lane, count, tile, key);
  if (!args.work.granules)
#pragma unroll
    for (int q = 0; q < kTileQueries; ++q) {
      uint32_t *out = keys + (places[q] + group) * 32 + lane;
#pragma unroll
      for (int g = 0; g < kTileGroups; ++g)
        if (group + g < segment.groups) // Past `count` the same keys go to the last query's place.
          out[g * 32] = key[q][g];
    }
  __syncwarp(); // Lets the compiler prove that the shuffles below see the whole warp.
  granuleMinima(key, lane);
  const int q = queryOf<kTileQueries>(lane);
  if (args.work.granules) {
    uint32_t *out = keys + (places[q] + group) * ANNUDF_GRANULES + granuleOf(lane);
#pragma unroll
    for (int g = 0; g < kTileGroups; ++g)
      if (q < count && group + g < segment.groups)
        out[g * ANNUDF_GRANULES] = key[0][g];
    return;
  }
  groupMinima(key[0], lane);
  if (const int g = groupOf(lane); q < count && group + g < segment.groups)
    reinterpret_cast<uint32_t *>(args.work.minima)[places[q] + group + g] = key[0][0];
}

/// What a thread brings to the stages of an item: pieces of rows, and words of queries. Pieces are
/// apart as if other warps brought them.
class Bringer {
public:
  __device__ __forceinline__ Bringer(const annudf_scan_args &args, const Segment &segment,
                                     Places &places, const Cut &cut, int steps)
      : args(args), segment(segment), cut(cut), own(places.own[threadIdx.x]), steps(steps),
        pitch(cut.groups() * 32), t(static_cast<int>(threadIdx.x)), lane(t & 31), warp(t / 32) {
    const int queryBits = 3 - cut.shift, ofQuery = t & ((1 << queryBits) - 1);
    const int q = t >> queryBits & ((kWarps >> cut.shift) * kTileQueries - 1);
    own.rowTo = sharedAddress(stages + placeOfPiece(0) + lane);
    own.queryTo = sharedAddress(stages + kRowWords + q * kQueryPitch + ofQuery);
#pragma unroll
    for (int i = 0; i < kCopies; ++i)
      own.queryFrom[i] =
          places.words[cut.shift ? q : q + i * kQueriesAtOnce] + static_cast<uint32_t>(ofQuery);
  }

  /// Asks for the next stage's. \pre commitCopies() and end() follow.
  __device__ __forceinline__ void begin() {
    const uint4 ours = *reinterpret_cast<const uint4 *>(&own);
    const uint32_t stage = static_cast<uint32_t>(slot) * ((kRowWords + kQueryWords) * 16);
    if (step == 0) // Past the segment its last group is read: hooks see rows that exist.
#pragma unroll
      for (int p = 0; p < kPieces; ++p) {
        const uint32_t of = min(static_cast<uint32_t>(group + groupOf(p)), segment.groups - 1);
        from[p] = segment.rows + static_cast<uint64_t>(of) * segment.chunks * 32 + rowAt(lane);
        if (goesDirect())
          from[p] += pieceOf(p) * (kPiece / 4) * 32;
      }
#pragma unroll
    for (int p = 0; p < kPieces; ++p) {
      if (goesDirect()) {
        copy(from[p],
             ours.x + stage + static_cast<uint32_t>(placeOfPiece(p) - placeOfPiece(0)) * 16, pitch);
        from[p] += cut.depth() / 4 * 32;
      } else {
        load(from[p], step * cut.depth() + pieceOf(p) * kPiece, raw[p]);
      }
    }
    const uint4 *words = reinterpret_cast<const uint4 *>(args.work.coordinates);
    const uint32_t atStep = static_cast<uint32_t>(step * (cut.depth() / 4));
    if (t < (cut.shift ? kFewWords : kWarps * kTileQueries * 8))
      copyAsync(ours.y + stage, words + (ours.z + atStep));
    if (kCopies > 1 && !cut.shift)
      copyAsync(ours.y + stage + kQueriesAtOnce * kQueryPitch * 16, words + (ours.w + atStep));
  }

  __device__ __forceinline__ void end() {
#pragma unroll
    for (int p = 0; p < kPieces; ++p)
      store(raw[p], stages + slot * (kRowWords + kQueryWords) + placeOfPiece(p) + lane, pitch);
    slot = slot + 1 == kStages ? 0 : slot + 1;
    if (++step == steps)
      step = 0, group += cut.groups();
  }

private:
  // With few queries, threads beyond the last word bring none.
  static constexpr int kFewWords = kWarps / 2 * kTileQueries * 4;
  static_assert(kFewWords <= kThreads, "a word each");
  static constexpr int kCopies = (kWarps * kTileQueries * 8 - 1) / kThreads + 1;
  static constexpr int kQueriesAtOnce = kThreads / 8; ///< Where a thread brings several.
  static_assert(kCopies <= 2, "what Own has room for");

  __device__ __forceinline__ int groupOf(int p) const {
    return (warp + p * kWarps) & (cut.groups() - 1);
  }
  __device__ __forceinline__ int pieceOf(int p) const { return (warp + p * kWarps) / cut.groups(); }
  __device__ __forceinline__ int placeOfPiece(int p) const {
    return pieceOf(p) * (kPiece / 4) * pitch + groupOf(p) * 32;
  }

  const annudf_scan_args &args;
  const Segment &segment;
  const Cut cut;
  Places::Own &own;
  const int steps, pitch, t, lane, warp;
  int step = 0, group = 0, slot = 0; ///< The next ones to bring.
  const uint4 *from[kPieces] = {};
  Raw raw[kPieces] = {};
};

/// Scans an item.
__device__ __forceinline__ void scanItem(const annudf_scan_args &args, const Segment &segment,
                                         Places &places, int count, int items) {
  const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) / 32;
  const Cut cut(count, items);
  const int depth = cut.depth(), pitch = cut.groups() * 32;
  const int steps = (segment.words + depth - 1) / depth;
  const int tiles = (static_cast<int>(segment.groups) + cut.groups() - 1) / cut.groups();
  const int total = tiles * steps;
  const int firstQuery = cut.firstQuery(warp), firstGroup = cut.firstGroup(warp);
#ifdef ANNUDF_PACKED
  const Fixed fixed = {segment.dims, segment.list, args.slots.slot, places.query + firstQuery,
                       places.ownX + firstQuery};
  OwnRows ownRows;
#else
  const Fixed fixed = {segment.dims, segment.list, args.slots.slot, places.query + firstQuery};
#endif
  Bringer bringer(args, segment, places, cut, steps);
  Tile tile;
  int step = 0, slot = 0;
  uint32_t group = static_cast<uint32_t>(firstGroup);
  const int mine = min(count - firstQuery, kTileQueries);
#pragma unroll 1
  for (int i = 1 - kStages; i < total; ++i) {
    if (i >= 0) {
      waitForCopies<kStages - 2>();
      __syncthreads(); // Stage i is there, and stage i - 1, whose place is next, is left.
    }
    const bool more = i + kStages - 1 < total;
    if (more)
      bringer.begin();
    commitCopies();
    if (i < 0) {
      if (more)
        bringer.end();
      continue;
    }
    if (step == 0)
      beginTile(args, segment, fixed, places.group + firstQuery, group, lane, mine > 0, tile);
    if (tile.any) {
      const uint4 *const rows = stages + slot * (kRowWords + kQueryWords);
      const uint4 *const queries = rows + kRowWords + firstQuery * kQueryPitch;
      const int words = min(depth, segment.words - step * depth);
#ifdef ANNUDF_PACKED
      if (byMatrices())
        multiplyStage(tile, rows + firstGroup * 32, pitch, queries, lane, words);
      else
        updateStage(tile, rows + firstGroup * 32 + lane, pitch, queries, words);
#else
      updateStage(tile, fixed, rows + firstGroup * 32 + lane, pitch, queries, step * depth, words);
#endif
    }
#ifdef ANNUDF_PACKED
    ownRows.add(stages + slot * (kRowWords + kQueryWords), pitch,
                min(depth, segment.words - step * depth));
#endif
    if (more)
      bringer.end();
    slot = slot + 1 == kStages ? 0 : slot + 1;
    if (++step < steps)
      continue;
    step = 0;
#ifdef ANNUDF_PACKED
    ownRows.publish(places);
    if (byMatrices()) {
      if (mine > 0)
        endMatrices(args, segment, fixed, places.group + firstQuery,
                    places.ownRow + firstGroup * 32, group, lane, mine, tile);
    } else
#endif
        if (mine > 0)
      endTile(args, segment, fixed, places.group + firstQuery, group, lane, mine, tile);
    group += static_cast<uint32_t>(cut.groups());
  }
}

} // namespace

/// Blocks that stay: as many as fit the device. Takes the items of work.tiles.
extern "C" __global__ void __launch_bounds__(kThreads, kBlocks)
    ANNUDF_KERNEL(const __grid_constant__ annudf_scan_args args) {
  annudf_wait_for_last();
  Places &places = *reinterpret_cast<Places *>(stages + kStages * (kRowWords + kQueryWords));
  const annudf_workspace &work = args.work;
  const uint32_t items = reinterpret_cast<const uint32_t *>(work.tileStart)[args.index.nLists];
#pragma unroll 1
  for (uint32_t ticket = blockIdx.x; ticket < items; ticket = places.ticket) {
    const uint4 item = reinterpret_cast<const uint4 *>(work.tiles)[ticket];
    __syncthreads(); // Everyone has left the item before and read its ticket.
    const int count = static_cast<int>(item.z);
    if (threadIdx.x == 0) {
      places.ticket = gridDim.x + atomicAdd(reinterpret_cast<uint32_t *>(work.ticket), 1u);
      places.items = ticket == blockIdx.x ? 0 : places.items + 1;
    }
    if (threadIdx.x < kWarps * kTileQueries) {
      const uint32_t pair = reinterpret_cast<const uint32_t *>(
          work.pairs)[item.y + min(static_cast<int>(threadIdx.x), count - 1)];
      const uint32_t query = pair / work.nProbes;
      places.query[threadIdx.x] = static_cast<uint32_t>(args.queries.base) + query;
      places.words[threadIdx.x] = query * (work.coordinateStride / 4);
      places.group[threadIdx.x] = uint64_t(query) * work.stride +
                                  reinterpret_cast<const uint32_t *>(work.probeGroup)[pair] +
                                  item.w;
#ifdef ANNUDF_PACKED
      places.ownX[threadIdx.x] =
          ownOfQuery(reinterpret_cast<const uint4 *>(work.coordinates) + places.words[threadIdx.x],
                     args.index.chunks);
#endif
    }
    __syncthreads();
    const uint64_t group =
        reinterpret_cast<const uint32_t *>(args.index.listGroup)[item.x] + item.w;
    const uint32_t size =
        reinterpret_cast<const uint32_t *>(args.index.listSize)[item.x] - item.w * 32;
    const int chunks = static_cast<int>(args.index.chunks);
    scanItem(args,
             {reinterpret_cast<const uint4 *>(args.index.rows) + group * chunks * 32,
              reinterpret_cast<const long long *>(args.index.ids) + group * 32,
              static_cast<int>(item.x), static_cast<int>(args.index.dims), chunks,
#ifdef ANNUDF_PACKED
              chunks * 4,
#else
              static_cast<int>(args.index.dims),
#endif
              size, min((size + 31) / 32, work.segmentGroups)},
             places, count, static_cast<int>(places.items));
  }
}
