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
|* Four choices carry the design (docs/spec/abi.md gives the rules):          *|
|*                                                                            *|
|*  - *Names carry the ABI.* nvJitLink matches names only, so the ABI major,   *|
|*    the role and the widths of accumulator and coordinates are part of every *|
|*    symbol. A definition made for others cannot be linked by accident.      *|
|*  - *Words, not types.* Accumulators and coordinates cross the link as       *|
|*    opaque words of their width. Registers have no type, so this costs      *|
|*    nothing once linked, and one scan kernel serves every type of a width.  *|
|*    An accumulator of several fields is words of the caller's, by pointer.  *|
|*  - *Elements belong to the kernel.* A hook takes one coordinate, already in *|
|*    the metric's compute type. The kernel converts an element once for all  *|
|*    queries of a tile, and a new element type needs no metric compiled anew. *|
|*  - *Constants are functions.* What a search fixes reaches the kernel as    *|
|*    functions that return a constant; after link-time inlining they are one. *|
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

/** In C++ an enum without a type of its own may hold no number between or above its rows; these
 * come from callers and files, and are looked at before anything is known of them. */
#ifdef __cplusplus
#define ANNUDF_ENUM_TYPE : int32_t
#else
#define ANNUDF_ENUM_TYPE
#endif

/** The rows of annudf_tables.h as enums: ANNUDF_ELEMENT_F32, ANNUDF_ORDER_MIN, ... */
#define ANNUDF_ROW(PREFIX, NAME, VALUE) ANNUDF_##PREFIX##_##NAME = VALUE,

/** Element type of the stored vectors and of the queries. */
#define ANNUDF_X(NAME, VALUE, SPELLING, BITS, KIND, SINCE) ANNUDF_ROW(ELEMENT, NAME, VALUE)
enum annudf_element ANNUDF_ENUM_TYPE { ANNUDF_ELEMENTS(ANNUDF_X) };
#undef ANNUDF_X

/** Type in which a body sees a coordinate. */
#define ANNUDF_X(NAME, VALUE, SPELLING, BITS, KIND, SINCE) ANNUDF_ROW(COMPUTE, NAME, VALUE)
enum annudf_compute ANNUDF_ENUM_TYPE { ANNUDF_COMPUTE_TYPES(ANNUDF_X) };
#undef ANNUDF_X

/** Type of the accumulator inside the body; the hooks see only its width. */
#define ANNUDF_X(NAME, VALUE, SPELLING, BITS, KIND, SINCE) ANNUDF_ROW(ACCUMULATOR, NAME, VALUE)
#define ANNUDF_X_STRUCT(NAME, VALUE, SPELLING, SINCE) ANNUDF_ROW(ACCUMULATOR, NAME, VALUE)
enum annudf_accumulator ANNUDF_ENUM_TYPE {
  ANNUDF_ACCUMULATORS(ANNUDF_X) ANNUDF_ACCUMULATORS_STRUCT(ANNUDF_X_STRUCT)
};
#undef ANNUDF_X_STRUCT
#undef ANNUDF_X

/** Element type of a capture. */
#define ANNUDF_X(NAME, VALUE, SPELLING, BITS, KIND, SINCE) ANNUDF_ROW(CAPTURE, NAME, VALUE)
enum annudf_capture_element ANNUDF_ENUM_TYPE { ANNUDF_CAPTURE_ELEMENTS(ANNUDF_X) };
#undef ANNUDF_X

/** Which end of the distances is best. */
#define ANNUDF_X(NAME, VALUE, SPELLING, SINCE) ANNUDF_ROW(ORDER, NAME, VALUE)
enum annudf_order ANNUDF_ENUM_TYPE { ANNUDF_ORDERS(ANNUDF_X) };
#undef ANNUDF_X

/** What ranks the lists before the scan. */
#define ANNUDF_X(NAME, VALUE, SPELLING, ORDER, SINCE) ANNUDF_ROW(COARSE, NAME, VALUE)
enum annudf_coarse ANNUDF_ENUM_TYPE { ANNUDF_COARSES(ANNUDF_X) };
#undef ANNUDF_X

/** Whether sums over dimensions may be split. */
#define ANNUDF_X(NAME, VALUE, SPELLING, SINCE) ANNUDF_ROW(NUMERICS, NAME, VALUE)
enum annudf_numerics ANNUDF_ENUM_TYPE { ANNUDF_NUMERICS(ANNUDF_X) };
#undef ANNUDF_X

/** Symbolic extents of a capture. */
#define ANNUDF_X(NAME, VALUE, SPELLING, SINCE) ANNUDF_ROW(EXTENT, NAME, VALUE)
enum annudf_extent ANNUDF_ENUM_TYPE { ANNUDF_EXTENTS(ANNUDF_X) };
#undef ANNUDF_X

/** What a UDF is in a kernel. */
#define ANNUDF_X(NAME, VALUE, SPELLING, SINCE) ANNUDF_ROW(ROLE, NAME, VALUE)
enum annudf_role ANNUDF_ENUM_TYPE { ANNUDF_ROLES(ANNUDF_X) };
#undef ANNUDF_X

