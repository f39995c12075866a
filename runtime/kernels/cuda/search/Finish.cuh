//===- Finish.cuh - The k best rows of what a scan left -----------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Apart from Search.cu so that FinishTest can run it where there is no GPU.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CUDA_SEARCH_FINISH_CUH
#define ANNUDF_KERNELS_CUDA_SEARCH_FINISH_CUH

#include "../common/Keys.cuh"
#include "../common/Overlap.cuh"
#include "../common/Starts.cuh"
#include "Select.cuh"

template <class T> __device__ __forceinline__ T *annudfPointer(uint64_t address) {
  return reinterpret_cast<T *>(address);
}

namespace {

/// What the scan left for one query.
struct Scanned {
  const annudf_finish_args &args;
  uint64_t pairs; ///< The query's first.
  const uint32_t *keys;

  /// Source id of place `place` of the query's workspace.
  __device__ int64_t idOf(uint32_t place) const {
    const uint32_t *probeGroup = annudfPointer<const uint32_t>(args.work.probeGroup) + pairs;
    const uint32_t probe = lastStartUpTo(probeGroup, args.work.nProbes, place / 32);
    const uint32_t list = annudfPointer<const uint32_t>(args.work.probes)[pairs + probe];
    const uint64_t source = annudfPointer<const uint32_t>(args.index.listGroup)[list] +
                            (place / 32 - probeGroup[probe]);
    return annudfPointer<const int64_t>(args.index.ids)[source * 32 + place % 32];
  }
};

/// Which rows may tie with the k-th best key.
struct Ties {
  uint32_t kth, groups, k;
  uint32_t size;   ///< k rounded up to a power of two.
  bool everyGroup; ///< All groups count, not those in `group` alone.
};

/// Among the rows whose key is `ties.kth`, those with the smallest ids become the last of the k
/// best, in the place of any that bestKey and bestId hold already. Rare, so not inlined.
__device__ __noinline__ void takeTies(SelectScratch &scratch, const Scanned &scanned,
                                      const uint32_t *minima, Ties ties, const uint32_t *group,
                                      uint32_t *bestKey, int64_t *bestId, uint32_t &tied) {
  bitonicSort(bestKey, bestId, ties.size);
  uint32_t below = 0;
  while (below < ties.k && bestKey[below] < ties.kth)
    ++below;
  __syncthreads();
  const uint32_t wanted = ties.k - below;
  for (uint32_t i = below + threadIdx.x; i < ties.k; i += blockDim.x)
    bestKey[i] = ANNUDF_KEY_NONE, bestId[i] = INT64_MAX;
  auto idOfTie = [&](uint32_t i, unsigned long long &id) {
    const uint32_t g = ties.everyGroup ? i / 32 : group[i / 32];
    if (ties.everyGroup && minima[g] > ties.kth)
      return false;
    const uint32_t place = g * 32 + i % 32;
    if (scanned.keys[place] != ties.kth)
      return false;
    id = static_cast<unsigned long long>(scanned.idOf(place)) ^ 1ull << 63; // Ascending as signed.
    return true;
  };
  const uint64_t bound = findBound(scratch, ties.groups * 32, wanted, idOfTie);
  unsigned long long id;
  for (uint32_t i = threadIdx.x; i < ties.groups * 32; i += blockDim.x)
    if (idOfTie(i, id) && id < bound) {
      const uint32_t slot = below + atomicAdd(&tied, 1u);
      bestKey[slot] = ties.kth, bestId[slot] = static_cast<int64_t>(id ^ 1ull << 63);
    }
  __syncthreads();
  // What is left is the bound itself, which several may be: ids may be repeated.
  for (uint32_t i = tied + threadIdx.x; i < wanted; i += blockDim.x)
    bestKey[below + i] = ties.kth, bestId[below + i] = static_cast<int64_t>(bound ^ 1ull << 63);
}

/// Where the groups of a query's probes are, in shared memory.
struct FewProbes {
  static constexpr uint32_t kMost = 256;
  uint32_t start[kMost];  ///< First group in the workspace.
  uint32_t source[kMost]; ///< What is to be added, for the group in the index.
};

/// The k best rows in a few steps: rows no worse than a bound that k of them reach, ranked one by
/// one. \returns false, with nothing written, where k, probes or rows that reach the bound are too
/// many for that.
__device__ __forceinline__ bool finishFew(SelectScratch &scratch, const Scanned &scanned,
                                          const uint32_t *minima, const uint32_t &groupCount,
                                          uint32_t *rowKey, int64_t *rowId, uint32_t &rows) {
  constexpr uint32_t kMostGroups = 512, kMostRows = 512; // For ANNUDF_FINISH_MOST_K.
  __shared__ FewProbes probes;
  const annudf_finish_args &args = scanned.args;
  const uint32_t nProbes = args.work.nProbes, k = args.k;
  if (nProbes > FewProbes::kMost || k > kMostOfFew)
    return false;
  uint32_t own[kOwnKeys], best = ANNUDF_KEY_NONE, bound;
  auto keyAt = [&](uint32_t i) { return minima[i]; };
  readOwnKeys(own, args.work.stride, keyAt); // While the count of them comes.
  for (uint32_t p = threadIdx.x; p < nProbes; p += blockDim.x) {
    const uint32_t start = annudfPointer<const uint32_t>(args.work.probeGroup)[scanned.pairs + p];
    const uint32_t list = annudfPointer<const uint32_t>(args.work.probes)[scanned.pairs + p];
    probes.start[p] = start;
    probes.source[p] = annudfPointer<const uint32_t>(args.index.listGroup)[list] - start;
  }
  if (threadIdx.x == 0)
    rows = 0;
  const uint32_t groups = groupCount;
  if (groups * 32 > blockDim.x)
    visitKeys(own, groups, keyAt, [&](uint32_t, uint32_t key) { best = min(best, key); });
  else if (threadIdx.x < groups * 32) // Minima of so few groups would rule out few rows.
    best = scanned.keys[threadIdx.x];
  if (!findBoundOfFew(scratch, best, k, bound))
    return false;
  uint32_t *few = scratch.histogram + 1024;
  visitKeys(own, groups, keyAt, [&](uint32_t g, uint32_t key) {
    if (key <= bound && key != ANNUDF_KEY_NONE)
      if (const uint32_t place = atomicAdd(&scratch.inside, 1u); place < kMostGroups)
        few[place] = g;
  });
  __syncthreads();
  const uint32_t count = scratch.inside;
  if (count > kMostGroups)
    return false;
  for (uint32_t i = threadIdx.x; i < count * 32; i += blockDim.x) {
    const uint32_t g = few[i / 32], key = scanned.keys[g * 32 + i % 32];
    if (key > bound || key == ANNUDF_KEY_NONE)
      continue;
    const uint32_t slot = atomicAdd(&rows, 1u);
    if (slot >= kMostRows)
      continue;
    const uint32_t probe = lastStartUpTo(probes.start, nProbes, g);
    rowKey[slot] = key;
    rowId[slot] = annudfPointer<const int64_t>(
        args.index.ids)[static_cast<uint64_t>(g + probes.source[probe]) * 32 + i % 32];
  }
  __syncthreads();
  const uint32_t found = rows;
  if (found > kMostRows)
    return false;
  const uint64_t out = static_cast<uint64_t>(blockIdx.x) * k;
  int64_t *ids = annudfPointer<int64_t>(args.outIds) + out;
  float *distances = annudfPointer<float>(args.outDistances) + out;
  for (uint32_t i = threadIdx.x; i < found; i += blockDim.x) {
    const uint32_t key = rowKey[i];
    const int64_t id = rowId[i];
    uint32_t rank = 0;
#pragma unroll 4
    for (uint32_t j = 0; j < found; ++j)
      // Ids may be repeated: the first of two rows with the same key and id comes first.
      rank += rowKey[j] < key || (rowKey[j] == key && rowId[j] - (j < i) < id);
    if (rank < k)
      ids[rank] = id, distances[rank] = annudfDistanceOf(key, static_cast<int>(args.order));
  }
  for (uint32_t i = found + threadIdx.x; i < k; i += blockDim.x) {
    ids[i] = -1;
    distances[i] = annudfDistanceOf(ANNUDF_KEY_NONE, static_cast<int>(args.order));
  }
  return true;
}

} // namespace

