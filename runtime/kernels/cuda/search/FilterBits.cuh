//===- FilterBits.cuh - Bits of a predicate that are given ---------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of Search.cu: what a predicate has beside code (scan/Predicate.cu).
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CUDA_SEARCH_FILTERBITS_CUH
#define ANNUDF_KERNELS_CUDA_SEARCH_FILTERBITS_CUH

#include "../common/Overlap.cuh"
#include "../common/Predicate.cuh"

/// As annudf_filter_words, of bits by id, or by query and id.
extern "C" __global__ void __launch_bounds__(ANNUDF_SCAN_THREADS)
    annudf_filter_bits(const __grid_constant__ annudf_predicate_args args) {
  letNextBegin();
  waitForLast();
  writeWords(args, [&](int64_t row, int query, int) {
    const uint64_t bit = static_cast<uint64_t>(query) * args.bitsOfQuery + row;
    return (__ldg(reinterpret_cast<const uint32_t *>(args.bits) + bit / 32) >> (bit % 32) & 1) != 0;
  });
}

/// Joins `count` words with others, a thread each: the rows of both, or of either.
extern "C" __global__ void annudf_join_words(uint64_t words, uint64_t others, uint64_t count,
                                             int both) {
  letNextBegin();
  waitForLast();
  const uint64_t i = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count)
    return;
  uint32_t &word = reinterpret_cast<uint32_t *>(words)[i];
  const uint32_t other = reinterpret_cast<const uint32_t *>(others)[i];
  word = both ? word & other : word | other;
}

#endif // ANNUDF_KERNELS_CUDA_SEARCH_FILTERBITS_CUH
