//===- ProductOwn.cuh - Bounds with per-query coefficients ------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// If the coefficients of a form differ from query to query, what a row gives does so too, and is
// multiplied as well: with V = (Y, square Y²) and Z = (b X + t, g / square) a bound is of
//
//   (what the query gives) + Z V,
//
// vectors of twice the dims. So rows know nothing of captures, and the scans are those of any form.
// docs/spec/numerics.md, "Per-query coefficients". Part of Products.cu.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CUDA_PRODUCTS_PRODUCTOWN_CUH
#define ANNUDF_KERNELS_CUDA_PRODUCTS_PRODUCTOWN_CUH

#include "../common/Overlap.cuh"
#include "ProductRows.cuh"
#include "ProductStages.cuh"

#include "../../FormTerms.h"

#include <cmath>
#include <cstdint>

namespace {

/// Coordinate `i` of a row's V.
__device__ __forceinline__ double ownCoordinate(const annudf_matrix_args &args, const Row &row,
                                                int i) {
  const int dims = static_cast<int>(args.scan.index.dims), d = i < dims ? i : i - dims;
  const double y = row.at(d) - shiftOf(args, d);
  return i < dims ? y : args.own.square * (y * y);
}

} // namespace

/// As annudf_matrix_scale. Rows that are longer than what anything is said of do not count: what
/// their halves are does not matter.
extern "C" __global__ void
annudf_matrix_own_scale(const __grid_constant__ annudf_matrix_args args) {
  const uint32_t list = blockIdx.x * blockDim.x + threadIdx.x;
  if (list >= args.scan.index.nLists)
    return;
  float *scale = pointer<float>(args.listScale) + list;
  const double most = *scale, longest = fmax(most, args.own.square * (most * most));
  *scale = scaleFor(static_cast<float>(fmin(longest, args.own.mostLength)));
}

/// As annudf_matrix_rows.
extern "C" __global__ void annudf_matrix_own_rows(const __grid_constant__ annudf_matrix_args args) {
  const TileRow row(args);
  writePanels(args, row, 2 * static_cast<int>(args.scan.index.dims),
              [&](int i) { return ownCoordinate(args, row.coordinates, i); });
}

/// As annudf_matrix_terms, but of every binding: a row adds nothing to its product.
extern "C" __global__ void
annudf_matrix_own_terms(const __grid_constant__ annudf_matrix_args args) {
  __shared__ float longest[kRows];
  const TileRow row(args);
  const int count = 2 * static_cast<int>(args.scan.index.dims);
  double square = 0;
  if (row.exists)
    for (int i = 0; i < count; ++i) {
      const double v = ownCoordinate(args, row.coordinates, i);
      square += v * v;
    }
  const float scale = pointer<const float>(args.listScale)[row.list];
  const double length =
      sqrt(square) * (1 + (count + 16) * 0x1p-52) + sqrt(double(count)) * (kTiny / scale);
  float *terms = pointer<float>(args.terms) + row.tile * kTerms;
  terms[columnOf(row.row)] = !row.exists ? INFINITY : length <= args.own.mostLength ? 0 : NAN;
  longest[row.row] = row.exists ? __double2float_ru(length) : 0;
  __syncthreads();
  writeLongest(terms, longest, row.row);
}

namespace {

/// Sums over a query's dimensions, and the largest of Z.
struct OwnSums {
  enum Of {
    Added,      ///< What hangs on no row,
    Size,       ///< the sizes of what it is made of,
    Error,      ///< what that may be off,
    Largest,    ///< and what is largest on the way.
    Product,    ///< Squares of lengths, to be met by V's: of Z,
    RowError,   ///< of what may be off,
    RowLargest, ///< and of what is largest.
    Most        ///< The largest Z, as a float. Not a sum.
  };
  static constexpr int kCount = Most + 1;
  double of[kCount] = {};
  __device__ __forceinline__ double &operator[](Of one) { return of[one]; }
  __device__ __forceinline__ double operator[](Of one) const { return of[one]; }
};

/// What a dimension gives. \param z  Z, as floats.
__device__ __forceinline__ void addOwn(const annudf_matrix_own &own, const FormTerms &terms,
                                       double x, OwnSums &sums, float (&z)[2]) {
  const double x1 = fabs(x), x2 = x * x, perSquare = 1 / own.square;
  sums[OwnSums::Added] += own.sign * (terms.constant.v + terms.x1.v * x + terms.x2.v * x2);
  sums[OwnSums::Size] += fabs(terms.constant.v) + fabs(terms.x1.v) * x1 + fabs(terms.x2.v) * x2;
  sums[OwnSums::Error] +=
      terms.constant.e.v + terms.error.one.v + terms.error.x1.v * x1 + terms.error.x2.v * x2;
  sums[OwnSums::Largest] += terms.largest.one.v + terms.largest.x1.v * x1 + terms.largest.x2.v * x2;
  const double of[2] = {own.sign * (terms.xy.v * x + terms.y1.v),
                        own.sign * terms.y2.v * perSquare};
  // X, the product and the sum are rounded.
  const double rounded = (fabs(terms.xy.v) * x1 + fabs(terms.y1.v)) * 0x1p-50;
  const double error[2] = {terms.error.y1.v + rounded, terms.error.y2.v * perSquare};
  const double largest[2] = {terms.largest.y1.v, terms.largest.y2.v * perSquare};
  for (int i = 0; i < 2; ++i) {
    sums[OwnSums::Product] += of[i] * of[i];
    sums[OwnSums::RowError] += error[i] * error[i];
    sums[OwnSums::RowLargest] += largest[i] * largest[i];
    z[i] = static_cast<float>(of[i]);
    sums[OwnSums::Most] = fmax(sums[OwnSums::Most], static_cast<double>(fabsf(z[i])));
  }
  if (terms.fault != TermsFault::None)
    sums[OwnSums::Added] = NAN;
}

/// Those of a block, for all its threads.
__device__ __forceinline__ OwnSums sumOfBlock(OwnSums sums) {
  constexpr int kCount = OwnSums::kCount;
  __shared__ double all[kCount][4];
  static_assert(sizeof all <= ANNUDF_MATRIX_OWN_STATIC_BYTES, "what the host leaves for it");
  const auto joined = [](int i, double a, double b) {
    return i == OwnSums::Most ? fmax(a, b) : a + b;
  };
  const int warps = static_cast<int>(blockDim.x) / 32, warp = static_cast<int>(threadIdx.x) / 32;
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    for (int bit = 16; bit; bit /= 2)
      sums.of[i] = joined(i, sums.of[i], __shfl_xor_sync(~0u, sums.of[i], bit));
    if (threadIdx.x % 32 == 0)
      all[i][warp] = sums.of[i];
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    sums.of[i] = all[i][0];
    for (int w = 1; w < warps; ++w)
      sums.of[i] = joined(i, sums.of[i], all[i][w]);
  }
  return sums;
}