/** Hooks of the role scan. */
#define ANNUDF_X(NAME, VALUE, SPELLING, PRESENCE, SINCE) ANNUDF_ROW(HOOK, NAME, VALUE)
enum annudf_hook ANNUDF_ENUM_TYPE { ANNUDF_HOOKS(ANNUDF_X) };
#undef ANNUDF_X

/** What a row's coordinates add to its sum, of a metric for which that is proved. */
#define ANNUDF_X(NAME, VALUE, SPELLING, SINCE) ANNUDF_ROW(PACKED, NAME, VALUE)
enum annudf_packed_term ANNUDF_ENUM_TYPE { ANNUDF_PACKED_TERMS(ANNUDF_X) };
#undef ANNUDF_X

/** Feature bits an artifact may require, as masks; bits that are not known are refused. */
#define ANNUDF_X(NAME, BIT, SPELLING, SINCE) ANNUDF_ROW(FEATURE, NAME, 1 << (BIT))
enum annudf_feature ANNUDF_ENUM_TYPE { ANNUDF_FEATURES(ANNUDF_X) };
#undef ANNUDF_X
#define ANNUDF_FEATURE_MASK(NAME, BIT, SPELLING, SINCE) | (UINT64_C(1) << (BIT))
#define ANNUDF_FEATURES_KNOWN (UINT64_C(0) ANNUDF_FEATURES(ANNUDF_FEATURE_MASK))

/** ANNUDF_MAX_CAPTURES, ... */
#define ANNUDF_X(NAME, VALUE, WHAT) ANNUDF_##NAME = VALUE,
enum annudf_limit ANNUDF_ENUM_TYPE { ANNUDF_LIMITS(ANNUDF_X) };
#undef ANNUDF_X

/** Captures as a scan passes them: slot i belongs to the i-th capture. An array
 * is its address (global memory on a GPU); a scalar its bits, zero-extended. Of 64
 * slots an eighth of a kernel's 4 KiB of parameters is made; hooks see their address.
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
static_assert(sizeof(annudf_slots) == 512, "annudf_slots is part of the ABI");
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
_Static_assert(sizeof(annudf_slots) == 512, "annudf_slots is part of the ABI");
#endif

/*===-- Defined by the metric ---------------------------------------------===*\
|* The hooks of the role scan for accumulators of A and coordinates of X bits: *|
|* ROW(HOOK, SYMBOL, RESULT, (PARAMETERS)). Everything that names a hook or    *|
|* checks a prototype is made from this list. `slots` points at slot 0.        *|
|*   acc    the accumulator                                                    *|
|*   x, y   a coordinate of the query and of the stored vector, in the         *|
|*          metric's compute type                                              *|
|*   dim    which coordinate; each of [0, dims) comes once, in rising order    *|
|*   dims   dimensions of the vectors                                          *|
|*   row    source id of the stored vector, always one that the index holds    *|
|*   query, list  number of the query in its search, however a backend cuts    *|
|*          that into batches; index of the list in the index                  *|
|* init sees neither row nor dim, so that a kernel may call it once a query and *|
|* list. combine joins two accumulators of one query and row, each begun by     *|
|* init and given other dimensions, in rising order; update may go on with what *|
|* it gives. contract says for which descriptor the code was made               *|
|* (docs/spec/abi.md).                                                          *|
\*===----------------------------------------------------------------------===*/
#define ANNUDF_SCAN_HOOKS_a(ROW, A, X)                                         \
  ROW(INIT, annudf1_scan_init_a##A, uint##A##_t,                               \
      (int32_t dims, int32_t query, int32_t list, const uint64_t *slots))      \
  ROW(UPDATE, annudf1_scan_update_a##A##_x##X, uint##A##_t,                    \
      (uint##A##_t acc, uint##X##_t x, uint##X##_t y, int32_t dim,             \
       int32_t dims, int64_t row, int32_t query, int32_t list,                 \
       const uint64_t *slots))                                                 \
  ROW(FINALIZE, annudf1_scan_finalize_a##A, float,                             \
      (uint##A##_t acc, int32_t dims, int64_t row, int32_t query,              \
       int32_t list, const uint64_t *slots))                                   \
  ROW(COMBINE, annudf1_scan_combine_a##A, uint##A##_t,                         \
      (uint##A##_t acc, uint##A##_t other, int32_t dims, int64_t row,          \
       int32_t query, int32_t list, const uint64_t *slots))                    \
  ROW(CONTRACT, annudf1_scan_contract, uint64_t, (void))

