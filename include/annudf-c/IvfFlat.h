/*===- annudf-c/IvfFlat.h - IVF-Flat indexes ----------------------*- C -*-===*\
|*                                                                            *|
|* Part of the annudf project, under the Apache License v2.0 with LLVM        *|
|* Exceptions. See LICENSE for license information.                           *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* Builds an IVF-Flat index and searches it, on CPUs and on GPUs.             *|
|* annudf-c/Support.h has the rules of all calls.                             *|
|*                                                                            *|
|* An index may be used by any number of threads: searches share it, extend   *|
|* and remove wait until those that run have ended and hold up those that     *|
|* come.                                                                      *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef ANNUDF_C_IVFFLAT_H
#define ANNUDF_C_IVFFLAT_H

#include "annudf-c/Captures.h"
#include "annudf-c/Device.h"
#include "annudf-c/Filters.h"

#ifdef __cplusplus
extern "C" {
#endif

/*===-- The index ---------------------------------------------------------===*/

typedef struct annudf_ivf_flat_index annudf_ivf_flat_index;

/** Names and defaults as in cuvs::neighbors::ivf_flat::index_params. */
typedef struct annudf_ivf_flat_build_options {
  size_t size;    /**< sizeof(annudf_ivf_flat_build_options).                        */
  int32_t metric; /**< enum annudf_coarse that k-means clusters by.         */
  /** 1 to ANNUDF_MAX_KMEANS_N_ITERS; 0: ANNUDF_DEFAULT_KMEANS_N_ITERS. */
  int32_t kmeans_n_iters;
  /** Above 0, at most 1; 0: ANNUDF_DEFAULT_KMEANS_TRAINSET_FRACTION. */
  double kmeans_trainset_fraction;
  uint64_t seed;            /**< 0: ANNUDF_DEFAULT_SEED.                              */
  int32_t threads;          /**< 0: all cores. Kept for annudf_ivf_flat_extend.          */
  annudf_progress progress; /**< May be NULL.                                         */
  void *progress_user;      /**< Handed to it.                                        */
  /** Not 0: every extend and remove, and the build itself, moves the centers to the means of the
   * rows in their lists (of length 1 for inner product and cosine), in place of leaving them where
   * k-means put them. Rows stay in the list that they joined. */
  int32_t adaptive_centers;
  int32_t train_only; /**< Not 0: no row is added. Extend adds some later.                  */
  /** Not 0: a coordinate of the base, of rows that extend adds and of queries may be NaN, which
   * stands for a missing value. Lists are made and ranked by the mean of the base's values of that
   * dimension in its place. Such an index is searched by metrics that say missing_values, such as
   * the built-in nan_euclidean. For f32, f16 and bf16 only. */
  int32_t missing_values;
  /** Bytes of the device that a build there of rows in host memory may use; 0: nine tenths of what
   * is free there. ANNUDF_USAGE where anything else builds. */
  uint64_t device_memory_limit;
} annudf_ivf_flat_build_options;

/** What a build on a device cost; milliseconds. Fields beyond `size` are not touched. */
typedef struct annudf_ivf_flat_build_stats {
  size_t size;     /**< Set by the caller: sizeof(annudf_ivf_flat_build_stats).          */
  double train_ms; /**< Centers, and the look at all coordinates.                       */
  double add_ms;   /**< Rows to their lists.                                            */
  /** For rows in host memory: the time in which the rows went to the device where all went at once;
   * the pieces in which they went, 1 where all went at once; the bytes that it took there at most;
   * whether the lists are there (1) or, where it was too small for them, on the host (0). */
  double copy_ms;
  int64_t pieces;
  uint64_t device_bytes;
  int32_t lists_on_device;
} annudf_ivf_flat_build_stats;

