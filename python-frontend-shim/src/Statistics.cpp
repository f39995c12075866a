//===- Statistics.cpp - What a search cost, and how it got there ----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace annudf::python {

namespace {

struct Explanation {
  std::unique_ptr<annudf_explanation, Destroyer<annudf_explanation_destroy>> handle;
};

Explanation explain(const Artifact &artifact, const Captures &captures, uintptr_t query,
                    const std::string &queryElement, uintptr_t row, const std::string &rowElement,
                    int64_t dims, int64_t queryNumber, int64_t rowId, int64_t list) {
  const annudf_vectors x = vectorsAt(query, 1, dims, queryElement);
  const annudf_vectors y = vectorsAt(row, 1, dims, rowElement);
  const annudf_explain_options options = {sizeof options, queryNumber, rowId, list};
  annudf_explanation *made = nullptr;
  const Outcome status = withoutGil([&] {
    return annudf_explain(artifact.handle.get(), captures.handle.get(), &x, &y, &options, &made);
  });
  check(status);
  return {decltype(Explanation::handle)(made)};
}

/// A field of the accumulator after init and after each dimension.
nb::list fieldOf(const Explanation &self, int64_t field) {
  const annudf_explanation_info &told = *annudf_explanation_get(self.handle.get());
  nb::list values;
  if (field < 0 || field >= told.fields)
    return values;
  const int32_t type = told.types[field];
  for (int64_t step = 0; step < told.steps; ++step) {
    const int64_t at = step * told.fields + field;
    const double value = told.values[at];
    if (type == ANNUDF_ACCUMULATOR_F32 || type == ANNUDF_ACCUMULATOR_F64)
      values.append(value);
    else if (type == ANNUDF_ACCUMULATOR_I64)
      values.append(static_cast<int64_t>(told.bits[at]));
    else
      values.append(static_cast<int64_t>(value));
  }
  return values;
}

std::string nanExample(const Index &index, const Artifact &artifact, const Captures &captures,
                       uintptr_t queries, int64_t rows, int64_t dims, const std::string &element,
                       const annudf_ivf_flat_search_stats &stats) {
  const annudf_vectors matrix = vectorsAt(queries, rows, dims, element);
  annudf_buffer *text = nullptr;
  const Outcome status = withoutGil([&] {
    return annudf_ivf_flat_nan_example(index.handle.get(), artifact.handle.get(),
                                       captures.handle.get(), &matrix, &stats, &text);
  });
  const BufferPtr owner(text);
  check(status);
  return {annudf_buffer_data(text), annudf_buffer_size(text)};
}

} // namespace

annudf_ivf_flat_search_stats emptyStats() {
  annudf_ivf_flat_search_stats stats = {};
  stats.size = sizeof stats;
  return stats;
}

