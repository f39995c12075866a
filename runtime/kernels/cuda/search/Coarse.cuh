//===- Coarse.cuh - Which lists each query probes -----------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Keys of all centers for each query, and the choice of the best. A sum adds its dimensions one by
// one, in their order, in every kernel: which lists a query probes does not depend on the batch it
// comes in. Direct differences, not the expanded form, so that far-off data keeps its ranks.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CUDA_SEARCH_COARSE_CUH
#define ANNUDF_KERNELS_CUDA_SEARCH_COARSE_CUH

#include "../../Coordinates.h"
#include "../common/Keys.cuh"
#include "../common/Overlap.cuh"
#include "PlaceProbes.cuh"

#include <type_traits>

namespace {

/// Coordinate `dim` of a query as float, as lists are ranked by it: what is missing counts as
/// fill[dim], unless fill is null. Queries of 16-bit and 32-bit elements are aligned to their
/// element (checked by the host).
__device__ __forceinline__ float coordinate(const annudf_device_index &index,
                                            const annudf_queries &queries, const float *fill,
                                            uint64_t query, uint32_t dim) {
  const float value = annudf_kernels::bitsAs<float>(annudf_kernels::coordinateAt<uint32_t>(
      static_cast<int32_t>(queries.element), ANNUDF_COMPUTE_F32, pointer<const void>(queries.data),
      query * index.dims + dim));
  return fill && isnan(value) ? __ldg(fill + dim) : value;
}

/// What ranks a list for a query, from its sum; a coarse metric that has no case does not compile.
/// The cosine distance keeps only what differs between lists: neither the query's norm, which might
/// overflow, nor the 1, which would round cosines near 0. A zero center has no direction: cosine 0.
template <int kind> __device__ __forceinline__ float valueOf(float sum, float centerNorm);
template <> __device__ __forceinline__ float valueOf<ANNUDF_COARSE_L2>(float sum, float) {
  return sum;
}
template <>
__device__ __forceinline__ float valueOf<ANNUDF_COARSE_INNER_PRODUCT>(float sum, float) {
  return sum;
}
template <>
__device__ __forceinline__ float valueOf<ANNUDF_COARSE_COSINE>(float sum, float centerNorm) {
  return centerNorm > 0 ? 0 - sum / centerNorm : 0; // Not -sum: a zero has one sign.
}

__device__ __forceinline__ float coarseValue(int kind, float sum, float centerNorm) {
  switch (kind) {
#define ANNUDF_X(NAME, VALUE, SPELLING, ORDER, SINCE)                                              \
  case ANNUDF_COARSE_##NAME:                                                                       \
    return valueOf<ANNUDF_COARSE_##NAME>(sum, centerNorm);
    ANNUDF_COARSES(ANNUDF_X)
#undef ANNUDF_X
  }
  return __uint_as_float(0x7FC00000u); // Ranks last.
}

/// Adds a dimension to what ranks a center.
template <bool kSquares> __device__ __forceinline__ float addTo(float sum, float x, float y) {
  if (!kSquares)
    return fmaf(x, y, sum);
  const float difference = x - y;
  return fmaf(difference, difference, sum);
}

/// Four dimensions of a query from `dim` on, zeros past its end.
__device__ __forceinline__ float4 fourCoordinates(const annudf_device_index &index,
                                                  const annudf_queries &queries, const float *fill,
                                                  bool vectors, uint32_t query, uint32_t dim) {
  if (query >= queries.count || dim >= index.dims)
    return float4{};
  if (vectors)
    return __ldg(reinterpret_cast<const float4 *>(pointer<const float>(queries.data) +
                                                  static_cast<uint64_t>(query) * index.dims + dim));
  float at[4];
#pragma unroll
  for (uint32_t i = 0; i < 4; ++i)
    at[i] = dim + i < index.dims ? coordinate(index, queries, fill, query, dim + i) : 0;
  return make_float4(at[0], at[1], at[2], at[3]);
}

/// Whether rows of queries are read 16 bytes at a time.
__device__ __forceinline__ bool areVectors(const annudf_device_index &index,
                                           const annudf_queries &queries, const float *fill) {
  return queries.element == ANNUDF_ELEMENT_F32 && index.dims % 4 == 0 && queries.data % 16 == 0 &&
         !fill;
}

/// A stage of annudf_coarse_few: a thread reads four times a center's four dimensions, and once a
/// query's. Pitches of 4 words more keep 8 lanes on different banks.
struct FewStage {
  static constexpr uint32_t kQueries = ANNUDF_FEW_TILE_QUERIES, kCenters = ANNUDF_FEW_TILE_CENTERS,
                            kDepth = 128, kLoads = kCenters * kDepth / 4 / 256;
  static_assert(kQueries * 32 == 256 && kCenters == 32, "a warp a query, a lane a center");
  float4 center[kCenters][kDepth / 4 + 1], query[kQueries][kDepth / 4];
};
union FewShared {
  FewStage stage;
  ProbeScratch choice[FewStage::kQueries];
};

/// The sum of the warp's query and the lane's center.
template <bool kSquares>
__device__ __forceinline__ float fewSum(FewStage &stage, const annudf_device_index &index,
                                        const annudf_queries &queries, const float *fill) {
  constexpr uint32_t kRow = FewStage::kDepth / 4;
  const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x / 32, padded = index.centerStride / 4;
  const uint32_t query = blockIdx.y * FewStage::kQueries + warp;
  const bool vectors = areVectors(index, queries, fill);
  const float4 *centers = pointer<const float4>(index.centers);
  float4 nextCenter[FewStage::kLoads], nextQuery;
  const auto load = [&](uint32_t first) {
    const uint32_t d = first + lane; // A warp reads rows of 512 bytes.
#pragma unroll
    for (uint32_t i = 0; i < FewStage::kLoads; ++i) {
      const uint32_t center = blockIdx.x * FewStage::kCenters + i * 8 + warp;
      nextCenter[i] = center < index.nLists && d < padded
                          ? __ldg(centers + static_cast<uint64_t>(center) * padded + d)
                          : float4{};
    }
    nextQuery = fourCoordinates(index, queries, fill, vectors, query, d * 4);
  };
  load(0);
  float sum = 0;
  for (uint32_t first = 0; first < padded; first += kRow) {
#pragma unroll
    for (uint32_t i = 0; i < FewStage::kLoads; ++i)
      stage.center[i * 8 + warp][lane] = nextCenter[i];
    stage.query[warp][lane] = nextQuery;
    __syncthreads();
    if (first + kRow < padded)
      load(first + kRow);
    if (query < queries.count) {
      const uint32_t count = min(kRow, padded - first);
#pragma unroll 8
      for (uint32_t d = 0; d < count; ++d) {
        const float4 x = stage.query[warp][d], y = stage.center[lane][d];
        sum = addTo<kSquares>(sum, x.x, y.x);
        sum = addTo<kSquares>(sum, x.y, y.y);
        sum = addTo<kSquares>(sum, x.z, y.z);
        sum = addTo<kSquares>(sum, x.w, y.w);
      }
    }
    __syncthreads();
  }
  return sum;
}

} // namespace

