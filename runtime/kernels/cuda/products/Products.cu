//===- Products.cu - Lower bounds of proved forms by matrix products --------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The family "matrix", of metrics that are proved quadratic forms (Form.h), before Survivors.cu. No
// hook is called here. For a pair of query and row, sign * accumulator is
//
//   (what the query gives) + (what the row gives) + sum of product X Y
//
// the sum is computed by tensor cores from half precision, the rest in double, once a query, and
// once a row for each binding. A granule of 8 rows gets one bound, which no result of the hooks is
// below: docs/spec/numerics.md derives it. Where something overflows, the bound is -FLT_MAX.
//
//===----------------------------------------------------------------------===//

#include "../common/Overlap.cuh"
#include "Mma.cuh"
#include "ProductBounds.cuh"
#include "ProductOwn.cuh"
#include "ProductPassing.cuh"
#include "ProductRatio.cuh"
#include "ProductRows.cuh"
#include "ProductStages.cuh"
#ifdef __CUDACC__
#include "Wgmma.cuh"
#endif

#include <cstdint>
#include <type_traits>

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

/// A thread for each list's number: from its largest coordinate to its scale.
extern "C" __global__ void annudf_matrix_scale(const __grid_constant__ annudf_matrix_args args) {
  const uint32_t list = blockIdx.x * blockDim.x + threadIdx.x;
  if (list < args.scan.index.nLists)
    pointer<float>(args.listScale)[list] = scaleFor(pointer<const float>(args.listScale)[list]);
}

/// The panels of each tile, a block each. A granule that ends behind its list's last row
/// repeats that, so that its bound is not looser for rows that do not exist.
extern "C" __global__ void annudf_matrix_rows(const __grid_constant__ annudf_matrix_args args) {
  const TileRow row(args);
  writePanels(args, row, static_cast<int>(args.scan.index.dims),
              [&](int d) { return row.coordinates.at(d) - shiftOf(args, d); });
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
  writeLongest(terms, longest, row.row);
}