static void addSearchStats(nb::module_ &module) {
  using namespace nb::literals;
  nb::class_<annudf_ivf_flat_search_stats>(module, "SearchStats",
                                           "What a call cost, in milliseconds.")
      .def_ro("link_ms", &annudf_ivf_flat_search_stats::link_ms,
              "Making the kernels of metric and element type, or reading them from disk; 0 when "
              "they are in memory.")
      .def_ro("links", &annudf_ivf_flat_search_stats::links, "Kernels made by this call.")
      .def_ro("disk_hits", &annudf_ivf_flat_search_stats::disk_hits,
              "Kernels for a GPU that this call found made, in the cache on disk.")
      .def_prop_ro(
          "cache_fault", [](const annudf_ivf_flat_search_stats &self) { return self.cache_fault; },
          "Why that cache was no use; empty where it was, or is switched off.")
      .def_ro("upload_ms", &annudf_ivf_flat_search_stats::upload_ms,
              "Copying the index to the device; 0 when it is there.")
      .def_ro("search_ms", &annudf_ivf_flat_search_stats::search_ms,
              "The search itself; 0 where it was only enqueued.")
      .def_prop_ro(
          "family", [](const annudf_ivf_flat_search_stats &self) { return self.family; },
          "The kernels that ran it: \"groups\", \"parts\", \"pairs\", \"tiles\", \"staged\", "
          "\"staged_granules\", \"packed\", \"packed_granules\", \"matrix\" or \"matrix_mma\".")
      .def_prop_ro(
          "why", [](const annudf_ivf_flat_search_stats &self) { return self.why; },
          "Why these kernels.")
      .def_ro("rows_per_query", &annudf_ivf_flat_search_stats::rows_per_query,
              "Rows in the lists that a query probed, the mean; 0 unless time_stages.")
      .def_ro("evaluated_per_query", &annudf_ivf_flat_search_stats::evaluated_per_query,
              "Those of them that the metric's own code computed, the mean; 0 unless time_stages.")
      .def_prop_ro(
          "stages",
          [](const annudf_ivf_flat_search_stats &self) {
            std::vector<std::pair<std::string, double>> stages;
            stages.reserve(static_cast<size_t>(self.n_stages));
            for (int32_t i = 0; i < self.n_stages; ++i)
              stages.emplace_back(self.stages[i].name, self.stages[i].ms);
            return stages;
          },
          "Name and milliseconds of each stage, in order; none unless time_stages.")
      .def_ro("workspace_bytes", &annudf_ivf_flat_search_stats::workspace_bytes,
              "Device memory that the workspace of the search holds; 0 on a CPU.")
      .def_ro("passing_share", &annudf_ivf_flat_search_stats::passing_share,
              "The share of rows that the filter lets pass, by its bits.")
      .def_prop_ro(
          "slow", [](const annudf_ivf_flat_search_stats &self) { return self.slow; },
          "The operations of the metric that a CPU computes one row at a time; empty if there is "
          "none.")
      .def_ro("scored", &annudf_ivf_flat_search_stats::scored,
              "Pairs of a query and a row of its lists that the filter lets pass; on a GPU an "
              "estimate unless all lists are probed.")
      .def_ro("nan_distances", &annudf_ivf_flat_search_stats::nan_distances,
              "Those of them whose distance was NaN; of a search that was only enqueued those of "
              "earlier ones with the metric.")
      .def_ro("nan_query", &annudf_ivf_flat_search_stats::nan_query,
              "Number of a query whose distance to `nan_row` was NaN; -1 where there is none.")
      .def_ro("nan_row", &annudf_ivf_flat_search_stats::nan_row, "Id of that row.")
      .def_ro("widened", &annudf_ivf_flat_search_stats::widened,
              "Queries that searched more lists than asked for.");
}

void addStatistics(nb::module_ &module) {
  using namespace nb::literals;
  addSearchStats(module);

  nb::class_<Explanation>(module, "Explanation", "The accumulator of a query and a row.")
      .def_prop_ro(
          "fields",
          [](const Explanation &self) { return annudf_explanation_get(self.handle.get())->fields; },
          "How many fields the accumulator has.")
      .def("field", &fieldOf, "field"_a, nb::sig("def field(self, field: int) -> list[float]"),
           "Its values after init and after each dimension; ints where it is one.")
      .def_prop_ro(
          "distance",
          [](const Explanation &self) {
            return annudf_explanation_get(self.handle.get())->distance;
          },
          "What finalize makes of the last.")
      .def_prop_ro(
          "first_nan",
          [](const Explanation &self) {
            return annudf_explanation_get(self.handle.get())->first_nan;
          },
          "The first dimension after which a field is NaN; -1: init, the number of dimensions: "
          "none.");

  module.def("explain", &explain, "artifact"_a, "captures"_a, "query"_a, "query_element"_a, "row"_a,
             "row_element"_a, "dims"_a, "query_number"_a = 0, "row_id"_a = 0, "list"_a = 0,
             "Runs the metric of a query and a row at host addresses, dimension by dimension.");
  module.def("nan_example", &nanExample, "index"_a, "artifact"_a, "captures"_a, "queries"_a,
             "rows"_a, "dims"_a, "element"_a, "stats"_a,
             "Words for the pair that `stats` name, and where it turns NaN; queries are those of "
             "the search, at a host address.");
}

} // namespace annudf::python
