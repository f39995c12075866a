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
  runtime::Explanation value;
  bool has(int64_t step, int64_t field) const {
    return step >= 0 && step < value.steps() && field >= 0 &&
           static_cast<size_t>(field) < value.fields.size();
  }
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
    *explanation = new annudf_explanation{runtime::explain(
        {artifact->value, artifact->digest, origin}, captures ? captures->value : none,
        toMatrix(call, query, "query"), toMatrix(call, row, "row"),
        {given.query_number, given.row_id, given.list})};
  });
}

int64_t annudf_explanation_steps(const annudf_explanation *explanation) {
  return explanation ? explanation->value.steps() : 0;
}

int64_t annudf_explanation_fields(const annudf_explanation *explanation) {
  return explanation ? static_cast<int64_t>(explanation->value.fields.size()) : 0;
}

int32_t annudf_explanation_type(const annudf_explanation *explanation, int64_t field) {
  return explanation && explanation->has(0, field)
             ? explanation->value.fields[static_cast<size_t>(field)]
             : 0;
}

double annudf_explanation_value(const annudf_explanation *explanation, int64_t step,
                                int64_t field) {
  return explanation && explanation->has(step, field)
             ? explanation->value.value(step, static_cast<size_t>(field))
             : 0;
}

uint64_t annudf_explanation_bits(const annudf_explanation *explanation, int64_t step,
                                 int64_t field) {
  return explanation && explanation->has(step, field)
             ? explanation->value
                   .bits[static_cast<size_t>(step * annudf_explanation_fields(explanation) + field)]
             : 0;
}

float annudf_explanation_distance(const annudf_explanation *explanation) {
  return explanation ? explanation->value.distance : 0;
}

int64_t annudf_explanation_first_nan(const annudf_explanation *explanation) {
  return explanation ? explanation->value.firstNan() : 0;
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
      call.refuse("stats name no pair whose distance is NaN");
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
