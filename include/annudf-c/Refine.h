/*===- annudf-c/Refine.h - Candidates ranked again ----------------*- C -*-===*\
|*                                                                            *|
|* Part of the annudf project, under the Apache License v2.0 with LLVM        *|
|* Exceptions. See LICENSE for license information.                           *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* Ranks what another index or a database has found by a metric of your own.  *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef ANNUDF_C_REFINE_H
#define ANNUDF_C_REFINE_H

#include "annudf-c/IvfFlat.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Numbers of rows of a data set, or ids of an index, for each query, row-major. They stay the
 * caller's. */
typedef struct annudf_candidates {
  size_t size;        /**< sizeof(annudf_candidates).                                         */
  const int64_t *ids; /**< rows x columns, in any order; -1: none. A repeated one counts once. */
  int64_t rows;       /**< One for each query.                                                */
  int64_t columns;    /**< Candidates of a query, at least k.                                 */
  annudf_place place; /**< Where ids are.                                                     */
} annudf_candidates;

/** The k best of each query's candidates, best first: to the bit what annudf_brute_force_knn finds
 * among these rows. With fewer than k candidates the rest has id -1 and the worst distance. To
 * hooks all rows are of list 0.
 *
 * With a CUDA backend each array is in host memory or in memory of its device. Streams of dataset
 * and candidates are waited for; with queries on the device the search is enqueued on their stream,
 * and the data set is needed until it is done.
 * \param captures  as of annudf_brute_force_knn.
 * \param dataset   only rows that are candidates are read. In host memory with a CPU backend they
 * must be finite; else coordinates are not looked at. With a CUDA backend rows of the host are all
 * copied to the device, and of rows there candidates, where rows do not begin at multiples of 16
 * bytes.
 * \param queries   of the data set's dims and an element type that the metric accepts.
 * \param k         1 to ANNUDF_MAX_K and no more than columns.
 * \param options   may be NULL; a filter has a bit for each row of the data set.
 * \param ids, distances  queries x k, where the queries are.
 * \param stats     may be NULL.
 * ANNUDF_INPUT naming query and column of an id that is neither -1 nor the number of a row. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_refine(
    annudf_backend *backend, const annudf_artifact *artifact, const annudf_captures *captures,
    const annudf_vectors *dataset, const annudf_vectors *queries,
    const annudf_candidates *candidates, int64_t k, const annudf_ivf_flat_search_options *options,
    int64_t *ids, float *distances, annudf_ivf_flat_search_stats *stats);

/** The same among the rows of an index, IVF-Flat or of annudf_brute_force_build: candidates are ids
 * of its rows. To the bit the result is that of annudf_ivf_flat_search with all lists probed and a
 * filter of the candidates, but to hooks all rows are of list 0.
 *
 * With a CUDA backend queries and candidates are in host memory or in memory of its device each,
 * and rows are read in the device's copy of the index, which the first search makes.
 * \param captures  as of annudf_ivf_flat_search, with columns of the index.
 * \param k, ids, distances, stats  as of annudf_refine.
 * \param options   may be NULL; a filter has a bit for each id of the index.
 * ANNUDF_INPUT naming query and column of a candidate that is neither -1 nor an id of the index, or
 * an id that several rows of the index have. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_ivf_flat_refine(
    annudf_backend *backend, const annudf_ivf_flat_index *index, const annudf_artifact *artifact,
    const annudf_captures *captures, const annudf_vectors *queries,
    const annudf_candidates *candidates, int64_t k, const annudf_ivf_flat_search_options *options,
    int64_t *ids, float *distances, annudf_ivf_flat_search_stats *stats);

#ifdef __cplusplus
} // extern "C"
#endif

#endif /* ANNUDF_C_REFINE_H */
