//===- Matrix.cu - Lower bounds of proved forms by matrix products ----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The family "matrix", of metrics that are proved quadratic forms (Form.h), before Exact.cu. No
// hook is called here. Of sign * accumulator, by pair of query and row,
//
//   (what the query gives) + (what the row gives) + sum of product X Y
//
// the sum is computed by tensor cores from half precision, the rest in double, once a query, and
// once a row for each binding. A granule of 8 rows gets one bound, which no result of the hooks is
// below: docs/numerics.md derives it. Where something overflows, the bound is -FLT_MAX.
//
//===----------------------------------------------------------------------===//

#include "MatrixStages.cuh"
#include "Overlap.cuh"
#include "Starts.cuh"
#include "Wgmma.cuh"

#include "../Coordinates.h"

#include <cfloat>
#include <cstdint>
#include <cuda_fp16.h>
#include <type_traits>

using namespace annudf_kernels;

namespace {

constexpr int kPanelDims = ANNUDF_MATRIX_PANEL_DIMS, kRows = ANNUDF_MATRIX_ROWS;
constexpr int kTerms = ANNUDF_MATRIX_TERMS;
/// Of half precision, with what a float on the way adds; half the smallest step over it.
constexpr double kUnit = 0x1.001p-11, kTiny = 0x1p-14;
/// What a dimension loses where the floats of a bound are below the normal range: a product of two
/// scales is off by 2^-150, and the sum that it scales at most 2^28.
constexpr double kUnderflow = 0x1p-120;

template <class T> __device__ __forceinline__ T *pointer(uint64_t address) {
  return reinterpret_cast<T *>(address);
}

/// Column of the product for row `row` of a tile: the 8 results that a thread of a warp has of a
/// query's n8 blocks 4 i to 4 i + 3 are granule i of group lane % 4.
__device__ __forceinline__ int columnOf(int row) {
  const int group = row / 32, granule = row % 32 / ANNUDF_GRANULE_ROWS,
            r = row % ANNUDF_GRANULE_ROWS;
  return (granule * 4 + r / 2) * 8 + 2 * group + r % 2;
}

/// Place of 8 dimensions of a panel's line, in uint4: what wgmma calls the 128-byte swizzle.
__device__ __forceinline__ int placeOf(int line, int eight) {
  return line * 8 + (eight ^ (line & 7));
}

/// The power of two that brings `most` into [2^13, 2^14); 1 where there is none.
__device__ __forceinline__ float scaleFor(float most) {
  const int exponent = static_cast<int>(__float_as_uint(most) >> 23) - 127;
  return __uint_as_float(static_cast<uint32_t>(min(max(127 + 13 - exponent, 1), 253)) << 23);
}

/// Coordinate `d` of a row of the index, as a float.
struct Row {
  const uint32_t *words; ///< Of its first chunk.
  int element, perWord;
  __device__ __forceinline__ double at(int d) const {
    const int w = d / perWord;
    const uint32_t word = __ldg(words + w / 4 * 128 + w % 4);
    return bitsAs<float>(coordinateOf<uint32_t>(element, ANNUDF_COMPUTE_F32, word, d % perWord));
  }
};

/// Which rows a block of a kernel over tiles has: a thread each.
struct TileRow {
  int list, row; ///< Row of the tile.
  bool exists;
  uint64_t tile;
  Row coordinates;
  __device__ TileRow(const annudf_matrix_args &args) {
    const annudf_device_index &index = args.scan.index;
    const uint32_t *start = pointer<const uint32_t>(args.tileStart);
    tile = blockIdx.x, row = static_cast<int>(threadIdx.x);
    const uint32_t low = lastStartUpTo(start, index.nLists, blockIdx.x);
    list = static_cast<int>(low);
    const uint32_t inList = static_cast<uint32_t>(tile - start[low]) * kRows + threadIdx.x;
    exists = inList < pointer<const uint32_t>(index.listSize)[low];
    const uint64_t group =
        pointer<const uint32_t>(index.listGroup)[low] + (exists ? inList / 32 : 0);
    const int element = static_cast<int>(args.element);
    coordinates = {reinterpret_cast<const uint32_t *>(pointer<const uint4>(index.rows) +
                                                      group * index.chunks * 32 +
                                                      (exists ? inList % 32 : 0)),
                   element, elementsPerWord(element)};
  }
};

__device__ __forceinline__ double shiftOf(const annudf_matrix_args &args, int d) {
  return pointer<const annudf_matrix_dim>(args.form.dims)[d].shift;
}

} // namespace

