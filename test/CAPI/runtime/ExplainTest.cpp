//===- ExplainTest.cpp - How a metric comes to a distance, in C -----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuntimeApi.h"

#include <cmath>

using namespace annudf;
using namespace annudf::test;

namespace {

static double valueOf(const annudf_explanation *told, int64_t step, int64_t field) {
  const annudf_explanation_info &info = *annudf_explanation_get(told);
  return info.values[step * info.fields + field];
}

using OwnedExplanation = Owner<annudf_explanation, annudf_explanation_destroy>;
using OwnedText = Owner<annudf_buffer, annudf_buffer_destroy>;

class CApiExplain : public SmallIndex {
protected:
  void SetUp() override {
    openCpu(2, &backend);
    if (backend)
      build();
  }
  annudf_vectors rowOf(int64_t row) {
    annudf_vectors one = vectors;
    one.data = base.encoded.data() + row * int64_t(base.encoded.size()) / base.rows;
    one.rows = 1;
    return one;
  }
  annudf_ivf_flat_search_stats searched(const annudf_artifact *artifact,
                                        const reference::Vectors &queries) {
    annudf_ivf_flat_search_stats stats = {};
    stats.size = sizeof stats;
    Found found = foundFor(queries, 3);
    const annudf_vectors asked = vectorsOf(queries);
    EXPECT_EQ(
        outcome(annudf_ivf_flat_search(backend, index, artifact, nullptr, &asked, 3, 8, nullptr,
                                       found.ids.data(), found.distances.data(), &stats)),
        "ok");
    return stats;
  }

  OwnedBackend backend;
};

TEST_F(CApiExplain, ShowsEachDimension) {
  if (!backend)
    return;
  OwnedArtifact artifact;
  load("l2", &artifact);
  const annudf_vectors x = rowOf(3), y = rowOf(7);
  OwnedExplanation told;
  ASSERT_EQ(outcome(annudf_explain(artifact, nullptr, &x, &y, nullptr, &told)), "ok");
  ASSERT_EQ(annudf_explanation_get(told)->steps, 6);
  EXPECT_EQ(annudf_explanation_get(told)->fields, 1);
  EXPECT_EQ(annudf_explanation_get(told)->types[0], ANNUDF_ACCUMULATOR_F32);
  float sum = 0;
  EXPECT_EQ(valueOf(told, 0, 0), 0);
  for (int64_t d = 0; d < 5; ++d) {
    const float gap = static_cast<const float *>(x.data)[d] - static_cast<const float *>(y.data)[d];
    sum += gap * gap;
    EXPECT_FLOAT_EQ(float(valueOf(told, d + 1, 0)), sum);
  }
  EXPECT_EQ(double(annudf_explanation_get(told)->distance), valueOf(told, 5, 0));
  EXPECT_EQ(annudf_explanation_get(told)->first_nan, 5);
  EXPECT_NE(annudf_explanation_get(told)->bits[5], 0u);
}

TEST_F(CApiExplain, NamesWhereItTurnsNan) {
  if (!backend)
    return;
  OwnedArtifact artifact;
  load("cosine", &artifact);
  reference::Vectors queries = base;
  std::fill_n(queries.encoded.begin(), queries.encoded.size() / size_t(queries.rows),
              0); // The first.
  const annudf_ivf_flat_search_stats stats = searched(artifact, queries);
  EXPECT_EQ(stats.scored, 400 * 400);
  EXPECT_EQ(stats.nan_distances, 400);
  EXPECT_EQ(stats.nan_query, 0);
  OwnedText text;
  const annudf_vectors asked = vectorsOf(queries);
  ASSERT_EQ(outcome(annudf_ivf_flat_nan_example(index, artifact, nullptr, &asked, &stats, &text)),
            "ok");
  EXPECT_EQ(std::string(annudf_buffer_data(text)), "query 0, row " + std::to_string(stats.nan_row) +
                                                       ": finalize makes NaN of the accumulator");
}

TEST_F(CApiExplain, Refuses) {
  if (!backend)
    return;
  OwnedArtifact artifact;
  load("l2", &artifact);
  annudf_vectors x = rowOf(0), y = rowOf(1);
  OwnedExplanation told;
  const auto explain = [&] {
    return outcome(annudf_explain(artifact, nullptr, &x, &y, nullptr, &told));
  };
  EXPECT_EQ(outcome(annudf_explain(nullptr, nullptr, &x, &y, nullptr, &told)),
            "usage: annudf_explain: artifact is NULL");
  EXPECT_EQ(outcome(annudf_explain(artifact, nullptr, &x, &y, nullptr, nullptr)),
            "usage: annudf_explain: explanation is NULL");
  x.rows = 2;
  EXPECT_EQ(explain(), "usage: explain takes one query and one row");
  x.rows = 1, x.dims = 4;
  EXPECT_EQ(explain(), "usage: the query has 4 dims, the row has 5");
  annudf_explain_options options = {sizeof options, -1, 0, 0};
  x.dims = 5;
  EXPECT_EQ(outcome(annudf_explain(artifact, nullptr, &x, &y, &options, &told)),
            "usage: the numbers of query, row and list must be 0 or more");
  EXPECT_EQ(annudf_explanation_get(nullptr), nullptr);
  const annudf_ivf_flat_search_stats none = searched(artifact, base);
  EXPECT_EQ(none.nan_distances, 0);
  EXPECT_EQ(none.nan_row, -1);
  OwnedText text;
  EXPECT_EQ(outcome(annudf_ivf_flat_nan_example(index, artifact, nullptr, &vectors, &none, &text)),
            "usage: annudf_ivf_flat_nan_example: stats.nan_distances is 0, so no pair is named; "
            "call this only if it is above 0");
}

} // namespace