/** Trains the centers of `n_lists` lists and adds every row, with ids from 0.
 * \param backend  where it is built. NULL or a CPU backend: on the host. A CUDA backend: on its
 * device; equal rows, options and seeds give equal indexes, whose centers are not to the bit those
 * of the host. The lists stay on that device, where searches need no copy, until the host needs
 * them: saving, changing and searching elsewhere copy them there, once.
 * \param base     may be freed at once after. In host memory, or in memory of the CUDA backend's
 * device, whose stream is waited for. Rows in host memory may be more than the device holds: where
 * rows, sort and lists have no room together within device_memory_limit, rows go there a piece at a
 * time, twice; where the lists alone have none they are made on the host. The index is the same to
 * the byte.
 * \param n_lists  1 to ANNUDF_MAX_LISTS and no more than there are rows; 0: the root of the number
 * of rows, or 1 for fewer than 1000.
 * \param options  may be NULL.
 * \param stats    may be NULL; all 0 where the host builds.
 * ANNUDF_INPUT naming row and dim of a coordinate that is not finite, or infinite where NaN is a
 * missing value. ANNUDF_USAGE for a limit below what k-means takes (ANNUDF_ENVIRONMENT where it is
 * what is free), naming what is enough. */
ANNUDF_CAPI_EXPORTED annudf_status
annudf_ivf_flat_build(annudf_backend *backend, const annudf_vectors *base, int64_t n_lists,
                      const annudf_ivf_flat_build_options *options, annudf_ivf_flat_index **index,
                      annudf_ivf_flat_build_stats *stats);

typedef struct annudf_ivf_flat_extend_options {
  size_t size;              /**< sizeof(annudf_ivf_flat_extend_options).                       */
  annudf_progress progress; /**< May be NULL.                                               */
  void *progress_user;      /**< Handed to it.                                              */
  /** Not 0: ids may be given twice and be in the index already; a search reports each such row. */
  int32_t allow_repeated_ids;
  /** Values of the columns of the index, for all of them; value i is for row i. In host memory, or
   * in C order in memory of the CUDA backend's device. The first rows of an index without columns
   * decide which ones it has. */
  const annudf_capture_value *columns;
  size_t n_columns; /**< 0: none. */
} annudf_ivf_flat_extend_options;

/** Adds rows of the index's element type and dims.
 * \param backend  NULL or a CPU backend: on the host. A CUDA backend whose device has the index's
 * lists (annudf_ivf_flat_device): the rows find their lists there and the lists stay there, the
 * same as the host would have made them; searches that were enqueued before read those of before.
 * It takes room for both. An index whose lists are on the host is extended on the host.
 * \param rows     may be freed at once after. In host memory, or in memory of the CUDA backend's
 * device, whose stream is waited for.
 * \param ids      one for each row, in host memory or in memory of the CUDA backend's device. NULL:
 * they go on from the one above the index's largest, or from 0.
 * \param options  may be NULL.
 * If it fails the index is as before. ANNUDF_INPUT naming the first row whose id another new row
 * or the index has, and a column that is missing, unknown, of another dtype, or has another number
 * of values. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_ivf_flat_extend(
    annudf_backend *backend, annudf_ivf_flat_index *index, const annudf_vectors *rows,
    const annudf_ids *ids, const annudf_ivf_flat_extend_options *options);

/** The CUDA device that built the index and has its lists; -1: the host has them. It waits for an
 * extend under way; -1 for NULL. */
ANNUDF_CAPI_EXPORTED int32_t annudf_ivf_flat_device(const annudf_ivf_flat_index *index);

