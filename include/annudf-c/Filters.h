/*===- annudf-c/Filters.h - Which rows a search may find ----------*- C -*-===*\
|*                                                                            *|
|* Part of the annudf project, under the Apache License v2.0 with LLVM        *|
|* Exceptions. See LICENSE for license information.                           *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* A filter has a bit for every id of an index, or says for each query which  *|
|* rows it may find; a search with it finds these, as if there were no others. *|
|* Filters never change and may be used by any number of searches and threads *|
|* at once.                                                                   *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef ANNUDF_C_FILTERS_H
#define ANNUDF_C_FILTERS_H

#include "annudf-c/Captures.h"
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

/** A bit for every query and id, as cuVS lays out a bitmap: bit i of the words is bit i % 32 of
 * word i / 32, and query q may find the row of id i if bit q * bits + i is set. Copied.
 * \param words    (queries * bits + 31) / 32 of them, in host memory.
 * \param queries  as many as a search with it has: ANNUDF_USAGE of the search if not.
 * \param bits     as for annudf_filter_from_bitset, at most 2^35. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_filter_from_bitmap(const uint32_t *words, int64_t queries,
                                                             int64_t bits, annudf_filter **filter);

/** An annudf.filter that each search computes, for the candidates of each query. That is how a
 * filter runs that sees the query; annudf_ivf_flat_filter computes another one once for all
 * searches.
 * \param artifact  of role ANNUDF_ROLE_FILTER; ANNUDF_INPUT for a metric. Copied.
 * \param captures  bound for this filter, the index and the queries of the searches: their
 * ANNUDF_USAGE if not. NULL if it has none. Destroying the handle is allowed; an array with a
 * `release` is let go when the filter and its searches are done. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_filter_from_code(const annudf_artifact *artifact,
                                                           const annudf_captures *captures,
                                                           annudf_filter **filter);

typedef enum annudf_filter_join ANNUDF_ENUM_TYPE {
  ANNUDF_FILTER_AND = 0, /**< Rows that pass both.   */
  ANNUDF_FILTER_OR = 1,  /**< Rows that pass either. */
  ANNUDF_FILTER_NOT = 2  /**< Rows that do not pass `a`; `b` is NULL. */
} annudf_filter_join;

/** One filter of two, or of one. \param how  enum annudf_filter_join.
 * Filters of any kind can be joined. ANNUDF_USAGE for filters of different numbers of bits or
 * queries. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_filter_combine(int32_t how, const annudf_filter *a,
                                                         const annudf_filter *b,
                                                         annudf_filter **filter);

/** What a filter is. */
typedef struct annudf_filter_info {
  size_t size;        /**< Of this struct in the library.                                   */
  int64_t bits;       /**< Ids that its bits say something of; 0 if it is code alone.       */
  int64_t count;      /**< How many of them pass; -1 if each query has its own.             */
  int32_t sees_query; /**< 1 if searches compute it for each query, else 0.            */
  int64_t queries;    /**< Queries of a search that it is for; 0: any number.          */
} annudf_filter_info;

/** NULL for NULL. */
ANNUDF_CAPI_EXPORTED const annudf_filter_info *annudf_filter_get(const annudf_filter *filter);

/** Searches that were enqueued with it go on. */
ANNUDF_CAPI_EXPORTED void annudf_filter_destroy(annudf_filter *filter);

#ifdef __cplusplus
} // extern "C"
#endif

#endif /* ANNUDF_C_FILTERS_H */
