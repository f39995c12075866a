//===- Overlap.cu - Overlap.cuh for kernels that are linked ---------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled to LTO-IR once for architectures that overlap kernels, once for those that copy ahead
// and once for others, as one fragment of a scan serves them all.
//
//===----------------------------------------------------------------------===//

#include "Overlap.cuh"
#include "ScanArgs.h"

extern "C" __device__ void annudf_wait_for_last() { waitForLast(); }
/// Asks for 16 bytes of memory in shared memory; before sm_80 they are there at once.
extern "C" __device__ void annudf_copy_ahead(uint4 *to, const uint4 *from) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(
                   static_cast<uint32_t>(__cvta_generic_to_shared(to))),
               "l"(from)
               : "memory");
#else
  *to = *from;
#endif
}

/// What the thread has asked for since the last call is one batch.
extern "C" __device__ void annudf_end_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/// Waits for all batches but those of a ring that are not used next.
extern "C" __device__ void annudf_wait_for_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(ANNUDF_RING_BATCHES - 1) : "memory");
#endif
}
