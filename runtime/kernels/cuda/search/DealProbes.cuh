//===- DealProbes.cuh - Lists that a device leaves to others --------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CUDA_SEARCH_DEALPROBES_CUH
#define ANNUDF_KERNELS_CUDA_SEARCH_DEALPROBES_CUH

#include "../common/ScanArgs.h"

/// Replaces lists that other devices scan by spare ones: device `device` of `devices` keeps every
/// devices-th.
/// \param lists  of pairs, `count` numbers below nLists.
extern "C" __global__ void annudf_deal_probes(uint32_t *lists, uint64_t count, uint32_t nLists,
                                              uint32_t device, uint32_t devices) {
  const uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count && lists[i] % devices != device)
    lists[i] = nLists + uint32_t(i % ANNUDF_SPARE_LISTS);
}

#endif // ANNUDF_KERNELS_CUDA_SEARCH_DEALPROBES_CUH
