/*===- annudf-c/Columns.h - Values that an index has for its rows -*- C -*-===*\
|*                                                                            *|
|* Part of the annudf project, under the Apache License v2.0 with LLVM        *|
|* Exceptions. See LICENSE for license information.                           *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* A column is a named value of every row of an index. It is given once, with *|
|* the rows; extend, remove, save and load carry it along. A capture of extent*|
|* `row` that is bound to no array reads the column of its name.              *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef ANNUDF_C_COLUMNS_H
#define ANNUDF_C_COLUMNS_H

#include "annudf-c/IvfFlat.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Adds columns to an index whose rows it has, after a build or a load, say.
 * \param backend  of the CUDA device whose memory ids or values are in; may be NULL where none is.
 * \param ids     which row value i of each column is for, each id of the index once. NULL: value i
 *                is for id i.
 * \param values  one a column: its name, and as many values as the index has rows, on a device in C
 *                order. Their dtype is that of the column and of captures that read it.
 * Searches wait. Lists that a device has stay there. ANNUDF_INPUT naming the column for one
 * that the index has, or that has another number of values; the index is then as before. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_ivf_flat_add_columns(annudf_backend *backend,
                                                               annudf_ivf_flat_index *index,
                                                               const annudf_ids *ids,
                                                               const annudf_capture_value *values,
                                                               size_t count);

typedef struct annudf_column {
  size_t size;                    /**< Set by the caller: sizeof(annudf_column).             */
  char name[ANNUDF_MAX_NAME + 1]; /**< Ends with a zero.                                     */
  char dtype[8];                  /**< As annudf_capture_value has it.                       */
} annudf_column;

/** Column `number` of n_columns, which annudf_ivf_flat_get tells; they are sorted by name. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_ivf_flat_column(const annudf_ivf_flat_index *index,
                                                          size_t number, annudf_column *column);

#ifdef __cplusplus
} // extern "C"
#endif

#endif /* ANNUDF_C_COLUMNS_H */