/// A block for each tile, a thread a row: the largest coordinate of each list, in listScale as
/// bits.
extern "C" __global__ void annudf_matrix_largest(const __grid_constant__ annudf_matrix_args args) {
  const TileRow row(args);
  float most = 0;
  if (row.exists)
    for (int d = 0; d < static_cast<int>(args.scan.index.dims); ++d)
      most = fmaxf(most, fabsf(static_cast<float>(row.coordinates.at(d) - shiftOf(args, d))));
  atomicMax(pointer<uint32_t>(args.listScale) + row.list, __float_as_uint(most));
}

/// A block for each list's number: from its largest coordinate to its scale.
extern "C" __global__ void annudf_matrix_scale(const __grid_constant__ annudf_matrix_args args) {
  const uint32_t list = blockIdx.x * blockDim.x + threadIdx.x;
  if (list < args.scan.index.nLists)
    pointer<float>(args.listScale)[list] = scaleFor(pointer<const float>(args.listScale)[list]);
}

/// The panels of each tile, a block each.
extern "C" __global__ void annudf_matrix_rows(const __grid_constant__ annudf_matrix_args args) {
  const TileRow row(args);
  const int dims = static_cast<int>(args.scan.index.dims), column = columnOf(row.row);
  const float scale = row.exists ? pointer<const float>(args.listScale)[row.list] : 0;
  uint4 *panels =
      pointer<uint4>(args.panels) + row.tile * args.nPanels * (ANNUDF_MATRIX_PANEL_BYTES / 16);
  for (int eight = 0; eight < static_cast<int>(args.nPanels) * (kPanelDims / 8); ++eight) {
    __half half[8];
    for (int i = 0; i < 8; ++i) {
      const int d = eight * 8 + i;
      const double y = d < dims && row.exists ? row.coordinates.at(d) - shiftOf(args, d) : 0;
      half[i] = __float2half_rn(static_cast<float>(y * scale));
    }
    uint4 word;
    memcpy(&word, half, sizeof word);
    panels[eight / 8 * (ANNUDF_MATRIX_PANEL_BYTES / 16) + placeOf(column, eight % 8)] = word;
  }
}

/// The terms of each tile, a block each: of a row what it adds to a bound, of a granule the
/// greatest length of its rows.
extern "C" __global__ void annudf_matrix_terms(const __grid_constant__ annudf_matrix_args args) {
  __shared__ float longest[kRows];
  const TileRow row(args);
  const annudf_matrix_dim *of = pointer<const annudf_matrix_dim>(args.form.dims);
  double sum = 0, size = 0, error = 0, largest = 0, square = 0;
  if (row.exists)
    for (int d = 0; d < static_cast<int>(args.scan.index.dims); ++d) {
      const annudf_matrix_dim &dim = of[d];
      const double y = row.coordinates.at(d) - dim.shift, y2 = y * y, y1 = fabs(y);
      sum += dim.row1 * y + dim.row2 * y2;
      size += fabs(dim.row1) * y1 + fabs(dim.row2) * y2;
      error += dim.rowError1 * y1 + dim.rowError2 * y2;
      largest += dim.rowLargest1 * y1 + dim.rowLargest2 * y2;
      square += y2;
    }
  const double dims = static_cast<double>(args.scan.index.dims);
  // Sums in double, a float's rounding of the result, and those of the bound that it goes into.
  const double low = sum - error - size * ((dims + 16) * 0x1p-52) - (fabs(sum) + error) * 0x1p-21;
  const float scale = pointer<const float>(args.listScale)[row.list];
  const double length = sqrt(square) * (1 + (dims + 16) * 0x1p-52) + sqrt(dims) * (kTiny / scale);
  float *terms = pointer<float>(args.terms) + row.tile * kTerms;
  terms[columnOf(row.row)] = !row.exists                 ? INFINITY
                             : largest <= args.form.most ? __double2float_rd(low)
                                                         : NAN;
  longest[row.row] = row.exists ? __double2float_ru(length) : 0;
  __syncthreads();
  if (row.row < kRows / ANNUDF_GRANULE_ROWS) {
    const int group = row.row / ANNUDF_GRANULES, granule = row.row % ANNUDF_GRANULES;
    float most = 0;
    for (int r = 0; r < ANNUDF_GRANULE_ROWS; ++r)
      most = fmaxf(most, longest[group * 32 + granule * ANNUDF_GRANULE_ROWS + r]);
    terms[kRows + row.row] = most;
  }
}

