//===- annudf/cpp/refine.hpp - Candidates ranked again -----------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A part of annudf/annudf.hpp, which is to be included.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_CPP_REFINE_HPP
#define ANNUDF_CPP_REFINE_HPP

#include "annudf-c/Refine.h"
#include "annudf/cpp/brute_force.hpp"

namespace annudf {
inline namespace v0 {

namespace impl {
inline void refine(const backend &on, const annudf_vectors &dataset, const annudf_vectors &queries,
                   const annudf_candidates &candidates, std::int64_t k, float *distances,
                   std::int64_t *neighbors, const brute_force::search_params &params) {
  detail::prepared call(detail::search_access::of(params.metric, coarse::l2), on, dataset.dims,
                        params);
  call.finish(annudf_refine(on.c(), call.artifact(), call.captures(), &dataset, &queries,
                            &candidates, k, call.options(), neighbors, distances, call.stats()));
}
} // namespace impl

/// The k best of each query's candidates: what brute_force::knn finds among them, to the bit.
/// \param candidates  numbers of rows of `dataset`, a row of them for each query; -1: none. A
/// repeated one counts once. k is at most their columns.
/// \param params  a default metric is squared L2.
inline search_result refine(const vectors &dataset, const vectors &queries,
                            matrix_view<const std::int64_t> candidates, std::int64_t k,
                            const brute_force::search_params &params = {}) {
  search_result found = detail::room_for(queries.rows(), k);
  impl::refine(
      detail::host_or(params.backend), dataset.c(), queries.c(),
      {sizeof(annudf_candidates), candidates.data(), candidates.rows(), candidates.cols(), {}}, k,
      found.distances.data(), found.neighbors.data(), params);
  return found;
}

/// The same in device memory, of one device: enqueued on the queries' stream when those of rows and
/// candidates have got to where they are written. The rows stay where they are, and are needed
/// until the search is done. Coordinates are not looked at.
inline void refine(const device_vectors &dataset, const device_vectors &queries,
                   device_matrix_view<const std::int64_t> candidates, std::int64_t k,
                   device_matrix_view<float> distances, device_matrix_view<std::int64_t> neighbors,
                   const brute_force::search_params &params = {}) {
  detail::check_results(queries.rows(), k, distances.size(), neighbors.size());
  impl::refine(detail::device_or(params.backend, queries.device()), dataset.c(), queries.c(),
               {sizeof(annudf_candidates),
                candidates.data(),
                candidates.rows(),
                candidates.cols(),
                {ANNUDF_MEMORY_CUDA, candidates.device(), candidates.stream().c()}},
               k, distances.data(), neighbors.data(), params);
}

} // namespace v0
} // namespace annudf

#endif // ANNUDF_CPP_REFINE_HPP
