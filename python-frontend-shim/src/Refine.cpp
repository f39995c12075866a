//===- Refine.cpp - Candidates ranked again -------------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>

namespace annudf::python {
namespace {

/// Address, rows, dims, element type, and the stream of device memory.
using Matrix = std::tuple<uintptr_t, int64_t, int64_t, std::string, Stream>;
/// Address, columns, and the stream of device memory.
using Candidates = std::tuple<uintptr_t, int64_t, Stream>;

annudf_vectors vectorsOf(const Backend &backend, const Matrix &matrix) {
  const auto &[address, rows, dims, element, stream] = matrix;
  return vectorsAt(address, rows, dims, element, placeOf(&backend, stream));
}

/// \param dataset  rows, or an index whose ids the candidates are.
annudf_ivf_flat_search_stats refine(const Backend &self, const Artifact &artifact,
                                    const Captures &captures,
                                    const std::variant<Matrix, const Index *> &dataset,
                                    const Matrix &queries, const Candidates &candidates, int64_t k,
                                    uintptr_t ids, uintptr_t distances, const Filter *filter,
                                    bool timeStages, bool countPairs, bool tellWhy) {
  const annudf_vectors asked = vectorsOf(self, queries);
  const auto &[address, columns, stream] = candidates;
  const annudf_candidates given = {sizeof given, reinterpret_cast<const int64_t *>(address),
                                   asked.rows, columns, placeOf(&self, stream)};
  const std::optional<ProgressFunction> noFunction;
  Progress progress(noFunction); // Only for Ctrl-C.
  annudf_ivf_flat_search_options options = {};
  options.size = sizeof options;
  options.filter = filter ? filter->handle.get() : nullptr;
  options.time_stages = timeStages, options.skip_pairs = !countPairs, options.skip_why = !tellWhy;
  options.progress = &Progress::report, options.progress_user = &progress;
  annudf_ivf_flat_search_stats stats = emptyStats();
  auto *const toIds = reinterpret_cast<int64_t *>(ids);
  auto *const toDistances = reinterpret_cast<float *>(distances);
  if (const Matrix *const matrix = std::get_if<Matrix>(&dataset)) {
    const annudf_vectors rows = vectorsOf(self, *matrix);
    progress.check(withoutGil([&] {
      return annudf_refine(self.handle.get(), artifact.handle.get(), captures.handle.get(), &rows,
                           &asked, &given, k, &options, toIds, toDistances, &stats);
    }));
    return stats;
  }
  const annudf_ivf_flat_index *const index = std::get<const Index *>(dataset)->handle.get();
  progress.check(withoutGil([&] {
    return annudf_ivf_flat_refine(self.handle.get(), index, artifact.handle.get(),
                                  captures.handle.get(), &asked, &given, k, &options, toIds,
                                  toDistances, &stats);
  }));
  return stats;
}

} // namespace

void addRefine(nb::class_<Backend> &backend) {
  using namespace nb::literals;
  backend.def("refine", &refine, "artifact"_a, "captures"_a, "dataset"_a, "queries"_a,
              "candidates"_a, "k"_a, "ids"_a, "distances"_a, "filter"_a.none() = nb::none(),
              "time_stages"_a = false, "count_pairs"_a = true, "tell_why"_a = true,
              "The k best of each query's candidates. A matrix is an address, rows, dims, element "
              "type and stream, which is None for host memory; candidates are an address of int64 "
              "row numbers, or of ids where `dataset` is an index, columns and stream. Results go "
              "where the queries are.");
}

} // namespace annudf::python