/// Coarse keys of few queries, and where work.arrived is, their lists: 8 queries x 32 centers a
/// block, a warp for each query.
extern "C" __global__ void __launch_bounds__(256, 3)
    annudf_coarse_few(annudf_device_index index, annudf_queries queries, annudf_workspace work,
                      int kind, int order, const float *fill) {
  __shared__ __align__(16) FewShared shared;
  const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x / 32;
  const uint32_t query = blockIdx.y * FewStage::kQueries + warp;
  const uint32_t center = blockIdx.x * FewStage::kCenters + lane;
  const float norm = center < index.nLists ? __ldg(pointer<const float>(index.norms) + center) : 0;
  const float sum = kind == ANNUDF_COARSE_L2 ? fewSum<true>(shared.stage, index, queries, fill)
                                             : fewSum<false>(shared.stage, index, queries, fill);
  if (query < queries.count && center < index.nLists)
    pointer<uint32_t>(work.coarse)[static_cast<uint64_t>(query) * index.nLists + center] =
        annudfKeyOf(coarseValue(kind, sum, norm), order);
  letNextBegin();
  if (!work.arrived)
    return;
  // The last block of these queries chooses their lists.
  uint32_t *arrived = pointer<uint32_t>(work.arrived) + blockIdx.y;
  bool isLast = false;
  __syncthreads();
  if (threadIdx.x == 0) { // For all threads, between two barriers.
    __threadfence();
    isLast = atomicAdd(arrived, 1u) == gridDim.x - 1;
    __threadfence();
    if (isLast)
      *arrived = 0;
  }
  if (__syncthreads_or(isLast) && query < queries.count)
    chooseProbesByWarp(shared.choice[warp], index, work, query);
}

