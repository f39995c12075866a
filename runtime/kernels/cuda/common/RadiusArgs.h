//===- RadiusArgs.h - What the host passes to a radius search -----*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As ScanArgs.h. Blocks append segments of one query's results until the room is full. They count
// on from there, so that the host can repeat the last kernel with room enough.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CUDA_COMMON_RADIUSARGS_H
#define ANNUDF_KERNELS_CUDA_COMMON_RADIUSARGS_H

#include "ProductArgs.h"

/// Results that a block collects in shared memory before it writes a segment.
#define ANNUDF_WITHIN_ROWS 512
/// Threads of annudf_within_keys, annudf_within_exact and annudf_within_granules.
#define ANNUDF_WITHIN_THREADS 128
/// Groups whose bounds a thread reads at once, and granules of which a block may collect so many
/// before it evaluates them.
#define ANNUDF_WITHIN_AHEAD 4
#define ANNUDF_WITHIN_WAITING (2 * ANNUDF_WITHIN_THREADS * ANNUDF_WITHIN_AHEAD * ANNUDF_GRANULES)
/// Shared memory of annudf_within_exact behind the query, as ANNUDF_SURVIVORS_SHARED_BYTES.
#define ANNUDF_WITHIN_SHARED_BYTES 24600

/// Results that lie side by side, in order if they are all that the query has.
struct annudf_within_segment {
  uint64_t start; ///< Place of the first among the ids and distances.
  uint32_t query; ///< Its number in the batch.
  uint32_t count;
};

/// What the blocks of a batch have found together; zero before.
struct annudf_within_found {
  unsigned long long results; ///< Also those that there is no room for.
  uint32_t segments;          ///< That were written.
  uint32_t unused;
};

/// Where rows within a radius go.
struct annudf_within {
  uint64_t found;     ///< annudf_within_found *.
  uint64_t counts;    ///< uint32_t *, a query of the batch: its results; zero before.
  uint64_t segments;  ///< annudf_within_segment *, for those with room; may be in host memory.
  uint64_t ids;       ///< int64_t *, `room`; the same.
  uint64_t distances; ///< float *, `room`; the same.
  uint64_t room;
  float radius;   ///< Not NaN.
  uint32_t first; ///< Query of the batch that the first block looks at.
};

/// Most segments of so many block rows.
#define ANNUDF_WITHIN_SEGMENTS(BLOCKS, ROOM)                                                       \
  ((BLOCKS) + (ROOM) / (ANNUDF_WITHIN_ROWS - ANNUDF_WITHIN_THREADS))

/// What annudf_within_keys takes.
struct annudf_radius_args {
  annudf_finish_args finish; ///< Results and k are not read.
  annudf_within to;
};

/// What annudf_within_exact and annudf_within_granules take. What hooks are told of comes first, as
/// in other scans.
struct annudf_within_args {
  annudf_survivors_args survivors; ///< Results and k are not read.
  annudf_within to;
};

#endif // ANNUDF_KERNELS_CUDA_COMMON_RADIUSARGS_H