/// A block for each query: its panels, and a scale, a factor of lengths, and what it adds to
/// bounds.
extern "C" __global__ void __launch_bounds__(128)
    annudf_matrix_queries(const __grid_constant__ annudf_matrix_args args) {
  __shared__ double sums[5][4];
  __shared__ float mosts[4];
  const int t = static_cast<int>(threadIdx.x), lane = t & 31, warp = t / 32;
  const int dims = static_cast<int>(args.scan.index.dims);
  const int element = static_cast<int>(args.scan.queries.element);
  const annudf_matrix_dim *of = pointer<const annudf_matrix_dim>(args.form.dims);
  const uint8_t *query = pointer<const uint8_t>(args.scan.queries.data) +
                         uint64_t(blockIdx.x) * args.scan.queries.rowBytes;
  letNextBegin();
  double sum[5] = {}; // What it adds, its size, error, largest, square of its length.
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
    float4 numbers;
    numbers.x = 1 / scale;
    numbers.y = __double2float_ru(length * lengthFactor(dims));
    // What no float holds is not multiplied: an infinite product would leave rows out.
    const bool holds = most < INFINITY && sum[3] + args.form.largest <= args.form.most;
    numbers.z = holds ? __double2float_rd(low) : NAN;
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

namespace {

/// What a block takes at a time: queries of a list, and a segment of it.
struct Item {
  int count;       ///< The number of queries.
  uint32_t groups; ///< The number of groups of rows.
  int tiles;
  uint64_t firstTile;
  float listScale;
};

/// Reads an item, and what is known of its queries to shared memory, for all threads.
template <class Shared>
__device__ __forceinline__ Item begin(const annudf_matrix_args &args, uint32_t ticket,
                                      Shared &shared) {
  const annudf_scan_args &scan = args.scan;
  const annudf_workspace &work = scan.work;
  const int t = static_cast<int>(threadIdx.x);
  const uint4 item = pointer<const uint4>(work.tiles)[ticket];
  const int count = static_cast<int>(item.z);
  const uint32_t list = item.x;
  const uint32_t listGroups = (pointer<const uint32_t>(scan.index.listSize)[list] + 31) / 32;
  const uint32_t groups = min(listGroups - item.w, work.segmentGroups);
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
  return {count, groups, static_cast<int>((groups + 3) / 4), firstTile, listScale};
}

/// Copies a panel of the item's queries to shared memory, for all threads. Lines behind the last
/// query hold whatever was there, for results that nobody reads.
template <class Shared>
__device__ __forceinline__ void bringQueries(const annudf_matrix_args &args, const Shared &shared,
                                             int count, int panel, uint4 *to) {
  const uint4 *queries = pointer<const uint4>(args.scan.work.coordinates);
  const int panels = static_cast<int>(args.nPanels);
#pragma unroll 2 // With more a register is spilled.
  for (int i = static_cast<int>(threadIdx.x); i < count * 8; i += ANNUDF_MATRIX_THREADS)
    copyLine(to + placeOf(i / 8, i % 8),
             queries + (uint64_t(shared.numbers.query[i / 8]) * panels + panel) * 8 + i % 8);
}

/// Writes the bounds of a tile, for threads with queries.
template <bool kRatio, class Products, class Shared>
__device__ __forceinline__ void endTile(const annudf_matrix_args &args, const Shared &shared,
                                        Products &products, const Item &item, int tile, int line,
                                        float (&sum)[64]) {
  const uint32_t group = static_cast<uint32_t>(tile) * 4, groups = item.groups - group;
  PassingRows passing;
  if (args.scan.work.passing != 0) // While the last products are computed.
    passing.read(args, shared.numbers, line, item.count, group, groups);
  products.endTile(sum);
  if (args.scan.work.passing != 0)
    passing.leaveOut(sum);
  writeBounds<kRatio>(args, shared.numbers, shared.terms[tile & 3], sum, line, item.count,
                      item.listScale, group, groups);
}

template <bool kLong, bool kRatio, class Products>
__device__ __forceinline__ void boundItems(const annudf_matrix_args &args) {
  constexpr int kPanel = ANNUDF_MATRIX_PANEL_BYTES / 16;
  static_assert(sizeof(Memory<Products>) <=
                    ANNUDF_MATRIX_SHARED_BYTES - ANNUDF_MATRIX_STAGE_BYTES + Products::kStageBytes,
                "what is asked");
  Memory<Products> &shared = *reinterpret_cast<Memory<Products> *>(matrixMemory);
  const annudf_scan_args &scan = args.scan;
  const annudf_workspace &work = scan.work;
  const int t = static_cast<int>(threadIdx.x), lane = t & 31;
  const int warp = __shfl_sync(~0u, t / 32, 0); // The same for the compiler too.
  const int panels = static_cast<int>(args.nPanels);
  Products products(shared.arrivals, warp);
  waitForLast();
  const uint32_t items = pointer<const uint32_t>(work.tileStart)[scan.index.nLists];
  for (uint32_t ticket = blockIdx.x; ticket < items; ticket = shared.ticket) {
    const Item item = begin(args, ticket, shared);
    const int count = item.count, tiles = item.tiles, steps = tiles * panels;
    const Stages<kLong, Products> stages(count);
    int toStage = 0, atStage = 0;
    const auto bring = [&](int step) {
      const int stage = toStage, tile = step / panels, panel = step % panels;
      if constexpr (kLong)
        bringQueries(args, shared, count, panel, shared.panels + stages.queries(stage, panel));
      if (products.brings(t))
        products.bring(stage, shared.panels + stages.rows(stage),
                       pointer<const uint4>(args.panels) +
                           ((item.firstTile + tile) * panels + panel) * kPanel,
                       panel == 0, shared.terms[tile & 3],
                       pointer<const float>(args.terms) + (item.firstTile + tile) * kTerms);
      toStage = stages.next(stage);
    };
    if constexpr (!kLong)
      for (int panel = 0; panel < panels; ++panel)
        bringQueries(args, shared, count, panel, shared.panels + stages.queries(0, panel));
    // A group of copies a step, those of the resident queries in the first.
    for (int step = 0; step < stages.ahead(); ++step) {
      if (step < steps)
        bring(step);
      commitCopies();
    }
    // Threads without queries bring what others multiply. A loop of its own: products behind a
    // branch would be waited for at each step.
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
          products.waitFor(stage);
          atStage = stages.next(stage);
          // Every copy of the step is there; what is brought next takes a stage that is read no
          // more.
          __syncthreads();
          if constexpr (kMultiplies)
            products.multiplyPanel(sum, shared.panels + stages.queries(stage, panel),
                                   shared.panels + stages.rows(stage), panel == 0);
          if (next < steps)
            bring(next);
          ++next;
          commitCopies();
          if constexpr (kMultiplies)
            products.endPanel(sum);
        }
        if constexpr (kMultiplies)
          endTile<kRatio>(args, shared, products, item, tile, warp * 16 + lane / 4, sum);
      }
    };
    if (products.has(count))
      go(std::true_type());
    else
      go(std::false_type());
  }
}

} // namespace

/// Blocks that stay, as annudf_scan_staged. For up to ANNUDF_MATRIX_RESIDENT_PANELS panels, and,
/// _long, of longer vectors; RATIO: of a normalised form.
#define ANNUDF_SCANS(NAME, RATIO, PRODUCTS)                                                        \
  extern "C" __global__ void __launch_bounds__(ANNUDF_MATRIX_THREADS, 2)                           \
      NAME(const __grid_constant__ annudf_matrix_args args) {                                      \
    boundItems<false, RATIO, PRODUCTS>(args);                                                      \
  }                                                                                                \
  extern "C" __global__ void __launch_bounds__(ANNUDF_MATRIX_THREADS, 2)                           \
      NAME##_long(const __grid_constant__ annudf_matrix_args args) {                               \
    boundItems<true, RATIO, PRODUCTS>(args);                                                       \
  }
#if defined(__CUDACC__) && (defined(__CUDA_ARCH_FEAT_SM90_ALL) || !defined(__CUDA_ARCH__))
ANNUDF_SCANS(annudf_matrix_scan, false, Warpgroups)
ANNUDF_SCANS(annudf_matrix_ratio_scan, true, Warpgroups)
#endif
ANNUDF_SCANS(annudf_matrix_scan_mma, false, Warps)
ANNUDF_SCANS(annudf_matrix_ratio_scan_mma, true, Warps)
