//===- Overlap.cu - Overlap.cuh for kernels that are linked ---------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled to LTO-IR once for architectures that overlap kernels and once for others, as one
// fragment of a scan serves them all.
//
//===----------------------------------------------------------------------===//

#include "Overlap.cuh"

extern "C" __device__ void annudf_wait_for_last() { waitForLast(); }
