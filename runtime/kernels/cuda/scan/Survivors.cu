//===- Survivors.cu - Rows that bounds leave, told by the hooks -----------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What follows Products.cu, and Staged.cu where it leaves the keys of granules: linked with a
// metric's hooks as Scan.cu is, which evaluate the rows that bounds leave (Survivors.cuh) in the
// order of operations of every other scan, to the same bits.
//
//===----------------------------------------------------------------------===//

#include "ScanList.cuh"
#include "Survivors.cuh"
#include "Within.cuh"

namespace {

/// The hooks, for the query of the block.
struct Hooks {
  const annudf_survivors_args &args;
  const bool counts;     ///< NaN: a scan that leaves keys has counted it.
  const uint32_t number; ///< The query's in the batch.

  __device__ __forceinline__ uint32_t evaluate(uint32_t list, uint64_t group, uint32_t place,
                                               int64_t &row) const {
    const annudf_device_index &index = args.scan.index;
    const uint4 *chunks =
        reinterpret_cast<const uint4 *>(index.rows) + group * index.chunks * 32 + place;
    // The rows of a granule share lines: each asks for an eighth of their halves, all of it long
    // before it is used.
    const uint32_t r = place % ANNUDF_GRANULE_ROWS;
    for (uint32_t c = r / 2; c < index.chunks; c += ANNUDF_GRANULE_ROWS / 2)
      asm volatile("prefetch.global.L2 [%0];" ::"l"(chunks - r + r % 2 * 4 + c * 32));
    row = __ldg(reinterpret_cast<const long long *>(index.ids) + group * 32 + place);
    if (!passes(args.scan, true, row))
      return ANNUDF_KEY_NONE;
    const int64_t number =
        args.scan.rowsAreSlots ? static_cast<int64_t>(group * 32 + place) : row; // As hooks get it.
    const Block block = blockOf(args.scan, list);
    const int own[1] = {query()};
    Acc acc[1] = {};
    init(acc[0], block.dims, own[0], block.list, block.slots);
    updateFull(block, 0, block.fullChunks, chunks, number, own, acc);
    updateEnd<1>(block, chunks, number, own[0], 0, acc[0]);
    const float distance = ::finalize(acc[0], block.dims, number, own[0], block.list, block.slots);
    if (counts && distance != distance)
      addNan(args.scan, 1, own[0], row);
    return annudfKeyOf(distance, static_cast<int>(args.scan.order));
  }

  __device__ __forceinline__ int query() const {
    return args.scan.queries.base + static_cast<int>(number);
  }
};

/// The accumulator that a bound is of; of several fields see annudf_survivors_args.
template <class A>
__device__ __forceinline__ A accumulatorOf(float value,
                                           [[maybe_unused]] const annudf_survivors_args &args) {
  if constexpr (std::is_same_v<A, Word>) {
    return bitsAs<Word>(value);
  } else {
    A acc;
#pragma unroll
    for (uint32_t field = 0; field < ANNUDF_MAX_FIELDS; ++field)
      acc.word[field] = bitsAs<Word>(field == args.product     ? value
                                     : args.zeros >> field & 1 ? 0.0f
                                                               : 1.0f);
    return acc;
  }
}

/// With bounds of accumulators, or of ratios.
struct OfForm : Hooks {
  using Bounds = FormBounds;
  static constexpr bool kCounts = true;
  __device__ __forceinline__ uint32_t mostOf(float) const { return ANNUDF_KEY_NONE; }
  __device__ __forceinline__ uint32_t keyOf(float bound) const {
    if (bound == -FLT_MAX)
      return 0;
    // Which is 1 or -1; nothing that the hook adds may be fused with it.
    const float accumulator = __fmul_rn(bound, args.sign);
    const float distance =
        ::finalize(accumulatorOf<Acc>(accumulator, args), static_cast<int>(args.scan.index.dims),
                   int64_t(0), query(), 0, args.scan.slots.slot);
    return distance == distance ? annudfKeyOf(distance, static_cast<int>(args.scan.order)) : 0;
  }
};

/// With the best keys of granules.
struct OfKeys : Hooks {
  using Bounds = KeyBounds;
  static constexpr bool kCounts = false;
  /// k granules have the keys of k rows.
  __device__ __forceinline__ uint32_t mostOf(uint32_t bound) const { return bound; }
  __device__ __forceinline__ uint32_t keyOf(uint32_t bound) const { return bound; }
};

/// Converts a query of the batch to shared memory. \returns what is behind it there.
template <class Scratch>
__device__ __forceinline__ Scratch &bringQuery(const annudf_scan_args &scan, uint32_t number) {
  const uint8_t *query = reinterpret_cast<const uint8_t *>(scan.queries.data) +
                         uint64_t(number) * scan.queries.rowBytes;
  for (uint32_t d = threadIdx.x; d < scan.index.dims; d += blockDim.x)
    Staged<1>::put(d, 0, query);
  annudf_wait_for_last();
  return *reinterpret_cast<Scratch *>(tileWords +
                                      Staged<1>::chunks(static_cast<int>(scan.index.dims)));
}

template <class Metric> __device__ __forceinline__ void finish(const annudf_survivors_args &args) {
  using Scratch = SurvivorScratch<typename Metric::Bounds::Bound>;
  static_assert(sizeof(Scratch) == ANNUDF_SURVIVORS_SHARED_BYTES, "what the host asks for");
  Scratch &scratch = bringQuery<Scratch>(args.scan, blockIdx.x);
  const Metric metric{{args, Metric::kCounts, blockIdx.x}};
  SurvivorQuery<Metric> one(args, metric, scratch);
  __syncthreads();
  one.run();
}

template <class Metric> __device__ __forceinline__ void findWithin(const annudf_within_args &args) {
  static_assert(sizeof(GranulesScratch) == ANNUDF_WITHIN_SHARED_BYTES, "what the host asks for");
  const uint32_t query = args.to.first + blockIdx.x;
  GranulesScratch &scratch = bringQuery<GranulesScratch>(args.survivors.scan, query);
  const Metric metric{{args.survivors, Metric::kCounts, query}};
  WithinQuery<Metric>(args, metric, scratch, query).run();
}

} // namespace

/// A block for each query, ANNUDF_SURVIVORS_THREADS or ANNUDF_SURVIVORS_MANY_THREADS and no fewer
/// than k.
extern "C" __global__ void __launch_bounds__(ANNUDF_SURVIVORS_MANY_THREADS, 3)
    annudf_finish_exact(const __grid_constant__ annudf_survivors_args args) {
  finish<OfForm>(args);
}

/// The same after a scan that leaves the keys of granules.
extern "C" __global__ void __launch_bounds__(ANNUDF_SURVIVORS_MANY_THREADS, 3)
    annudf_finish_granules(const __grid_constant__ annudf_survivors_args args) {
  finish<OfKeys>(args);
}

/// All rows within a radius, after a scan that leaves bounds: block rows for each query.
extern "C" __global__ void __launch_bounds__(ANNUDF_WITHIN_THREADS, 6)
    annudf_within_exact(const __grid_constant__ annudf_within_args args) {
  findWithin<OfForm>(args);
}

/// The same after a scan that leaves the keys of granules.
extern "C" __global__ void __launch_bounds__(ANNUDF_WITHIN_THREADS, 6)
    annudf_within_granules(const __grid_constant__ annudf_within_args args) {
  findWithin<OfKeys>(args);
}
