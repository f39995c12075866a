//===- Finalize.cu - The distance of a metric that has no finalize --------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled to LTO-IR for every accumulator type, which ANNUDF_ACCUMULATOR_ROW names. One of
// them is linked where the manifest's list of hooks has no finalize.
//
//===----------------------------------------------------------------------===//

#include "annudf/ABI/annudf_abi.h"

namespace {

/// By kind and bits of the accumulator; there is none for a kind that is not thought of.
enum class Kind { FLOAT, SIGNED, UNSIGNED };
template <Kind kind, int bits> struct Accumulator;
template <> struct Accumulator<Kind::FLOAT, 32> {
  static __device__ float distance(uint32_t word) { return __uint_as_float(word); }
};
template <> struct Accumulator<Kind::FLOAT, 64> {
  static __device__ float distance(uint64_t word) {
    return static_cast<float>(__longlong_as_double(static_cast<long long>(word)));
  }
};
template <> struct Accumulator<Kind::SIGNED, 32> {
  static __device__ float distance(uint32_t word) {
    return static_cast<float>(static_cast<int32_t>(word));
  }
};
template <> struct Accumulator<Kind::SIGNED, 64> {
  static __device__ float distance(uint64_t word) {
    return static_cast<float>(static_cast<int64_t>(word));
  }
};
template <> struct Accumulator<Kind::UNSIGNED, 32> {
  static __device__ float distance(uint32_t word) { return static_cast<float>(word); }
};

#define ANNUDF_X(NAME, VALUE, SPELLING, BITS, KIND, SINCE)                                         \
  using Row##NAME = Accumulator<Kind::KIND, BITS>;                                                 \
  static_assert(sizeof(Row##NAME) > 0, "no distance of an accumulator " SPELLING);                 \
  [[maybe_unused]] constexpr int kBits##NAME = BITS;
ANNUDF_ACCUMULATORS(ANNUDF_X)
#undef ANNUDF_X

#define ANNUDF_JOIN(A, B) A##B
#define ANNUDF_OF_ROW(A, B) ANNUDF_JOIN(A, B)
constexpr int kBits = ANNUDF_OF_ROW(kBits, ANNUDF_ACCUMULATOR_ROW);

} // namespace

#define ANNUDF_HOOK_OF(A) ANNUDF_OF_ROW(annudf1_scan_finalize_a, A)
#define ANNUDF_WORD_OF(A) ANNUDF_OF_ROW(ANNUDF_JOIN(uint, A), _t)
static_assert(kBits == ANNUDF_BITS, "the build passes the row's bits");

ANNUDF_HOOK float ANNUDF_HOOK_OF(ANNUDF_BITS)(ANNUDF_WORD_OF(ANNUDF_BITS) acc, int32_t, int64_t,
                                              int32_t, int32_t, const uint64_t *) {
  return ANNUDF_OF_ROW(Row, ANNUDF_ACCUMULATOR_ROW)::distance(acc);
}
