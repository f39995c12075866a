/*===- annudf-c/Filters.h - Which rows a search may find ----------*- C -*-===*\
|*                                                                            *|
|* Part of the annudf project, under the Apache License v2.0 with LLVM        *|
|* Exceptions. See LICENSE for license information.                           *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* A filter has a bit for every id of an index; a search with it finds rows    *|
|* whose bit is set, as if there were no others. Filters never change and may  *|
|* be used by any number of searches and threads at once.                     *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef ANNUDF_C_FILTERS_H
#define ANNUDF_C_FILTERS_H

#include "annudf-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct annudf_filter annudf_filter;

/** A bitset as cuVS lays it out: bit i % 32 of word i / 32 is set where the row of id i may be
 * found. Copied.
 * \param words  (bits + 31) / 32 of them, in host memory; bits past the last are ignored.
 * \param bits   1 or more; a search asks for as many as its index's largest id and one. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_filter_from_bitset(const uint32_t *words, int64_t bits,
                                                             annudf_filter **filter);

/** The same from bytes, one an id: the row may be found where it is not 0. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_filter_from_bytes(const uint8_t *bytes, int64_t count,
                                                            annudf_filter **filter);

typedef enum annudf_filter_join ANNUDF_ENUM_TYPE {
  ANNUDF_FILTER_AND = 0, /**< Rows that pass both.   */
  ANNUDF_FILTER_OR = 1,  /**< Rows that pass either. */
  ANNUDF_FILTER_NOT = 2  /**< Rows that do not pass `a`; `b` is NULL. */
} annudf_filter_join;

/** One filter of two, or of one. \param how  enum annudf_filter_join.
 * ANNUDF_USAGE for filters of different sizes. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_filter_combine(int32_t how, const annudf_filter *a,
                                                         const annudf_filter *b,
                                                         annudf_filter **filter);

/** What a filter is. */
typedef struct annudf_filter_info {
  size_t size;   /**< Of this struct in the library.     */
  int64_t bits;  /**< Ids that it says something of.     */
  int64_t count; /**< How many of them pass.             */
} annudf_filter_info;

/** NULL for NULL. */
ANNUDF_CAPI_EXPORTED const annudf_filter_info *annudf_filter_get(const annudf_filter *filter);

/** Searches that were enqueued with it go on. */
ANNUDF_CAPI_EXPORTED void annudf_filter_destroy(annudf_filter *filter);

#ifdef __cplusplus
} // extern "C"
#endif

#endif /* ANNUDF_C_FILTERS_H */