/** Removes every row that has one of these ids. The others keep their ids, the lists are as if they
 * alone had been added, and adaptive centers move to the means of what is left. A list, and the
 * index, may end up without rows; an index without rows can be extended, saved and loaded, and a
 * search of it is refused.
 * \param backend   as of annudf_ivf_flat_extend. Where its device has no room for the lists before
 * and after, rows are removed on the host, and an index that has no rows left is on the host.
 * \param ids       in host memory or in memory of the CUDA backend's device, in any order. One that
 * no row has, or that is given twice, is passed over.
 * \param progress  may be NULL.
 * \param removed   how many rows went, of which several may share an id; may be NULL.
 * If it fails the index is as before. ANNUDF_INPUT naming an id below 0. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_ivf_flat_remove(annudf_backend *backend,
                                                          annudf_ivf_flat_index *index,
                                                          const annudf_ids *ids,
                                                          annudf_progress progress,
                                                          void *progress_user, int64_t *removed);

/** Writes one file, whole or not at all; a file that it replaces hands on its permissions. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_ivf_flat_save(const annudf_ivf_flat_index *index,
                                                        const char *path, annudf_progress progress,
                                                        void *progress_user);

/** ANNUDF_INPUT naming the fault of a file that is missing, foreign, cut short or damaged.
 * \param mmap  not 0: rows stay in the file, which is mapped. A search on the CPU reads the lists
 * that it probes, so the index may be larger than memory. Ids and columns are read. No digest but
 * the header's is compared, and a file that is cut short later ends the process. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_ivf_flat_load(const char *path, int32_t mmap,
                                                        annudf_ivf_flat_index **index);

/** What an index is. */
typedef struct annudf_ivf_flat_info {
  size_t size; /**< Set by the caller: sizeof(annudf_ivf_flat_info).                   */
  int64_t rows, dims, n_lists;
  int32_t element; /**< enum annudf_element of the rows.                                   */
  int32_t metric;  /**< enum annudf_coarse that its k-means clustered by.                  */
  int32_t adaptive_centers; /**< Not 0: every extend and remove moves the centers.              */
  int32_t missing_values;   /**< Not 0: coordinates of rows and queries may be NaN.             */
  /** Another number after every build, load and extend, and every remove of a row, in this
   * process. */
  uint64_t generation;
  size_t n_columns; /**< annudf_ivf_flat_column tells of each.                              */
} annudf_ivf_flat_info;

/** Whether a search of so many rows may ask for k of them, as every search checks by itself: for
 * who makes room for results first. ANNUDF_USAGE unless 1 <= k <= ANNUDF_MAX_K and k <= rows.
 * \param rows  INT64_MAX where it is not known. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_check_k(int64_t k, int64_t rows);

/** It never waits, not even for an extend or a remove. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_ivf_flat_get(const annudf_ivf_flat_index *index,
                                                       annudf_ivf_flat_info *info);

/** What captures must be bound for to search this index as it is now: its dims and one row
 * more than its largest id; queries is left at 0. It waits for an extend under way. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_ivf_flat_extents(const annudf_ivf_flat_index *index,
                                                           annudf_extents *extents);

/** Copies the centers, n_lists x dims. Adaptive ones wait for an extend under way.
 * \param count  floats that `centers` has room for: ANNUDF_USAGE if it is not just as many. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_ivf_flat_centers(const annudf_ivf_flat_index *index,
                                                           float *centers, size_t count);

/** Copies the id of each row, list by list. It waits for an extend or a remove under way.
 * \param count  ids that there is room for: ANNUDF_USAGE if it is not the number of rows. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_ivf_flat_ids(const annudf_ivf_flat_index *index,
                                                       int64_t *ids, size_t count);

ANNUDF_CAPI_EXPORTED void annudf_ivf_flat_destroy(annudf_ivf_flat_index *index);

/*===-- Searching ---------------------------------------------------------===*/

/** How long one stage of a search took, in milliseconds, all of its batches together. */
typedef struct annudf_ivf_flat_stage {
  char name[16]; /**< "coarse", "select", "sort", "scan", "finish". */
  double ms;
} annudf_ivf_flat_stage;

enum { ANNUDF_MOST_STAGES = 8 }; /**< Of a search. */

