/*===- ScanArgs.h - What the host passes to the compiled scan -----*- C -*-===*\
|*                                                                            *|
|* Part of the annudf project, under the Apache License v2.0 with LLVM        *|
|* Exceptions. See LICENSE for license information.                           *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* Shared by Scan.cpp, which is compiled to bitcode and linked with a metric  *|
|* at run time, and by the CPU backend that calls the result.                 *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef ANNUDF_KERNELS_CPU_SCANARGS_H
#define ANNUDF_KERNELS_CPU_SCANARGS_H

#include "annudf/ABI/annudf_abi.h"

/** Rows of a group, and so bits of a survivor mask (RowStore.h: kGroupRows). */
#define ANNUDF_CPU_GROUP_ROWS 32
/** Most coordinates of a word of 32 bits that have a copy of the hook of their own. */
#define ANNUDF_CPU_MOST_COPIES 4

/** Takes the rows of one group that are not worse than the query's limit.
 * \param i          which of annudf_cpu_scan's queries
 * \param ids        source ids of the group's rows
 * \param distances  of the group's rows; valid where the mask is set
 * \param mask       bit r: row r survived
 * \return the query's limit from now on */
typedef float annudf_cpu_push(void *sink, int32_t i, const int64_t *ids, const float *distances,
                              uint32_t mask);

/** Rows that a scan handed to nobody because their distance was NaN. */
struct annudf_cpu_nan {
  int64_t count;
  int64_t id;    /**< Of the first of them, with `query`, its number in the user's batch. */
  int32_t query; /**< Of the first, too. */
};

/** One list, and the queries that probe it. Or, of a metric whose finalize is asked for
 * (annudf_cpu_finalizes), no list: with size 0 `limit` becomes the distance that finalize makes of
 * the accumulator whose words are at `rows`. */
struct annudf_cpu_scan {
  const uint32_t *rows;  /**< The list's words, as RowStore.h lays them out. */
  const uint32_t *ahead; /**< Fetched towards the end of the list, not read: rows of the next. */
  const int64_t *ids;    /**< Source ids, padded to whole groups. */
  /** What hooks get as row, of each: the ids, or where captures are in another order the places of
   * the rows there. */
  const int64_t *numbers;
  int64_t size; /**< Rows that exist, at least 1; or 0, as above. */
  /** Of each group, bit r: row r may be found. Null: all may. */
  const uint32_t *pass;
  /** Word g * queries + q: the same of group g for query q alone. Null: no query has its own. */
  const uint32_t *queryPass;
  int32_t *chosen; /**< With `queryPass`: memory for the number of each query. */
  int32_t words;   /**< 32-bit words of a row. */
  int32_t dims;
  int32_t list;
  int32_t queries;                 /**< Queries of this call. */
  const void *const *x;            /**< Each query's coordinates, in the metric's compute type. */
  const uint32_t *const *integers; /**< Of elements that are integers the same, each in the lowest
                                        bits of a word; else not read. */
  const int32_t *query;            /**< Index of each query in the user's batch. */
  const uint64_t *slots;           /**< Captures, as annudf_slots. */
  float *limit;                    /**< Worst distance each query still takes; updated. */
  annudf_cpu_push *push;
  void *sink;
  struct annudf_cpu_nan *nan; /**< Grows by what this scan meets; null: nobody counts. */
  void *scratch;              /**< Of this thread's: what a distance of whole vectors writes. */
};

/** Entry points, annudf_cpu_scan_a32_x32 and so on; which one is compiled depends on the
 * form and widths of accumulator and coordinates. */
#ifdef __cplusplus
extern "C" {
#endif
#define ANNUDF_X(F, A, X) void annudf_cpu_scan_##F##A##_x##X(const struct annudf_cpu_scan *scan);
ANNUDF_HOOK_WIDTHS(ANNUDF_X)
#undef ANNUDF_X
uint64_t annudf_cpu_contract(void);
uint64_t annudf_cpu_pairwise_contract(void);

/** The metric's enum annudf_order, and the dims it was specialised for or 0: of the manifest. */
int32_t annudf_cpu_order(void);
int32_t annudf_cpu_dims(void);
/** Rows held in registers at once, 8, 16 or 32; defined when the host is known. */
int32_t annudf_cpu_rows(void);
/** Whether finalize is asked for alone; defined when the metric is known. */
int32_t annudf_cpu_finalizes(void);
/** Whether the accumulator is asked for after each dimension, in place of a scan: words of the
 * first row, from those of init on, go to `sink`, and its distance to `limit`. */
int32_t annudf_cpu_explains(void);
/** Whether hooks see coordinates; a filter's do not. Defined when the code is known. */
int32_t annudf_cpu_updates(void);
/** Whether the metric is a distance of whole vectors; defined when it is known. */
int32_t annudf_cpu_whole(void);
/** Queries that share one read of a group, 4 or 1; defined when the metric is known. */
int32_t annudf_cpu_tile(void);
#ifdef __cplusplus
}
#endif

#endif /* ANNUDF_KERNELS_CPU_SCANARGS_H */
