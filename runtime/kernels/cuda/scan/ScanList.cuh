//===- ScanList.cuh - What the scans of one list share ----------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shared by Scan.cu, Tiles.cuh and Parts.cuh: queries in shared memory, updates with the rows of a
// group, and what is left of them.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CUDA_SCAN_SCANLIST_CUH
#define ANNUDF_KERNELS_CUDA_SCAN_SCANLIST_CUH

#include "../common/Passes.cuh"
#include "Hooks.cuh"

// A large body (one that calls powf, say) is inlined once a kernel, in the loop that
// else takes only the end of a vector: linking it stays short, and one coordinate at a
// time costs nothing beside such a body.
#ifdef ANNUDF_COMPACT
constexpr bool kCompact = true;
#else
constexpr bool kCompact = false;
#endif

namespace {

extern __shared__ uint4 tileWords[]; // Staged<N>::Word [coordinate][query of the tile]

/// The queries of a tile of N in shared memory. A tile of one serves vectors of any length
/// that a block can hold, so coordinates of 64 bits are kept there as floats: every element
/// fits one, and a scan for one query waits for memory, not for the conversion.
template <int N> struct Staged {
  static constexpr bool kNarrow = N == 1 && sizeof(Coordinate) > sizeof(uint32_t);
  using Word = std::conditional_t<kNarrow, uint32_t, Coordinate>;

  /// Words of 16 bytes that the queries take.
  static __device__ __forceinline__ int chunks(int dims) {
    return (dims * N * static_cast<int>(sizeof(Word)) + 15) / 16;
  }
  static __device__ __forceinline__ Word *words() { return reinterpret_cast<Word *>(tileWords); }
  static __device__ __forceinline__ void put(uint32_t dim, int j, const void *query) {
    const int compute = kNarrow ? static_cast<int>(ANNUDF_COMPUTE_F32) : annudf1_compute();
    words()[dim * N + j] = coordinateAt<Word>(annudf1_query_element(), compute, query, dim);
  }
  static __device__ __forceinline__ Coordinate get(uint32_t dim, int j) {
    const Word word = words()[dim * N + j];
    if constexpr (kNarrow)
      return bitsAs<Coordinate>(static_cast<double>(bitsAs<float>(word)));
    else
      return word;
  }
};

#define ANNUDF_X(NAME, VALUE, SPELLING, BITS, KIND, SINCE)                                         \
  static_assert(BITS < 64 || ComputeRow<VALUE>::kKind == Kind::FLOAT, SPELLING " is not "          \
                                                                               "narrowed");
ANNUDF_COMPUTE_TYPES(ANNUDF_X)
#undef ANNUDF_X
#define ANNUDF_X(NAME, VALUE, SPELLING, BITS, KIND, SINCE)                                         \
  static_assert(BITS <= 24 || (BITS == 32 && ElementRow<VALUE>::kKind == Kind::FLOAT),             \
                SPELLING " does not fit a float");
ANNUDF_ELEMENTS(ANNUDF_X)
#undef ANNUDF_X

/// Smallest of each of N values over a warp, in N - 1 + log2(32 / N) shuffles: each
/// exchange halves the values a lane looks after. Lanes l with l % (32 / N) == 0 end
/// with value number l / (32 / N).
template <int N> __device__ __forceinline__ uint32_t warpMinima(uint32_t (&value)[N], int lane) {
#pragma unroll
  for (int half = N / 2, bit = 16; half > 0; half /= 2, bit /= 2) {
    const bool upper = lane & bit;
#pragma unroll
    for (int j = 0; j < half; ++j) {
      const uint32_t keep = upper ? value[j + half] : value[j];
      const uint32_t give = upper ? value[j] : value[j + half];
      value[j] = min(keep, __shfl_xor_sync(0xFFFFFFFFu, give, bit));
    }
  }
  uint32_t best = value[0];
#pragma unroll
  for (int bit = 16 / N; bit > 0; bit /= 2)
    best = min(best, __shfl_xor_sync(0xFFFFFFFFu, best, bit));
  return best;
}

/// What a block's hooks are called with, whatever the row.
struct Block {
  int element, compute, perWord; ///< The rows'; perWord elements.
  int dims, list;
  int at;          ///< The list's place in the index.
  int fullChunks;  ///< Every coordinate of these exists.
  int chunkStride; ///< From a chunk of a row to its next.
  const uint64_t *slots;
};

__device__ __forceinline__ int chunkStrideOf(const annudf_device_index &index) {
#ifdef ANNUDF_CANDIDATES
  return index.layout == ANNUDF_ROWS_BY_NUMBER ? 32 : 1;
#else
  return 32;
#endif
}

__device__ __forceinline__ Block blockOf(const annudf_scan_args &args, uint32_t list) {
  const int element = annudf1_row_element(), perWord = elementsPerWord(element);
  const int dims = static_cast<int>(args.index.dims);
  return {element,
          annudf1_compute(),
          perWord,
          dims,
          static_cast<int>(list),
          static_cast<int>(list),
          kCompact ? 0 : dims / (4 * perWord),
          chunkStrideOf(args.index),
          args.slots.slot};
}

/// Numbers of the queries of pairs, and groups of the workspace where the list starts for each.
template <int N>
__device__ __forceinline__ void placesOf(const annudf_scan_args &args, const uint32_t (&pair)[N],
                                         int (&query)[N], uint64_t (&out)[N]) {
#pragma unroll
  for (int j = 0; j < N; ++j) {
    const uint32_t q = pair[j] / args.work.nProbes;
    query[j] = args.queries.base + static_cast<int>(q);
    out[j] = static_cast<uint64_t>(q) * args.work.stride +
             reinterpret_cast<const uint32_t *>(args.work.probeGroup)[pair[j]];
  }
}

/// Converts the queries of the tile, once for all rows.
template <int N>
__device__ __forceinline__ void stageQueries(const annudf_scan_args &args,
                                             const uint32_t (&pair)[N]) {
  const uint8_t *queries[N];
#pragma unroll
  for (int j = 0; j < N; ++j)
    queries[j] = reinterpret_cast<const uint8_t *>(args.queries.data) +
                 static_cast<uint64_t>(pair[j] / args.work.nProbes) * args.queries.rowBytes;
  for (uint32_t d = threadIdx.x; d < args.index.dims; d += ANNUDF_SCAN_THREADS)
#pragma unroll
    for (int j = 0; j < N; ++j)
      Staged<N>::put(d, j, queries[j]);
  __syncthreads();
}

/// For a kernel whose blocks have a pair each: its query is the caller's, whom the first kernel of
/// the search has waited for.
__device__ __forceinline__ void begin(const annudf_scan_args &args, const uint32_t (&pair)[1]) {
  stageQueries<1>(args, pair);
  annudf_wait_for_last();
}

/// Updates with chunk `c` of a row: four coordinates a step, whatever the element: of 4, 2
/// or 1 words, or of a part of one.
template <int N>
__device__ __forceinline__ void updateChunk(const Block &block, uint4 &y, int c, int count,
                                            int64_t row, const int (&query)[N], Acc (&acc)[N]) {
  constexpr int kHalf = N > 1 ? N / 2 : 1;
#pragma unroll 1
  for (int step = 0; step < block.perWord; ++step) {
    const uint32_t word[4] = {y.x, y.y, y.z, y.w};
    Coordinate part[4];
#pragma unroll
    for (int w = 0; w < 4; ++w)
      part[w] = coordinateOf<Coordinate>(block.element, block.compute,
                                         block.perWord == 1   ? word[w]
                                         : block.perWord == 2 ? word[w / 2]
                                                              : word[0],
                                         w);
    const int dim = (c * block.perWord + step) * 4;
    // The second half of a tile that is at most half full is left out.
#pragma unroll
    for (int half = 0; half < N; half += kHalf) {
      if (half > 0 && count <= kHalf)
        break;
#pragma unroll
      for (int w = 0; w < 4; ++w) {
        // Queries inside: what a metric loads for a dimension is loaded once for all.
#pragma unroll
        for (int j = half; j < half + kHalf; ++j)
          update(acc[j], Staged<N>::get(dim + w, j), part[w], dim + w, block.dims, row, query[j],
                 block.list, block.slots);
      }
    }
    if (block.perWord == 2)
      y.x = y.z, y.y = y.w;
    else if (block.perWord == 4)
      y.x = y.y, y.y = y.z, y.z = y.w;
    else if (block.perWord > 4) {
      const uint32_t taken = 128 / block.perWord;
      y.x = __funnelshift_r(y.x, y.y, taken), y.y = __funnelshift_r(y.y, y.z, taken);
      y.z = __funnelshift_r(y.z, y.w, taken), y.w >>= taken;
    }
  }
}

/// Updates one query with chunks [begin, last) of a row, all of them full.
/// The next kAhead chunks are loaded while the current ones are used: two sets of
/// registers, as moving a register that a load still fills would wait for the load.
/// The last set may reach past the group; the lists end with that many chunks more.
__device__ __forceinline__ void updateFull(const Block &block, int begin, int last,
                                           const uint4 *rows, int64_t row, const int (&query)[1],
                                           Acc (&acc)[1]) {
  constexpr int kAhead = ANNUDF_MOST_AHEAD;
  uint4 current[kAhead], next[kAhead];
  const uint4 *ahead = rows + begin * 32;
#pragma unroll
  for (int a = 0; a < kAhead; ++a)
    next[a] = loadChunk(ahead + a * 32);
#pragma unroll 1
  for (int c = begin; c < last;) {
#pragma unroll
    for (int a = 0; a < kAhead; ++a)
      current[a] = next[a];
    ahead += kAhead * 32;
    if (c + kAhead < last) {
#pragma unroll
      for (int a = 0; a < kAhead; ++a)
        next[a] = loadChunk(ahead + a * 32);
    }
    const int end = min(c + kAhead, last);
#pragma unroll 1
    for (; c < end; ++c) {
      uint4 y = current[0];
#pragma unroll
      for (int a = 1; a < kAhead; ++a)
        current[a - 1] = current[a];
      updateChunk<1>(block, y, c, 1, row, query, acc);
    }
  }
}

/// Updates query `j` of a tile of N with the vector's end: what updateFull leaves.
template <int N>
__device__ __forceinline__ void updateEnd(const Block &block, const uint4 *rows, int64_t row,
                                          int query, int j, Acc &acc) {
#pragma unroll 1
  for (int d = block.fullChunks * 4 * block.perWord; d < block.dims; ++d) {
    const int w = d / block.perWord;
    const uint32_t word =
        __ldg(reinterpret_cast<const uint32_t *>(rows + w / 4 * block.chunkStride) + w % 4);
    update(acc, Staged<N>::get(d, j),
           coordinateOf<Coordinate>(block.element, block.compute, word, d % block.perWord), d,
           block.dims, row, query, block.list, block.slots);
  }
}

/// Counts what of group `g` of the list is NaN. What it needs is read anew, so that no register
/// waits for it.
template <int N>
__device__ __forceinline__ void countNan(const annudf_scan_args &args, int list, uint32_t g,
                                         int lane, int count, bool found, const int (&query)[N],
                                         const uint64_t (&out)[N], const uint32_t (&key)[N]) {
  uint32_t mine = 0;
  int first = 0;
#pragma unroll
  for (int j = 0; j < N; ++j)
    if (j < count && found && key[j] == ANNUDF_KEY_NONE && isFor(args.work, out[j] + g, lane))
      ++mine, first = query[j];
  const uint64_t group = reinterpret_cast<const uint32_t *>(args.index.listGroup)[list] + g;
  addNanOfWarp(args, lane, mine, first,
               reinterpret_cast<const int64_t *>(args.index.ids)[group * 32 + lane]);
}

/// Updates with the vector's end, and writes the keys of group `g` of the list and the best of
/// each query.
template <int N>
__device__ __forceinline__ void finishGroup(const annudf_scan_args &args, const Block &block,
                                            const uint4 *rows, uint32_t g, int lane, int count,
                                            bool found, int64_t row, const int (&query)[N],
                                            const uint64_t (&out)[N], const Acc (&acc)[N]) {
  // A query at a time: rare enough for memory.
  Acc last[N];
  uint32_t lastKey[N];
  int lastQuery[N];
  bool nan = false;
#pragma unroll
  for (int j = 0; j < N; ++j)
    last[j] = acc[j], lastQuery[j] = query[j];
#pragma unroll 1
  for (int j = 0; j < count; ++j) {
    const int q = lastQuery[j];
    Acc a = last[j];
    updateEnd<N>(block, rows, row, q, j, a);
    const float distance = finalize(a, block.dims, row, q, block.list, block.slots);
    lastKey[j] = found ? annudfKeyOf(distance, static_cast<int>(args.order)) : ANNUDF_KEY_NONE;
    nan |= distance != distance;
  }
  uint32_t key[N];
#pragma unroll
  for (int j = 0; j < N; ++j)
    key[j] = j < count ? lastKey[j] : ANNUDF_KEY_NONE;
  if (args.work.passing != 0)
#pragma unroll
    for (int j = 0; j < N; ++j)
      if (!isFor(args.work, out[j] + g, lane))
        key[j] = ANNUDF_KEY_NONE;
#pragma unroll
  for (int j = 0; j < N; ++j) {
    if (j < count)
      reinterpret_cast<uint32_t *>(args.work.keys)[(out[j] + g) * 32 + lane] = key[j];
  }
  __syncwarp(); // Lets the compiler prove that the shuffles below see the whole warp.
  if (__any_sync(0xFFFFFFFFu, nan))
    countNan<N>(args, block.at, g, lane, count, found, query, out, key);
  const uint32_t best = warpMinima<N>(key, lane);
  const int mine = lane / (32 / N);
  uint64_t place = out[0];
#pragma unroll
  for (int j = 1; j < N; ++j)
    place = mine == j ? out[j] : place;
  if (lane % (32 / N) == 0 && mine < count)
    reinterpret_cast<uint32_t *>(args.work.minima)[place + g] = best;
}

/// Whether the warp computes group `g` of the list: a row that passes the filter is `found`, and
/// some query of the tile may find one.
template <int N>
__device__ __forceinline__ bool isWanted(const annudf_scan_args &args, const uint64_t (&out)[N],
                                         uint32_t g, bool found) {
  if (args.work.passing == 0)
    return args.filter == 0 || __any_sync(0xFFFFFFFFu, found);
  uint32_t words = 0;
#pragma unroll
  for (int j = 0; j < N; ++j)
    words |= passingAt(args.work, out[j] + g);
  return words != 0;
}

/// What finishGroup leaves, of a group without a row that may be found.
template <int N>
__device__ __forceinline__ void skipGroup(const annudf_scan_args &args, uint32_t g, int lane,
                                          int count, const uint64_t (&out)[N]) {
#pragma unroll
  for (int j = 0; j < N; ++j)
    if (j < count) {
      reinterpret_cast<uint32_t *>(args.work.keys)[(out[j] + g) * 32 + lane] = ANNUDF_KEY_NONE;
      if (lane == 0)
        reinterpret_cast<uint32_t *>(args.work.minima)[out[j] + g] = ANNUDF_KEY_NONE;
    }
}

/// The rows of a list, as a lane sees them.
struct ListRows {
  const annudf_scan_args &args;
  uint32_t firstGroup, size, groups;
  uint32_t step; ///< From a group of the warp to its next.