/// The largest product with V: beyond it floats might not hold it.
constexpr double kMostProduct = 0x1p125;

/// As a scan takes them of a query, but for its scale.
__device__ __forceinline__ float4 ownNumbers(const annudf_matrix_own &own, const OwnSums &sums,
                                             float scale, double dims) {
  const double count = 2 * dims, more = 1 + (count + 16) * 0x1p-51;
  const double added = sums[OwnSums::Added] + own.initial;
  const double first = fabs(own.initial) * own.polynomials.rounding,
               error = sums[OwnSums::Error] + first;
  const double low = added - error -
                     (sums[OwnSums::Size] + fabs(own.initial)) * ((count + 16) * 0x1p-52) -
                     (fabs(added) + error) * 0x1p-21 - (count + 16) * kUnderflow;
  // A float of Z may be below the normal range: off by 2^-150, and its scale is at most 2^126.
  const double length = sqrt(sums[OwnSums::Product]) * more + sqrt(count) * (4 * kTiny / scale);
  const double rowError = sqrt(sums[OwnSums::RowError]) * more,
               rowLargest = sqrt(sums[OwnSums::RowLargest]) * more;
  const double largest =
      (sums[OwnSums::Largest] + fabs(own.initial)) * more + rowLargest * own.mostLength;
  // Each comparison with NaN is false.
  // An infinite Z, as a float, would make the bound infinite and leave rows out.
  const bool holds = sums[OwnSums::Most] < INFINITY && fabs(low) < INFINITY &&
                     largest <= own.limit * (1 - 0x1p-20) &&
                     length * own.mostLength <= kMostProduct && rowError < INFINITY;
  float4 numbers;
  numbers.x = 1 / scale;
  numbers.y =
      __double2float_ru(length * lengthFactor(static_cast<int>(count)) + rowError * (1 + 0x1p-20));
  numbers.z = holds ? __double2float_rd(low) : NAN;
  numbers.w = 0;
  return numbers;
}

} // namespace

/// As annudf_matrix_queries. A thread has the values of all nodes in shared memory, for one
/// dimension after another.
extern "C" __global__ void __launch_bounds__(128)
    annudf_matrix_own_queries(const __grid_constant__ annudf_matrix_args args) {
  const annudf_matrix_own &own = args.own;
  const int t = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const int dims = static_cast<int>(args.scan.index.dims), nodes = static_cast<int>(own.nNodes);
  const int element = static_cast<int>(args.scan.queries.element);
  const uint8_t *query = pointer<const uint8_t>(args.scan.queries.data) +
                         uint64_t(blockIdx.x) * args.scan.queries.rowBytes;
  const int64_t number = static_cast<int64_t>(args.scan.queries.base) + blockIdx.x;
  Real *values = reinterpret_cast<Real *>(matrixMemory);
  float *z = reinterpret_cast<float *>(values + nodes * threads);
  const auto at = [&](uint32_t node) { return values[static_cast<int>(node) * threads + t]; };
  const auto entries = [&](const FormNode &node) -> const void * {
    const uint64_t *slot = &args.scan.slots.slot[node.a];
    return node.isScalar ? slot : pointer<const void>(*slot);
  };
  letNextBegin();
  OwnSums sums;
  for (int d = t; d < dims; d += threads) {
    for (int i = 0; i < nodes; ++i)
      values[i * threads + t] =
          valueOf(pointer<const FormNode>(own.nodes)[i], d, number, at, entries);
    const double shift = shiftOf(args, d);
    const double x =
        bitsAs<float>(coordinateAt<uint32_t>(element, ANNUDF_COMPUTE_F32, query, d)) - shift;
    float of[2];
    addOwn(own, termsOf(own.polynomials, shift, at), x, sums, of);
    z[d] = of[0], z[dims + d] = of[1];
  }
  sums = sumOfBlock(sums);
  const float scale = scaleFor(static_cast<float>(sums[OwnSums::Most]));
  waitForLast(); // Buffers of the batch before.
  if (t == 0)
    pointer<float4>(args.scan.work.minima)[blockIdx.x] =
        ownNumbers(own, sums, scale, static_cast<double>(dims));
  __half *panels = pointer<__half>(args.scan.work.coordinates) +
                   uint64_t(blockIdx.x) * args.nPanels * kPanelDims;
  for (int i = t; i < static_cast<int>(args.nPanels) * kPanelDims; i += threads)
    panels[i] = __float2half_rn(i < 2 * dims ? z[i] * scale : 0);
}

#endif // ANNUDF_KERNELS_CUDA_PRODUCTS_PRODUCTOWN_CUH
