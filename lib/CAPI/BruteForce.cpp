//===- BruteForce.cpp - Exact search in the C API -------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SearchArguments.h"

#include "annudf/runtime/engine/SearchRows.h"
#include "annudf/runtime/ivf_flat/Index.h"

#include <cstddef>

using namespace annudf;
using namespace annudf::capi;

annudf_status annudf_brute_force_build(annudf_backend *backend, const annudf_vectors *dataset,
                                       const int64_t *ids,
                                       const annudf_brute_force_build_options *options,
                                       uint64_t stream, annudf_ivf_flat_index **index,
                                       annudf_ivf_flat_build_stats *stats) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(index, "index");
    checkBuildStats(call, stats);
    const annudf_brute_force_build_options given = copyOptions(
        options, offsetof(annudf_brute_force_build_options, progress_user) + sizeof(void *),
        "annudf_brute_force_build_options");
    if (given.memory != ANNUDF_MEMORY_HOST && given.memory != ANNUDF_MEMORY_CUDA)
      call.refuse("options.memory is " + std::to_string(given.memory) +
                  ", which is no enum annudf_memory");
    const bool onDevice = given.memory == ANNUDF_MEMORY_CUDA;
    if (onDevice)
      call.refuseNull(backend, "backend");
    if (onDevice && !backend->cuda)
      call.refuse("the backend is " + backend->description + "; it has no device memory");
    const runtime::MatrixView rows = toMatrix(call, dataset, "dataset");
    const runtime::RowsParams params = {{ids, 0},
                                        given.missing_values != 0,
                                        given.threads,
                                        toProgress(given.progress, given.progress_user)};
    runtime::BuildStats cost;
    *index = new annudf_ivf_flat_index(
        backend && backend->cuda
            ? backend->cuda->storeRows(rows, {onDevice, reinterpret_cast<void *>(stream)}, params,
                                       &cost)
            : runtime::Index::ofOneList(rows, params.missingValues, params.threads, params.ids,
                                        params.progress));
    give(stats, cost);
  });
}

annudf_status annudf_brute_force_knn(annudf_backend *backend, const annudf_artifact *artifact,
                                     const annudf_captures *captures, const annudf_vectors *dataset,
                                     const annudf_vectors *queries, int64_t k,
                                     const annudf_ivf_flat_search_options *options, int64_t *ids,
                                     float *distances, annudf_ivf_flat_search_stats *stats) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(ids, "ids");
    call.refuseNull(distances, "distances");
    const Arguments arguments(call, backend, artifact, queries, "queries", options, stats);
    const int number = static_cast<int>(inRange("k", k, 1, ANNUDF_MAX_K));
    const runtime::MatrixView rows = toMatrix(call, dataset, "dataset");
    const runtime::BoundCaptures &bound = captures ? captures->value : arguments.none;
    runtime::checkOwnRows(bound, rows.rows);
    const bool missing = artifact->value.manifest.missingValues;
    const auto store = [&](const runtime::MatrixView &piece, int64_t first,
                           const runtime::Progress &progress) {
      return std::make_unique<const runtime::Index>(
          backend->cuda
              ? backend->cuda->storeRows(piece, {}, {{nullptr, first}, missing, 0, progress})
              : runtime::Index::ofOneList(piece, missing, 0, {nullptr, first}, progress));
    };
    runtime::RowPieces pieces;
    // A device takes all rows where it has room, so that it is asked once.
    (backend->cuda ? pieces.halvedTo : pieces.bytes) = runtime::RowPieces::kBytes;
    runtime::SearchStats cost;
    runtime::searchRows(
        *backend->value, rows, store, pieces, {artifact->value, artifact->digest, arguments.origin},
        bound, arguments.queries, number, arguments.params, ids, distances, wanted(stats, cost));
    give(stats, cost);
  });
}
