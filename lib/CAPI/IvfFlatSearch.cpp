//===- IvfFlatSearch.cpp - Searching IVF-Flat indexes in the C API --------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Goal.h"
#include "SearchArguments.h"
#include "SecondPhase.h"

#include "annudf/runtime/engine/FilterCode.h"
#include "annudf/runtime/engine/RankLists.h"

#include <cstddef>

using namespace annudf;
using namespace annudf::capi;

annudf_status annudf_ivf_flat_search(annudf_backend *backend, const annudf_ivf_flat_index *index,
                                     const annudf_artifact *artifact,
                                     const annudf_captures *captures, const annudf_vectors *queries,
                                     int64_t k, int64_t n_probes,
                                     const annudf_ivf_flat_search_options *options, int64_t *ids,
                                     float *distances, annudf_ivf_flat_search_stats *stats) {
  return guard(__func__, [&](Call call) {
    Arguments arguments(call, backend, index, artifact, queries, k, n_probes, options, ids,
                        distances, stats);
    runtime::SearchStats cost;
    // Held while a search is enqueued: from then on the device's copy of the index is used, which
    // the search keeps alive.
    IndexUse use(call, *index, IndexUse::Kind::Shared);
    arguments.chooseFrom(*index);
    if (!arguments.hasMore) {
      arguments.search(*backend, index->value, *artifact, captures, ids, distances,
                       wanted(stats, cost));
      return give(stats, cost);
    }
    Goal goal(call, options);
    goal.chooseFrom(call, index->value, n_probes);
    SecondPhase second(call, options, arguments.queries.rows);
    const auto search = [&](const Arguments &of, int64_t *toIds, float *toDistances,
                            runtime::SearchStats *costs) {
      of.search(*backend, index->value, *artifact, captures, toIds, toDistances, costs);
    };
    goal.search(*backend, arguments,
                {index->value.size(), index->value.nLists(), second.orderOr(*artifact),
                 second.full(goal.hasGroups())},
                second.after(search, *backend, index->value), ids, distances, wanted(stats, cost));
    give(stats, cost);
    second.finish();
  });
}

annudf_status annudf_ivf_flat_rank_lists(annudf_backend *backend,
                                         const annudf_ivf_flat_index *index,
                                         const annudf_artifact *artifact,
                                         const annudf_vectors *queries, int64_t n_probes,
                                         uint32_t *lists) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(index, "index");
    call.refuseNull(lists, "lists");
    Arguments arguments(call, backend, artifact, queries, "queries", nullptr, nullptr);
    arguments.refuseDevice(call);
    arguments.takeProbes(n_probes);
    IndexUse use(call, *index, IndexUse::Kind::Shared);
    const runtime::RowStore &store = index->value;
    checkRange("n_probes", n_probes, 1, store.nLists(), ", the lists of the index");
    if (!store.listCenters())
      call.refuse("index has no centers to rank its lists by; search all of them");
    arguments.chooseFrom(*index);
    runtime::checkSearch(store, {artifact->value, artifact->digest, arguments.origin},
                         arguments.queries, 1, arguments.params);
    const runtime::Machine machine = backend->value->machine();
    runtime::rankerOf(store, artifact->value.manifest)
        ->rank(arguments.queries, arguments.probes.nProbes, lists,
               machine.arch == 0 ? machine.processors : 0);
  });
}

annudf_status annudf_ivf_flat_distances(annudf_backend *backend, const annudf_ivf_flat_index *index,
                                        const annudf_artifact *artifact,
                                        const annudf_captures *captures,
                                        const annudf_vectors *queries,
                                        const annudf_ivf_flat_search_options *options,
                                        float *distances, annudf_ivf_flat_search_stats *stats) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(index, "index");
    call.refuseNull(distances, "distances");
    const Arguments arguments(call, backend, artifact, queries, "queries", options, stats);
    arguments.refuseFilterAndFamily(call);
    runtime::SearchStats cost;
    IndexUse use(call, *index, IndexUse::Kind::Shared);
    arguments.distances(*backend, index->value, *artifact, captures, distances,
                        wanted(stats, cost));
    give(stats, cost);
  });
}

annudf_status annudf_ivf_flat_filter(annudf_backend *backend, const annudf_ivf_flat_index *index,
                                     const annudf_artifact *artifact,
                                     const annudf_captures *captures, int64_t bits,
                                     const annudf_ivf_flat_search_options *options,
                                     annudf_filter **filter) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(backend, "backend");
    call.refuseNull(index, "index");
    call.refuseNull(artifact, "artifact");
    call.refuseNull(filter, "filter");
    const annudf_ivf_flat_search_options given = optionsOf(options);
    Arguments::refuseMore(call, given);
    if (given.lists)
      call.refuse("options.lists is set; a filter is of all rows, so leave it out");
    if (given.filter)
      call.refuse(
          "options.filter is set; a filter with code is computed for every row, so leave it out");
    if (given.family && *given.family)
      call.refuse(std::string("options.family is '") + given.family +
                  "'; a filter with code has no choice of family, so leave it out");
    if (artifact->value.manifest.seesQuery) {
      *filter = filterOfCode(*artifact, captures);
      return;
    }
    const std::string origin = originOf(*artifact);
    const runtime::BoundCaptures none;
    IndexUse use(call, *index, IndexUse::Kind::Shared);
    *filter = new annudf_filter(runtime::keptRows(
        *backend->value, index->value, {artifact->value, artifact->digest, origin},
        captures ? captures->value : none, checkRange("bits", bits, 0, runtime::kMostFilterIds),
        toProgress(given.progress, given.progress_user)));
  });
}

annudf_status annudf_pairwise_distance(annudf_backend *backend, const annudf_artifact *artifact,
                                       const annudf_captures *captures, const annudf_vectors *x,
                                       const annudf_vectors *y,
                                       const annudf_ivf_flat_search_options *options,
                                       float *distances, annudf_ivf_flat_search_stats *stats) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(distances, "distances");
    const Arguments arguments(call, backend, artifact, x, "x", options, stats);
    arguments.refuseFilterAndFamily(call);
    const runtime::Index index = storedRows(backend, toPlaced(call, backend, y, "y"),
                                            {{}, artifact->value.manifest.missingValues});
    runtime::checkRowsOfCall(arguments.boundOr(captures), arguments.params, index.size());
    runtime::SearchStats cost;
    arguments.distances(*backend, index, *artifact, captures, distances, wanted(stats, cost));
    give(stats, cost);
  });
}

annudf_status annudf_ivf_flat_precompile(annudf_backend *backend, const annudf_artifact *artifact,
                                         int32_t element, int32_t arch,
                                         annudf_ivf_flat_search_stats *stats) {
  return guard(__func__, [&](Call call) {
    if (backend && arch != 0)
      call.refuse("arch is " + std::to_string(arch) +
                  ", but the backend has one; set it to 0, or backend to NULL");
    if (!backend && arch == 0)
      call.refuse("backend is NULL and arch is 0; give one of them");
    call.refuseNull(artifact, "artifact");
    checkStats(call, stats);
    runtime::SearchStats cost;
    const std::string origin = originOf(*artifact);
    const runtime::MetricView metric(artifact->value, artifact->digest, origin);
    const annudf_element of = toElement(call, element);
    if (backend)
      backend->value->precompile(metric, of, &cost);
    else
      runtime::precompileForCuda(metric, of, arch, &cost);
    give(stats, cost);
  });
}