/// A block for each query: the k best rows, by distance and then by id. Only the k groups
/// with the best minima can hold a row that is better than the k-th: a row elsewhere is no
/// better than k minima of other groups. One that ties with the k-th may be elsewhere, if
/// another group's minimum is as large.
/// \param args.k at most ANNUDF_FINISH_MOST_K.
extern "C" __global__ void annudf_finish(const __grid_constant__ annudf_finish_args args) {
  constexpr uint32_t kMostK = ANNUDF_FINISH_MOST_K;
  __shared__ SelectScratch scratch;
  __shared__ uint32_t group[kMostK], bestKey[kMostK];
  __shared__ int64_t bestId[kMostK];
  __shared__ uint32_t largestMinimum, largest, taken, tied, others;
  waitForLast();
  const annudf_workspace &work = args.work;
  const uint32_t &groupCount = annudfPointer<const uint32_t>(work.groupCount)[blockIdx.x];
  const uint32_t *minima =
      annudfPointer<const uint32_t>(work.minima) + static_cast<uint64_t>(blockIdx.x) * work.stride;
  const Scanned scanned = {args, static_cast<uint64_t>(blockIdx.x) * work.nProbes,
                           annudfPointer<const uint32_t>(work.keys) +
                               static_cast<uint64_t>(blockIdx.x) * work.stride * 32};
  if (finishFew(scratch, scanned, minima, groupCount, bestKey, bestId, taken))
    return;
  __syncthreads();
  const uint32_t *keys = scanned.keys;
  const uint32_t groups = groupCount;
  const uint32_t k = args.k, chosen = min(groups, k);
  uint32_t size = 2;
  while (size < k)
    size *= 2;
  for (uint32_t i = threadIdx.x; i < size; i += blockDim.x)
    bestKey[i] = ANNUDF_KEY_NONE, bestId[i] = INT64_MAX;
  if (threadIdx.x == 0)
    largestMinimum = 0, largest = 0, taken = 0, tied = 0, others = 0;
  __syncthreads();
  selectSmallest(
      scratch, groups, k, [&](uint32_t i) { return minima[i]; },
      [&](uint32_t place, uint32_t g, uint32_t minimum) {
        group[place] = g;
        if (groups > k)
          atomicMax(&largestMinimum, minimum);
      });

  auto placeOf = [&](uint32_t i) { return group[i / 32] * 32u + i % 32; };
  auto keyAt = [&](uint32_t i) { return keys[placeOf(i)]; };
  Threshold last = {ANNUDF_KEY_NONE, ~0u, 0, 0};
  if (chosen * 32 > k)
    last = findThreshold(scratch, chosen * 32, k, keyAt);
  // Either all rows up to the threshold are wanted, or it is the k-th key to the last bit.
  const bool decided = last.inside == last.wanted;
  for (uint32_t i = threadIdx.x; i < chosen * 32; i += blockDim.x)
    if (const uint32_t key = keyAt(i);
        key != ANNUDF_KEY_NONE &&
        ((key & last.mask) < last.prefix || (decided && (key & last.mask) == last.prefix))) {
      const uint32_t slot = atomicAdd(&taken, 1u);
      bestKey[slot] = key, bestId[slot] = scanned.idOf(placeOf(i));
      atomicMax(&largest, key);
    }
  __syncthreads();

  // Rows that tie with the k-th and are not taken: of a chosen group, or of another whose
  // minimum is the same. Both are rare, so what tells them apart comes before what looks.
  const uint32_t kth = !decided ? last.prefix : taken == k ? largest : ANNUDF_KEY_NONE;
  bool elsewhere = groups > k && kth != ANNUDF_KEY_NONE && largestMinimum == kth;
  if (elsewhere) {
    for (uint32_t i = threadIdx.x; i < groups; i += blockDim.x)
      if (minima[i] == kth)
        atomicAdd(&others, 1u);
    for (uint32_t i = threadIdx.x; i < chosen; i += blockDim.x)
      if (minima[group[i]] == kth)
        atomicSub(&others, 1u);
    __syncthreads();
    elsewhere = others != 0;
  }
  if (kth != ANNUDF_KEY_NONE && (elsewhere || !decided))
    takeTies(scratch, scanned, minima, {kth, elsewhere ? groups : chosen, k, size, elsewhere},
             group, bestKey, bestId, tied);
  bitonicSort(bestKey, bestId, size);

  for (uint32_t i = threadIdx.x; i < k; i += blockDim.x) {
    const uint64_t out = static_cast<uint64_t>(blockIdx.x) * k + i;
    annudfPointer<int64_t>(args.outIds)[out] = bestKey[i] != ANNUDF_KEY_NONE ? bestId[i] : -1;
    annudfPointer<float>(args.outDistances)[out] =
        annudfDistanceOf(bestKey[i], static_cast<int>(args.order));
  }
}

