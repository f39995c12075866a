//===- CoarseKernel.cpp - Keys of rows to centers, blocked for registers *- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One template, compiled for several instruction sets and picked by CPUID. Plain
// functions rather than target_clones: those need ifunc, which not every linker and
// sanitizer of ours gets right.
//
//===----------------------------------------------------------------------===//

#include "coarse/CoarseKernel.h"

#include "annudf/runtime/coarse/Coarse.h"

#include <algorithm>
#include <limits>

namespace annudf::runtime {
namespace {

constexpr int kPanel = CoarseRanker::kPanel;
/// Rows that share a panel while it is in the first-level cache.
constexpr int64_t kRowBlock = 32;

#define ANNUDF_INLINE __attribute__((always_inline)) inline

/// A register of the instruction set, and a tile that fits its register file.
template <int Bytes, int RowsV, int VectorsV> struct Shape {
  typedef float Floats __attribute__((vector_size(Bytes)));
  typedef int32_t Ints __attribute__((vector_size(Bytes)));
  static constexpr int kLanes = Bytes / 4;
  static constexpr int kRows = RowsV;       ///< Rows of a tile.
  static constexpr int kVectors = VectorsV; ///< Registers of centers of a tile.
};
using Shape512 = Shape<64, 8, 2>;
using Shape256 = Shape<32, 6, 2>;
using Shape128 = Shape<16, 4, 2>;

/// Sums live in registers only if every index into them is a constant early on, hence the
/// unrolling by hand, and no address of a whole row of them is taken.
template <typename S, int Rows>
ANNUDF_INLINE void tile(const float *rows, int32_t dims, const float *factors, const float *biases,
                        float *out, int64_t stride) {
  using Floats = typename S::Floats;
  Floats sum[Rows][S::kVectors] = {};
  for (int32_t d = 0; d < dims; ++d) {
    Floats factor[S::kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < S::kVectors; ++v)
      __builtin_memcpy(&factor[v], factors + int64_t(d) * kPanel + v * S::kLanes, sizeof(Floats));
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r) {
      const float x = rows[int64_t(r) * dims + d];
#pragma GCC unroll 8
      for (int v = 0; v < S::kVectors; ++v)
        sum[r][v] += x * factor[v];
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < Rows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < S::kVectors; ++v) {
      Floats bias;
      __builtin_memcpy(&bias, biases + v * S::kLanes, sizeof bias);
      const Floats key = sum[r][v] + bias;
      __builtin_memcpy(out + r * stride + v * S::kLanes, &key, sizeof key);
    }
  }
}

template <typename S> ANNUDF_INLINE void keysOf(const CoarseOperands &o) {
  const int64_t stride = o.panels * kPanel;
  for (int64_t first = 0; first < o.count; first += kRowBlock) {
    const int64_t end = std::min(first + kRowBlock, o.count);
    for (int64_t center = 0; center < stride; center += S::kLanes * S::kVectors) {
      const float *factors = o.factors + center / kPanel * kPanel * o.dims + center % kPanel;
      const float *biases = o.biases + center;
      int64_t row = first;
      for (; row + S::kRows <= end; row += S::kRows)
        tile<S, S::kRows>(o.rows + row * o.dims, o.dims, factors, biases,
                          o.out + row * stride + center, stride);
      for (; row + 2 <= end; row += 2)
        tile<S, 2>(o.rows + row * o.dims, o.dims, factors, biases, o.out + row * stride + center,
                   stride);
      if (row < end)
        tile<S, 1>(o.rows + row * o.dims, o.dims, factors, biases, o.out + row * stride + center,
                   stride);
    }
  }
}

template <typename S> ANNUDF_INLINE uint32_t smallestOf(const float *values, int64_t count) {
  typename S::Floats best, value;
  typename S::Ints at = {}, bestAt = {};
  for (int i = 0; i < S::kLanes; ++i) {
    best[i] = std::numeric_limits<float>::infinity();
    at[i] = i;
  }
  for (int64_t i = 0; i < count; i += S::kLanes) {
    __builtin_memcpy(&value, values + i, sizeof value);
    const auto less = value < best;
    best = less ? value : best;
    bestAt = less ? at : bestAt;
    at += S::kLanes;
  }
  int winner = 0;
  for (int i = 1; i < S::kLanes; ++i)
    if (best[i] < best[winner] || (best[i] == best[winner] && bestAt[i] < bestAt[winner]))
      winner = i;
  return static_cast<uint32_t>(bestAt[winner]);
}

void keysBaseline(const CoarseOperands &o) { keysOf<Shape128>(o); }
uint32_t smallestBaseline(const float *v, int64_t n) { return smallestOf<Shape128>(v, n); }

#if defined(__x86_64__)
#define ANNUDF_AVX512 __attribute__((target("avx512f,avx2,fma")))
#define ANNUDF_AVX2 __attribute__((target("avx2,fma")))
ANNUDF_AVX512 void keysAvx512(const CoarseOperands &o) { keysOf<Shape512>(o); }
ANNUDF_AVX512 uint32_t smallestAvx512(const float *v, int64_t n) {
  return smallestOf<Shape512>(v, n);
}
ANNUDF_AVX2 void keysAvx2(const CoarseOperands &o) { keysOf<Shape256>(o); }
ANNUDF_AVX2 uint32_t smallestAvx2(const float *v, int64_t n) { return smallestOf<Shape256>(v, n); }
#endif

constexpr CoarseKernels kKernels[] = {
#if defined(__x86_64__)
    {"avx512", keysAvx512, smallestAvx512},
    {"avx2", keysAvx2, smallestAvx2},
#endif
    {"baseline", keysBaseline, smallestBaseline}};

} // namespace

std::span<const CoarseKernels> availableCoarseKernels() {
  size_t first = std::size(kKernels) - 1;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2"))
    first = __builtin_cpu_supports("avx512f") ? 0 : 1;
#endif
  return std::span(kKernels).subspan(first);
}

void coarseKeys(const CoarseOperands &operands) { availableCoarseKernels().front().keys(operands); }

uint32_t indexOfSmallest(const float *values, int64_t count) {
  return availableCoarseKernels().front().smallest(values, count);
}

} // namespace annudf::runtime
