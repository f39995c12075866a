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

/** Feature bits an artifact may require; unknown bits are refused. */
#define ANNUDF_FEATURE_FINALIZE (UINT64_C(1) << 0) /* has its own finalize */
#define ANNUDF_FEATURE_CAPTURES (UINT64_C(1) << 1) /* has captures to bind */
#define ANNUDF_FEATURE_ACC64 (UINT64_C(1) << 2)    /* 64-bit accumulator   */
#define ANNUDF_FEATURES_KNOWN                                                  \
  (ANNUDF_FEATURE_FINALIZE | ANNUDF_FEATURE_CAPTURES | ANNUDF_FEATURE_ACC64)

/** Most captures of one metric: the slots of annudf_slots. */
#define ANNUDF_MAX_CAPTURES 16

/** Element type of the stored vectors and of the queries. */
enum annudf_element {
  ANNUDF_ELEMENT_F32 = 0, /* 1 coordinate a word */
  ANNUDF_ELEMENT_F16 = 1, /* 2, the lower half is the lower dimension */
  ANNUDF_ELEMENT_I8 = 2,  /* 4, least significant byte first */
  ANNUDF_ELEMENT_U8 = 3   /* 4 */
};

/** Which end of the distances is best. */
enum annudf_order { ANNUDF_ORDER_MIN = 0, ANNUDF_ORDER_MAX = 1 };

/** What ranks the lists before the scan. */
enum annudf_coarse {
  ANNUDF_COARSE_L2 = 0,            /* sum (q - c)^2             */
  ANNUDF_COARSE_INNER_PRODUCT = 1, /* sum q c                   */
  ANNUDF_COARSE_COSINE = 2         /* 1 - sum q c / (|q| |c|)   */
};

/** Type of the accumulator inside the body; the hooks see only its width. */
enum annudf_accumulator {
  ANNUDF_ACCUMULATOR_F32 = 0,
  ANNUDF_ACCUMULATOR_F64 = 1,
  ANNUDF_ACCUMULATOR_I32 = 2,
  ANNUDF_ACCUMULATOR_U32 = 3
};

/** Symbolic extents of a capture. */
enum annudf_extent {
  ANNUDF_EXTENT_CONSTANT = 0, /* a number in the type */
  ANNUDF_EXTENT_DIM = 1,      /* one entry a dimension */
  ANNUDF_EXTENT_ROW = 2,      /* one entry a source row */
  ANNUDF_EXTENT_QUERY = 3     /* one entry a query */
};

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