namespace {

/// (key, id) of one query's results, in device memory; the distances' places hold the keys.
struct Results {
  int64_t *ids;
  float *keys;
  __device__ uint32_t keyAt(uint64_t i) const { return __float_as_uint(keys[i]); }
  __device__ void put(uint64_t i, uint32_t key, int64_t id) const {
    keys[i] = __uint_as_float(key), ids[i] = id;
  }
  /// Exchanges two of them unless they are in order; `high` may be beyond the end.
  __device__ void order(uint32_t low, uint32_t high, uint32_t count) const {
    if (high >= count)
      return;
    const uint32_t a = keyAt(low), b = keyAt(high);
    const int64_t idA = ids[low], idB = ids[high];
    if (a > b || (a == b && idA > idB))
      put(low, b, idB), put(high, a, idA);
  }
};

/// A piece of the results in shared memory.
constexpr uint32_t kSortedTogether = 1024;
struct Piece {
  uint32_t key[kSortedTogether];
  int64_t id[kSortedTogether];
};

/// Calls work() for each piece of the results with the piece in shared memory, and writes it back.
template <class Work>
__device__ __forceinline__ void byPieces(Piece &piece, const Results &results, uint32_t count,
                                         Work work) {
  for (uint32_t first = 0; first < count; first += kSortedTogether) {
    for (uint32_t i = threadIdx.x; i < kSortedTogether; i += blockDim.x) {
      const bool inside = i < count - first;
      piece.key[i] = inside ? results.keyAt(first + i) : ANNUDF_KEY_NONE;
      piece.id[i] = inside ? results.ids[first + i] : INT64_MAX;
    }
    work();
    for (uint32_t i = threadIdx.x; i < min(kSortedTogether, count - first); i += blockDim.x)
      results.put(first + i, piece.key[i], piece.id[i]);
    __syncthreads();
  }
}

/// Sorts `count` results ascending, by key and then by id: a bitonic network whose comparators
/// all move the smaller one down, so that what is beyond the end, as if it were larger than
/// everything, stays there and needs no room. Starts and ends with a barrier.
__device__ inline void sortResults(Piece &piece, const Results &results, uint32_t count) {
  __syncthreads();
  uint32_t together = 2; // Those of the only piece, where there is one.
  while (together < min(count, kSortedTogether))
    together *= 2;
  byPieces(piece, results, count,
           [&] { bitonicSort(piece.key, piece.id, together); }); // Begins with a barrier.
  for (uint32_t half = kSortedTogether; half < count; half *= 2) {
    // The first step of a merge compares from both ends of a run.
    for (uint32_t i = threadIdx.x; i < count; i += blockDim.x)
      if ((i & half) == 0)
        results.order(i, i ^ (2 * half - 1), count);
    __syncthreads();
    for (uint32_t step = half / 2; step >= kSortedTogether; step /= 2) {
      for (uint32_t i = threadIdx.x; i < count; i += blockDim.x)
        if ((i & step) == 0)
          results.order(i, i + step, count);
      __syncthreads();
    }
    byPieces(piece, results, count, [&] {
      for (uint32_t step = kSortedTogether / 2; step > 0; step /= 2) {
        __syncthreads();
        for (uint32_t i = threadIdx.x; i < kSortedTogether / 2; i += blockDim.x) {
          const uint32_t low = 2 * i - (i & (step - 1)), high = low + step;
          const uint32_t a = piece.key[low], b = piece.key[high];
          const int64_t idA = piece.id[low], idB = piece.id[high];
          if (a > b || (a == b && idA > idB)) {
            piece.key[low] = b, piece.key[high] = a;
            piece.id[low] = idB, piece.id[high] = idA;
          }
        }
      }
      __syncthreads();
    });
  }
}

/// What the k best of any number of rows take of shared memory.
struct ManyScratch {
  SelectScratch select;
  Piece piece;
  uint32_t taken, tied;
};

/// The k best of `rows` rows by key and then by id, written to `results` as ids and distances.
/// Every key is looked at, and the results are collected and sorted where they are wanted.
/// \param keyAt, idOf  of row i; ANNUDF_KEY_NONE is none of the best.
/// \param k  at most 2^30.
template <class KeyAt, class IdOf>
__device__ __forceinline__ void selectMany(ManyScratch &scratch, uint32_t rows, uint32_t k,
                                           KeyAt keyAt, IdOf idOf, const Results &results,
                                           int order) {
  if (threadIdx.x == 0)
    scratch.taken = 0, scratch.tied = 0;
  __syncthreads();
  Threshold last = {ANNUDF_KEY_NONE, ~0u, 0, 0};
  if (rows > k)
    last = findThreshold(scratch.select, rows, k, keyAt);
  // Either all rows up to the threshold are wanted, or it is the k-th key to the last bit.
  const bool decided = last.inside == last.wanted;
  for (uint32_t i = threadIdx.x; i < rows; i += blockDim.x)
    if (const uint32_t key = keyAt(i);
        key != ANNUDF_KEY_NONE &&
        ((key & last.mask) < last.prefix || (decided && (key & last.mask) == last.prefix)))
      results.put(atomicAdd(&scratch.taken, 1u), key, idOf(i));
  __syncthreads();
  uint32_t found = scratch.taken;
  if (!decided && last.prefix != ANNUDF_KEY_NONE) {
    auto idOfTie = [&](uint32_t i, unsigned long long &id) {
      if (keyAt(i) != last.prefix)
        return false;
      id = static_cast<unsigned long long>(idOf(i)) ^ 1ull << 63; // Ascending as signed.
      return true;
    };
    const uint64_t bound = findBound(scratch.select, rows, last.wanted, idOfTie);
    unsigned long long id;
    for (uint32_t i = threadIdx.x; i < rows; i += blockDim.x)
      if (idOfTie(i, id) && id < bound)
        results.put(k - last.wanted + atomicAdd(&scratch.tied, 1u), last.prefix,
                    static_cast<int64_t>(id ^ 1ull << 63));
    __syncthreads();
    // What is left is the bound itself, which several may be.
    for (uint32_t i = scratch.tied + threadIdx.x; i < last.wanted; i += blockDim.x)
      results.put(k - last.wanted + i, last.prefix, static_cast<int64_t>(bound ^ 1ull << 63));
    found = k;
  }
  sortResults(scratch.piece, results, found);
  for (uint32_t i = threadIdx.x; i < k; i += blockDim.x) {
    results.keys[i] = annudfDistanceOf(i < found ? results.keyAt(i) : ANNUDF_KEY_NONE, order);
    if (i >= found)
      results.ids[i] = -1;
  }
}

} // namespace

