//===- IvfFlatPrepared.cpp - Prepared searches in the C API ---------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SearchArguments.h"

#include "annudf/runtime/engine/Predicate.h"

using namespace annudf;
using namespace annudf::capi;

struct annudf_ivf_flat_prepared {
  const std::shared_ptr<runtime::Backend> backend;
  const IndexHold index;
  const uint64_t generation; ///< The index's, when it was prepared.
  /// For searches on a CPU.
  const runtime::Metric metric;
  const runtime::BoundCaptures captures;
  const Arguments arguments;
  /// A GPU's; destroyed before what it uses.
  std::unique_ptr<runtime::PreparedSearch> onDevice;
};

/// Makes the kernels of a predicate's code on a CPU.
static void precompileCode(runtime::Backend &backend, const runtime::Predicate *predicate) {
  if (!predicate)
    return;
  for (const runtime::Predicate::Step &step : predicate->steps())
    if (const auto *code = std::get_if<runtime::Predicate::Code>(&step))
      backend.precompile(runtime::MetricView(*code->filter).asFilter(), ANNUDF_ELEMENT_F32);
}

annudf_status annudf_ivf_flat_prepare(annudf_backend *backend, const annudf_ivf_flat_index *index,
                                      const annudf_artifact *artifact,
                                      const annudf_captures *captures,
                                      const annudf_vectors *queries, int64_t k, int64_t n_probes,
                                      const annudf_ivf_flat_search_options *options,
                                      annudf_ivf_flat_prepared **prepared,
                                      annudf_ivf_flat_search_stats *stats) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(prepared, "prepared");
    call.refuseNull(index, "index");
    Arguments arguments(call, backend, artifact, queries, "queries", options, stats);
    arguments.queries.data = &arguments; // Those of the runs come later: not looked at.
    arguments.take(k, n_probes);
    if (arguments.params.progress || arguments.params.timeStages)
      call.refuse(std::string("options.") +
                  (arguments.params.progress ? "progress" : "time_stages") +
                  " is set; prepared searches do not support it, leave it out");
    if (backend->cuda && !arguments.at.onDevice)
      call.refuse("queries is in host memory, the backend is " + backend->description +
                  "; give queries in memory of its device");
    runtime::SearchStats cost;
    const IndexUse use(call, *index, IndexUse::Kind::Shared);
    arguments.chooseFrom(*index);
    auto made = std::unique_ptr<annudf_ivf_flat_prepared>(
        new annudf_ivf_flat_prepared{backend->value,
                                     IndexHold(*index),
                                     index->generation,
                                     {artifact->value, artifact->digest, arguments.origin},
                                     captures ? captures->value : arguments.none,
                                     arguments,
                                     nullptr});
    const runtime::MetricView metric(made->metric);
    if (backend->cuda) {
      made->onDevice = backend->cuda->prepareDevice(
          index->value, metric, made->captures, arguments.queries, arguments.k, arguments.params,
          arguments.at.stream, wanted(stats, cost));
    } else {
      runtime::checkSearch(index->value, metric, arguments.queries, arguments.k, arguments.params);
      runtime::checkCaptures(metric, made->captures,
                             runtime::extentsOf(index->value, arguments.queries));
      if (!arguments.params.family.empty()) // Else no run needs a plan to be possible.
        (void)backend->value->plan(runtime::workloadOf(artifact->value.manifest, index->value,
                                                       arguments.queries.rows, arguments.k,
                                                       arguments.params));
      backend->value->precompile(metric, {index->value.element(), arguments.queries.element},
                                 &cost);
      precompileCode(*backend->value, arguments.params.predicate.get());
    }
    give(stats, cost);
    *prepared = made.release();
  });
}

annudf_status annudf_ivf_flat_prepared_run(annudf_ivf_flat_prepared *prepared, const void *queries,
                                           int64_t *ids, float *distances,
                                           annudf_ivf_flat_search_stats *stats) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(prepared, "prepared");
    call.refuseNull(queries, "queries");
    call.refuseNull(ids, "ids");
    call.refuseNull(distances, "distances");
    checkStats(call, stats);
    const auto refuseOther = [&] {
      if (prepared->index->generation != prepared->generation)
        call.refuse("the index has changed since the search was prepared; prepare it again");
    };
    refuseOther();
    if (prepared->onDevice) {
      prepared->onDevice->run(queries, ids, distances);
      return;
    }
    const IndexUse use(call, *prepared->index, IndexUse::Kind::Shared);
    refuseOther(); // By an extend that was waited for.
    const Arguments &arguments = prepared->arguments;
    runtime::MatrixView view = arguments.queries;
    view.data = queries;
    runtime::SearchStats cost;
    prepared->backend->search(prepared->index->value, prepared->metric, prepared->captures, view,
                              arguments.k, arguments.params, ids, distances, wanted(stats, cost));
    give(stats, cost);
  });
}

annudf_status annudf_ivf_flat_prepared_stats(annudf_ivf_flat_prepared *prepared,
                                             annudf_ivf_flat_search_stats *stats) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(prepared, "prepared");
    call.refuseNull(stats, "stats");
    checkStats(call, stats);
    runtime::SearchStats pairs;
    if (prepared->onDevice)
      prepared->onDevice->takePairs(pairs);
    give(stats, pairs);
  });
}

void annudf_ivf_flat_prepared_destroy(annudf_ivf_flat_prepared *prepared) { delete prepared; }
