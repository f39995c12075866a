//===- Hooks.cuh - A metric's hooks, as the scan kernels call them -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For the sources that are linked with a metric; each is compiled once for each form and pair of
// widths, which the build passes as macros.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CUDA_SCAN_HOOKS_CUH
#define ANNUDF_KERNELS_CUDA_SCAN_HOOKS_CUH

#include "../../Coordinates.h"
#include "../common/Keys.cuh"
#include "Nan.cuh"

#include <type_traits>

using namespace annudf_kernels;

// The names of annudf_abi.h for the form and the widths that the build passes.
#define ANNUDF_JOIN(A, B, C, D, E) A##B##C##D##E
#define ANNUDF_HOOK_A(NAME, F, A) ANNUDF_JOIN(annudf1_scan_##NAME##_, F, A, , )
#define ANNUDF_HOOK_AX(NAME, F, A, X) ANNUDF_JOIN(annudf1_scan_##NAME##_, F, A, _x, X)
#define ANNUDF_TEXT(A) #A
#define ANNUDF_TEXT_OF(A) ANNUDF_TEXT(A)
#define HOOK_INIT ANNUDF_HOOK_A(init, ANNUDF_ACCUMULATOR_FORM, ANNUDF_ACCUMULATOR_WIDTH)
#define HOOK_UPDATE                                                                                \
  ANNUDF_HOOK_AX(update, ANNUDF_ACCUMULATOR_FORM, ANNUDF_ACCUMULATOR_WIDTH, ANNUDF_COORDINATE_WIDTH)
#define HOOK_FINALIZE ANNUDF_HOOK_A(finalize, ANNUDF_ACCUMULATOR_FORM, ANNUDF_ACCUMULATOR_WIDTH)
#define HOOK_COMBINE ANNUDF_HOOK_A(combine, ANNUDF_ACCUMULATOR_FORM, ANNUDF_ACCUMULATOR_WIDTH)
#define ANNUDF_X(NAME, VALUE, SPELLING, PRESENCE, SINCE) +1
static_assert(0 ANNUDF_HOOKS(ANNUDF_X) == 4,
              "annudf_tables.h has a hook that this scan does not call; call it, then count it");
#undef ANNUDF_X
using Word = WordOf<ANNUDF_ACCUMULATOR_WIDTH>::Type;
/// Words of several fields. Hooks touch no word past their metric's, so such words are optimised
/// away.
struct Words {
  Word word[ANNUDF_MAX_FIELDS];
};
using Acc = std::conditional_t<ANNUDF_TEXT_OF(ANNUDF_ACCUMULATOR_FORM)[0] == 's', Words, Word>;
using Coordinate = WordOf<ANNUDF_COORDINATE_WIDTH>::Type;

#ifdef ANNUDF_TEMPLATE
// A kernel that is compiled to PTX once and for all, for the element that the build passes: where
// it calls a hook it has a line that no assembler knows, in whose place a link writes what the hook
// does (lib/cuda/link/Template.h). Where captures are, hooks know from the kernel's parameter.
#define annudf1_row_element() ANNUDF_TEMPLATE_ELEMENT
#define annudf1_query_element() ANNUDF_TEMPLATE_ELEMENT
#define annudf1_compute() ANNUDF_COMPUTE_F32
#define annudf1_packed_term() ANNUDF_TEMPLATE_TERM
#define annudf1_bit_products() 1 // No other processor's kernel of bits is made from it.

namespace {

__device__ __forceinline__ Word initText(int dims, int query, int list, const uint64_t *) {
  Word acc;
  asm("annudf.init %0, %1, %2, %3;" : "=r"(acc) : "r"(dims), "r"(query), "r"(list));
  return acc;
}
__device__ __forceinline__ Word updateText(Word acc, Coordinate x, Coordinate y, int dim, int dims,
                                           int64_t row, int query, int list, const uint64_t *) {
  asm("annudf.update %0, %1, %2, %3, %4, %5, %6, %7, %8;"
      : "=r"(acc)
      : "r"(acc), "r"(x), "r"(y), "r"(dim), "r"(dims), "l"(row), "r"(query), "r"(list));
  return acc;
}
__device__ __forceinline__ float finalizeText(Word acc, int dims, int64_t row, int query, int list,
                                              const uint64_t *) {
  float distance;
  asm("annudf.finalize %0, %1, %2, %3, %4, %5;"
      : "=f"(distance)
      : "r"(acc), "r"(dims), "l"(row), "r"(query), "r"(list));
  return distance;
}
__device__ __forceinline__ void annudf_wait_for_last() {
  asm volatile("annudf.wait;" ::: "memory");
}

} // namespace

#undef HOOK_INIT
#undef HOOK_UPDATE
#undef HOOK_FINALIZE
#define HOOK_INIT initText
#define HOOK_UPDATE updateText
#define HOOK_FINALIZE finalizeText
#else
/// waitForLast(), linked as the architecture has it (Overlap.cu). A scan does not let the next
/// kernel begin: the few blocks of the final selection would crowd where its first blocks end.
extern "C" __device__ void annudf_wait_for_last();

/// Copies that go on beside the thread, linked likewise.
extern "C" __device__ void annudf_copy_ahead(uint4 *to, const uint4 *from);
extern "C" __device__ void annudf_end_copies();
extern "C" __device__ void annudf_wait_for_copies();
#endif

namespace {

/// The hooks, with an accumulator of either form.
template <class... Rest> __device__ __forceinline__ void init(Word &acc, Rest... rest) {
  acc = HOOK_INIT(rest...);
}
template <class... Rest> __device__ __forceinline__ void init(Words &acc, Rest... rest) {
  HOOK_INIT(acc.word, rest...);
}
template <class... Rest> __device__ __forceinline__ void update(Word &acc, Rest... rest) {
  acc = HOOK_UPDATE(acc, rest...);
}
template <class... Rest> __device__ __forceinline__ void update(Words &acc, Rest... rest) {
  HOOK_UPDATE(acc.word, rest...);
}
template <class... Rest> __device__ __forceinline__ float finalize(Word acc, Rest... rest) {
  return HOOK_FINALIZE(acc, rest...);
}
template <class... Rest> __device__ __forceinline__ float finalize(const Words &acc, Rest... rest) {
  return HOOK_FINALIZE(acc.word, rest...);
}
#ifdef ANNUDF_PARTS
template <class... Rest>
__device__ __forceinline__ void combine(Word &acc, Word other, Rest... rest) {
  acc = HOOK_COMBINE(acc, other, rest...);
}
template <class... Rest>
__device__ __forceinline__ void combine(Words &acc, const Words &other, Rest... rest) {
  HOOK_COMBINE(acc.word, other.word, rest...);
}
#endif

/// 16 bytes of a row through the read-only path. Volatile, because the optimiser
/// otherwise sinks each load to its first use and only one is in flight.
__device__ __forceinline__ uint4 loadChunk(const uint4 *address) {
  uint4 value;
  asm volatile("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
               : "l"(address));
  return value;
}

} // namespace

#endif // ANNUDF_KERNELS_CUDA_SCAN_HOOKS_CUH
