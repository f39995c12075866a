//===- BruteForce.cpp - Exact search in the C API -------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Goal.h"
#include "SearchArguments.h"

#include "annudf/runtime/ivf_flat/Index.h"

#include <cstddef>

using namespace annudf;
using namespace annudf::capi;

annudf_status annudf_brute_force_build(annudf_backend *backend, const annudf_vectors *dataset,
                                       const annudf_ids *ids,
                                       const annudf_brute_force_build_options *options,
                                       annudf_ivf_flat_index **index,
                                       annudf_ivf_flat_build_stats *stats) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(index, "index");
    checkBuildStats(call, stats);
    const annudf_brute_force_build_options given = copyOptions(
        options, offsetof(annudf_brute_force_build_options, progress_user) + sizeof(void *),
        "annudf_brute_force_build_options");
    const PlacedMatrix rows = toPlaced(call, backend, dataset, "dataset");
    if (given.in_place != 0 && cudaOf(backend))
      call.refuse("options.in_place is set, the backend is " + backend->description +
                  "; rows in place are searched on the host: give no backend");
    const HostIds ofRows(call, backend, ids);
    const runtime::RowsParams params = {{ofRows.forRows(call, rows.view.rows), 0},
                                        given.missing_values != 0,
                                        given.threads,
                                        toProgress(given.progress, given.progress_user)};
    runtime::BuildStats cost;
    *index = new annudf_ivf_flat_index(
        given.in_place != 0
            ? runtime::Index::overRows(rows.view, params.missingValues, params.threads, params.ids)
            : storedRows(backend, rows, params, &cost));
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
    Arguments arguments(call, backend, artifact, queries, "queries", options, stats,
                        Arguments::More::Taken);
    if (const annudf_ivf_flat_search_options given = optionsOf(options); given.refine)
      call.refuse("options.refine is set; refine by annudf_refine, or search an index of the rows");
    else if (given.lists)
      call.refuse("options.lists is set; the call has no lists to probe, so leave it out");
    else if (given.max_probes != 0 || given.min_rows != 0)
      call.refuse(std::string("options.") + (given.max_probes != 0 ? "max_probes" : "min_rows") +
                  " is set; the call has no lists to probe, so leave it out");
    Goal goal(call, options);
    arguments.k = runtime::checkK(k);
    const PlacedMatrix rows = toPlaced(call, backend, dataset, "dataset");
    const runtime::BoundCaptures &bound = arguments.boundOr(captures);
    runtime::checkRowsOfCall(bound, arguments.params, rows.view.rows);
    const RowsForOneSearch store(backend, rows, artifact->value.manifest.missingValues,
                                 arguments.params.progress);
    runtime::SearchStats cost;
    goal.chooseFrom(call, rows.view.rows);
    std::optional<runtime::Index> all;
    if (rows.at.onDevice || arguments.at.onDevice)
      all = store.all();
    const auto search = [&](const Arguments &of, int64_t *toIds, float *toDistances,
                            runtime::SearchStats *costs) {
      if (all)
        of.search(*backend, *all, *artifact, captures, toIds, toDistances, costs);
      else
        runtime::searchRows(*backend->value, rows.view, store.pieces(), store.cut(),
                            {artifact->value, artifact->digest, of.origin}, bound, of.queries, of.k,
                            of.params, toIds, toDistances, costs);
    };
    goal.search(*backend, arguments, {rows.view.rows, 1, artifact->value.manifest.order}, search,
                ids, distances, wanted(stats, cost));
    give(stats, cost);
  });
}
