// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel of WriteNvptxBodies.cpp: one update a thread. A sample is the accumulator, x and y,
// dim and dims.

#include "annudf/ABI/annudf_abi.h"

extern "C" __device__ uint32_t annudf1_scan_update_a32_x32(uint32_t acc, uint32_t x, uint32_t y,
                                                           int32_t dim, int32_t dims, int64_t row,
                                                           int32_t query, int32_t list,
                                                           const uint64_t *slots);

extern "C" __global__ void annudf_evaluate(const uint32_t *samples, uint32_t *results,
                                           uint32_t count) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count)
    return;
  const uint32_t *sample = samples + 5 * i;
  results[i] =
      annudf1_scan_update_a32_x32(sample[0], sample[1], sample[2], static_cast<int32_t>(sample[3]),
                                  static_cast<int32_t>(sample[4]), 0, 0, 0, nullptr);
}