/// A block for each query: its panels, and a scale, a factor of lengths, and what it adds to
/// bounds.
extern "C" __global__ void __launch_bounds__(128)
    annudf_matrix_queries(const __grid_constant__ annudf_matrix_args args) {
  __shared__ double sums[6][4];
  __shared__ float mosts[4];
  const int t = static_cast<int>(threadIdx.x), lane = t & 31, warp = t / 32;
  const int dims = static_cast<int>(args.scan.index.dims);
  const int element = static_cast<int>(args.scan.queries.element);
  const annudf_matrix_dim *of = pointer<const annudf_matrix_dim>(args.form.dims);
  const uint8_t *query = pointer<const uint8_t>(args.scan.queries.data) +
                         uint64_t(blockIdx.x) * args.scan.queries.rowBytes;
  letNextBegin();
  double sum[6] = {}; // What it adds, its size, error, largest, square of its length.
  float most = 0;
  for (int d = t; d < dims; d += 128) {
    const annudf_matrix_dim &dim = of[d];
    const double value =
        bitsAs<float>(coordinateAt<uint32_t>(element, ANNUDF_COMPUTE_F32, query, d));
    const double x = value - dim.shift, x2 = x * x, x1 = fabs(x), z = dim.product * x;
    sum[0] += dim.query1 * x + dim.query2 * x2;
    sum[1] += fabs(dim.query1) * x1 + fabs(dim.query2) * x2;
    sum[2] += dim.queryError1 * x1 + dim.queryError2 * x2;
    sum[3] += dim.queryLargest1 * x1 + dim.queryLargest2 * x2;
    sum[4] += z * z;
    most = fmaxf(most, fabsf(static_cast<float>(z)));
  }
  for (int bit = 16; bit; bit /= 2) {
#pragma unroll
    for (int i = 0; i < 5; ++i)
      sum[i] += __shfl_xor_sync(~0u, sum[i], bit);
    most = fmaxf(most, __shfl_xor_sync(~0u, most, bit));
  }
  if (lane == 0) {
    for (int i = 0; i < 5; ++i)
      sums[i][warp] = sum[i];
    mosts[warp] = most;
  }
  __syncthreads();
  for (int i = 0; i < 5; ++i)
    sum[i] = sums[i][0] + sums[i][1] + sums[i][2] + sums[i][3];
  most = fmaxf(fmaxf(mosts[0], mosts[1]), fmaxf(mosts[2], mosts[3]));
  const float scale = scaleFor(most);
  waitForLast(); // Buffers of the batch before.
  if (t == 0) {
    const double added = sum[0] + args.form.constant, error = sum[2] + args.form.error;
    const double low = added - error -
                       (sum[1] + fabs(args.form.constant)) * ((dims + 16) * 0x1p-52) -
                       (fabs(added) + error) * 0x1p-21 - (dims + 16) * kUnderflow;
    const double length =
        sqrt(sum[4]) * (1 + (dims + 16) * 0x1p-52) + sqrt(double(dims)) * (kTiny / scale);
    // Both factors rounded, and the tensor cores' sums, each of which may be cut off.
    const double factor = 2 * kUnit + kUnit * kUnit + (2 * dims + 32) * 0x1p-23 + 0x1p-20;
    float4 numbers;
    numbers.x = 1 / scale;
    numbers.y = __double2float_ru(length * factor);
    numbers.z = sum[3] + args.form.largest <= args.form.most ? __double2float_rd(low) : NAN;
    numbers.w = 0;
    pointer<float4>(args.scan.work.minima)[blockIdx.x] = numbers;
  }
  __half *panels = pointer<__half>(args.scan.work.coordinates) +
                   uint64_t(blockIdx.x) * args.nPanels * kPanelDims;
  for (int d = t; d < static_cast<int>(args.nPanels) * kPanelDims; d += 128) {
    double z = 0;
    if (d < dims)
      z = of[d].product *
          (bitsAs<float>(coordinateAt<uint32_t>(element, ANNUDF_COMPUTE_F32, query, d)) -
           of[d].shift);
    panels[d] = __float2half_rn(static_cast<float>(z * scale));
  }
}

#if defined(__CUDA_ARCH_FEAT_SM90_ALL) || !defined(__CUDA_ARCH__)