namespace {

/// Words that hold four dimensions of a query and are read as one; 0: elements one by one.
__device__ __forceinline__ int wordsOfFour(const annudf_device_index &index,
                                           const annudf_queries &queries, const float *fill) {
  const int perWord = annudf_kernels::elementsPerWord(static_cast<int>(queries.element));
  return perWord > 4 || index.dims % 4 || queries.data % (16 / static_cast<uint64_t>(perWord)) ||
                 fill
             ? 0
             : 4 / perWord;
}

/// Queries four dimensions at a time. Words are converted where they are used, so that a load is
/// waited for no earlier. kFloats: there is nothing to convert.
template <bool kFloats> struct QueryReader {
  const annudf_device_index &index;
  const annudf_queries &queries;
  const float *fill;
  int element, words;

  __device__ QueryReader(const annudf_device_index &index, const annudf_queries &queries,
                         const float *fill)
      : index(index), queries(queries), fill(fill), element(static_cast<int>(queries.element)),
        words(kFloats ? 4 : wordsOfFour(index, queries, fill)) {}
  /// From `dim` on, zeros past the end; for four().
  __device__ __forceinline__ uint4 read(uint32_t query, uint32_t dim) const {
    if (words != 1 && words != 2)
      return annudf_kernels::bitsAs<uint4>(
          fourCoordinates(index, queries, fill, kFloats, query, dim));
    if (query >= queries.count || dim >= index.dims)
      return uint4{};
    const uint64_t four = (static_cast<uint64_t>(query) * index.dims + dim) / 4;
    if (words == 1)
      return make_uint4(__ldg(pointer<const uint32_t>(queries.data) + four), 0, 0, 0);
    const uint2 two = __ldg(pointer<const uint2>(queries.data) + four);
    return make_uint4(two.x, two.y, 0, 0);
  }
  __device__ __forceinline__ float4 four(uint4 what) const {
    if (words == 1)
      return make_float4(of(what.x, 0), of(what.x, 1), of(what.x, 2), of(what.x, 3));
    if (words == 2)
      return make_float4(of(what.x, 0), of(what.x, 1), of(what.y, 0), of(what.y, 1));
    return annudf_kernels::bitsAs<float4>(what);
  }

private:
  __device__ __forceinline__ float of(uint32_t word, int lane) const {
    return annudf_kernels::bitsAs<float>(
        annudf_kernels::coordinateOf<uint32_t>(element, ANNUDF_COMPUTE_F32, word, lane));
  }
};

/// A stage of annudf_coarse_many: 64 rows four dimensions at a time, written as columns.
struct ManyStage {
  static constexpr uint32_t kQueries = ANNUDF_MANY_TILE_QUERIES,
                            kCenters = ANNUDF_MANY_TILE_CENTERS, kDepth = 16;
  static constexpr int kQueryParts = kQueries / 64, kCenterParts = kCenters / 64; ///< 64 rows each.
  float query[kDepth][kQueries], center[kDepth][kCenters];
};
/// A thread's sums: four rows of each part.
using ManySums = float[ManyStage::kQueryParts * 4][ManyStage::kCenterParts * 4];

template <bool kSquares, bool kFloats>
__device__ __forceinline__ void manySums(ManyStage (&stages)[2], const annudf_device_index &index,
                                         const annudf_queries &queries, const float *fill,
                                         ManySums &sum) {
  constexpr uint32_t kRow = ManyStage::kDepth / 4;
  constexpr int kX = ManyStage::kQueryParts, kY = ManyStage::kCenterParts;
  const uint32_t padded = index.centerStride / 4, stageCount = (padded + kRow - 1) / kRow;
  // Neighbouring lanes have neighbouring rows, so that columns are written without conflicts.
  const uint32_t row = threadIdx.x % 64, chunk = threadIdx.x / 64;
  const uint32_t query = blockIdx.y * ManyStage::kQueries + row;
  const uint32_t center = blockIdx.x * ManyStage::kCenters + row;
  const QueryReader<kFloats> reader(index, queries, fill);
  const float4 *centers = pointer<const float4>(index.centers);
  uint4 nextQuery[kX];
  float4 nextCenter[kY];
  const auto load = [&](uint32_t stage) {
    const uint32_t d = stage * kRow + chunk;
#pragma unroll
    for (int i = 0; i < kX; ++i)
      nextQuery[i] = reader.read(query + i * 64, d * 4);
#pragma unroll
    for (int i = 0; i < kY; ++i)
      nextCenter[i] = center + i * 64 < index.nLists && d < padded
                          ? __ldg(centers + static_cast<uint64_t>(center + i * 64) * padded + d)
                          : float4{};
  };
  const auto store = [&](ManyStage &stage) {
    const uint32_t d = chunk * 4;
#pragma unroll
    for (int i = 0; i < kX; ++i) {
      const float4 query = reader.four(nextQuery[i]);
      stage.query[d][row + i * 64] = query.x;
      stage.query[d + 1][row + i * 64] = query.y;
      stage.query[d + 2][row + i * 64] = query.z;
      stage.query[d + 3][row + i * 64] = query.w;
    }
#pragma unroll
    for (int i = 0; i < kY; ++i) {
      stage.center[d][row + i * 64] = nextCenter[i].x;
      stage.center[d + 1][row + i * 64] = nextCenter[i].y;
      stage.center[d + 2][row + i * 64] = nextCenter[i].z;
      stage.center[d + 3][row + i * 64] = nextCenter[i].w;
    }
  };
  const uint32_t column = threadIdx.x % 16 * 4, line = threadIdx.x / 16 * 4;
  load(0);
  store(stages[0]);
  __syncthreads();
  for (uint32_t s = 0; s < stageCount; ++s) {
    if (s + 1 < stageCount)
      load(s + 1);
    const ManyStage &stage = stages[s % 2];
#pragma unroll
    for (uint32_t d = 0; d < ManyStage::kDepth; ++d) {
      float x[kX][4], y[kY][4];
#pragma unroll
      for (int i = 0; i < kX; ++i)
        *reinterpret_cast<float4 *>(x[i]) =
            *reinterpret_cast<const float4 *>(&stage.query[d][line + i * 64]);
#pragma unroll
      for (int i = 0; i < kY; ++i)
        *reinterpret_cast<float4 *>(y[i]) =
            *reinterpret_cast<const float4 *>(&stage.center[d][column + i * 64]);
#pragma unroll
      for (int i = 0; i < kX * 4; ++i)
#pragma unroll
        for (int j = 0; j < kY * 4; ++j)
          sum[i][j] = addTo<kSquares>(sum[i][j], x[i / 4][i % 4], y[j / 4][j % 4]);
    }
    if (s + 1 < stageCount)
      store(stages[(s + 1) % 2]); // Whose readers have passed the barrier before.
    __syncthreads();
  }
}

} // namespace

