/*===- annudf_abi.h - The hooks through which a scan calls a UDF ---*- C -*-===*\
|*                                                                            *|
|* Part of the annudf project, under the Apache License v2.0 with LLVM        *|
|* Exceptions. See LICENSE for license information.                           *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* The one definition of `annudf.accumulator.v1` that the compiler, the scan  *|
|* kernels (CUDA and host) and the tests share. Plain C, no dependencies, so  *|
|* that nvcc, NVRTC, clang and a C compiler all read the same text.           *|
|*                                                                            *|
|* Three choices carry the design (docs/abi.md gives the rules):              *|
|*                                                                            *|
|*  - *Names carry the ABI.* nvJitLink matches names only, so the ABI major   *|
|*    and the accumulator's width are part of every symbol. A definition made *|
|*    for another width cannot be linked by accident.                         *|
|*  - *Words, not types.* A hook takes 32-bit words that hold one f32, two    *|
|*    f16 or four 8-bit coordinates, and an accumulator as an opaque 32 or    *|
|*    64-bit word. Registers have no type, so this costs nothing once linked, *|
|*    and one scan kernel serves every element and accumulator type. The      *|
|*    compiler emits the unpacking; a later pass may replace it by packed     *|
|*    arithmetic without touching a kernel.                                   *|
|*  - *Constants are functions.* What a search fixes (element type) and what  *|
|*    a metric fixes (order, dims) reach the kernel as functions that return  *|
|*    a constant; after link-time inlining they are constants.                *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef ANNUDF_ABI_ANNUDF_ABI_H
#define ANNUDF_ABI_ANNUDF_ABI_H

#include "annudf/ABI/annudf_tables.h"

#if !defined(__CUDACC_RTC__)
#include <stdint.h>
#else /* NVRTC has no <stdint.h>. */
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
#endif

/** Name and version of this ABI. A consumer accepts an artifact when the id
 * matches and the minor is not newer than its own. */
#define ANNUDF_ABI_ID "annudf.accumulator.v1"
#define ANNUDF_ABI_MAJOR 1
#define ANNUDF_ABI_MINOR 0

/** The rows of annudf_tables.h as enums: ANNUDF_ELEMENT_F32, ANNUDF_ORDER_MIN, ... */
#define ANNUDF_ROW(PREFIX, NAME, VALUE) ANNUDF_##PREFIX##_##NAME = VALUE,

/** Element type of the stored vectors and of the queries. */
#define ANNUDF_X(NAME, VALUE, SPELLING, BITS, KIND, SINCE) ANNUDF_ROW(ELEMENT, NAME, VALUE)
enum annudf_element { ANNUDF_ELEMENTS(ANNUDF_X) };
#undef ANNUDF_X

/** Type in which a body sees a coordinate. */
#define ANNUDF_X(NAME, VALUE, SPELLING, BITS, KIND, SINCE) ANNUDF_ROW(COMPUTE, NAME, VALUE)
enum annudf_compute { ANNUDF_COMPUTE_TYPES(ANNUDF_X) };
#undef ANNUDF_X

/** Type of the accumulator inside the body; the hooks see only its width. */
#define ANNUDF_X(NAME, VALUE, SPELLING, BITS, KIND, SINCE) ANNUDF_ROW(ACCUMULATOR, NAME, VALUE)
enum annudf_accumulator { ANNUDF_ACCUMULATORS(ANNUDF_X) };
#undef ANNUDF_X

/** Element type of a capture. */
#define ANNUDF_X(NAME, VALUE, SPELLING, BITS, KIND, SINCE) ANNUDF_ROW(CAPTURE, NAME, VALUE)
enum annudf_capture_element { ANNUDF_CAPTURE_ELEMENTS(ANNUDF_X) };
#undef ANNUDF_X

/** Which end of the distances is best. */
#define ANNUDF_X(NAME, VALUE, SPELLING, SINCE) ANNUDF_ROW(ORDER, NAME, VALUE)
enum annudf_order { ANNUDF_ORDERS(ANNUDF_X) };
#undef ANNUDF_X

/** What ranks the lists before the scan. */
#define ANNUDF_X(NAME, VALUE, SPELLING, ORDER, SINCE) ANNUDF_ROW(COARSE, NAME, VALUE)
enum annudf_coarse { ANNUDF_COARSES(ANNUDF_X) };
#undef ANNUDF_X

/** Whether sums over dimensions may be split. */
#define ANNUDF_X(NAME, VALUE, SPELLING, SINCE) ANNUDF_ROW(NUMERICS, NAME, VALUE)
enum annudf_numerics { ANNUDF_NUMERICS(ANNUDF_X) };
#undef ANNUDF_X