/*===-- The same for accumulators of several fields -----------------------===*\
|*   acc    MAX_FIELDS words of A bits of the caller's; field i is word i, one  *|
|*          of 32 bits in a word of 64 its low half, the high half 0. A hook    *|
|*          touches no word past the fields, so that once inlined such words    *|
|*          cost nothing.                                                       *|
\*===----------------------------------------------------------------------===*/
#define ANNUDF_SCAN_HOOKS_s(ROW, A, X)                                         \
  ROW(INIT, annudf1_scan_init_s##A, void,                                      \
      (uint##A##_t *acc, int32_t dims, int32_t query, int32_t list,            \
       const uint64_t *slots))                                                 \
  ROW(UPDATE, annudf1_scan_update_s##A##_x##X, void,                           \
      (uint##A##_t *acc, uint##X##_t x, uint##X##_t y, int32_t dim,            \
       int32_t dims, int64_t row, int32_t query, int32_t list,                 \
       const uint64_t *slots))                                                 \
  ROW(FINALIZE, annudf1_scan_finalize_s##A, float,                             \
      (const uint##A##_t *acc, int32_t dims, int64_t row, int32_t query,       \
       int32_t list, const uint64_t *slots))                                   \
  ROW(COMBINE, annudf1_scan_combine_s##A, void,                                \
      (uint##A##_t *acc, const uint##A##_t *other, int32_t dims, int64_t row,  \
       int32_t query, int32_t list, const uint64_t *slots))                    \
  ROW(CONTRACT, annudf1_scan_contract, uint64_t, (void))

/*===-- The hooks of the role filter --------------------------------------===*\
|*   keep   1 where the query may find the row, else 0. A filter that does not *|
|*          see the query is called once for a row and the values of the       *|
|*          captures, with 0 as query.                                         *|
\*===----------------------------------------------------------------------===*/
#define ANNUDF_FILTER_HOOKS(ROW)                                               \
  ROW(KEEP, annudf1_filter_keep, int32_t,                                      \
      (int32_t dims, int64_t row, int32_t query, int32_t list,                 \
       const uint64_t *slots))                                                 \
  ROW(CONTRACT, annudf1_filter_contract, uint64_t, (void))

/*===-- The hooks of the role pairwise, for coordinates of X bits -----------===*\
|*   x, y     the query and the stored vector, read by the accessors below only *|
|*   scratch  bytes of the pair's own, as many as the descriptor says, aligned  *|
|*            to 8; their values are unknown                                    *|
\*===----------------------------------------------------------------------===*/
#define ANNUDF_PAIRWISE_HOOKS(ROW, X)                                          \
  ROW(DISTANCE, annudf2_distance_x##X, float,                                  \
      (const void *x, const void *y, int32_t dims, int64_t row, int32_t query, \
       int32_t list, const uint64_t *slots, void *scratch))                    \
  ROW(CONTRACT, annudf2_contract, uint64_t, (void))

/*===-- Defined by the scan for them: coordinate `dim` in the compute type --===*/
#define ANNUDF_PAIRWISE_ACCESSORS(ROW, X)                                      \
  ROW(QUERY, annudf2_query_x##X, uint##X##_t, (const void *x, int32_t dim))    \
  ROW(STORED, annudf2_stored_x##X, uint##X##_t, (const void *y, int32_t dim))

/** The hooks of the form F: a, one word by value; s, several by pointer. */
#define ANNUDF_SCAN_HOOKS(ROW, F, A, X) ANNUDF_SCAN_HOOKS_##F(ROW, A, X)

/** WIDTHS(F, A, X): every form and pair of widths that accumulators and compute types have. */
#define ANNUDF_HOOK_WIDTHS(WIDTHS)                                                                 \
  WIDTHS(a, 32, 32) WIDTHS(a, 32, 64) WIDTHS(a, 64, 32) WIDTHS(a, 64, 64)                          \
  WIDTHS(s, 32, 32) WIDTHS(s, 32, 64) WIDTHS(s, 64, 32) WIDTHS(s, 64, 64)

#define ANNUDF_DECLARE_HOOK(HOOK, SYMBOL, RESULT, PARAMETERS) ANNUDF_HOOK RESULT SYMBOL PARAMETERS;
#define ANNUDF_DECLARE_HOOKS(F, A, X) ANNUDF_SCAN_HOOKS(ANNUDF_DECLARE_HOOK, F, A, X)
ANNUDF_HOOK_WIDTHS(ANNUDF_DECLARE_HOOKS)
ANNUDF_FILTER_HOOKS(ANNUDF_DECLARE_HOOK)
ANNUDF_PAIRWISE_HOOKS(ANNUDF_DECLARE_HOOK, 32)
ANNUDF_PAIRWISE_HOOKS(ANNUDF_DECLARE_HOOK, 64)
ANNUDF_PAIRWISE_ACCESSORS(ANNUDF_DECLARE_HOOK, 32)
ANNUDF_PAIRWISE_ACCESSORS(ANNUDF_DECLARE_HOOK, 64)

/*===-- Defined by the runtime for each link ------------------------------===*\
|* ROW(SYMBOL, ENUM): functions that return a value of an enum.                *|
\*===----------------------------------------------------------------------===*/
#define ANNUDF_RUNTIME_CONSTANTS(ROW)                                          \
  ROW(annudf1_row_element, annudf_element)                                     \
  ROW(annudf1_query_element, annudf_element)                                   \
  ROW(annudf1_compute, annudf_compute)

#define ANNUDF_DECLARE_CONSTANT(SYMBOL, ENUM) ANNUDF_HOOK int32_t SYMBOL(void);
ANNUDF_RUNTIME_CONSTANTS(ANNUDF_DECLARE_CONSTANT)

#endif /* ANNUDF_ABI_ANNUDF_ABI_H */
