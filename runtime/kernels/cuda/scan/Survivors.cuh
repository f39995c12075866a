//===- Survivors.cuh - The k best rows, found by bounds ------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A granule has a bound that none of its rows is better than: of sign * accumulator, or of sign *
// ratio, of which finalize, which is proved monotone, makes a key; or the best of its rows' keys.
// Granules are evaluated until the k-th best key is below every other bound: results are those of a
// scan of all rows, whatever the bounds.
//
// Apart from Survivors.cu so that SurvivorsTest can run it where there is no GPU.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CUDA_SCAN_SURVIVORS_CUH
#define ANNUDF_KERNELS_CUDA_SCAN_SURVIVORS_CUH

#include "../common/Keys.cuh"
#include "Granules.cuh"

namespace {

constexpr uint32_t kMostThreads = ANNUDF_SURVIVORS_MANY_THREADS, kMostWaiting = 8 * kMostThreads;
static_assert(ANNUDF_SURVIVORS_MOST_K <= kMostThreads, "a thread a result");

/// Rows by their keys; places past the last hold ANNUDF_KEY_NONE, up to four of them.
struct SurvivorRows {
  uint32_t key[kMostThreads + 4];
  int64_t id[kMostThreads];
};

template <class Bound> struct SurvivorScratch {
  SurvivorProbes probes;
  SurvivorRows best[2]; ///< In order; one of the two is filled from the other.
  SurvivorRows fresh;
  Bound least[2 * kMostThreads]; ///< The least of each thread's bounds, for two halves of them.
  Bound bound[kMostWaiting];     ///< Bounds of granules that wait.
  uint32_t waiting[kMostWaiting];
  uint32_t waits, found, kept;
  uint32_t dropped; ///< How many of those that waited, at the end of the two arrays.
  Bound threshold;
};

/// How many of the first `count` rows come before (key, id): rows of one key are told apart by id,
/// and those of one id, too, by their places, so that no two have one rank.
/// \param own  its own place among them, or `count` where it is none of them and comes first.
__device__ __forceinline__ uint32_t rankAmong(const SurvivorRows &rows, uint32_t count,
                                              uint32_t key, int64_t id, uint32_t own) {
  uint32_t rank = 0, equal = 0;
#pragma unroll 2
  for (uint32_t i = 0; i < count; i += 4) {
    const uint4 four = *reinterpret_cast<const uint4 *>(rows.key + i);
    rank += (four.x < key) + (four.y < key) + (four.z < key) + (four.w < key);
    equal += (four.x == key) + (four.y == key) + (four.z == key) + (four.w == key);
  }
  if (equal > (own < count))
#pragma unroll 1
    for (uint32_t i = 0; i < count; ++i)
      rank +=
          rows.key[i] == key && (rows.id[i] < id || (rows.id[i] == id && i < own && own < count));
  return rank;
}

/// How many of the first `count` rows, which are in order, come before (key, id) or are equal.
__device__ __forceinline__ uint32_t rankInOrder(const SurvivorRows &rows, uint32_t count,
                                                uint32_t key, int64_t id) {
  uint32_t low = 0, high = count;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (rows.key[middle] < key || (rows.key[middle] == key && rows.id[middle] <= id))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/// One query, its bounds and its results so far. The metric gives
///   Bounds: FormBounds or KeyBounds;
///   uint32_t mostOf(Bound bound): where k granules have bounds up to it, no row of a greater key
///     is among the k best;
///   uint32_t keyOf(Bound bound): no key of a row of a granule of that bound is below it;
///   uint32_t evaluate(uint32_t list, uint64_t group, uint32_t place, int64_t &row): the key of the
///     row at a place of a group of the index, and its id, unless the key is ANNUDF_KEY_NONE.
template <class Metric> class SurvivorQuery {
  using Bounds = typename Metric::Bounds;
  using Bound = typename Bounds::Bound;
  using Four = typename Bounds::Four;

public:
  __device__ SurvivorQuery(const annudf_survivors_args &args, const Metric &metric,
                           SurvivorScratch<Bound> &scratch)
      : args(args), metric(metric), scratch(scratch), t(threadIdx.x), threads(blockDim.x),
        granules(args.scan, metric, scratch.probes, blockIdx.x), groups(granules.groups),
        bounds(reinterpret_cast<const Four *>(args.scan.work.keys) + granules.start) {
    for (uint32_t i = t; i < kMostThreads + 4; i += threads)
      scratch.best[0].key[i] = scratch.best[1].key[i] = ANNUDF_KEY_NONE;
    if (t == 0)
      scratch.waits = 0, scratch.found = 0, scratch.dropped = 0, scratch.threshold = Bounds::kNone;
  }

  /// One place evaluates, whatever waits: each more would take a link of the metric as long again.
  __device__ __forceinline__ void run() {
    bool inPieces = !waitForFirst(), isLast = false;
    if (inPieces)
      isLast = waitForPiece();
#pragma unroll 1
    for (;;) {
      evaluateWaiting();
      if (isLast)
        break;
      if (!inPieces && waitForRest()) {
        isLast = true;
        continue;
      }
      inPieces = true;
      isLast = waitForPiece();
    }
    write();
  }

private:
  /// The least of this thread's bounds, of two halves of them: all are on their way at once.
  __device__ __forceinline__ void readLeast(Bound (&least)[2]) const {
    constexpr uint32_t kAtOnce = 8;
    least[0] = least[1] = Bounds::kNone;
#pragma unroll 1
    for (uint32_t first = t; first < groups; first += kAtOnce * threads) {
      Four four[kAtOnce];
#pragma unroll
      for (uint32_t i = 0; i < kAtOnce; ++i)
        if (first + i * threads < groups)
          four[i] = __ldcg(bounds + first + i * threads);
        else // Nothing: a bound that is counted twice leaves less than k below the threshold.
          four[i] = {Bounds::kNone, Bounds::kNone, Bounds::kNone, Bounds::kNone};
#pragma unroll
      for (uint32_t i = 0; i < kAtOnce; ++i)
        least[i % 2] = Bounds::less(least[i % 2], Bounds::less(Bounds::less(four[i].x, four[i].y),
                                                               Bounds::less(four[i].z, four[i].w)));
    }
  }

  /// How many of the buckets' bounds are below that of bucket `b`; of equal ones, those before it.
  __device__ __forceinline__ uint32_t rankOfBucket(uint32_t buckets, uint32_t b, Bound mine) const {
    uint32_t rank = 0;
#pragma unroll 4
    for (uint32_t i = 0; i < buckets; i += 4) {
      const Four four = *reinterpret_cast<const Four *>(scratch.least + i);
      rank += (four.x < mine || (four.x == mine && i < b)) +
              (four.y < mine || (four.y == mine && i + 1 < b)) +
              (four.z < mine || (four.z == mine && i + 2 < b)) +
              (four.w < mine || (four.w == mine && i + 3 < b));
    }
    return rank;
  }

  /// The k-th of the least bounds of some buckets: at least k granules are no higher, and few more,
  /// as buckets are twice k and more. Neighbours' granules, which are of one list, are in different
  /// ones.
  /// \param least  of this thread. Starts without, and ends with a barrier.
  __device__ __forceinline__ Bound findThreshold(const Bound (&least)[2]) {
    uint32_t buckets = min(threads, 32u);
    while (buckets < 2 * threads && buckets < 2 * args.k)
      buckets *= 2;
    Bound mine = buckets > threads ? least[0] : Bounds::less(least[0], least[1]);
    scratch.least[t] = mine;
    if (buckets > threads)
      scratch.least[t + threads] = least[1];
    __syncthreads();
    if (buckets < threads) {
      if (t < buckets) {
        for (uint32_t i = t + buckets; i < threads; i += buckets)
          mine = Bounds::less(mine, scratch.least[i]);
        scratch.least[t] = mine;
      }
      __syncthreads();
    }
#pragma unroll 1
    for (uint32_t b = t; b < buckets; b += threads, mine = least[1])
      if (rankOfBucket(buckets, b, mine) == args.k - 1)
        scratch.threshold = mine;
    __syncthreads();
    return scratch.threshold;
  }

  /// Has this thread's granules wait whose bound is no higher than the threshold.
  __device__ __forceinline__ void wait(Bound threshold) {
    for (uint32_t g = t; g < groups; g += threads) {
      const Four four = __ldcg(bounds + g);
      const Bound bound[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
      for (uint32_t i = 0; i < 4; ++i)
        if (bound[i] <= threshold && bound[i] < Bounds::kNone) {
          if (const uint32_t place = atomicAdd(&scratch.waits, 1u); place < kMostWaiting)
            scratch.waiting[place] = g * 4 + i, scratch.bound[place] = bound[i];
        } else {
          above = Bounds::less(above, bound[i]);
        }
    }
  }

  /// Has the k granules with the least bounds wait, those as low, and others that take no longer,
  /// or as many that to tell them apart is not worth it (more than half of the room). \returns
  /// false where they are too many: none waits then.
  __device__ __forceinline__ bool waitForFirst() {
    Bound least[2];
    readLeast(least);
    granules.bringProbes();
    threshold = findThreshold(least);
    most = metric.mostOf(threshold);
    const Bound own = Bounds::less(least[0], least[1]);
    if (own <= threshold)
      wait(threshold);
    else
      above = own;
    __syncthreads();
    const uint32_t waits = scratch.waits;
    if (waits > kMostWaiting) { // Many equal bounds: those are looked at again, in pieces.
      __syncthreads();
      if (t == 0)
        scratch.waits = 0, scratch.threshold = Bounds::kBeforeAll; // Nothing was evaluated.
      __syncthreads();
      return false;
    }
    if (waits > args.k && waits * ANNUDF_GRANULE_ROWS > threads && waits <= kMostWaiting / 2)
      keepFirst(waits);
    return true;
  }

  /// Granules that wait stay if their bound is not above the k-th of theirs; the others
  /// are dropped for now, to the end of the arrays.
  /// \param waits  half of the room at most, so that nothing is written that was not read.
  __device__ __forceinline__ void keepFirst(uint32_t waits) {
#pragma unroll 1
    for (uint32_t i = t; i < waits; i += threads) {
      const Bound bound = scratch.bound[i];
      uint32_t rank = 0;
#pragma unroll 4
      for (uint32_t o = 0; o < waits; ++o)
        rank += scratch.bound[o] < bound || (scratch.bound[o] == bound && o < i);
      if (rank == args.k - 1)
        scratch.threshold = bound;
    }
    if (t == 0)
      scratch.kept = 0;
    __syncthreads();
    const Bound kth = scratch.threshold;
#pragma unroll 1
    for (uint32_t first = 0; first < waits; first += threads) {
      const uint32_t i = first + t;
      const uint32_t granule = i < waits ? scratch.waiting[i] : 0;
      const Bound bound = i < waits ? scratch.bound[i] : Bounds::kNone;
      __syncthreads(); // These places may be written now.
      if (i < waits) {
        if (bound <= kth) {
          scratch.waiting[atomicAdd(&scratch.kept, 1u)] = granule;
        } else {
          const uint32_t place = kMostWaiting - 1 - atomicAdd(&scratch.dropped, 1u);
          scratch.waiting[place] = granule, scratch.bound[place] = bound;
        }
      }
    }
    __syncthreads();
    if (t == 0)
      scratch.waits = scratch.kept;
    __syncthreads();
  }

  /// Has every granule wait that may hold a row as good as the k-th so far and was not evaluated:
  /// of those that were dropped, and of those above `threshold`. Mostly there are few. \returns
  /// false where they are too many: none waits then.
  __device__ __forceinline__ bool waitForRest() {
    const uint32_t last = scratch.best[side].key[args.k - 1];
    const uint32_t dropped = scratch.dropped, room = kMostWaiting - dropped;
#pragma unroll 1
    for (uint32_t i = t; i < dropped; i += threads)
      if (const uint32_t place = kMostWaiting - 1 - i; metric.keyOf(scratch.bound[place]) <= last)
        if (const uint32_t to = atomicAdd(&scratch.waits, 1u); to < room)
          scratch.waiting[to] = scratch.waiting[place];
    if (above < Bounds::kNone && metric.keyOf(above) <= last)
#pragma unroll 1
      for (uint32_t g = t; g < groups; g += threads) {
        const Four four = __ldcg(bounds + g);
#pragma unroll 1
        for (uint32_t i = 0; i < 4; ++i)
          if (const Bound bound = boundOf(four, i);
              bound > threshold && bound < Bounds::kNone && metric.keyOf(bound) <= last)
            if (const uint32_t place = atomicAdd(&scratch.waits, 1u); place < room)
              scratch.waiting[place] = g * 4 + i;
      }
    __syncthreads();
    if (scratch.waits <= room)
      return true;
    __syncthreads();
    if (t == 0)
      scratch.waits = 0;
    __syncthreads();
    return false;
  }

  /// The same where they are many, of as many groups as there is room for from `piece` on: granules
  /// above those that were evaluated at first, whose key is not above the k-th, which falls
  /// meanwhile. \returns whether there are no more groups.
  __device__ __forceinline__ bool waitForPiece() {
    const uint32_t last = scratch.best[side].key[args.k - 1];
    const Bound done = scratch.threshold; // That of keepFirst, if it ran.
#pragma unroll 1
    for (;;) {
      if (const uint32_t g = piece + t; g < groups) {
        const Four four = __ldcg(bounds + g);
#pragma unroll 1
        for (uint32_t i = 0; i < 4; ++i)
          if (const Bound bound = boundOf(four, i);
              bound > done && bound < Bounds::kNone && metric.keyOf(bound) <= last)
            scratch.waiting[atomicAdd(&scratch.waits, 1u)] = g * 4 + i;
      }
      piece += threads;
      __syncthreads();
      const bool isFull = scratch.waits + 4 * threads > kMostWaiting;
      __syncthreads();
      if (isFull || piece >= groups)
        return piece >= groups;
    }
  }

  /// The rows of all granules that wait, eight threads each. Starts and ends with a barrier passed.
  __device__ __forceinline__ void evaluateWaiting() {
    const uint32_t rows = scratch.waits * ANNUDF_GRANULE_ROWS;
    if (rows == 0)
      return;
    if (t == 0 && args.evaluated)
      atomicAdd(reinterpret_cast<unsigned long long *>(args.evaluated), rows / ANNUDF_GRANULE_ROWS);
#pragma unroll 1
    for (uint32_t first = 0; first < rows; first += threads) {
      const uint32_t i = first + t;
      if (i < rows) {
        int64_t id;
        const uint32_t key = granules.evaluate(scratch.waiting[i / ANNUDF_GRANULE_ROWS],
                                               i % ANNUDF_GRANULE_ROWS, id);
        const SurvivorRows &best = scratch.best[side];
        const uint32_t last = best.key[args.k - 1];
        if (key <= most &&
            (key < last || (key == last && key != ANNUDF_KEY_NONE && id < best.id[args.k - 1]))) {
          const uint32_t place = atomicAdd(&scratch.found, 1u);
          scratch.fresh.key[place] = key, scratch.fresh.id[place] = id;
        }
      }
      __syncthreads();
      merge();
    }
    if (t == 0)
      scratch.waits = 0;
    __syncthreads();
  }

  /// What is fresh among the best.
  __device__ __forceinline__ void merge() {
    const uint32_t fresh = scratch.found;
    __syncthreads();
    if (fresh == 0)
      return;
    if (t < 4)
      scratch.fresh.key[fresh + t] = ANNUDF_KEY_NONE;
    __syncthreads();
    SurvivorRows &to = scratch.best[side ^ 1];
    const SurvivorRows &from = scratch.best[side];
    for (uint32_t i = t; i < args.k + fresh; i += threads) {
      const SurvivorRows &of = i < args.k ? from : scratch.fresh;
      const uint32_t place = i < args.k ? i : i - args.k, key = of.key[place];
      if (key == ANNUDF_KEY_NONE)
        continue;
      const int64_t id = of.id[place];
      const uint32_t rank = (i < args.k ? place : rankInOrder(from, args.k, key, id)) +
                            rankAmong(scratch.fresh, fresh, key, id, i < args.k ? fresh : place);
      if (rank < args.k)
        to.key[rank] = key, to.id[rank] = id;
    }
    __syncthreads(); // All have read how many are fresh.
    if (t == 0)
      scratch.found = 0;
    side ^= 1;
    __syncthreads();
  }

  __device__ __forceinline__ void write() const {
    if (t >= args.k)
      return;
    const uint32_t key = scratch.best[side].key[t];
    const uint64_t out = uint64_t(blockIdx.x) * args.k + t;
    reinterpret_cast<int64_t *>(args.outIds)[out] =
        key == ANNUDF_KEY_NONE ? -1 : scratch.best[side].id[t];
    reinterpret_cast<float *>(args.outDistances)[out] =
        annudfDistanceOf(key, static_cast<int>(args.scan.order));
  }

  const annudf_survivors_args &args;
  const Metric &metric;
  SurvivorScratch<Bound> &scratch;
  const uint32_t t, threads;
  GranuleRows<Metric> granules;
  const uint32_t groups; ///< The query's.
  const Four *const bounds;
  int side = 0;
  uint32_t piece = 0;              ///< First group of the next of waitForPiece().
  Bound threshold = Bounds::kNone; ///< Up to which granules waited at first.
  uint32_t most = ANNUDF_KEY_NONE; ///< No row of a greater key is among the k best.
  Bound above = Bounds::kNone; ///< The least of this thread's bounds that did not wait at first.
};

} // namespace

#endif // ANNUDF_KERNELS_CUDA_SCAN_SURVIVORS_CUH
