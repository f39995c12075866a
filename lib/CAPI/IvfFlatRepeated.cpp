//===- IvfFlatRepeated.cpp - What repeats a search, in the C API ----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SearchArguments.h"

#include "annudf/runtime/engine/Repeated.h"
#include "annudf/runtime/ivf_flat/Tune.h"

#include <utility>

using namespace annudf;
using namespace annudf::capi;

struct annudf_radius_neighbors {
  explicit annudf_radius_neighbors(runtime::RadiusNeighbors found)
      : value(std::move(found)),
        info{sizeof info, int64_t(value.offsets.size()) - 1, value.offsets.data(), value.ids.data(),
             value.distances.data()} {}
  const runtime::RadiusNeighbors value;
  const annudf_radius_neighbors_info info; ///< Points into the rest.
};

annudf_status annudf_ivf_flat_radius_neighbors(
    annudf_backend *backend, const annudf_ivf_flat_index *index, const annudf_artifact *artifact,
    const annudf_captures *captures, const annudf_vectors *queries, float radius, int64_t n_probes,
    const annudf_ivf_flat_search_options *options, annudf_radius_neighbors **result,
    annudf_ivf_flat_search_stats *stats) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(index, "index");
    call.refuseNull(result, "result");
    Arguments arguments(call, backend, artifact, queries, "queries", options, stats);
    arguments.refuseDevice(call);
    arguments.takeProbes(n_probes);
    runtime::SearchStats cost;
    IndexUse use(call, *index, IndexUse::Kind::Shared);
    arguments.chooseFrom(*index);
    runtime::RadiusNeighbors found = runtime::radiusNeighbors(
        *backend->value, index->value, {artifact->value, artifact->digest, arguments.origin},
        captures ? captures->value : arguments.none, arguments.queries, radius, arguments.params,
        wanted(stats, cost));
    *result = new annudf_radius_neighbors(std::move(found));
    give(stats, cost);
  });
}

const annudf_radius_neighbors_info *
annudf_radius_neighbors_get(const annudf_radius_neighbors *result) {
  return result ? &result->info : nullptr;
}

void annudf_radius_neighbors_destroy(annudf_radius_neighbors *result) { delete result; }

annudf_status
annudf_ivf_flat_tune_n_probes(annudf_backend *backend, const annudf_ivf_flat_index *index,
                              const annudf_artifact *artifact, const annudf_captures *captures,
                              const annudf_vectors *queries, int64_t k, double recall,
                              const annudf_ivf_flat_search_options *options, int64_t *n_probes,
                              annudf_ivf_flat_search_stats *stats) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(index, "index");
    call.refuseNull(n_probes, "n_probes");
    const Arguments arguments(call, backend, artifact, queries, "queries", options, stats);
    arguments.refuseDevice(call);
    const int number = runtime::checkK(k);
    runtime::SearchStats cost;
    IndexUse use(call, *index, IndexUse::Kind::Shared);
    *n_probes = runtime::tuneProbes(*backend->value, index->value,
                                    {artifact->value, artifact->digest, arguments.origin},
                                    captures ? captures->value : arguments.none, arguments.queries,
                                    number, recall, arguments.params, wanted(stats, cost));
    give(stats, cost);
  });
}