namespace {

__device__ __forceinline__ float leastOrNan(float a, float b) {
  float least;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(least) : "f"(a), "f"(b));
  return least;
}

/// Writes the bounds of a tile for this thread's two queries.
__device__ __forceinline__ void writeBounds(const annudf_matrix_args &args, const Numbers &numbers,
                                            const float *terms, const float (&sum)[64], int first,
                                            int count, float listScale, uint32_t group,
                                            uint32_t groups) {
  const int lane = static_cast<int>(threadIdx.x) & 31, mine = lane % 4;
  const float4 longest = reinterpret_cast<const float4 *>(terms + kRows)[mine];
  const float most[4] = {longest.x, longest.y, longest.z, longest.w};
#pragma unroll
  for (int o = 0; o < 2; ++o) {
    const int q = first + 8 * o;
    const float scale = numbers.scale[q] * listScale, factor = numbers.factor[q];
    float bound[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      float low = INFINITY;
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const float2 row = *reinterpret_cast<const float2 *>(terms + (i * 4 + j) * 8 + mine * 2);
        const float *product = &sum[(i * 4 + j) * 4 + o * 2];
        low = leastOrNan(
            low, leastOrNan(fmaf(product[0], scale, row.x), fmaf(product[1], scale, row.y)));
      }
      bound[i] = fmaf(-factor, most[i], low + numbers.added[q]);
      if (bound[i] != bound[i])
        bound[i] = -FLT_MAX;
    }
    if (q < count && mine < static_cast<int>(groups))
      *reinterpret_cast<float4 *>(pointer<float>(args.scan.work.keys) +
                                  (numbers.place[q] + group + static_cast<uint32_t>(mine)) *
                                      ANNUDF_GRANULES) =
          make_float4(bound[0], bound[1], bound[2], bound[3]);
  }
}