/** What a call cost; milliseconds. Fields beyond `size` are not touched. */
typedef struct annudf_ivf_flat_search_stats {
  size_t size; /**< Set by the caller: sizeof(annudf_ivf_flat_search_stats).                    */
  double link_ms;   /**< Making the kernels of metric and element type, or reading them from
                         disk; 0 when they are in memory.                                   */
  double upload_ms; /**< Copying the index to the device; 0 when it is there.               */
  double search_ms; /**< The search itself; 0 where it was only enqueued.                   */
  int32_t links;    /**< Kernels made by this call; 2 on a GPU where the search has two kernels
                         that are linked.                                                   */
  /** The kernels that ran the search ("groups", "parts", "pairs", "tiles", "staged",
   * "staged_granules", "packed", "packed_granules", "matrix", "matrix_mma"), and why these; of its
   * first batch. Cut where they are longer. "" where nothing was searched. */
  char family[16];
  char why[176];
  /** Kernels that this call found made, in the cache on disk; on a GPU. */
  int32_t disk_hits;
  /** Why that cache was no use to this call, cut where it is longer: a folder that someone else may
   * write to, a disk that is full. "" where it was, where nothing was asked of it, or where it is
   * switched off. The search is not harmed. */
  char cache_fault[252];
  /** Rows in the lists that a query probed, the mean; 0 unless time_stages. */
  double rows_per_query;
  /** In the order in which they ran. */
  annudf_ivf_flat_stage stages[ANNUDF_MOST_STAGES];
  int32_t n_stages; /**< Of `stages`; 0 unless time_stages. */
  /** Rows of rows_per_query that the metric's own code computed, the mean; 0 unless time_stages.
   * Fewer by family "matrix", where bounds rule most out; on a GPU in granules of 8 rows. */
  double evaluated_per_query;
  /** What of the metric a CPU computes for one row at a time, which is several times slower, cut
   * where it is longer: "computed one row at a time: fmod". "" where there is nothing.
   * annudf_backend_precompile tells it too. */
  char slow[176];
  /** Bytes of the device's memory that the workspace holds which ran the search, and which a later
   * search takes again; 0 on a CPU, and of a prepared search. */
  uint64_t workspace_bytes;
  /** Of the rows, those that the filter lets pass, by its bits: one of what `family` was chosen by.
   * An estimate from above where ids that no row has pass too; 1 without a filter. */
  double passing_share;
  /** Pairs of a query and a row of the lists that it probed which the filter lets pass. On a GPU
   * an estimate, by the mean size of lists and the filter's share, unless all lists are probed. */
  int64_t scored;
  /** Those of them whose distance was NaN, so that the row is never found. A row that a bound of
   * family "matrix" rules out, and one that a CPU leaves before its last dimension, has no distance
   * and does not count. A search of queries on a device without time_stages tells of earlier such
   * searches with this metric that were not told of; so does its `scored`. */
  int64_t nan_distances;
  /** One such pair: the number of its query and the id of its row; -1 where there is none.
   * annudf_ivf_flat_nan_example says where it turns NaN. */
  int64_t nan_query;
  int64_t nan_row;
  int64_t widened; /**< Queries that searched more lists than n_probes; see max_probes. */
} annudf_ivf_flat_search_stats;

/** A second metric, which ranks the rows that the search's own metric finds. */
typedef struct annudf_second_phase {
  size_t size; /**< sizeof(annudf_second_phase).                                                */
  const annudf_artifact *artifact;
  const annudf_captures *captures; /**< Bound as for a search of the index; NULL if it has none. */
  /** The search's own metric finds k times ratio rows for each query, rounded up; 1 or more. With
   * min_rows above k it finds min_rows times ratio, and with group_by at least 4 k times ratio. */
  double ratio;
  /** Statistics of the second phase; may be NULL. Those of the search are of the first phase. */
  annudf_ivf_flat_search_stats *stats;
} annudf_second_phase;

/** The group of each row, such as the document of a passage. Give either `of` or `column`. */
typedef struct annudf_groups {
  size_t size;        /**< sizeof(annudf_groups).                                             */
  const int64_t *of;  /**< of[i] is the group of the row with id i; in host memory.           */
  int64_t entries;    /**< Length of `of`: at least the largest id of the index plus 1.       */
  const char *column; /**< Name of a column of the index, of integers.                        */
} annudf_groups;