/// Coarse keys of many queries: a thread has 4 x 4 of each 64 queries x 64 centers of the block.
extern "C" __global__ void __launch_bounds__(256, 2)
    annudf_coarse_many(annudf_device_index index, annudf_queries queries, uint32_t *keys, int kind,
                       int order, const float *fill) {
  __shared__ __align__(16) ManyStage stages[2];
  ManySums sum = {};
  // A loop for each case.
  const auto add = [&](auto squares, auto floats) {
    manySums<decltype(squares)::value, decltype(floats)::value>(stages, index, queries, fill, sum);
  };
  const std::true_type yes;
  const std::false_type no;
  const bool squares = kind == ANNUDF_COARSE_L2;
  if (areVectors(index, queries, fill))
    squares ? add(yes, yes) : add(no, yes);
  else
    squares ? add(yes, no) : add(no, no);
  letNextBegin();
  const uint32_t line = threadIdx.x / 16 * 4;
  const float *norms = pointer<const float>(index.norms);
#pragma unroll
  for (int part = 0; part < ManyStage::kCenterParts; ++part) {
    const uint32_t center = blockIdx.x * ManyStage::kCenters + part * 64 + threadIdx.x % 16 * 4;
    float norm[4];
#pragma unroll
    for (uint32_t j = 0; j < 4; ++j)
      norm[j] = center + j < index.nLists ? __ldg(norms + center + j) : 0;
#pragma unroll
    for (uint32_t i = 0; i < ManyStage::kQueryParts * 4; ++i) {
      const uint32_t query = blockIdx.y * ManyStage::kQueries + line + i % 4 + i / 4 * 64;
      if (query >= queries.count)
        continue;
      uint32_t *out = keys + static_cast<uint64_t>(query) * index.nLists + center;
      uint32_t key[4];
#pragma unroll
      for (uint32_t j = 0; j < 4; ++j)
        key[j] = annudfKeyOf(coarseValue(kind, sum[i][part * 4 + j], norm[j]), order);
      if (index.nLists % 4 == 0 && center < index.nLists) {
        *reinterpret_cast<uint4 *>(out) = make_uint4(key[0], key[1], key[2], key[3]);
        continue;
      }
#pragma unroll
      for (uint32_t j = 0; j < 4; ++j)
        if (center + j < index.nLists)
          out[j] = key[j];
    }
  }
}

