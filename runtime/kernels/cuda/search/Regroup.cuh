//===- Regroup.cuh - Words of a group as chunks of 16 bytes -----*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of Search.cu. annudf_build_ungroup is the way back.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CUDA_SEARCH_REGROUP_CUH
#define ANNUDF_KERNELS_CUDA_SEARCH_REGROUP_CUH

/// Turns words of RowStore.h's order into 16-byte chunks, in place: both orders keep
/// the 128 words of a chunk of a group together, so a warp transposes 4 x 32 words.
extern "C" __global__ void annudf_regroup(uint4 *rows, uint64_t blocks) {
  const uint32_t lane = threadIdx.x & 31;
  const uint64_t warps = static_cast<uint64_t>(gridDim.x) * blockDim.x / 32;
  for (uint64_t b = (static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32; b < blocks;
       b += warps) {
    uint32_t *words = reinterpret_cast<uint32_t *>(rows + b * 32);
    const uint4 chunk =
        make_uint4(words[lane], words[32 + lane], words[64 + lane], words[96 + lane]);
    __syncwarp();
    rows[b * 32 + lane] = chunk;
    __syncwarp();
  }
}

#endif // ANNUDF_KERNELS_CUDA_SEARCH_REGROUP_CUH
