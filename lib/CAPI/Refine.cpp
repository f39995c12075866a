//===- Refine.cpp - Candidates ranked again, in the C API -----------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SearchArguments.h"

#include "annudf-c/Refine.h"
#include "annudf/runtime/engine/Refine.h"

#include <cstddef>

using namespace annudf;
using namespace annudf::capi;

/// What the caller gives as candidates, where it is.
static runtime::CandidateRows candidatesOf(const Call &call, const annudf_candidates *candidates,
                                           annudf_place &place) {
  call.refuseNull(candidates, "candidates");
  const annudf_candidates given = copyOptions(
      candidates, offsetof(annudf_candidates, columns) + sizeof(int64_t), "annudf_candidates");
  const int64_t rows = checkRange("candidates: rows", given.rows, 0, INT64_MAX);
  const int64_t columns = checkRange("candidates: columns", given.columns, 0,
                                     INT64_MAX / 8 / std::max<int64_t>(1, rows));
  if (rows * columns != 0)
    call.refuseNull(given.ids, "candidates.ids");
  place = given.place;
  return {given.ids, rows, columns};
}

annudf_status annudf_refine(annudf_backend *backend, const annudf_artifact *artifact,
                            const annudf_captures *captures, const annudf_vectors *dataset,
                            const annudf_vectors *queries, const annudf_candidates *candidates,
                            int64_t k, const annudf_ivf_flat_search_options *options, int64_t *ids,
                            float *distances, annudf_ivf_flat_search_stats *stats) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(ids, "ids");
    call.refuseNull(distances, "distances");
    Arguments arguments(call, backend, artifact, queries, "queries", options, stats);
    const PlacedMatrix rows = toPlaced(call, backend, dataset, "dataset");
    annudf_place place;
    const runtime::CandidateRows given = candidatesOf(call, candidates, place);
    const Place at = toPlace(call, backend, place, "candidates");
    const runtime::MetricView metric(artifact->value, artifact->digest, arguments.origin);
    const runtime::BoundCaptures &bound = arguments.boundOr(captures);
    runtime::SearchStats cost;
    if (backend->cuda)
      backend->cuda->refine(rows.view, {rows.at.onDevice, rows.at.stream}, given,
                            {at.onDevice, at.stream}, metric, bound, arguments.queries,
                            {arguments.at.onDevice, arguments.at.stream}, k, arguments.params, ids,
                            distances, wanted(stats, cost));
    else
      runtime::refine(*backend->value, rows.view, given, metric, bound, arguments.queries, k,
                      arguments.params, ids, distances, wanted(stats, cost));
    give(stats, cost);
  });
}

annudf_status annudf_ivf_flat_refine(annudf_backend *backend, const annudf_ivf_flat_index *index,
                                     const annudf_artifact *artifact,
                                     const annudf_captures *captures, const annudf_vectors *queries,
                                     const annudf_candidates *candidates, int64_t k,
                                     const annudf_ivf_flat_search_options *options, int64_t *ids,
                                     float *distances, annudf_ivf_flat_search_stats *stats) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(index, "index");
    call.refuseNull(ids, "ids");
    call.refuseNull(distances, "distances");
    Arguments arguments(call, backend, artifact, queries, "queries", options, stats);
    annudf_place place;
    const runtime::CandidateRows given = candidatesOf(call, candidates, place);
    const Place at = toPlace(call, backend, place, "candidates");
    runtime::SearchStats cost;
    // Held until the search is enqueued, as by annudf_ivf_flat_search.
    IndexUse use(call, *index, IndexUse::Kind::Shared);
    arguments.refine(*backend, index->value, given, at, *artifact, captures, k, ids, distances,
                     wanted(stats, cost));
    give(stats, cost);
  });
}