/// The same for a k that shared memory does not hold.
/// \param args.k at most 2^30; the groups of a query are fewer than 2^27.
extern "C" __global__ void annudf_finish_many(const __grid_constant__ annudf_finish_args args) {
  __shared__ ManyScratch scratch;
  waitForLast();
  const annudf_workspace &work = args.work;
  const uint32_t rows = annudfPointer<const uint32_t>(work.groupCount)[blockIdx.x] * 32;
  const Scanned scanned = {args, static_cast<uint64_t>(blockIdx.x) * work.nProbes,
                           annudfPointer<const uint32_t>(work.keys) +
                               static_cast<uint64_t>(blockIdx.x) * work.stride * 32};
  const uint64_t out = static_cast<uint64_t>(blockIdx.x) * args.k;
  selectMany(
      scratch, rows, args.k, [&](uint32_t i) { return scanned.keys[i]; },
      [&](uint32_t i) { return scanned.idOf(i); },
      {annudfPointer<int64_t>(args.outIds) + out, annudfPointer<float>(args.outDistances) + out},
      static_cast<int>(args.order));
}

/// A block row for each query: the distance of every row that was scanned, at the place of its id
/// in a row of args.k distances. Ids are below args.k.
extern "C" __global__ void annudf_every_distance(const __grid_constant__ annudf_finish_args args) {
  waitForLast();
  const annudf_workspace &work = args.work;
  const uint32_t rows = annudfPointer<const uint32_t>(work.groupCount)[blockIdx.x] * 32;
  const Scanned scanned = {args, static_cast<uint64_t>(blockIdx.x) * work.nProbes,
                           annudfPointer<const uint32_t>(work.keys) +
                               static_cast<uint64_t>(blockIdx.x) * work.stride * 32};
  float *out = annudfPointer<float>(args.outDistances) + static_cast<uint64_t>(blockIdx.x) * args.k;
  for (uint64_t i = uint64_t(blockIdx.y) * blockDim.x + threadIdx.x; i < rows;
       i += uint64_t(gridDim.y) * blockDim.x) {
    const int64_t id = scanned.idOf(static_cast<uint32_t>(i));
    if (id < 0) // Padding.
      continue;
    const uint32_t key = scanned.keys[i];
    out[id] = key == ANNUDF_KEY_NONE ? __uint_as_float(0x7FC00000u)
                                     : annudfDistanceOf(key, static_cast<int>(args.order));
  }
}

#endif // ANNUDF_KERNELS_CUDA_SEARCH_FINISH_CUH
