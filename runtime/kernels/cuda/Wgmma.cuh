//===- Wgmma.cuh - Products of warpgroups, and copies to them -----*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Instructions of sm_90a that CUDA C++ has no words for (PTX ISA 8.0: wgmma, mbarrier,
// cp.async.bulk).
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CUDA_WGMMA_CUH
#define ANNUDF_KERNELS_CUDA_WGMMA_CUH

#include <cstdint>

#if defined(__CUDA_ARCH_FEAT_SM90_ALL) || !defined(__CUDA_ARCH__)

namespace {

__device__ __forceinline__ uint32_t sharedAddress(const void *address) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(address));
}

/// Lines of 128 bytes, swizzled, eight of them 1,024 bytes apart (PTX ISA, Matrix Descriptor
/// Format).
__device__ __forceinline__ uint64_t descriptorOf(const void *panel) {
  return uint64_t((sharedAddress(panel) & 0x3FFFF) >> 4) | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

#define EIGHT(A, I)                                                                                \
  "+f"(A[I]), "+f"(A[I + 1]), "+f"(A[I + 2]), "+f"(A[I + 3]), "+f"(A[I + 4]), "+f"(A[I + 5]),      \
      "+f"(A[I + 6]), "+f"(A[I + 7])
#define ALL_OF(A)                                                                                  \
  EIGHT(A, 0), EIGHT(A, 8), EIGHT(A, 16), EIGHT(A, 24), EIGHT(A, 32), EIGHT(A, 40), EIGHT(A, 48),  \
      EIGHT(A, 56)

/// 64 queries by 128 rows, 16 dimensions. \param add  0: in place of what is there.
__device__ __forceinline__ void multiply(float (&sum)[64], uint64_t queries, uint64_t rows,
                                         int add) {
  asm volatile(
      "{ .reg .pred p; setp.ne.b32 p, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,"
      "%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,"
      "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}, %64, %65, p, 1, 1, 0, 0; }"
      : ALL_OF(sum)
      : "l"(queries), "l"(rows), "r"(add));
}
__device__ __forceinline__ void beginProducts() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void commitProducts() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int kLeft> __device__ __forceinline__ void waitForProducts(float (&sum)[64]) {
  asm volatile("wgmma.wait_group.sync.aligned %64;" : ALL_OF(sum) : "n"(kLeft) : "memory");
}

__device__ __forceinline__ void makeBarrier(uint64_t &barrier) {
  asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(sharedAddress(&barrier)) : "memory");
}
__device__ __forceinline__ void expectBytes(uint64_t &barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(sharedAddress(&barrier)),
               "r"(bytes)
               : "memory");
}
__device__ __forceinline__ void copyBytes(void *to, const void *from, uint32_t bytes,
                                          uint64_t &barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, "
               "[%3];" ::"r"(sharedAddress(to)),
               "l"(from), "r"(bytes), "r"(sharedAddress(&barrier))
               : "memory");
}
__device__ __forceinline__ void waitFor(uint64_t &barrier, uint32_t parity) {
  asm volatile("{ .reg .pred p;\n"
               "again: mbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n"
               "@!p bra again; }" ::"r"(sharedAddress(&barrier)),
               "r"(parity)
               : "memory");
}
__device__ __forceinline__ void copyLine(uint4 *to, const uint4 *from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(sharedAddress(to)), "l"(from)
               : "memory");
}

} // namespace

#endif

#endif // ANNUDF_KERNELS_CUDA_WGMMA_CUH
