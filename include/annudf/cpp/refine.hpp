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

inline void refine(const backend &on, const ivf_flat::index &in, const annudf_vectors &queries,
                   const annudf_candidates &candidates, std::int64_t k, float *distances,
                   std::int64_t *neighbors, const brute_force::search_params &params) {
  detail::prepared call(detail::search_access::of(params.metric, coarse::l2), on,
                        {in.dim(), in.c()}, params);
  call.finish(annudf_ivf_flat_refine(on.c(), in.c(), call.artifact(), call.captures(), &queries,
                                     &candidates, k, call.options(), neighbors, distances,
                                     call.stats()));
}

inline annudf_candidates candidates_of(const matrix_view<const std::int64_t> &from) {
  return {sizeof(annudf_candidates), from.data(), from.rows(), from.cols(), {}};
}
inline annudf_candidates candidates_of(const device_matrix_view<const std::int64_t> &from) {
  return {sizeof(annudf_candidates),
          from.data(),
          from.rows(),
          from.cols(),
          {ANNUDF_MEMORY_CUDA, from.device(), from.stream().c()}};
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
  impl::refine(detail::host_or(params.backend), dataset.c(), queries.c(),
               impl::candidates_of(candidates), k, found.distances.data(), found.neighbors.data(),
               params);
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
               impl::candidates_of(candidates), k, distances.data(), neighbors.data(), params);
}

/// The k best of each query's candidates among the rows of an index: what a search of all its lists
/// finds among them, to the bit, with captures, columns and filters as there.
/// \param candidates  ids of the index, else as above; no two of its rows may share an id.
/// \param params  a default metric is squared L2, whatever the index ranks by.
inline search_result refine(const ivf_flat::index &in, const vectors &queries,
                            matrix_view<const std::int64_t> candidates, std::int64_t k,
                            const brute_force::search_params &params = {}) {
  search_result found = detail::room_for(queries.rows(), k);
  impl::refine(detail::host_or(params.backend), in, queries.c(), impl::candidates_of(candidates), k,
               found.distances.data(), found.neighbors.data(), params);
  return found;
}
inline search_result refine(const brute_force::index &in, const vectors &queries,
                            matrix_view<const std::int64_t> candidates, std::int64_t k,
                            const brute_force::search_params &params = {}) {
  return refine(in.rows(), queries, candidates, k, params);
}

/// The same in device memory: enqueued on the queries' stream when that of the candidates has got
/// to where they are written. The index may go at once.
inline void refine(const ivf_flat::index &in, const device_vectors &queries,
                   device_matrix_view<const std::int64_t> candidates, std::int64_t k,
                   device_matrix_view<float> distances, device_matrix_view<std::int64_t> neighbors,
                   const brute_force::search_params &params = {}) {
  detail::check_results(queries.rows(), k, distances.size(), neighbors.size());
  impl::refine(detail::device_or(params.backend, queries.device()), in, queries.c(),
               impl::candidates_of(candidates), k, distances.data(), neighbors.data(), params);
}
inline void refine(const brute_force::index &in, const device_vectors &queries,
                   device_matrix_view<const std::int64_t> candidates, std::int64_t k,
                   device_matrix_view<float> distances, device_matrix_view<std::int64_t> neighbors,
                   const brute_force::search_params &params = {}) {
  refine(in.rows(), queries, candidates, k, distances, neighbors, params);
}

} // namespace v0
} // namespace annudf

#endif // ANNUDF_CPP_REFINE_HPP
