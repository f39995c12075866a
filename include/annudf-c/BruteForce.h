/*===- annudf-c/BruteForce.h - Exact search and pairwise distances *- C -*-===*\
|*                                                                            *|
|* Part of the annudf project, under the Apache License v2.0 with LLVM        *|
|* Exceptions. See LICENSE for license information.                           *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* Every row is looked at. A store of rows is an index of one list, made       *|
|* without k-means, that annudf_ivf_flat_search searches with one probe. Rows *|
|* and queries may have missing values (NaN) where the metric says            *|
|* missing_values.                                                            *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef ANNUDF_C_BRUTEFORCE_H
#define ANNUDF_C_BRUTEFORCE_H

#include "annudf-c/IvfFlat.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct annudf_brute_force_build_options {
  size_t size;            /**< sizeof(annudf_brute_force_build_options).                   */
  int32_t threads;        /**< On the host; 0: all cores.                                  */
  int32_t missing_values; /**< Not 0: a coordinate of floats may be NaN.                   */
  /** Not 0: rows are not copied, but stay where they are on the host, and as they are, as long as
   * the index. A search on the host stores some 64 MiB of them at a time: for one search, or few.
   * Who needs a list, as a GPU or annudf_ivf_flat_extend does, makes a copy. */
  int32_t in_place;
  annudf_progress progress; /**< May be NULL; stage "add".                                  */
  void *progress_user;      /**< Handed to it.                                               */
} annudf_brute_force_build_options;

/** Stores rows for exact searches; without in_place they are needed no longer afterwards.
 * \param backend  a CUDA backend: the store is on its device alone until the host needs it. Rows in
 * its memory do not leave it, rows in host memory go there a piece at a time. NULL or a CPU
 * backend: the store is in host memory, as the rows must be.
 * \param dataset  in host memory, or in memory of the backend's device; its stream is waited for.
 * \param ids      one for each row, all different, in host memory or in memory of the backend's
 * device. NULL: the numbers of the rows.
 * \param options  may be NULL.
 * \param index    of one list; to be destroyed by annudf_ivf_flat_destroy.
 * \param stats    may be NULL; of a store on a device.
 * ANNUDF_USAGE for in_place with rows or a store on a device.
 * ANNUDF_INPUT for no rows, a coordinate that is not finite, and ids that are below 0 or repeated.
 * ANNUDF_ENVIRONMENT where there is no room for all rows. */
ANNUDF_CAPI_EXPORTED annudf_status
annudf_brute_force_build(annudf_backend *backend, const annudf_vectors *dataset,
                         const annudf_ids *ids, const annudf_brute_force_build_options *options,
                         annudf_ivf_flat_index **index, annudf_ivf_flat_build_stats *stats);

/** The k best of all rows for each query, best first, as annudf_ivf_flat_search gives them. A piece
 * of the rows at a time is stored, on the CPU of some 64 MiB, and searched; on a GPU all of them
 * where it has room.
 * \param captures  bound for this metric, these dims and, where it reads one entry a row or a
 * query, these rows and queries: an array with more entries than rows is refused. NULL if it has
 * none.
 * \param dataset   ids are the numbers of its rows. In host memory or, with a CUDA backend, in
 * memory of its device, where a copy in another layout is made and its stream is waited for.
 * \param queries   of the dataset's dims and an element type that the metric accepts, in host
 * memory or, with a CUDA backend, in memory of its device. Then all rows must have room there at
 * once, and the search is enqueued, as by annudf_ivf_flat_search.
 * \param k         1 to ANNUDF_MAX_K and no more than there are rows.
 * \param options   may be NULL.
 * \param ids, distances  queries x k, where the queries are.
 * \param stats     may be NULL. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_brute_force_knn(
    annudf_backend *backend, const annudf_artifact *artifact, const annudf_captures *captures,
    const annudf_vectors *dataset, const annudf_vectors *queries, int64_t k,
    const annudf_ivf_flat_search_options *options, int64_t *ids, float *distances,
    annudf_ivf_flat_search_stats *stats);

/** All rows of `dataset` within a radius of each query, as annudf_ivf_flat_radius_search gives
 * them.
 * \param captures, dataset  as of annudf_brute_force_knn.
 * \param queries            in host memory. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_brute_force_radius_search(
    annudf_backend *backend, const annudf_artifact *artifact, const annudf_captures *captures,
    const annudf_vectors *dataset, const annudf_vectors *queries, float radius, int64_t max_results,
    const annudf_ivf_flat_search_options *options, annudf_radius_result **result,
    annudf_ivf_flat_search_stats *stats);

/** Every distance, of x[i] (the metric's first argument) and y[j] at distances[i * y->rows + j];
 * NaN where the metric says so.
 * \param captures   as annudf_brute_force_knn.
 * \param x, y       in host memory, of the same dims and element types that the metric accepts.
 * \param options    may be NULL; its filter must be.
 * \param distances  x->rows x y->rows, in host memory.
 * \param stats      may be NULL. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_pairwise_distance(
    annudf_backend *backend, const annudf_artifact *artifact, const annudf_captures *captures,
    const annudf_vectors *x, const annudf_vectors *y, const annudf_ivf_flat_search_options *options,
    float *distances, annudf_ivf_flat_search_stats *stats);

/** What several searches have found for the same queries. */
typedef struct annudf_partial_results {
  size_t size;                 /**< sizeof(annudf_partial_results).                             */
  const int64_t *ids;          /**< parts x queries x k, in any order within k.                 */
  const float *distances;      /**< The same.                                                   */
  int64_t parts, queries, k;   /**< Of `parts` searches of these queries, k results each.       */
  const int64_t *translations; /**< In host memory, one a part, 0 or above: added to its ids.
                                    NULL: ids are as they are.                                  */
  int32_t order;               /**< enum annudf_order.                                          */
  int32_t threads;             /**< Of a merge on the host; 0: all cores.                       */
  annudf_place place;          /**< Where ids and distances are.                                */
} annudf_partial_results;

/** The k best of all parts for each query, best first: of shards, or of pieces of rows. Equal
 * distances (-0 equals +0) are ordered by id, the lower first. An id below 0 and a NaN distance are
 * no result. Where there are fewer than k the rest has id -1 and the worst distance. An id that
 * several parts have is in the result as often.
 * \param backend  for memory of a device its backend: the merge is enqueued on the stream without
 * waiting. May be NULL for host memory.
 * \param k        1 to ANNUDF_MAX_K.
 * \param ids, distances  queries x k, where the parts are and apart from them.
 * ANNUDF_INPUT for an id in host memory that its translation takes beyond INT64_MAX; on a device
 * ids are not looked at. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_merge_parts(annudf_backend *backend,
                                                      const annudf_partial_results *parts,
                                                      int64_t k, int64_t *ids, float *distances);

#ifdef __cplusplus
} // extern "C"
#endif

#endif /* ANNUDF_C_BRUTEFORCE_H */
