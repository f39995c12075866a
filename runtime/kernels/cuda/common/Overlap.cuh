//===- Overlap.cuh - Kernels that begin before the last ends -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From sm_90 on a kernel may be launched while the one before it in the stream still runs: its
// blocks take their places and wait there. The host launches so all kernels of a search but its
// first (Pipeline.cpp), and so each of them has to wait before it reads or writes what another has
// written or reads: a kernel that ends has waited for all before it.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CUDA_COMMON_OVERLAP_CUH
#define ANNUDF_KERNELS_CUDA_COMMON_OVERLAP_CUH

/// Lets the next kernel take the places that are free once every block of this one has begun.
__device__ __forceinline__ void letNextBegin() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

/// Waits for the end of the kernel before, whose writes are visible from here on.
__device__ __forceinline__ void waitForLast() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

#endif // ANNUDF_KERNELS_CUDA_COMMON_OVERLAP_CUH