typedef struct annudf_ivf_flat_search_options {
  size_t size; /**< sizeof(annudf_ivf_flat_search_options).                             */
  annudf_progress progress; /**< Between batches of queries; may be NULL.                   */
  void *progress_user;      /**< Handed to it.                                              */
  /** Rows that may be found; NULL: all. It has a bit for every id: ANNUDF_USAGE where the index's
   * largest is past its last. May be destroyed at once after the call. */
  const annudf_filter *filter;
  /** Not 0: stages, rows_per_query and evaluated_per_query of the statistics are filled. A search
   * that would only be enqueued is waited for. */
  int32_t time_stages;
  /** The kernels to run, by a name that the statistics' `family` may have; NULL or "": the
   * quickest, as the backend judges. ANNUDF_USAGE naming those of the backend where it has none of
   * the name; ANNUDF_INPUT naming the reason where that one cannot run this search: another never
   * takes its place. Read during the call only. */
  const char *family;
  /** Not 0: searches of queries on a device, prepared ones too, count no pairs: their
   * `scored` and `nan_distances` are 0. For metrics that are NaN on purpose. */
  int32_t skip_pairs;
  /** Not 0: the statistics are numbers alone; `family` and `why` are "". */
  int32_t skip_why;
  /** 0: no query is searched again. Else n_probes or more: a query that finds fewer than k rows, or
   * than min_rows, is searched again in twice as many lists, until it finds enough or has searched
   * max_probes lists. With a filter of bits it begins with n_probes divided by the share of rows
   * that pass. Its results are those of a search with the last number of lists. With max_probes,
   * group_by or refine, results on a device are waited for. For annudf_ivf_flat_search only, as is
   * min_rows. */
  int64_t max_probes;
  /** Rows that a query must find before it stops; it still returns only the k best. 0: k. Only with
   * max_probes. */
  int64_t min_rows;
  /** If not NULL, results are the best rows of the k best groups, one row each. For
   * annudf_ivf_flat_search and annudf_brute_force_knn. Read during the call only. */
  const annudf_groups *group_by;
  /** If not NULL, this metric ranks the rows that the search's own metric finds, as
   * annudf_ivf_flat_refine does; results are its k best. For annudf_ivf_flat_search. Read during
   * the call only. */
  const annudf_second_phase *refine;
  /** If not NULL, the lists that each query probes: n_probes numbers a query, each once, the best
   * first, as annudf_ivf_flat_rank_lists gives them. In host memory, read during the call only. For
   * annudf_ivf_flat_search and annudf_ivf_flat_radius_search, without max_probes, group_by and
   * refine. */
  const uint32_t *lists;
} annudf_ivf_flat_search_options;

/** The k best rows of each query among the rows of its `n_probes` best lists, best first.
 * Where fewer than k rows were scanned, or pass the filter, the rest has id -1 and the worst
 * distance (+inf for order min, -inf for max). Rows whose distance is NaN are never found. Equal
 * distances (-0 equals +0) are ordered by id, the lower first.
 * \param captures  bound for this metric and these dims; NULL if it has none.
 * \param queries   of the index's dims and an element type that the metric accepts, the rows' or
 * another. In host memory, or in memory of the CUDA backend's device: then the search is enqueued
 * on its stream without waiting for it (but for the first search of an index or a metric, which
 * uploads or links). Index, artifact and captures may be destroyed at once after; the device memory
 * must live until the stream has got there, and nothing else may write it. Coordinates are not
 * checked there: a query with NaN or infinity finds what its distances say, and ids of -1 where
 * they are NaN.
 * \param k         1 to ANNUDF_MAX_K and no more than the index has rows.
 * \param n_probes  1 to ANNUDF_MAX_LISTS; more than the index has lists are all of them, as in
 * cuVS.
 * \param options   may be NULL.
 * \param ids, distances  rows x k, where the queries are; what they hold after a failure is not
 * said.
 * \param stats     may be NULL.
 * ANNUDF_INPUT naming row and dim of a query's coordinate that is not finite. ANNUDF_USAGE for a
 * place that is not where the memory is: another device, freed memory, an allocation that ends too
 * early (where the driver knows its end), a foreign stream. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_ivf_flat_search(
    annudf_backend *backend, const annudf_ivf_flat_index *index, const annudf_artifact *artifact,
    const annudf_captures *captures, const annudf_vectors *queries, int64_t k, int64_t n_probes,
    const annudf_ivf_flat_search_options *options, int64_t *ids, float *distances,
    annudf_ivf_flat_search_stats *stats);

/** The lists that a search with this metric probes for each query, so that several searches, such
 * as those of shards with the same centers, rank them once: options.lists takes them.
 * \param queries   in host memory; not checked for NaN and infinity, as the search does it.
 * \param n_probes  1 to the index's number of lists.
 * \param lists     rows x n_probes numbers of lists, the best first. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_ivf_flat_rank_lists(annudf_backend *backend,
                                                              const annudf_ivf_flat_index *index,
                                                              const annudf_artifact *artifact,
                                                              const annudf_vectors *queries,
                                                              int64_t n_probes, uint32_t *lists);

/** A search whose arguments but the vectors were checked once, for those who search the same index
 * in the same way again and again: a run costs the host some microseconds where a search on a GPU
 * costs it some fifteen. */
typedef struct annudf_ivf_flat_prepared annudf_ivf_flat_prepared;

