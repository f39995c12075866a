//===- ProductRatio.cuh - What rows and queries give to ratios --*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For a normalised form (BoundRatio.h) the bound of a row is its factor, one by the length of it,
// times what the query adds and the product, less what all that may be off: docs/spec/numerics.md,
// "By matrix products on a GPU". Part of Products.cu.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CUDA_PRODUCTS_PRODUCTRATIO_CUH
#define ANNUDF_KERNELS_CUDA_PRODUCTS_PRODUCTRATIO_CUH

#include "../common/Overlap.cuh"
#include "ProductRows.cuh"

#include "../../FormTerms.h"

#include <cmath>
#include <cstdint>

namespace {

/// Lengths of what a product is made of, beyond which floats might not hold it.
constexpr double kMostQuery = 0x1p38, kMostRow = 0x1p40;
/// The most that a query adds to its products.
constexpr double kMostAdded = 0x1p80;

/// Whether something is said of a vector with such squares of its length, and largest.
__device__ __forceinline__ bool isRatio(const annudf_matrix_args &args, double square, double whole,
                                        double largest) {
  const annudf_matrix_ratio &ratio = args.ratio;
  return annudf_kernels::isInRange({ratio.least, ratio.mostSquare, ratio.leastShare, ratio.most},
                                   square, whole, ratio.largest + largest);
}

} // namespace

/// As annudf_matrix_terms, of a normalised form: of a row its factor, of a granule the greatest
/// length of its rows, times that; of one without rows -infinity.
extern "C" __global__ void
annudf_matrix_ratio_terms(const __grid_constant__ annudf_matrix_args args) {
  __shared__ float longest[kRows];
  const TileRow row(args);
  const annudf_matrix_ratio_dim *of = pointer<const annudf_matrix_ratio_dim>(args.ratio.dims);
  const double dims = static_cast<double>(args.scan.index.dims);
  double mean = 0, square = 0, whole = 0, largest = 0, distance = 0;
  if (args.ratio.perDim != 0) {
    for (int d = 0; d < static_cast<int>(args.scan.index.dims); ++d)
      mean += row.coordinates.at(d);
    mean *= args.ratio.perDim;
  }
  for (int d = 0; d < static_cast<int>(args.scan.index.dims); ++d) {
    const annudf_matrix_ratio_dim &dim = of[d];
    const double y = row.coordinates.at(d), y2 = y * y, less = y - dim.shift, own = y - mean;
    square += dim.row * (own * own);
    whole += dim.row * y2;
    largest += dim.rowLargest * y2;
    distance += less * less;
  }
  const double factor = 1 / sqrt(square);
  const float scale = pointer<const float>(args.listScale)[row.list];
  const double length = sqrt(distance) * (1 + (dims + 16) * 0x1p-52) + sqrt(dims) * (kTiny / scale);
  const bool holds = isRatio(args, square, whole, largest) && length <= kMostRow;
  float *terms = pointer<float>(args.terms) + row.tile * kTerms;
  terms[columnOf(row.row)] = !row.isOfRows ? 1 : holds ? static_cast<float>(factor) : NAN;
  longest[row.row] = row.isOfRows ? __double2float_ru(length * factor) : -INFINITY;
  __syncthreads();
  writeLongest(terms, longest, row.row);
}

namespace {

/// The mean of a query's coordinates where the form is of vectors less theirs, else 0.
/// \param at  a coordinate.  \param sums  of each warp, shared; all have read them in the end.
template <class At>
__device__ __forceinline__ double meanOfQuery(const annudf_matrix_args &args, At at,
                                              double (&sums)[4]) {
  if (args.ratio.perDim == 0)
    return 0;
  double sum = 0;
  for (int d = static_cast<int>(threadIdx.x); d < static_cast<int>(args.scan.index.dims); d += 128)
    sum += at(d);
  for (int bit = 16; bit; bit /= 2)
    sum += __shfl_xor_sync(~0u, sum, bit);
  if (threadIdx.x % 32 == 0)
    sums[threadIdx.x / 32] = sum;
  __syncthreads();
  const double all = sums[0] + sums[1] + sums[2] + sums[3];
  __syncthreads();
  return all * args.ratio.perDim;
}

} // namespace

/// As annudf_matrix_queries, of a normalised form. Panels are of the query as it is, or less its
/// mean, which is as good as the rows less theirs; its length goes into the other numbers.
extern "C" __global__ void __launch_bounds__(128)
    annudf_matrix_ratio_queries(const __grid_constant__ annudf_matrix_args args) {
  __shared__ double sums[5][4];
  __shared__ float mosts[4];
  const int t = static_cast<int>(threadIdx.x), lane = t & 31, warp = t / 32;
  const int dims = static_cast<int>(args.scan.index.dims);
  const int element = static_cast<int>(args.scan.queries.element);
  const annudf_matrix_ratio_dim *of = pointer<const annudf_matrix_ratio_dim>(args.ratio.dims);
  const uint8_t *query = pointer<const uint8_t>(args.scan.queries.data) +
                         uint64_t(blockIdx.x) * args.scan.queries.rowBytes;
  const auto at = [&](int d) -> double {
    return bitsAs<float>(coordinateAt<uint32_t>(element, ANNUDF_COMPUTE_F32, query, d));
  };
  letNextBegin();
  const double mean = meanOfQuery(args, at, sums[0]);
  // Squares of two lengths, largest, what it adds, and the first square with its mean.
  double sum[5] = {};
  float most = 0;
  for (int d = t; d < dims; d += 128) {
    const annudf_matrix_ratio_dim &dim = of[d];
    const double x = at(d), x2 = x * x, own = x - mean, z = dim.product * own;
    sum[0] += dim.query * (own * own);
    sum[1] += z * z;
    sum[2] += dim.queryLargest * x2;
    sum[3] += z * dim.shift;
    sum[4] += dim.query * x2;
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
  const double root = sqrt(sum[0]);
  most = fmaxf(fmaxf(mosts[0], mosts[1]), fmaxf(mosts[2], mosts[3]));
  // Not of what is nothing of the length: 1 / (scale * root) is a float then.
  const float scale = scaleFor(fmaxf(most, static_cast<float>(root * 0x1p-64)));
  waitForLast(); // Buffers of the batch before.
  if (t == 0) {
    // One quotient in double: more of them spill registers on sm_80. That of a scale is exact.
    const double factor = 1 / root;
    const float tiny = 1 / scale;
    const double length =
        (sqrt(sum[1]) * (1 + (dims + 16) * 0x1p-51) + sqrt(double(dims)) * (kTiny * double(tiny))) *
        factor;
    const double added = sum[3] * factor;
    const bool holds =
        isRatio(args, sum[0], sum[4], sum[2]) && length <= kMostQuery && fabs(added) <= kMostAdded;
    float4 numbers;
    numbers.x = static_cast<float>(tiny * factor);
    numbers.y = __double2float_ru(length * lengthFactor(dims) + args.ratio.lengthError);
    numbers.z = holds ? static_cast<float>(added) : NAN;
    numbers.w = 0;
    pointer<float4>(args.scan.work.minima)[blockIdx.x] = numbers;
  }
  __half *panels = pointer<__half>(args.scan.work.coordinates) +
                   uint64_t(blockIdx.x) * args.nPanels * kPanelDims;
  for (int d = t; d < static_cast<int>(args.nPanels) * kPanelDims; d += 128)
    panels[d] =
        __float2half_rn(d < dims ? static_cast<float>(of[d].product * (at(d) - mean) * scale) : 0);
}

#endif // ANNUDF_KERNELS_CUDA_PRODUCTS_PRODUCTRATIO_CUH