/// A block for each query: chooseProbes().
extern "C" __global__ void annudf_select_probes(annudf_device_index index, annudf_workspace work) {
  __shared__ SelectScratch scratch;
  letNextBegin();
  waitForLast();
  chooseProbes(scratch, index, work, blockIdx.x);
}

/// A warp for each query: chooseProbesByWarp().
extern "C" __global__ void __launch_bounds__(32 * ANNUDF_WARPS_THAT_CHOOSE)
    annudf_select_probes_by_warp(annudf_device_index index, annudf_workspace work,
                                 uint32_t queries) {
  __shared__ ProbeScratch scratch[ANNUDF_WARPS_THAT_CHOOSE];
  letNextBegin();
  waitForLast();
  const uint32_t warp = threadIdx.x / 32;
  const uint32_t query = blockIdx.x * ANNUDF_WARPS_THAT_CHOOSE + warp;
  if (query < queries)
    chooseProbesByWarp(scratch[warp], index, work, query);
}

/// A block for each query, where no list is ranked.
/// \param given  the lists of each query, nProbes each; null: all lists.
extern "C" __global__ void annudf_take_probes(annudf_device_index index, annudf_workspace work,
                                              const uint32_t *given) {
  __shared__ uint32_t warpSum[32];
  letNextBegin();
  const uint64_t first = static_cast<uint64_t>(blockIdx.x) * work.nProbes;
  placeProbes(warpSum, index, work, blockIdx.x,
              [&](uint32_t p) { return given ? given[first + p] : p; });
}

#endif // ANNUDF_KERNELS_CUDA_SEARCH_COARSE_CUH