/** Checks what annudf_ivf_flat_search checks, makes the kernels, and on a GPU copies the index and
 * takes the workspace that the runs need, which they share with nobody. The prepared search holds
 * backend, index, artifact, captures and filter: all of these may be destroyed while it lives.
 * \param queries  their number, dims, element and the place of the runs: a CPU's are in host
 * memory, a GPU's in memory of its device, enqueued on that stream. Data is not looked at and may
 * be NULL.
 * \param options  may be NULL; neither progress nor time_stages may be set.
 * \param prepared to be destroyed by annudf_ivf_flat_prepared_destroy.
 * \param stats    may be NULL; search_ms is 0. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_ivf_flat_prepare(
    annudf_backend *backend, const annudf_ivf_flat_index *index, const annudf_artifact *artifact,
    const annudf_captures *captures, const annudf_vectors *queries, int64_t k, int64_t n_probes,
    const annudf_ivf_flat_search_options *options, annudf_ivf_flat_prepared **prepared,
    annudf_ivf_flat_search_stats *stats);

/** Searches with queries of the number, dims and element that were prepared: the results are those
 * of annudf_ivf_flat_search, on a GPU enqueued on the stream. Other addresses than those of the run
 * before cost the host some more. Threads may call it at once; on a GPU they run one after the
 * other.
 * \param queries         where it was prepared for.
 * \param ids, distances  rows x k, likewise.
 * \param stats           may be NULL. Those of annudf_ivf_flat_search without time_stages. Not
 * touched on a GPU: annudf_ivf_flat_prepared_stats tells of its runs.
 * ANNUDF_USAGE where the index was extended, or lost rows, since the search was prepared; on a GPU
 * also for memory and streams that annudf_ivf_flat_search refuses. */
ANNUDF_CAPI_EXPORTED annudf_status
annudf_ivf_flat_prepared_run(annudf_ivf_flat_prepared *prepared, const void *queries, int64_t *ids,
                             float *distances, annudf_ivf_flat_search_stats *stats);

/** Pairs of a GPU's runs that are done since it was last asked, whichever threads made them:
 * scored, nan_distances, nan_query and nan_row; all else is empty. It waits for no run. On a CPU,
 * where each run tells of its own, there are none. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_ivf_flat_prepared_stats(
    annudf_ivf_flat_prepared *prepared, annudf_ivf_flat_search_stats *stats);

/** On a GPU it waits for the last run. */
ANNUDF_CAPI_EXPORTED void annudf_ivf_flat_prepared_destroy(annudf_ivf_flat_prepared *prepared);

/** The distance of every query to every row of an index whose ids are those that build gives, 0 to
 * size - 1: no list is left out. NaN where the metric says so; the metric's order does not matter.
 * \param options    its filter and its family must be NULL.
 * \param queries    as of annudf_ivf_flat_search: on a device it is enqueued.
 * \param distances  queries x rows of the index, where the queries are; the row with id i in
 * column i.
 * Else as annudf_ivf_flat_search. ANNUDF_USAGE for an index with other ids. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_ivf_flat_distances(
    annudf_backend *backend, const annudf_ivf_flat_index *index, const annudf_artifact *artifact,
    const annudf_captures *captures, const annudf_vectors *queries,
    const annudf_ivf_flat_search_options *options, float *distances,
    annudf_ivf_flat_search_stats *stats);

/** A filter of code: the rows that an annudf.filter keeps (docs/examples/filters/affordable.mlir),
 * computed here and now, by a scan of the whole index. If the index was extended since, it may
 * lack ids: a search says so. A filter that sees the query is not computed here:
 * annudf_filter_from_code makes it, and bits is not looked at.
 * \param artifact  of role ANNUDF_ROLE_FILTER; ANNUDF_INPUT for a metric.
 * \param captures  bound for this filter, this index and one query, or if it sees the query for all
 * queries of a search; NULL if it has none.
 * \param bits      of the filter, so that it can be joined with others; 0: one more than the
 * index's largest id, which is the least.
 * \param options   may be NULL; its filter and its family must be.
 * ANNUDF_USAGE for an index without rows, too few bits, or more than 2^35. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_ivf_flat_filter(
    annudf_backend *backend, const annudf_ivf_flat_index *index, const annudf_artifact *artifact,
    const annudf_captures *captures, int64_t bits, const annudf_ivf_flat_search_options *options,
    annudf_filter **filter);

/*===-- Rows within a radius ----------------------------------------------===*/

