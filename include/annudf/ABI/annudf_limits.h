/*===- annudf_limits.h - Defaults and limits of arguments ---------*- C -*-===*\
|*                                                                            *|
|* Part of the annudf project, under the Apache License v2.0 with LLVM        *|
|* Exceptions. See LICENSE for license information.                           *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* The one home of what an argument is by default and at most. The runtime,   *|
|* C, C++, the commands and Python (through annudf._core) read it here.       *|
|* Limits of metrics are rows of ANNUDF_LIMITS in annudf_tables.h.            *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef ANNUDF_ABI_ANNUDF_LIMITS_H
#define ANNUDF_ABI_ANNUDF_LIMITS_H

#include <stdint.h>

/* Defaults of a build and a search, as cuVS has them. */
#define ANNUDF_DEFAULT_N_LISTS 1024
#define ANNUDF_DEFAULT_KMEANS_N_ITERS 20
#define ANNUDF_DEFAULT_KMEANS_TRAINSET_FRACTION 0.5
#define ANNUDF_DEFAULT_SEED 1
#define ANNUDF_DEFAULT_N_PROBES 20
/** Neighbors of a query where recall is measured, and in the commands. */
#define ANNUDF_DEFAULT_K 10
/** Part of the true neighbors that probes are chosen for. */
#define ANNUDF_DEFAULT_RECALL 0.95
/** Results of all queries of a radius search, where the caller does not say: 1.2 GB. */
#define ANNUDF_DEFAULT_MAX_RESULTS 100000000
/** Share of a search's distances above which NaN is a formula without a guard, and warned of. */
#define ANNUDF_DEFAULT_NAN_SHARE 0.001
/** Bytes of the cache on disk where ANNUDF_CACHE_MAX_BYTES does not say. */
#define ANNUDF_DEFAULT_CACHE_BYTES (INT64_C(256) << 20)

/** Lists of an index, and so probes. */
#define ANNUDF_MAX_LISTS 16777216
/** Results of all queries of a radius search that a caller may allow. */
#define ANNUDF_MAX_RESULTS (INT64_C(1) << 40)
/** Iterations of k-means. */
#define ANNUDF_MAX_KMEANS_N_ITERS 10000
/** Threads of a build or a search on a CPU. */
#define ANNUDF_MAX_THREADS 1024
/** Ids that a filter with code has bits for: 4 GiB of bits. */
#define ANNUDF_MAX_FILTER_IDS (INT64_C(1) << 35)
/** Axes of an array that a capture is bound to or described by; what a metric takes is fewer. */
#define ANNUDF_MAX_ARRAY_RANK 32
/** Bytes of the text or the bytecode of a metric; no metric comes near it. */
#define ANNUDF_MAX_SOURCE_BYTES 16777216

#endif /* ANNUDF_ABI_ANNUDF_LIMITS_H */
