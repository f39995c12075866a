//===- IvfFlatTune.cpp - Probes for a recall, in the C API ----------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SearchArguments.h"

#include "annudf/runtime/ivf_flat/Tune.h"

using namespace annudf;
using namespace annudf::capi;

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