  __device__ __forceinline__ ListRows(const annudf_scan_args &args, uint32_t list)
      : args(args), firstGroup(reinterpret_cast<const uint32_t *>(args.index.listGroup)[list]),
        size(reinterpret_cast<const uint32_t *>(args.index.listSize)[list]),
        groups((size + 31) / 32), step(gridDim.y * (ANNUDF_SCAN_THREADS / 32)) {}
  __device__ __forceinline__ const uint4 *chunks(uint32_t g) const {
    return reinterpret_cast<const uint4 *>(args.index.rows) +
           (static_cast<uint64_t>(firstGroup) + g) * args.index.chunks * 32 + (threadIdx.x & 31);
  }
  /// The number of a row, as hooks get it. Padding runs through the hooks as a row that exists, so
  /// that no capture is read outside its extent.
  __device__ __forceinline__ int64_t number(uint32_t g, bool &found) const {
    const uint32_t lane = threadIdx.x & 31;
    const bool exists = g * 32 + lane < size;
    const uint64_t slot = (static_cast<uint64_t>(firstGroup) + g) * 32 + (exists ? lane : 0);
    const int64_t row = __ldg(reinterpret_cast<const long long *>(args.index.ids) + slot);
    found = passes(args, exists, row);
#ifdef ANNUDF_CANDIDATES // Columns are in the order of the lists that have the rows.
    if (args.rowsAreSlots)
      return __ldg(reinterpret_cast<const uint32_t *>(args.index.numbers) + slot);
#endif
    return args.rowsAreSlots ? static_cast<int64_t>(slot) : row;
  }
  /// The warp's first group from `g` on that it computes for a tile.
  template <int N>
  __device__ __forceinline__ uint32_t next(uint32_t g, const uint64_t (&out)[N]) const {
    for (; (args.filter != 0 || args.work.passing != 0) && g < groups; g += step) {
      bool found = true;
      if (args.filter != 0)
        (void)number(g, found);
      if (isWanted<N>(args, out, g, found))
        break;
    }
    return g;
  }
};

} // namespace

#endif // ANNUDF_KERNELS_CUDA_SCAN_SCANLIST_CUH
