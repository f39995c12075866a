/*===- annudf-c/Runtime.h - Indexes and searches ------------------*- C -*-===*\
|*                                                                            *|
|* Part of the annudf project, under the Apache License v2.0 with LLVM        *|
|* Exceptions. See LICENSE for license information.                           *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* Builds an IVF-Flat index, binds a metric's captures and searches, on CPUs  *|
|* and on GPUs. annudf-c/Support.h has the rules of all calls.                *|
|*                                                                            *|
|* An index may be used by any number of threads: searches share it, extend   *|
|* waits until those that run have ended and holds up those that come. All    *|
|* other objects do not change once made; a backend keeps caches, which are   *|
|* its own business.                                                          *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef ANNUDF_C_RUNTIME_H
#define ANNUDF_C_RUNTIME_H

#include "annudf-c/Artifact.h"
#include "annudf/ABI/annudf_abi.h" /* enum annudf_element, annudf_coarse, annudf_order */

#ifdef __cplusplus
extern "C" {
#endif

/*===-- Names of types ----------------------------------------------------===*/

/** "f32", "f16", "i8" or "u8" as an enum annudf_element. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_element_parse(const char *name, int32_t *element);
/** The other way round; NULL for any other number. */
ANNUDF_CAPI_EXPORTED const char *annudf_element_name(int32_t element);

/** "l2", "inner_product" or "cosine" as an enum annudf_coarse. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_coarse_parse(const char *name, int32_t *coarse);
/** The other way round; NULL for any other number. */
ANNUDF_CAPI_EXPORTED const char *annudf_coarse_name(int32_t coarse);

/*===-- Vectors and progress ----------------------------------------------===*/

/** A row-major, contiguous matrix that stays the caller's. */
typedef struct annudf_vectors {
  size_t size;      /**< sizeof(annudf_vectors).                     */
  const void *data; /**< Aligned to its element.                     */
  int64_t rows, dims;
  int32_t element; /**< enum annudf_element of one coordinate.       */
} annudf_vectors;

/** Called by the thread that made the call, now and then while it works.
 * \param stage  "train", "add", "save" or "search".
 * \param done   part of the stage that is done, 0 to 1.
 * \returns 0 to go on. Anything else stops the work: the call returns
 * ANNUDF_INTERRUPTED, and an index or a file is as it was before. At `done` 1 it
 * may come too late. It may ask an index for its properties, but neither search nor
 * change the one at work. It must not throw. */
typedef int (*annudf_progress)(void *user, const char *stage, double done);

/*===-- The index ---------------------------------------------------------===*/

typedef struct annudf_index annudf_index;

/** Names and defaults as in cuvs::neighbors::ivf_flat::index_params. */
typedef struct annudf_index_options {
  size_t size;                     /**< sizeof(annudf_index_options).                        */
  int32_t metric;                  /**< enum annudf_coarse that k-means clusters by.         */
  int32_t kmeans_n_iters;          /**< 0: 20.                                               */
  double kmeans_trainset_fraction; /**< Above 0, at most 1; 0: 0.5.                          */
  uint64_t seed;                   /**< 0: 1.                                                */
  int32_t threads;                 /**< 0: all cores. Kept for annudf_index_extend.          */
  annudf_progress progress;        /**< May be NULL.                                         */
  void *progress_user;             /**< Handed to it.                                        */
} annudf_index_options;

/** Trains the centers of `n_lists` lists and adds every row, with ids from 0.
 * \param base     in host memory; copied.
 * \param n_lists  1 to 2^24 and no more than there are rows.
 * \param options  may be NULL.
 * ANNUDF_INPUT naming row and dim of a coordinate that is not finite. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_index_build(const annudf_vectors *base, int64_t n_lists,
                                                      const annudf_index_options *options,
                                                      annudf_index **index);

/** Adds rows of the index's element type and dims.
 * \param ids  one for each row, 0 or above; that they are unique is the caller's
 *             business. NULL: they go on from annudf_index_size.
 * If it fails the index is as before. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_index_extend(annudf_index *index,
                                                       const annudf_vectors *rows,
                                                       const int64_t *ids, annudf_progress progress,
                                                       void *progress_user);

/** Writes one file, whole or not at all; a file that it replaces hands on its permissions. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_index_save(const annudf_index *index, const char *path,
                                                     annudf_progress progress, void *progress_user);

/** ANNUDF_INPUT naming the fault of a file that is missing, foreign, cut short or damaged. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_index_load(const char *path, annudf_index **index);

/** enum annudf_element of the rows. These never wait, not even for an extend; 0 for NULL. */
ANNUDF_CAPI_EXPORTED int32_t annudf_index_element(const annudf_index *index);
ANNUDF_CAPI_EXPORTED int64_t annudf_index_dims(const annudf_index *index);
/** Rows. */
ANNUDF_CAPI_EXPORTED int64_t annudf_index_size(const annudf_index *index);
ANNUDF_CAPI_EXPORTED int64_t annudf_index_n_lists(const annudf_index *index);
/** enum annudf_coarse that its k-means clustered by. */
ANNUDF_CAPI_EXPORTED int32_t annudf_index_metric(const annudf_index *index);
/** Another number after every build, load and extend in this process. */
ANNUDF_CAPI_EXPORTED uint64_t annudf_index_generation(const annudf_index *index);

/** Copies the centers, n_lists x dims.
 * \param count  floats that `centers` has room for: ANNUDF_USAGE if it is not just as many. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_index_centers(const annudf_index *index, float *centers,
                                                        size_t count);

ANNUDF_CAPI_EXPORTED void annudf_index_destroy(annudf_index *index);

/*===-- Captures ----------------------------------------------------------===*/

/** A value for one capture, in host memory. */
typedef struct annudf_capture_value {
  size_t size;          /**< sizeof(annudf_capture_value).                                   */
  const char *name;     /**< Of the capture.                                                 */
  const char *dtype;    /**< f16 f32 f64, i8 to i64, u8 to u64, or b1 (a byte, 0 or 1).      */
  const int64_t *shape; /**< `rank` extents; NULL for a scalar.                              */
  int32_t rank;         /**< 0: a scalar.                                                    */
  const void *data;     /**< C order, contiguous; no alignment is needed.                    */
  size_t bytes;         /**< Of `data`.                                                      */
  const char *origin;   /**< Where it came from, for messages; NULL: "the caller".           */
} annudf_capture_value;

/** Values of all captures of a metric, checked and copied. */
typedef struct annudf_captures annudf_captures;

/** Binds a value to each capture that the metric declares.
 * \param dims     of the index that will be searched: the extent `dim`.
 * \param values   may be NULL if there are none.
 * \param allow_non_finite  also inf and NaN.
 * A value of another dtype is converted where every entry converts exactly (a scalar: to
 * the nearest value). ANNUDF_USAGE for a capture that is missing or unknown; ANNUDF_INPUT
 * naming the capture, its origin and the first entry at fault. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_captures_bind(const annudf_artifact *artifact,
                                                        int64_t dims,
                                                        const annudf_capture_value *values,
                                                        size_t count, bool allow_non_finite,
                                                        annudf_captures **captures);

ANNUDF_CAPI_EXPORTED void annudf_captures_destroy(annudf_captures *captures);

/*===-- Searching ---------------------------------------------------------===*/

typedef struct annudf_backend annudf_backend;

/** Searches on the host.
 * \param threads  0: all cores.
 * ANNUDF_ENVIRONMENT where annudf was built without LLVM. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_backend_create_cpu(int32_t threads,
                                                             annudf_backend **backend);
/** Searches on a GPU, in its primary context.
 * ANNUDF_ENVIRONMENT naming what is missing: driver, device, nvJitLink, or CUDA in this build. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_backend_create_cuda(int32_t device,
                                                              annudf_backend **backend);
/** "CPU, 8 threads, ..." or "CUDA device 0: NVIDIA H200, sm_90"; lives as long as
 * `backend`. "" for NULL. */
ANNUDF_CAPI_EXPORTED const char *annudf_backend_describe(const annudf_backend *backend);
/** The CUDA device, or -1 for the CPU and for NULL. */
ANNUDF_CAPI_EXPORTED int32_t annudf_backend_device(const annudf_backend *backend);
ANNUDF_CAPI_EXPORTED void annudf_backend_destroy(annudf_backend *backend);

typedef struct annudf_search_options {
  size_t size;              /**< sizeof(annudf_search_options).                             */
  annudf_progress progress; /**< Between batches of queries; may be NULL.                   */
  void *progress_user;      /**< Handed to it.                                              */
} annudf_search_options;

/** What a call cost; milliseconds. Fields beyond `size` are not touched. */
typedef struct annudf_search_stats {
  size_t size;      /**< Set by the caller: sizeof(annudf_search_stats).                    */
  double link_ms;   /**< Making the kernel of metric and element type; 0 when cached.       */
  double upload_ms; /**< Copying the index to the device; 0 when it is there.               */
  double search_ms; /**< The search itself; 0 where it was only enqueued.                   */
  int32_t links;    /**< Kernels made by this call, 0 or 1.                                 */
} annudf_search_stats;

/** The k best rows of each query among the rows of its `n_probes` best lists, best first.
 * Where fewer than k rows were scanned, the rest has id -1 and the worst distance (+inf
 * for order min, -inf for max). Rows whose distance is NaN are never found.
 * \param captures  bound for this metric and these dims; NULL if it has none.
 * \param queries   in host memory, of the index's element type and dims.
 * \param k         1 to 1024 and no more than the index has rows.
 * \param n_probes  1 to the index's lists.
 * \param options   may be NULL.
 * \param ids, distances  rows x k, in host memory; what they hold after a failure is not said.
 * \param stats     may be NULL.
 * ANNUDF_INPUT naming row and dim of a query's coordinate that is not finite. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_backend_search(
    annudf_backend *backend, const annudf_index *index, const annudf_artifact *artifact,
    const annudf_captures *captures, const annudf_vectors *queries, int64_t k, int64_t n_probes,
    const annudf_search_options *options, int64_t *ids, float *distances,
    annudf_search_stats *stats);

/** The same with queries and results in memory of a CUDA backend's device, enqueued on
 * `stream` without waiting for it (but for the first search of an index or a metric, which
 * uploads or links). Index, artifact and captures may be destroyed at once after; the
 * device memory must live until the stream has got there, and nothing else may write it.
 * Coordinates are not checked: a query with NaN or infinity finds what its distances say,
 * and ids of -1 where they are NaN.
 * \param stream  a CUstream or cudaStream_t of the device's primary context; as in
 *                __cuda_array_interface__, 0 and 1 are the legacy default stream and 2
 *                the default stream of this thread.
 * ANNUDF_USAGE for host memory, memory of another device, freed memory, an allocation
 * that ends too early (where the driver knows its end), or a foreign stream. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_backend_search_device(
    annudf_backend *backend, const annudf_index *index, const annudf_artifact *artifact,
    const annudf_captures *captures, const annudf_vectors *queries, int64_t k, int64_t n_probes,
    const annudf_search_options *options, int64_t *ids, float *distances, uint64_t stream,
    annudf_search_stats *stats);

/** Makes the kernel of metric and element type, so that no search waits for it.
 * \param element  enum annudf_element.
 * \param stats    may be NULL. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_backend_precompile(annudf_backend *backend,
                                                             const annudf_artifact *artifact,
                                                             int32_t element,
                                                             annudf_search_stats *stats);

/*===-- Device memory and streams -----------------------------------------===*|
|* For callers that bring no CUDA library of their own. ANNUDF_USAGE for the   *|
|* CPU backend; `stream` as above.                                            *|
\*===----------------------------------------------------------------------===*/

typedef struct annudf_device_buffer annudf_device_buffer;

/** Memory of the device that may be used on `stream` from now on.
 * ANNUDF_ENVIRONMENT if there is not enough. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_device_allocate(annudf_backend *backend, uint64_t bytes,
                                                          uint64_t stream,
                                                          annudf_device_buffer **buffer);
/** Device address; 0 for NULL. */
ANNUDF_CAPI_EXPORTED uint64_t annudf_device_buffer_address(const annudf_device_buffer *buffer);
ANNUDF_CAPI_EXPORTED uint64_t annudf_device_buffer_size(const annudf_device_buffer *buffer);
/** Frees it once the work that was enqueued before is done: in stream order on the legacy
 * default stream, by waiting for the device on others, as those may be gone by now. */
ANNUDF_CAPI_EXPORTED void annudf_device_buffer_destroy(annudf_device_buffer *buffer);

/** Enqueues a copy between any two of host and device memory. Pageable host memory may
 * be used again at once; pinned and device memory only when the stream has got there. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_device_copy(annudf_backend *backend, uint64_t destination,
                                                      uint64_t source, uint64_t bytes,
                                                      uint64_t stream);

/** Waits until all work enqueued on `stream` is done. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_device_synchronize(annudf_backend *backend,
                                                             uint64_t stream);

/** A point in a stream's work. */
typedef struct annudf_event annudf_event;

/** All work enqueued on `stream` until now. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_event_record(annudf_backend *backend, uint64_t stream,
                                                       annudf_event **event);
/** Whether it is done. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_event_done(const annudf_event *event, bool *done);
/** Waits until it is done. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_event_wait(const annudf_event *event);
ANNUDF_CAPI_EXPORTED void annudf_event_destroy(annudf_event *event);

/*===-- This machine ------------------------------------------------------===*/

/** What this build and this machine offer. Text lives as long as the object. */
typedef struct annudf_environment annudf_environment;

/** Looks; what is missing is no failure but told in words. */
ANNUDF_CAPI_EXPORTED annudf_status annudf_environment_describe(annudf_environment **environment);
/** Whether the library was built with the CPU backend, with the CUDA backend. False for NULL. */
ANNUDF_CAPI_EXPORTED bool annudf_environment_has_cpu(const annudf_environment *environment);
ANNUDF_CAPI_EXPORTED bool annudf_environment_has_cuda(const annudf_environment *environment);
/** The CPU backend as annudf_backend_describe says it, or why there is none. "" for NULL. */
ANNUDF_CAPI_EXPORTED const char *annudf_environment_cpu(const annudf_environment *environment);
/** Version of the CUDA driver, "13.0", or why there is none. */
ANNUDF_CAPI_EXPORTED bool annudf_environment_driver_found(const annudf_environment *environment);
ANNUDF_CAPI_EXPORTED const char *annudf_environment_driver(const annudf_environment *environment);
/** Version and path of nvJitLink, or why there is none. */
ANNUDF_CAPI_EXPORTED bool annudf_environment_linker_found(const annudf_environment *environment);
ANNUDF_CAPI_EXPORTED const char *annudf_environment_linker(const annudf_environment *environment);
/** "0: NVIDIA H200, sm_90, 132 multiprocessors"; NULL where there is no such index. */
ANNUDF_CAPI_EXPORTED size_t annudf_environment_device_count(const annudf_environment *environment);
ANNUDF_CAPI_EXPORTED const char *annudf_environment_device(const annudf_environment *environment,
                                                           size_t index);
ANNUDF_CAPI_EXPORTED void annudf_environment_destroy(annudf_environment *environment);

#ifdef __cplusplus
} // extern "C"
#endif

#endif /* ANNUDF_C_RUNTIME_H */
