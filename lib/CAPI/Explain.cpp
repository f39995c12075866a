//===- Explain.cpp - How a metric comes to a distance, in the C API -------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SearchArguments.h"

#include "annudf-c/Explain.h"
#include "annudf/runtime/engine/Explain.h"

#include <cstddef>

using namespace annudf;
using namespace annudf::capi;

struct annudf_explanation {
  explicit annudf_explanation(runtime::Explanation made) : value(std::move(made)) {
    types.assign(value.fields.begin(), value.fields.end());
    for (int64_t step = 0; step < value.steps(); ++step)
      for (size_t field = 0; field < types.size(); ++field)
        values.push_back(value.value(step, field));
    info.size = sizeof info;
    info.steps = value.steps(), info.fields = static_cast<int64_t>(types.size());
    info.types = types.data(), info.values = values.data(), info.bits = value.bits.data();
    info.distance = value.distance, info.first_nan = value.firstNan();
  }
  const runtime::Explanation value;
  std::vector<int32_t> types;
  std::vector<double> values;
  annudf_explanation_info info = {}; ///< Points into the rest.
};

annudf_status annudf_explain(const annudf_artifact *artifact, const annudf_captures *captures,
                             const annudf_vectors *query, const annudf_vectors *row,
                             const annudf_explain_options *options,
                             annudf_explanation **explanation) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(artifact, "artifact");
    call.refuseNull(explanation, "explanation");
    const annudf_explain_options given =
        copyOptions(options, offsetof(annudf_explain_options, list) + sizeof(int64_t),
                    "annudf_explain_options");
    const std::string origin = originOf(*artifact);
    const runtime::BoundCaptures none;
    *explanation = new annudf_explanation(runtime::explain(
        {artifact->value, artifact->digest, origin}, captures ? captures->value : none,
        toMatrix(call, query, "query"), toMatrix(call, row, "row"),
        {given.query_number, given.row_id, given.list}));
  });
}

const annudf_explanation_info *annudf_explanation_get(const annudf_explanation *explanation) {
  return explanation ? &explanation->info : nullptr;
}

void annudf_explanation_destroy(annudf_explanation *explanation) { delete explanation; }

annudf_status
annudf_ivf_flat_nan_example(const annudf_ivf_flat_index *index, const annudf_artifact *artifact,
                            const annudf_captures *captures, const annudf_vectors *queries,
                            const annudf_ivf_flat_search_stats *stats, annudf_buffer **text) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(index, "index");
    call.refuseNull(artifact, "artifact");
    call.refuseNull(stats, "stats");
    call.refuseNull(text, "text");
    if (stats->size < offsetof(annudf_ivf_flat_search_stats, nan_row) + sizeof(int64_t) ||
        stats->nan_distances == 0)
      call.refuse("stats.nan_distances is 0, so no pair is named; call this only if it is above 0");
    runtime::SearchStats pairs;
    pairs.nanDistances = stats->nan_distances;
    pairs.nanQuery = stats->nan_query, pairs.nanRow = stats->nan_row;
    const std::string origin = originOf(*artifact);
    const runtime::BoundCaptures none;
    const IndexUse use(call, *index, IndexUse::Kind::Shared);
    *text = makeBuffer(runtime::nanExample(
        index->value, {artifact->value, artifact->digest, origin},
        captures ? captures->value : none, toMatrix(call, queries, "queries"), pairs));
  });
}