template <bool kLong> __device__ __forceinline__ void boundItems(const annudf_matrix_args &args) {
  constexpr int kPanel = Stages<kLong>::kPanel;
  static_assert(sizeof(Memory) <= ANNUDF_MATRIX_SHARED_BYTES, "what is asked");
  extern __shared__ __align__(1024) uint8_t raw[];
  Memory &shared = *reinterpret_cast<Memory *>(raw);
  const annudf_scan_args &scan = args.scan;
  const annudf_workspace &work = scan.work;
  const int t = static_cast<int>(threadIdx.x), lane = t & 31;
  const int warp = __shfl_sync(~0u, t / 32, 0), half = warp / 4; // The same for the compiler too.
  const int panels = static_cast<int>(args.nPanels);
  if (t < ANNUDF_MATRIX_MOST_STAGES)
    makeBarrier(shared.full[t]);
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  waitForLast();
  uint32_t parities = 0; // Of the next wait for each stage, a bit each.
  const uint32_t items = pointer<const uint32_t>(work.tileStart)[scan.index.nLists];
  for (uint32_t ticket = blockIdx.x; ticket < items; ticket = shared.ticket) {
    const uint4 item = pointer<const uint4>(work.tiles)[ticket];
    const int count = static_cast<int>(item.z);
    const uint32_t list = item.x;
    const uint32_t listGroups = (pointer<const uint32_t>(scan.index.listSize)[list] + 31) / 32;
    const uint32_t groups = min(listGroups - item.w, work.segmentGroups);
    const int tiles = static_cast<int>((groups + 3) / 4), steps = tiles * panels;
    const uint64_t firstTile = pointer<const uint32_t>(args.tileStart)[list] + item.w / 4;
    const float listScale = 1 / pointer<const float>(args.listScale)[list];
    __syncthreads(); // Everyone has left the item before and read its ticket.
    if (t == 0)
      shared.ticket = gridDim.x + atomicAdd(pointer<uint32_t>(work.ticket), 1u);
    if (t < ANNUDF_MATRIX_QUERIES) {
      const uint32_t pair = pointer<const uint32_t>(work.pairs)[item.y + min(t, count - 1)];
      const uint32_t query = pair / work.nProbes;
      const float4 numbers = pointer<const float4>(work.minima)[query];
      shared.numbers.query[t] = query;
      shared.numbers.place[t] =
          uint64_t(query) * work.stride + pointer<const uint32_t>(work.probeGroup)[pair] + item.w;
      shared.numbers.scale[t] = numbers.x, shared.numbers.factor[t] = numbers.y;
      shared.numbers.added[t] = numbers.z;
    }
    __syncthreads();
    const uint4 *queries = pointer<const uint4>(work.coordinates);
    const Stages<kLong> stages(count);
    // Lines behind the last query hold whatever was there, for results that nobody reads.
    const auto bringQueries = [&](uint4 *to, int panel) {
      for (int i = t; i < count * 8; i += ANNUDF_MATRIX_THREADS)
        copyLine(to + placeOf(i / 8, i % 8),
                 queries + (uint64_t(shared.numbers.query[i / 8]) * panels + panel) * 8 + i % 8);
    };
    int toStage = 0, atStage = 0;
    const auto bring = [&](int step) {
      const int stage = toStage, tile = step / panels, panel = step % panels;
      if constexpr (kLong)
        bringQueries(shared.panels + stages.queries(stage, panel), panel);
      if (t == 0) {
        uint64_t &barrier = shared.full[stage];
        constexpr uint32_t kTermBytes = kTerms * 4;
        expectBytes(barrier, ANNUDF_MATRIX_PANEL_BYTES + (panel == 0 ? kTermBytes : 0));
        copyBytes(shared.panels + stages.rows(stage),
                  pointer<const uint4>(args.panels) +
                      ((firstTile + tile) * panels + panel) * kPanel,
                  ANNUDF_MATRIX_PANEL_BYTES, barrier);
        if (panel == 0)
          copyBytes(shared.terms[tile & 3],
                    pointer<const float>(args.terms) + (firstTile + tile) * kTerms, kTermBytes,
                    barrier);
      }
      toStage = stages.next(stage);
    };
    if constexpr (!kLong)
      for (int panel = 0; panel < panels; ++panel)
        bringQueries(shared.panels + stages.queries(0, panel), panel);
    // A group of copies a step, those of the resident queries in the first.
    for (int step = 0; step < stages.ahead(); ++step) {
      if (step < steps)
        bring(step);
      asm volatile("cp.async.commit_group;" ::: "memory");
    }
    // A warpgroup without queries brings what the other multiplies. A loop of its own: products
    // behind a branch would be waited for at each step.
    const auto go = [&](auto multiplies) {
      constexpr bool kMultiplies = decltype(multiplies)::value;
      [[maybe_unused]] float sum[64];
      int next = stages.ahead();
#pragma unroll 1
      for (int tile = 0; tile < tiles; ++tile) {
#pragma unroll 1
        for (int panel = 0; panel < panels; ++panel) {
          const int stage = atStage;
          stages.waitForQueries();
          asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
          waitFor(shared.full[stage], parities >> stage & 1);
          parities ^= 1u << stage;
          atStage = stages.next(stage);
          // Every copy of the step is there; products of the last step but one are done, whose
          // stage is brought next.
          __syncthreads();
          if constexpr (kMultiplies) {
            beginProducts();
            const uint64_t a = descriptorOf(shared.panels + stages.queries(stage, panel) +
                                            half * 64 * 8),
                           b = descriptorOf(shared.panels + stages.rows(stage));
#pragma unroll
            for (int k = 0; k < kPanelDims / 16; ++k)
              multiply(sum, a + 2 * k, b + 2 * k, panel > 0 || k > 0);
            commitProducts();
          }
          if (next < steps)
            bring(next);
          ++next;
          asm volatile("cp.async.commit_group;" ::: "memory");
          if constexpr (kMultiplies)
            waitForProducts<1>(sum);
        }
        if constexpr (kMultiplies) {
          waitForProducts<0>(sum);
          writeBounds(args, shared.numbers, shared.terms[tile & 3], sum,
                      half * 64 + warp % 4 * 16 + lane / 4, count, listScale,
                      static_cast<uint32_t>(tile) * 4, groups - static_cast<uint32_t>(tile) * 4);
        }
      }
    };
    if (half * 64 < count)
      go(std::true_type());
    else
      go(std::false_type());
  }
}

} // namespace

/// Blocks that stay, as annudf_scan_staged. Of up to ANNUDF_MATRIX_RESIDENT_PANELS panels.
extern "C" __global__ void __launch_bounds__(ANNUDF_MATRIX_THREADS, 2)
    annudf_matrix_scan(const __grid_constant__ annudf_matrix_args args) {
  boundItems<false>(args);
}

/// The same of longer vectors.
extern "C" __global__ void __launch_bounds__(ANNUDF_MATRIX_THREADS, 2)
    annudf_matrix_scan_long(const __grid_constant__ annudf_matrix_args args) {
  boundItems<true>(args);
}

#endif
