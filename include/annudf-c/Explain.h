/*===- annudf-c/Explain.h - How a metric comes to a distance ------*- C -*-===*\
|*                                                                            *|
|* Part of the annudf project, under the Apache License v2.0 with LLVM        *|
|* Exceptions. See LICENSE for license information.                           *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* Shows the accumulator of one query and one row after each dimension. It    *|
|* runs the metric's own code, linked as a scan on a CPU is.                  *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef ANNUDF_C_EXPLAIN_H
#define ANNUDF_C_EXPLAIN_H

#include "annudf-c/IvfFlat.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct annudf_explanation annudf_explanation;

/** Which pair it is, as the metric is told; captures are read there. */
typedef struct annudf_explain_options {
  size_t size; /**< sizeof(annudf_explain_options).                             */
  int64_t query_number;
  int64_t row_id;
  int64_t list;
} annudf_explain_options;

/** \param captures    bound for this metric and these dims; NULL if it has none.
 * \param query, row  one vector each, in host memory, of element types that the metric accepts.
 * Coordinates may be NaN or infinite.
 * \param options     may be NULL.
 * \param explanation to be destroyed by annudf_explanation_destroy.
 * ANNUDF_INPUT for a metric without code for CPUs, as one of CUDA source. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_explain(const annudf_artifact *artifact,
                                                  const annudf_captures *captures,
                                                  const annudf_vectors *query,
                                                  const annudf_vectors *row,
                                                  const annudf_explain_options *options,
                                                  annudf_explanation **explanation);

/** How the distance came about. */
typedef struct annudf_explanation_info {
  size_t size;    /**< Of this struct in the library.                                            */
  int64_t steps;  /**< One more than there are dimensions: 0 is after init, d + 1 after d.       */
  int64_t fields; /**< Of the accumulator, 1 where it is no struct.                     */
  const int32_t *types; /**< enum annudf_accumulator of each field.                           */
  const double *values; /**< steps x fields, as numbers; an i64 may be rounded.               */
  const uint64_t *bits; /**< steps x fields: their bits, the lowest of the number.            */
  float distance;       /**< What finalize makes of the last.                                 */
  /** The first dimension after which a field is NaN; -1 where init makes it NaN, the number of
   * dimensions where no field ever is. */
  int64_t first_nan;
} annudf_explanation_info;

ANNUDF_CAPI_EXPORTED const annudf_explanation_info *
annudf_explanation_get(const annudf_explanation *explanation);
ANNUDF_CAPI_EXPORTED void annudf_explanation_destroy(annudf_explanation *explanation);

/** "query 3, row 17: dimension 5 turns the accumulator NaN": the pair that the statistics of a
 * search name, and where it turns NaN if the metric has code for CPUs.
 * \param queries  those of the search, in host memory.
 * \param stats    of the search, with nan_distances above 0.
 * \param text     to be destroyed by annudf_buffer_destroy. */
ANNUDF_CAPI_EXPORTED annudf_status
annudf_ivf_flat_nan_example(const annudf_ivf_flat_index *index, const annudf_artifact *artifact,
                            const annudf_captures *captures, const annudf_vectors *queries,
                            const annudf_ivf_flat_search_stats *stats, annudf_buffer **text);

#ifdef __cplusplus
} // extern "C"
#endif

#endif /* ANNUDF_C_EXPLAIN_H */
