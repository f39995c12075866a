/*===- annudf-c/BruteForce.h - Exact search and pairwise distances *- C -*-===*\
|*                                                                            *|
|* Part of the annudf project, under the Apache License v2.0 with LLVM        *|
|* Exceptions. See LICENSE for license information.                           *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* Both copy the rows into an index of one list and scan it. Who searches the *|
|* same rows again builds that index once, annudf_ivf_flat_build with one list, *|
|* and searches it with one probe. Rows and queries may have missing values   *|
|* (NaN) where the metric says missing_values.                                *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef ANNUDF_C_BRUTEFORCE_H
#define ANNUDF_C_BRUTEFORCE_H

#include "annudf-c/IvfFlat.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The k best of all rows for each query, best first, as annudf_ivf_flat_search gives them.
 * \param captures  bound for this metric, these dims and, where it reads one entry a row or a
 * query, these rows and queries: an array with more entries than rows is refused. NULL if it has
 * none.
 * \param dataset   in host memory; ids are the numbers of its rows.
 * \param queries   in host memory, of the dataset's dims and an element type that the metric
 * accepts.
 * \param k         1 to ANNUDF_MAX_K and no more than there are rows.
 * \param options   may be NULL.
 * \param ids, distances  queries x k, in host memory.
 * \param stats     may be NULL. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_brute_force_knn(
    annudf_backend *backend, const annudf_artifact *artifact, const annudf_captures *captures,
    const annudf_vectors *dataset, const annudf_vectors *queries, int64_t k,
    const annudf_ivf_flat_search_options *options, int64_t *ids, float *distances,
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

#ifdef __cplusplus
} // extern "C"
#endif

#endif /* ANNUDF_C_BRUTEFORCE_H */
