//===- RadiusSearch.cpp - Rows within a radius, in the C API --------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SearchArguments.h"

#include "annudf/runtime/engine/Radius.h"

#include <utility>

using namespace annudf;
using namespace annudf::capi;

struct annudf_radius_result {
  explicit annudf_radius_result(runtime::WithinRadius found)
      : value(std::move(found)),
        info{sizeof info, int64_t(value.starts.size()) - 1, value.starts.data(), value.ids.data(),
             value.distances.data()} {}
  const runtime::WithinRadius value;
  const annudf_radius_result_info info; ///< Points into the rest.
};

annudf_status
annudf_ivf_flat_radius_search(annudf_backend *backend, const annudf_ivf_flat_index *index,
                              const annudf_artifact *artifact, const annudf_captures *captures,
                              const annudf_vectors *queries, float radius, int64_t n_probes,
                              int64_t max_results, const annudf_ivf_flat_search_options *options,
                              annudf_radius_result **result, annudf_ivf_flat_search_stats *stats) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(index, "index");
    call.refuseNull(result, "result");
    Arguments arguments(call, backend, artifact, queries, "queries", options, stats,
                        Arguments::More::Lists);
    arguments.refuseDevice(call);
    arguments.takeProbes(n_probes);
    const int64_t most = runtime::checkMostResults(max_results);
    runtime::SearchStats cost;
    IndexUse use(call, *index, IndexUse::Kind::Shared);
    arguments.chooseFrom(*index);
    *result = new annudf_radius_result(backend->value->searchRadius(
        index->value, {artifact->value, artifact->digest, arguments.origin},
        arguments.boundOr(captures), arguments.queries, radius, most, arguments.params,
        wanted(stats, cost)));
    give(stats, cost);
  });
}

annudf_status annudf_brute_force_radius_search(
    annudf_backend *backend, const annudf_artifact *artifact, const annudf_captures *captures,
    const annudf_vectors *dataset, const annudf_vectors *queries, float radius, int64_t max_results,
    const annudf_ivf_flat_search_options *options, annudf_radius_result **result,
    annudf_ivf_flat_search_stats *stats) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(result, "result");
    const Arguments arguments(call, backend, artifact, queries, "queries", options, stats);
    arguments.refuseDevice(call);
    const int64_t most = runtime::checkMostResults(max_results);
    const PlacedMatrix rows = toPlaced(call, backend, dataset, "dataset");
    const runtime::BoundCaptures &bound = arguments.boundOr(captures);
    runtime::checkRowsOfCall(bound, arguments.params, rows.view.rows);
    const runtime::MetricView metric(artifact->value, artifact->digest, arguments.origin);
    const RowsForOneSearch store(backend, rows, artifact->value.manifest.missingValues,
                                 arguments.params.progress);
    runtime::SearchStats cost;
    *result = new annudf_radius_result(
        rows.at.onDevice
            ? backend->value->searchRadius(store.all(), metric, bound, arguments.queries, radius,
                                           most, arguments.params, wanted(stats, cost))
            : runtime::searchRadiusInRows(*backend->value, rows.view, store.pieces(), store.cut(),
                                          metric, bound, arguments.queries, radius, most,
                                          arguments.params, wanted(stats, cost)));
    give(stats, cost);
  });
}

const annudf_radius_result_info *annudf_radius_result_get(const annudf_radius_result *result) {
  return result ? &result->info : nullptr;
}

void annudf_radius_result_destroy(annudf_radius_result *result) { delete result; }