typedef struct annudf_radius_result annudf_radius_result;

/** Rows within a radius of queries, which have different numbers of them. */
typedef struct annudf_radius_result_info {
  size_t size;     /**< Of this struct in the library.                                          */
  int64_t queries; /**< As many as were searched for.                                           */
  /** One more than there are queries: the rows of query q are at offsets[q] to offsets[q + 1] of
   * ids and distances, the best first; the lims of FAISS's range_search. */
  const int64_t *offsets;
  const int64_t *ids;
  const float *distances; /**< -0 is 0.                                                         */
} annudf_radius_result_info;

/** All rows whose distance is no worse than `radius` (no larger, or for order max no smaller) among
 * those of each query's `n_probes` best lists. Families of kernels that keep only the best rows do
 * not run it: on a GPU "matrix" and those of granules.
 * \param queries      in host memory.
 * \param radius       a number or an infinity.
 * \param max_results  of all queries together, up to ANNUDF_MAX_RESULTS; 0:
 * ANNUDF_DEFAULT_MAX_RESULTS. A result takes 12 bytes, and up to four times that during the call.
 * \param result       to be destroyed by annudf_radius_result_destroy.
 * \param stats        may be NULL.
 * Else as annudf_ivf_flat_search. ANNUDF_USAGE for more than max_results rows, found as soon as
 * they are counted. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_ivf_flat_radius_search(
    annudf_backend *backend, const annudf_ivf_flat_index *index, const annudf_artifact *artifact,
    const annudf_captures *captures, const annudf_vectors *queries, float radius, int64_t n_probes,
    int64_t max_results, const annudf_ivf_flat_search_options *options,
    annudf_radius_result **result, annudf_ivf_flat_search_stats *stats);

ANNUDF_CAPI_EXPORTED const annudf_radius_result_info *
annudf_radius_result_get(const annudf_radius_result *result);
ANNUDF_CAPI_EXPORTED void annudf_radius_result_destroy(annudf_radius_result *result);

/*===-- Searching several times -------------------------------------------===*/

/** The fewest probes with which a search finds the part `recall` of these queries' true k nearest
 * neighbours, which a search of all lists tells; rows as near as the last of them count as found.
 * Some hundred queries that are like those to come are enough.
 * \param recall  above 0 and at most 1.
 * \param stats   may be NULL; of all its searches together.
 * Else as annudf_ivf_flat_search. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_ivf_flat_tune_n_probes(
    annudf_backend *backend, const annudf_ivf_flat_index *index, const annudf_artifact *artifact,
    const annudf_captures *captures, const annudf_vectors *queries, int64_t k, double recall,
    const annudf_ivf_flat_search_options *options, int64_t *n_probes,
    annudf_ivf_flat_search_stats *stats);

/** Makes the kernels of metric and element type, so that no search waits for them. On a GPU these
 * are kept in the cache on disk, as those that a search makes are: ANNUDF_CACHE_DIR, by default
 * ~/.cache/annudf, of ANNUDF_CACHE_MAX_BYTES at most, or none with ANNUDF_CACHE_DISABLE=1.
 * \param backend  whose searches they are for. NULL: they are for GPUs of an architecture and left
 * in that cache, so that no process on a machine that has such a GPU and this folder waits for
 * them; it needs no GPU.
 * \param element  enum annudf_element.
 * \param arch     90 for compute capability 9.0; 0 with a backend.
 * \param stats    may be NULL.
 * Without a backend: ANNUDF_INPUT if the artifact has no code for it, or no kernel runs on it;
 * ANNUDF_ENVIRONMENT without nvJitLink, without the CUDA backend, or where the cache is off, no use
 * or holds fewer bytes than they take, saying why. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_ivf_flat_precompile(annudf_backend *backend,
                                                              const annudf_artifact *artifact,
                                                              int32_t element, int32_t arch,
                                                              annudf_ivf_flat_search_stats *stats);

#ifdef __cplusplus
} // extern "C"
#endif

#endif /* ANNUDF_C_IVFFLAT_H */