/** Symbolic extents of a capture. */
#define ANNUDF_X(NAME, VALUE, SPELLING, SINCE) ANNUDF_ROW(EXTENT, NAME, VALUE)
enum annudf_extent { ANNUDF_EXTENTS(ANNUDF_X) };
#undef ANNUDF_X

/** What a UDF is in a kernel. */
#define ANNUDF_X(NAME, VALUE, SPELLING, SINCE) ANNUDF_ROW(ROLE, NAME, VALUE)
enum annudf_role { ANNUDF_ROLES(ANNUDF_X) };
#undef ANNUDF_X

/** Hooks of the role scan. */
#define ANNUDF_X(NAME, VALUE, SPELLING, PRESENCE, SINCE) ANNUDF_ROW(HOOK, NAME, VALUE)
enum annudf_hook { ANNUDF_HOOKS(ANNUDF_X) };
#undef ANNUDF_X

/** Feature bits an artifact may require, as masks; bits that are not known are refused. */
#define ANNUDF_X(NAME, BIT, SPELLING, SINCE) ANNUDF_ROW(FEATURE, NAME, 1 << (BIT))
enum annudf_feature { ANNUDF_FEATURES(ANNUDF_X) };
#undef ANNUDF_X
#define ANNUDF_FEATURE_MASK(NAME, BIT, SPELLING, SINCE) | (UINT64_C(1) << (BIT))
#define ANNUDF_FEATURES_KNOWN (UINT64_C(0) ANNUDF_FEATURES(ANNUDF_FEATURE_MASK))

/** ANNUDF_MAX_CAPTURES, ... */
#define ANNUDF_X(NAME, VALUE, WHAT) ANNUDF_##NAME = VALUE,
enum annudf_limit { ANNUDF_LIMITS(ANNUDF_X) };
#undef ANNUDF_X

/** Captures as a scan passes them: slot i belongs to the i-th capture. An array
 * is its address (global memory on a GPU); a scalar its bits, zero-extended.
 * Whoever launches the scan has checked every array against its declared extents. */
typedef struct annudf_slots {
  uint64_t slot[ANNUDF_MAX_CAPTURES];
} annudf_slots;

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define ANNUDF_HOOK extern "C" __device__
#elif defined(__cplusplus)
#define ANNUDF_HOOK extern "C"
#else
#define ANNUDF_HOOK extern
#endif

#if defined(__cplusplus)
static_assert(sizeof(annudf_slots) == 128, "annudf_slots is part of the ABI");
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
_Static_assert(sizeof(annudf_slots) == 128, "annudf_slots is part of the ABI");
#endif

/*===-- Defined by the metric ---------------------------------------------===*\
|* One of the two widths, as the manifest says. `slots` points at slot 0.      *|
|*   x, y   one word of the query and of the stored vector                     *|
|*   dim    dimension of the word's first coordinate                           *|
|*   count  coordinates of the word that exist: all, but for the last word of  *|
|*          a vector, whose padding must not reach the accumulator             *|
|*   dims   dimensions of the vectors                                          *|
|*   row    source id of the stored vector                                     *|
|*   query, list  index of the query in its batch, of the list in the index    *|
\*===----------------------------------------------------------------------===*/
#define ANNUDF_DECLARE_HOOKS(WIDTH)                                            \
  ANNUDF_HOOK uint##WIDTH##_t annudf1_init_##WIDTH(                            \
      int32_t dims, int32_t query, int32_t list, const uint64_t *slots);       \
  ANNUDF_HOOK uint##WIDTH##_t annudf1_update_##WIDTH(                          \
      uint##WIDTH##_t acc, uint32_t x, uint32_t y, int32_t dim, int32_t count, \
      int32_t dims, int64_t row, int32_t query, int32_t list,                  \
      const uint64_t *slots);                                                  \
  ANNUDF_HOOK float annudf1_finalize_##WIDTH(                                  \
      uint##WIDTH##_t acc, int32_t dims, int64_t row, int32_t query,           \
      int32_t list, const uint64_t *slots);

ANNUDF_DECLARE_HOOKS(32)
ANNUDF_DECLARE_HOOKS(64)

/** An `enum annudf_order`. */
ANNUDF_HOOK int32_t annudf1_order(void);
/** The dims the metric was specialised for, 0 for any. */
ANNUDF_HOOK int32_t annudf1_dims(void);

/*===-- Defined by the runtime for each search ----------------------------===*/

/** An `enum annudf_element`. */
ANNUDF_HOOK int32_t annudf1_element(void);

#endif /* ANNUDF_ABI_ANNUDF_ABI_H */
