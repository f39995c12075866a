/*===- annudf-c/Captures.h - Values of captures -------------------*- C -*-===*\
|*                                                                            *|
|* Part of the annudf project, under the Apache License v2.0 with LLVM        *|
|* Exceptions. See LICENSE for license information.                           *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* Binds values to the captures of a metric. annudf-c/Support.h has the rules *|
|* of all calls. Bound captures do not change.                                *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef ANNUDF_C_CAPTURES_H
#define ANNUDF_C_CAPTURES_H

#include "annudf-c/Artifact.h"

#ifdef __cplusplus
extern "C" {
#endif

/*===-- Captures ----------------------------------------------------------===*/

/** What the symbolic extents of captures stand for. */
typedef struct annudf_extents {
  size_t size;     /**< sizeof(annudf_extents).                                              */
  int64_t dims;    /**< Extent `dim`: of the index that will be searched.                    */
  int64_t rows;    /**< Extent `row`: more than its largest id; 0 if no capture has it.      */
  int64_t queries; /**< Extent `query`: queries of one search; 0 if no capture has it.       */
} annudf_extents;

/** A value for one capture. */
typedef struct annudf_capture_value {
  size_t size;            /**< sizeof(annudf_capture_value).                                 */
  const char *name;       /**< Of the capture.                                               */
  const char *dtype;      /**< f16 bf16 f32 f64, i8 to i64, u8 to u64, b1 (a byte, 0 or 1).  */
  const int64_t *shape;   /**< `rank` extents; NULL for a scalar.                            */
  const int64_t *strides; /**< `rank` steps in bytes, of any sign; NULL: C order, no gaps.   */
  int32_t rank;           /**< 0: a scalar.                                                  */
  const void *data;       /**< The first element; on a device at a multiple of its size.     */
  /** Where `data` is. Its stream is 0: a search reads captures on the stream of its queries, so
   * what writes the array is done, or comes before the search there. */
  annudf_place place;
  size_t bytes;       /**< Of `data`; with strides it is not looked at.                  */
  const char *origin; /**< Where it came from, for messages; NULL: "the caller".         */
  /** Called with `owner` when `data` is needed no longer, from any thread: after the captures are
   * destroyed and every search with them is done, or when binding fails. It must not throw. NULL:
   * device memory outlives them by itself, host memory is copied. An array in host memory with it
   * stays unchanged, and is not copied where it needs no conversion. */
  void (*release)(void *owner);
  void *owner; /**< Handed to it. */
} annudf_capture_value;

struct annudf_ivf_flat_index;

typedef struct annudf_captures_options {
  size_t size;              /**< sizeof(annudf_captures_options).                            */
  int32_t allow_non_finite; /**< Not 0: also inf and NaN.                                    */
  /** Not NULL: for searches of this index, whose dims and rows take the place of those of the
   * extents. A capture of extent `row` alone that is not among the values reads the column of its
   * name (annudf-c/Columns.h), of its element type. The captures follow the index: after an extend
   * or a remove they are for the rows that there are then. */
  const struct annudf_ivf_flat_index *index;
} annudf_captures_options;

/** Values of all captures of a metric, checked and bound. */
typedef struct annudf_captures annudf_captures;

/** Binds a value to each capture that the metric declares.
 * \param extents  may be NULL with an index, if no capture has extent `query`.
 * \param values   may be NULL if there are none.
 * \param options  may be NULL.
 * Host values are copied unless `release` is set, and converted once where every entry converts
 * exactly (a scalar: to the nearest value). Device memory is used as it is: it has the declared
 * type and C order, stays unchanged, and what it holds is not checked; only a backend of that
 * device takes it. ANNUDF_USAGE for a capture that is missing or unknown; ANNUDF_INPUT naming the
 * capture, its origin and the first entry at fault. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_captures_bind(const annudf_artifact *artifact,
                                                        const annudf_extents *extents,
                                                        const annudf_capture_value *values,
                                                        size_t count,
                                                        const annudf_captures_options *options,
                                                        annudf_captures **captures);

/** SHA-256 of declarations, extents and host values, 64 hexadecimal digits; lives as long as
 * `captures`. "" for NULL. Bound device memory has another digest at every bind. */
ANNUDF_CAPI_EXPORTED const char *annudf_captures_digest(const annudf_captures *captures);

ANNUDF_CAPI_EXPORTED void annudf_captures_destroy(annudf_captures *captures);

#ifdef __cplusplus
} // extern "C"
#endif

#endif /* ANNUDF_C_CAPTURES_H */
