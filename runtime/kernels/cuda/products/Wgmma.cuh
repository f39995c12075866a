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

#ifndef ANNUDF_KERNELS_CUDA_PRODUCTS_WGMMA_CUH
#define ANNUDF_KERNELS_CUDA_PRODUCTS_WGMMA_CUH

#include "ProductStages.cuh"

#if defined(__CUDA_ARCH_FEAT_SM90_ALL) || !defined(__CUDA_ARCH__)

namespace {

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
__device__ __forceinline__ void waitForBarrier(uint64_t &barrier, uint32_t parity) {
  asm volatile("{ .reg .pred p;\n"
               "again: mbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n"
               "@!p bra again; }" ::"r"(sharedAddress(&barrier)),
               "r"(parity)
               : "memory");
}

/// Multiplies 64 queries a warpgroup with the rows of a tile. Rows come by themselves, as the first
/// thread asks for them.
class Warpgroups {
public:
  static constexpr int kStageBytes = ANNUDF_MATRIX_STAGE_BYTES;
  /// Stages that may be read: of the step that is multiplied and of the one before.
  static constexpr int kBusyStages = 2;
  struct Arrivals {
    uint64_t full[ANNUDF_MATRIX_MOST_STAGES];
  };

  __device__ Warpgroups(Arrivals &arrivals, int warp) : full(arrivals.full), half(warp / 4) {
    if (threadIdx.x < ANNUDF_MATRIX_MOST_STAGES)
      makeBarrier(full[threadIdx.x]);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  /// Whether this thread multiplies any of so many queries.
  __device__ bool has(int queries) const { return half * 64 < queries; }
  /// Whether this thread is to bring what follows: a panel, and of a tile's first its terms.
  __device__ static bool brings(int t) { return t == 0; }
  __device__ void bring(int stage, uint4 *panel, const uint4 *panelFrom, bool withTerms,
                        float *terms, const float *termsFrom) {
    constexpr uint32_t kTermBytes = ANNUDF_MATRIX_TERMS * 4;
    expectBytes(full[stage], ANNUDF_MATRIX_PANEL_BYTES + (withTerms ? kTermBytes : 0));
    copyBytes(panel, panelFrom, ANNUDF_MATRIX_PANEL_BYTES, full[stage]);
    if (withTerms)
      copyBytes(terms, termsFrom, kTermBytes, full[stage]);
  }
  /// Before the block's barrier of the step: what has arrived.
  __device__ void waitFor(int stage) {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    waitForBarrier(full[stage], parities >> stage & 1);
    parities ^= 1u << stage;
  }
  /// Adds the products of a panel's dimensions, or begins with them; they are there after
  /// endTile(), and of the panel before after endPanel().
  __device__ void multiplyPanel(float (&sum)[64], const uint4 *queries, const uint4 *rows,
                                bool isFirst) const {
    beginProducts();
    const uint64_t a = descriptorOf(queries + half * 64 * 8), b = descriptorOf(rows);
#pragma unroll
    for (int k = 0; k < ANNUDF_MATRIX_PANEL_DIMS / 16; ++k)
      multiply(sum, a + 2 * k, b + 2 * k, !isFirst || k > 0);
    commitProducts();
  }
  __device__ void endPanel(float (&sum)[64]) const { waitForProducts<1>(sum); }
  __device__ void endTile(float (&sum)[64]) const { waitForProducts<0>(sum); }

private:
  uint64_t *const full;
  const int half;        ///< Which warpgroup.
  uint32_t parities = 0; ///< The parity of the next wait for each stage, a bit each.
};

} // namespace

#endif

#endif // ANNUDF_KERNELS_CUDA_PRODUCTS_WGMMA_CUH
